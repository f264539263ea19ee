/* SPDX-License-Identifier: MIT */
#include "out/vm_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IA, IF1, IFC, IFD, DA, DF1, DFC, DFD, EVENTS };

/* The columns of a table, in order. */
static const struct {
    const char *title;
    int event;
} columns[] = {
    {"Ia", IA},
    {"Ifc", IFC},
    {"Ifd", IFD},
    {"Da", DA},
    {"Dfc", DFC},
    {"Dfd", DFD},
};
enum { COLUMNS = sizeof columns / sizeof *columns, COLUMN_WIDTH = 23 };

char *wndl_vm_number(uint64_t value, char text[32])
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *to = text;
    for (int i = 0; i < count; i++) {
        if (i != 0 && (count - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

static void add_number(struct wndl_buf *out, uint64_t value)
{
    char text[32];
    wndl_buf_text(out, wndl_vm_number(value, text));
}

/* "64 MB": memory sizes are powers of 1,024. */
static void add_bytes(struct wndl_buf *out, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit < 3; unit++)
        value /= 1024;
    bool is_whole = value == (double)(uint64_t)value;
    wndl_buf_printf(out, is_whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

/* ---- totals */

static void add_faults(
    struct wndl_buf *out, const struct wndl_vm_counts *c, int access)
{
    const uint64_t *n = c->n[access];
    wndl_buf_text(out, "  (");
    add_number(out, n[WNDL_VM_CLEAN]);
    wndl_buf_text(out, " clean faults + ");
    add_number(out, n[WNDL_VM_DIRTY]);
    wndl_buf_text(out, " dirty faults; ");
    add_number(out, n[WNDL_VM_FIRST]);
    wndl_buf_text(out, " first touches)\n");
}

static void add_head(
    struct wndl_buf *out, const struct wndl_vm *vm, uint32_t memory)
{
    const struct wndl_vm_memory *m = &vm->memories[memory];
    wndl_buf_printf(out, "%s: process %" PRIu64 ", ", vm->command, vm->pid);
    add_bytes(out, m->bytes);
    wndl_buf_text(out, " of memory in pages of ");
    add_bytes(out, vm->page);
    wndl_buf_text(out, "\nVM I accesses: ");
    add_number(out, vm->instructions);
    add_faults(out, &m->total, WNDL_VM_FETCH);
    wndl_buf_text(out, "VM D accesses: ");
    add_number(out, vm->data);
    add_faults(out, &m->total, WNDL_VM_DATA);
    wndl_buf_text(out, "Pages touched: ");
    add_number(out, vm->pages);
    wndl_buf_text(out, " (");
    add_bytes(out, vm->pages * vm->page);
    wndl_buf_text(out, "); most mapped at once: ");
    add_bytes(out, vm->mapped);
    wndl_buf_text(out, "; most in swap at once: ");
    add_bytes(out, m->swapped * vm->page);
    wndl_buf_text(out, "\n");
}

/* ---- several sizes */

static uint64_t faults_of(const struct wndl_vm_memory *m)
{
    uint64_t sum = 0;
    for (int access = 0; access < WNDL_VM_ACCESSES; access++)
        sum += m->total.n[access][WNDL_VM_CLEAN] +
               m->total.n[access][WNDL_VM_DIRTY];
    return sum;
}

static int compare_memories(const void *a, const void *b)
{
    const struct wndl_vm_memory *x = a, *y = b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/*
 * The knee is the size after which more memory saves least for what it costs:
 * the point that lies farthest below the line from the first to the last.
 */
static uint32_t find_knee(const struct wndl_vm_memory *sorted, uint32_t count)
{
    const double x0 = (double)sorted[0].bytes, y0 = (double)faults_of(sorted);
    const double dx = (double)sorted[count - 1].bytes - x0;
    const double dy = y0 - (double)faults_of(&sorted[count - 1]);
    uint32_t knee = 0;
    double best = 0;
    for (uint32_t i = 1; i + 1 < count && dx > 0 && dy > 0; i++) {
        double saved = (y0 - (double)faults_of(&sorted[i])) / dy;
        double below = saved - ((double)sorted[i].bytes - x0) / dx;
        if (below > best) {
            best = below;
            knee = i;
        }
    }
    return knee;
}

static void add_curve(struct wndl_buf *out, const struct wndl_vm *vm)
{
    struct wndl_vm_memory sorted[WNDL_VM_MEMORIES];
    const uint32_t count = vm->memory_count;
    if (count < 2)
        return;
    memcpy(sorted, vm->memories, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_memories);
    const uint32_t knee = find_knee(sorted, count);
    wndl_buf_text(out, "\n    Memory           Faults            Swap\n");
    for (uint32_t i = 0; i < count; i++) {
        struct wndl_buf size, swap;
        char faults[32];
        wndl_buf_init(&size, out->mem);
        wndl_buf_init(&swap, out->mem);
        add_bytes(&size, sorted[i].bytes);
        add_bytes(&swap, sorted[i].swapped * vm->page);
        wndl_buf_printf(out, "%10.*s %16s %15.*s%s\n", (int)size.size,
            (const char *)size.data,
            wndl_vm_number(faults_of(&sorted[i]), faults), (int)swap.size,
            (const char *)swap.data, i == knee && i != 0 ? "  <- knee" : "");
        wndl_buf_free(&size);
        wndl_buf_free(&swap);
    }
}

/* ---- tables of code */

/* A function or a line, by its self costs. */
struct row {
    uint32_t function;
    uint32_t place;
    uint64_t costs[EVENTS];
};

static uint64_t paging(const struct row *row)
{
    return row->costs[IFC] + row->costs[IFD] + row->costs[DFC] +
           row->costs[DFD];
}

/* Most faults first, then most accesses. */
static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (paging(x) != paging(y))
        return paging(x) > paging(y) ? -1 : 1;
    if (x->costs[IA] != y->costs[IA])
        return x->costs[IA] > y->costs[IA] ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void add_title(struct wndl_buf *out, const char *what)
{
    wndl_buf_text(out, "\n");
    for (int i = 0; i < COLUMNS; i++)
        wndl_buf_printf(out, "%-*s", COLUMN_WIDTH, columns[i].title);
    wndl_buf_printf(out, "%s\n", what);
}

static void add_cells(struct wndl_buf *out, const uint64_t costs[EVENTS],
    const uint64_t totals[EVENTS])
{
    for (int i = 0; i < COLUMNS; i++) {
        char number[32];
        char cell[48];
        const int event = columns[i].event;
        const double share = totals[event] == 0 ? 0
                                                : 100.0 * (double)costs[event] /
                                                      (double)totals[event];
        if (costs[event] == 0)
            snprintf(cell, sizeof cell, ".");
        else
            snprintf(cell, sizeof cell, "%s (%.1f%%)",
                wndl_vm_number(costs[event], number), share);
        wndl_buf_printf(out, "%-*s", COLUMN_WIDTH, cell);
    }
}

static const char *text_of(const struct wndl_callgraph *g, uint32_t id)
{
    return wndl_intern_text(&g->strings, id);
}

static void add_function_name(
    struct wndl_buf *out, const struct wndl_callgraph *g, uint32_t index)
{
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(g, index);
    wndl_buf_text(out, text_of(g, f->name));
    if (f->object != 0)
        wndl_buf_printf(out, "  [%s]", text_of(g, f->object));
    wndl_buf_text(out, "\n");
}

static void add_line_name(
    struct wndl_buf *out, const struct wndl_callgraph *g, uint32_t index)
{
    const struct wndl_callgraph_place *place =
        wndl_callgraph_place_at(g, index);
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(g, place->function);
    uint32_t file = place->file == 0 ? f->file : place->file;
    wndl_buf_printf(out, "%s:%u  %s\n", file == 0 ? "???" : text_of(g, file),
        place->line, text_of(g, f->name));
}

static void sum_up(
    const struct row *rows, size_t count, uint64_t totals[EVENTS])
{
    for (size_t i = 0; i < count; i++)
        for (int event = 0; event < EVENTS; event++)
            totals[event] += rows[i].costs[event];
}

/* `rows` is of functions, or of lines. */
static void add_table(struct wndl_buf *out, const struct wndl_callgraph *g,
    struct row *rows, size_t count, size_t max_rows, bool of_lines)
{
    uint64_t totals[EVENTS] = {0};
    sum_up(rows, count, totals);
    if (count != 0)
        qsort(rows, count, sizeof *rows, compare_rows);
    add_title(out, of_lines ? "Line" : "Function");
    add_cells(out, totals, totals);
    wndl_buf_text(out, "PROGRAM TOTALS\n");
    for (size_t i = 0; i < count && i < max_rows; i++) {
        if (rows[i].costs[IA] == 0 && paging(&rows[i]) == 0)
            break;
        add_cells(out, rows[i].costs, totals);
        if (of_lines)
            add_line_name(out, g, rows[i].place);
        else
            add_function_name(out, g, rows[i].function);
    }
}

static void add_code(struct wndl_buf *out, const struct wndl_callgraph *g,
    struct row *rows, size_t max_rows, bool of_lines)
{
    const size_t count = of_lines ? g->places.len : g->functions.len;
    memset(rows, 0, count * sizeof *rows);
    for (uint32_t place = 0; place < g->places.len; place++) {
        uint32_t function = wndl_callgraph_place_at(g, place)->function;
        struct row *row = &rows[of_lines ? place : function];
        const uint64_t *costs = wndl_callgraph_costs(&g->self, place);
        row->place = place;
        row->function = function;
        for (int event = 0; event < EVENTS; event++)
            row->costs[event] += costs[event];
    }
    add_table(out, g, rows, count, max_rows, of_lines);
}

/* ---- mappings */

static void add_mappings(
    struct wndl_buf *out, const struct wndl_vm *vm, uint32_t memory)
{
    static const char *const titles[] = {
        "I first", "I clean", "I dirty", "D first", "D clean", "D dirty"};
    wndl_buf_text(out, "\n");
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        wndl_buf_printf(out, "%12s", titles[i]);
    wndl_buf_text(out, "  Mapping\n");
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (row->kind != WNDL_VM_MAPPING || row->memory != memory)
            continue;
        for (int access = 0; access < WNDL_VM_ACCESSES; access++) {
            for (int fault = 0; fault < WNDL_VM_FAULTS; fault++) {
                char number[32];
                wndl_buf_printf(out, "%12s",
                    wndl_vm_number(row->counts.n[access][fault], number));
            }
        }
        wndl_buf_printf(out, "  %s\n", row->name);
    }
}

bool wndl_vm_text(struct wndl_buf *out, const struct wndl_vm *vm,
    const struct wndl_callgraph *g, const struct wndl_vm_text_layout *layout)
{
    const size_t most =
        g->places.len > g->functions.len ? g->places.len : g->functions.len;
    struct row *rows = wndl_mem_zalloc(out->mem, (most + 1) * sizeof *rows);
    if (rows == NULL)
        return false;
    add_head(out, vm, layout->memory);
    add_curve(out, vm);
    add_code(out, g, rows, layout->max_rows, false);
    add_code(out, g, rows, layout->max_rows, true);
    add_mappings(out, vm, layout->memory);
    wndl_mem_free(out->mem, rows);
    return !out->failed;
}
