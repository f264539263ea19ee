/* SPDX-License-Identifier: MIT */
#include "model/memory_reports.h"

#include "base/buf.h"
#include "base/text.h"

#include <string.h>

bool wndl_memory_reports_init(
    struct wndl_memory_reports *reports, struct wndl_mem *mem)
{
    *reports = (struct wndl_memory_reports){0};
    wndl_arena_init(&reports->arena, mem);
    wndl_vec_init(
        &reports->rows, &reports->arena, sizeof(struct wndl_reported));
    wndl_vec_init(
        &reports->missing, &reports->arena, sizeof(struct wndl_unreported));
    return wndl_intern_init(&reports->texts, &reports->arena) &&
           wndl_intern_init(&reports->processes, &reports->arena);
}

void wndl_memory_reports_free(struct wndl_memory_reports *reports)
{
    wndl_arena_free(&reports->arena);
}

bool wndl_memory_reports_keep(
    struct wndl_memory_reports *reports, struct wndl_bytes *text)
{
    uint32_t id;
    if (!wndl_intern_add(&reports->texts, *text, &id))
        return false;
    *text = wndl_intern_get(&reports->texts, id);
    return true;
}

bool wndl_memory_reports_add(
    struct wndl_memory_reports *reports, const struct wndl_reported *row)
{
    struct wndl_reported copy = *row;
    if (!wndl_memory_reports_keep(reports, &copy.path) ||
        !wndl_memory_reports_keep(reports, &copy.description))
        return false;
    struct wndl_reported *slot = wndl_vec_push(&reports->rows);
    if (slot == NULL)
        return false;
    *slot = copy;
    return true;
}

int64_t wndl_reported_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/* ---- private parts */

/* The path with its private parts replaced; `seen` numbers them. */
static void put_public(struct wndl_buf *out, const struct wndl_reported *row,
    struct wndl_intern *seen)
{
    unsigned part = 0;
    for (size_t at = 0; at <= row->path.size; part++) {
        size_t end = at;
        while (end < row->path.size && row->path.data[end] != '/')
            end++;
        struct wndl_bytes text = {row->path.data + at, end - at};
        uint32_t number = 0;
        if (part != 0)
            wndl_buf_byte(out, '/');
        if (part > 30 || (row->private_parts >> part & 1) == 0)
            wndl_buf_add(out, text.data, text.size);
        else if (wndl_intern_add(seen, text, &number))
            wndl_buf_printf(out, "<private %u>", number);
        else
            out->failed = true;
        at = end + 1;
    }
}

bool wndl_memory_reports_anonymize(struct wndl_memory_reports *reports)
{
    struct wndl_intern seen;
    struct wndl_buf path;
    bool fine = wndl_intern_init(&seen, &reports->arena);
    wndl_buf_init(&path, reports->arena.mem);
    for (size_t i = 0; i < reports->rows.len && fine; i++) {
        struct wndl_reported *row = wndl_vec_at(&reports->rows, i);
        if (row->private_parts == 0)
            continue;
        wndl_buf_clear(&path);
        put_public(&path, row, &seen);
        row->path = (struct wndl_bytes){path.data, path.size};
        row->description = (struct wndl_bytes){(const uint8_t *)"", 0};
        row->private_parts = 0;
        fine = !path.failed && wndl_memory_reports_keep(reports, &row->path);
    }
    wndl_buf_free(&path);
    return fine;
}

/* ---- differences */

/* "name (pid 4711)" without what differs from one run to the next. */
static struct wndl_bytes without_pid(struct wndl_bytes name)
{
    static const char mark[] = " (pid ";
    const size_t mark_size = sizeof mark - 1;
    size_t at = name.size;
    if (at == 0 || name.data[at - 1] != ')')
        return name;
    at--;
    while (at > 0 && name.data[at - 1] >= '0' && name.data[at - 1] <= '9')
        at--;
    if (at >= mark_size &&
        memcmp(name.data + at - mark_size, mark, mark_size) == 0)
        name.size = at - mark_size;
    return name;
}

