/* SPDX-License-Identifier: MIT */
/*
 * breakpad: from an address to the functions, inlined frames, files and lines
 * that a Breakpad symbol file (.sym) gives for it.
 *
 * Opening goes once over all of the text and keeps where functions, public
 * symbols, files and origins of inlined code are; a function's lines and
 * inlined calls are read when an address of it is looked up. Records that are
 * none are left out and counted. Overlapping functions share: an address is of
 * the one that starts last, of equal starts of the shortest, then of the first
 * in the file. A public symbol reaches to the next record of an address. STACK
 * records are passed over (stack.h). What it must not know: where
 * files are, demangling.
 *
 * One wndl_breakpad is for one thread at a time.
 */
#ifndef WNDL_DBG_BREAKPAD_BREAKPAD_H
#define WNDL_DBG_BREAKPAD_BREAKPAD_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

struct wndl_breakpad;

/* The text, borrowed for the life of the wndl_breakpad. */
struct wndl_breakpad_source {
    struct wndl_bytes text;
    const char *path; /* for messages; may be NULL */
    /* Memory that holds the text may be given up if it comes back when it is
     * read; NULL: it may not. */
    void (*give_up)(void *context);
    void *context;
};

/* Fields of the MODULE record, in the text. */
struct wndl_breakpad_module {
    struct wndl_bytes os, machine, id, name;
};

/*
 * One frame of an answer. Strings are NUL-terminated and live as long as the
 * wndl_breakpad; an unknown one is empty. The line is that of the code in the
 * innermost frame, and in others that of the call of the frame inside it; 0
 * when not known. File names of Mozilla's and others' servers, as in
 * "hg:HOST/REPOSITORY:PATH:REVISION", are shortened to PATH.
 */
struct wndl_breakpad_frame {
    struct wndl_bytes name;
    struct wndl_bytes file;
    uint32_t line;
    bool inlined;
    uint64_t start; /* rva of the (inlined) function */
};

/* Innermost first; only the last one has inlined == false. */
struct wndl_breakpad_frames {
    const struct wndl_breakpad_frame *frames; /* until the next lookup */
    size_t count;
};

/* size 0: a public symbol, where it ends is not known. */
struct wndl_breakpad_function {
    struct wndl_bytes name; /* as in struct wndl_breakpad_frame */
    uint64_t rva;
    uint64_t size;
};

struct wndl_breakpad_stats {
    uint32_t damaged;               /* records, and functions with some */
    struct wndl_error first_damage; /* status WNDL_OK when none */
};

/* Whether it begins as one does. */
bool wndl_breakpad_is(struct wndl_bytes text);

/*
 * The MODULE record that `text` begins with. MALFORMED, UNSUPPORTED when it
 * does not begin so.
 */
enum wndl_status wndl_breakpad_read_module(struct wndl_bytes text,
    struct wndl_breakpad_module *module, struct wndl_error *err) WNDL_MUST_USE;

/*
 * The same errors, and NOMEM; `err` tells the path. On success *out is freed
 * by wndl_breakpad_close.
 */
enum wndl_status wndl_breakpad_open(const struct wndl_breakpad_source *source,
    struct wndl_mem *mem, struct wndl_breakpad **out,
    struct wndl_error *err) WNDL_MUST_USE;

/* NULL is left alone. */
void wndl_breakpad_close(struct wndl_breakpad *breakpad);

/* The frames of an offset from the image base. NOT_FOUND, NOMEM. */
enum wndl_status wndl_breakpad_lookup(struct wndl_breakpad *breakpad,
    uint64_t rva, struct wndl_breakpad_frames *frames) WNDL_MUST_USE;

/*
 * Calls `visit` with each function and public symbol; a function that others
 * overlap comes in pieces. Ends when that returns other than OK, and returns
 * it. Else OK or NOMEM.
 */
enum wndl_status wndl_breakpad_visit_functions(struct wndl_breakpad *breakpad,
    enum wndl_status (*visit)(
        void *context, const struct wndl_breakpad_function *function),
    void *context) WNDL_MUST_USE;

void wndl_breakpad_get_stats(
    const struct wndl_breakpad *breakpad, struct wndl_breakpad_stats *stats);

#endif
