/* SPDX-License-Identifier: MIT */
#include "analyze/callgraph/kind.h"

#include "base/lines.h"
#include "in/callgrind.h"
#include "in/folded.h"
#include "in/perf_script.h"
#include "in/pprof.h"
#include "in/pprof_text.h"
#include "in/valgrind_text.h"
#include "rec/chunk.h"

#include <string.h>

/* The bytes of text that are examined. */
enum { LOOKED_AT = 256 * 1024 };

static bool is_recording(struct wndl_bytes file)
{
    struct wndl_chunk_reader reader;
    struct wndl_error err = {0};
    enum wndl_status status = wndl_chunk_reader_init(&reader, file, &err);
    /* Damage outside of any section means that the magic number is wrong. */
    return status != WNDL_MALFORMED || err.section[0] != '\0';
}

/* Whole lines, if there is one. */
static struct wndl_bytes head_of(struct wndl_bytes file)
{
    if (file.size <= LOOKED_AT)
        return file;
    const uint8_t *end = memrchr(file.data, '\n', LOOKED_AT);
    return (struct wndl_bytes){
        file.data, end == NULL ? LOOKED_AT : (size_t)(end - file.data)};
}

/*
 * Whether most lines are stacks: any text has some line that ends in a number.
 */
static bool is_folded(struct wndl_bytes head)
{
    struct wndl_lines lines = wndl_lines_of(head);
    struct wndl_bytes line;
    size_t stacks = 0, others = 0;
    if (head.size == 0 || memchr(head.data, 0, head.size) != NULL)
        return false;
    while (wndl_lines_next(&lines, &line)) {
        if (wndl_folded_is(line))
            stacks++;
        else if (wndl_line_trimmed(line).size != 0)
            others++;
    }
    return stacks > others;
}

enum wndl_graph_kind wndl_graph_kind_of(struct wndl_bytes file)
{
    struct wndl_bytes head = head_of(file);
    struct wndl_lines lines = wndl_lines_of(head);
    struct wndl_bytes line;
    if (is_recording(file))
        return WNDL_GRAPH_RECORDING;
    if (wndl_pprof_is(file))
        return WNDL_GRAPH_PPROF;
    while (wndl_lines_next(&lines, &line)) {
        if (wndl_pprof_text_is(line))
            return WNDL_GRAPH_PPROF_TEXT;
        if (wndl_callgrind_is(line))
            return WNDL_GRAPH_CALLGRIND;
        if (wndl_perf_script_is(line))
            return WNDL_GRAPH_PERF_SCRIPT;
        if (wndl_valgrind_text_is(line))
            return WNDL_GRAPH_VALGRIND;
    }
    return is_folded(head) ? WNDL_GRAPH_FOLDED : WNDL_GRAPH_UNKNOWN;
}
