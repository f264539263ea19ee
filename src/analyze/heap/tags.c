/* SPDX-License-Identifier: MIT */
#include "analyze/heap/tags.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* How modules' code decides for a stack, from its innermost frame on. */
enum { UNDECIDED, OWN, FIRST_LIBRARY };

/* The work on a heap. */
struct work {
    struct wndl_profile *p;
    struct wndl_symbolized *s;
    const struct wndl_process_heap *heap;
    struct wndl_arena *scratch;
    uint32_t *of_images; /* of each: OWN and on, or UNDECIDED */
    uint32_t *of_nodes;  /* the same and 1 more; 0: not decided */
    size_t node_count;
    struct wndl_vec path;   /* uint32_t */
    struct wndl_vec frames; /* uint32_t: frame of each tag, plus 1 */
};

static bool matches(
    struct work *w, struct wndl_bytes pattern, struct wndl_bytes name)
{
    char *texts[2];
    const struct wndl_bytes both[2] = {pattern, name};
    for (int i = 0; i < 2; i++) {
        texts[i] = wndl_arena_calloc(w->scratch, both[i].size + 1, 1);
        if (texts[i] == NULL)
            return false;
        if (both[i].size != 0)
            memcpy(texts[i], both[i].data, both[i].size);
    }
    return fnmatch(texts[0], texts[1], 0) == 0;
}

/* ---- whose a module is */

static uint32_t decide_image(struct work *w, struct wndl_bytes path)
{
    const struct wndl_process *process =
        wndl_vec_at(&w->p->processes, w->heap->process);
    const struct wndl_tag_library *libraries = w->p->libraries.data;
    const struct wndl_bytes name = wndl_path_name(path);
    for (size_t i = 0; i < w->p->libraries.len; i++) {
        if (matches(w, libraries[i].pattern, name))
            return libraries[i].tag.size == 0 ? (uint32_t)OWN
                                              : FIRST_LIBRARY + (uint32_t)i;
    }
    return wndl_bytes_equal(path, process->executable) ? OWN : UNDECIDED;
}

static bool decide_images(struct work *w)
{
    const struct wndl_image *images = w->p->images.data;
    w->of_images = wndl_arena_calloc(
        w->scratch, w->p->images.len + 1, sizeof *w->of_images);
    for (size_t i = 0; i < w->p->images.len && w->of_images != NULL; i++)
        w->of_images[i] = decide_image(w, images[i].path);
    w->node_count = w->p->nodes.len;
    w->of_nodes =
        wndl_arena_calloc(w->scratch, w->node_count, sizeof *w->of_nodes);
    return w->of_images != NULL && w->of_nodes != NULL;
}

/* ---- whose a stack is */

static uint32_t decide_frame(const struct work *w, uint32_t frame)
{
    const struct wndl_frame_key *key = wndl_vec_at(&w->p->frames, frame);
    return key->image == WNDL_NO_INDEX ? (uint32_t)UNDECIDED
                                       : w->of_images[key->image];
}

static const struct wndl_node *node_at(const struct work *w, uint32_t node)
{
    return wndl_vec_at(&w->p->nodes, node);
}

/* The node that decides, or one that has been decided, or 0. */
static uint32_t find_decider(const struct work *w, uint32_t node, uint32_t *now)
{
    *now = UNDECIDED;
    while (node != 0 && w->of_nodes[node] == 0) {
        *now = decide_frame(w, node_at(w, node)->frame);
        if (*now != UNDECIDED)
            return node;
        node = node_at(w, node)->parent;
    }
    if (node != 0)
        *now = w->of_nodes[node] - 1;
    return node;
}

static uint32_t decide_stack(struct work *w, uint32_t leaf)
{
    uint32_t decided;
    if (leaf == 0 || w->of_nodes == NULL)
        return UNDECIDED;
    const uint32_t end = find_decider(w, leaf, &decided);
    for (uint32_t node = leaf; node != end; node = node_at(w, node)->parent)
        w->of_nodes[node] = decided + 1;
    if (end != 0)
        w->of_nodes[end] = decided + 1;
    return decided;
}

