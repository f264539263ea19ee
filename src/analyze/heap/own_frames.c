/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "analyze/heap/own_frames.h"

#include "analyze/heap/alloc_fn.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- walks */

bool wndl_own_walk_next(struct wndl_own_walk *w, uint32_t *function)
{
    if (w->node == 0)
        return false;
    const struct wndl_node *node = wndl_vec_at(&w->s->profile->nodes, w->node);
    const struct wndl_span *span = wndl_vec_at(&w->s->spans, node->frame);
    *function = wndl_symbolized_location(w->s, span, w->location)->function;
    if (++w->location >= span->count) {
        w->node = node->parent;
        w->location = 0;
    }
    return true;
}

static const struct wndl_function *function_at(
    const struct wndl_own_frames *own, uint32_t function)
{
    return wndl_vec_at(&own->s->functions, function);
}

static bool is_own(const struct wndl_own_frames *own, uint32_t function)
{
    return own->is_own[function_at(own, function)->module];
}

bool wndl_own_frames_has(const struct wndl_own_frames *own, uint32_t function)
{
    return is_own(own, function) && !own->is_wrapper[function];
}

/* ---- modules */

static bool is_executable(const struct wndl_profile *p, struct wndl_bytes path)
{
    for (size_t i = 0; i < p->processes.len; i++) {
        const struct wndl_process *process = wndl_vec_at(&p->processes, i);
        if (process->executable.size == path.size && path.size != 0 &&
            memcmp(process->executable.data, path.data, path.size) == 0)
            return true;
    }
    return false;
}

static bool is_of_system(struct wndl_bytes path)
{
    static const char *const folders[] = {
        "/lib", "/usr/lib", "/gnu/store", "/nix/store"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (wndl_bytes_start_with(path, folders[i]))
            return true;
    }
    return wndl_bytes_is(path, "[vdso]");
}

static bool find_modules(struct wndl_own_frames *own)
{
    const struct wndl_symbolized *s = own->s;
    own->is_own =
        wndl_arena_calloc(&own->arena, s->modules.len, sizeof *own->is_own);
    if (own->is_own == NULL)
        return false;
    for (size_t i = 0; i < s->modules.len; i++) {
        const struct wndl_module *m = wndl_vec_at(&s->modules, i);
        struct wndl_bytes path = wndl_intern_get(&s->strings, m->path);
        own->is_own[i] = is_executable(s->profile, path) || !is_of_system(path);
    }
    return true;
}

/* ---- wrappers */

/* A block's innermost function that is none yet, and who calls it. */
struct passed {
    uint32_t function, caller;
    uint64_t size;
};

struct finding {
    struct wndl_own_frames *own;
    const struct wndl_vec *blocks;
    struct wndl_arena arena;
    struct wndl_vec passed; /* struct passed */
    bool *is_outer;         /* by function: has one of its own inside it */
};

static bool has_name_of_wrapper(
    const struct wndl_own_frames *own, uint32_t function)
{
    static const char *const words[] = {"alloc", "strdup", "memdup"};
    struct wndl_bytes name =
        wndl_intern_get(&own->s->strings, function_at(own, function)->name);
    char text[256];
    const size_t size = name.size < sizeof text ? name.size : sizeof text - 1;
    memcpy(text, name.data, size);
    text[size] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasestr(text, words[i]) != NULL)
            return true;
    }
    return false;
}

static bool pass(struct finding *f, const struct wndl_own_blocks *blocks)
{
    struct wndl_own_walk walk = {.s = f->own->s, .node = blocks->node};
    uint32_t function;
    struct passed *first = NULL;
    bool has_caller = false;
    while (wndl_own_walk_next(&walk, &function)) {
        if (!wndl_own_frames_has(f->own, function))
            continue;
        if (first == NULL) {
            first = wndl_vec_push(&f->passed);
            if (first == NULL)
                return false;
            *first = (struct passed){.function = function,
                .caller = UINT32_MAX,
                .size = blocks->requested};
            continue;
        }
        if (!has_caller)
            first->caller = function;
        has_caller = true;
        f->is_outer[function] = true;
    }
    return true;
}

