/* SPDX-License-Identifier: MIT */
#include "out/report_text/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHARE_WIDTH = 8, TIME_WIDTH = 9, BYTES_WIDTH = 15, WIDE = 100 };

/* A difference being written. */
struct diff_text {
    const struct wndl_diff *d;
    struct wndl_text text; /* for the parts shared with other reports */
    struct wndl_buf *out;
    bool series, with_total;
    uint32_t first_group; /* the first one with a column */
};

/* ---- numbers */

static uint64_t whole_of(double value)
{
    value = fabs(value);
    return value < 1e18 ? (uint64_t)llround(value) : (uint64_t)1e18;
}

static char *amount_text(
    const struct diff_text *t, double value, char text[WNDL_NUMBER_SIZE])
{
    return t->d->unit == WNDL_DIFF_NS
               ? wndl_text_time_cell(whole_of(value), text)
               : wndl_text_number(whole_of(value), text);
}

static int amount_width(const struct diff_text *t)
{
    return t->d->unit == WNDL_DIFF_NS ? TIME_WIDTH : BYTES_WIDTH;
}

static const char *sign_of(double value)
{
    return value < 0 ? "-" : value > 0 ? "+" : "";
}

/* Writes the compared figure, in a column of compared_width. */
static void put_compared(
    const struct diff_text *t, double value, bool is_change)
{
    char digits[WNDL_NUMBER_SIZE], text[WNDL_NUMBER_SIZE + 2];
    const char *before = is_change ? sign_of(value) : "";
    if (t->d->subject == WNDL_DIFF_SHARE)
        snprintf(text, sizeof text, "%s%.2f%%", before, fabs(value));
    else
        snprintf(
            text, sizeof text, "%s%s", before, amount_text(t, value, digits));
    wndl_buf_printf(t->out, "%*s",
        t->d->subject == WNDL_DIFF_SHARE ? SHARE_WIDTH : amount_width(t) + 1,
        text);
}

static int compared_width(const struct diff_text *t)
{
    return t->d->subject == WNDL_DIFF_SHARE ? SHARE_WIDTH : amount_width(t) + 1;
}

static void put_change(
    const struct diff_text *t, const struct wndl_diff_change *c)
{
    put_compared(t, c->change, true);
    wndl_buf_text(t->out, c->beyond ? "*" : " ");
    wndl_text_spaces(&t->text, 1);
}

static struct wndl_diff_value value_of(const struct diff_text *t,
    enum wndl_diff_subject subject, uint32_t key, uint32_t group)
{
    enum wndl_diff_cost cost = key == 0 ? WNDL_DIFF_TOTAL : WNDL_DIFF_SELF;
    struct wndl_diff_place place = {subject, cost, key};
    return wndl_diff_value(t->d, place, group);
}

static bool is_repeated(const struct diff_text *t, uint32_t group)
{
    return value_of(t, t->d->subject, 0, group).recordings > 1;
}

/* ---- head */

/* "1.5 s CPU", "12 bytes (live blocks)" */
static void amount_of_all(const struct diff_text *t, double value)
{
    char text[WNDL_NUMBER_SIZE];
    const char *what = t->d->what;
    wndl_buf_text(t->out, amount_text(t, value, text));
    if (t->d->unit == WNDL_DIFF_NS)
        wndl_buf_printf(t->out, " %s", what);
    else if (t->d->unit == WNDL_DIFF_BYTES)
        wndl_buf_printf(t->out, " bytes (%s blocks)", what);
    else
        wndl_buf_printf(t->out, " blocks (%s)", what);
}

static void describe_row(const struct diff_text *t,
    const struct wndl_diff_recording *r, const char *label)
{
    char text[WNDL_NUMBER_SIZE];
    const struct wndl_diff_sum *all = wndl_vec_at(&r->sums, 0);
    struct wndl_bytes file = {(const uint8_t *)r->file, strlen(r->file)};
    wndl_text_label(&t->text, label);
    wndl_text_cut(&t->text, file, 0);
    wndl_buf_text(t->out, ": ");
    amount_of_all(t, all->cost[WNDL_DIFF_TOTAL]);
    if (t->d->of_samples)
        wndl_buf_printf(t->out, " in %s %s", wndl_text_number(r->count, text),
            strcmp(t->d->what, "CPU") == 0 ? "samples" : "pieces");
    if (!r->whole)
        wndl_buf_text(t->out, "; this recording is cut short or damaged");
    wndl_buf_byte(t->out, '\n');
}

