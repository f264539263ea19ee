/* SPDX-License-Identifier: MIT */
#include "analyze/check/findings.h"

#include "analyze/check/remarks.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct listing {
    struct wndl_finding_list *list;
    const struct wndl_check *check;
    const char *program;
    struct wndl_map by_identity; /* -> index + 1 of the finding */
};

/* ---- modules */

/* Whether it is below a folder of the system. */
static bool is_of_system(const char *path)
{
    static const char *const folders[] = {"/lib/", "/lib32/", "/lib64/",
        "/usr/lib", "/usr/libexec/", "/usr/bin/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (wndl_text_starts_with(path, folders[i]))
            return true;
    }
    return false;
}

/* Libraries whose functions only do what their callers ask for. */
static bool is_passing_on(const char *path)
{
    static const char *const names[] = {"libc.so", "libc-2", "ld-linux", "ld-2",
        "libm.so", "libpthread", "libstdc++.so", "libgcc_s.so", "libdl",
        "librt."};
    const char *name = wndl_check_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (wndl_text_starts_with(name, names[i]))
            return true;
    }
    return wndl_check_is_checker(path);
}

static const char *module_of(
    const struct listing *l, const struct wndl_check_frame *frame)
{
    return wndl_intern_text(&l->check->texts, frame->module);
}

static bool is_own(const struct listing *l, const char *module)
{
    return *module != '\0' &&
           ((l->program != NULL && strcmp(module, l->program) == 0) ||
               !is_of_system(module));
}

static bool is_annotation(
    const struct listing *l, const struct wndl_check_frame *frame)
{
    const char *name = wndl_intern_text(&l->check->texts, frame->function);
    return wndl_text_starts_with(name, "wndl_annotate_") ||
           wndl_text_starts_with(name, "wndl_valgrind_");
}

/* The first frame that decides whose error it is: index + 1, or 0. */
static uint32_t place_in(
    const struct listing *l, const struct wndl_check_stack *stack)
{
    for (uint32_t i = stack->first; i < stack->first + stack->count; i++) {
        const struct wndl_check_frame *f = wndl_vec_at(&l->check->frames, i);
        if (!is_passing_on(module_of(l, f)) && !is_annotation(l, f))
            return i + 1;
    }
    return stack->count == 0 ? 0 : stack->first + 1;
}

/* ---- keys */

static uint64_t mix(uint64_t hash, uint64_t more)
{
    return wndl_hash_u64(hash * 31 + more);
}

static uint64_t hash_text(const struct listing *l, uint32_t text)
{
    const struct wndl_bytes bytes = wndl_intern_get(&l->check->texts, text);
    return wndl_hash_bytes(bytes.data, bytes.size);
}

/* A function, or the module of one that has no name. */
static uint64_t hash_frame(
    const struct listing *l, const struct wndl_check_frame *frame)
{
    if (frame->function != 0)
        return hash_text(l, frame->function);
    const char *module = wndl_check_base_name(module_of(l, frame));
    return wndl_hash_bytes(module, strlen(module));
}

static uint64_t hash_stack(
    const struct listing *l, const struct wndl_check_stack *stack)
{
    uint64_t hash = 1;
    for (uint32_t i = stack->first; i < stack->first + stack->count; i++)
        hash = mix(hash, hash_frame(l, wndl_vec_at(&l->check->frames, i)));
    return hash;
}

static const struct wndl_check_stack *stack_of(
    const struct listing *l, const struct wndl_check_error *e, uint32_t index)
{
    return index < e->stacks ? wndl_vec_at(&l->check->stacks, e->first + index)
                             : NULL;
}

static bool is_kind(
    const struct listing *l, const struct wndl_check_error *e, const char *kind)
{
    return strcmp(wndl_intern_text(&l->check->texts, e->kind), kind) == 0;
}

/* The place of one access of a race. */
static uint64_t hash_access(
    const struct listing *l, const struct wndl_check_stack *stack)
{
    const uint32_t place = stack == NULL ? 0 : place_in(l, stack);
    return place == 0
               ? 0
               : hash_frame(l, wndl_vec_at(&l->check->frames, place - 1));
}

