/* SPDX-License-Identifier: MIT */
#include "out/report_json/diff.h"

#include "out/core/json_put.h"

enum { SCHEMA_VERSION = 1 };

struct diff_json {
    struct wndl_json j;
    const struct wndl_diff *d;
    struct wndl_vec path; /* uint32_t */
};

static struct wndl_bytes text_of(const struct diff_json *h, uint32_t id)
{
    return wndl_intern_get(&h->d->strings, id);
}

/* ---- numbers */

/* Shares are percent, amounts whole ones. */
static void put_number(
    struct diff_json *h, enum wndl_diff_subject subject, double value)
{
    wndl_buf_printf(
        h->j.out, subject == WNDL_DIFF_SHARE ? "%.6f" : "%.0f", value + 0.0);
}

static void number_member(struct diff_json *h, const char *name,
    enum wndl_diff_subject subject, double value)
{
    wndl_json_put_key(&h->j, name);
    put_number(h, subject, value);
}

static void put_change(struct diff_json *h, enum wndl_diff_subject subject,
    const struct wndl_diff_change *c)
{
    number_member(h, "change", subject, c->change);
    number_member(h, "noise", subject, c->noise);
    wndl_json_put_truth(&h->j, "beyond_noise", c->beyond);
}

/* ---- groups */

