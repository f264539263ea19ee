/* SPDX-License-Identifier: MIT */
/* read_heap: the chunks of recorded heaps (docs/formats/wndl.md, HEAP on). */
#include "model/heap.h"
#include "rec/tags.h"
#include "wndl/fields.h"
#include "wndl/heap_list.h"

#include <string.h>

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
    enum { CUMULATIVE = 1, LEAKS = 2, DARK = 4 };
    struct wndl_fields_heap fields = wndl_get_heap(c);
    uint32_t process = wndl_reader_known(&r->processes, fields.process);
    if (c->failed || process == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_heap_reader *of = wndl_vec_at(&r->heaps, process);
    if (of->heap != WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    struct wndl_process_heap *heap = wndl_profile_heap(r->p, process);
    if (heap == NULL)
        return WNDL_NOMEM;
    heap->cumulative = (fields.flags & CUMULATIVE) != 0;
    heap->leaks_wanted = (fields.flags & LEAKS) != 0;
    heap->dark = (fields.flags & DARK) != 0;
    heap->sample_below = fields.sample_below;
    heap->lived_step =
        r->p->wants_lived && r->p->wanted_snapshot == WNDL_LAST_SNAPSHOT ? 1
                                                                         : 0;
    of->heap = (uint32_t)(r->p->heaps.len - 1);
    return WNDL_OK;
}

bool wndl_heap_list_begin(struct wndl_heap_list *list, struct wndl_reader *r,
    struct wndl_cursor *c, uint64_t process)
{
    *list = (struct wndl_heap_list){.r = r, .c = c};
    list->process = wndl_reader_known(&r->processes, process);
    if (c->failed || list->process == WNDL_NO_INDEX)
        return false;
    list->of = wndl_vec_at(&r->heaps, list->process);
    if (list->of->heap == WNDL_NO_INDEX)
        return false;
    list->heap = wndl_vec_at(&r->p->heaps, list->of->heap);
    return true;
}

enum wndl_status wndl_heap_list_read(struct wndl_heap_list *list,
    struct wndl_vec *to, unsigned least,
    enum wndl_status (*read)(struct wndl_heap_list *list, void *element))
{
    uint64_t count = wndl_get_list(list->c, least);
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

/* Our number of a site, from its distance to the previous one. */
static uint32_t next_site(struct wndl_heap_list *list, uint64_t distance)
{
    if (__builtin_add_overflow(list->running, distance, &list->running))
        wndl_cursor_fail(list->c);
    return wndl_reader_known(&list->of->sites, list->running);
}

enum wndl_status wndl_heap_list_found(uint32_t number)
{
    return number == WNDL_NO_INDEX ? WNDL_NOT_FOUND : WNDL_OK;
}

uint32_t wndl_heap_list_node(const struct wndl_heap_list *list, uint64_t number)
{
    const struct wndl_vec *nodes = wndl_vec_at(&list->r->nodes, list->process);
    uint32_t node = wndl_reader_known(nodes, number);
    return node == WNDL_NO_INDEX ? 0 : node;
}

/* ---- sites */

static enum wndl_status read_site(struct wndl_heap_list *list, void *element)
{
    struct wndl_alloc_site *site = element;
    const struct wndl_vec *nodes = wndl_vec_at(&list->r->nodes, list->process);
    struct wndl_fields_site fields = wndl_get_site(list->c);
    uint32_t node = wndl_reader_known(nodes, fields.node);
    site->end = wndl_reader_walk_end(fields.end);
    site->requested = fields.requested;
    site->slop = fields.slop;
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
    struct wndl_heap_list list;
    struct wndl_fields_hpar hpar = wndl_get_hpar(c);
    if (!wndl_heap_list_begin(&list, r, c, hpar.process))
        return WNDL_MALFORMED;
    enum wndl_status status = wndl_reader_skip(r, &list.of->sites, hpar.first);
    if (status != WNDL_OK)
        return status;
    size_t start = list.of->sites.len;
    status = wndl_heap_list_read(
        &list, &list.heap->sites, WNDL_LEAST_SITE, read_site);
    if (status != WNDL_OK)
        list.of->sites.len = start;
    return status;
}

/* ---- tags */

/* Numbers that a lost chunk had stay empty. */
static enum wndl_status skip_tags(struct wndl_vec *tags, uint64_t first)
{
    if (first <= tags->len || first >= WNDL_TAGS)
        return WNDL_MALFORMED;
    while (tags->len + 1 < first) {
        if (wndl_vec_push(tags) == NULL)
            return WNDL_NOMEM;
    }
    return WNDL_OK;
}

static enum wndl_status read_tag(struct wndl_heap_list *list, void *element)
{
    struct wndl_alloc_tag *tag = element;
    struct wndl_fields_tag fields = wndl_get_tag(list->c);
    tag->node = fields.node == 0 ? 0 : wndl_heap_list_node(list, fields.node);
    tag->outer = fields.outer < list->heap->tags.len ? (uint32_t)fields.outer
                                                     : 0; /* an earlier one */
    if (list->c->failed || list->heap->tags.len >= WNDL_TAGS)
        return WNDL_MALFORMED;
    return wndl_profile_text(list->r->p, fields.name, &tag->name) ? WNDL_OK
                                                                  : WNDL_NOMEM;
}

enum wndl_status wndl_read_htag(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    struct wndl_fields_htag htag = wndl_get_htag(c);
    if (!wndl_heap_list_begin(&list, r, c, htag.process))
        return WNDL_MALFORMED;
    enum wndl_status status = skip_tags(&list.heap->tags, htag.first);
    return status != WNDL_OK ? status
                             : wndl_heap_list_read(&list, &list.heap->tags,
                                   WNDL_LEAST_TAG, read_tag);
}

enum wndl_status wndl_read_hown(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_begin(&list, r, c, wndl_get_hown(c).process))
        return WNDL_MALFORMED;
    uint64_t count = wndl_get_list(c, WNDL_LEAST_OWNER);
    for (uint64_t i = 0; i < count && !c->failed; i++) {
        const struct wndl_fields_owner fields = wndl_get_owner(c);
        const uint32_t number = next_site(&list, fields.site);
        if (number != WNDL_NO_INDEX && fields.tag <= list.heap->tags.len)
            ((struct wndl_alloc_site *)wndl_vec_at(&list.heap->sites, number))
                ->tag = (uint32_t)fields.tag;
    }
    return c->failed ? WNDL_MALFORMED : WNDL_OK;
}

enum wndl_status wndl_read_hlib(struct wndl_reader *r, struct wndl_cursor *c)
{
    uint64_t count = wndl_get_list(c, WNDL_LEAST_LIBRARY);
    for (uint64_t i = 0; i < count && !c->failed; i++) {
        const struct wndl_fields_library fields = wndl_get_library(c);
        struct wndl_tag_library *library =
            c->failed ? NULL : wndl_vec_push(&r->p->libraries);
        if (library == NULL)
            return c->failed ? WNDL_MALFORMED : WNDL_NOMEM;
        if (!wndl_profile_text(r->p, fields.pattern, &library->pattern) ||
            !wndl_profile_text(r->p, fields.tag, &library->tag))
            return WNDL_NOMEM;
    }
    return c->failed ? WNDL_MALFORMED : WNDL_OK;
}

/* ---- snapshots */

/* Keeps the first `room` of a list of numbers. */
static void read_numbers(
    struct wndl_cursor *c, uint64_t *numbers, uint64_t room)
{
    uint64_t count = wndl_get_list(c, WNDL_LEAST_NUMBER);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = wndl_get_number(c).value;
        if (i < room)
            numbers[i] = number;
    }
}

