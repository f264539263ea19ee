/* SPDX-License-Identifier: MIT */
#include "out/vm/text.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a table, in order. */
static const struct {
    const char *title;
    int event;
} columns[] = {
    {"Ia", WNDL_VM_IA},
    {"Ifc", WNDL_VM_IFC},
    {"Ifd", WNDL_VM_IFD},
    {"Da", WNDL_VM_DA},
    {"Dfc", WNDL_VM_DFC},
    {"Dfd", WNDL_VM_DFD},
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
    if (vm->is_running)
        wndl_buf_text(out, "\nA part of the run: the program went on, and was "
                           "killed or started another in its place");
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
    return wndl_vm_counts_paging(&m->total);
}

static int compare_memories(const void *a, const void *b)
{
    const struct wndl_vm_memory *x = a, *y = b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/*
 * The knee is the size after which more memory saves least for its cost: the
 * point that is farthest below the line from the first to the last.
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
        out->failed |= size.failed || swap.failed;
        wndl_buf_free(&size);
        wndl_buf_free(&swap);
    }
}

/* ---- tables of code */

/* A function or a line, by its self costs. */
struct row {
    uint32_t function;
    uint32_t place;
    uint64_t costs[WNDL_VM_EVENTS];
};

static uint64_t paging(const struct row *row)
{
    return row->costs[WNDL_VM_IFC] + row->costs[WNDL_VM_IFD] +
           row->costs[WNDL_VM_DFC] + row->costs[WNDL_VM_DFD];
}

/* Most faults first, then most accesses. */
static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (paging(x) != paging(y))
        return paging(x) > paging(y) ? -1 : 1;
    if (x->costs[WNDL_VM_IA] != y->costs[WNDL_VM_IA])
        return x->costs[WNDL_VM_IA] > y->costs[WNDL_VM_IA] ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void add_title(struct wndl_buf *out, const char *what)
{
    wndl_buf_text(out, "\n");
    for (int i = 0; i < COLUMNS; i++)
        wndl_buf_printf(out, "%-*s", COLUMN_WIDTH, columns[i].title);
    wndl_buf_printf(out, "%s\n", what);
}

static void add_cells(struct wndl_buf *out,
    const uint64_t costs[WNDL_VM_EVENTS], const uint64_t totals[WNDL_VM_EVENTS])
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
    const struct row *rows, size_t count, uint64_t totals[WNDL_VM_EVENTS])
{
    for (size_t i = 0; i < count; i++)
        for (int event = 0; event < WNDL_VM_EVENTS; event++)
            totals[event] += rows[i].costs[event];
}

/* A table of functions, or of lines. */
struct table {
    struct row *rows;
    size_t count;
    size_t max_rows;
    bool of_lines;
};

static void add_table(
    struct wndl_buf *out, const struct wndl_callgraph *g, struct table table)
{
    uint64_t totals[WNDL_VM_EVENTS] = {0};
    sum_up(table.rows, table.count, totals);
    if (table.count != 0)
        qsort(table.rows, table.count, sizeof *table.rows, compare_rows);
    add_title(out, table.of_lines ? "Line" : "Function");
    add_cells(out, totals, totals);
    wndl_buf_text(out, "PROGRAM TOTALS\n");
    for (size_t i = 0; i < table.count && i < table.max_rows; i++) {
        const struct row *row = &table.rows[i];
        if (row->costs[WNDL_VM_IA] == 0 && paging(row) == 0)
            break;
        add_cells(out, row->costs, totals);
        if (table.of_lines)
            add_line_name(out, g, row->place);
        else
            add_function_name(out, g, row->function);
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
        for (int event = 0; event < WNDL_VM_EVENTS; event++)
            row->costs[event] += costs[event];
    }
    add_table(out, g, (struct table){rows, count, max_rows, of_lines});
}

/* ---- callers, sites, time, start */

struct inclusive {
    uint32_t function;
    uint64_t faults;
};

