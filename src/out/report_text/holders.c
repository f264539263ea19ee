/* SPDX-License-Identifier: MIT */
#include "out/report_text/holders.h"

#include "out/report_text/heap.h"
#include "out/report_text/report_text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEEPEST = 32, SMALLEST_SHARE = 100 };

static void put_place(
    const struct wndl_heap_holders *h, uint32_t place, struct wndl_buf *out)
{
    wndl_report_heap_place(wndl_intern_get(&h->strings, place), out);
}

/* " in `member`", where it is known. */
static void put_member(
    const struct wndl_heap_holders *h, uint32_t member, struct wndl_buf *out)
{
    const struct wndl_bytes name = wndl_intern_get(&h->strings, member);
    if (name.size == 0)
        return;
    wndl_buf_text(out, ", in `");
    wndl_buf_add(out, name.data, name.size);
    wndl_buf_byte(out, '`');
}

/* Where pointers are in their blocks or root. */
static void put_offset(const struct wndl_heap_holders *h, bool differs,
    uint64_t offset, uint32_t member, struct wndl_buf *out)
{
    if (differs) {
        wndl_buf_text(out, ", at several offsets");
        return;
    }
    wndl_buf_printf(out, ", at offset %" PRIu64, offset);
    put_member(h, member, out);
}

static double share(const struct wndl_heap_holders *h, uint64_t bytes)
{
    return h->bytes == 0 ? 0 : 100.0 * (double)bytes / (double)h->bytes;
}

static void put_rest(size_t left, struct wndl_buf *out)
{
    if (left != 0)
        wndl_buf_printf(out, "  and %zu more: -n %s\n", left, "N");
}

/* ---- tables */

/* Rows have the numbers that --site takes if they are places of blocks. */
static void put_table(const struct wndl_heap_holders *h, const char *title,
    const struct wndl_vec *table, size_t rows, struct wndl_buf *out)
{
    const bool numbered = table == &h->by_place;
    const struct wndl_heap_retained *all = table->data;
    char retained[WNDL_NUMBER_SIZE], own[WNDL_NUMBER_SIZE];
    char blocks[WNDL_NUMBER_SIZE];
    if (table->len == 0)
        return;
    wndl_buf_printf(out, "\n%s\n\n  %s%15s  %6s  %15s  %11s  place\n", title,
        numbered ? " site  " : "", "retained", "share", "own bytes", "blocks");
    for (size_t i = 0; i < table->len && i < rows; i++) {
        if (numbered)
            wndl_buf_printf(out, "  %5zu", i + 1);
        wndl_buf_printf(out, "  %15s  %5.1f%%  %15s  %11s  ",
            wndl_text_number(all[i].retained, retained),
            share(h, all[i].retained), wndl_text_number(all[i].own, own),
            wndl_text_number(all[i].blocks, blocks));
        put_place(h, all[i].place, out);
        wndl_buf_byte(out, '\n');
    }
    put_rest(table->len > rows ? table->len - rows : 0, out);
}

static void put_head(const struct wndl_heap_holders *h, struct wndl_buf *out)
{
    wndl_buf_text(out, "Scan: ");
    wndl_text_count(out, h->bytes, "byte");
    wndl_buf_text(out, " in ");
    wndl_text_count(out, h->graph.block_count, "block");
    if (h->lost_blocks != 0) {
        wndl_buf_text(out, "; no root leads to ");
        wndl_text_count(out, h->lost_bytes, "byte");
        wndl_buf_text(out, " in ");
        wndl_text_count(out, h->lost_blocks, "block");
    }
    if (h->written != 0) {
        wndl_buf_text(out, "; the program wrote to at most ");
        wndl_text_count(out, h->written, "byte");
        wndl_buf_text(out, " of pages meanwhile");
    }
    if (h->stopped != 0)
        wndl_buf_printf(out,
            "; it was read in place, and the program stopped for %.3f s",
            (double)h->stopped * 1e-9);
    wndl_buf_byte(out, '\n');
}

void wndl_text_retained(
    const struct wndl_heap_holders *h, size_t rows, struct wndl_buf *out)
{
    put_head(h, out);
    put_table(h, "What would be freed with the blocks that a place allocated",
        &h->by_place, rows, out);
    put_table(h, "What would be freed if a root did not point to it",
        &h->by_root, rows, out);
    put_table(
        h, "Leaks: blocks whose loss lost the others", &h->leaks, rows, out);
}

/* ---- chains */

static const struct wndl_holder_step *step_at(
    const struct wndl_heap_holders *h, uint32_t step)
{
    return wndl_vec_at(&h->steps, step);
}