static void read_missed(struct wndl_cursor *c, uint64_t *missed)
{
    uint64_t count = wndl_get_list(c, WNDL_LEAST_NUMBER);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *to = &missed[i < WNDL_HEAP_MISSED_OTHER
                                   ? i
                                   : (uint64_t)WNDL_HEAP_MISSED_OTHER];
        if (__builtin_add_overflow(*to, wndl_get_number(c).value, to))
            *to = UINT64_MAX;
    }
}

/*
 * Keeps the last snapshot if it is wanted, and drops the counts of an earlier
 * one.
 */
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

/*
 * Before a snapshot begins: drops every second of those whose live blocks are
 * kept, where these are many. The first is always left.
 */
static void thin_out_lived(struct wndl_process_heap *heap)
{
    enum { MANY = 1 << 20 };
    struct wndl_alloc_lived *lived = heap->lived.data;
    size_t kept = 0;
    if (heap->lived.len < MANY || heap->lived_step > heap->snapshots.len)
        return;
    heap->lived_step *= 2;
    for (size_t i = 0; i < heap->lived.len; i++) {
        if (lived[i].snapshot % heap->lived_step == 0)
            lived[kept++] = lived[i];
    }
    heap->lived.len = kept;
}

static uint8_t snapshot_why(uint64_t why)
{
    return why < WNDL_SNAPSHOT_OTHER ? (uint8_t)why
                                     : (uint8_t)WNDL_SNAPSHOT_OTHER;
}

