/* SPDX-License-Identifier: MIT */
#include "cli/report/export_sums.h"

#include "analyze/callgraph/callgraph.h"
#include "analyze/heap/blocks.h"
#include "analyze/holders/contents.h"
#include "analyze/time/calltree.h"
#include "analyze/time/report_fill.h"
#include "out/callgrind.h"
#include "out/core/sink.h"
#include "out/dmd_json.h"
#include "out/folded.h"
#include "out/report_json/heap.h"
#include "out/report_json/report_json.h"

/* The unit of a line's number: the sampling interval. */
static uint64_t unit_of(const struct wndl_profile *p)
{
    enum { MILLISECOND = 1000000 };
    return p->interval == 0 ? MILLISECOND : p->interval;
}

static bool build_tree(struct wndl_export_job *job, struct wndl_calltree *tree)
{
    struct wndl_symbolized *s = job->symbolized;
    return job->exported.of_heap
               ? wndl_calltree_build_heap(
                     tree, s, &job->heaps, !job->exported.by_blocks)
               : wndl_calltree_build(
                     tree, s, WNDL_TREE_FOR_FOLDING, job->exported.time);
}

bool wndl_export_folded(FILE *out, struct wndl_export_job *job)
{
    struct wndl_arena arena;
    struct wndl_calltree tree;
    uint64_t unit =
        job->exported.of_heap ? 1 : unit_of(job->symbolized->profile);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&tree.nodes, &arena, sizeof(struct wndl_calltree_node));
    bool whole = build_tree(job, &tree) &&
                 wndl_folded_write(out, &tree, &job->symbolized->strings, unit,
                     wndl_mem_libc());
    wndl_arena_free(&arena);
    return whole;
}

bool wndl_export_dmd(FILE *out, struct wndl_export_job *job)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_init(&list, wndl_mem_libc()))
        return false;
    struct wndl_heap_contents contents;
    struct wndl_error err = {0};
    const bool zipped = job->exported.zipped;
    bool whole = wndl_heap_contents_fill(&contents, &list, job->symbolized,
                     &job->heaps, &err) == WNDL_OK;
    if (whole && contents.blocks.len != 0 &&
        job->heaps.set == WNDL_HEAP_SET_LIVE)
        whole = wndl_dmd_json_write_scan(
            out, &list, &contents, zipped, wndl_mem_libc());
    else if (whole)
        whole = wndl_heap_list_fill(&list, job->symbolized, &job->heaps) &&
                wndl_dmd_json_write(out, &list, zipped, wndl_mem_libc());
    wndl_heap_contents_free(&contents);
    wndl_heap_list_free(&list);
    return whole;
}

static enum wndl_status fill_callgraph(
    struct wndl_callgraph *g, struct wndl_export_job *job)
{
    struct wndl_symbolized *s = job->symbolized;
    return job->exported.of_heap
               ? wndl_callgraph_add_heap(
                     g, s, &job->heaps, !job->exported.by_blocks)
               : wndl_callgraph_add_time(g, s, job->exported.time);
}

static void spell_command(const struct wndl_profile *p, struct wndl_buf *to)
{
    const struct wndl_bytes *arguments = p->arguments.data;
    for (size_t i = 0; i < p->arguments.len; i++) {
        if (i != 0)
            wndl_buf_byte(to, ' ');
        wndl_buf_add(to, arguments[i].data, arguments[i].size);
    }
}

bool wndl_export_callgrind(FILE *out, struct wndl_export_job *job)
{
    struct wndl_callgraph g;
    struct wndl_buf command;
    if (!wndl_callgraph_init(&g, wndl_mem_libc()))
        return false;
    wndl_buf_init(&command, wndl_mem_libc());
    spell_command(job->symbolized->profile, &command);
    bool whole =
        !command.failed && fill_callgraph(&g, job) == WNDL_OK &&
        wndl_callgraph_finish(&g, job->collapses_cycles) &&
        wndl_callgrind_write(out, &g,
            (struct wndl_bytes){command.data, command.size}, wndl_mem_libc());
    wndl_buf_free(&command);
    wndl_callgraph_free(&g);
    return whole;
}

static bool report_time(struct wndl_export_job *job, struct wndl_buf *text)
{
    struct wndl_symbolized *s = job->symbolized;
    const struct wndl_json_layout all = {.max_rows = SIZE_MAX, .marks = true};
    struct wndl_report report;
    bool whole = wndl_report_fill(&report, s, WNDL_BY_FUNCTION,
                     job->exported.time, wndl_mem_libc()) &&
                 wndl_calltree_build(&report.tree, s, WNDL_TREE_FOR_READING,
                     job->exported.time);
    if (whole)
        wndl_report_json(&report, &all, text);
    wndl_report_free(&report);
    return whole;
}

static bool report_heap(struct wndl_export_job *job, struct wndl_buf *text)
{
    struct wndl_heap_choice choice = job->heaps;
    struct wndl_heap_report report;
    choice.grouping.max_frames = UINT32_MAX;
    bool whole = wndl_heap_report_fill(
        &report, job->symbolized, &choice, wndl_mem_libc());
    if (whole)
        wndl_report_json_heap(&report, SIZE_MAX, text);
    wndl_heap_report_free(&report);
    return whole;
}

bool wndl_export_json(FILE *out, struct wndl_export_job *job)
{
    struct wndl_sink sink;
    wndl_sink_open(&sink, out, job->exported.zipped, wndl_mem_libc());
    bool whole = job->exported.of_heap ? report_heap(job, &sink.text)
                                       : report_time(job, &sink.text);
    return wndl_sink_close(&sink) && whole;
}
