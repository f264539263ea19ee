/* SPDX-License-Identifier: MIT */
#include "out/vm/mvp_text.h"

#include "base/utf8.h"
#include "out/vm/text.h"

#include <inttypes.h>
#include <string.h>

static void add_number(struct wndl_buf *out, uint64_t value)
{
    char text[32];
    wndl_buf_text(out, wndl_vm_number(value, text));
}

/* ---- totals */

static void add_loads(
    struct wndl_buf *out, const char *what, uint64_t loads, uint64_t sites)
{
    wndl_buf_text(out, what);
    add_number(out, loads);
    wndl_buf_text(out, " at ");
    add_number(out, sites);
    wndl_buf_text(out, sites == 1 ? " site\n" : " sites\n");
}

static void add_head(struct wndl_buf *out, const struct wndl_mvp_view *view)
{
    const struct wndl_mvp_totals *t = &view->totals;
    wndl_buf_printf(
        out, "%s: process %" PRIu64 "\n", view->mvp->command, view->mvp->pid);
    if (view->mvp->is_running)
        wndl_buf_text(out, "A part of the run: the program went on, and was "
                           "killed or started another in its place\n");
    add_loads(out, "Loads that are not of a stack: ", t->loads, t->sites);
    add_loads(out, "Of vectors, which are counted apart: ", t->wide_loads,
        t->wide_sites);
}

/* ---- sites */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* "0x40057E: main (file:25)" */
static void add_place(struct wndl_buf *out, const struct wndl_callgraph *g,
    uint64_t ip, uint32_t index)
{
    const struct wndl_callgraph_place *place =
        wndl_callgraph_place_at(g, index);
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(g, place->function);
    const uint32_t file = place->file == 0 ? f->file : place->file;
    wndl_buf_printf(
        out, "0x%" PRIX64 ": %s ", ip, wndl_intern_text(&g->strings, f->name));
    if (file == 0)
        wndl_buf_printf(out, "(in %s)\n",
            base_name(wndl_intern_text(&g->strings, f->object)));
    else
        wndl_buf_printf(out, "(%s:%u)\n",
            base_name(wndl_intern_text(&g->strings, file)), place->line);
}

static void add_site(struct wndl_buf *out, const struct wndl_mvp_site *site)
{
    wndl_buf_text(out, "wasted ");
    add_number(out, wndl_mvp_wasted(site));
    wndl_buf_printf(
        out, "  (%u/%u cbs, ", wndl_mvp_constant_bits(site), 8 * site->size);
    add_number(out, site->sectors);
    wndl_buf_text(out, " sects)  ");
}

static void add_wide_site(
    struct wndl_buf *out, const struct wndl_mvp_site *site)
{
    add_number(out, site->loads);
    wndl_buf_printf(out, " loads of %u bytes  (", site->size);
    add_number(out, site->sectors);
    wndl_buf_text(out, " sects)  ");
}

static void add_sites(struct wndl_buf *out, const struct wndl_mvp_view *view,
    bool are_wide, size_t max_rows)
{
    size_t count = 0;
    for (size_t i = 0; i < view->rows->len; i++) {
        const struct wndl_mvp_row *row = wndl_vec_at(view->rows, i);
        if (row->site->is_wide != are_wide || count++ >= max_rows)
            continue;
        if (are_wide)
            add_wide_site(out, row->site);
        else
            add_site(out, row->site);
        add_place(out, view->graph, row->site->ip, row->place);
    }
    if (count > max_rows) {
        add_number(out, count - max_rows);
        wndl_buf_text(out, " more sites: -n N\n");
    }
}

/* ---- data */

static void add_count(struct wndl_buf *out, uint64_t count, const char *what)
{
    add_number(out, count);
    wndl_buf_printf(out, " %s%s", what, count == 1 ? "" : "s");
}

static void add_mappings(struct wndl_buf *out, const struct wndl_mvp_view *view)
{
    const struct wndl_vec *mappings = &view->mvp->mappings;
    const uint64_t loads = view->heap.loads;
    wndl_buf_printf(out, "\nLoads in blocks of the heap: %.1f %%\n",
        loads == 0
            ? 0
            : 100.0 * (double)view->heap.loads_in_blocks / (double)loads);
    for (size_t i = 0; i < mappings->len; i++) {
        const struct wndl_mvp_mapping *m = wndl_vec_at(mappings, i);
        const double share = 100.0 * (double)m->loads / (double)loads;
        if (loads != 0 && share >= 0.05)
            wndl_buf_printf(out, "  in no block, in %s: %.1f %%\n",
                base_name(m->name), share);
    }
}