static void describe_group(const struct diff_text *t, uint32_t group)
{
    char label[WNDL_NUMBER_SIZE];
    if (t->series)
        snprintf(label, sizeof label, "%" PRIu32, group + 1);
    else
        snprintf(label, sizeof label, "%s", group == 0 ? "Earlier" : "Later");
    for (size_t i = 0; i < t->d->recordings.len; i++) {
        const struct wndl_diff_recording *r = wndl_diff_recording_at(t->d, i);
        if (r->group != group)
            continue;
        describe_row(t, r, label);
        label[0] = '\0';
    }
}

/*
 * Describes the change as a whole; with one recording each its noise is not
 * known.
 */
static void describe_change(const struct diff_text *t)
{
    char text[WNDL_NUMBER_SIZE];
    struct wndl_diff_place all = {WNDL_DIFF_AMOUNT, WNDL_DIFF_TOTAL, 0};
    struct wndl_diff_change c = wndl_diff_change(t->d, all);
    double before = wndl_diff_value(t->d, all, 0).mean;
    wndl_text_label(&t->text, "Change");
    wndl_buf_printf(
        t->out, "%s%s", sign_of(c.change), amount_text(t, c.change, text));
    if (before > 0)
        wndl_buf_printf(t->out, " (%+.2f%%)", 100 * c.change / before);
    if (is_repeated(t, 0) || is_repeated(t, t->d->groups - 1))
        wndl_buf_printf(t->out, ", %s: noise is up to %s",
            c.beyond ? "beyond noise" : "within noise",
            amount_text(t, c.noise, text));
    wndl_buf_text(
        t->out, t->series ? " from the first to the last\n\n" : "\n\n");
}

static void put_head(const struct diff_text *t)
{
    for (uint32_t i = 0; i < t->d->groups; i++)
        describe_group(t, i);
    describe_change(t);
}

/* ---- the name of a row */

static struct wndl_bytes text_of(const struct diff_text *t, uint32_t id)
{
    return wndl_intern_get(&t->d->strings, id);
}

/* The innermost functions are at the end, and must be visible. */
static void put_path(const struct diff_text *t, uint32_t key, size_t room)
{
    enum { DOTS = 4 };
    struct wndl_arena arena;
    struct wndl_vec keys;
    size_t used = 0, shown = 0;
    wndl_arena_init(&arena, t->out->mem);
    wndl_vec_init(&keys, &arena, sizeof(uint32_t));
    if (!wndl_diff_path_keys(t->d, key, &keys))
        t->out->failed = true;
    const uint32_t *at = keys.data;
    while (shown < keys.len) {
        struct wndl_bytes name =
            text_of(t, wndl_diff_key_at(t->d, at[shown]).name);
        used += wndl_text_columns(name) + 1;
        if (room != 0 && shown != 0 && used + DOTS > room)
            break;
        shown++;
    }
    if (shown < keys.len)
        wndl_buf_text(t->out, "...;");
    for (size_t i = shown; i-- > 0;) {
        wndl_text_cut(
            &t->text, text_of(t, wndl_diff_key_at(t->d, at[i]).name), 0);
        wndl_buf_text(t->out, i == 0 ? "" : ";");
    }
    wndl_arena_free(&arena);
}

/* The module of the innermost function. */
static void path_and_module(
    const struct diff_text *t, uint32_t key, size_t room)
{
    struct wndl_bytes module = text_of(t, wndl_diff_key_at(t->d, key).module);
    size_t after = module.size == 0 ? 0 : module.size + 4;
    put_path(t, key, room > after ? room - after : room);
    if (module.size == 0)
        return;
    wndl_text_spaces(&t->text, 2);
    wndl_text_module(&t->text, module);
}

