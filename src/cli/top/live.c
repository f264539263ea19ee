/* SPDX-License-Identifier: MIT */
#include "cli/top/live.h"

#include "analyze/heap/spans.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define NS_PER_SECOND UINT64_C(1000000000)

bool wndl_top_live_init(
    struct wndl_top_live *live, const struct wndl_symbol_options *symbols)
{
    *live =
        (struct wndl_top_live){.fd = -1, .started = wndl_clock_monotonic_ns()};
    wndl_kept_symbols_init(&live->kept);
    wndl_debug_dirs_init(&live->dirs, &symbols->debug_dirs);
    live->sources = (struct wndl_symbol_sources){
        .debug_dirs = live->dirs.list,
        .debuginfod = wndl_asks_debuginfod(symbols),
        .cache = wndl_symbol_cache(symbols, &live->cache),
        .kept = &live->kept,
    };
    bool made = wndl_profile_init(&live->profile, wndl_mem_libc());
    live->profile.wanted_snapshot = WNDL_LAST_SNAPSHOT;
    wndl_map_init(&live->samples, &live->profile.arena);
    wndl_map_init(&live->blocks, &live->profile.arena);
    wndl_vec_init(
        &live->other_samples, &live->profile.arena, sizeof(struct wndl_sample));
    wndl_vec_init(
        &live->other_blocks, &live->profile.arena, sizeof(struct wndl_block));
    return made && wndl_follower_init(&live->follower, &live->profile);
}

void wndl_top_live_free(struct wndl_top_live *live)
{
    if (live->fd >= 0)
        close(live->fd);
    if (live->is_named)
        wndl_symbolized_free(&live->symbolized);
    wndl_kept_symbols_close(&live->kept);
    wndl_follower_free(&live->follower);
    wndl_profile_free(&live->profile);
}

/* ---- sums */

/* A sample's time has 32 bits: a sum that is full begins another one. */
static bool sum_samples(struct wndl_top_live *live)
{
    struct wndl_sample *all = live->profile.samples.data;
    size_t kept = live->sample_count;
    for (size_t i = kept; i < live->profile.samples.len; i++) {
        uint64_t *slot = wndl_map_put(
            &live->samples, (uint64_t)all[i].thread << 36 |
                                (uint64_t)all[i].end << 32 | all[i].node);
        if (slot == NULL)
            return false;
        if (*slot != 0 && UINT32_MAX - all[*slot - 1].cpu >= all[i].cpu) {
            all[*slot - 1].cpu += all[i].cpu;
            continue;
        }
        all[kept] = all[i];
        *slot = ++kept;
    }
    live->profile.samples.len = kept;
    live->sample_count = kept;
    return true;
}

static bool sum_blocks(struct wndl_top_live *live)
{
    struct wndl_block *all = live->profile.blocks.data;
    size_t kept = live->block_count;
    for (size_t i = kept; i < live->profile.blocks.len; i++) {
        uint64_t *slot = wndl_map_put(
            &live->blocks, (uint64_t)all[i].thread << 36 |
                               (uint64_t)all[i].waiting << 32 | all[i].node);
        if (slot == NULL)
            return false;
        if (*slot != 0) {
            all[*slot - 1].duration += all[i].duration;
            continue;
        }
        all[kept] = all[i];
        *slot = ++kept;
    }
    live->profile.blocks.len = kept;
    live->block_count = kept;
    return true;
}

static void swap_vecs(struct wndl_vec *a, struct wndl_vec *b)
{
    const struct wndl_vec kept = *a;
    *a = *b;
    *b = kept;
}

void wndl_top_live_show(struct wndl_top_live *live, bool heap)
{
    if (live->shows_heap == heap)
        return;
    swap_vecs(&live->profile.samples, &live->other_samples);
    swap_vecs(&live->profile.blocks, &live->other_blocks);
    live->shows_heap = heap;
}

