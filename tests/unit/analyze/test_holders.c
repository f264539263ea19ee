/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/holders/dominators.h"
#include "analyze/holders/graph.h"
#include "analyze/holders/members.h"
#include "analyze/holders/reach.h"
#include "analyze/holders/steps.h"
#include "base/buf.h"
#include "model/profile.h"

#include <stdio.h>
#include <stdlib.h>

enum { GRAPHS = 1000, MOST_BLOCKS = 14, MOST_ROOTS = 3, LONG_CHAIN = 300000 };

struct made {
    struct wndl_heap_graph graph;
    uint32_t first_edge[MOST_BLOCKS + MOST_ROOTS + 1];
    struct wndl_heap_edge edges[400];
};

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static void make_graph(struct made *m)
{
    struct wndl_heap_graph *g = &m->graph;
    *m = (struct made){0};
    g->block_count = 1 + draw(MOST_BLOCKS);
    g->root_count = draw(MOST_ROOTS + 1);
    g->first_edge = m->first_edge;
    g->edges = m->edges;
    uint32_t count = 0;
    for (uint32_t n = 0; n < wndl_heap_graph_nodes(g); n++) {
        m->first_edge[n] = count;
        for (uint32_t left = draw(4); left > 0; left--)
            m->edges[count++] = (struct wndl_heap_edge){
                .target = draw(g->block_count), .conservative = draw(4) == 0};
    }
    m->first_edge[wndl_heap_graph_nodes(g)] = count;
}

static uint64_t size_of(const void *context, uint32_t block)
{
    (void)context;
    return 16 + (uint64_t)block;
}

/* Sets, a bit a node. Marks what `from` leads to without node `without`. */
static uint32_t spread(
    const struct wndl_heap_graph *g, uint32_t from, uint32_t without)
{
    uint32_t before, reached = from & ~without;
    do {
        before = reached;
        for (uint32_t n = 0; n < wndl_heap_graph_nodes(g); n++) {
            if ((reached >> n & 1) == 0)
                continue;
            for (uint32_t e = g->first_edge[n]; e < g->first_edge[n + 1]; e++)
                reached |= UINT32_C(1) << g->edges[e].target & ~without;
        }
    } while (reached != before);
    return reached;
}

static uint32_t all_roots(const struct wndl_heap_graph *g)
{
    return ((UINT32_C(1) << g->root_count) - 1) << g->block_count;
}

static uint32_t bits_of(const uint32_t *nodes, uint32_t count)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits |= UINT32_C(1) << nodes[i];
    return bits;
}

/* Whether `by` dominates `node` among what `tops` lead to. */
static bool is_dominated(
    const struct wndl_heap_graph *g, uint32_t tops, uint32_t by, uint32_t node)
{
    return by != node && (spread(g, tops, UINT32_C(1) << by) >> node & 1) == 0;
}

/* The dominator that all other dominators dominate. */
static uint32_t nearest(
    const struct wndl_heap_graph *g, uint32_t tops, uint32_t node)
{
    const uint32_t among = spread(g, tops, 0);
    uint32_t best = WNDL_NO_INDEX;
    for (uint32_t by = 0; by < wndl_heap_graph_nodes(g); by++) {
        if ((among >> by & 1) != 0 && is_dominated(g, tops, by, node) &&
            (best == WNDL_NO_INDEX || is_dominated(g, tops, best, by)))
            best = by;
    }
    return best;
}

/* What is lost may point to what is not: it is out of the leaks' graph. */
static void compare_leaks(const struct wndl_heap_graph *g, uint32_t rooted,
    const struct wndl_heap_dominators *d)
{
    const uint32_t leaders = bits_of(d->leaders, d->leader_count);
    const uint32_t all = (UINT32_C(1) << g->block_count) - 1;
    assert_int_equal(leaders & rooted, 0);
    assert_int_equal((spread(g, leaders, 0) | rooted) & all, all);
    for (uint32_t i = 0; i < d->leader_count; i++) {
        const uint32_t one = UINT32_C(1) << d->leaders[i];
        assert_int_equal(spread(g, leaders & ~one, 0) & one, 0);
        assert_int_equal(d->of[d->leaders[i]], WNDL_NO_INDEX);
    }
    for (uint32_t n = 0; n < g->block_count; n++) {
        if ((rooted >> n & 1) == 0)
            assert_int_equal(d->of[n], nearest(g, leaders, n));
    }
}