static int compare_inclusive(const void *a, const void *b)
{
    const struct inclusive *x = a, *y = b;
    if (x->faults != y->faults)
        return x->faults > y->faults ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static uint64_t sum_of_faults(const uint64_t costs[WNDL_VM_EVENTS])
{
    return costs[WNDL_VM_IFC] + costs[WNDL_VM_IFD] + costs[WNDL_VM_DFC] +
           costs[WNDL_VM_DFD];
}

/* How far the call paths of faults and first touches go. */
static void add_paths(struct wndl_buf *out, const struct wndl_vm_paths *paths)
{
    const uint64_t all = paths->complete + paths->cut + paths->lost;
    if (all == 0)
        return;
    wndl_buf_printf(out,
        "Call paths: %.1f%% complete, %.1f%% cut at %d frames, %.1f%% lost\n",
        100.0 * (double)paths->complete / (double)all,
        100.0 * (double)paths->cut / (double)all, WNDL_VM_FRAMES,
        100.0 * (double)paths->lost / (double)all);
}

static bool add_inclusive(
    struct wndl_buf *out, const struct wndl_callgraph *g, size_t max_rows)
{
    const size_t count = g->functions.len;
    struct inclusive *rows = wndl_mem_zalloc(out->mem, count * sizeof *rows);
    uint64_t total = 0;
    if (rows == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        rows[i].function = i;
        rows[i].faults = sum_of_faults(wndl_callgraph_costs(&g->through, i));
    }
    for (uint32_t i = 0; i < g->places.len; i++)
        total += sum_of_faults(wndl_callgraph_costs(&g->self, i));
    qsort(rows, count, sizeof *rows, compare_inclusive);
    wndl_buf_text(out, "\nFaults with callees     Function\n");
    for (size_t i = 0; i < count && i < max_rows && rows[i].faults != 0; i++) {
        char number[32];
        wndl_buf_printf(out, "%14s (%5.1f%%)  ",
            wndl_vm_number(rows[i].faults, number),
            100.0 * (double)rows[i].faults / (double)total);
        add_function_name(out, g, rows[i].function);
    }
    wndl_mem_free(out->mem, rows);
    return true;
}

static void add_counts(struct wndl_buf *out, const struct wndl_vm_counts *c)
{
    for (int access = 0; access < WNDL_VM_ACCESSES; access++) {
        for (int fault = 0; fault < WNDL_VM_FAULTS; fault++) {
            char number[32];
            wndl_buf_printf(
                out, "%12s", wndl_vm_number(c->n[access][fault], number));
        }
    }
}

static void add_counts_title(struct wndl_buf *out, const char *what)
{
    wndl_buf_printf(out, "\n%12s%12s%12s%12s%12s%12s  %s\n", "I first",
        "I clean", "I dirty", "D first", "D clean", "D dirty", what);
}

/* Most faults first, then most first touches. */
static int compare_mappings(const void *a, const void *b)
{
    const struct wndl_vm_row *x = *(const struct wndl_vm_row *const *)a;
    const struct wndl_vm_row *y = *(const struct wndl_vm_row *const *)b;
    const uint64_t xp = wndl_vm_counts_paging(&x->counts);
    const uint64_t yp = wndl_vm_counts_paging(&y->counts);
    if (xp != yp)
        return xp > yp ? -1 : 1;
    const uint64_t xf = wndl_vm_counts_first(&x->counts);
    const uint64_t yf = wndl_vm_counts_first(&y->counts);
    return xf != yf ? (xf > yf ? -1 : 1) : strcmp(x->name, y->name);
}

static bool add_mappings(struct wndl_buf *out, const struct wndl_vm *vm,
    uint32_t memory, size_t max_rows)
{
    const struct wndl_vm_row **rows =
        wndl_mem_zalloc(out->mem, (vm->rows.len + 1) * sizeof *rows);
    size_t count = 0;
    if (rows == NULL)
        return false;
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (row->kind == WNDL_VM_MAPPING && row->memory == memory)
            rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, compare_mappings);
    add_counts_title(out, "Mapping");
    for (size_t i = 0; i < count && i < max_rows; i++) {
        add_counts(out, &rows[i]->counts);
        wndl_buf_printf(out, "  %s\n", rows[i]->name);
    }
    if (count > max_rows)
        wndl_buf_printf(
            out, "%zu more mappings: -n %zu\n", count - max_rows, count);
    wndl_mem_free(out->mem, rows);
    return true;
}

