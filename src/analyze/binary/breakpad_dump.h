/* SPDX-License-Identifier: MIT */
/*
 * breakpad_dump: a binary's symbols and call frame information as a Breakpad
 * symbol file, which answers as the binary does (docs/formats/breakpad.md).
 */
#ifndef WNDL_ANALYZE_BINARY_BREAKPAD_DUMP_H
#define WNDL_ANALYZE_BINARY_BREAKPAD_DUMP_H

#include "base/bytes.h"
#include "base/mem.h"
#include "base/status.h"

#include <windlass/symbolize.h>

/* Where the text goes, in pieces. `write` says whether it was taken. */
struct wndl_breakpad_sink {
    void *context;
    bool (*write)(void *context, struct wndl_bytes piece);
};

/* Of which binary; options as for wndl_symbolizer_open. All are borrowed. */
struct wndl_breakpad_request {
    const char *path;
    struct wndl_mem *mem;
    const struct wndl_symbolizer_options *options;
    struct wndl_breakpad_sink sink;
};

/* What is worth telling of. Statuses are WNDL_OK when there is nothing. */
struct wndl_breakpad_report {
    struct wndl_symbolizer_info symbols; /* its strings are not valid */
    struct wndl_error no_unwinding; /* why there are no STACK CFI records */
};

/*
 * The errors of wndl_symbolizer_open, NOMEM, and IO when the sink did not take
 * all, of which some was written then.
 */
enum wndl_status wndl_breakpad_dump(const struct wndl_breakpad_request *request,
    struct wndl_breakpad_report *report, struct wndl_error *err) WNDL_MUST_USE;

#endif