static void compare_retained(
    const struct wndl_heap_graph *g, const struct wndl_heap_dominators *d)
{
    for (uint32_t n = 0; n < wndl_heap_graph_nodes(g); n++) {
        uint64_t sum = 0;
        for (uint32_t block = 0; block < g->block_count; block++) {
            uint32_t at = block;
            while (at != n && at != WNDL_NO_INDEX)
                at = d->of[at];
            sum += at == n ? size_of(NULL, block) : 0;
        }
        assert_int_equal(d->retained[n], sum);
    }
}

static void dominators_are_those_of_a_naive_model(void **state)
{
    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        struct made m;
        struct wndl_arena arena;
        struct wndl_heap_dominators d;
        wndl_arena_init(&arena, wndl_mem_libc());
        make_graph(&m);
        assert_true(
            wndl_heap_dominators_fill(&d, &m.graph, size_of, NULL, &arena));
        const uint32_t roots = all_roots(&m.graph);
        const uint32_t rooted = spread(&m.graph, roots, 0);
        for (uint32_t n = 0; n < m.graph.block_count; n++) {
            if ((rooted >> n & 1) != 0)
                assert_int_equal(d.of[n], nearest(&m.graph, roots, n));
        }
        compare_leaks(&m.graph, rooted, &d);
        compare_retained(&m.graph, &d);
        assert_int_equal(d.order_count, wndl_heap_graph_nodes(&m.graph));
        wndl_arena_free(&arena);
    }
}

/* ---- chains */

/* The fewest steps from a root, of certain pointers or of any; 0: none. */
static uint32_t distance(
    const struct wndl_heap_graph *g, uint32_t node, bool certain)
{
    uint32_t reached = all_roots(g), steps = 0, before = 0;
    while ((reached >> node & 1) == 0 && reached != before) {
        before = reached;
        steps++;
        for (uint32_t n = 0; n < wndl_heap_graph_nodes(g); n++) {
            for (uint32_t e = g->first_edge[n];
                 (before >> n & 1) != 0 && e < g->first_edge[n + 1]; e++) {
                if (!certain || !g->edges[e].conservative)
                    reached |= UINT32_C(1) << g->edges[e].target;
            }
        }
    }
    return (reached >> node & 1) == 0 ? 0 : steps;
}

static uint32_t length_of(const struct wndl_heap_graph *g,
    const struct wndl_heap_reach *reach, uint32_t node, bool *certain)
{
    uint32_t length = 0;
    *certain = true;
    for (; reach->holders[node] != WNDL_NO_INDEX; node = reach->holders[node]) {
        const struct wndl_heap_edge *e = &g->edges[reach->edges[node]];
        assert_int_equal(e->target, node);
        *certain &= !e->conservative;
        length++;
    }
    assert_true(length == 0 || node >= g->block_count);
    return length;
}

static void chains_are_short_and_certain_where_they_can_be(void **state)
{
    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        struct made m;
        struct wndl_arena arena;
        struct wndl_heap_reach reach;
        wndl_arena_init(&arena, wndl_mem_libc());
        make_graph(&m);
        assert_true(wndl_heap_reach_fill(&reach, &m.graph, &arena));
        for (uint32_t n = 0; n < m.graph.block_count; n++) {
            bool certain;
            const uint32_t length = length_of(&m.graph, &reach, n, &certain);
            const uint32_t shortest = distance(&m.graph, n, true);
            if (shortest != 0) {
                assert_int_equal(length, shortest);
                assert_true(certain);
            } else {
                assert_int_equal(
                    length != 0, distance(&m.graph, n, false) != 0);
            }
        }
        wndl_arena_free(&arena);
    }
}

/* ---- the scan in the file */