static uint64_t key_of(
    const struct listing *l, const struct wndl_check_error *e)
{
    const struct wndl_check_stack *first = stack_of(l, e, 0);
    const uint64_t kind = hash_text(l, e->kind);
    if (is_kind(l, e, "Race")) {
        const struct wndl_check_stack *other = stack_of(l, e, 1);
        const uint64_t a = hash_access(l, first);
        const uint64_t b = hash_access(l, other);
        return mix(kind, a < b ? mix(a, b) : mix(b, a));
    }
    return mix(kind, first == NULL ? 0 : hash_stack(l, first));
}

/*
 * The same with the lines of the places: errors of one function that are of one
 * kind are as many as their lines.
 */
static uint64_t identity_of(
    const struct listing *l, const struct wndl_check_error *e, uint64_t key)
{
    const uint32_t stacks = is_kind(l, e, "Race") ? 2 : 1;
    uint64_t lines = 0;
    for (uint32_t i = 0; i < stacks; i++) {
        const struct wndl_check_stack *stack = stack_of(l, e, i);
        const uint32_t place = stack == NULL ? 0 : place_in(l, stack);
        const struct wndl_check_frame *frame =
            place == 0 ? NULL : wndl_vec_at(&l->check->frames, place - 1);
        lines += frame == NULL ? 0 : wndl_hash_u64(frame->line + 1);
    }
    return mix(key, lines);
}

/* ---- groups and ranks */

static bool is_leak(const struct listing *l, const struct wndl_check_error *e)
{
    return wndl_text_starts_with(
        wndl_intern_text(&l->check->texts, e->kind), "Leak_");
}

static enum wndl_finding_group group_of(
    const struct listing *l, const struct wndl_check_error *e, uint32_t place)
{
    const struct wndl_check_frame *frame =
        place == 0 ? NULL : wndl_vec_at(&l->check->frames, place - 1);
    if (frame != NULL && !is_own(l, module_of(l, frame)) &&
        !is_passing_on(module_of(l, frame)))
        return WNDL_FINDING_FOREIGN;
    if (is_kind(l, e, "LockOrder"))
        return WNDL_FINDING_ORDER;
    return is_leak(l, e) ? WNDL_FINDING_LEAK : WNDL_FINDING_MEMORY;
}

/* The worst kinds first: what damages memory, then what reads it wrongly. */
static unsigned rank_of(const char *kind)
{
    static const char *const ranks[] = {"InvalidWrite", "InvalidFree",
        "InvalidJump", "MismatchedFree", "InvalidRead", "Overlap",
        "InvalidMemPool", "Race", "ConflictingAccess", "UninitCondition",
        "UninitValue", "SyscallParam", "ClientCheck", "LockOrder",
        "Leak_DefinitelyLost", "Leak_IndirectlyLost", "Leak_PossiblyLost"};
    const unsigned count = sizeof ranks / sizeof *ranks;
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(ranks[i], kind) == 0)
            return i;
    }
    return 8; /* beside races: misuse of locks and threads */
}

static struct wndl_check_error *error_of(
    const struct wndl_finding_list *list, const struct wndl_finding *f)
{
    return wndl_vec_at(&list->check->errors, f->error);
}

static int compare(const void *a, const void *b, void *context)
{
    const struct wndl_finding_list *list = context;
    const struct wndl_finding *x = a, *y = b;
    const struct wndl_intern *texts = &list->check->texts;
    const unsigned m =
        rank_of(wndl_intern_text(texts, error_of(list, x)->kind));
    const unsigned n =
        rank_of(wndl_intern_text(texts, error_of(list, y)->kind));
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (m != n)
        return m < n ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->runs != y->runs)
        return x->runs > y->runs ? -1 : 1;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* ---- the list */

static struct wndl_finding *finding_of(
    struct listing *l, const struct wndl_check_error *e)
{
    const uint64_t key = key_of(l, e);
    uint64_t *index = wndl_map_put(&l->by_identity, identity_of(l, e, key));
    if (index == NULL)
        return NULL;
    if (*index != 0)
        return wndl_vec_at(&l->list->findings, (size_t)*index - 1);
    struct wndl_finding *f = wndl_vec_push(&l->list->findings);
    if (f == NULL)
        return NULL;
    *index = l->list->findings.len;
    f->key = key;
    f->last_run = UINT32_MAX;
    return f;
}

/* The one with the most stacks says most: that of a run with origins. */
static bool says_more(const struct listing *l, const struct wndl_finding *f,
    const struct wndl_check_error *e)
{
    return f->times == 0 || error_of(l->list, f)->stacks < e->stacks;
}

