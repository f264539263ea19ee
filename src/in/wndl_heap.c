/* SPDX-License-Identifier: MIT */
/* wndl_heap: the chunks of recorded heaps (docs/formats/wndl.md, HEAP on). */
#include "in/wndl_heap_reader.h"
#include "model/heap.h"
#include "rec/chunk.h"

/* Bytes that the smallest element of a list takes. */
enum {
    MIN_TOTAL = 1,
    MIN_MOMENT = 3,
    MIN_TOGETHER = 3,
    MIN_SITE = 4,
    MIN_LEAK = 4,
    MIN_WRONG = 4,
    MIN_COUNTS = 6,
    MIN_GROWTH = 9,
};

/* A list of a heap being read. */
struct list {
    struct wndl_reader *r;
    struct wndl_cursor *c;
    struct wndl_process_heap *heap;
    struct wndl_heap_reader *of;
    uint32_t process;
    uint64_t running; /* what the next element's difference counts from */
};

enum wndl_status wndl_reader_no_heap(struct wndl_reader *r)
{
    struct wndl_heap_reader *of = wndl_vec_push(&r->heaps);
    if (of == NULL)
        return WNDL_NOMEM;
    of->heap = WNDL_NO_INDEX;
    wndl_vec_init(&of->sites, &r->scratch, sizeof(uint32_t));
    return WNDL_OK;
}

enum wndl_status wndl_read_heap(struct wndl_reader *r, struct wndl_cursor *c)
{
    enum { CUMULATIVE = 1, LEAKS = 2 };
    uint32_t process = wndl_reader_known(&r->processes, wndl_cursor_uleb(c));
    uint64_t flags = wndl_cursor_uleb(c);
    uint64_t sample_below = wndl_cursor_uleb(c);
    if (c->failed || process == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_heap_reader *of = wndl_vec_at(&r->heaps, process);
    if (of->heap != WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_process_heap *heap = wndl_profile_heap(r->p, process);
    if (heap == NULL)
        return WNDL_NOMEM;
    heap->cumulative = (flags & CUMULATIVE) != 0;
    heap->leaks_wanted = (flags & LEAKS) != 0;
    heap->sample_below = sample_below;
    of->heap = (uint32_t)(r->p->heaps.len - 1);
    return WNDL_OK;
}

/* Reads the process that begins each of these chunks; false: it has no heap. */
static bool begin_list(
    struct list *list, struct wndl_reader *r, struct wndl_cursor *c)
{
    *list = (struct list){.r = r, .c = c};
    list->process = wndl_reader_known(&r->processes, wndl_cursor_uleb(c));
    if (c->failed || list->process == WNDL_NO_INDEX)
        return false;
    list->of = wndl_vec_at(&r->heaps, list->process);
    if (list->of->heap == WNDL_NO_INDEX)
        return false;
    list->heap = wndl_vec_at(&r->p->heaps, list->of->heap);
    return true;
}

/*
 * Elements of at least `min` bytes to the end of `to`, each made by `read`:
 * NOT_FOUND leaves it out. All of them are left out when one is damaged.
 */
static enum wndl_status read_list(struct list *list, struct wndl_vec *to,
    unsigned min, enum wndl_status (*read)(struct list *list, void *element))
{
    uint64_t count = wndl_reader_count(list->c, min);
    size_t kept = to->len;
    enum wndl_status status = list->c->failed ? WNDL_MALFORMED : WNDL_OK;
    for (uint64_t i = 0; i < count && status == WNDL_OK; i++) {
        void *element = wndl_vec_push(to);
        if (element == NULL)
            return WNDL_NOMEM;
        status = read(list, element);
        if (status == WNDL_OK && list->c->failed)
            status = WNDL_MALFORMED;
        if (status != WNDL_NOT_FOUND)
            continue;
        to->len--;
        status = WNDL_OK;
    }
    if (status != WNDL_OK)
        to->len = kept;
    return status;
}

/* Our number of a site that is told by its distance from the one before. */
static uint32_t next_site(struct list *list)
{
    uint64_t distance = wndl_cursor_uleb(list->c);
    if (__builtin_add_overflow(list->running, distance, &list->running))
        wndl_cursor_fail(list->c);
    return wndl_reader_known(&list->of->sites, list->running);
}

static enum wndl_status found(uint32_t number)
{
    return number == WNDL_NO_INDEX ? WNDL_NOT_FOUND : WNDL_OK;
}

/* Without a stack when that was lost: the blocks are there all the same. */
static uint32_t next_node(const struct list *list)
{
    const struct wndl_vec *nodes = wndl_vec_at(&list->r->nodes, list->process);
    uint32_t node = wndl_reader_known(nodes, wndl_cursor_uleb(list->c));
    return node == WNDL_NO_INDEX ? 0 : node;
}

/* ---- sites */

static enum wndl_status read_site(struct list *list, void *element)
{
    struct wndl_alloc_site *site = element;
    const struct wndl_vec *nodes = wndl_vec_at(&list->r->nodes, list->process);
    uint32_t node = wndl_reader_known(nodes, wndl_cursor_uleb(list->c));
    site->end = wndl_reader_walk_end(wndl_cursor_uleb(list->c));
    site->requested = wndl_cursor_uleb(list->c);
    site->slop = wndl_cursor_uleb(list->c);
    uint64_t usable;
    if (__builtin_add_overflow(site->requested, site->slop, &usable))
        return WNDL_MALFORMED;
    if (node == WNDL_NO_INDEX)
        site->end = WNDL_WALK_OTHER;
    else
        site->node = node;
    return wndl_reader_announce(list->r, &list->of->sites, list->of->sites.len,
        list->heap->sites.len - 1);
}

enum wndl_status wndl_read_hpar(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    uint64_t first = wndl_cursor_uleb(c);
    enum wndl_status status = c->failed
                                  ? WNDL_MALFORMED
                                  : wndl_reader_skip(r, &list.of->sites, first);
    if (status != WNDL_OK)
        return status;
    size_t start = list.of->sites.len;
    status = read_list(&list, &list.heap->sites, MIN_SITE, read_site);
    if (status != WNDL_OK)
        list.of->sites.len = start;
    return status;
}

/* ---- snapshots */

/* Keeps the first `room` of a list of numbers. */
static void read_numbers(
    struct wndl_cursor *c, uint64_t *numbers, uint64_t room)
{
    uint64_t count = wndl_reader_count(c, MIN_TOTAL);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = wndl_cursor_uleb(c);
        if (i < room)
            numbers[i] = number;
    }
}

static void read_missed(struct wndl_cursor *c, uint64_t *missed)
{
    uint64_t count = wndl_reader_count(c, MIN_TOTAL);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *to = &missed[i < WNDL_HEAP_MISSED_OTHER
                                   ? i
                                   : (uint64_t)WNDL_HEAP_MISSED_OTHER];
        if (__builtin_add_overflow(*to, wndl_cursor_uleb(c), to))
            *to = UINT64_MAX;
    }
}

