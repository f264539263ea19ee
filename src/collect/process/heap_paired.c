/* SPDX-License-Identifier: MIT */
/*
 * Pairs whose blocks are allocated and freed together. An allocator now and
 * then gives a larger block than usual for the same request, when the rest of a
 * free block was too small to keep. Such a block belongs to another site, but
 * to the same kind: a stack and a request. The site of nearly all blocks of a
 * kind represents the others.
 */
#include "collect/process/heap_impl.h"

#include <stdlib.h>

enum {
    LEAST = 8,        /* blocks */
    MOST = 16 * 1024, /* of them */
    FEW = 8, /* of a kind's blocks, at most one in so many is of other sites */
};

/* ---- the sites that a site's blocks come after */

/* Over all stripes. `times` is reduced by those of blocks after other sites. */
struct follower {
    uint32_t born_after, freed_after; /* site + 1, 0: none or several */
    uint64_t born_times, freed_times;
    uint64_t allocs, frees, temporary;
    bool several_births, several_frees;
};

static void follow(struct follower *f, const struct wndl_heap_count *c)
{
    if (c->allocs != 0) {
        f->several_births |= f->allocs != 0 && f->born_after != c->born_after;
        f->born_after = c->born_after;
        f->born_times += c->born_after_times;
    }
    if (c->frees != 0) {
        f->several_frees |= f->frees != 0 && f->freed_after != c->freed_after;
        f->freed_after = c->freed_after;
        f->freed_times += c->freed_after_times;
    }
    f->allocs += c->allocs;
    f->frees += c->frees;
    f->temporary += c->temporary;
}

/* Finds the followers of all sites of the part. */
static void follow_part(const struct wndl_collector_heap *heap,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part,
    struct follower *followers)
{
    for (uint32_t i = 0; i < part->count; i++)
        followers[i] = (struct follower){0};
    for (uint32_t stripe = 0; stripe < WNDL_HEAP_STRIPES; stripe++) {
        if ((sum->used >> stripe & 1) == 0)
            continue;
        wndl_heap_read_stripe(heap, stripe, part);
        for (uint32_t i = 0; i < part->count; i++)
            follow(&followers[i], &part->counts[i]);
    }
}

/* ---- sites that may come together */

struct kind {
    uint32_t node;
    uint64_t requested;
    uint64_t allocs, frees;
};

struct paired {
    uint32_t site, other;
    struct follower follower, followed; /* of `site`, of `other` */
    struct kind of_site, of_other;
    bool is_together;
};

/* Megabytes, most of them unused: they are not zeroed. */
struct all_paired {
    uint32_t count, kind_count, found_count;
    struct paired list[MOST];
    struct wndl_fields_together found[MOST];
    struct kind kinds[2 * MOST];
    struct follower followers[WNDL_HEAP_AT_ONCE];
};

/* Each of the few blocks that come after another site takes two off. */
static bool is_nearly(uint64_t times, uint64_t all)
{
    return times <= all && all - times <= 2 * (all / FEW);
}

static void look_for_paired(const struct wndl_collector_heap *heap,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part,
    struct all_paired *paired)
{
    follow_part(heap, sum, part, paired->followers);
    for (uint32_t i = 0; i < part->count; i++) {
        const struct follower *f = &paired->followers[i];
        uint32_t other = f->born_after - 1;
        if (f->frees < LEAST || f->several_births ||
            !is_nearly(f->born_times, f->allocs) || other >= heap->written ||
            other == part->first + i || paired->count == MOST)
            continue;
        paired->list[paired->count++] = (struct paired){
            .site = part->first + i, .other = other, .follower = *f};
    }
}

static void read_sites(
    const struct wndl_collector_heap *heap, struct wndl_heap_part *part)
{
    wndl_heap_read(heap,
        heap->layout.sites + (size_t)part->first * sizeof part->sites[0],
        part->sites, (size_t)part->count * sizeof part->sites[0]);
}

static void take_kind(
    const struct wndl_heap_part *part, uint32_t number, struct kind *kind)
{
    uint32_t at = number - part->first;
    if (at < part->count)
        *kind = (struct kind){.node = part->sites[at].node,
            .requested = part->sites[at].requested};
}

/* The kinds of both. The other one may be anywhere. */
static void find_kinds(const struct wndl_collector_heap *heap,
    struct wndl_heap_part *part, struct all_paired *paired)
{
    for (uint32_t first = 0; wndl_heap_next_part(heap, first, part);
         first += part->count) {
        read_sites(heap, part);
        for (uint32_t i = 0; i < paired->count; i++) {
            take_kind(part, paired->list[i].site, &paired->list[i].of_site);
            take_kind(part, paired->list[i].other, &paired->list[i].of_other);
        }
    }
    for (uint32_t i = 0; i < paired->count; i++) {
        paired->kinds[2 * i] = paired->list[i].of_site;
        paired->kinds[2 * i + 1] = paired->list[i].of_other;
    }
}

/* ---- how many blocks there are of a kind */

static int compare_kinds(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->requested > y->requested) - (x->requested < y->requested);
}

static bool is_same(const struct kind *a, const struct kind *b)
{
    return compare_kinds(a, b) == 0;
}

