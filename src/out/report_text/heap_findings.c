/* SPDX-License-Identifier: MIT */
/* report_text_heap_findings: the findings in a heap. */
#include "out/report_text/heap.h"
#include "out/report_text/report_text.h"

#include <inttypes.h>

enum { MAX_ROWS = 5 };

struct findings {
    const struct wndl_heap_report *r;
    struct wndl_buf *out;
    uint32_t frames; /* of a stack, at most */
};

/* ---- parts */

static void put_tilde(
    const struct findings *f, const struct wndl_heap_figures *of)
{
    if (of->blocks_error > 0)
        wndl_buf_byte(f->out, '~');
}

static uint64_t positive(int64_t value)
{
    return value < 0 ? 0 : (uint64_t)value;
}

/* "~1,234 bytes in ~56 blocks" */
static void bytes_in_blocks(
    const struct findings *f, const struct wndl_heap_figures *of)
{
    put_tilde(f, of);
    wndl_text_count(f->out, positive(wndl_heap_usable(of)), "byte");
    wndl_buf_text(f->out, " in ");
    put_tilde(f, of);
    wndl_text_count(f->out, positive(of->blocks), "block");
}

static void put_stack(const struct findings *f, struct wndl_heap_stack stack)
{
    const struct wndl_heap_list *list = &f->r->list;
    const struct wndl_text_layout layout = {0};
    const struct wndl_text t = {.layout = &layout, .out = f->out};
    for (uint32_t i = 1; i <= stack.count && i <= f->frames; i++) {
        const struct wndl_heap_frame *frame =
            wndl_heap_frame_at(list, stack.leaf);
        wndl_buf_printf(f->out, "    #%02" PRIu32 ": ", i);
        wndl_text_cut(&t, wndl_intern_get(&list->strings, frame->text), 0);
        wndl_buf_byte(f->out, '\n');
        stack.leaf = frame->caller;
    }
}

static double put_share(int64_t part, int64_t whole)
{
    return whole <= 0 ? 0 : 100 * (double)part / (double)whole;
}

/* ---- a row of each kind: the part after the first two columns */

static void leak_row(const struct findings *f, const struct wndl_finding *row)
{
    bytes_in_blocks(f, &row->figures);
    wndl_buf_byte(f->out, '\n');
    put_stack(f, row->stack);
}

static void temporary_row(
    const struct findings *f, const struct wndl_finding *row)
{
    put_tilde(f, &row->figures);
    wndl_text_count(f->out, positive(row->figures.blocks), "block");
    wndl_buf_text(f->out, " of ");
    put_tilde(f, &row->figures);
    wndl_text_count(f->out, positive(wndl_heap_usable(&row->figures)), "byte");
    wndl_buf_text(f->out, " in all\n");
    put_stack(f, row->stack);
}

static void growth_row(const struct findings *f, const struct wndl_finding *row)
{
    const struct wndl_alloc_growth *g = &row->growth;
    wndl_text_count(f->out, g->chains, "buffer");
    wndl_buf_text(f->out, " grew ");
    wndl_text_count(f->out, g->steps, "time");
    wndl_buf_text(f->out, g->by_copy ? " by copying" : " by realloc");
    wndl_buf_text(f->out, ", each time by ");
    if (g->least_step != g->most_step) {
        char text[WNDL_NUMBER_SIZE];
        wndl_buf_printf(
            f->out, "%s to ", wndl_text_number(g->least_step, text));
    }
    wndl_text_count(f->out, g->most_step, "byte");
    wndl_buf_text(f->out, ":\n    ");
    wndl_text_count(f->out, g->allocated, "byte");
    wndl_buf_text(f->out, " allocated for ");
    wndl_text_count(f->out, g->final, "byte");
    wndl_buf_text(f->out, "; doubling would have taken ");
    wndl_text_count(f->out, g->doubling, "byte");
    wndl_buf_byte(f->out, '\n');
    put_stack(f, row->stack);
}