static int compare_steps(const void *a, const void *b, void *context)
{
    const struct wndl_heap_holders *h = context;
    const struct wndl_holder_step *x = step_at(h, *(const uint32_t *)a);
    const struct wndl_holder_step *y = step_at(h, *(const uint32_t *)b);
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

struct printing {
    const struct wndl_heap_holders *h;
    size_t rows;
    uint64_t least; /* bytes of a step that is shown */
    struct wndl_buf *out;
    struct wndl_arena arena;
};

/* The steps after `parent`, the largest first. Returns their number. */
static size_t sort_steps(struct printing *p, uint32_t parent, uint32_t **sorted)
{
    const struct wndl_heap_holders *h = p->h;
    size_t count = 0;
    for (uint32_t s = step_at(h, parent)->child; s != 0;
         s = step_at(h, s)->sibling)
        count++;
    *sorted = wndl_arena_calloc(&p->arena, count + 1, sizeof **sorted);
    if (*sorted == NULL)
        return 0;
    count = 0;
    for (uint32_t s = step_at(h, parent)->child; s != 0;
         s = step_at(h, s)->sibling)
        (*sorted)[count++] = s;
    qsort_r(*sorted, count, sizeof **sorted, compare_steps, (void *)h);
    return count;
}

static void put_step(const struct wndl_heap_holders *h,
    const struct wndl_holder_step *s, int depth, struct wndl_buf *out)
{
    char bytes[WNDL_NUMBER_SIZE], blocks[WNDL_NUMBER_SIZE];
    wndl_buf_printf(out, "  %15s  %5.1f%%  %11s  %*s",
        wndl_text_number(s->bytes, bytes), share(h, s->bytes),
        wndl_text_number(s->blocks, blocks), depth * 2, "");
    wndl_buf_text(out, depth == 0 ? "" : s->is_conservative ? "~ " : "< ");
    put_place(h, s->place, out);
    if (s->repeats)
        wndl_buf_text(out, ", which hold each other");
    if (depth != 0)
        put_offset(h, s->offsets_differ, s->offset, s->member, out);
    wndl_buf_byte(out, '\n');
}

/* Small branches are left out, and chains deeper than DEEPEST are cut. */
static void put_steps(struct printing *p, uint32_t parent, int depth)
{
    uint32_t *sorted;
    const size_t count = sort_steps(p, parent, &sorted);
    size_t shown = 0;
    while (shown < count && shown < p->rows &&
           step_at(p->h, sorted[shown])->bytes >= p->least) {
        put_step(p->h, step_at(p->h, sorted[shown]), depth, p->out);
        if (depth < DEEPEST)
            put_steps(p, sorted[shown], depth + 1);
        shown++;
    }
    if (depth == 0 && count > shown)
        wndl_buf_printf(p->out, "  and %zu more places\n", count - shown);
}

/* Bytes of the blocks that were asked for. */
static uint64_t bytes_of(const struct wndl_heap_holders *h)
{
    uint64_t sum = 0;
    for (uint32_t s = step_at(h, 0)->child; s != 0; s = step_at(h, s)->sibling)
        sum += step_at(h, s)->bytes;
    return sum;
}

void wndl_text_who_holds(const struct wndl_heap_holders *h, const char *place,
    size_t rows, struct wndl_buf *out)
{
    struct printing p = {.h = h, .rows = rows, .out = out};
    put_head(h, out);
    if (h->steps.len <= 1) {
        wndl_buf_printf(out,
            "\nNo block that is left was allocated at a place with `%s`.\n",
            place);
        return;
    }
    wndl_buf_printf(out,
        "\nWho holds the blocks of places with `%s`\n\n  %15s  %6s  %11s  "
        "place, and below it who points to its blocks\n",
        place, "bytes", "share", "blocks");
    p.least = bytes_of(h) / SMALLEST_SHARE;
    wndl_arena_init(&p.arena, out->mem);
    put_steps(&p, 0, 0);
    wndl_arena_free(&p.arena);
}

/* ---- one block */

static void put_pointers(const struct wndl_heap_holders *h, const char *title,
    const struct wndl_vec *pointers, size_t rows, struct wndl_buf *out)
{
    const struct wndl_heap_pointer *all = pointers->data;
    if (pointers->len != 0)
        wndl_buf_printf(out, "\n%s\n", title);
    for (size_t i = 0; i < pointers->len && i < rows; i++) {
        wndl_buf_printf(out, "  %s0x%" PRIx64 " + %" PRIu64 "  ",
            all[i].conservative ? "~" : "", all[i].address, all[i].offset);
        put_place(h, all[i].place, out);
        put_member(h, all[i].member, out);
        wndl_buf_byte(out, '\n');
    }
    put_rest(pointers->len > rows ? pointers->len - rows : 0, out);
}

void wndl_text_heap_block(
    const struct wndl_heap_holders *h, size_t rows, struct wndl_buf *out)
{
    const struct wndl_heap_block_view *v = wndl_vec_at(&h->seen, 0);
    wndl_buf_printf(out, "Block 0x%" PRIx64 ": ", v->address);
    wndl_text_count(out, v->size, "byte");
    wndl_buf_text(out, ", allocated at ");
    put_place(h, v->place, out);
    wndl_buf_text(out, "\n");
    wndl_text_count(out, v->retained, "byte");
    wndl_buf_text(out, " would be freed with it\n");
    if (v->is_lost)
        wndl_buf_text(out, "No root leads to it: it is lost\n");
    put_pointers(
        h, "Who points to it (block or root + offset)", &v->from, rows, out);
    put_pointers(h, "What it points to (at offset in it)", &v->to, rows, out);
    put_pointers(h, "The shortest chain to a root", &v->chain, SIZE_MAX, out);
}

/* ---- all blocks of a site */

static void put_merged(const struct wndl_heap_holders *h, const char *title,
    const struct wndl_vec *merged, size_t rows, struct wndl_buf *out)
{
    const struct wndl_heap_merged *all = merged->data;
    char pointers[WNDL_NUMBER_SIZE];
    if (merged->len != 0)
        wndl_buf_printf(out, "\n%s\n  %11s  place\n", title, "pointers");
    for (size_t i = 0; i < merged->len && i < rows; i++) {
        wndl_buf_printf(out, "  %11s  %s",
            wndl_text_number(all[i].pointers, pointers),
            all[i].conservative * 2 > all[i].pointers ? "~ " : "");
        put_place(h, all[i].place, out);
        put_offset(h, all[i].offsets_differ, all[i].offset, all[i].member, out);
        wndl_buf_byte(out, '\n');
    }
    put_rest(merged->len > rows ? merged->len - rows : 0, out);
}

void wndl_text_heap_site(
    const struct wndl_heap_holders *h, size_t rows, struct wndl_buf *out)
{
    const struct wndl_heap_site_view *v = wndl_vec_at(&h->seen_sites, 0);
    wndl_buf_printf(out, "Site %" PRIu64 ": ", v->number);
    wndl_text_count(out, v->row.own, "byte");
    wndl_buf_text(out, " in ");
    wndl_text_count(out, v->row.blocks, "block");
    wndl_buf_text(out, ", allocated at ");
    put_place(h, v->row.place, out);
    wndl_buf_text(out, "\n");
    wndl_text_count(out, v->row.retained, "byte");
    wndl_buf_text(out, " would be freed with them\n");
    if (v->lost != 0) {
        wndl_buf_text(out, "No root leads to ");
        wndl_text_count(out, v->lost, "block");
        wndl_buf_text(out, " of them\n");
    }
    put_merged(h, "Who points to them", &v->from, rows, out);
    put_merged(h, "What they point to", &v->to, rows, out);
    put_pointers(h, "The shortest chain from one of them to a root", &v->chain,
        SIZE_MAX, out);
}

/* ---- what grew */

/* `text` has room for WNDL_NUMBER_SIZE + 1. Returns it: with a sign. */
static char *difference(const uint64_t pair[2], char *text)
{
    const bool is_less = pair[1] < pair[0];
    text[0] = is_less ? '-' : '+';
    wndl_text_number(is_less ? pair[0] - pair[1] : pair[1] - pair[0], text + 1);
    return text;
}

static void put_changes(const struct wndl_holder_changes *c, const char *title,
    const struct wndl_vec *table, size_t rows, struct wndl_buf *out)
{
    const struct wndl_holder_change *all = table->data;
    char bytes[WNDL_NUMBER_SIZE + 1], later[WNDL_NUMBER_SIZE];
    char blocks[WNDL_NUMBER_SIZE + 1];
    if (table->len == 0)
        return;
    wndl_buf_printf(out, "\n%s\n\n  %15s  %15s  %11s  place\n", title, "grew",
        "retained", "blocks");
    for (size_t i = 0; i < table->len && i < rows; i++) {
        wndl_buf_printf(out, "  %15s  %15s  %11s  ",
            difference(all[i].retained, bytes),
            wndl_text_number(all[i].retained[1], later),
            difference(all[i].blocks, blocks));
        wndl_report_heap_place(wndl_intern_get(&c->strings, all[i].place), out);
        wndl_buf_byte(out, '\n');
    }
    put_rest(table->len > rows ? table->len - rows : 0, out);
}

void wndl_text_holder_changes(
    const struct wndl_holder_changes *c, size_t rows, struct wndl_buf *out)
{
    char bytes[WNDL_NUMBER_SIZE + 1], blocks[WNDL_NUMBER_SIZE + 1];
    wndl_buf_printf(out, "Scans: %s bytes in %s blocks\n",
        difference(c->bytes, bytes), difference(c->blocks, blocks));
    if (c->by_place.len == 0 && c->by_root.len == 0)
        wndl_buf_text(out, "\nNo place or root retains more or less.\n");
    put_changes(c, "What grew, with the blocks that a place allocated",
        &c->by_place, rows, out);
    put_changes(c, "What grew, of that which a root alone holds", &c->by_root,
        rows, out);
}
