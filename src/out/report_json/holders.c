/* SPDX-License-Identifier: MIT */
#include "out/report_json/holders.h"

#include "out/core/json_put.h"

enum { SCHEMA_VERSION = 1 };

static void put_place(
    struct wndl_json *j, const struct wndl_heap_holders *h, uint32_t place)
{
    wndl_json_put_string(j, "place", wndl_intern_get(&h->strings, place));
}

/* Where a pointer is in its block or root. */
static void put_offset(struct wndl_json *j, const struct wndl_heap_holders *h,
    uint64_t offset, uint32_t member)
{
    wndl_json_put_number(j, "offset", offset);
    if (member != 0)
        wndl_json_put_string(j, "member", wndl_intern_get(&h->strings, member));
}

/* ---- tables */

static void put_table(struct wndl_json *j, const struct wndl_heap_holders *h,
    const char *name, const struct wndl_vec *table)
{
    const struct wndl_heap_retained *all = table->data;
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < table->len; i++) {
        wndl_json_put_open_line(j);
        if (table == &h->by_place)
            wndl_json_put_number(j, "site", i + 1);
        put_place(j, h, all[i].place);
        wndl_json_put_number(j, "blocks", all[i].blocks);
        wndl_json_put_number(j, "own", all[i].own);
        wndl_json_put_number(j, "retained", all[i].retained);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

/* ---- chains */

static void put_step(struct wndl_json *j, const struct wndl_heap_holders *h,
    const struct wndl_holder_step *step)
{
    wndl_json_put_open_line(j);
    put_place(j, h, step->place);
    wndl_json_put_truth(j, "root", step->is_root);
    if (step->parent != 0) {
        wndl_json_put_number(j, "holds", step->parent - 1);
        if (!step->offsets_differ)
            put_offset(j, h, step->offset, step->member);
        wndl_json_put_truth(j, "conservative", step->is_conservative);
    }
    wndl_json_put_truth(j, "cycle", step->repeats);
    wndl_json_put_number(j, "blocks", step->blocks);
    wndl_json_put_number(j, "bytes", step->bytes);
    wndl_json_put_close(j, '}');
}

static void put_steps(
    struct wndl_json *j, const struct wndl_heap_holders *h, const char *place)
{
    wndl_json_put_text(j, "holders_of", place);
    wndl_json_put_key(j, "steps");
    wndl_json_put_open(j, '[');
    for (size_t i = 1; i < h->steps.len; i++)
        put_step(j, h, wndl_vec_at(&h->steps, i));
    wndl_json_put_close(j, ']');
}

/* ---- one block */

static void put_pointers(struct wndl_json *j, const struct wndl_heap_holders *h,
    const char *name, const struct wndl_vec *pointers)
{
    const struct wndl_heap_pointer *all = pointers->data;
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < pointers->len; i++) {
        wndl_json_put_open_line(j);
        wndl_json_put_number(j, "address", all[i].address);
        put_place(j, h, all[i].place);
        wndl_json_put_truth(j, "root", all[i].is_root);
        put_offset(j, h, all[i].offset, all[i].member);
        wndl_json_put_truth(j, "conservative", all[i].conservative);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_block(struct wndl_json *j, const struct wndl_heap_holders *h,
    const struct wndl_heap_block_view *v)
{
    wndl_json_put_key(j, "block");
    wndl_json_put_open(j, '{');
    wndl_json_put_number(j, "address", v->address);
    wndl_json_put_number(j, "size", v->size);
    wndl_json_put_number(j, "retained", v->retained);
    put_place(j, h, v->place);
    wndl_json_put_truth(j, "lost", v->is_lost);
    put_pointers(j, h, "from", &v->from);
    put_pointers(j, h, "to", &v->to);
    put_pointers(j, h, "chain", &v->chain);
    wndl_json_put_close(j, '}');
}

/* ---- all blocks of a site */

static void put_merged(struct wndl_json *j, const struct wndl_heap_holders *h,
    const char *name, const struct wndl_vec *merged)
{
    const struct wndl_heap_merged *all = merged->data;
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < merged->len; i++) {
        wndl_json_put_open_line(j);
        put_place(j, h, all[i].place);
        wndl_json_put_truth(j, "root", all[i].is_root);
        wndl_json_put_number(j, "pointers", all[i].pointers);
        wndl_json_put_number(j, "conservative", all[i].conservative);
        if (!all[i].offsets_differ)
            put_offset(j, h, all[i].offset, all[i].member);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void put_site(struct wndl_json *j, const struct wndl_heap_holders *h,
    const struct wndl_heap_site_view *v)
{
    wndl_json_put_key(j, "site");
    wndl_json_put_open(j, '{');
    wndl_json_put_number(j, "site", v->number);
    put_place(j, h, v->row.place);
    wndl_json_put_number(j, "blocks", v->row.blocks);
    wndl_json_put_number(j, "own", v->row.own);
    wndl_json_put_number(j, "retained", v->row.retained);
    wndl_json_put_number(j, "lost_blocks", v->lost);
    put_merged(j, h, "from", &v->from);
    put_merged(j, h, "to", &v->to);
    put_pointers(j, h, "chain", &v->chain);
    wndl_json_put_close(j, '}');
}

void wndl_report_json_holders(const struct wndl_heap_holders *h, bool retained,
    const char *place, struct wndl_buf *out)
{
    struct wndl_json j = {.out = out};
    wndl_json_put_open(&j, '{');
    wndl_json_put_text(&j, "format", "windlass-holders");
    wndl_json_put_number(&j, "version", SCHEMA_VERSION);
    wndl_json_put_number(&j, "bytes", h->bytes);
    wndl_json_put_number(&j, "blocks", h->graph.block_count);
    wndl_json_put_number(&j, "lost_bytes", h->lost_bytes);
    wndl_json_put_number(&j, "lost_blocks", h->lost_blocks);
    wndl_json_put_number(&j, "written", h->written);
    wndl_json_put_number(&j, "stopped", h->stopped);
    if (retained) {
        put_table(&j, h, "by_place", &h->by_place);
        put_table(&j, h, "by_root", &h->by_root);
        put_table(&j, h, "leaks", &h->leaks);
    }
    if (place != NULL)
        put_steps(&j, h, place);
    if (h->seen.len != 0)
        put_block(&j, h, wndl_vec_at(&h->seen, 0));
    if (h->seen_sites.len != 0)
        put_site(&j, h, wndl_vec_at(&h->seen_sites, 0));
    wndl_json_put_close(&j, '}');
    wndl_buf_byte(out, '\n');
}

/* ---- what grew */

static void put_changes(struct wndl_json *j,
    const struct wndl_holder_changes *c, const char *name,
    const struct wndl_vec *table)
{
    const struct wndl_holder_change *all = table->data;
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < table->len; i++) {
        wndl_json_put_open_line(j);
        wndl_json_put_string(
            j, "place", wndl_intern_get(&c->strings, all[i].place));
        wndl_json_put_number(j, "earlier", all[i].retained[0]);
        wndl_json_put_number(j, "later", all[i].retained[1]);
        wndl_json_put_number(j, "earlier_blocks", all[i].blocks[0]);
        wndl_json_put_number(j, "later_blocks", all[i].blocks[1]);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

void wndl_report_json_holder_changes(
    const struct wndl_holder_changes *c, struct wndl_buf *out)
{
    struct wndl_json j = {.out = out};
    wndl_json_put_open(&j, '{');
    wndl_json_put_text(&j, "format", "windlass-holder-changes");
    wndl_json_put_number(&j, "version", SCHEMA_VERSION);
    wndl_json_put_number(&j, "earlier", c->bytes[0]);
    wndl_json_put_number(&j, "later", c->bytes[1]);
    wndl_json_put_number(&j, "earlier_blocks", c->blocks[0]);
    wndl_json_put_number(&j, "later_blocks", c->blocks[1]);
    put_changes(&j, c, "by_place", &c->by_place);
    put_changes(&j, c, "by_root", &c->by_root);
    wndl_json_put_close(&j, '}');
    wndl_buf_byte(out, '\n');
}
