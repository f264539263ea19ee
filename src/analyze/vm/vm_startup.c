/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_startup.h"

#include "analyze/vm/vm_code.h"
#include "base/map.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions by address */

/* A piece of a function; a function may have several. */
struct piece {
    uint64_t start, end; /* rva */
    uint32_t function;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static bool collect_pieces(struct wndl_vec *pieces,
    const struct wndl_symbol_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < functions[i].range_count; j++) {
            const struct wndl_symbol_range *range = &functions[i].ranges[j];
            struct piece *piece = wndl_vec_push(pieces);
            if (piece == NULL)
                return false;
            *piece = (struct piece){
                range->rva, range->rva + range->size, (uint32_t)i};
        }
    }
    if (pieces->len != 0)
        qsort(pieces->data, pieces->len, pieces->element, compare_pieces);
    return true;
}

/* The first piece that ends after `rva`. */
static size_t first_piece(const struct wndl_vec *pieces, uint64_t rva)
{
    const struct piece *list = pieces->data;
    size_t count = pieces->len == 0 ? 0
                                    : wndl_search_up_to(&list->start,
                                          sizeof *list, pieces->len, rva);
    return count != 0 && list[count - 1].end > rva ? count - 1 : count;
}

/* ---- one file */

struct work {
    struct wndl_vm_startup *startup;
    struct wndl_vm_startup_file *file;
    const struct wndl_symbol_function *functions;
    struct wndl_vec pieces;
    struct wndl_map seen_pages;
    struct wndl_map seen_functions;
    uint64_t page;
    uint64_t packed; /* bytes */
};

static bool add_function(struct work *w, uint32_t index)
{
    const struct wndl_symbol_function *from = &w->functions[index];
    uint64_t *seen = wndl_map_put(&w->seen_functions, index + UINT64_C(1));
    if (seen == NULL)
        return false;
    if ((*seen)++ != 0)
        return true;
    struct wndl_vm_started *to = wndl_vec_push(&w->file->functions);
    if (to == NULL)
        return false;
    *to = (struct wndl_vm_started){.name = wndl_arena_copy(&w->startup->arena,
                                       from->mangled, strlen(from->mangled))};
    for (size_t i = 0; i < from->range_count; i++)
        to->size += from->ranges[i].size;
    w->packed += to->size;
    return to->name != NULL;
}

static bool add_pages(struct work *w, uint64_t start, uint64_t end)
{
    for (uint64_t page = start / w->page; page <= (end - 1) / w->page; page++) {
        uint64_t *seen = wndl_map_put(&w->seen_pages, page + 1);
        if (seen == NULL)
            return false;
        w->file->pages += (*seen)++ == 0;
    }
    return true;
}

static bool add_range(struct work *w, uint64_t start, uint64_t end)
{
    if (end <= start)
        return true;
    bool is_named = false;
    for (size_t i = first_piece(&w->pieces, start); i < w->pieces.len; i++) {
        const struct piece *piece = wndl_vec_at(&w->pieces, i);
        if (piece->start >= end)
            break;
        is_named = true;
        if (!add_function(w, piece->function))
            return false;
    }
    w->file->unnamed += !is_named;
    return add_pages(w, start, end);
}

static bool add_ranges(struct work *w, const struct wndl_vm *vm,
    const struct wndl_vm_code *code, uint64_t to_rva)
{
    for (size_t i = 0; i < vm->starts.len; i++) {
        const struct wndl_vm_start *range = wndl_vec_at(&vm->starts, i);
        if (range->start < code->start || range->start >= code->end)
            continue;
        uint64_t end = range->end < code->end ? range->end : code->end;
        if (!add_range(w, range->start + to_rva, end + to_rva))
            return false;
    }
    return true;
}

