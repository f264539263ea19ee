/* SPDX-License-Identifier: MIT */
/*
 * certainty: how sure it is that a frame's code was called by its caller, or
 * was running. It is a property of the step that found the frame. The frames
 * further out are as sure as all steps up to them.
 */
#ifndef WNDL_MODEL_CERTAINTY_H
#define WNDL_MODEL_CERTAINTY_H

#include "model/profile.h"

/* The surest first. */
enum wndl_certainty {
    WNDL_CERTAIN, /* interrupted code, call frame information, tables */
    WNDL_CHECKED, /* no rules, but the call before it can have led here */
    WNDL_GUESSED, /* anything else */
};

enum wndl_certainty wndl_certainty_of_how(uint8_t how);

/* The certainty of the least sure of the stack's frames. */
enum wndl_certainty wndl_certainty_of_stack(
    const struct wndl_profile *p, uint32_t node);

/* For programs: "certain", "checked", "guessed". Static string. */
const char *wndl_certainty_name(enum wndl_certainty certainty);

#endif
