/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_graph.h"

#include "analyze/vm/vm_walk.h"

static const struct wndl_callgraph_event_text events[WNDL_VM_EVENTS] = {
    [WNDL_VM_IA] = {"Ia", "instruction accesses"},
    [WNDL_VM_IF1] = {"If1", "instruction pages touched first"},
    [WNDL_VM_IFC] = {"Ifc", "clean instruction faults"},
    [WNDL_VM_IFD] = {"Ifd", "dirty instruction faults"},
    [WNDL_VM_DA] = {"Da", "data accesses"},
    [WNDL_VM_DF1] = {"Df1", "data pages touched first"},
    [WNDL_VM_DFC] = {"Dfc", "clean data faults"},
    [WNDL_VM_DFD] = {"Dfd", "dirty data faults"},
};

static enum wndl_status add_accesses(struct wndl_callgraph *g,
    const struct wndl_vm *vm, const struct wndl_vm_places *places)
{
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < vm->ran.len && status == WNDL_OK; i++) {
        const struct wndl_vm_ran *ran = wndl_vec_at(&vm->ran, i);
        uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
        costs[WNDL_VM_IA] = ran->fetches;
        costs[WNDL_VM_DA] = ran->data;
        status = wndl_callgraph_add_self(
            g, wndl_vm_place_innermost(places, ran->ip), costs);
    }
    return status;
}

static void set_fault_costs(
    uint64_t costs[WNDL_CALLGRAPH_EVENTS], const struct wndl_vm_counts *c)
{
    for (int fault = 0; fault < WNDL_VM_FAULTS; fault++) {
        costs[WNDL_VM_IF1 + fault] = c->n[WNDL_VM_FETCH][fault];
        costs[WNDL_VM_DF1 + fault] = c->n[WNDL_VM_DATA][fault];
    }
}

/* The first `count` frames of `row`, outermost first. */
static bool push_frames(struct wndl_vec *stack,
    const struct wndl_vm_places *places, const struct wndl_vm_row *row,
    uint32_t count)
{
    stack->len = 0;
    for (uint32_t i = count; i-- > 0;) {
        const struct wndl_vm_place *at = wndl_vm_place_at(places, row->ips[i]);
        for (uint32_t j = 0; j < at->count; j++) {
            uint32_t *to = wndl_vec_push(stack);
            if (to == NULL)
                return false;
            *to =
                *(const uint32_t *)wndl_vec_at(&places->places, at->first + j);
        }
    }
    return true;
}

static uint64_t sum_of(const uint64_t costs[WNDL_CALLGRAPH_EVENTS])
{
    uint64_t sum = 0;
    for (int i = 0; i < WNDL_VM_EVENTS; i++)
        sum += costs[i];
    return sum;
}

/* The graph that faults are added to, and their source. */
struct adder {
    struct wndl_callgraph *g;
    struct wndl_vm_walks *walks;
    const struct wndl_vm_places *places;
    struct wndl_vm_paths *paths;
    struct wndl_vec stack; /* uint32_t: places, outermost first */
};

static void count_path(
    struct wndl_vm_paths *paths, enum wndl_walk_end end, uint64_t faults)
{
    *(end == WNDL_END_COMPLETE      ? &paths->complete
        : end == WNDL_END_TRUNCATED ? &paths->cut
                                    : &paths->lost) += faults;
}

static enum wndl_status add_fault(
    struct adder *a, const struct wndl_vm_row *row)
{
    uint64_t costs[WNDL_CALLGRAPH_EVENTS] = {0};
    enum wndl_walk_end end;
    const uint32_t count =
        wndl_vm_walk_count(a->walks, row->ips, row->ip_count, row->cut, &end);
    if (!push_frames(&a->stack, a->places, row, count))
        return WNDL_NOMEM;
    set_fault_costs(costs, &row->counts);
    const uint64_t faults = sum_of(costs);
    if (row->kind == WNDL_VM_PATH)
        count_path(a->paths, end, faults);
    const struct wndl_callgraph_stack added = {
        a->stack.data, a->stack.len, costs, faults};
    return wndl_callgraph_add_stack(a->g, &added);
}

/* `kind`: paths, or instructions alone where there are none. */
static enum wndl_status add_rows(struct adder *a, const struct wndl_vm *vm,
    uint32_t memory, enum wndl_vm_row_kind kind)
{
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (row->kind != kind || row->memory != memory)
            continue;
        enum wndl_status status = add_fault(a, row);
        if (status != WNDL_OK)
            return status;
    }
    return a->walks->failed ? WNDL_NOMEM : WNDL_OK;
}

static enum wndl_status add_faults(struct adder *a, const struct wndl_vm *vm,
    uint32_t memory, enum wndl_vm_row_kind kind)
{
    struct wndl_vm_walks walks;
    wndl_vec_init(&a->stack, &a->g->arena, sizeof(uint32_t));
    a->walks = &walks;
    enum wndl_status status = WNDL_NOMEM;
    if (wndl_vm_walks_init(&walks, vm, a->g->arena.mem))
        status = add_rows(a, vm, memory, kind);
    wndl_vm_walks_free(&walks);
    return status;
}

static bool has_paths(const struct wndl_vm *vm)
{
    for (size_t i = 0; i < vm->rows.len; i++) {
        const struct wndl_vm_row *row = wndl_vec_at(&vm->rows, i);
        if (row->kind == WNDL_VM_PATH)
            return true;
    }
    return false;
}

enum wndl_status wndl_vm_graph(struct wndl_vm_graph *graph,
    const struct wndl_vm *vm, uint32_t memory,
    const struct wndl_symbol_sources *sources)
{
    struct wndl_callgraph *g = graph->graph;
    struct adder a = {.g = g, .places = graph->places, .paths = graph->paths};
    enum wndl_status status = wndl_callgraph_events(g, events, WNDL_VM_EVENTS);
    if (status != WNDL_OK)
        return status;
    status = wndl_vm_find_places(graph->places, g, vm, sources);
    if (status == WNDL_OK)
        status = add_accesses(g, vm, graph->places);
    if (status == WNDL_OK)
        status = add_faults(
            &a, vm, memory, has_paths(vm) ? WNDL_VM_PATH : WNDL_VM_AT);
    return status;
}
