/* SPDX-License-Identifier: MIT */
/*
 * breakpad: from an address to the functions, inlined frames, files and lines
 * that a Breakpad symbol file (.sym) gives for it.
 *
 * Opening reads all of the text once and keeps the positions of functions,
 * public symbols, files and origins of inlined code. A function's lines and
 * inlined calls are read at a lookup of one of its addresses. Lines that are no
 * valid records are left out and counted. Where functions overlap, an address
 * belongs to the one that starts last, of equal starts to the shortest, then to
 * the first in the file. A public symbol reaches to the next record with an
 * address. STACK records are skipped (stack.h). It must not know where files
 * are, nor demangling.
 *
 * One thread at a time.
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
    /*
     * Releases the memory of the text, whose bytes must come back at the next
     * read; NULL: it cannot be released.
     */
    void (*give_up)(void *context);
    void *context;
};

/* Fields of the MODULE record, in the text. */
struct wndl_breakpad_module {
    struct wndl_bytes os, machine, id, name;
};

/*
 * One frame of an answer. Strings are NUL-terminated and live as long as the
 * wndl_breakpad; an unknown one is empty. The line of the innermost frame is
 * that of its code, that of another frame is the call of the frame inside it; 0
 * if not known. File names with a server, as Mozilla has them
 * ("hg:HOST/REPOSITORY:PATH:REVISION"), are shortened to PATH.
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
    const struct wndl_breakpad_frame *frames; /* valid until the next lookup */
    size_t count;
};

/* A function; size 0: a public symbol, whose end is not known. */
struct wndl_breakpad_function {
    struct wndl_bytes name; /* as in struct wndl_breakpad_frame */
    uint64_t rva;
    uint64_t size;
};

struct wndl_breakpad_stats {
    uint32_t damaged; /* damaged records, and functions that have some */
    struct wndl_error first_damage; /* status WNDL_OK when none */
};

/* Whether `text` begins as a symbol file does. */
bool wndl_breakpad_is(struct wndl_bytes text);

/*
 * Reads the MODULE record at the start of `text`. MALFORMED; UNSUPPORTED when
 * there is none.
 */
enum wndl_status wndl_breakpad_read_module(struct wndl_bytes text,
    struct wndl_breakpad_module *module, struct wndl_error *err) WNDL_MUST_USE;

/*
 * Opens a symbol file. The same errors, and NOMEM; `err` has the path. On
 * success *out ends with wndl_breakpad_close.
 */
enum wndl_status wndl_breakpad_open(const struct wndl_breakpad_source *source,
    struct wndl_mem *mem, struct wndl_breakpad **out,
    struct wndl_error *err) WNDL_MUST_USE;

/* Closes it. NULL is ignored. */
void wndl_breakpad_close(struct wndl_breakpad *breakpad);

/*
 * The frames of an offset from the image base, innermost first. NOT_FOUND,
 * NOMEM.
 */
enum wndl_status wndl_breakpad_lookup(struct wndl_breakpad *breakpad,
    uint64_t rva, struct wndl_breakpad_frames *frames) WNDL_MUST_USE;

/*
 * Calls `visit` with each function and public symbol; a function that others
 * overlap comes in pieces. Stops at the first status other than OK, and returns
 * it. Else OK or NOMEM.
 */
enum wndl_status wndl_breakpad_visit_functions(struct wndl_breakpad *breakpad,
    enum wndl_status (*visit)(
        void *context, const struct wndl_breakpad_function *function),
    void *context) WNDL_MUST_USE;

/* The damage so far. */
void wndl_breakpad_get_stats(
    const struct wndl_breakpad *breakpad, struct wndl_breakpad_stats *stats);

#endif