static void put_name(const struct diff_text *t, uint32_t key, size_t room)
{
    struct wndl_diff_key k = wndl_diff_key_at(t->d, key);
    struct wndl_bytes module = text_of(t, k.module);
    struct wndl_buf spelled;
    wndl_buf_init(&spelled, t->out->mem);
    if (k.file != 0) {
        wndl_text_place(text_of(t, k.file), k.line, &spelled);
        wndl_text_cut(
            &t->text, (struct wndl_bytes){spelled.data, spelled.size}, 0);
        wndl_text_spaces(&t->text, 2);
        room = room > spelled.size + 2 ? room - spelled.size - 2 : room;
    }
    size_t after = module.size == 0 ? 0 : module.size + 4;
    size_t left = room > after + 16 ? room - after : room == 0 ? 0 : 16;
    wndl_text_cut(&t->text,
        wndl_text_name(&t->text, text_of(t, k.name), left, &spelled), left);
    if (module.size != 0) {
        wndl_text_spaces(&t->text, 2);
        wndl_text_module(&t->text, module);
    }
    t->out->failed |= spelled.failed;
    wndl_buf_free(&spelled);
}

/*
 * `start`: the line's start in `out`. Columns are all bytes except those that
 * continue a character.
 */
static void end_row(const struct diff_text *t, uint32_t key, size_t start)
{
    unsigned width = t->text.layout->width;
    struct wndl_bytes line = {0};
    if (!t->out->failed)
        line = (struct wndl_bytes){t->out->data + start, t->out->size - start};
    size_t used = wndl_text_columns(line);
    size_t room = width == 0 ? 0 : width > used + 1 ? width - used : 1;
    if (t->d->by == WNDL_DIFF_BY_PATH)
        path_and_module(t, key, room);
    else
        put_name(t, key, room);
    wndl_buf_byte(t->out, '\n');
}

/* ---- columns */

static void put_side(const struct diff_text *t, uint32_t key, uint32_t group)
{
    char text[WNDL_NUMBER_SIZE];
    struct wndl_diff_value share = value_of(t, WNDL_DIFF_SHARE, key, group);
    struct wndl_diff_value cost = value_of(t, WNDL_DIFF_AMOUNT, key, group);
    bool of_share = t->d->subject == WNDL_DIFF_SHARE;
    wndl_buf_printf(t->out, "%6.2f%% %*s ", share.mean, amount_width(t),
        amount_text(t, cost.mean, text));
    if (!is_repeated(t, group))
        return;
    if (of_share)
        wndl_buf_printf(t->out, "+-%5.2f%% ", share.spread);
    else
        wndl_buf_printf(t->out, "+-%*s ", amount_width(t),
            amount_text(t, cost.spread, text));
}

static int side_width(const struct diff_text *t, uint32_t group)
{
    enum { SHARE = 7, SPREAD = 6 };
    int spread =
        t->d->subject == WNDL_DIFF_SHARE ? (int)SPREAD : amount_width(t);
    return SHARE + 1 + amount_width(t) +
           (is_repeated(t, group) ? 3 + spread : 0);
}

static void write_pair(const struct diff_text *t, const struct wndl_diff_row *r)
{
    size_t start = t->out->size;
    put_change(t, &r->change[WNDL_DIFF_SELF]);
    put_compared(t, r->change[WNDL_DIFF_SELF].noise, false);
    wndl_text_spaces(&t->text, 2);
    put_side(t, r->key, 0);
    wndl_text_spaces(&t->text, 1);
    put_side(t, r->key, 1);
    if (t->with_total)
        put_change(t, &r->change[WNDL_DIFF_TOTAL]);
    wndl_text_spaces(&t->text, 1);
    end_row(t, r->key, start);
}

static const char *what_rows_are(const struct diff_text *t)
{
    static const char *const names[] = {
        [WNDL_DIFF_BY_FUNCTION] = "function",
        [WNDL_DIFF_BY_LINE] = "line",
        [WNDL_DIFF_BY_MODULE] = "module",
        [WNDL_DIFF_BY_THREAD] = "thread",
        [WNDL_DIFF_BY_PATH] = "call path",
    };
    return names[t->d->by];
}

