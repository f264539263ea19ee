/* SPDX-License-Identifier: MIT */
#include "out/vm/diff.h"

#include "base/intern.h"
#include "out/vm/text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { EARLIER, LATER, SIDES };

/* Self costs of a function, by name. */
struct row {
    uint32_t name;
    uint64_t faults[SIDES];
    uint64_t instructions[SIDES];
};

struct diff {
    struct wndl_arena arena;
    struct wndl_intern names;
    struct wndl_map index; /* name -> number in `rows` above 0 */
    struct wndl_vec rows;  /* struct row */
};

/* ---- totals */

static const struct wndl_vm_counts *total_of(const struct wndl_vm_view *view)
{
    return &view->vm->memories[view->memory].total;
}

static void add_values(struct wndl_buf *out, uint64_t earlier, uint64_t later)
{
    char texts[3][32];
    const bool grew = later >= earlier;
    wndl_buf_printf(out, "%18s %18s %c%17s", wndl_vm_number(earlier, texts[0]),
        wndl_vm_number(later, texts[1]), grew ? '+' : '-',
        wndl_vm_number(grew ? later - earlier : earlier - later, texts[2]));
    if (earlier != 0)
        wndl_buf_printf(out, " %+7.1f%%",
            100.0 * ((double)later - (double)earlier) / (double)earlier);
    else
        wndl_buf_printf(out, "         ");
}

static void add_total(
    struct wndl_buf *out, const char *what, uint64_t earlier, uint64_t later)
{
    add_values(out, earlier, later);
    wndl_buf_printf(out, "  %s\n", what);
}

static void add_totals(struct wndl_buf *out, const struct wndl_vm_view *a,
    const struct wndl_vm_view *b)
{
    wndl_buf_printf(out, "%18s %18s %18s %8s  in %" PRIu64 " KB of memory\n",
        "earlier", "later", "change", "",
        a->vm->memories[a->memory].bytes >> 10);
    add_total(out, "faults", wndl_vm_counts_paging(total_of(a)),
        wndl_vm_counts_paging(total_of(b)));
    add_total(out, "first touches", wndl_vm_counts_first(total_of(a)),
        wndl_vm_counts_first(total_of(b)));
    add_total(out, "pages touched", a->vm->pages, b->vm->pages);
    add_total(out, "most pages in swap at once",
        a->vm->memories[a->memory].swapped, b->vm->memories[b->memory].swapped);
    add_total(out, "instructions", a->vm->instructions, b->vm->instructions);
    add_total(out, "accesses to data", a->vm->data, b->vm->data);
}

/* ---- functions */

static struct row *row_of(struct diff *d, struct wndl_bytes name)
{
    uint32_t id;
    if (!wndl_intern_add(&d->names, name, &id))
        return NULL;
    uint64_t *number = wndl_map_put(&d->index, id);
    if (number == NULL)
        return NULL;
    if (*number != 0)
        return wndl_vec_at(&d->rows, *number - 1);
    struct row *row = wndl_vec_push(&d->rows);
    if (row == NULL)
        return NULL;
    *row = (struct row){.name = id};
    *number = d->rows.len;
    return row;
}

static bool add_side(struct diff *d, const struct wndl_callgraph *g, int side)
{
    for (uint32_t i = 0; i < g->places.len; i++) {
        uint32_t function = wndl_callgraph_place_at(g, i)->function;
        const uint64_t *costs = wndl_callgraph_costs(&g->self, i);
        struct row *row =
            row_of(d, wndl_intern_get(&g->strings,
                          wndl_callgraph_function_at(g, function)->name));
        if (row == NULL)
            return false;
        row->instructions[side] += costs[WNDL_VM_IA];
        row->faults[side] += costs[WNDL_VM_IFC] + costs[WNDL_VM_IFD] +
                             costs[WNDL_VM_DFC] + costs[WNDL_VM_DFD];
    }
    return true;
}

static uint64_t change_of(const struct row *row)
{
    return row->faults[LATER] > row->faults[EARLIER]
               ? row->faults[LATER] - row->faults[EARLIER]
               : row->faults[EARLIER] - row->faults[LATER];
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (change_of(x) != change_of(y))
        return change_of(x) > change_of(y) ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void add_rows(struct wndl_buf *out, struct diff *d, size_t max_rows)
{
    wndl_buf_printf(
        out, "\nFaults:\n%18s %18s %18s\n", "earlier", "later", "change");
    if (d->rows.len != 0)
        qsort(d->rows.data, d->rows.len, d->rows.element, compare_rows);
    for (size_t i = 0; i < d->rows.len && i < max_rows; i++) {
        const struct row *row = wndl_vec_at(&d->rows, i);
        if (change_of(row) == 0)
            break;
        add_values(out, row->faults[EARLIER], row->faults[LATER]);
        wndl_buf_printf(out, "  %s\n", wndl_intern_text(&d->names, row->name));
    }
}

bool wndl_vm_diff(struct wndl_buf *out, const struct wndl_vm_view *earlier,
    const struct wndl_vm_view *later, size_t max_rows)
{
    struct diff d = {0};
    wndl_arena_init(&d.arena, out->mem);
    wndl_vec_init(&d.rows, &d.arena, sizeof(struct row));
    wndl_map_init(&d.index, &d.arena);
    bool whole = wndl_intern_init(&d.names, &d.arena) &&
                 add_side(&d, earlier->graph, EARLIER) &&
                 add_side(&d, later->graph, LATER);
    if (whole) {
        add_totals(out, earlier, later);
        add_rows(out, &d, max_rows);
    }
    wndl_arena_free(&d.arena);
    return whole && !out->failed;
}
