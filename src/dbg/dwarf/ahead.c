/* SPDX-License-Identifier: MIT */
/*
 * Reads functions and line tables of units in several threads, before lookups
 * need them. One thread finds the units, and also reads what they share:
 * headers, abbreviations, root DIEs, .dwo files. Each thread has a helper, a
 * reader with memory of its own; everything else is read-only for them. A unit
 * gets its data when all threads have ended. Damaged units are left to lookups,
 * which count and report the damage.
 */
#include "dbg/dwarf/internal.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Bytes of .debug_info that are read before there are lookups in them. */
enum { AT_A_TIME = WNDL_DW_RELEASE_AFTER * 3 / 4 };

/* Functions or lines of a unit. */
struct task {
    struct wndl_dwarf *d;
    struct wndl_dw_unit *unit;
    uint64_t bytes; /* of .debug_info: the expected work */
    bool wants_lines;
    bool is_read;
    uint64_t spent; /* of d->budget */
    struct wndl_dw_funcs funcs;
    struct wndl_dw_lines *lines;
};

struct ahead {
    struct wndl_arena scratch;
    struct wndl_vec tasks; /* struct task */
    struct wndl_map lines; /* offsets in .debug_line there is a task for */
    uint64_t bytes;
    struct task **order; /* largest first, so that none is left at the end */
    struct wndl_dwarf **helpers;
    atomic_size_t next;
};

static bool add_task(struct ahead *a, struct wndl_dwarf *d,
    struct wndl_dw_unit *unit, bool wants_lines)
{
    struct task *task = wndl_vec_push(&a->tasks);
    if (task == NULL)
        return false;
    task->d = d;
    task->unit = unit;
    task->bytes = unit->end - unit->offset;
    task->wants_lines = wants_lines;
    a->bytes += wants_lines ? 0 : task->bytes;
    return true;
}

static bool add_lines(
    struct ahead *a, struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    if (!unit->has_lines || unit->lines != NULL ||
        wndl_map_get(&d->lines, unit->stmt_list) != NULL)
        return true;
    uint64_t *known = wndl_map_put(&a->lines, unit->stmt_list);
    if (known == NULL || *known != 0)
        return known != NULL;
    *known = 1;
    return add_task(a, d, unit, true);
}

/* NOT_FOUND for a unit that is lost. */
static enum wndl_status add_unit(
    struct ahead *a, struct wndl_dwarf *d, struct wndl_dw_unit *unit)
{
    struct wndl_dwarf *in = d;
    struct wndl_dw_unit *code = unit;
    if (unit->is_ahead || unit->root_state == WNDL_DW_UNIT_LOST)
        return WNDL_NOT_FOUND;
    enum wndl_status status = wndl_dw_find_code(&in, &code);
    if (status == WNDL_OK && in != d)
        status = wndl_dw_load_unit(in, code);
    if (status != WNDL_OK)
        return status;
    unit->is_ahead = true;
    if (code->funcs.state == WNDL_DW_FUNCS_UNREAD &&
        !add_task(a, in, code, false))
        return WNDL_NOMEM;
    return add_lines(a, d, unit) ? WNDL_OK : WNDL_NOMEM;
}

/* Adds an address, as a lookup would read it. */
static enum wndl_status add_address(
    struct ahead *a, struct wndl_dwarf *d, uint64_t address)
{
    struct wndl_dw_unit *unit;
    enum wndl_status status = wndl_dw_hinted_unit(d, address, &unit);
    if (status == WNDL_NOT_FOUND)
        status = wndl_dw_find_unit(d, address, false, &unit);
    return status == WNDL_OK ? add_unit(a, d, unit) : status;
}

static void read(struct wndl_dwarf *helper, struct task *task)
{
    enum wndl_status status;
    helper->in = task->d->in;
    helper->budget = task->d->budget;
    struct wndl_dw_budget *left = &helper->budget;
    if (task->wants_lines) {
        status = wndl_dw_read_lines(helper, task->unit, &task->lines);
        task->is_read = status == WNDL_OK && !task->lines->is_damaged;
        task->spent = task->d->budget.line_bytes - left->line_bytes;
    } else {
        status = wndl_dw_read_funcs(helper, task->unit, true, &task->funcs);
        task->is_read = status == WNDL_OK;
        task->spent = task->d->budget.range_entries - left->range_entries;
    }
}

