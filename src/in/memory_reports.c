/* SPDX-License-Identifier: MIT */
#include "in/memory_reports.h"

#include "in/core/json_source.h"

#include <string.h>

enum { VERSION = 1 };

/* Members of a report, a bit each. */
enum {
    HAS_PATH = 1,
    HAS_KIND = 2,
    HAS_UNIT = 4,
    HAS_AMOUNT = 8,
    HAS_RUNNING = 16, /* it is no report, but says who runs */
    HAS_MISSING = 32, /* or who did not answer */
    HAS_ALL = HAS_PATH | HAS_KIND | HAS_UNIT | HAS_AMOUNT,
};

/* Parts of a file, a bit each. */
enum {
    SEEN_VERSION = 1,
    SEEN_REPORTS = 2,
    SEEN_TIME = 4,
    SEEN_BOTH = SEEN_VERSION | SEEN_REPORTS, /* which it must have */
};

struct reading {
    struct wndl_json_reader json;
    struct wndl_memory_reports *reports;
    const char *suffix;
    struct wndl_buf name; /* of a process, with the suffix */
    unsigned seen;        /* parts of the file */
};

/* A report that is being read; its texts are already kept. */
struct item {
    struct wndl_reported row;
    struct wndl_unreported missing;
    unsigned seen;
};

static bool ok(const struct reading *in)
{
    return in->json.status == WNDL_OK;
}

static void no_memory(struct reading *in)
{
    wndl_json_fail(&in->json, WNDL_NOMEM, "no memory for its contents");
}

static struct wndl_bytes read_text(struct reading *in)
{
    struct wndl_bytes text = wndl_json_read_string(&in->json);
    if (ok(in) && !wndl_memory_reports_keep(in->reports, &text))
        no_memory(in);
    return ok(in) ? text : (struct wndl_bytes){(const uint8_t *)"", 0};
}

/* Reads a number below `limit`. */
static unsigned read_choice(
    struct reading *in, unsigned limit, const char *what)
{
    (void)wndl_json_peek(&in->json);
    const uint64_t start = wndl_json_offset(&in->json);
    const uint64_t value = wndl_json_read_u64(&in->json);
    if (value >= limit)
        wndl_json_fail_at(&in->json, WNDL_UNSUPPORTED, start, what);
    return value < limit ? (unsigned)value : 0;
}

static void read_process(struct reading *in, struct item *item)
{
    const struct wndl_bytes text = wndl_json_read_string(&in->json);
    wndl_buf_clear(&in->name);
    wndl_buf_add(&in->name, text.data, text.size);
    wndl_buf_text(&in->name, in->suffix);
    if (ok(in) && (in->name.failed ||
                      !wndl_intern_add(&in->reports->processes,
                          (struct wndl_bytes){in->name.data, in->name.size},
                          &item->row.process)))
        no_memory(in);
}

static void read_private(struct reading *in, struct item *item)
{
    const uint64_t parts = wndl_json_read_u64(&in->json);
    if (parts > INT32_MAX)
        wndl_json_fail(
            &in->json, WNDL_MALFORMED, "private has more than 31 bits");
    item->row.private_parts = (uint32_t)(parts & INT32_MAX);
}

/* Reads a member that a report must not have, or need not. */
static void read_other(
    struct reading *in, struct wndl_bytes key, struct item *item)
{
    if (wndl_bytes_is(key, "why"))
        item->missing.why = read_text(in);
    else if (wndl_bytes_is(key, "process"))
        read_process(in, item);
    else if (wndl_bytes_is(key, "description"))
        item->row.description = read_text(in);
    else if (wndl_bytes_is(key, "estimated"))
        item->row.is_estimated = wndl_json_read_truth(&in->json);
    else if (wndl_bytes_is(key, "private"))
        read_private(in, item);
    else
        wndl_json_skip(&in->json);
}

static void read_member(
    struct reading *in, struct wndl_bytes key, struct item *item)
{
    struct wndl_reported *row = &item->row;
    if (wndl_bytes_is(key, "path")) {
        row->path = read_text(in);
        item->seen |= HAS_PATH;
    } else if (wndl_bytes_is(key, "kind")) {
        row->kind = read_choice(
            in, WNDL_REPORTED_KINDS, "a kind that is not 0, 1 or 2");
        item->seen |= HAS_KIND;
    } else if (wndl_bytes_is(key, "units")) {
        row->unit =
            read_choice(in, WNDL_REPORTED_UNITS, "units that are not 0 to 3");
        item->seen |= HAS_UNIT;
    } else if (wndl_bytes_is(key, "amount")) {
        row->amount = wndl_json_read_i64(&in->json);
        item->seen |= HAS_AMOUNT;
    } else if (wndl_bytes_is(key, "running")) {
        in->reports->running = read_text(in);
        item->seen |= HAS_RUNNING;
    } else if (wndl_bytes_is(key, "missing")) {
        item->missing.reporter = read_text(in);
        item->seen |= HAS_MISSING;
    } else {
        read_other(in, key, item);
    }
}

static void keep_item(
    struct reading *in, const struct item *item, uint64_t start)
{
    if (!ok(in))
        return;
    if (item->seen == HAS_RUNNING)
        return;
    if (item->seen == HAS_MISSING) {
        struct wndl_unreported *slot = wndl_vec_push(&in->reports->missing);
        if (slot == NULL)
            no_memory(in);
        else
            *slot = item->missing;
        return;
    }
    if ((item->seen & HAS_ALL) != HAS_ALL)
        wndl_json_fail_at(&in->json, WNDL_MALFORMED, start,
            "a report without its path, kind, units or amount");
    else if (!wndl_memory_reports_add(in->reports, &item->row))
        no_memory(in);
}

