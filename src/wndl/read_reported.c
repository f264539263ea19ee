/* SPDX-License-Identifier: MIT */
/*
 * read_reported: the chunks of what memory reporters said of a heap, and of the
 * memory that it takes (docs/formats/wndl.md, HREP, HFAL and HMEM).
 */
#include "model/heap.h"
#include "wndl/fields.h"
#include "wndl/heap_list.h"

static struct wndl_alloc_reporter known_reporter(
    const struct wndl_heap_list *list, uint64_t node, uint64_t end)
{
    return (struct wndl_alloc_reporter){
        .node = wndl_heap_list_node(list, node),
        .end = wndl_reader_walk_end(end),
    };
}

static enum wndl_status read_reported(
    struct wndl_heap_list *list, void *element)
{
    enum { MOST = 2 };
    struct wndl_alloc_reported *reported = element;
    const struct wndl_fields_reported fields = wndl_get_reported(list->c);
    reported->site = wndl_reader_known(&list->of->sites, fields.site);
    reported->reports =
        (uint8_t)(fields.reports < MOST ? fields.reports : MOST);
    reported->blocks = fields.blocks;
    reported->by[0] = known_reporter(list, fields.node, fields.end);
    reported->by[1] = known_reporter(list, fields.again_node, fields.again_end);
    if (reported->site == WNDL_NO_INDEX && !list->c->failed &&
        __builtin_add_overflow(list->heap->reported_lost, fields.blocks,
            &list->heap->reported_lost))
        list->heap->reported_lost = UINT64_MAX;
    return wndl_heap_list_found(reported->site);
}

/* Reports until the wanted snapshot: the last are kept. */
static bool is_wanted(const struct wndl_reader *r, uint64_t snapshot)
{
    return r->p->wanted_snapshot == WNDL_LAST_SNAPSHOT ||
           snapshot <= r->p->wanted_snapshot;
}

enum wndl_status wndl_read_hrep(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    const struct wndl_fields_hrep hrep = wndl_get_hrep(c);
    if (!wndl_heap_list_begin(&list, r, c, hrep.process))
        return WNDL_MALFORMED;
    struct wndl_process_heap *heap = list.heap;
    if (!is_wanted(r, hrep.snapshot))
        return WNDL_OK;
    const bool is_more =
        heap->reported_known && heap->reported_snapshot == hrep.snapshot;
    if (heap->reported_known && hrep.snapshot < heap->reported_snapshot)
        return WNDL_MALFORMED;
    if (!is_more) {
        heap->reported.len = 0;
        heap->reported_lost = hrep.lost;
    }
    heap->reported_known = true;
    heap->reported_snapshot = hrep.snapshot;
    heap->reported_time = hrep.time;
    return wndl_heap_list_read(
        &list, &heap->reported, WNDL_LEAST_REPORTED, read_reported);
}

enum wndl_status wndl_read_hfal(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    const struct wndl_fields_hfal hfal = wndl_get_hfal(c);
    if (!wndl_heap_list_begin(&list, r, c, hfal.process))
        return WNDL_MALFORMED;
    if (list.heap->reporter_failure != WNDL_REPORTER_NONE)
        return WNDL_OK;
    list.heap->reporter_failure = hfal.how < WNDL_REPORTER_OTHER
                                      ? (enum wndl_reporter_failure)hfal.how
                                      : WNDL_REPORTER_OTHER;
    return wndl_profile_text(r->p, hfal.reporter, &list.heap->reporter)
               ? WNDL_OK
               : WNDL_NOMEM;
}

/* Kinds that this version does not know are other ones. */
enum wndl_status wndl_read_hmem(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    const struct wndl_fields_hmem hmem = wndl_get_hmem(c);
    if (!wndl_heap_list_begin(&list, r, c, hmem.process))
        return WNDL_MALFORMED;
    const uint64_t kinds = wndl_get_list(c, WNDL_LEAST_NUMBER);
    struct wndl_heap_memory memory = {
        .time = hmem.time,
        .live = hmem.live,
        .live_mapped = hmem.live_mapped,
        .sum = {.proportional = hmem.proportional, .mapped = hmem.mapped},
    };
    uint64_t all = 0;
    for (uint64_t i = 0; i < kinds && !c->failed; i++) {
        const uint64_t bytes = wndl_get_number(c).value;
        if (__builtin_add_overflow(all, bytes, &all))
            return WNDL_MALFORMED;
        memory.sum.resident[i < WNDL_MEMORY_OTHER ? i : WNDL_MEMORY_OTHER] +=
            bytes;
    }
    if (c->failed)
        return WNDL_MALFORMED;
    struct wndl_heap_memory *kept = wndl_vec_push(&list.heap->memory);
    if (kept == NULL)
        return WNDL_NOMEM;
    *kept = memory;
    return WNDL_OK;
}

static enum wndl_status read_place(struct wndl_heap_list *list, void *element)
{
    struct wndl_heap_place *place = element;
    const struct wndl_fields_place fields = wndl_get_place(list->c);
    place->kind = fields.kind < WNDL_MEMORY_OTHER ? (uint32_t)fields.kind
                                                  : (uint32_t)WNDL_MEMORY_OTHER;
    place->bytes = fields.bytes;
    place->node = wndl_heap_list_node(list, fields.node);
    place->start = fields.start;
    place->live = fields.live;
    if (list->c->failed)
        return WNDL_MALFORMED;
    return wndl_profile_text(list->r->p, fields.name, &place->name)
               ? WNDL_OK
               : WNDL_NOMEM;
}

/* A measurement may have several such chunks, one after the other. */
enum wndl_status wndl_read_hwho(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_heap_list list;
    if (!wndl_heap_list_begin(&list, r, c, wndl_get_hwho(c).process))
        return WNDL_MALFORMED;
    struct wndl_vec *places = &list.heap->places;
    const size_t first = places->len;
    const enum wndl_status status =
        wndl_heap_list_read(&list, places, WNDL_LEAST_PLACE, read_place);
    struct wndl_vec *memory = &list.heap->memory;
    if (status != WNDL_OK || memory->len == 0)
        return status;
    struct wndl_heap_memory *of = wndl_vec_at(memory, memory->len - 1);
    if (of->place_count == 0)
        of->first_place = (uint32_t)first;
    of->place_count += (uint32_t)(places->len - first);
    return WNDL_OK;
}
