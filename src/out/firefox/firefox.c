/* SPDX-License-Identifier: MIT */
#include "out/firefox/firefox.h"

#include "base/json.h"

/* Readers refuse a later one than their own, and take all earlier ones. */
enum { FORMAT_VERSION = 66, GECKO_VERSION = 36 };

/* ---- columns */

struct wndl_firefox_column wndl_firefox_open(
    struct wndl_firefox *w, const char *name)
{
    wndl_buf_printf(&w->sink.text, "\"%s\":[", name);
    return (struct wndl_firefox_column){w, true};
}

static struct wndl_buf *next_in(struct wndl_firefox_column *column)
{
    struct wndl_sink *sink = &column->w->sink;
    if (!column->first) {
        wndl_sink_flush(sink);
        wndl_buf_byte(&sink->text, ',');
    }
    column->first = false;
    return &sink->text;
}

void wndl_firefox_number(struct wndl_firefox_column *column, uint64_t number)
{
    wndl_buf_decimal(next_in(column), number);
}

void wndl_firefox_time(struct wndl_firefox_column *column, uint64_t ns)
{
    wndl_firefox_put_ms(next_in(column), ns);
}

void wndl_firefox_text(struct wndl_firefox_column *column, const char *text)
{
    wndl_buf_text(next_in(column), text);
}

void wndl_firefox_close(struct wndl_firefox_column *column)
{
    wndl_buf_text(&column->w->sink.text, "],\n");
}

void wndl_firefox_repeat(
    struct wndl_firefox *w, const char *name, size_t count, const char *text)
{
    struct wndl_firefox_column column = wndl_firefox_open(w, name);
    for (size_t i = 0; i < count; i++)
        wndl_firefox_text(&column, text);
    wndl_firefox_close(&column);
}

void wndl_firefox_length(struct wndl_firefox *w, size_t count)
{
    wndl_buf_printf(&w->sink.text, "\"length\":%zu}", count);
}

/* No more digits than it needs, exact to the nanosecond. */
void wndl_firefox_put_ms(struct wndl_buf *to, uint64_t ns)
{
    enum { MILLISECOND = 1000000, DIGITS = 6 };
    uint32_t part = (uint32_t)(ns % MILLISECOND);
    uint8_t digits[DIGITS + 1] = {'.'};
    size_t size = 0;
    wndl_buf_decimal(to, ns / MILLISECOND);
    for (size_t i = DIGITS; i > 0; i--, part /= 10) {
        digits[i] = (uint8_t)('0' + part % 10);
        if (size == 0 && part % 10 != 0)
            size = i + 1;
    }
    wndl_buf_add(to, digits, size);
}

uint64_t wndl_firefox_string(struct wndl_firefox *w, struct wndl_bytes text)
{
    uint32_t id = 0;
    w->failed = w->failed || !wndl_intern_add(&w->ours, text, &id);
    return id == 0 ? 0 : wndl_intern_count(&w->s->strings) + id - 1;
}

void wndl_firefox_put_pid(struct wndl_firefox *w, uint32_t process)
{
    const struct wndl_process *of = wndl_vec_at(&w->p->processes, process);
    wndl_buf_printf(&w->sink.text, "\"%" PRIu32, of->pid);
    if (of->generation != 0)
        wndl_buf_printf(&w->sink.text, ".%" PRIu32, of->generation);
    wndl_buf_byte(&w->sink.text, '"');
}

/* ---- what the whole profile is */

static void write_command(struct wndl_firefox *w)
{
    for (size_t i = 0; i < w->p->arguments.len; i++) {
        const struct wndl_bytes *word = wndl_vec_at(&w->p->arguments, i);
        wndl_buf_text(&w->sink.text, i == 0 ? "" : " ");
        wndl_json_escaped(&w->sink.text, *word);
    }
}

/* Category 0 is the one that readers ask for by its colour. */
static const char categories[] =
    "\"categories\":[\n"
    "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},\n"
    "{\"name\":\"Native\",\"color\":\"yellow\","
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