static bool read_file(struct work *w, const struct wndl_vm *vm,
    const struct wndl_vm_code *code, const struct wndl_symbol_sources *sources)
{
    size_t count = 0;
    struct wndl_vm_code_place place;
    struct wndl_mem *mem = w->startup->arena.mem;
    struct wndl_symbolizer *symbols = NULL;
    if (wndl_vm_code_place(code, mem, &place))
        symbols = wndl_vm_code_open(code, sources, mem);
    if (symbols == NULL)
        return true;
    bool whole = wndl_symbolizer_functions(
                     symbols, &w->functions, &count, NULL) != WNDL_NOMEM &&
                 collect_pieces(&w->pieces, w->functions, count) &&
                 add_ranges(w, vm, code, place.to_rva);
    w->file->packed_pages = (w->packed + w->page - 1) / w->page;
    wndl_symbolizer_close(symbols);
    return whole;
}

/* ---- all of them */

static bool is_known(const struct wndl_vm_startup *startup, const char *path)
{
    for (size_t i = 0; i < startup->files.len; i++) {
        const struct wndl_vm_startup_file *file =
            wndl_vec_at(&startup->files, i);
        if (strcmp(file->path, path) == 0)
            return true;
    }
    return false;
}

static bool add_file(struct wndl_vm_startup *startup, const struct wndl_vm *vm,
    const struct wndl_vm_code *code, const struct wndl_symbol_sources *sources)
{
    struct wndl_vm_startup_file *file = wndl_vec_push(&startup->files);
    struct wndl_arena scratch;
    if (file == NULL)
        return false;
    *file = (struct wndl_vm_startup_file){.path = code->path};
    wndl_vec_init(
        &file->functions, &startup->arena, sizeof(struct wndl_vm_started));
    wndl_arena_init(&scratch, startup->arena.mem);
    struct work w = {.startup = startup, .file = file, .page = vm->page};
    wndl_vec_init(&w.pieces, &scratch, sizeof(struct piece));
    wndl_map_init(&w.seen_pages, &scratch);
    wndl_map_init(&w.seen_functions, &scratch);
    bool whole = read_file(&w, vm, code, sources);
    wndl_arena_free(&scratch);
    if (file->pages == 0)
        startup->files.len--;
    return whole;
}

enum wndl_status wndl_vm_startup_find(struct wndl_vm_startup *startup,
    const struct wndl_vm *vm, const struct wndl_symbol_sources *sources,
    struct wndl_mem *mem)
{
    *startup = (struct wndl_vm_startup){0};
    wndl_arena_init(&startup->arena, mem);
    wndl_vec_init(
        &startup->files, &startup->arena, sizeof(struct wndl_vm_startup_file));
    for (size_t i = 0; i < vm->code.len; i++) {
        const struct wndl_vm_code *code = wndl_vec_at(&vm->code, i);
        if (!is_known(startup, code->path) &&
            !add_file(startup, vm, code, sources))
            return WNDL_NOMEM;
    }
    return WNDL_OK;
}

void wndl_vm_startup_free(struct wndl_vm_startup *startup)
{
    wndl_arena_free(&startup->arena);
}

/* ---- the program's own */

static struct wndl_bytes file_name(const char *path, size_t size)
{
    size_t start = size;
    while (start != 0 && path[start - 1] != '/')
        start--;
    return (struct wndl_bytes){(const uint8_t *)path + start, size - start};
}

const struct wndl_vm_startup_file *wndl_vm_startup_own(
    const struct wndl_vm_startup *startup, const char *command)
{
    const struct wndl_bytes wanted = file_name(command, strcspn(command, " "));
    const struct wndl_vm_startup_file *best = NULL;
    for (size_t i = 0; i < startup->files.len; i++) {
        const struct wndl_vm_startup_file *file =
            wndl_vec_at(&startup->files, i);
        if (wndl_bytes_equal(file_name(file->path, strlen(file->path)), wanted))
            return file;
        if (best == NULL || file->functions.len > best->functions.len)
            best = file;
    }
    return best;
}