static void add_value(
    struct wndl_buf *out, const struct wndl_mvp_field *field, uint64_t value)
{
    const unsigned unused = 64 - 8 * field->size;
    const int64_t number = (int64_t)(value << unused) >> unused;
    if (number >= -(1 << 20) && number < 1 << 20)
        wndl_buf_printf(out, "%" PRId64, number);
    else
        wndl_buf_printf(out, "0x%" PRIx64, value);
}

static void add_values(struct wndl_buf *out, const struct wndl_mvp_field *field)
{
    for (uint32_t i = 0; i < field->value_count; i++) {
        wndl_buf_text(out, i == 0 ? "" : ", ");
        add_value(out, field, field->values[i]);
    }
}

static void add_waste(struct wndl_buf *out, const struct wndl_mvp_field *field)
{
    switch (field->waste) {
    case WNDL_MVP_CONSTANT:
        wndl_buf_text(out, "; always ");
        add_value(out, field, field->first);
        break;
    case WNDL_MVP_EQUAL:
        wndl_buf_printf(out, "; equals offset %" PRIu64, field->same);
        break;
    case WNDL_MVP_POINTER:
        wndl_buf_text(out, "; a pointer");
        break;
    case WNDL_MVP_FEW:
        wndl_buf_printf(out, "; %u values: ", field->value_count);
        add_values(out, field);
        break;
    case WNDL_MVP_NARROW:
        wndl_buf_printf(out, "; %sint%u_t would do",
            field->is_signed ? "" : "u", 8 * field->needed);
        break;
    case WNDL_MVP_FULL:
        break;
    }
    wndl_buf_byte(out, '\n');
}

static uint32_t constant_bits(const struct wndl_mvp_field *field)
{
    const struct wndl_mvp_site site = {
        .size = field->size, .varying = field->varying, .signs = field->signs};
    return wndl_mvp_constant_bits(&site);
}

static void add_field(struct wndl_buf *out, const struct wndl_mvp_field *field)
{
    wndl_buf_printf(out, "  offset %" PRIu64 ", %u byte%s", field->offset,
        field->size, field->size == 1 ? "" : "s");
    if (field->name[0] != '\0')
        wndl_buf_printf(out, ", %s", field->name);
    wndl_buf_printf(
        out, ": %u of %u bits constant", constant_bits(field), 8 * field->size);
    add_waste(out, field);
}

static void add_gap(struct wndl_buf *out, const struct wndl_mvp_gap *gap)
{
    const bool is_one = gap->end - gap->start == 1;
    wndl_buf_printf(out, "  byte%s %" PRIu64, is_one ? "" : "s", gap->start);
    if (!is_one)
        wndl_buf_printf(out, "-%" PRIu64, gap->end - 1);
    if (gap->name[0] != '\0')
        wndl_buf_printf(out, " (%s)", gap->name);
    wndl_buf_printf(out, " never %s\n",
        !gap->is_unwritten ? "read"
        : gap->is_unread   ? "read or written"
                           : "written");
}

static void add_ordered(struct wndl_buf *out,
    const struct wndl_mvp_field *field, const char *before)
{
    wndl_buf_printf(out, "%s%s", before, field->name);
    if (field->needed < field->size)
        wndl_buf_printf(
            out, " (%u byte%s)", field->needed, field->needed == 1 ? "" : "s");
}

/* The members that are needed, the largest first. */
static void add_order(struct wndl_buf *out, const struct wndl_mvp_data *data)
{
    const char *before = ": ";
    for (uint32_t size = 8; size > 0; size /= 2)
        for (uint32_t i = 0; i < data->field_count; i++) {
            const struct wndl_mvp_field *field = &data->fields[i];
            if (field->needed != size || field->name[0] == '\0')
                continue;
            add_ordered(out, field, before);
            before = ", ";
        }
}

static void add_enough(struct wndl_buf *out, const struct wndl_mvp_data *data)
{
    if (data->needed == 1)
        wndl_buf_text(out, "  1 byte is enough");
    else
        wndl_buf_printf(out,
            "  %" PRIu64 " bytes are enough, the largest fields first",
            data->needed);
    if (data->type[0] != '\0')
        add_order(out, data);
    wndl_buf_byte(out, '\n');
}