static void put_edge(
    struct wndl_buf *out, uint32_t words, int64_t difference, bool conservative)
{
    wndl_buf_uleb(out, words);
    wndl_buf_uleb(
        out, ((uint64_t)difference << 1 ^ (uint64_t)(difference >> 63)) << 1 |
                 conservative);
}

/*
 * Three blocks at 0x1000, 0x1010 and 0x1040, of sites 1, none and 0. The first
 * points to the third at word 2, and at word 3 into the second. A module's
 * words 0 and 1, of one variable, and word 9 point to the first block.
 */
static void put_scan(struct wndl_buf *out)
{
    wndl_buf_uleb(out, 3);
    wndl_buf_uleb(out, 0x1000 / 8);
    wndl_buf_uleb(out, 2);
    put_edge(out, 3, 2, false);
    put_edge(out, 1, -1, true);
    wndl_buf_uleb(out, 0);
    wndl_buf_uleb(out, 2);
    wndl_buf_uleb(out, 0);
    wndl_buf_uleb(out, 0);
    wndl_buf_uleb(out, 6);
    wndl_buf_uleb(out, 1);
    wndl_buf_uleb(out, 0);
    wndl_buf_uleb(out, WNDL_HEAP_ROOT_DATA);
    wndl_buf_uleb(out, 0x400000);
    wndl_buf_uleb(out, 0x1000);
    wndl_buf_uleb(out, 0x3000);
    wndl_buf_uleb(out, 4);
    wndl_buf_text(out, "/app");
    put_edge(out, 1, 0, false);
    put_edge(out, 1, 0, false);
    put_edge(out, 8, 0, false);
    wndl_buf_uleb(out, 0);
}

static bool find_variable(void *context, struct wndl_bytes path, uint64_t svma,
    struct wndl_heap_root *variable)
{
    static const char name[] = "table";
    (void)context;
    if (path.size != 4 || svma >= 0x3010)
        return false;
    variable->svma = 0x3000;
    variable->size = 16;
    variable->name = (struct wndl_bytes){(const uint8_t *)name, 5};
    return true;
}

static enum wndl_status read_scan(struct wndl_heap_graph *g,
    struct wndl_bytes scan, struct wndl_mem *mem, struct wndl_error *err)
{
    static const struct wndl_heap_variables variables = {find_variable, NULL};
    uint32_t sites[] = {5, 7}, nodes[] = {0, 9, WNDL_NO_INDEX};
    struct wndl_process_heap heap = {
        .scan = {.data = (void *)(uintptr_t)scan.data,
            .len = scan.size,
            .element = 1},
        .scan_sites = {.data = sites, .len = 2, .element = sizeof sites[0]},
        .scan_nodes = {.data = nodes, .len = 3, .element = sizeof nodes[0]},
    };
    return wndl_heap_graph_read(g, &heap, &variables, mem, err);
}

static void a_scan_becomes_a_graph(void **state)
{
    (void)state;
    struct wndl_buf out;
    struct wndl_heap_graph g;
    struct wndl_error err = {0};
    wndl_buf_init(&out, wndl_mem_libc());
    put_scan(&out);
    const struct wndl_bytes scan = {out.data, out.size};
    assert_int_equal(read_scan(&g, scan, wndl_mem_libc(), &err), WNDL_OK);
    assert_int_equal(g.block_count, 3);
    assert_int_equal(g.addresses[1], 0x1010);
    assert_int_equal(g.addresses[2], 0x1040);
    assert_int_equal(g.sites[0], 7);
    assert_int_equal(g.sites[1], WNDL_NO_INDEX);
    assert_int_equal(g.sites[2], 5);
    assert_int_equal(g.first_edge[1], 2);
    assert_int_equal(g.edges[0].target, 2);
    assert_int_equal(g.edges[0].offset, 2);
    assert_int_equal(g.edges[1].target, 1);
    assert_int_equal(g.edges[1].offset, 3);
    assert_true(g.edges[1].conservative);
    assert_int_equal(g.root_count, 2);
    assert_int_equal(g.roots[0].name.size, 5);
    assert_int_equal(g.roots[0].address, 0x400000);
    assert_int_equal(g.first_edge[4] - g.first_edge[3], 2);
    assert_int_equal(g.edges[3].offset, 1);
    assert_int_equal(g.roots[1].name.size, 0);
    assert_int_equal(g.roots[1].svma, 0x3048);
    assert_int_equal(g.edges[4].offset, 0);
    assert_int_equal(g.first_edge[5], 5);
    wndl_heap_graph_free(&g);
    wndl_buf_free(&out);
}

