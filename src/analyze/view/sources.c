/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/view/sources.h"

#include "analyze/annotate/source_text.h"
#include "model/heap.h"
#include "os/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 2000, NS_PER_SECOND = 1000000000 };

/* A file, with the cost of its code. */
struct candidate {
    uint32_t file; /* id */
    uint32_t module;
    uint64_t score;
};

struct work {
    const struct wndl_symbolized *s;
    const char *const *maps; /* FROM=TO */
    struct wndl_arena arena;
    uint64_t *self, *total;  /* of nodes: samples, blocks, allocations */
    struct candidate *files; /* by id */
};

/* ---- costs by file */

static void count_events(struct work *w)
{
    const struct wndl_profile *p = w->s->profile;
    const struct wndl_sample *samples = p->samples.data;
    const struct wndl_block *blocks = p->blocks.data;
    for (size_t i = 0; i < p->samples.len; i++)
        w->self[samples[i].node]++;
    for (size_t i = 0; i < p->blocks.len; i++)
        w->self[blocks[i].node]++;
    for (size_t i = 0; i < p->heaps.len; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
        const struct wndl_alloc_site *sites = heap->sites.data;
        const struct wndl_alloc_counts *counts = heap->counts.data;
        for (size_t k = 0; k < heap->counts.len; k++)
            w->self[sites[counts[k].site].node] += counts[k].allocs;
    }
}

/* The cost of stacks that end in a function counts more than that of others. */
static void add_score(struct work *w, uint32_t node)
{
    enum { SELF = 4 };
    const struct wndl_node *at = wndl_vec_at(&w->s->profile->nodes, node);
    const struct wndl_span *span = wndl_vec_at(&w->s->spans, at->frame);
    for (uint32_t i = 0; i < span->count; i++) {
        const struct wndl_location *location =
            wndl_symbolized_location(w->s, span, i);
        const struct wndl_function *function =
            wndl_vec_at(&w->s->functions, location->function);
        struct candidate *file = &w->files[location->file];
        file->module = function->module;
        file->score += w->total[node] + (i == 0 ? SELF * w->self[node] : 0);
    }
}

static void score_files(struct work *w)
{
    const struct wndl_vec *nodes = &w->s->profile->nodes;
    for (uint32_t i = (uint32_t)nodes->len; i-- > 1;) {
        const struct wndl_node *node = wndl_vec_at(nodes, i);
        w->total[i] += w->self[i];
        w->total[node->parent] += w->total[i];
        add_score(w, i);
    }
}

static int compare_files(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->file > y->file) - (x->file < y->file);
}

/* ---- which files are sources, and as they were */

static bool is_source_name(const char *path)
{
    static const char *const ends[] = {".c", ".h", ".cc", ".cpp", ".cxx",
        ".c++", ".C", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp",
        ".tcc", ".m", ".mm", ".rs", ".go", ".s", ".S", ".asm", ".d", ".zig",
        ".f", ".f90", ".f95", ".F90", ".adb", ".ads", ".pas", ".swift", ".hs",
        ".ml", ".js", ".mjs", ".ts", ".py", ".y", ".l"};
    const char *end = strrchr(path, '.');
    if (end == NULL)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (strcmp(end, ends[i]) == 0)
            return true;
    }
    return false;
}

static int64_t time_of(const struct stat *facts)
{
    return facts->st_mtim.tv_sec * (int64_t)NS_PER_SECOND +
           facts->st_mtim.tv_nsec;
}

static bool is_readable(const char *path)
{
    struct stat source;
    return stat(path, &source) == 0 && S_ISREG(source.st_mode) &&
           source.st_size <= WNDL_VIEW_SOURCES_SIZE;
}

static bool is_as_it_was(
    const struct work *w, const struct candidate *candidate, const char *path)
{
    const struct wndl_module *module =
        wndl_vec_at(&w->s->modules, candidate->module);
    struct stat source, binary;
    if (path[0] != '/' || !is_readable(path) || stat(path, &source) != 0 ||
        time_of(&source) > (int64_t)w->s->profile->realtime)
        return false;
    return stat(wndl_intern_text(&w->s->strings, module->path), &binary) == 0 &&
           time_of(&source) <= time_of(&binary);
}

/* ---- taking them */

static bool take_source(struct wndl_vec *sources, struct wndl_bytes name,
    struct wndl_bytes text, size_t *left)
{
    if (text.size > *left || memchr(text.data, '\0', text.size) != NULL)
        return true;
    struct wndl_view_source *source = wndl_vec_push(sources);
    char *copy = wndl_arena_copy(sources->arena, text.data, text.size);
    if (source == NULL || copy == NULL)
        return false;
    source->file = name;
    source->text = (struct wndl_bytes){(const uint8_t *)copy, text.size};
    *left -= text.size;
    return true;
}

static bool take_file(struct work *w, struct wndl_vec *sources,
    const struct candidate *candidate, size_t *left)
{
    const char *named = wndl_intern_text(&w->s->strings, candidate->file);
    const char *path = wndl_source_map_apply(named, w->maps, &w->arena);
    struct wndl_file file;
    if (path == NULL)
        return false;
    /* A recording is a stranger's: it must not lead out of a mapped folder. */
    bool fits = path == named
                    ? is_as_it_was(w, candidate, path)
                    : is_readable(path) && strstr(path, "/../") == NULL;
    if (!is_source_name(path) || !fits ||
        wndl_file_open(path, &file, NULL) != WNDL_OK)
        return true;
    bool taken = take_source(sources,
        wndl_intern_get(&w->s->strings, candidate->file), file.bytes, left);
    wndl_file_close(&file);
    return taken;
}

static bool take_files(struct work *w, struct wndl_vec *sources, size_t count)
{
    size_t left = WNDL_VIEW_SOURCES_SIZE;
    bool taken = true;
    for (size_t i = 0; i < count && i < MOST_FILES && taken; i++)
        taken = take_file(w, sources, &w->files[i], &left);
    return taken;
}

static bool find_sources(struct work *w, struct wndl_vec *sources)
{
    size_t nodes = w->s->profile->nodes.len, count = 0;
    size_t strings = wndl_intern_count(&w->s->strings);
    w->self = wndl_arena_calloc(&w->arena, nodes, sizeof *w->self);
    w->total = wndl_arena_calloc(&w->arena, nodes, sizeof *w->total);
    w->files = wndl_arena_calloc(&w->arena, strings, sizeof *w->files);
    if (w->self == NULL || w->total == NULL || w->files == NULL)
        return false;
    count_events(w);
    score_files(w);
    for (uint32_t i = 1; i < strings; i++) {
        w->files[i].file = i;
        if (w->files[i].score != 0)
            w->files[count++] = w->files[i];
    }
    qsort(w->files, count, sizeof *w->files, compare_files);
    return take_files(w, sources, count);
}

bool wndl_view_sources(struct wndl_vec *sources,
    const struct wndl_symbolized *s, const char *const *maps,
    struct wndl_arena *arena)
{
    struct work w = {.s = s, .maps = maps};
    wndl_arena_init(&w.arena, arena->mem);
    wndl_vec_init(sources, arena, sizeof(struct wndl_view_source));
    bool found = find_sources(&w, sources);
    wndl_arena_free(&w.arena);
    return found;
}