static void work(void *context, unsigned member)
{
    struct ahead *a = context;
    for (;;) {
        size_t at = atomic_fetch_add(&a->next, 1);
        if (at >= a->tasks.len)
            return;
        read(a->helpers[member], a->order[at]);
    }
}

/* Gives the unit its data, if the lookup could have read it too. */
static enum wndl_status hand_over(struct task *task)
{
    struct wndl_dwarf *d = task->d;
    uint64_t *budget =
        task->wants_lines ? &d->budget.line_bytes : &d->budget.range_entries;
    if (!task->is_read || task->spent > *budget)
        return WNDL_OK;
    *budget -= task->spent;
    if (!task->wants_lines) {
        task->unit->funcs = task->funcs;
        return WNDL_OK;
    }
    uint64_t *known = wndl_map_put(&d->lines, task->unit->stmt_list);
    if (known == NULL)
        return WNDL_NOMEM;
    *known = (uintptr_t)task->lines;
    return WNDL_OK;
}

static int compare_tasks(const void *left, const void *right)
{
    const struct task *a = *(struct task *const *)left;
    const struct task *b = *(struct task *const *)right;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static bool sort_tasks(struct ahead *a)
{
    a->order = wndl_arena_calloc(&a->scratch, a->tasks.len, sizeof *a->order);
    if (a->order == NULL)
        return false;
    for (size_t i = 0; i < a->tasks.len; i++)
        a->order[i] = wndl_vec_at(&a->tasks, i);
    qsort(a->order, a->tasks.len, sizeof *a->order, compare_tasks);
    return true;
}

/* Makes `count` helpers, copies of the reader as it is now. */
static bool get_helpers(struct ahead *a, struct wndl_dwarf *d, unsigned count)
{
    while (d->helpers.len < count) {
        struct wndl_dwarf **slot = wndl_vec_push(&d->helpers);
        if (slot == NULL)
            return false;
        *slot = wndl_dw_new_helper(d);
        if (*slot == NULL) {
            d->helpers.len--;
            return false;
        }
    }
    a->helpers = d->helpers.data;
    return true;
}

static unsigned threads_for(
    const struct ahead *a, const struct wndl_dwarf_workers *workers)
{
    uint64_t most = a->tasks.len;
    if (workers->bytes_each != 0 && a->bytes / workers->bytes_each < most)
        most = a->bytes / workers->bytes_each;
    return most < workers->threads ? (unsigned)most : workers->threads;
}

/* Releases pages that were read before, so that these stay for the lookups. */
static void read_tasks(struct ahead *a, struct wndl_dwarf *d, unsigned threads)
{
    enum wndl_status status = WNDL_OK;
    if (threads < 2 || !sort_tasks(a) || !get_helpers(a, d, threads))
        return;
    wndl_dw_release_pages_after(d, AT_A_TIME);
    wndl_workers_run(threads, work, a);
    for (size_t i = 0; i < a->tasks.len && status == WNDL_OK; i++)
        status = hand_over(wndl_vec_at(&a->tasks, i));
}

static void forget(struct wndl_dwarf *d)
{
    for (size_t i = 0; i < d->units.len; i++)
        wndl_dw_unit_at(d, i)->is_ahead = false;
}

size_t wndl_dwarf_read_ahead(struct wndl_dwarf *dwarf, const wndl_svma *addrs,
    size_t count, const struct wndl_dwarf_workers *workers)
{
    struct ahead a = {.bytes = 0};
    size_t done = 0;
    enum wndl_status status = WNDL_OK;
    wndl_arena_init(&a.scratch, dwarf->mem);
    wndl_vec_init(&a.tasks, &a.scratch, sizeof(struct task));
    wndl_map_init(&a.lines, &a.scratch);
    while (done < count && a.bytes < AT_A_TIME && status != WNDL_NOMEM)
        status = add_address(&a, dwarf, addrs[done++].v);
    if (status != WNDL_NOMEM)
        read_tasks(&a, dwarf, threads_for(&a, workers));
    wndl_arena_free(&a.scratch);
    forget(dwarf);
    return done;
}