static void class_row(const struct findings *f, const struct wndl_finding *row)
{
    char text[WNDL_NUMBER_SIZE];
    put_tilde(f, &row->figures);
    wndl_text_count(f->out, positive(row->figures.blocks), "request");
    wndl_buf_text(f->out, " of ");
    wndl_text_count(f->out, row->request, "byte");
    wndl_buf_printf(f->out, ", just above blocks of %s, %s ",
        wndl_text_number(row->size, text),
        positive(row->figures.blocks) == 1 ? "leaves" : "leave");
    put_tilde(f, &row->figures);
    wndl_text_count(f->out, positive(row->figures.slop), "byte");
    wndl_buf_text(f->out, " unused\n");
    put_stack(f, row->stack);
}

static void put_unused(
    const struct findings *f, const struct wndl_heap_figures *of)
{
    put_tilde(f, of);
    wndl_text_count(f->out, positive(of->slop), "byte");
    wndl_buf_printf(f->out, " unused, %.1f%% of ",
        put_share(of->slop, wndl_heap_usable(of)));
    bytes_in_blocks(f, of);
}

static void slop_row(const struct findings *f, const struct wndl_finding *row)
{
    put_unused(f, &row->figures);
    wndl_buf_byte(f->out, '\n');
    put_stack(f, row->stack);
}

static void together_row(
    const struct findings *f, const struct wndl_finding *row)
{
    bytes_in_blocks(f, &row->figures);
    wndl_buf_text(f->out, " of\n");
    put_stack(f, row->stack);
    wndl_buf_text(
        f->out, "    are allocated just after, and freed with, those of\n");
    put_stack(f, row->other);
}

/* "taken by malloc, from libfoo.so, at" and the stack */
static void put_whose(const struct findings *f, const char *function,
    uint32_t module, struct wndl_heap_stack stack)
{
    const struct wndl_symbolized *s = f->r->symbolized;
    const struct wndl_module *in = wndl_vec_at(&s->modules, module);
    const struct wndl_text_layout layout = {0};
    const struct wndl_text t = {.layout = &layout, .out = f->out};
    wndl_buf_printf(f->out, "    %s, from ", function);
    wndl_text_cut(&t, wndl_intern_get(&s->strings, in->path), 0);
    wndl_buf_text(f->out, ", at\n");
    put_stack(f, stack);
}

static void put_mixed(const struct findings *f, const struct wndl_finding *row)
{
    static const char *const takers[WNDL_WHOSE_COUNT] = {
        [WNDL_WHOSE_UNKNOWN] = "taken by an unknown function",
        [WNDL_WHOSE_MALLOC] = "taken by malloc",
        [WNDL_WHOSE_REPORTED] = "taken by a pool (wndl_heap_on_alloc)",
        [WNDL_WHOSE_LIBC] = "taken by the C library",
        [WNDL_WHOSE_CPP] = "taken by operator new",
    };
    static const char *const givers[WNDL_WHOSE_COUNT] = {
        [WNDL_WHOSE_UNKNOWN] = "freed by an unknown function",
        [WNDL_WHOSE_MALLOC] = "freed by free",
        [WNDL_WHOSE_REPORTED] = "freed by a pool (wndl_heap_on_free)",
        [WNDL_WHOSE_LIBC] = "freed by the C library",
        [WNDL_WHOSE_CPP] = "freed by operator delete",
    };
    put_whose(f, givers[row->freed_by], row->freed_in, row->stack);
    put_whose(f, takers[row->taken_by], row->taken_in, row->other);
}