static int compare_passed(const void *a, const void *b)
{
    const struct passed *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The number of distinct sizes; `sizes` has room for all. */
static size_t distinct_sizes(
    const struct passed *passed, size_t count, uint64_t *sizes)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        sizes[i] = passed[i].size;
    qsort(sizes, count, sizeof *sizes, compare_sizes);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || sizes[i] != sizes[i - 1];
    return distinct;
}

/*
 * Whether the callers decide about the size: of all pairs of a caller and a
 * size, at most half exist. A function that makes objects has the same sizes
 * for all of its callers. `passed`: of one function, in order.
 */
static bool is_passed_on(
    const struct passed *passed, size_t count, uint64_t *sizes)
{
    size_t callers = 0, pairs = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_other =
            i == 0 || passed[i].caller != passed[i - 1].caller;
        callers += is_other;
        pairs += is_other || passed[i].size != passed[i - 1].size;
    }
    const size_t distinct = distinct_sizes(passed, count, sizes);
    return callers > 1 && distinct > 1 && 2 * pairs <= callers * distinct;
}

static bool find_some(struct finding *f, bool *any)
{
    struct passed *passed = f->passed.data;
    const size_t len = f->passed.len;
    uint64_t *sizes = wndl_arena_calloc(&f->arena, len, sizeof *sizes);
    *any = false;
    if (sizes == NULL)
        return false;
    qsort(passed, len, sizeof *passed, compare_passed);
    for (size_t i = 0, end; i < len; i = end) {
        const uint32_t function = passed[i].function;
        for (end = i; end < len && passed[end].function == function;)
            end++;
        if (f->is_outer[function] ||
            (!has_name_of_wrapper(f->own, function) &&
                !is_passed_on(passed + i, end - i, sizes)))
            continue;
        f->own->is_wrapper[function] = true;
        *any = true;
    }
    return true;
}

/* One layer of wrappers. */
static bool find_layer(struct finding *f, bool *any)
{
    const size_t functions = f->own->s->functions.len;
    *any = false;
    f->passed.len = 0;
    f->is_outer = wndl_arena_calloc(&f->arena, functions, sizeof(bool));
    if (f->is_outer == NULL)
        return false;
    for (size_t i = 0; i < f->blocks->len; i++) {
        if (!pass(f, wndl_vec_at(f->blocks, i)))
            return false;
    }
    return f->passed.len == 0 || find_some(f, any);
}

static bool find_wrappers(struct wndl_own_frames *own,
    const struct wndl_vec *blocks, struct wndl_mem *mem)
{
    enum { LAYERS = 8 };
    struct finding f = {.own = own, .blocks = blocks};
    wndl_arena_init(&f.arena, mem);
    wndl_vec_init(&f.passed, &f.arena, sizeof(struct passed));
    bool any = true;
    bool found = true;
    for (unsigned i = 0; i < LAYERS && any && found; i++)
        found = find_layer(&f, &any);
    wndl_arena_free(&f.arena);
    return found;
}

static bool find_by_name(struct wndl_own_frames *own)
{
    const size_t count = own->s->functions.len;
    own->is_wrapper =
        wndl_arena_calloc(&own->arena, count, sizeof *own->is_wrapper);
    for (size_t i = 0; i < count && own->is_wrapper != NULL; i++)
        own->is_wrapper[i] = wndl_heap_alloc_fn(wndl_intern_get(
            &own->s->strings, function_at(own, (uint32_t)i)->name));
    return own->is_wrapper != NULL || count == 0;
}

bool wndl_own_frames_init(struct wndl_own_frames *own,
    const struct wndl_symbolized *s, const struct wndl_vec *blocks,
    struct wndl_mem *mem)
{
    *own = (struct wndl_own_frames){.s = s};
    wndl_arena_init(&own->arena, mem);
    return find_modules(own) && find_by_name(own) &&
           find_wrappers(own, blocks, mem);
}

void wndl_own_frames_free(struct wndl_own_frames *own)
{
    wndl_arena_free(&own->arena);
}