enum wndl_status wndl_read_hsnp(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    struct wndl_fields_hsnp hsnp = wndl_get_hsnp(c);
    if (!wndl_heap_list_begin(&list, r, c, hsnp.process))
        return WNDL_MALFORMED;
    struct wndl_vec *snapshots = &list.heap->snapshots;
    struct wndl_heap_snapshot snapshot = {
        .number = hsnp.snapshot,
        .time = hsnp.time,
        .why = snapshot_why(hsnp.why),
        .text = hsnp.text,
    };
    read_numbers(c, snapshot.totals, WNDL_HEAP_TOTALS);
    read_missed(c, snapshot.missed);
    const struct wndl_heap_snapshot *last =
        snapshots->len == 0 ? NULL : wndl_vec_at(snapshots, snapshots->len - 1);
    if (c->failed || (last != NULL && last->number >= snapshot.number))
        return WNDL_MALFORMED;
    thin_out_lived(list.heap);
    struct wndl_heap_snapshot *slot = wndl_vec_push(snapshots);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = snapshot;
    keep_if_wanted(r, list.heap, snapshot.number);
    r->counting = list.process;
    return wndl_profile_text(r->p, snapshot.text, &slot->text) ? WNDL_OK
                                                               : WNDL_NOMEM;
}

static enum wndl_status read_counts(struct wndl_heap_list *list, void *element)
{
    struct wndl_alloc_counts *counts = element;
    struct wndl_fields_counts fields = wndl_get_counts(list->c);
    counts->site = next_site(list, fields.site);
    counts->allocs = fields.allocs;
    counts->frees = fields.frees;
    counts->at_peak = fields.at_peak;
    counts->temporary = fields.temporary;
    counts->lifetime = fields.lifetime;
    if (counts->site == WNDL_NO_INDEX && !list->c->failed)
        list->heap->lost += counts->allocs;
    return wndl_heap_list_found(counts->site);
}

/* Keeps which blocks lived, of the counts from `first` on. */
static enum wndl_status keep_lived(struct wndl_process_heap *heap, size_t first)
{
    const uint32_t snapshot = (uint32_t)(heap->snapshots.len - 1);
    if (heap->lived_step == 0 || snapshot % heap->lived_step != 0)
        return WNDL_OK;
    for (size_t i = first; i < heap->counts.len; i++) {
        const struct wndl_alloc_counts *counts = wndl_vec_at(&heap->counts, i);
        const uint64_t blocks = wndl_alloc_live(counts);
        if (blocks == 0)
            continue;
        struct wndl_alloc_lived *lived = wndl_vec_push(&heap->lived);
        if (lived == NULL)
            return WNDL_NOMEM;
        *lived = (struct wndl_alloc_lived){
            .snapshot = snapshot, .site = counts->site, .blocks = blocks};
    }
    return WNDL_OK;
}

/* Counts of a snapshot that is not kept are ignored. */
enum wndl_status wndl_read_hcnt(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    struct wndl_fields_hcnt hcnt = wndl_get_hcnt(c);
    if (!wndl_heap_list_begin(&list, r, c, hcnt.process))
        return WNDL_MALFORMED;
    const struct wndl_vec *snapshots = &list.heap->snapshots;
    if (snapshots->len == 0)
        return WNDL_MALFORMED;
    const struct wndl_heap_snapshot *last =
        wndl_vec_at(snapshots, snapshots->len - 1);
    if (last->number != hcnt.snapshot)
        return WNDL_MALFORMED;
    r->counting = list.process;
    if (list.heap->kept != snapshots->len - 1)
        return WNDL_OK;
    const size_t first = list.heap->counts.len;
    enum wndl_status status = wndl_heap_list_read(
        &list, &list.heap->counts, WNDL_LEAST_COUNTS, read_counts);
    return status != WNDL_OK ? status : keep_lived(list.heap, first);
}

/* ---- the other lists */

static enum wndl_status read_moment(struct wndl_heap_list *list, void *element)
{
    struct wndl_heap_moment *moment = element;
    struct wndl_fields_moment fields = wndl_get_moment(list->c);
    if (__builtin_add_overflow(list->running, fields.time, &list->running))
        return WNDL_MALFORMED;
    moment->time = list->running;
    moment->bytes = fields.bytes;
    moment->blocks = fields.blocks;
    return WNDL_OK;
}