/* The counts of an earlier one make room. */
static void keep_if_wanted(const struct wndl_reader *r,
    struct wndl_process_heap *heap, uint64_t number)
{
    uint64_t wanted = r->p->wanted_snapshot;
    if (wanted != WNDL_LAST_SNAPSHOT && wanted != number)
        return;
    heap->kept = (uint32_t)(heap->snapshots.len - 1);
    heap->counts.len = 0;
    heap->lost = 0;
}

enum wndl_status wndl_read_hsnp(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    struct wndl_heap_snapshot snapshot = {0};
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    struct wndl_vec *snapshots = &list.heap->snapshots;
    snapshot.number = wndl_cursor_uleb(c);
    snapshot.time = wndl_cursor_uleb(c);
    uint64_t why = wndl_cursor_uleb(c);
    snapshot.why =
        why < WNDL_SNAPSHOT_OTHER ? (uint8_t)why : (uint8_t)WNDL_SNAPSHOT_OTHER;
    snapshot.text = wndl_chunk_read_str(c);
    read_numbers(c, snapshot.totals, WNDL_HEAP_TOTALS);
    read_missed(c, snapshot.missed);
    const struct wndl_heap_snapshot *last =
        snapshots->len == 0 ? NULL : wndl_vec_at(snapshots, snapshots->len - 1);
    if (c->failed || (last != NULL && last->number >= snapshot.number))
        return WNDL_MALFORMED;
    struct wndl_heap_snapshot *slot = wndl_vec_push(snapshots);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = snapshot;
    keep_if_wanted(r, list.heap, snapshot.number);
    r->counting = list.process;
    return wndl_profile_text(r->p, snapshot.text, &slot->text) ? WNDL_OK
                                                               : WNDL_NOMEM;
}

static enum wndl_status read_counts(struct list *list, void *element)
{
    struct wndl_alloc_counts *counts = element;
    counts->site = next_site(list);
    counts->allocs = wndl_cursor_uleb(list->c);
    counts->frees = wndl_cursor_uleb(list->c);
    counts->at_peak = wndl_cursor_uleb(list->c);
    counts->temporary = wndl_cursor_uleb(list->c);
    counts->lifetime = wndl_cursor_uleb(list->c);
    if (counts->site == WNDL_NO_INDEX && !list->c->failed)
        list->heap->lost += counts->allocs;
    return found(counts->site);
}

/* Counts of a snapshot that is not kept are not looked at. */
enum wndl_status wndl_read_hcnt(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    uint64_t number = wndl_cursor_uleb(c);
    const struct wndl_vec *snapshots = &list.heap->snapshots;
    if (c->failed || snapshots->len == 0)
        return WNDL_MALFORMED;
    const struct wndl_heap_snapshot *last =
        wndl_vec_at(snapshots, snapshots->len - 1);
    if (last->number != number)
        return WNDL_MALFORMED;
    r->counting = list.process;
    if (list.heap->kept != snapshots->len - 1)
        return WNDL_OK;
    return read_list(&list, &list.heap->counts, MIN_COUNTS, read_counts);
}