/* The tag of a library that a stack is in; empty: none. */
static struct wndl_bytes library_of(struct work *w, uint32_t leaf)
{
    const struct wndl_tag_library *libraries = w->p->libraries.data;
    const uint32_t decided = decide_stack(w, leaf);
    return decided < FIRST_LIBRARY ? (struct wndl_bytes){0}
                                   : libraries[decided - FIRST_LIBRARY].tag;
}

static struct wndl_bytes tag_of(
    struct work *w, const struct wndl_alloc_site *site)
{
    const struct wndl_alloc_tag *tags = w->heap->tags.data;
    uint32_t number = site->tag;
    struct wndl_bytes name = {0};
    if (number != 0)
        name = tags[number - 1].name;
    if (name.size == 0)
        name = library_of(w, site->node);
    /* Each is smaller than the one before: wndl/read_heap.c. */
    while (name.size == 0 && number != 0) {
        name = library_of(w, tags[number - 1].node);
        number = tags[number - 1].outer;
        if (name.size == 0 && number != 0)
            name = tags[number - 1].name;
    }
    return name;
}

/* ---- stacks with a tag */

/* Sets *number to that of the name, from 1 on. */
static bool number_of(struct work *w, struct wndl_bytes name, uint32_t *number)
{
    const struct wndl_bytes *names = w->p->tag_names.data;
    for (*number = 1; *number <= w->p->tag_names.len; ++*number) {
        if (wndl_bytes_equal(names[*number - 1], name))
            return true;
    }
    struct wndl_bytes *slot = wndl_vec_push(&w->p->tag_names);
    return slot != NULL && wndl_profile_text(w->p, name, slot);
}

/* A frame whose name is the tag's; no address is like its own. */
static bool make_frame(struct work *w, uint32_t number, uint32_t *frame)
{
    const struct wndl_bytes *name = wndl_vec_at(&w->p->tag_names, number - 1);
    const struct wndl_frame_key key = {
        .image = WNDL_NO_INDEX, .process = WNDL_NO_INDEX, .address = number};
    struct wndl_function function = {.module = (uint32_t)w->p->images.len};
    struct wndl_location location = {0};
    bool fresh;
    char *text = wndl_arena_calloc(w->scratch, name->size + 8, 1);
    if (text == NULL)
        return false;
    memcpy(text, "tag: ", 5);
    memcpy(text + 5, name->data, name->size);
    return wndl_symbolized_text(w->s, text, &function.name) &&
           wndl_symbolized_function(
               w->s, function, &location.function, &fresh) &&
           wndl_profile_frame(w->p, key, frame) &&
           wndl_vec_push(&w->s->spans) != NULL &&
           wndl_symbolized_append(w->s, *frame, &location);
}

static bool frame_of(struct work *w, uint32_t number, uint32_t *frame)
{
    while (w->frames.len < number) {
        if (wndl_vec_push(&w->frames) == NULL)
            return false;
    }
    uint32_t *known = wndl_vec_at(&w->frames, number - 1);
    if (*known == 0) {
        if (!make_frame(w, number, frame))
            return false;
        *known = *frame + 1;
    }
    *frame = *known - 1;
    return true;
}

static bool add_outermost(struct work *w, uint32_t frame, uint32_t *leaf)
{
    w->path.len = 0;
    for (uint32_t node = *leaf; node != 0; node = node_at(w, node)->parent) {
        uint32_t *slot = wndl_vec_push(&w->path);
        if (slot == NULL)
            return false;
        *slot = node_at(w, node)->frame;
    }
    if (!wndl_profile_node(w->p, 0, frame, leaf))
        return false;
    for (size_t i = w->path.len; i-- > 0;) {
        const uint32_t *next = wndl_vec_at(&w->path, i);
        if (!wndl_profile_node(w->p, *leaf, *next, leaf))
            return false;
    }
    return true;
}

static bool apply_to_site(struct work *w, struct wndl_alloc_site *site)
{
    uint32_t frame;
    const struct wndl_bytes name = tag_of(w, site);
    site->tag = 0;
    return name.size == 0 ||
           (number_of(w, name, &site->tag) && frame_of(w, site->tag, &frame) &&
               add_outermost(w, frame, &site->node));
}