enum wndl_status wndl_read_htim(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    struct wndl_fields_htim htim = wndl_get_htim(c);
    if (!wndl_heap_list_begin(&list, r, c, htim.process))
        return WNDL_MALFORMED;
    list.running = htim.time;
    return wndl_heap_list_read(
        &list, &list.heap->moments, WNDL_LEAST_MOMENT, read_moment);
}

static enum wndl_status read_leaks(struct wndl_heap_list *list, void *element)
{
    struct wndl_alloc_leaks *leaks = element;
    struct wndl_fields_leaks fields = wndl_get_leaks(list->c);
    leaks->site = next_site(list, fields.site);
    leaks->definite = fields.definite;
    leaks->indirect = fields.indirect;
    leaks->possible = fields.possible;
    return wndl_heap_list_found(leaks->site);
}

enum wndl_status wndl_read_hlek(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_begin(&list, r, c, wndl_get_findings(c).process))
        return WNDL_MALFORMED;
    enum wndl_status status = wndl_heap_list_read(
        &list, &list.heap->leaks, WNDL_LEAST_LEAKS, read_leaks);
    list.heap->leaks_known |= status == WNDL_OK;
    return status;
}

static enum wndl_status read_growth(struct wndl_heap_list *list, void *element)
{
    enum { BY_COPY = 1 };
    struct wndl_alloc_growth *growth = element;
    struct wndl_fields_growth fields = wndl_get_growth(list->c);
    growth->node = wndl_heap_list_node(list, fields.node);
    growth->by_copy = fields.how == BY_COPY;
    growth->chains = fields.chains;
    growth->steps = fields.steps;
    growth->allocated = fields.allocated;
    growth->final = fields.final;
    growth->doubling = fields.doubling;
    growth->least_step = fields.least_step;
    growth->most_step = fields.most_step;
    return WNDL_OK;
}

enum wndl_status wndl_read_hgro(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_begin(&list, r, c, wndl_get_findings(c).process))
        return WNDL_MALFORMED;
    return wndl_heap_list_read(
        &list, &list.heap->growths, WNDL_LEAST_GROWTH, read_growth);
}

static enum wndl_status read_wrong(struct wndl_heap_list *list, void *element)
{
    struct wndl_alloc_wrong *wrong = element;
    struct wndl_fields_wrong fields = wndl_get_wrong(list->c);
    wrong->node = wndl_heap_list_node(list, fields.node);
    wrong->kind = fields.kind < WNDL_WRONG_FREES
                      ? (uint8_t)fields.kind
                      : (uint8_t)WNDL_WRONG_FREE_OTHER;
    wrong->count = fields.count;
    wrong->address = fields.address;
    return WNDL_OK;
}

enum wndl_status wndl_read_hwro(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_begin(&list, r, c, wndl_get_findings(c).process))
        return WNDL_MALFORMED;
    return wndl_heap_list_read(
        &list, &list.heap->wrongs, WNDL_LEAST_WRONG, read_wrong);
}

static uint8_t whose(uint64_t number)
{
    return number < WNDL_WHOSE_COUNT ? (uint8_t)number
                                     : (uint8_t)WNDL_WHOSE_UNKNOWN;
}

static enum wndl_status read_mixed(struct wndl_heap_list *list, void *element)
{
    struct wndl_fields_mixed fields = wndl_get_mixed(list->c);
    *(struct wndl_alloc_wrong *)element = (struct wndl_alloc_wrong){
        .node = wndl_heap_list_node(list, fields.node),
        .kind = WNDL_WRONG_FREE_ALLOCATOR,
        .count = fields.count,
        .address = fields.address,
        .taken_at = wndl_heap_list_node(list, fields.taken_at),
        .taken_by = whose(fields.taken_by),
        .freed_by = whose(fields.freed_by),
    };
    return WNDL_OK;
}

enum wndl_status wndl_read_hmix(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_begin(&list, r, c, wndl_get_findings(c).process))
        return WNDL_MALFORMED;
    return wndl_heap_list_read(
        &list, &list.heap->wrongs, WNDL_LEAST_MIXED, read_mixed);
}

static enum wndl_status read_together(
    struct wndl_heap_list *list, void *element)
{
    struct wndl_alloc_together *together = element;
    struct wndl_fields_together fields = wndl_get_together(list->c);
    together->site = wndl_reader_known(&list->of->sites, fields.site);
    together->other = wndl_reader_known(&list->of->sites, fields.other);
    together->blocks = fields.blocks;
    return together->site == WNDL_NO_INDEX
               ? WNDL_NOT_FOUND
               : wndl_heap_list_found(together->other);
}