/* Parts of a stack whose text is `size` bytes of a node and its callers. */
static struct wndl_heap_root read_part(const uint8_t *text, size_t size)
{
    struct wndl_buf out;
    struct wndl_heap_graph g;
    struct wndl_error err = {0};
    wndl_buf_init(&out, wndl_mem_libc());
    wndl_buf_add(&out, (const uint8_t[]){1, 2, 0, 0}, 4);
    wndl_buf_add(&out, (const uint8_t[]){WNDL_HEAP_ROOT_FRAME, 80, 64, 7}, 4);
    wndl_buf_uleb(&out, size);
    wndl_buf_add(&out, text, size);
    put_edge(&out, 2, 0, false);
    put_edge(&out, 5, 0, false);
    wndl_buf_uleb(&out, 0);
    const struct wndl_bytes scan = {out.data, out.size};
    assert_int_equal(read_scan(&g, scan, wndl_mem_libc(), &err), WNDL_OK);
    assert_int_equal(g.root_count, 1);
    const struct wndl_heap_root root = g.roots[0];
    assert_int_equal(g.edges[1].offset, 6);
    wndl_heap_graph_free(&g);
    wndl_buf_free(&out);
    return root;
}

static void a_part_of_a_stack_has_its_function(void **state)
{
    (void)state;
    const uint8_t known[] = {1, 4}, lost[] = {2, 4}, beyond[] = {3, 4};
    const struct wndl_heap_root root = read_part(known, 2);
    assert_int_equal(root.kind, WNDL_HEAP_ROOT_FRAME);
    assert_int_equal(root.svma, 7);
    assert_int_equal(root.node, 9);
    assert_int_equal(root.callers, 4);
    assert_int_equal(root.path.size, 0);
    assert_int_equal(read_part(known, 1).node, 0);
    assert_int_equal(read_part(known, 0).node, 0);
    assert_int_equal(read_part(lost, 2).node, 0);
    assert_int_equal(read_part(beyond, 2).node, 0);
}

/* Damage is told with its place, or what is read is within bounds. */
static void read_prefix(struct wndl_bytes prefix, void *context)
{
    struct wndl_heap_graph g;
    struct wndl_error err = {0};
    (void)context;
    const enum wndl_status status =
        read_scan(&g, prefix, wndl_mem_libc(), &err);
    if (prefix.size == 0)
        assert_int_equal(status, WNDL_NOT_FOUND);
    else if (status == WNDL_OK)
        assert_int_equal(g.root_count, 0);
    else
        assert_int_equal(status, WNDL_MALFORMED);
    wndl_heap_graph_free(&g);
}

static void a_scan_may_end_anywhere(void **state)
{
    (void)state;
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    put_scan(&out);
    for_each_truncation(
        (struct wndl_bytes){out.data, out.size - 1}, read_prefix, NULL);
    wndl_buf_free(&out);
}

static void a_scan_may_have_any_bytes(void **state)
{
    (void)state;
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    put_scan(&out);
    for (int i = 0; i < 20000; i++) {
        struct wndl_heap_graph g;
        struct wndl_error err = {0};
        const uint32_t at = draw((uint32_t)out.size);
        const uint8_t before = out.data[at];
        out.data[at] = (uint8_t)draw(256);
        const struct wndl_bytes scan = {out.data, out.size};
        if (read_scan(&g, scan, wndl_mem_libc(), &err) == WNDL_OK) {
            for (uint32_t e = 0; e < g.first_edge[wndl_heap_graph_nodes(&g)];
                 e++)
                assert_true(g.edges[e].target < g.block_count);
        }
        wndl_heap_graph_free(&g);
        out.data[at] = before;
    }
    wndl_buf_free(&out);
}