static void wrong_row(const struct findings *f, const struct wndl_finding *row)
{
    static const char *const texts[WNDL_WRONG_FREES] = {
        [WNDL_WRONG_FREE_OTHER] = "wrong in an unknown way",
        [WNDL_WRONG_FREE_FOREIGN] = "of memory that was never allocated",
        [WNDL_WRONG_FREE_TWICE] = "of blocks that were freed before",
        [WNDL_WRONG_FREE_ALLOCATOR] = "of another allocator's blocks",
        [WNDL_WRONG_MEASURE_INTERIOR] = "into the middle of blocks",
        [WNDL_WRONG_MEASURE_NO_BLOCK] = "into no block",
        [WNDL_WRONG_MEASURE_FREED] = "to blocks that were freed before",
        [WNDL_WRONG_MEASURE_UNSEARCHED] = "into blocks, or into none",
    };
    wndl_text_count(f->out, positive(row->figures.blocks),
        row->wrong < WNDL_WRONG_MEASURE_INTERIOR ? "free" : "pointer");
    const bool is_mixed = row->other.count != 0;
    wndl_buf_printf(f->out, " %s, the first 0x%" PRIx64 "%s\n",
        texts[row->wrong], row->address, is_mixed ? ":" : "");
    if (is_mixed)
        put_mixed(f, row);
    else
        put_stack(f, row->stack);
}

/* ---- kinds */

enum title_sum { SUM_NONE, SUM_BYTES, SUM_SLOP };

struct kind {
    const char *title;
    void (*row)(const struct findings *f, const struct wndl_finding *row);
    enum title_sum sum; /* the sum after the title */
};

static const struct kind kinds[WNDL_FINDINGS] = {
    [WNDL_FINDING_DEFINITE] = {"Leaks, definite", leak_row, SUM_BYTES},
    [WNDL_FINDING_INDIRECT] = {"Leaks, indirect", leak_row, SUM_BYTES},
    [WNDL_FINDING_POSSIBLE] = {"Leaks, possible", leak_row, SUM_BYTES},
    [WNDL_FINDING_REACHABLE] = {"Still reachable at the end", leak_row,
        SUM_BYTES},
    [WNDL_FINDING_TEMPORARY] = {"Temporary allocations", temporary_row,
        SUM_BYTES},
    [WNDL_FINDING_GROWTH] = {"Buffers that grow just enough", growth_row,
        SUM_NONE},
    [WNDL_FINDING_CLASS] = {"Requests just above a block size", class_row,
        SUM_SLOP},
    [WNDL_FINDING_SLOP] = {"Unused ends of blocks", slop_row, SUM_SLOP},
    [WNDL_FINDING_TOGETHER] = {"Born and freed together", together_row,
        SUM_BYTES},
    [WNDL_FINDING_WRONG] = {"Wrong frees", wrong_row, SUM_NONE},
    [WNDL_FINDING_MEASURED] = {"Pointers that memory reporters measured, and "
                               "that are no start of a block",
        wrong_row, SUM_NONE},
};

/* Growth and leaks come first, memory in use last. */
static const enum wndl_finding_kind shown_order[WNDL_FINDINGS] = {
    WNDL_FINDING_GROWTH,
    WNDL_FINDING_DEFINITE,
    WNDL_FINDING_INDIRECT,
    WNDL_FINDING_POSSIBLE,
    WNDL_FINDING_WRONG,
    WNDL_FINDING_MEASURED,
    WNDL_FINDING_TEMPORARY,
    WNDL_FINDING_CLASS,
    WNDL_FINDING_SLOP,
    WNDL_FINDING_TOGETHER,
    WNDL_FINDING_REACHABLE,
};

