/* SPDX-License-Identifier: MIT */
/* report_text_heap_places: whose the parts of resident memory are. */
#include "out/report_text/heap.h"
#include "out/report_text/report_text.h"

#include <inttypes.h>

enum { ROWS = 5, BEFORE_NAMES = 52 };

/* One kind of memory. */
struct table {
    const struct wndl_heap_report *r;
    enum wndl_memory_kind kind;
    unsigned width;
    struct wndl_buf *out;
};

static void put_row(
    const struct table *t, uint64_t most, uint64_t last, struct wndl_buf *name)
{
    const struct wndl_text_layout layout = {0};
    const struct wndl_text text = {.layout = &layout, .out = t->out};
    char texts[2][WNDL_NUMBER_SIZE];
    wndl_buf_printf(t->out, "  %15s          %15s          ",
        wndl_text_number(most, texts[0]), wndl_text_number(last, texts[1]));
    wndl_text_cut(&text, (struct wndl_bytes){name->data, name->size},
        t->width > BEFORE_NAMES ? t->width - BEFORE_NAMES : 0);
    wndl_buf_byte(t->out, '\n');
    t->out->failed |= name->failed;
    wndl_buf_free(name);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static struct wndl_heap_stack stack_of(
    const struct wndl_heap_list *list, uint32_t leaf)
{
    struct wndl_heap_stack stack = {.leaf = leaf};
    for (; leaf != 0; leaf = wndl_heap_frame_at(list, leaf)->caller)
        stack.count++;
    return stack;
}

static void put_name(const struct table *t,
    const struct wndl_resident_place *place, struct wndl_buf *out)
{
    char number[WNDL_NUMBER_SIZE];
    if (place->is_caller)
        wndl_report_heap_callers(
            &t->r->peak_list, stack_of(&t->r->peak_list, place->leaf), out);
    else if (place->name.size != 0)
        wndl_buf_add(out, place->name.data, place->name.size);
    else
        wndl_buf_printf(out, "arena at 0x%" PRIx64, place->start);
    if (place->last_live != 0)
        wndl_buf_printf(out, ", at last kept: %s",
            wndl_text_number(less(place->last, place->last_live - 1), number));
}

static bool is_in(const struct table *t, const struct wndl_resident_place *p)
{
    return p->kind == t->kind;
}

static void put_text(const struct table *t, uint64_t most, uint64_t last,
    const char *text, size_t count)
{
    struct wndl_buf name;
    wndl_buf_init(&name, t->out->mem);
    if (count != 0)
        wndl_buf_printf(&name, "%zu ", count);
    wndl_buf_text(&name, text);
    put_row(t, most, last, &name);
}

/*
 * Callers and the rest sum to the part. Other allocators than glibc's map their
 * blocks by calls that are seen, which are in another part, too.
 */
static void put_rest_of_mapped(
    const struct table *t, uint64_t most, uint64_t last)
{
    const uint64_t part[] = {t->r->resident_most.parts[WNDL_RESIDENT_MAPPED],
        t->r->resident_last.parts[WNDL_RESIDENT_MAPPED]};
    if (part[0] > most || part[1] > last)
        put_text(t, less(part[0], most), less(part[1], last),
            "by the libc, by ld.so, or before the process was recorded", 0);
    if (part[0] < most || part[1] < last)
        put_text(t, less(most, part[0]), less(last, part[1]),
            "of these in live blocks, and not in the line above", 0);
}

static void put_table(const struct table *t, const char *title)
{
    const struct wndl_resident_place *places = t->r->places.data;
    uint64_t most = 0, last = 0, all_most = 0, all_last = 0;
    size_t rows = 0;
    for (size_t i = 0; i < t->r->places.len; i++) {
        struct wndl_buf name;
        if (!is_in(t, &places[i]))
            continue;
        if (rows++ == 0)
            wndl_buf_printf(t->out, "  %s\n", title);
        all_most += places[i].most;
        all_last += places[i].last;
        if (rows > ROWS) {
            most += places[i].most;
            last += places[i].last;
            continue;
        }
        wndl_buf_init(&name, t->out->mem);
        put_name(t, &places[i], &name);
        put_row(t, places[i].most, places[i].last, &name);
    }
    if (rows > ROWS)
        put_text(t, most, last, "others", rows - ROWS);
    if (rows != 0 && t->kind == WNDL_MEMORY_MAPPED)
        put_rest_of_mapped(t, all_most, all_last);
}

void wndl_text_places(
    const struct wndl_heap_report *r, unsigned width, struct wndl_buf *out)
{
    static const struct {
        enum wndl_memory_kind kind;
        const char *title;
    } tables[] = {
        {WNDL_MEMORY_MAPPED, "of what is mapped, by the callers of mmap:"},
        {WNDL_MEMORY_HEAP, "of live blocks and what is kept, by arena:"},
        {WNDL_MEMORY_CODE, "of code, by module:"},
        {WNDL_MEMORY_DATA, "of data, by file or caller:"},
        {WNDL_MEMORY_SHARED, "of shared memory:"},
    };
    if (r->places.len != 0)
        wndl_buf_byte(out, '\n');
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        put_table(
            &(struct table){r, tables[i].kind, width, out}, tables[i].title);
}