static void pair_heading(const struct diff_text *t)
{
    int width = compared_width(t);
    wndl_buf_printf(t->out, "%*s  %*s  %*s  %*s ", width, "change", width,
        "noise", side_width(t, 0), "self, earlier", side_width(t, 1),
        "self, later");
    if (t->with_total)
        wndl_buf_printf(t->out, "%*s  ", width, "total");
    wndl_buf_printf(t->out, " %s\n", what_rows_are(t));
}

/* ---- a series */

/* Draws a character for each group, on a scale that begins at 0. */
static void put_spark(const struct diff_text *t, uint32_t key)
{
    static const char ascii[] = "_.:-=+*#";
    enum { STEPS = sizeof ascii - 1 };
    double most = 0;
    for (uint32_t i = 0; i < t->d->groups; i++)
        most = fmax(most, value_of(t, t->d->subject, key, i).mean);
    for (uint32_t i = 0; i < t->d->groups; i++) {
        double mean = value_of(t, t->d->subject, key, i).mean;
        unsigned step =
            most > 0 ? (unsigned)(fmax(mean, 0) / most * (STEPS - 1) + 0.5) : 0;
        if (t->text.layout->utf8)
            wndl_buf_printf(t->out, "\xe2\x96%c", (char)(0x81 + step));
        else
            wndl_buf_byte(t->out, (uint8_t)ascii[step]);
    }
}

static void write_point(
    const struct diff_text *t, const struct wndl_diff_row *r)
{
    size_t start = t->out->size;
    put_spark(t, r->key);
    wndl_text_spaces(&t->text, 1);
    for (uint32_t i = t->first_group; i < t->d->groups; i++)
        put_compared(t, value_of(t, t->d->subject, r->key, i).mean, false);
    wndl_text_spaces(&t->text, 1);
    put_change(t, &r->change[WNDL_DIFF_SELF]);
    put_compared(t, r->change[WNDL_DIFF_SELF].noise, false);
    wndl_text_spaces(&t->text, 2);
    end_row(t, r->key, start);
}

static void series_heading(const struct diff_text *t)
{
    int width = compared_width(t);
    wndl_text_spaces(&t->text, t->d->groups + 1);
    for (uint32_t i = t->first_group; i < t->d->groups; i++)
        wndl_buf_printf(t->out, "%*" PRIu32, width, i + 1);
    wndl_buf_printf(t->out, " %*s  %*s  %s\n", width, "change", width, "noise",
        what_rows_are(t));
}

/* ---- all of it */

static void put_rows(const struct diff_text *t)
{
    size_t count = t->d->rows.len, most = t->text.layout->max_rows;
    bool marked = false;
    if (t->series)
        series_heading(t);
    else
        pair_heading(t);
    for (size_t i = 0; i < count && i < most; i++) {
        const struct wndl_diff_row *r = wndl_vec_at(&t->d->rows, i);
        marked |= r->change[WNDL_DIFF_SELF].beyond ||
                  (t->with_total && r->change[WNDL_DIFF_TOTAL].beyond);
        if (t->series)
            write_point(t, r);
        else
            write_pair(t, r);
    }
    if (count > most)
        wndl_buf_printf(t->out, "%zu more row%s: -n %zu\n", count - most,
            count - most == 1 ? "" : "s", count);
    if (marked)
        wndl_buf_text(t->out, "* more than the noise\n");
}

void wndl_report_text_diff(const struct wndl_diff *d,
    const struct wndl_text_layout *layout, struct wndl_buf *out)
{
    enum { COLUMNS = 8 };
    struct diff_text t = {
        .d = d,
        .text = {.layout = layout, .out = out},
        .out = out,
        .series = d->groups > 2,
        .with_total = layout->width == 0 || layout->width >= WIDE,
        .first_group = d->groups > COLUMNS ? d->groups - COLUMNS : 0,
    };
    put_head(&t);
    put_rows(&t);
}