/* ---- a chain that no recursion could follow */

static void a_long_chain_needs_no_stack(void **state)
{
    (void)state;
    struct wndl_arena arena;
    struct wndl_heap_dominators d;
    struct wndl_heap_graph g = {.block_count = LONG_CHAIN, .root_count = 1};
    wndl_arena_init(&arena, wndl_mem_libc());
    g.first_edge =
        wndl_arena_calloc(&arena, LONG_CHAIN + 2, sizeof *g.first_edge);
    g.edges = wndl_arena_calloc(&arena, LONG_CHAIN, sizeof *g.edges);
    for (uint32_t i = 0; i < LONG_CHAIN; i++) {
        g.first_edge[i + 1] = i + 1 < LONG_CHAIN ? i + 1 : i;
        g.edges[i].target = i + 1;
    }
    g.edges[LONG_CHAIN - 1].target = 0;
    g.first_edge[LONG_CHAIN + 1] = LONG_CHAIN;
    assert_true(wndl_heap_dominators_fill(&d, &g, size_of, NULL, &arena));
    assert_int_equal(d.of[0], LONG_CHAIN);
    assert_int_equal(d.of[LONG_CHAIN - 1], LONG_CHAIN - 2);
    assert_int_equal(d.retained[LONG_CHAIN - 1], 16 + LONG_CHAIN - 1);
    wndl_arena_free(&arena);
}

/* ---- without memory */

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    put_scan(&out);
    const struct wndl_bytes scan = {out.data, out.size};
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status != WNDL_OK; budget++) {
        struct failing_mem mem;
        struct wndl_heap_graph g;
        struct wndl_error err = {0};
        failing_mem_init(&mem, budget);
        status = read_scan(&g, scan, &mem.mem, &err);
        assert_true(status == WNDL_OK || status == WNDL_NOMEM);
        wndl_heap_graph_free(&g);
        assert_int_equal(mem.live, 0);
        assert_true(budget < 100);
    }
    wndl_buf_free(&out);
}

/* ---- trees of places */

enum { PLACES = 3 };

/* Gives a made graph's blocks three sites, and each root a place. */
static void name_places(struct wndl_heap_holders *h, struct wndl_heap_known *k,
    struct wndl_process_heap *heap)
{
    static uint32_t of_sites[PLACES], of_roots[MOST_ROOTS];
    static uint32_t sites[MOST_BLOCKS];
    assert_true(wndl_intern_init(&h->strings, &h->arena));
    wndl_vec_init(&heap->sites, &h->arena, sizeof(struct wndl_alloc_site));
    for (uint32_t i = 0; i < PLACES + MOST_ROOTS; i++) {
        char name[16];
        const int size = snprintf(name, sizeof name, "place %u", i);
        assert_true(wndl_intern_add(&h->strings,
            (struct wndl_bytes){(const uint8_t *)name, (size_t)size},
            i < PLACES ? &of_sites[i] : &of_roots[i - PLACES]));
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        struct wndl_alloc_site *site = wndl_vec_push(&heap->sites);
        assert_non_null(site);
        site->requested = 16 + i;
    }
    for (uint32_t n = 0; n < h->graph.block_count; n++)
        sites[n] = draw(PLACES);
    h->graph.sites = sites;
    k->heap = heap;
    k->places = (struct wndl_heap_places){
        .of_sites = of_sites, .of_roots = of_roots, .unknown = of_sites[0]};
}

static const struct wndl_held_node *held_at(
    const struct wndl_vec *tree, size_t node)
{
    return wndl_vec_at(tree, node);
}

/* The bytes below the tops with a place. */
static uint64_t below(const struct wndl_vec *tree, uint32_t place)
{
    uint64_t bytes = 0;
    for (size_t i = 1; i < tree->len; i++) {
        size_t top = i;
        while (held_at(tree, top)->parent != 0)
            top = held_at(tree, top)->parent;
        if (held_at(tree, top)->place == place)
            bytes += held_at(tree, i)->bytes;
    }
    return bytes;
}

