/* SPDX-License-Identifier: MIT */
/*
 * Pairs whose blocks are born and freed together. An allocator now and then
 * gives more than it does else for the same request, where the rest of what it
 * had free was too small to be kept: such blocks are of another pair, but of
 * the same kind, which is a stack and a request. Of a kind the pair that nearly
 * all are of speaks for the others.
 */
#include "collect/process/heap_impl.h"

#include <stdlib.h>

enum {
    LEAST = 8,        /* blocks */
    MOST = 16 * 1024, /* couples */
    FEW = 8,          /* of a kind, one in so many may be of other pairs */
};

/* ---- what a pair's blocks come after */

/* Over all lanes. Times are less those of what came after others. */
struct follower {
    uint32_t born_after, freed_after; /* pair + 1, 0: none or several */
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

/* Of all pairs of the part. */
static void follow_part(const struct wndl_collector_heap *heap,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part,
    struct follower *followers)
{
    for (uint32_t i = 0; i < part->count; i++)
        followers[i] = (struct follower){0};
    for (uint32_t lane = 0; lane < WNDL_HEAP_LANES; lane++) {
        if ((sum->used >> lane & 1) == 0)
            continue;
        wndl_heap_read_lane(heap, lane, part);
        for (uint32_t i = 0; i < part->count; i++)
            follow(&followers[i], &part->counts[i]);
    }
}

/* ---- couples that may come together */

struct kind {
    uint32_t node;
    uint64_t requested;
    uint64_t allocs, frees;
};

struct couple {
    uint32_t pair, other;
    struct follower follower, followed; /* of `pair`, of `other` */
    struct kind of_pair, of_other;
    bool is_together;
};

/* Megabytes, of which few are used as a rule: they are not zeroed. */
struct couples {
    uint32_t count, kind_count, found_count;
    struct couple list[MOST];
    struct wndl_fields_together found[MOST];
    struct kind kinds[2 * MOST];
    struct follower followers[WNDL_HEAP_AT_ONCE];
};

/* Each of the few that come after another one takes two off. */
static bool is_nearly(uint64_t times, uint64_t all)
{
    return times <= all && all - times <= 2 * (all / FEW);
}

static void look_for_couples(const struct wndl_collector_heap *heap,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part,
    struct couples *couples)
{
    follow_part(heap, sum, part, couples->followers);
    for (uint32_t i = 0; i < part->count; i++) {
        const struct follower *f = &couples->followers[i];
        uint32_t other = f->born_after - 1;
        if (f->frees < LEAST || f->several_births ||
            !is_nearly(f->born_times, f->allocs) || other >= heap->written ||
            other == part->first + i || couples->count == MOST)
            continue;
        couples->list[couples->count++] = (struct couple){
            .pair = part->first + i, .other = other, .follower = *f};
    }
}

static void read_pairs(
    const struct wndl_collector_heap *heap, struct wndl_heap_part *part)
{
    wndl_heap_read(heap,
        heap->layout.pairs + (size_t)part->first * sizeof part->pairs[0],
        part->pairs, (size_t)part->count * sizeof part->pairs[0]);
}

static void take_kind(
    const struct wndl_heap_part *part, uint32_t number, struct kind *kind)
{
    uint32_t at = number - part->first;
    if (at < part->count)
        *kind = (struct kind){.node = part->pairs[at].node,
            .requested = part->pairs[at].requested};
}

/* The kinds of both. The other one may be anywhere. */
static void find_kinds(const struct wndl_collector_heap *heap,
    struct wndl_heap_part *part, struct couples *couples)
{
    for (uint32_t first = 0; wndl_heap_next_part(heap, first, part);
         first += part->count) {
        read_pairs(heap, part);
        for (uint32_t i = 0; i < couples->count; i++) {
            take_kind(part, couples->list[i].pair, &couples->list[i].of_pair);
            take_kind(part, couples->list[i].other, &couples->list[i].of_other);
        }
    }
    for (uint32_t i = 0; i < couples->count; i++) {
        couples->kinds[2 * i] = couples->list[i].of_pair;
        couples->kinds[2 * i + 1] = couples->list[i].of_other;
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

static void sort_kinds(struct couples *couples)
{
    struct kind *kinds = couples->kinds;
    uint32_t kept = 0;
    qsort(kinds, 2 * (size_t)couples->count, sizeof kinds[0], compare_kinds);
    for (uint32_t i = 0; i < 2 * couples->count; i++) {
        if (kept == 0 || !is_same(&kinds[kept - 1], &kinds[i]))
            kinds[kept++] = kinds[i];
    }
    couples->kind_count = kept;
}

static struct kind *find_kind(
    struct couples *couples, uint32_t node, uint64_t requested)
{
    const struct kind wanted = {.node = node, .requested = requested};
    return bsearch(&wanted, couples->kinds, couples->kind_count, sizeof wanted,
        compare_kinds);
}

/* What the part's pairs come after, for couples of which they are the other. */
static void complete(const struct wndl_heap_part *part, struct couples *couples)
{
    for (uint32_t i = 0; i < couples->count; i++) {
        struct couple *c = &couples->list[i];
        uint32_t at = c->other - part->first;
        if (at < part->count)
            c->followed = couples->followers[at];
    }
}

static void count_kinds(const struct wndl_collector_heap *heap,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part,
    struct couples *couples)
{
    for (uint32_t first = 0; wndl_heap_next_part(heap, first, part);
         first += part->count) {
        read_pairs(heap, part);
        follow_part(heap, sum, part, couples->followers);
        complete(part, couples);
        for (uint32_t i = 0; i < part->count; i++) {
            const struct wndl_heap_pair *pair = &part->pairs[i];
            struct kind *kind = find_kind(couples, pair->node, pair->requested);
            if (kind == NULL)
                continue;
            kind->allocs += couples->followers[i].allocs;
            kind->frees += couples->followers[i].frees;
        }
    }
}

/* ---- those that do */

static bool is_always(uint64_t times, uint64_t all, uint64_t few)
{
    return times <= all && all - times <= 2 * few;
}

static bool are_freed_together(const struct couple *c, uint64_t few)
{
    const struct follower *f = &c->follower, *g = &c->followed;
    return (!f->several_frees && f->freed_after == c->other + 1 &&
               is_always(f->freed_times, f->frees, few)) ||
           (!g->several_frees && g->freed_after == c->pair + 1 &&
               is_always(g->freed_times, g->frees, few));
}

/*
 * As often as each other, one just after the other and freed next to it. What
 * is temporary was gone before the next one was born.
 */
static bool is_together(struct couples *couples, const struct couple *c)
{
    const struct kind *a =
        find_kind(couples, c->of_other.node, c->of_other.requested);
    const struct kind *b =
        find_kind(couples, c->of_pair.node, c->of_pair.requested);
    if (a == NULL || b == NULL || a == b || a->allocs != b->allocs ||
        a->frees != b->frees || c->followed.temporary != 0)
        return false;
    uint64_t few =
        a->allocs - c->followed.allocs + b->allocs - c->follower.allocs;
    return few <= b->allocs / FEW &&
           is_always(c->follower.born_times, c->follower.allocs, few) &&
           are_freed_together(c, few);
}

static int compare_pairs(const void *a, const void *b)
{
    uint32_t x = ((const struct couple *)a)->pair;
    uint32_t y = ((const struct couple *)b)->pair;
    return (x > y) - (x < y);
}

/* Each may come after the other but for blocks that are not looked at: one of
 * them says more. The list is in the order of pairs. */
static bool is_told_better(
    const struct couples *couples, const struct couple *c)
{
    const struct couple wanted = {.pair = c->other};
    const struct couple *turned = bsearch(
        &wanted, couples->list, couples->count, sizeof wanted, compare_pairs);
    return turned != NULL && turned->is_together && turned->other == c->pair &&
           (turned->follower.allocs > c->follower.allocs ||
               (turned->follower.allocs == c->follower.allocs &&
                   turned->pair > c->pair));
}

static void take_those_together(struct couples *couples)
{
    couples->found_count = 0;
    for (uint32_t i = 0; i < couples->count; i++)
        couples->list[i].is_together = is_together(couples, &couples->list[i]);
    for (uint32_t i = 0; i < couples->count; i++) {
        const struct couple *c = &couples->list[i];
        if (c->is_together && !is_told_better(couples, c))
            couples->found[couples->found_count++] =
                (struct wndl_fields_together){
                    .site = c->pair,
                    .other = c->other,
                    .blocks = c->follower.allocs,
                };
    }
}

void wndl_heap_put_couples(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, struct wndl_heap_part *part)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct couples *couples = mem->resize(mem, NULL, sizeof *couples);
    if (couples == NULL)
        return;
    couples->count = couples->kind_count = couples->found_count = 0;
    for (uint32_t first = 0; wndl_heap_next_part(p->heap, first, part);
         first += part->count)
        look_for_couples(p->heap, sum, part, couples);
    if (couples->count != 0) {
        find_kinds(p->heap, part, couples);
        sort_kinds(couples);
        count_kinds(p->heap, sum, part, couples);
        take_those_together(couples);
    }
    if (couples->found_count != 0)
        wndl_recording_together(
            p->recording, p->index, couples->found, couples->found_count);
    wndl_mem_free(mem, couples);
}