/* ---- the other lists */

static enum wndl_status read_moment(struct list *list, void *element)
{
    struct wndl_heap_moment *moment = element;
    uint64_t passed = wndl_cursor_uleb(list->c);
    if (__builtin_add_overflow(list->running, passed, &list->running))
        return WNDL_MALFORMED;
    moment->time = list->running;
    moment->bytes = wndl_cursor_uleb(list->c);
    moment->blocks = wndl_cursor_uleb(list->c);
    return WNDL_OK;
}

enum wndl_status wndl_read_htim(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    list.running = wndl_cursor_uleb(c);
    return read_list(&list, &list.heap->moments, MIN_MOMENT, read_moment);
}

static enum wndl_status read_leaks(struct list *list, void *element)
{
    struct wndl_alloc_leaks *leaks = element;
    leaks->site = next_site(list);
    leaks->definite = wndl_cursor_uleb(list->c);
    leaks->indirect = wndl_cursor_uleb(list->c);
    leaks->possible = wndl_cursor_uleb(list->c);
    return found(leaks->site);
}

enum wndl_status wndl_read_hlek(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    enum wndl_status status =
        read_list(&list, &list.heap->leaks, MIN_LEAK, read_leaks);
    list.heap->leaks_known |= status == WNDL_OK;
    return status;
}

static enum wndl_status read_growth(struct list *list, void *element)
{
    enum { BY_COPY = 1 };
    struct wndl_alloc_growth *growth = element;
    growth->node = next_node(list);
    growth->by_copy = wndl_cursor_uleb(list->c) == BY_COPY;
    growth->chains = wndl_cursor_uleb(list->c);
    growth->steps = wndl_cursor_uleb(list->c);
    growth->allocated = wndl_cursor_uleb(list->c);
    growth->final = wndl_cursor_uleb(list->c);
    growth->doubling = wndl_cursor_uleb(list->c);
    growth->least_step = wndl_cursor_uleb(list->c);
    growth->most_step = wndl_cursor_uleb(list->c);
    return WNDL_OK;
}

enum wndl_status wndl_read_hgro(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    return read_list(&list, &list.heap->growths, MIN_GROWTH, read_growth);
}

static enum wndl_status read_wrong(struct list *list, void *element)
{
    struct wndl_alloc_wrong *wrong = element;
    wrong->node = next_node(list);
    uint64_t kind = wndl_cursor_uleb(list->c);
    wrong->kind = kind < WNDL_WRONG_FREES ? (uint8_t)kind
                                          : (uint8_t)WNDL_WRONG_FREE_OTHER;
    wrong->count = wndl_cursor_uleb(list->c);
    wrong->address = wndl_cursor_uleb(list->c);
    return WNDL_OK;
}

enum wndl_status wndl_read_hwro(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    return read_list(&list, &list.heap->wrongs, MIN_WRONG, read_wrong);
}

static enum wndl_status read_together(struct list *list, void *element)
{
    struct wndl_alloc_together *together = element;
    uint64_t site = wndl_cursor_uleb(list->c);
    uint64_t other = wndl_cursor_uleb(list->c);
    together->site = wndl_reader_known(&list->of->sites, site);
    together->other = wndl_reader_known(&list->of->sites, other);
    together->blocks = wndl_cursor_uleb(list->c);
    return together->site == WNDL_NO_INDEX ? WNDL_NOT_FOUND
                                           : found(together->other);
}

enum wndl_status wndl_read_htog(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct list list;
    if (!begin_list(&list, r, c))
        return WNDL_MALFORMED;
    return read_list(&list, &list.heap->together, MIN_TOGETHER, read_together);
}

/* ---- the end of the file */

void wndl_reader_conclude_heaps(struct wndl_reader *r)
{
    if (r->counting == WNDL_NO_INDEX || r->p->finished)
        return;
    const struct wndl_heap_reader *of = wndl_vec_at(&r->heaps, r->counting);
    struct wndl_process_heap *heap = wndl_vec_at(&r->p->heaps, of->heap);
    struct wndl_heap_snapshot *last =
        wndl_vec_at(&heap->snapshots, heap->snapshots.len - 1);
    last->cut = true;
}

uint64_t wndl_reader_last_of_heaps(const struct wndl_profile *p)
{
    uint64_t last = 0;
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        const struct wndl_vec *snapshots = &heaps[i].snapshots;
        for (size_t k = 0; k < snapshots->len; k++) {
            const struct wndl_heap_snapshot *s = wndl_vec_at(snapshots, k);
            last = s->time > last ? s->time : last;
        }
        const struct wndl_heap_moment *moments = heaps[i].moments.data;
        for (size_t k = 0; k < heaps[i].moments.len; k++)
            last = moments[k].time > last ? moments[k].time : last;
    }
    return last;
}
