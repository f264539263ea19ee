/* SPDX-License-Identifier: MIT */
#include "analyze/holders/graph.h"

#include "model/profile.h"

enum {
    WORD = 8,
    MOST_OFFSET = 0x7fffffff,
    LEAST_BLOCK = 3, /* bytes of the smallest in a scan */
};

/*
 * A scan that is read twice: first its parts are counted, then they are stored.
 * While they are counted, the graph has no arrays.
 */
struct reading {
    struct wndl_heap_graph *g;
    const struct wndl_process_heap *heap;
    const struct wndl_heap_variables *variables;
    struct wndl_cursor c;
    uint64_t edges, roots;
};

/* ---- pointers */

struct pointer {
    uint64_t word, target;
    bool conservative;
};

static uint64_t from_zigzag(uint64_t value)
{
    return value >> 1 ^ -(value & 1);
}

/* The next pointer of a node. False: there is none, or the scan is damaged. */
static bool next_pointer(struct reading *r, struct pointer *p)
{
    const uint64_t distance = wndl_cursor_uleb(&r->c);
    if (distance == 0 || r->c.failed)
        return false;
    const uint64_t to = wndl_cursor_uleb(&r->c);
    if (__builtin_add_overflow(p->word, distance, &p->word) ||
        r->edges == UINT32_MAX)
        wndl_cursor_fail(&r->c);
    p->target += from_zigzag(to >> 1);
    p->conservative = (to & 1) != 0;
    if (p->target >= r->g->block_count)
        wndl_cursor_fail(&r->c);
    return !r->c.failed;
}

static void add_edge(struct reading *r, const struct pointer *p, uint64_t word)
{
    const uint32_t offset = word < MOST_OFFSET ? (uint32_t)word : MOST_OFFSET;
    if (r->g->edges != NULL)
        r->g->edges[r->edges] = (struct wndl_heap_edge){
            .target = (uint32_t)p->target,
            .offset = offset & MOST_OFFSET,
            .conservative = p->conservative,
        };
    r->edges++;
}

/* ---- blocks */

static uint32_t site_of(const struct reading *r, uint64_t number)
{
    const struct wndl_vec *map = &r->heap->scan_sites;
    if (number == 0 || number > map->len)
        return WNDL_NO_INDEX;
    return *(const uint32_t *)wndl_vec_at(map, number - 1);
}

static uint64_t read_block(struct reading *r, uint32_t number, uint64_t before)
{
    struct wndl_heap_graph *g = r->g;
    const uint64_t address = before + wndl_cursor_uleb(&r->c) * WORD;
    const uint64_t site = wndl_cursor_uleb(&r->c);
    /* The first pointer's distance counts from before the first word. */
    struct pointer p = {.target = number};
    if (address < before || (address == before && number != 0))
        wndl_cursor_fail(&r->c);
    if (g->edges != NULL) {
        g->addresses[number] = address;
        g->sites[number] = site_of(r, site);
        g->first_edge[number] = (uint32_t)r->edges;
    }
    while (next_pointer(r, &p))
        add_edge(r, &p, p.word - 1);
    return address;
}

static void read_blocks(struct reading *r)
{
    uint64_t address = 0;
    for (uint32_t i = 0; i < r->g->block_count && !r->c.failed; i++)
        address = read_block(r, i, address);
}

/* ---- roots */

static struct wndl_bytes read_text(struct wndl_cursor *c)
{
    const uint64_t size = wndl_cursor_uleb(c);
    const uint8_t *data = wndl_cursor_take(c, size);
    return (struct wndl_bytes){data, data == NULL ? 0 : (size_t)size};
}

/* The part of a root that is one variable, or one word of none. */
static struct wndl_heap_root part_at(
    const struct reading *r, const struct wndl_heap_root *whole, uint64_t word)
{
    struct wndl_heap_root part = *whole;
    if (whole->kind == WNDL_HEAP_ROOT_STACK ||
        whole->kind == WNDL_HEAP_ROOT_FRAME ||
        whole->kind == WNDL_HEAP_ROOT_REGISTERS)
        return part;
    const uint64_t at = word * WORD;
    part.address = whole->address + at;
    part.svma = whole->svma + at;
    part.size = WORD;
    struct wndl_heap_root found = part;
    if (whole->kind != WNDL_HEAP_ROOT_DATA || r->variables == NULL ||
        !r->variables->find(
            r->variables->context, whole->path, part.svma, &found) ||
        found.svma > part.svma || part.svma - found.svma >= found.size)
        return part;
    found.address = part.address - (part.svma - found.svma);
    return found;
}

static void begin_root(struct reading *r, const struct wndl_heap_root *root)
{
    struct wndl_heap_graph *g = r->g;
    if (r->roots == UINT32_MAX - g->block_count) {
        wndl_cursor_fail(&r->c);
        return;
    }
    if (g->edges != NULL) {
        g->roots[r->roots] = *root;
        g->first_edge[g->block_count + r->roots] = (uint32_t)r->edges;
    }
    r->roots++;
}