static void add_sites(
    struct wndl_buf *out, const struct wndl_vec *sites, size_t max_rows)
{
    if (sites->len == 0)
        return;
    add_counts_title(out, "Heap blocks allocated by");
    for (size_t i = 0; i < sites->len && i < max_rows; i++) {
        const struct wndl_vm_site *site = wndl_vec_at(sites, i);
        add_counts(out, &site->counts);
        wndl_buf_printf(out, "  %s\n", site->text);
    }
}

/* At most SPANS_SHOWN rows, each of several spans. */
enum { SPANS_SHOWN = 16 };

static void add_time(
    struct wndl_buf *out, const struct wndl_vm *vm, uint32_t memory)
{
    struct wndl_vm_counts sums[SPANS_SHOWN] = {0};
    uint64_t count =
        vm->span_length == 0 ? 0 : vm->instructions / vm->span_length + 1;
    uint64_t each = count / SPANS_SHOWN + 1;
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (row->kind != WNDL_VM_SPAN || row->memory != memory ||
            row->index / each >= SPANS_SHOWN)
            continue;
        wndl_vm_counts_add(&sums[row->index / each], &row->counts);
    }
    add_counts_title(out, "After instructions");
    for (uint64_t i = 0; i * each < count && i < SPANS_SHOWN; i++) {
        char number[32];
        add_counts(out, &sums[i]);
        wndl_buf_printf(
            out, "  %s\n", wndl_vm_number(i * each * vm->span_length, number));
    }
}

static void add_startup(
    struct wndl_buf *out, const struct wndl_vm_startup *startup)
{
    if (startup->files.len == 0)
        return;
    wndl_buf_text(out, "\nCode that ran at the start:\n"
                       "  Pages  if packed  Functions  File\n");
    for (size_t i = 0; i < startup->files.len; i++) {
        const struct wndl_vm_startup_file *file =
            wndl_vec_at(&startup->files, i);
        wndl_buf_printf(out, "%7" PRIu64 "%11" PRIu64 "%11zu  %s\n",
            file->pages, file->packed_pages, file->functions.len, file->path);
    }
}

static bool add_all(
    struct wndl_buf *out, const struct wndl_vm_view *view, size_t max_rows)
{
    const struct wndl_callgraph *g = view->graph;
    const size_t most =
        g->places.len > g->functions.len ? g->places.len : g->functions.len;
    struct row *rows = wndl_mem_zalloc(out->mem, (most + 1) * sizeof *rows);
    if (rows == NULL)
        return false;
    add_head(out, view->vm, view->memory);
    add_curve(out, view->vm);
    add_code(out, g, rows, max_rows, false);
    add_code(out, g, rows, max_rows, true);
    wndl_mem_free(out->mem, rows);
    if (!add_inclusive(out, g, max_rows))
        return false;
    add_paths(out, view->paths);
    if (!add_mappings(out, view->vm, view->memory, max_rows))
        return false;
    add_sites(out, view->sites, max_rows);
    add_time(out, view->vm, view->memory);
    add_startup(out, view->startup);
    return !out->failed;
}

/* Names of a binary may hold any bytes. */
bool wndl_vm_text(
    struct wndl_buf *out, const struct wndl_vm_view *view, size_t max_rows)
{
    struct wndl_buf text;
    wndl_buf_init(&text, out->mem);
    const bool added = add_all(&text, view, max_rows);
    wndl_utf8_plain_lines(out, &text);
    wndl_buf_free(&text);
    return added && !out->failed;
}
