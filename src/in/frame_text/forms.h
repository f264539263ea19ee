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

/* ---- spaced */

/* "name (path + 0xOFF)" */
bool wndl_frame_coredump(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "1  path + 0xOFF", "1  path!name + 0xOFF" */
bool wndl_frame_minidump(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* ---- phones */

/* "#01 pc OFF  path (name+12) (BuildId: digits)", from its '#' on. */
bool wndl_frame_android(
    struct wndl_frame_scan *s, size_t hash, struct wndl_frame_text *frame);

/* "1  image  0xADDRESS 0xBASE + 12", "1  image  0xADDRESS name + 12" */
bool wndl_frame_apple(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* ---- ips */

/* "imageOffset":OFF,"imageIndex":12 in the object that has `key`. */
bool wndl_frame_ips(
    struct wndl_frame_scan *s, size_t key, struct wndl_frame_text *frame);

/* ---- debuggers */

/* "frame #1: 0xADDRESS path`name + 12" */
bool wndl_frame_lldb(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "#1  0xADDRESS in name ()", perhaps with " from path". */
bool wndl_frame_gdb(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "{{{bt:1:0xADDRESS:ra}}}", "{{{pc:0xADDRESS}}}" */
bool wndl_frame_markup(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* ---- runtimes */

/* "C  [path+0xOFF]  name+0xOFF" */
bool wndl_frame_hotspot(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "1: 0xADDRESS name [path]" */
bool wndl_frame_node(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "\"pc\": \"0xADDRESS\", \"symbol\": \"name [path]\"" of JSON */
bool wndl_frame_node_report(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "1: 0xADDRESS - <unknown>" */
bool wndl_frame_rust(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "Binary file \"path\", at name+0xOFF [0xADDRESS]" */
bool wndl_frame_python(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "Binary file \"path\" [0xADDRESS]" */
bool wndl_frame_python_absolute(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

/* "1  ADDRESS:OFF  name  -  path", separated by tabs; `tab` ends the name. */
bool wndl_frame_perl(
    struct wndl_frame_scan *s, size_t tab, struct wndl_frame_text *frame);

/* ---- kernel */

/* "name+0xOFF/0xSIZE [module]" */
bool wndl_frame_kernel(struct wndl_frame_scan *s,
    const struct wndl_frame_number *n, struct wndl_frame_text *frame);

#endif