static void sort_kinds(struct all_paired *paired)
{
    struct kind *kinds = paired->kinds;
    uint32_t kept = 0;
    qsort(kinds, 2 * (size_t)paired->count, sizeof kinds[0], compare_kinds);
    for (uint32_t i = 0; i < 2 * paired->count; i++) {
        if (kept == 0 || !is_same(&kinds[kept - 1], &kinds[i]))
            kinds[kept++] = kinds[i];
    }
    paired->kind_count = kept;
}

static struct kind *find_kind(
    struct all_paired *paired, uint32_t node, uint64_t requested)
{
    const struct kind wanted = {.node = node, .requested = requested};
    return bsearch(&wanted, paired->kinds, paired->kind_count, sizeof wanted,
        compare_kinds);
}

/*
 * Fills in the followers of the part's sites, for pairs in which they are
 * `other`.
 */
static void complete(
    const struct wndl_heap_part *part, struct all_paired *paired)
{
    for (uint32_t i = 0; i < paired->count; i++) {
        struct paired *c = &paired->list[i];
        uint32_t at = c->other - part->first;
        if (at < part->count)
            c->followed = paired->followers[at];
    }
}

static void count_kinds(const struct wndl_collector_heap *heap,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part,
    struct all_paired *paired)
{
    for (uint32_t first = 0; wndl_heap_next_part(heap, first, part);
         first += part->count) {
        read_sites(heap, part);
        follow_part(heap, sum, part, paired->followers);
        complete(part, paired);
        for (uint32_t i = 0; i < part->count; i++) {
            const struct wndl_heap_site *site = &part->sites[i];
            struct kind *kind = find_kind(paired, site->node, site->requested);
            if (kind == NULL)
                continue;
            kind->allocs += paired->followers[i].allocs;
            kind->frees += paired->followers[i].frees;
        }
    }
}

/* ---- those that do */

static bool is_always(uint64_t times, uint64_t all, uint64_t few)
{
    return times <= all && all - times <= 2 * few;
}

static bool are_freed_together(const struct paired *c, uint64_t few)
{
    const struct follower *f = &c->follower, *g = &c->followed;
    return (!f->several_frees && f->freed_after == c->other + 1 &&
               is_always(f->freed_times, f->frees, few)) ||
           (!g->several_frees && g->freed_after == c->site + 1 &&
               is_always(g->freed_times, g->frees, few));
}

/*
 * Whether each is as frequent as the other, comes just after it, and is freed
 * next to it. Temporary blocks are freed before the next one is allocated.
 */
static bool is_together(struct all_paired *paired, const struct paired *c)
{
    const struct kind *a =
        find_kind(paired, c->of_other.node, c->of_other.requested);
    const struct kind *b =
        find_kind(paired, c->of_site.node, c->of_site.requested);
    if (a == NULL || b == NULL || a == b || a->allocs != b->allocs ||
        a->frees != b->frees || c->followed.temporary != 0)
        return false;
    uint64_t few =
        a->allocs - c->followed.allocs + b->allocs - c->follower.allocs;
    return few <= b->allocs / FEW &&
           is_always(c->follower.born_times, c->follower.allocs, few) &&
           are_freed_together(c, few);
}

static int compare_sites(const void *a, const void *b)
{
    uint32_t x = ((const struct paired *)a)->site;
    uint32_t y = ((const struct paired *)b)->site;
    return (x > y) - (x < y);
}

/*
 * Each may come after the other, apart from ignored blocks: one pair is enough.
 * The list is in the order of sites.
 */
static bool has_better_turned(
    const struct all_paired *paired, const struct paired *c)
{
    const struct paired wanted = {.site = c->other};
    const struct paired *turned = bsearch(
        &wanted, paired->list, paired->count, sizeof wanted, compare_sites);
    return turned != NULL && turned->is_together && turned->other == c->site &&
           (turned->follower.allocs > c->follower.allocs ||
               (turned->follower.allocs == c->follower.allocs &&
                   turned->site > c->site));
}

static void take_those_together(struct all_paired *paired)
{
    paired->found_count = 0;
    for (uint32_t i = 0; i < paired->count; i++)
        paired->list[i].is_together = is_together(paired, &paired->list[i]);
    for (uint32_t i = 0; i < paired->count; i++) {
        const struct paired *c = &paired->list[i];
        if (c->is_together && !has_better_turned(paired, c))
            paired->found[paired->found_count++] =
                (struct wndl_fields_together){
                    .site = c->site,
                    .other = c->other,
                    .blocks = c->follower.allocs,
                };
    }
}

void wndl_heap_put_paired(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct all_paired *paired = mem->resize(mem, NULL, sizeof *paired);
    if (paired == NULL)
        return;
    paired->count = paired->kind_count = paired->found_count = 0;
    for (uint32_t first = 0; wndl_heap_next_part(p->heap, first, part);
         first += part->count)
        look_for_paired(p->heap, sum, part, paired);
    if (paired->count != 0) {
        find_kinds(p->heap, part, paired);
        sort_kinds(paired);
        count_kinds(p->heap, sum, part, paired);
        take_those_together(paired);
    }
    if (paired->found_count != 0)
        wndl_recording_together(
            p->recording, p->index, paired->found, paired->found_count);
    wndl_mem_free(mem, paired);
}
