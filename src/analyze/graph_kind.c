/* SPDX-License-Identifier: MIT */
#include "analyze/graph_kind.h"

#include "base/lines.h"
#include "in/callgrind.h"
#include "in/folded.h"
#include "in/perf_script.h"
#include "in/pprof.h"
#include "in/valgrind_text.h"
#include "rec/chunk.h"

/* Text is looked at so far. */
enum { LOOKED_AT = 256 * 1024 };

static bool is_recording(struct wndl_bytes file)
{
    struct wndl_chunk_reader reader;
    struct wndl_error err = {0};
    enum wndl_status status = wndl_chunk_reader_init(&reader, file, &err);
    /* Without a section it is the magic that is not right. */
    return status != WNDL_MALFORMED || err.section[0] != '\0';
}

enum wndl_graph_kind wndl_graph_kind_of(struct wndl_bytes file)
{
    struct wndl_bytes head = {
        file.data, file.size < LOOKED_AT ? file.size : LOOKED_AT};
    struct wndl_lines lines = wndl_lines_of(head);
    struct wndl_bytes line;
    enum wndl_graph_kind kind = WNDL_GRAPH_UNKNOWN;
    if (is_recording(file))
        return WNDL_GRAPH_RECORDING;
    if (wndl_pprof_is(file))
        return WNDL_GRAPH_PPROF;
    while (wndl_lines_next(&lines, &line)) {
        if (wndl_callgrind_is(line))
            return WNDL_GRAPH_CALLGRIND;
        if (wndl_perf_script_is(line))
            return WNDL_GRAPH_PERF_SCRIPT;
        if (wndl_valgrind_text_is(line))
            return WNDL_GRAPH_VALGRIND;
        if (kind == WNDL_GRAPH_UNKNOWN && wndl_folded_is(line))
            kind = WNDL_GRAPH_FOLDED;
    }
    return kind;
}
