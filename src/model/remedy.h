/* SPDX-License-Identifier: MIT */
/* remedy: what a user can do about stacks that are lost for want of a rule. */
#ifndef WNDL_MODEL_REMEDY_H
#define WNDL_MODEL_REMEDY_H

#include "model/report.h"

/*
 * A remedy for the function in which stacks are lost. For generated code it is
 * the flag of the runtime that made it, if that is a known one (docs/jit.md).
 * Static string.
 */
const char *wndl_remedy_of(
    const struct wndl_report *r, const struct wndl_lost_place *place);

#endif