static bool add_error(struct listing *l, uint32_t index)
{
    const struct wndl_check_error *e = wndl_vec_at(&l->check->errors, index);
    struct wndl_finding *f = finding_of(l, e);
    if (f == NULL)
        return false;
    if (says_more(l, f, e)) {
        const struct wndl_check_stack *first = stack_of(l, e, 0);
        f->error = index;
        f->place = first == NULL ? 0 : place_in(l, first);
        f->group = group_of(l, e, f->place);
        f->remark = wndl_check_remark(l->check, e);
        wndl_check_allocators(l->check, e, &f->allocated_by, &f->freed_by);
    }
    if (e->is_repeat && f->times != 0)
        return true;
    f->times += e->times;
    f->bytes += e->bytes;
    f->blocks += e->blocks;
    f->runs += f->last_run != e->run;
    f->last_run = e->run;
    return true;
}

static uint64_t line_of(
    const struct wndl_finding_list *list, const struct wndl_finding *f)
{
    const struct wndl_check_frame *frame =
        f->place == 0 ? NULL : wndl_vec_at(&list->check->frames, f->place - 1);
    return frame == NULL ? 0 : frame->line;
}

/* By key, and those of one key by their lines. */
static int compare_keys(const void *a, const void *b, void *context)
{
    const struct wndl_finding_list *list = context;
    const struct wndl_finding *x = a, *y = b;
    const uint64_t m = line_of(list, x), n = line_of(list, y);
    if (x->key != y->key)
        return x->key > y->key ? 1 : -1;
    return (m > n) - (m < n);
}

/* Makes keys different that are not, by the order of lines. */
static void number_keys(struct wndl_finding_list *list)
{
    uint64_t last = 0, rank = 0;
    for (size_t i = 0; i < list->findings.len; i++) {
        struct wndl_finding *f = wndl_vec_at(&list->findings, i);
        rank = i != 0 && f->key == last ? rank + 1 : 0;
        last = f->key;
        f->key = mix(f->key, rank);
    }
}

static void sort(struct wndl_finding_list *list,
    int (*order)(const void *, const void *, void *))
{
    if (list->findings.len != 0)
        qsort_r(list->findings.data, list->findings.len,
            sizeof(struct wndl_finding), order, list);
}

static void compare_baseline(struct wndl_finding_list *list)
{
    for (size_t i = 0; i < list->findings.len; i++) {
        struct wndl_finding *f = wndl_vec_at(&list->findings, i);
        f->is_new = true;
        for (size_t k = 0; k < list->known.len; k++) {
            struct wndl_known_finding *known = wndl_vec_at(&list->known, k);
            if (known->key != f->key)
                continue;
            known->is_seen = true;
            f->is_new = false;
        }
    }
}

static struct wndl_kind_count *kind_of(
    struct wndl_finding_list *list, uint32_t kind)
{
    for (size_t i = 0; i < list->kinds.len; i++) {
        struct wndl_kind_count *k = wndl_vec_at(&list->kinds, i);
        if (k->kind == kind)
            return k;
    }
    struct wndl_kind_count *k = wndl_vec_push(&list->kinds);
    if (k != NULL)
        k->kind = kind;
    return k;
}

static bool count_kinds(struct wndl_finding_list *list)
{
    for (size_t i = 0; i < list->findings.len; i++) {
        const struct wndl_finding *f = wndl_vec_at(&list->findings, i);
        struct wndl_kind_count *k = kind_of(list, error_of(list, f)->kind);
        if (k == NULL)
            return false;
        k->distinct++;
        k->times += f->times;
    }
    return true;
}

bool wndl_findings_list(struct wndl_finding_list *list, const char *program)
{
    struct wndl_arena *arena = list->known.arena;
    struct listing l = {.list = list, .check = list->check, .program = program};
    wndl_map_init(&l.by_identity, arena);
    wndl_vec_init(&list->findings, arena, sizeof(struct wndl_finding));
    wndl_vec_init(&list->kinds, arena, sizeof(struct wndl_kind_count));
    for (size_t i = 0; i < list->check->errors.len; i++) {
        if (!add_error(&l, (uint32_t)i))
            return false;
    }
    sort(list, compare_keys);
    number_keys(list);
    sort(list, compare);
    compare_baseline(list);
    return count_kinds(list);
}
