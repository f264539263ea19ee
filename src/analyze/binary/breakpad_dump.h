/* SPDX-License-Identifier: MIT */
/*
 * breakpad_dump: a binary's symbols and call frame information as a Breakpad
 * symbol file, with the same answers as the binary (docs/formats/breakpad.md).
 */
#ifndef WNDL_ANALYZE_BINARY_BREAKPAD_DUMP_H
#define WNDL_ANALYZE_BINARY_BREAKPAD_DUMP_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

#include <windlass/symbolize.h>

/*
 * The receiver of the text, which comes in pieces. `write` returns false if it
 * failed.
 */
struct wndl_breakpad_sink {
    void *context;
    bool (*write)(void *context, struct wndl_bytes piece);
};

/* The binary; options as for wndl_symbolizer_open. All are borrowed. */
struct wndl_breakpad_request {
    const char *path;
    struct wndl_mem *mem;
    const struct wndl_symbolizer_options *options;
    struct wndl_breakpad_sink sink;
};

/*
 * The problems that are worth reporting. A status is WNDL_OK if there is none.
 */
struct wndl_breakpad_report {
    struct wndl_symbolizer_info symbols; /* its strings are not valid */
    struct wndl_error no_unwinding; /* why there are no STACK CFI records */
};

/*
 * Writes the symbol file. The errors of wndl_symbolizer_open, NOMEM, and IO
 * when the sink failed, after some text may have been written.
 */
enum wndl_status wndl_breakpad_dump(const struct wndl_breakpad_request *request,
    struct wndl_breakpad_report *report, struct wndl_error *err) WNDL_MUST_USE;

#endif