static uint64_t site_size(const void *context, uint32_t block)
{
    const struct wndl_heap_graph *g = context;
    return 16 + (uint64_t)g->sites[block];
}

static void check_tree(const struct wndl_vec *tree, uint32_t blocks)
{
    uint64_t counted = 0;
    for (size_t i = 1; i < tree->len; i++) {
        assert_true(held_at(tree, i)->parent < i);
        counted += held_at(tree, i)->blocks;
    }
    assert_int_equal(counted, blocks);
}

static void check_trees(const struct wndl_heap_holders *h,
    const struct wndl_heap_known *k, uint32_t lost)
{
    const struct wndl_heap_graph *g = &h->graph;
    uint64_t lost_bytes = 0;
    check_tree(&h->retained, g->block_count);
    check_tree(&h->chains, g->block_count);
    for (uint32_t i = 0; i < g->root_count; i++)
        assert_int_equal(below(&h->retained, k->places.of_roots[i]),
            k->dominators.retained[g->block_count + i]);
    for (uint32_t n = 0; n < g->block_count; n++)
        lost_bytes +=
            k->reach.holders[n] == WNDL_NO_INDEX ? site_size(g, n) : 0;
    assert_int_equal(below(&h->retained, lost), lost_bytes);
}

static void trees_of_places_have_what_dominators_retain(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GRAPHS; i++) {
        struct made m;
        struct wndl_heap_holders h = {0};
        struct wndl_heap_known known = {0};
        struct wndl_process_heap heap = {0};
        uint32_t lost;
        make_graph(&m);
        h.graph = m.graph;
        wndl_arena_init(&h.arena, wndl_mem_libc());
        name_places(&h, &known, &heap);
        assert_true(wndl_heap_reach_fill(&known.reach, &h.graph, &h.arena));
        assert_true(wndl_heap_dominators_fill(
            &known.dominators, &h.graph, site_size, &h.graph, &h.arena));
        assert_true(wndl_holder_trees_fill(&h, &known));
        assert_true(wndl_intern_add(&h.strings,
            (struct wndl_bytes){(const uint8_t *)"[lost]", 6}, &lost));
        check_trees(&h, &known, lost);
        wndl_arena_free(&h.arena);
    }
}

/* ---- sites that stand for several */

static void sites_of_one_size_stand_for_each_other(void **state)
{
    (void)state;
    struct wndl_arena arena;
    struct wndl_process_heap heap = {0};
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&heap.sites, &arena, sizeof(struct wndl_alloc_site));
    for (uint32_t i = 0; i < 3; i++) {
        struct wndl_alloc_site *site = wndl_vec_push(&heap.sites);
        assert_non_null(site);
        site->requested = i == 2 ? 40 : 24;
        site->slop = i; /* does not matter */
    }
    const uint32_t none = WNDL_NO_INDEX;
    assert_int_equal(wndl_heap_same_site(&heap, 0, 1), 0);
    assert_int_equal(wndl_heap_same_site(&heap, 1, 0), 1);
    assert_int_equal(wndl_heap_same_site(&heap, 2, 2), 2);
    assert_int_equal(wndl_heap_same_site(&heap, 0, 2), none);
    assert_int_equal(wndl_heap_same_site(&heap, none, 1), none);
    assert_int_equal(wndl_heap_same_site(&heap, 1, none), none);
    assert_int_equal(wndl_heap_same_site(&heap, none, none), none);
    wndl_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dominators_are_those_of_a_naive_model),
        cmocka_unit_test(chains_are_short_and_certain_where_they_can_be),
        cmocka_unit_test(a_scan_becomes_a_graph),
        cmocka_unit_test(a_part_of_a_stack_has_its_function),
        cmocka_unit_test(a_scan_may_end_anywhere),
        cmocka_unit_test(a_scan_may_have_any_bytes),
        cmocka_unit_test(a_long_chain_needs_no_stack),
        cmocka_unit_test(trees_of_places_have_what_dominators_retain),
        cmocka_unit_test(without_memory_nothing_is_lost),
        cmocka_unit_test(sites_of_one_size_stand_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
