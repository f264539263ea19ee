/* SPDX-License-Identifier: MIT */
#include "cli/report/export_formats.h"

#include "out/dhat.h"
#include "out/firefox/firefox.h"
#include "out/pprof.h"
#include "out/speedscope.h"

#include <string.h>

/*
 * A format is a row: its name, its help and the fields of struct
 * wndl_export_format. The help of export is made from the rows.
 */
#define FORMATS(ROW)                                                           \
    ROW("folded", "one stack per line, for flame graphs",                      \
        .write_sums = wndl_export_folded,                                      \
        .open_with = "flamegraph.pl, speedscope.app or profiler.firefox.com")  \
    ROW("dmd", "a heap as JSON for Mozilla's DMD",                             \
        .write_sums = wndl_export_dmd, .of_heap = true,                        \
        .open_with = "Mozilla's dmd.py --no-fix-stacks, or windlass report")   \
    ROW("pprof", "the whole recording for Google's pprof",                     \
        .write = wndl_pprof_write, .open_with = "go tool pprof -http=:")       \
    ROW("callgrind", "a call graph for KCachegrind",                           \
        .write_sums = wndl_export_callgrind,                                   \
        .open_with = "kcachegrind or callgrind_annotate")                      \
    ROW("speedscope", "JSON for speedscope, thread by thread",                 \
        .write = wndl_speedscope_write,                                        \
        .open_with = "speedscope, or www.speedscope.app")                      \
    ROW("dhat", "a heap as JSON for Valgrind's DHAT",                          \
        .write = wndl_dhat_write, .of_heap = true,                             \
        .open_with = "Valgrind's dh_view.html, or profiler.firefox.com")       \
    ROW("firefox", "the whole recording as JSON for the Firefox Profiler",     \
        .write = wndl_firefox_write, .of_both = true,                          \
        .open_with = "profiler.firefox.com")                                   \
    ROW("json", "the JSON of report --json with --tree and --marks",           \
        .write_sums = wndl_export_json,                                        \
        .open_with = "jq; docs/formats/report-json.md (heaps: heap-json.md) "  \
                     "describes it")

#define FIELDS(word, help, ...) {.name = word, __VA_ARGS__},
#define NAME(name, ...) "|" name
#define HELP(name, help, ...) "; " name ": " help

const struct wndl_export_format wndl_export_formats[] = {FORMATS(FIELDS)};
const char wndl_export_format_names[] = FORMATS(NAME);
const char wndl_export_format_help[] =
    FORMATS(HELP) ". JSON is compressed if the name of OUT ends in .gz";

bool wndl_export_write(FILE *out, const struct wndl_export_format *format,
    struct wndl_export_job *job)
{
    return format->write != NULL
               ? format->write(out, &job->exported, wndl_mem_libc())
               : format->write_sums(out, job);
}

const struct wndl_export_format *wndl_export_find(const char *name)
{
    enum { COUNT = sizeof wndl_export_formats / sizeof *wndl_export_formats };
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(wndl_export_formats[i].name, name) == 0)
            return &wndl_export_formats[i];
    }
    return NULL;
}