static void read_pointers_of_root(
    struct reading *r, const struct wndl_heap_root *whole)
{
    struct pointer p = {0};
    struct wndl_heap_root part = {0};
    while (next_pointer(r, &p)) {
        const uint64_t word = p.word - 1;
        const uint64_t address = whole->address + word * WORD;
        if (part.size == 0 || address - part.address >= part.size) {
            part = part_at(r, whole, word);
            begin_root(r, &part);
        }
        add_edge(r, &p, (address - part.address) / WORD);
    }
}

/* A function's part of a stack has this in place of a path. */
static void read_frame(const struct reading *r, struct wndl_bytes text,
    struct wndl_heap_root *root)
{
    struct wndl_cursor c = wndl_cursor_at(text, 0, false);
    const uint64_t node = wndl_cursor_uleb(&c), callers = wndl_cursor_uleb(&c);
    const struct wndl_vec *map = &r->heap->scan_nodes;
    const bool is_known = !c.failed && node < map->len && callers < UINT32_MAX;
    root->path = (struct wndl_bytes){0};
    if (!is_known || *(const uint32_t *)wndl_vec_at(map, node) == WNDL_NO_INDEX)
        return;
    root->node = *(const uint32_t *)wndl_vec_at(map, node);
    root->callers = (uint32_t)callers;
}

static void read_root(struct reading *r)
{
    const uint64_t kind = wndl_cursor_uleb(&r->c);
    struct wndl_heap_root whole = {
        .kind = kind < WNDL_HEAP_ROOT_KINDS ? (uint8_t)kind
                                            : (uint8_t)WNDL_HEAP_ROOT_OTHER,
        .address = wndl_cursor_uleb(&r->c),
        .size = wndl_cursor_uleb(&r->c),
        .svma = wndl_cursor_uleb(&r->c),
        .path = read_text(&r->c),
    };
    if (r->c.failed)
        return;
    if (whole.kind == WNDL_HEAP_ROOT_FRAME)
        read_frame(r, whole.path, &whole);
    read_pointers_of_root(r, &whole);
}

/* ---- the whole scan */

static enum wndl_status read_all(struct reading *r, struct wndl_error *err)
{
    const struct wndl_bytes scan = {r->heap->scan.data, r->heap->scan.len};
    r->c = wndl_cursor_at(scan, 0, false);
    r->edges = r->roots = 0;
    const uint64_t blocks = wndl_cursor_uleb(&r->c);
    if (blocks > wndl_cursor_left(&r->c) / LEAST_BLOCK)
        wndl_cursor_fail(&r->c);
    r->g->block_count = (uint32_t)(r->c.failed ? 0 : blocks);
    uint64_t good = 0;
    if (!r->c.failed)
        read_blocks(r);
    while (!r->c.failed && wndl_cursor_left(&r->c) != 0) {
        good = wndl_cursor_offset(&r->c);
        read_root(r);
    }
    if (!r->c.failed)
        return WNDL_OK;
    return wndl_fail_at(
        err, WNDL_MALFORMED, "HSCN", good, "the scan of the heap is damaged");
}

static bool make_arrays(struct wndl_heap_graph *g, const struct reading *r)
{
    struct wndl_arena *arena = &g->arena;
    const size_t blocks = g->block_count, roots = (size_t)r->roots;
    g->root_count = (uint32_t)roots;
    g->addresses = wndl_arena_calloc(arena, blocks + 1, sizeof *g->addresses);
    g->sites = wndl_arena_calloc(arena, blocks + 1, sizeof *g->sites);
    g->roots = wndl_arena_calloc(arena, roots + 1, sizeof *g->roots);
    g->first_edge =
        wndl_arena_calloc(arena, blocks + roots + 1, sizeof *g->first_edge);
    g->edges = wndl_arena_calloc(arena, (size_t)r->edges + 1, sizeof *g->edges);
    return g->addresses != NULL && g->sites != NULL && g->roots != NULL &&
           g->first_edge != NULL && g->edges != NULL;
}

enum wndl_status wndl_heap_graph_read(struct wndl_heap_graph *g,
    const struct wndl_process_heap *heap,
    const struct wndl_heap_variables *variables, struct wndl_mem *mem,
    struct wndl_error *err)
{
    struct reading r = {.g = g, .heap = heap, .variables = variables};
    *g = (struct wndl_heap_graph){0};
    wndl_arena_init(&g->arena, mem);
    if (heap->scan.len == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "the heap was not scanned");
    enum wndl_status status = read_all(&r, err);
    if (status != WNDL_OK)
        return status;
    if (!make_arrays(g, &r))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    status = read_all(&r, err);
    g->first_edge[wndl_heap_graph_nodes(g)] = (uint32_t)r.edges;
    return status;
}

void wndl_heap_graph_free(struct wndl_heap_graph *g)
{
    wndl_arena_free(&g->arena);
}
