/* SPDX-License-Identifier: MIT */
/*
 * forms: a function for each form of frame, called with a number that stands
 * where the form has one. True, with the frame, if the text has that form. The
 * two whose name ends in `_begins` note the first number of a form that has
 * two.
 */
#ifndef WNDL_IN_FRAME_TEXT_FORMS_H
#define WNDL_IN_FRAME_TEXT_FORMS_H

#include "in/frame_text/text.h"

/* ---- mozilla */

/* "#01: name[path +0xOFF]" */
bool wndl_frame_bracketed(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* ---- glibc */

/* "path(name+0xOFF) [0xADDRESS]", also without the name. */
bool wndl_frame_glibc(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/*
 * "path() [0xADDRESS]", and from backtrace_symbols_fd "path[0xADDRESS]": of a
 * program that is loaded at its linked address.
 */
bool wndl_frame_glibc_absolute(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* ---- sanitizer */

/* "#1 0xADDRESS (path+0xOFF)", "#1 0xADDRESS in name (path+0xOFF)" */
bool wndl_frame_asan_begins(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);
bool wndl_frame_asan(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/*
 * "(path+0xOFF)" of a sanitizer's summary, and of ThreadSanitizer's frames,
 * which have no address before it.
 */
bool wndl_frame_sanitized(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* ---- valgrind */

/* "at 0xADDRESS: name (in path)" */
bool wndl_frame_valgrind(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* ---- others */

/* "name (0xADDRESS path+0xOFF)" */
bool wndl_frame_named_begins(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);
bool wndl_frame_named(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "??? (path) 0xADDRESS" */
bool wndl_frame_unnamed(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "path+0xOFF", with neither more digits nor a size after it. */
bool wndl_frame_plain(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

#endif
