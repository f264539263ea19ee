/* SPDX-License-Identifier: MIT */
#include "unwind/table/set.h"

#include <stdatomic.h>

enum { SLOTS_LOG2 = 9, SLOTS = 1 << SLOTS_LOG2, PROBES = 16 };

/* Code in pieces of 256 KiB, most of which are in one module. */
enum { PIECE_LOG2 = 18, PIECES_LOG2 = 10 };

/* A module, and its table; NULL: it has none. */
struct known {
    uintptr_t start, end, bias;
    const struct wndl_table *table;
};

/*
 * A slot. It belongs forever to a place where a module starts, and has what was
 * found there in some generation, which is valid in that one only. Invariant: a
 * slot's generation rises, except that it is CLAIMED during a write. Whoever
 * reads the same one before and after has read its contents. A table lives
 * forever, so whoever has read its address may use it.
 */
struct slot {
    _Atomic uint32_t generation; /* 0: nothing was found yet */
    _Atomic uintptr_t start, end, bias, table;
};

#define CLAIMED UINT32_MAX

static struct {
    wndl_table_loader *load; /* NULL: there are no tables */
    /* The number of unloads: the generation minus one. */
    _Atomic uint32_t unloads;
    _Atomic uint16_t pieces[1 << PIECES_LOG2]; /* the last slot of this code */
    struct slot slots[SLOTS];
} set;

void wndl_table_set_init(wndl_table_loader *load)
{
    set.load = load;
}

void wndl_table_set_forget(void)
{
    atomic_fetch_add(&set.unloads, 1);
}

/*
 * Read before any question about modules. Results that are kept for this
 * generation are then from its begin, or later.
 */
static uint32_t generation_now(void)
{
    return atomic_load_explicit(&set.unloads, memory_order_acquire) + 1;
}

/* ---- slots */

/* The slot of that place, added if it is new. NULL: there is no room. */
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

/* False if it has nothing of this generation. */
static inline bool read_slot(
    struct slot *s, uint32_t generation, struct known *known)
{
    if (atomic_load_explicit(&s->generation, memory_order_acquire) !=
        generation)
        return false;
    *known = (struct known){
        .start = atomic_load_explicit(&s->start, memory_order_acquire),
        .end = atomic_load_explicit(&s->end, memory_order_acquire),
        .bias = atomic_load_explicit(&s->bias, memory_order_acquire),
        .table = (const struct wndl_table *)atomic_load_explicit(
            &s->table, memory_order_acquire),
    };
    return atomic_load_explicit(&s->generation, memory_order_relaxed) ==
           generation;
}

/* Does nothing if another thread writes, or has written a newer one. */
static void write_slot(
    struct slot *s, uint32_t generation, const struct known *known)
{
    uint32_t old = atomic_load_explicit(&s->generation, memory_order_relaxed);
    if (old >= generation ||
        !atomic_compare_exchange_strong(&s->generation, &old, CLAIMED))
        return;
    /* Each has release order: whoever reads one of them then reads the claim,
     * or something newer. */
    atomic_store_explicit(&s->end, known->end, memory_order_release);
    atomic_store_explicit(&s->bias, known->bias, memory_order_release);
    atomic_store_explicit(
        &s->table, (uintptr_t)known->table, memory_order_release);
    atomic_store_explicit(&s->generation, generation, memory_order_release);
}

/* NULL: there is no room to keep its table. */
static struct slot *find_module(const struct wndl_dlmodule *module,
    uint32_t generation, struct known *known)
{
    struct slot *slot = find_slot((uintptr_t)module->map_start);
    *known = (struct known){0};
    if (slot == NULL || read_slot(slot, generation, known))
        return slot;
    *known = (struct known){
        .start = (uintptr_t)module->map_start,
        .end = (uintptr_t)module->map_end,
        .bias = (uintptr_t)module->bias.v,
        .table = set.load(module),
    };
    write_slot(slot, generation, known);
    return slot;
}

const struct wndl_table *wndl_table_set_find(const struct wndl_dlmodule *module)
{
    struct known known;
    if (set.load == NULL)
        return NULL;
    (void)find_module(module, generation_now(), &known);
    return known.table;
}

/* ---- rules */

static inline _Atomic uint16_t *piece_of(uint64_t pc)
{
    const uint32_t hash = (uint32_t)(pc >> PIECE_LOG2) * 0x9e3779b1u;
    return &set.pieces[hash >> (32 - PIECES_LOG2)];
}

/* The module last seen in this piece of code, if it covers the pc. */
static inline bool find_by_piece(
    uint64_t pc, uint32_t generation, struct known *known)
{
    const uint16_t at =
        atomic_load_explicit(piece_of(pc), memory_order_relaxed);
    struct slot *s = &set.slots[at];
    __asm__("" : "+r"(s)); /* one address, not one for each field */
    return read_slot(s, generation, known) &&
           pc - known->start < known->end - known->start;
}

static const struct wndl_rule no_rule = {.kind = WNDL_ENTRY_EMPTY};

static inline struct wndl_rule rule_of(const struct known *known, uint64_t pc)
{
    const uint32_t found = wndl_table_find(known->table, pc - known->bias);
    if (found == 0)
        return no_rule;
    return wndl_table_step_rule(known->table, found, pc);
}

static __attribute__((noinline)) struct wndl_rule rule_by_module(
    uint64_t pc, uint32_t generation)
{
    struct wndl_dlmodule module;
    struct known known;
    if (!wndl_dlfind(pc, &module))
        return no_rule;
    const struct slot *slot = find_module(&module, generation, &known);
    if (slot != NULL)
        atomic_store_explicit(
            piece_of(pc), (uint16_t)(slot - set.slots), memory_order_relaxed);
    if (known.table == NULL)
        return no_rule;
    const struct wndl_rule rule = rule_of(&known, pc);
    return rule.kind == WNDL_ENTRY_BAD ? no_rule : rule;
}

/*
 * Another module may be in a gap of the one seen last. If that has no rule, the
 * module is looked up anew.
 */
struct wndl_rule wndl_table_set_rule(uint64_t pc)
{
    struct known known;
    if (set.load == NULL)
        return no_rule;
    const uint32_t generation = generation_now();
    if (find_by_piece(pc, generation, &known) && known.table != NULL) {
        const struct wndl_rule rule = rule_of(&known, pc);
        if (rule.kind != WNDL_ENTRY_EMPTY && rule.kind != WNDL_ENTRY_BAD)
            return rule;
    }
    return rule_by_module(pc, generation);
}