enum wndl_status wndl_read_htog(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_begin(&list, r, c, wndl_get_findings(c).process))
        return WNDL_MALFORMED;
    return wndl_heap_list_read(
        &list, &list.heap->together, WNDL_LEAST_TOGETHER, read_together);
}

/* ---- the scan */

/* `numbers` has only grown since they were kept. */
static bool keep_numbers(struct wndl_vec *kept, const struct wndl_vec *numbers)
{
    if (!wndl_vec_reserve(kept, numbers->len - kept->len))
        return false;
    if (numbers->len != 0)
        memcpy(kept->data, numbers->data, numbers->len * numbers->element);
    kept->len = numbers->len;
    return true;
}

static enum wndl_status keep_known(struct wndl_heap_list *list)
{
    struct wndl_process_heap *heap = list->heap;
    const struct wndl_vec *nodes = wndl_vec_at(&list->r->nodes, list->process);
    return keep_numbers(&heap->scan_sites, &list->of->sites) &&
                   keep_numbers(&heap->scan_nodes, nodes)
               ? WNDL_OK
               : WNDL_NOMEM;
}

static enum wndl_status add_bytes(
    struct wndl_vec *scan, const struct wndl_bytes *bytes)
{
    if (!wndl_vec_reserve(scan, bytes->size))
        return WNDL_NOMEM;
    memcpy((uint8_t *)scan->data + scan->len, bytes->data, bytes->size);
    scan->len += bytes->size;
    return WNDL_OK;
}

static void forget_contents(struct wndl_process_heap *heap)
{
    heap->contents_read.len = 0;
    heap->contents_size = 0;
}

/* A part that is missing leaves all of them out: their scan comes later. */
enum wndl_status wndl_read_hcon(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    const struct wndl_fields_hcon hcon = wndl_get_hcon(c);
    if (!wndl_heap_list_begin(&list, r, c, hcon.process))
        return WNDL_MALFORMED;
    struct wndl_process_heap *heap = list.heap;
    if (hcon.position == 0)
        forget_contents(heap);
    if (c->failed || hcon.bytes.size == 0 ||
        hcon.position != heap->contents_size)
        return WNDL_MALFORMED;
    struct wndl_bytes *part = wndl_vec_push(&heap->contents_read);
    if (part == NULL)
        return WNDL_NOMEM;
    *part = hcon.bytes;
    heap->contents_size += hcon.bytes.size;
    return WNDL_OK;
}

/* The contents read so far belong to this scan, if they are all that it has. */
static void keep_contents(struct wndl_process_heap *heap, uint64_t size)
{
    const struct wndl_vec before = heap->contents;
    heap->contents.len = 0;
    if (size == 0 || size != heap->contents_size)
        return;
    heap->contents = heap->contents_read;
    heap->contents_read = before;
    forget_contents(heap);
}

/* Whether the scan is of the snapshot that is wanted. */
static bool is_wanted_scan(const struct wndl_reader *r, uint64_t snapshot)
{
    return r->p->wanted_snapshot == WNDL_LAST_SNAPSHOT ||
           r->p->wanted_snapshot == snapshot;
}

/* The last scan is kept. Without one of its parts it cannot be read. */
enum wndl_status wndl_read_hscn(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    const struct wndl_fields_hscn hscn = wndl_get_hscn(c);
    if (!wndl_heap_list_begin(&list, r, c, hscn.process))
        return WNDL_MALFORMED;
    struct wndl_process_heap *heap = list.heap;
    if (!is_wanted_scan(r, hscn.snapshot))
        return WNDL_OK;
    if (hscn.position == 0) {
        heap->scan.len = 0;
        keep_contents(heap, hscn.contents);
    } else if (heap->scan_end == WNDL_SCAN_DAMAGED) {
        return WNDL_OK;
    }
    if (hscn.position != heap->scan.len || hscn.end >= WNDL_SCAN_DAMAGED) {
        heap->scan_end = WNDL_SCAN_DAMAGED;
        return WNDL_MALFORMED;
    }
    heap->scan_end = (uint8_t)hscn.end;
    heap->scan_written = hscn.written;
    heap->scan_stopped = hscn.stopped;
    if (hscn.bytes.size == 0)
        return WNDL_OK;
    enum wndl_status status = keep_known(&list);
    return status != WNDL_OK ? status : add_bytes(&heap->scan, &hscn.bytes);
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
