/* SPDX-License-Identifier: MIT */
#include "unwind/table_set.h"

#include <stdatomic.h>

enum { SLOTS_LOG2 = 9, SLOTS = 1 << SLOTS_LOG2, PROBES = 16 };

/*
 * A place that a module starts at, and what was found for it: UNKNOWN, NONE or
 * the address of a table. A slot keeps its place for ever; a table is one for
 * ever, so that who has read its address may go by it.
 */
struct slot {
    _Atomic uintptr_t start;
    _Atomic uintptr_t table;
};

enum { UNKNOWN = 0, NONE = 1 };

static struct {
    wndl_table_loader *load; /* NULL: there are no tables */
    struct slot slots[SLOTS];
} set;

void wndl_table_set_init(wndl_table_loader *load)
{
    set.load = load;
}

void wndl_table_set_forget(void)
{
    for (unsigned i = 0; i < SLOTS && set.load != NULL; i++)
        atomic_store_explicit(
            &set.slots[i].table, UNKNOWN, memory_order_relaxed);
}

/* The slot of that place, taken now if it is new. NULL: there is no room. */
static struct slot *find_slot(uintptr_t start)
{
    const uint32_t home = (uint32_t)(start >> 12) * 0x9e3779b1u;
    for (unsigned i = 0; i < PROBES; i++) {
        struct slot *s =
            &set.slots[((home >> (32 - SLOTS_LOG2)) + i) & (SLOTS - 1)];
        uintptr_t there = atomic_load_explicit(&s->start, memory_order_relaxed);
        if (there == 0 &&
            atomic_compare_exchange_strong(&s->start, &there, start))
            return s;
        if (there == start)
            return s;
    }
    return NULL;
}

static __attribute__((noinline)) uintptr_t load(
    struct slot *slot, const struct wndl_dlmodule *module)
{
    const struct wndl_table *table = set.load(module);
    uintptr_t found = table == NULL ? NONE : (uintptr_t)table;
    atomic_store_explicit(&slot->table, found, memory_order_release);
    return found;
}

const struct wndl_table *wndl_table_set_find(const struct wndl_dlmodule *module)
{
    if (set.load == NULL)
        return NULL;
    struct slot *slot = find_slot((uintptr_t)module->map_start);
    if (slot == NULL)
        return NULL;
    uintptr_t table = atomic_load_explicit(&slot->table, memory_order_acquire);
    if (table == UNKNOWN)
        table = load(slot, module);
    return table == NONE ? NULL : (const struct wndl_table *)table;
}

bool wndl_table_set_rule(uint64_t pc, struct wndl_rule *rule)
{
    struct wndl_dlmodule module;
    if (set.load == NULL || !wndl_dlfind(pc, &module))
        return false;
    const struct wndl_table *table = wndl_table_set_find(&module);
    if (table == NULL)
        return false;
    const uint32_t found = wndl_table_find(table, pc - module.bias.v);
    if (found == 0)
        return false;
    *rule = wndl_table_step_rule(table, found, pc);
    return rule->kind != WNDL_ENTRY_BAD;
}