static void recordings_of(struct diff_json *h, uint32_t group)
{
    struct wndl_json *j = &h->j;
    wndl_json_put_key(j, "recordings");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < h->d->recordings.len; i++) {
        const struct wndl_diff_recording *r = wndl_diff_recording_at(h->d, i);
        const struct wndl_diff_sum *all = wndl_vec_at(&r->sums, 0);
        if (r->group != group)
            continue;
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        wndl_json_put_text(j, "file", r->file);
        number_member(
            h, "amount", WNDL_DIFF_AMOUNT, all->cost[WNDL_DIFF_TOTAL]);
        wndl_json_put_number(j, "count", r->count);
        wndl_json_put_truth(j, "whole", r->whole);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_groups(struct diff_json *h)
{
    const struct wndl_diff_place all = {WNDL_DIFF_AMOUNT, WNDL_DIFF_TOTAL, 0};
    struct wndl_diff_change c = wndl_diff_change(h->d, all);
    wndl_json_put_key(&h->j, "groups");
    wndl_json_put_open(&h->j, '[');
    for (uint32_t i = 0; i < h->d->groups; i++) {
        struct wndl_diff_value value = wndl_diff_value(h->d, all, i);
        wndl_json_put_open_line(&h->j);
        recordings_of(h, i);
        number_member(h, "amount", WNDL_DIFF_AMOUNT, value.mean);
        number_member(h, "amount_spread", WNDL_DIFF_AMOUNT, value.spread);
        wndl_json_put_close(&h->j, '}');
    }
    wndl_json_put_close(&h->j, ']');
    wndl_json_put_key(&h->j, "amount");
    wndl_json_put_open(&h->j, '{');
    if (h->d->recordings.len > h->d->groups)
        put_change(h, WNDL_DIFF_AMOUNT, &c);
    else /* the noise is not known */
        number_member(h, "change", WNDL_DIFF_AMOUNT, c.change);
    wndl_json_put_close(&h->j, '}');
}

/* ---- rows */

static void put_list(struct diff_json *h, struct wndl_diff_place place,
    const char *name, bool is_spread)
{
    wndl_json_put_key(&h->j, name);
    wndl_json_put_open(&h->j, '[');
    for (uint32_t i = 0; i < h->d->groups; i++) {
        struct wndl_diff_value value = wndl_diff_value(h->d, place, i);
        wndl_json_put_element(&h->j);
        put_number(h, place.subject, is_spread ? value.spread : value.mean);
    }
    wndl_json_put_close(&h->j, ']');
}

static void put_costs(struct diff_json *h, const struct wndl_diff_row *row,
    enum wndl_diff_cost cost)
{
    const struct wndl_diff_place share = {WNDL_DIFF_SHARE, cost, row->key};
    const struct wndl_diff_place amount = {WNDL_DIFF_AMOUNT, cost, row->key};
    wndl_json_put_key(&h->j, cost == WNDL_DIFF_SELF ? "self" : "total");
    wndl_json_put_open(&h->j, '{');
    put_list(h, share, "share", false);
    put_list(h, share, "share_spread", true);
    put_list(h, amount, "amount", false);
    put_list(h, amount, "amount_spread", true);
    put_change(h, h->d->subject, &row->change[cost]);
    wndl_json_put_close(&h->j, '}');
}

static void put_path(struct diff_json *h, uint32_t key)
{
    wndl_json_put_key(&h->j, "path");
    wndl_json_put_open(&h->j, '[');
    if (!wndl_diff_path_keys(h->d, key, &h->path))
        h->j.out->failed = true;
    const uint32_t *keys = h->path.data;
    for (size_t i = h->path.len; i-- > 0;) {
        wndl_json_put_element(&h->j);
        wndl_json_string(
            h->j.out, text_of(h, wndl_diff_key_at(h->d, keys[i]).name));
    }
    wndl_json_put_close(&h->j, ']');
}

static const char *const names[] = {
    [WNDL_DIFF_BY_FUNCTION] = "function",
    [WNDL_DIFF_BY_LINE] = "line",
    [WNDL_DIFF_BY_MODULE] = "module",
    [WNDL_DIFF_BY_THREAD] = "thread",
    [WNDL_DIFF_BY_PATH] = "path",
};

static void put_name(struct diff_json *h, uint32_t key)
{
    struct wndl_json *j = &h->j;
    struct wndl_diff_key k = wndl_diff_key_at(h->d, key);
    bool by_line = h->d->by == WNDL_DIFF_BY_LINE;
    if (h->d->by == WNDL_DIFF_BY_PATH) {
        put_path(h, key);
    } else {
        wndl_json_put_string(
            j, by_line ? "function" : names[h->d->by], text_of(h, k.name));
    }
    if (k.module != 0)
        wndl_json_put_string(j, "module", text_of(h, k.module));
    if (k.file != 0)
        wndl_json_put_string(j, "file", text_of(h, k.file));
    if (k.line != 0)
        wndl_json_put_number(j, "line", k.line);
}

static void put_rows(struct diff_json *h, size_t max_rows)
{
    const struct wndl_vec *all = &h->d->rows;
    wndl_json_put_number(&h->j, "row_count", all->len);
    wndl_json_put_key(&h->j, "rows");
    wndl_json_put_open(&h->j, '[');
    for (size_t i = 0; i < all->len && i < max_rows; i++) {
        const struct wndl_diff_row *row = wndl_vec_at(all, i);
        wndl_json_put_open_line(&h->j);
        put_name(h, row->key);
        put_costs(h, row, WNDL_DIFF_SELF);
        put_costs(h, row, WNDL_DIFF_TOTAL);
        wndl_json_put_close(&h->j, '}');
    }
    wndl_json_put_close(&h->j, ']');
}

void wndl_report_json_diff(
    const struct wndl_diff *d, size_t max_rows, struct wndl_buf *out)
{
    static const char *const units[] = {"ns", "bytes", "blocks"};
    struct diff_json h = {.j = {.out = out}, .d = d};
    struct wndl_json *j = &h.j;
    struct wndl_arena arena;
    wndl_arena_init(&arena, out->mem);
    wndl_vec_init(&h.path, &arena, sizeof(uint32_t));
    wndl_json_put_open(j, '{');
    wndl_json_put_text(j, "format", "windlass-diff");
    wndl_json_put_number(j, "version", SCHEMA_VERSION);
    wndl_json_put_text(j, "by", names[d->by]);
    wndl_json_put_text(j, "of", d->what);
    wndl_json_put_text(j, "unit", units[d->unit]);
    wndl_json_put_text(
        j, "compared", d->subject == WNDL_DIFF_SHARE ? "share" : "amount");
    put_groups(&h);
    put_rows(&h, max_rows);
    wndl_json_put_close(j, '}');
    wndl_buf_byte(out, '\n');
    wndl_arena_free(&arena);
}