static void read_report(struct reading *in)
{
    static const struct wndl_bytes none = {(const uint8_t *)"", 0};
    struct item item = {
        .row = {.path = none, .description = none}, .missing = {none, none}};
    (void)wndl_json_peek(&in->json);
    const uint64_t start = wndl_json_offset(&in->json);
    if (wndl_json_enter(&in->json, '{', "a report is not an object")) {
        do {
            const struct wndl_bytes key = wndl_json_read_key(&in->json);
            read_member(in, key, &item);
        } while (wndl_json_another(&in->json, '}'));
    }
    keep_item(in, &item, start);
}

static void read_reports(struct reading *in)
{
    if (!wndl_json_enter(&in->json, '[', "reports is not an array"))
        return;
    do {
        read_report(in);
    } while (wndl_json_another(&in->json, ']'));
}

static void read_version(struct reading *in)
{
    (void)wndl_json_peek(&in->json);
    const uint64_t start = wndl_json_offset(&in->json);
    const uint64_t version = wndl_json_read_u64(&in->json);
    if (ok(in) && version != VERSION)
        wndl_json_fail_at(&in->json, WNDL_UNSUPPORTED, start,
            "unsupported version of memory reports (expected 1)");
}

static void read_part(struct reading *in)
{
    const struct wndl_bytes key = wndl_json_read_key(&in->json);
    const unsigned part = wndl_bytes_is(key, "version")   ? SEEN_VERSION
                          : wndl_bytes_is(key, "reports") ? SEEN_REPORTS
                          : wndl_bytes_is(key, "time")    ? SEEN_TIME
                                                          : 0;
    if ((in->seen & part) != 0) {
        wndl_json_fail(
            &in->json, WNDL_MALFORMED, "a part of the file is repeated here");
        return;
    }
    in->seen |= part;
    if (part == SEEN_VERSION)
        read_version(in);
    else if (part == SEEN_REPORTS)
        read_reports(in);
    else if (part == SEEN_TIME)
        in->reports->time = wndl_json_read_u64(&in->json);
    else
        wndl_json_skip(&in->json);
}

/* Reads one object; others may follow. */
static void read_object(struct reading *in)
{
    in->seen = 0;
    if (wndl_json_enter(&in->json, '{', "not a JSON object")) {
        do {
            read_part(in);
        } while (wndl_json_another(&in->json, '}'));
    }
    if (ok(in) && (in->seen & SEEN_BOTH) != SEEN_BOTH)
        wndl_json_fail(
            &in->json, WNDL_MALFORMED, "the file has no version or no reports");
}

enum wndl_status wndl_memory_reports_read_text(
    struct wndl_memory_reports *reports, const char *suffix,
    wndl_json_more more, void *context, struct wndl_error *err)
{
    struct reading in = {.reports = reports, .suffix = suffix};
    struct wndl_mem *mem = reports->arena.mem;
    wndl_buf_init(&in.name, mem);
    wndl_json_begin(&in.json, more, context, mem, err);
    read_object(&in);
    wndl_json_expect_end(&in.json);
    wndl_json_end(&in.json);
    wndl_buf_free(&in.name);
    return in.json.status;
}

enum wndl_status wndl_memory_reports_read(struct wndl_memory_reports *reports,
    const char *suffix, struct wndl_bytes file, struct wndl_error *err)
{
    struct wndl_json_source source;
    enum wndl_status status =
        wndl_json_source_open(&source, file, reports->arena.mem);
    if (status == WNDL_OK)
        status = wndl_memory_reports_read_text(
            reports, suffix, wndl_json_source_more, &source, err);
    else
        wndl_fail(err, status, "out of memory");
    wndl_json_source_close(&source);
    return status;
}

/* ---- several reports, one after the other */

static struct wndl_memory_reports *add_to_series(
    struct wndl_vec *series, struct wndl_arena *arena)
{
    struct wndl_memory_reports *reports =
        wndl_arena_calloc(arena, 1, sizeof *reports);
    struct wndl_memory_reports **slot =
        reports == NULL ? NULL : wndl_vec_push(series);
    if (slot == NULL)
        return NULL;
    *slot = reports;
    return wndl_memory_reports_init(reports, arena->mem) ? reports : NULL;
}

static void read_series(
    struct reading *in, struct wndl_vec *series, struct wndl_arena *arena)
{
    do {
        in->reports = add_to_series(series, arena);
        if (in->reports == NULL)
            no_memory(in);
        else
            read_object(in);
    } while (wndl_json_follows(&in->json));
}

enum wndl_status wndl_memory_series_read(struct wndl_vec *series,
    struct wndl_arena *arena, struct wndl_bytes file, struct wndl_error *err)
{
    struct reading in = {.suffix = ""};
    struct wndl_json_source source;
    enum wndl_status status = wndl_json_source_open(&source, file, arena->mem);
    if (status != WNDL_OK)
        return wndl_fail(err, status, "out of memory");
    wndl_buf_init(&in.name, arena->mem);
    wndl_json_begin(&in.json, wndl_json_source_more, &source, arena->mem, err);
    read_series(&in, series, arena);
    wndl_json_end(&in.json);
    wndl_buf_free(&in.name);
    wndl_json_source_close(&source);
    return in.json.status;
}

void wndl_memory_series_free(struct wndl_vec *series)
{
    struct wndl_memory_reports **all = series->data;
    for (size_t i = 0; i < series->len; i++)
        wndl_memory_reports_free(all[i]);
}