/* The last snapshot of a heap is what counts, once all of it has been read. */
static bool sum_heaps(struct wndl_top_live *live)
{
    const struct wndl_heap_choice choice = {.set = WNDL_HEAP_SET_LIVE};
    if (live->profile.heaps.len == 0 ||
        live->follower.reader.counting != WNDL_NO_INDEX)
        return true;
    wndl_top_live_show(live, true);
    return wndl_heap_as_spans(&live->profile, &choice);
}

static bool sum_all(struct wndl_top_live *live)
{
    return sum_samples(live) && sum_blocks(live) && sum_heaps(live);
}

/* ---- names */

/* Frames without a name yet belong to no function. */
static bool leave_unnamed(struct wndl_top_live *live)
{
    struct wndl_vec *spans = &live->symbolized.spans;
    while (spans->len < live->profile.frames.len) {
        if (wndl_vec_push(spans) == NULL)
            return false;
    }
    return true;
}

static bool is_too_soon(const struct wndl_top_live *live, uint64_t now)
{
    enum { FIRST_SECONDS = 5, PART = 100 };
    return live->is_named &&
           now - live->started > FIRST_SECONDS * NS_PER_SECOND &&
           now - live->named_at < PART * live->naming;
}

static enum wndl_status find_names(
    struct wndl_top_live *live, uint64_t now, struct wndl_error *err)
{
    if (live->is_named)
        wndl_symbolized_free(&live->symbolized);
    live->is_named = wndl_symbolized_init(
        &live->symbolized, &live->profile, wndl_mem_libc());
    if (!live->is_named)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    enum wndl_status status =
        wndl_symbolize_profile(&live->symbolized, &live->sources, NULL, err);
    live->named_frames = live->profile.frames.len;
    live->named_at = now;
    live->naming = wndl_clock_monotonic_ns() - now;
    return status;
}

static enum wndl_status name_frames(
    struct wndl_top_live *live, bool at_once, struct wndl_error *err)
{
    uint64_t now = wndl_clock_monotonic_ns();
    size_t frames = live->profile.frames.len;
    bool is_new = !live->is_named || frames != live->named_frames;
    if (live->is_named && !is_new && !at_once)
        return WNDL_OK;
    if (at_once || !is_too_soon(live, now))
        return find_names(live, now, err);
    return leave_unnamed(live) ? WNDL_OK
                               : wndl_fail(err, WNDL_NOMEM, "out of memory");
}

enum wndl_status wndl_top_live_read(struct wndl_top_live *live,
    const char *path, bool at_once, struct wndl_error *err)
{
    if (live->fd < 0)
        live->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (live->fd < 0 && errno != ENOENT)
        return wndl_fail_errno(err, errno, "cannot open the recording");
    const bool shows_heap = live->shows_heap;
    wndl_top_live_show(live, false);
    if (live->fd >= 0) {
        enum wndl_status status =
            wndl_follower_read(&live->follower, live->fd, err);
        if (status != WNDL_OK)
            return status;
    }
    if (!sum_all(live))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_top_live_show(live, shows_heap);
    return name_frames(live, at_once, err);
}

/* ---- callers */

struct calls {
    const struct wndl_top_live *live;
    uint32_t function;
    uint64_t *total;           /* by node */
    struct wndl_map by_caller; /* cost, by function + 1 */
};

static const struct wndl_span *span_of(
    const struct wndl_top_live *live, uint32_t node)
{
    const struct wndl_node *at = wndl_vec_at(&live->profile.nodes, node);
    return wndl_vec_at(&live->symbolized.spans, at->frame);
}

static uint32_t function_at(
    const struct wndl_top_live *live, const struct wndl_span *span, uint32_t i)
{
    return wndl_symbolized_location(&live->symbolized, span, i)->function;
}

