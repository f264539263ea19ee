/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "out/view/view.h"

#include <libdeflate.h>
#include <string.h>

/* ---- columns that the recordings share */

/* Each file once, though both recordings may have it. */
static void add_sources(struct wndl_view_writer *w)
{
    struct wndl_map seen;
    wndl_map_init(&seen, &w->arena);
    wndl_vec_init(&w->sources, &w->arena, sizeof(struct wndl_view_source_ids));
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_vec *list = w->view->recordings[r].sources;
        for (size_t i = 0; list != NULL && i < list->len; i++) {
            const struct wndl_view_source *source = wndl_vec_at(list, i);
            uint32_t file = wndl_view_string(w, source->file);
            uint64_t *slot = wndl_map_put(&seen, file);
            if (slot != NULL && *slot != 0)
                continue;
            struct wndl_view_source_ids *ids = wndl_vec_push(&w->sources);
            w->failed = w->failed || slot == NULL || ids == NULL;
            if (w->failed)
                return;
            *slot = 1;
            ids->file = file;
            ids->text = wndl_view_string(w, source->text);
        }
    }
}

/* Where two recordings have a function, the page shows the later one's code. */
static void add_codes(struct wndl_view_writer *w)
{
    wndl_vec_init(&w->codes, &w->arena, sizeof(struct wndl_view_code_ids));
    for (size_t r = w->view->count; r-- > 0;) {
        const struct wndl_vec *list = w->view->recordings[r].codes;
        for (size_t i = 0; list != NULL && i < list->len; i++) {
            const struct wndl_view_code *code = wndl_vec_at(list, i);
            struct wndl_view_code_ids *ids = wndl_vec_push(&w->codes);
            if (ids == NULL) {
                w->failed = true;
                return;
            }
            ids->function = w->merged.parts[r].functions[code->function];
            ids->text = wndl_view_string(w, code->text);
        }
    }
}

/* A column of u32 that are members of the elements of a list. */
static void add_member(struct wndl_view_writer *w, const char *name,
    const struct wndl_vec *list, size_t offset)
{
    for (size_t i = 0; i < list->len; i++) {
        uint32_t value;
        memcpy(&value, (const uint8_t *)wndl_vec_at(list, i) + offset,
            sizeof value);
        w->numbers[i] = value;
    }
    bool delta = strcmp(name, "nodes.parent") == 0;
    wndl_view_numbers(&w->columns, name, w->numbers, list->len, delta);
}

static bool is_unnamed(const struct wndl_vec *list, size_t i)
{
    const struct wndl_function *function = wndl_vec_at(list, i);
    return function->unnamed;
}

static bool is_inlined(const struct wndl_vec *list, size_t i)
{
    const struct wndl_location *location = wndl_vec_at(list, i);
    return location->inlined;
}

static void add_truths(struct wndl_view_writer *w, const char *name,
    const struct wndl_vec *list,
    bool (*is)(const struct wndl_vec *list, size_t i))
{
    uint8_t *truths = wndl_arena_alloc(&w->arena, list->len + 1);
    w->failed = w->failed || truths == NULL;
    if (w->failed)
        return;
    for (size_t i = 0; i < list->len; i++)
        truths[i] = is(list, i);
    wndl_view_bytes(&w->columns, name, truths, list->len);
}

static void add_code(struct wndl_view_writer *w)
{
    const struct wndl_merged *m = &w->merged;
    const struct {
        const char *name;
        const struct wndl_vec *list;
        size_t offset;
    } columns[] = {
        {"functions.name", &m->symbolized.functions,
            offsetof(struct wndl_function, name)},
        {"functions.file", &m->symbolized.functions,
            offsetof(struct wndl_function, file)},
        {"functions.line", &m->symbolized.functions,
            offsetof(struct wndl_function, line)},
        {"functions.module", &m->symbolized.functions,
            offsetof(struct wndl_function, module)},
        {"locations.function", &m->symbolized.locations,
            offsetof(struct wndl_location, function)},
        {"locations.file", &m->symbolized.locations,
            offsetof(struct wndl_location, file)},
        {"locations.line", &m->symbolized.locations,
            offsetof(struct wndl_location, line)},
        {"nodes.parent", &m->profile.nodes, offsetof(struct wndl_node, parent)},
        {"nodes.location", &m->profile.nodes,
            offsetof(struct wndl_node, frame)},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        add_member(w, columns[i].name, columns[i].list, columns[i].offset);
    add_truths(w, "functions.unnamed", &m->symbolized.functions, is_unnamed);
    add_truths(w, "locations.inlined", &m->symbolized.locations, is_inlined);
    wndl_view_bytes(&w->columns, "nodes.how", m->hows.data, m->hows.len);
}

/* ---- getting ready */

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t longest_column(const struct wndl_view_writer *w)
{
    const struct wndl_merged *m = &w->merged;
    size_t samples = 0, blocks = 0, marks = 0, pauses = 0, sizes = 0;
    size_t heaps = 0;
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_profile *p = wndl_view_profile(w, r);
        samples += p->samples.len;
        blocks += p->blocks.len;
        marks += p->marks.len;
        pauses += p->pauses.len;
        sizes += p->sizes.len;
        for (size_t i = 0; i < p->heaps.len; i++) {
            const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
            heaps = larger_of(heaps, larger_of(heap->moments.len,
                                         heap->counts.len + heap->lived.len));
        }
    }
    size_t code = larger_of(m->symbolized.functions.len,
        larger_of(m->symbolized.locations.len, m->profile.nodes.len));
    return larger_of(
        larger_of(larger_of(samples, blocks), larger_of(marks, pauses)),
        larger_of(larger_of(heaps, sizes), code));
}