/*
 * Tags are decided by nodes that were there before. Threads' tags are there
 * for libraries alone.
 */
static bool apply_to_heap(struct work *w)
{
    struct wndl_alloc_site *sites = w->heap->sites.data;
    w->of_nodes = NULL;
    if (w->p->libraries.len != 0 && !decide_images(w))
        return false;
    if (w->p->libraries.len == 0 && w->heap->tags.len == 0)
        return true;
    for (size_t i = 0; i < w->heap->sites.len; i++) {
        if (!apply_to_site(w, &sites[i]))
            return false;
    }
    return true;
}

bool wndl_heap_tags_apply(struct wndl_profile *p, struct wndl_symbolized *s)
{
    struct wndl_arena scratch;
    struct work w = {.p = p, .s = s, .scratch = &scratch};
    wndl_arena_init(&scratch, wndl_mem_libc());
    wndl_vec_init(&w.path, &scratch, sizeof(uint32_t));
    wndl_vec_init(&w.frames, &scratch, sizeof(uint32_t));
    bool applied = true;
    for (size_t i = 0; i < p->heaps.len && applied; i++) {
        w.heap = wndl_vec_at(&p->heaps, i);
        applied = apply_to_heap(&w);
    }
    wndl_arena_free(&scratch);
    return applied;
}

/* ---- choosing and summing */

bool wndl_heap_tags_keep(struct wndl_profile *p, const char *pattern)
{
    struct wndl_arena scratch;
    struct work w = {.p = p, .scratch = &scratch};
    const struct wndl_bytes wanted = {
        (const uint8_t *)pattern, strlen(pattern)};
    const struct wndl_bytes *names = p->tag_names.data;
    bool is_any = false;
    wndl_arena_init(&scratch, wndl_mem_libc());
    bool *kept = wndl_arena_calloc(&scratch, p->tag_names.len + 1, 1);
    for (size_t i = 0; i < p->tag_names.len && kept != NULL; i++) {
        kept[i + 1] = matches(&w, wanted, names[i]);
        is_any |= kept[i + 1];
    }
    for (size_t h = 0; h < p->heaps.len && kept != NULL; h++) {
        struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, h);
        struct wndl_alloc_counts *counts = heap->counts.data;
        for (size_t i = 0; i < heap->counts.len; i++) {
            const uint32_t site = counts[i].site;
            const struct wndl_alloc_site *of = wndl_vec_at(&heap->sites, site);
            if (!kept[of->tag])
                counts[i] = (struct wndl_alloc_counts){.site = site};
        }
    }
    wndl_arena_free(&scratch);
    return is_any;
}

static int compare_sums(const void *a, const void *b)
{
    const struct wndl_heap_tag_sum *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void add_counts(struct wndl_heap_tag_sum *sums,
    const struct wndl_process_heap *heap, enum wndl_heap_set set)
{
    const struct wndl_alloc_counts *counts = heap->counts.data;
    for (size_t i = 0; i < heap->counts.len; i++) {
        const struct wndl_alloc_site *site =
            wndl_vec_at(&heap->sites, counts[i].site);
        const double blocks = (double)wndl_heap_count(&counts[i], set) *
                              wndl_alloc_weight(heap, site);
        sums[site->tag].blocks += blocks;
        sums[site->tag].bytes +=
            blocks * ((double)site->requested + (double)site->slop);
    }
}

bool wndl_heap_tags_sum(const struct wndl_profile *p,
    const struct wndl_heap_choice *choice, struct wndl_vec *sums)
{
    for (size_t i = 0; i <= p->tag_names.len; i++) {
        struct wndl_heap_tag_sum *sum = wndl_vec_push(sums);
        if (sum == NULL)
            return false;
        if (i != 0)
            sum->name = *(struct wndl_bytes *)wndl_vec_at(&p->tag_names, i - 1);
    }
    struct wndl_heap_tag_sum *all = sums->data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
        if (wndl_heap_chosen(p, heap, choice))
            add_counts(all, heap, choice->set);
    }
    qsort(all, sums->len, sizeof *all, compare_sums);
    while (sums->len != 0 && all[sums->len - 1].blocks == 0)
        sums->len--;
    return true;
}
