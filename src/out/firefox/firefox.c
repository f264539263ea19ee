/* SPDX-License-Identifier: MIT */
#include "out/firefox/firefox.h"

#include "base/json.h"

/* Readers refuse later versions than their own, and accept all earlier ones. */
enum { FORMAT_VERSION = 66, GECKO_VERSION = 36 };

/* ---- the profile as a whole */

static void write_command(struct wndl_firefox *w)
{
    for (size_t i = 0; i < w->p->arguments.len; i++) {
        const struct wndl_bytes *word = wndl_vec_at(&w->p->arguments, i);
        wndl_buf_text(&w->sink.text, i == 0 ? "" : " ");
        wndl_json_escaped(&w->sink.text, *word);
    }
}

/* Readers find category 0 by its colour. */
static const char categories[] =
    "\"categories\":[\n"
    "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\n"
    "{\"name\":\"Native\",\"color\":\"yellow\","
    "\"subcategories\":[\"Other\"]},\n"
    "{\"name\":\"Guessed\",\"color\":\"orange\","
    "\"subcategories\":[\"Other\"]}],\n";

static const char marker_schema[] =
    "\"markerSchema\":[\n"
    "{\"name\":\"Mark\",\"display\":[\"marker-chart\",\"marker-table\","
    "\"timeline-overview\"],\n"
    "\"chartLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.name}\","
    "\"fields\":[]},\n"
    "{\"name\":\"MissedDeadline\",\"display\":[\"marker-chart\","
    "\"marker-table\",\"timeline-overview\"],\n"
    "\"chartLabel\":\"{marker.name}\","
    "\"tableLabel\":\"missed the deadline: {marker.name}\",\"fields\":[]}],\n";

static void write_meta(struct wndl_firefox *w)
{
    struct wndl_buf *to = &w->sink.text;
    uint64_t interval = w->p->interval == 0 ? 1000000 : w->p->interval;
    wndl_buf_printf(to,
        "{\"meta\":{\"preprocessedProfileVersion\":%d,\"version\":%d,\n"
        "\"product\":\"",
        FORMAT_VERSION, GECKO_VERSION);
    write_command(w);
    wndl_buf_text(to, "\",\"importedFrom\":\"windlass\",\"interval\":");
    wndl_firefox_put_ms(to, interval);
    wndl_buf_text(to, ",\"startTime\":");
    wndl_firefox_put_ms(to, w->p->realtime);
    wndl_buf_text(to,
        ",\n\"processType\":0,\"stackwalk\":1,\"debug\":false,"
        "\"platform\":\"Linux\",\"oscpu\":\"Linux\",\n"
        "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
        "\"sourceCodeIsNotOnSearchfox\":true,\n"
        "\"keepProfileThreadOrder\":true,\"sampleUnits\":{\"time\":\"ms\","
        "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n");
    wndl_buf_text(to, categories);
    wndl_buf_text(to, marker_schema);
    wndl_buf_text(to, "\"extensions\":{\"baseURL\":[],\"id\":[],\"name\":[],"
                      "\"length\":0}},\n");
}

static void write_strings_of(
    struct wndl_firefox *w, const struct wndl_intern *strings, uint32_t first)
{
    for (uint32_t i = first; i < wndl_intern_count(strings); i++) {
        wndl_buf_text(&w->sink.text, i == 0 ? "\n" : ",\n");
        wndl_json_string(&w->sink.text, wndl_intern_get(strings, i));
        wndl_sink_flush(&w->sink);
    }
}

/* Strings come last: all others may add to them. */
static void write_file(struct wndl_firefox *w)
{
    write_meta(w);
    wndl_firefox_write_libs(w);
    wndl_buf_text(&w->sink.text, "\"pages\":[],\n");
    wndl_firefox_write_threads(w);
    wndl_buf_text(&w->sink.text, "\"shared\":{\n");
    wndl_firefox_write_tables(w);
    wndl_buf_text(&w->sink.text, "\"stringArray\":[");
    write_strings_of(w, &w->s->strings, 0);
    write_strings_of(w, &w->ours, 1);
    wndl_buf_text(&w->sink.text, "]}}\n");
}

bool wndl_firefox_write(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem)
{
    struct wndl_firefox w = {
        .e = e, .s = e->symbolized, .p = e->symbolized->profile};
    wndl_arena_init(&w.arena, mem);
    wndl_sink_open(&w.sink, out, e->zipped, mem);
    bool whole =
        wndl_intern_init(&w.ours, &w.arena) && wndl_firefox_collect_stacks(&w);
    if (whole)
        write_file(&w);
    whole = wndl_sink_close(&w.sink) && whole && !w.failed;
    wndl_arena_free(&w.arena);
    return whole;
}