/* Sums by what is compared. */
struct matching {
    struct wndl_memory_reports *difference;
    struct wndl_intern keys; /* number - 1: index of the row */
    struct wndl_buf key;
};

/* The row that `row` of `from` is matched with; NULL without memory. */
static struct wndl_reported *find_match(struct matching *m,
    const struct wndl_memory_reports *from, const struct wndl_reported *row)
{
    struct wndl_memory_reports *to = m->difference;
    struct wndl_reported new = *row;
    uint32_t number;
    const struct wndl_bytes name =
        without_pid(wndl_intern_get(&from->processes, row->process));
    if (!wndl_intern_add(&to->processes, name, &new.process))
        return NULL;
    wndl_buf_clear(&m->key);
    wndl_buf_printf(
        &m->key, "%u %d %d ", new.process, (int)row->kind, (int)row->unit);
    wndl_buf_add(&m->key, row->path.data, row->path.size);
    if (m->key.failed ||
        !wndl_intern_add(
            &m->keys, (struct wndl_bytes){m->key.data, m->key.size}, &number))
        return NULL;
    new.amount = 0;
    new.presence = WNDL_REPORTED_EARLIER_ONLY;
    if (number - 1 == to->rows.len && !wndl_memory_reports_add(to, &new))
        return NULL;
    return wndl_vec_at(&to->rows, number - 1);
}

static bool add_all(
    struct matching *m, const struct wndl_memory_reports *from, bool is_later)
{
    for (size_t i = 0; i < from->rows.len; i++) {
        const struct wndl_reported *row = wndl_vec_at(&from->rows, i);
        const size_t before = m->difference->rows.len;
        struct wndl_reported *match = find_match(m, from, row);
        if (match == NULL)
            return false;
        match->is_estimated |= row->is_estimated;
        if (!is_later) {
            match->amount = wndl_reported_sum(match->amount, row->amount);
            continue;
        }
        if (m->difference->rows.len != before)
            match->presence = WNDL_REPORTED_LATER_ONLY;
        else if (match->presence == WNDL_REPORTED_EARLIER_ONLY)
            match->presence = WNDL_REPORTED_IN_BOTH;
        match->amount = wndl_reported_sum(match->amount, row->amount);
    }
    return true;
}

static void negate_all(struct wndl_memory_reports *reports)
{
    for (size_t i = 0; i < reports->rows.len; i++) {
        struct wndl_reported *row = wndl_vec_at(&reports->rows, i);
        row->amount = row->amount == INT64_MIN ? INT64_MAX : -row->amount;
    }
}

/*
 * Drops what did not change, but heap-allocated, of which the unclassified part
 * is counted, where anything else did.
 */
static void drop_zeros(struct wndl_memory_reports *reports)
{
    struct wndl_reported *rows = reports->rows.data;
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < reports->rows.len; i++)
        any |= rows[i].amount != 0;
    for (size_t i = 0; i < reports->rows.len && any; i++) {
        if (rows[i].amount != 0 ||
            wndl_bytes_is(rows[i].path, "heap-allocated"))
            rows[kept++] = rows[i];
    }
    reports->rows.len = kept;
}

bool wndl_memory_reports_subtract(struct wndl_memory_reports *difference,
    const struct wndl_memory_reports *later,
    const struct wndl_memory_reports *earlier)
{
    struct matching m = {.difference = difference};
    wndl_buf_init(&m.key, difference->arena.mem);
    bool fine = wndl_intern_init(&m.keys, &difference->arena) &&
                add_all(&m, earlier, false);
    difference->is_difference = true;
    negate_all(difference);
    fine = fine && add_all(&m, later, true);
    wndl_buf_free(&m.key);
    drop_zeros(difference);
    return fine;
}