static bool merge_recordings(struct wndl_view_writer *w)
{
    uint32_t processes = 0, threads = 0;
    for (size_t r = 0; r < w->view->count; r++) {
        const struct wndl_symbolized *s = w->view->recordings[r].symbolized;
        if (!wndl_merged_add(&w->merged, s))
            return false;
        w->first_process[r] = processes;
        w->first_thread[r] = threads;
        processes += (uint32_t)s->profile->processes.len;
        threads += (uint32_t)s->profile->threads.len;
    }
    w->numbers =
        wndl_arena_calloc(&w->arena, longest_column(w) + 1, sizeof *w->numbers);
    return w->numbers != NULL;
}

/* ---- writing */

/*
 * JSON inside of a page must not contain what looks like the page's own tags.
 */
static void write_head(FILE *out, const struct wndl_buf *head)
{
    const uint8_t *p = head->data, *end = p + head->size;
    for (const uint8_t *from = p;; p++) {
        const char *instead = NULL;
        size_t size = 1;
        if (p < end && *p == '<') {
            instead = "\\u003c";
        } else if (end - p >= 3 && p[0] == 0xe2 && p[1] == 0x80 &&
                   (p[2] == 0xa8 || p[2] == 0xa9)) {
            instead = p[2] == 0xa8 ? "\\u2028" : "\\u2029";
            size = 3;
        }
        if (p < end && instead == NULL)
            continue;
        fwrite(from, 1, (size_t)(p - from), out);
        if (p == end)
            return;
        fputs(instead, out);
        p += size - 1;
        from = p + 1;
    }
}

/* Adds `data`, zipped, as text. */
static bool pack_data(struct wndl_buf *text, const struct wndl_buf *data)
{
    enum { LEVEL = 6 };
    struct libdeflate_compressor *packer = libdeflate_alloc_compressor(LEVEL);
    if (packer == NULL)
        return false;
    struct wndl_buf zipped;
    wndl_buf_init(&zipped, text->mem);
    size_t room = libdeflate_gzip_compress_bound(packer, data->size);
    uint8_t *to = wndl_buf_reserve(&zipped, room);
    if (to != NULL)
        zipped.size =
            libdeflate_gzip_compress(packer, data->data, data->size, to, room);
    libdeflate_free_compressor(packer);
    wndl_buf_base64(text, (struct wndl_bytes){zipped.data, zipped.size});
    bool whole = !zipped.failed && !text->failed;
    wndl_buf_free(&zipped);
    return whole;
}

static void write_data(FILE *out, const char *id, const struct wndl_buf *data)
{
    fprintf(out, "<script type=\"text/plain\" id=\"%s\">", id);
    fwrite(data->data, 1, data->size, out);
    fputs("</script>", out);
}

struct packed {
    struct wndl_buf head, data, later;
};

static void write_page(
    FILE *out, struct wndl_bytes page, const struct packed *packed)
{
    static const char marker[] = WNDL_VIEW_MARKER;
    const uint8_t *at = memmem(page.data, page.size, marker, sizeof marker - 1);
    size_t before = at == NULL ? page.size : (size_t)(at - page.data);
    fwrite(page.data, 1, before, out);
    fputs("<script type=\"application/json\" id=\"windlass-head\">", out);
    write_head(out, &packed->head);
    fputs("</script>\n", out);
    write_data(out, "windlass-data", &packed->data);
    fputs("\n", out);
    write_data(out, "windlass-later", &packed->later);
    if (at != NULL)
        fwrite(at + sizeof marker - 1, 1,
            page.size - before - (sizeof marker - 1), out);
}

static bool have_failed(const struct wndl_view_columns *columns)
{
    return columns->data.failed || columns->head.failed;
}

static bool pack_all(struct wndl_view_writer *w, struct packed *packed)
{
    wndl_view_put_head(w, &packed->head);
    return !w->failed && !have_failed(&w->columns) && !have_failed(&w->later) &&
           !packed->head.failed && pack_data(&packed->data, &w->columns.data) &&
           pack_data(&packed->later, &w->later.data);
}

static bool write_all(struct wndl_view_writer *w, FILE *out)
{
    struct wndl_mem *mem = w->arena.mem;
    struct packed packed;
    if (!merge_recordings(w))
        return false;
    add_code(w);
    wndl_view_add_times(w);
    wndl_view_add_heaps(w);
    wndl_view_add_memory(w);
    add_sources(w);
    add_codes(w);
    wndl_view_add_strings(w);
    wndl_buf_init(&packed.head, mem);
    wndl_buf_init(&packed.data, mem);
    wndl_buf_init(&packed.later, mem);
    const bool whole = pack_all(w, &packed);
    if (whole)
        write_page(out, w->view->page, &packed);
    wndl_buf_free(&packed.later);
    wndl_buf_free(&packed.data);
    wndl_buf_free(&packed.head);
    return whole;
}

static void init_columns(
    struct wndl_view_columns *columns, struct wndl_mem *mem)
{
    wndl_buf_init(&columns->data, mem);
    wndl_buf_init(&columns->head, mem);
}

static void free_columns(struct wndl_view_columns *columns)
{
    wndl_buf_free(&columns->head);
    wndl_buf_free(&columns->data);
}

bool wndl_view_write(
    FILE *out, const struct wndl_viewed *view, struct wndl_mem *mem)
{
    struct wndl_view_writer w = {.view = view, .later.later = true};
    if (!wndl_merged_init(&w.merged, mem))
        return false;
    wndl_arena_init(&w.arena, mem);
    init_columns(&w.columns, mem);
    init_columns(&w.later, mem);
    bool whole = write_all(&w, out);
    free_columns(&w.later);
    free_columns(&w.columns);
    wndl_arena_free(&w.arena);
    wndl_merged_free(&w.merged);
    return whole;
}