static void one_kind(const struct findings *f, const struct kind *kind,
    enum wndl_finding_kind which)
{
    const struct wndl_vec *rows = &f->r->findings.rows[which];
    if (rows->len == 0)
        return;
    const struct wndl_heap_figures *total = &f->r->findings.totals[which];
    wndl_buf_text(f->out, kind->title);
    if (kind->sum != SUM_NONE)
        wndl_buf_text(f->out, ": ");
    if (kind->sum == SUM_BYTES)
        bytes_in_blocks(f, total);
    if (kind->sum == SUM_SLOP)
        put_unused(f, total);
    wndl_buf_byte(f->out, '\n');
    for (size_t i = 0; i < rows->len && i < MAX_ROWS; i++) {
        wndl_buf_text(f->out, "  ");
        kind->row(f, wndl_vec_at(rows, i));
    }
    if (rows->len > MAX_ROWS) {
        wndl_buf_text(f->out, "  and ");
        wndl_text_count(f->out, rows->len - MAX_ROWS, "more code path");
        wndl_buf_text(f->out, ": --json\n");
    }
    wndl_buf_byte(f->out, '\n');
}

/* Findings that may exist but are not known. */
static void not_known(const struct wndl_heap_report *r, struct wndl_buf *out)
{
    uint64_t unsure = r->all.totals[WNDL_HEAP_TOTAL_UNSURE];
    uint64_t own = r->all.totals[WNDL_HEAP_TOTAL_OWN];
    if (r->sample_below != 0) {
        wndl_buf_text(out, "Leaks, buffers that grow and wrong frees: not "
                           "searched where blocks are chosen by chance\n\n");
        return;
    }
    if (own != 0) {
        wndl_buf_text(out, "Leaks: not searched in ");
        wndl_text_count(out, own, "heap");
        wndl_buf_text(out, ", where blocks may have been freed unseen\n\n");
    } else if (!r->findings.leaks_known) {
        wndl_buf_text(out, "Leaks: not known; they are searched when a process "
                           "ends by itself\n\n");
    }
    if (unsure == 0)
        return;
    wndl_buf_text(out, "Wrong frees: frees of memory that was never allocated "
                       "are not known in ");
    wndl_text_count(out, unsure, "heap");
    wndl_buf_text(out, ", where blocks may have been allocated unseen\n\n");
}

/* Leaks were searched for in one heap at least. */
static void no_leaks(const struct wndl_heap_report *r, struct wndl_buf *out)
{
    const struct wndl_heap_row *rows = r->rows.data;
    uint64_t known = 0;
    for (size_t i = 0; i < r->rows.len; i++) {
        const struct wndl_process_heap *heap =
            wndl_vec_at(&r->symbolized->profile->heaps, rows[i].heap);
        known += heap->leaks_known;
    }
    wndl_buf_text(out, "No definite leaks");
    if (known < r->rows.len) {
        wndl_buf_text(out, " in ");
        wndl_text_count(out, known, "heap");
        wndl_buf_text(out, ", not known of ");
        wndl_text_count(out, r->rows.len - known, "other");
    }
    wndl_buf_text(out, "\n\n");
}

static bool has_any(const struct wndl_findings *findings)
{
    for (size_t i = 0; i < WNDL_FINDINGS; i++) {
        if (findings->rows[i].len != 0)
            return true;
    }
    return false;
}

void wndl_text_findings(const struct wndl_heap_report *r, struct wndl_buf *out)
{
    const struct findings f = {r, out, UINT32_MAX};
    const struct wndl_profile *p = r->symbolized->profile;
    not_known(r, out);
    if (r->findings.leaks_known && p->chunks_damaged == 0 &&
        r->findings.rows[WNDL_FINDING_DEFINITE].len == 0)
        no_leaks(r, out);
    if (!has_any(&r->findings))
        return;
    for (size_t i = 0; i < WNDL_FINDINGS; i++)
        one_kind(&f, &kinds[shown_order[i]], shown_order[i]);
}

const char *wndl_report_finding_title(enum wndl_finding_kind kind)
{
    return kinds[kind].title;
}

void wndl_report_finding_text(const struct wndl_heap_report *r,
    enum wndl_finding_kind kind, const struct wndl_finding *row,
    struct wndl_buf *out)
{
    const bool has_two = row->other.count != 0;
    const struct findings f = {r, out, has_two};
    kinds[kind].row(&f, row);
}