/* The function after location `i` of a node's frame; WNDL_NO_INDEX: none. */
static uint32_t caller_after(
    const struct wndl_top_live *live, uint32_t node, uint32_t i)
{
    const struct wndl_span *span = span_of(live, node);
    const struct wndl_node *at = wndl_vec_at(&live->profile.nodes, node);
    if (i + 1 < span->count)
        return function_at(live, span, i + 1);
    if (at->parent == 0)
        return WNDL_NO_INDEX;
    span = span_of(live, at->parent);
    return span->count == 0 ? WNDL_NO_INDEX : function_at(live, span, 0);
}

/* Whether the same call is nearer the root of the node's stack. */
static bool is_repeated(
    const struct calls *calls, uint32_t node, uint32_t caller)
{
    const struct wndl_top_live *live = calls->live;
    const struct wndl_node *at = wndl_vec_at(&live->profile.nodes, node);
    for (uint32_t n = at->parent; n != 0; n = at->parent) {
        const struct wndl_span *span = span_of(live, n);
        at = wndl_vec_at(&live->profile.nodes, n);
        for (uint32_t i = 0; i < span->count; i++) {
            if (function_at(live, span, i) == calls->function &&
                caller_after(live, n, i) == caller)
                return true;
        }
    }
    return false;
}

static bool add_node(struct calls *calls, uint32_t node)
{
    const struct wndl_span *span = span_of(calls->live, node);
    for (uint32_t i = 0; i < span->count; i++) {
        if (function_at(calls->live, span, i) != calls->function)
            continue;
        uint32_t caller = caller_after(calls->live, node, i);
        if (caller == WNDL_NO_INDEX || caller == calls->function ||
            is_repeated(calls, node, caller))
            continue;
        uint64_t *sum = wndl_map_put(&calls->by_caller, (uint64_t)caller + 1);
        if (sum == NULL)
            return false;
        *sum += calls->total[node];
    }
    return true;
}

/* A parent's number is smaller than those of its nodes. */
static bool add_nodes(struct calls *calls, enum wndl_time time)
{
    const struct wndl_profile *p = &calls->live->profile;
    struct wndl_cost_item item;
    for (size_t at = 0; wndl_costs_next(p, time, &at, &item);)
        calls->total[item.node] += item.cost.time;
    for (uint32_t i = (uint32_t)p->nodes.len; i-- > 1;) {
        const struct wndl_node *node = wndl_vec_at(&p->nodes, i);
        if (calls->total[i] != 0 && !add_node(calls, i))
            return false;
        calls->total[node->parent] += calls->total[i];
    }
    return true;
}

static int compare_callers(const void *a, const void *b)
{
    const struct wndl_top_live_caller *x = a, *y = b;
    return (x->cost < y->cost) - (x->cost > y->cost);
}

static bool list_callers(struct calls *calls, struct wndl_vec *callers)
{
    const size_t functions = calls->live->symbolized.functions.len;
    for (uint32_t f = 0; f < functions; f++) {
        const uint64_t *cost = wndl_map_get(&calls->by_caller, (uint64_t)f + 1);
        if (cost == NULL || *cost == 0)
            continue;
        struct wndl_top_live_caller *slot = wndl_vec_push(callers);
        if (slot == NULL)
            return false;
        *slot = (struct wndl_top_live_caller){f, *cost};
    }
    if (callers->len != 0)
        qsort(callers->data, callers->len, sizeof(struct wndl_top_live_caller),
            compare_callers);
    return true;
}

bool wndl_top_live_callers(const struct wndl_top_live *live,
    enum wndl_time time, uint32_t function, struct wndl_vec *callers)
{
    struct calls calls = {.live = live, .function = function};
    calls.total = wndl_arena_calloc(
        callers->arena, live->profile.nodes.len + 1, sizeof(uint64_t));
    wndl_map_init(&calls.by_caller, callers->arena);
    return calls.total != NULL && add_nodes(&calls, time) &&
           list_callers(&calls, callers);
}