/* The bytes that the order alone saves. */
static void add_reordered(
    struct wndl_buf *out, const struct wndl_mvp_data *data)
{
    uint64_t saved;
    if (__builtin_mul_overflow(data->size - data->ordered, data->count, &saved))
        saved = UINT64_MAX;
    wndl_buf_printf(
        out, "  %" PRIu64 " bytes in another order, saves ", data->ordered);
    add_number(out, saved);
    wndl_buf_printf(out, ": %s\n", data->order);
}

static void add_data(struct wndl_buf *out, const struct wndl_mvp_data *data)
{
    wndl_buf_text(out, "saves ");
    add_number(out, data->saved);
    wndl_buf_text(out, " of ");
    add_number(out, data->bytes);
    wndl_buf_text(out, " bytes  ");
    if (data->type[0] != '\0')
        wndl_buf_printf(out, "%s%s, ", data->type,
            data->type_is_inferred ? " (inferred)" : "");
    add_count(out, data->blocks, "block");
    if (data->size != 0) {
        wndl_buf_text(out, data->is_array ? ", elements of " : " of ");
        add_count(out, data->size, "byte");
    }
    wndl_buf_printf(out, "  allocated by %s\n", data->text);
    for (uint32_t i = 0; i < data->field_count; i++)
        add_field(out, &data->fields[i]);
    for (uint32_t i = 0; i < data->gap_count; i++)
        add_gap(out, &data->gaps[i]);
    if (data->needed < data->size)
        add_enough(out, data);
    if (data->ordered != 0)
        add_reordered(out, data);
}

static void add_twins(struct wndl_buf *out, const struct wndl_mvp_twins *twins)
{
    wndl_buf_text(out, "saves ");
    add_number(out, twins->saved);
    wndl_buf_text(out, " bytes  ");
    add_count(out, twins->blocks, "pair");
    wndl_buf_printf(out,
        ": the pointer %s%sat offset %" PRIu64 " of %" PRIu64
        " bytes allocated by %s leads to %" PRIu64 " bytes allocated by %s\n",
        twins->name, twins->name[0] == '\0' ? "" : " ", twins->offset,
        twins->size, twins->text, twins->child_size, twins->child);
}

static void add_heap(
    struct wndl_buf *out, const struct wndl_mvp_view *view, size_t max_rows)
{
    const struct wndl_vec *data = view->heap.data;
    const struct wndl_vec *twins = view->heap.twins;
    add_mappings(out, view);
    wndl_buf_text(out, "\nData in blocks that smaller types would save: ");
    add_count(out, view->heap.saved, "byte");
    wndl_buf_text(out, "\nConstant bits of pointers, not among them: ");
    add_count(out, view->heap.pointer_bits / 8, "byte");
    wndl_buf_text(out, "\n\n");
    for (size_t i = 0; i < data->len && i < max_rows; i++)
        add_data(out, wndl_vec_at(data, i));
    if (data->len > max_rows) {
        add_number(out, data->len - max_rows);
        wndl_buf_text(out, " more lines that allocate: -n N\n");
    }
    if (twins->len != 0)
        wndl_buf_text(out, "\nBlocks that could be one with another:\n");
    for (size_t i = 0; i < twins->len && i < max_rows; i++)
        add_twins(out, wndl_vec_at(twins, i));
}

/* Names of a binary may hold any bytes. */
bool wndl_mvp_text(
    struct wndl_buf *out, const struct wndl_mvp_view *view, size_t max_rows)
{
    struct wndl_buf text;
    wndl_buf_init(&text, out->mem);
    add_head(&text, view);
    wndl_buf_byte(&text, '\n');
    add_sites(&text, view, false, max_rows);
    if (view->totals.wide_sites != 0) {
        wndl_buf_text(&text, "\nLoads of vectors, whose bits are not known:\n");
        add_sites(&text, view, true, max_rows);
    }
    if (view->mvp->heaps.len != 0)
        add_heap(&text, view, max_rows);
    else if (view->mvp->mappings.len != 0)
        wndl_buf_text(&text, "\nNo block of the heap is known: the program is "
                             "static, or has an allocator of its own\n");
    wndl_utf8_plain_lines(out, &text);
    wndl_buf_free(&text);
    return !out->failed;
}
