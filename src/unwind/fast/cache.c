/* SPDX-License-Identifier: MIT */
#include "unwind/fast/cache.h"

#include "os/dlfind.h"
#include "unwind/slow/full.h"
#include "unwind/table/set.h"

/*
 * CLAIMED: of no kind, and not free: the rule of a slot that is being filled.
 */
enum { FREE = 0, CLAIMED = 1 << 16 };

static __attribute__((noinline)) struct wndl_rule compile_any(uint64_t pc)
{
    struct wndl_code code;
    switch (wndl_code_find(NULL, pc, &code)) {
    case WNDL_CODE_ROW:
        return wndl_rule_of_row(&code.row, pc);
    case WNDL_CODE_NO_FDE:
        return (struct wndl_rule){.kind = WNDL_ENTRY_NO_FDE};
    case WNDL_CODE_NO_MODULE:
        return (struct wndl_rule){.kind = WNDL_ENTRY_NO_MODULE};
    case WNDL_CODE_BAD:
        break;
    }
    return (struct wndl_rule){.kind = WNDL_ENTRY_BAD};
}

static struct wndl_rule compile_row(uint64_t pc)
{
    struct wndl_cfi_plain row;
    const struct wndl_rule rule = wndl_table_set_rule(pc);
    if (rule.kind != WNDL_ENTRY_EMPTY)
        return rule;
    return wndl_code_find_plain(pc, &row) ? wndl_rule_of_plain(&row)
                                          : compile_any(pc);
}

/*
 * Each allocation on a coroutine's stack comes to its entry. To recognise that
 * takes as long as many frames.
 */
static struct wndl_rule compile(uint64_t pc)
{
    const struct wndl_space here = {.arch = WNDL_ARCH_HERE};
    struct wndl_rule rule = compile_row(pc);
    if (rule.kind == WNDL_ENTRY_NO_FDE && WNDL_ARCH_HERE->reads_code &&
        wndl_coroutine_starts(&here, pc + 1))
        rule.kind = WNDL_ENTRY_START;
    return rule;
}

static bool is_of(const struct wndl_entry *e, wndl_generation generation)
{
#if __SIZEOF_POINTER__ == 4
    return atomic_load_explicit(&e->generation, memory_order_relaxed) ==
           generation;
#else
    return atomic_load_explicit(&e->key, memory_order_relaxed) >>
               WNDL_PC_BITS ==
           generation >> WNDL_PC_BITS;
#endif
}

static bool is_free(const struct wndl_entry *e)
{
    return atomic_load_explicit(&e->key, memory_order_relaxed) == 0;
}

/* A pc, and the state of its sets. */
struct search {
    struct wndl_unwinder *u;
    uint64_t pc;
    wndl_generation generation;
    struct wndl_entry *found;  /* NULL: the pc is not there */
    struct wndl_entry *vacant; /* NULL: no free or out-dated slot */
};

static void search_set(struct search *s, uint32_t home)
{
    for (uint32_t look = 0; look < WNDL_CACHE_WAYS; look++) {
        struct wndl_entry *e =
            wndl_cache_at(s->u, wndl_cache_place(home, look));
        if (wndl_entry_is(e, s->pc, s->generation)) {
            s->found = e;
            return;
        }
        bool free = is_free(e);
        if (s->vacant == NULL && (free || !is_of(e, s->generation)))
            s->vacant = e;
        if (free)
            return;
    }
}

/*
 * The second set's place. It uses other bits of the hash than the home's, so
 * that keys of one over-full set are spread over many.
 */
static uint32_t second_home(uint64_t pc)
{
    return wndl_cache_home(pc * 0xff51afd7ed558ccdu);
}

/* Reads a consistent rule; false if the slot is being changed. */
static bool read_rule(const struct search *s, struct wndl_rule *rule)
{
    uint32_t changes = wndl_cache_changes(s->u);
    if (!wndl_entry_is(s->found, s->pc, s->generation))
        return false;
    *rule = wndl_rule_of_bits(wndl_entry_rule(s->found));
    return rule->kind != WNDL_ENTRY_EMPTY &&
           wndl_cache_changes(s->u) == changes;
}

/* The slot of the second set to displace, each in turn. */
static struct wndl_entry *victim(const struct search *s)
{
    uint32_t turn = wndl_cache_changes(s->u) % WNDL_CACHE_WAYS;
    return wndl_cache_at(s->u, wndl_cache_place(second_home(s->pc), turn));
}

/* False if another thread changes the slot. */
static bool keep(struct wndl_unwinder *u, struct wndl_entry *e, uint64_t pc,
    wndl_generation generation, struct wndl_rule rule)
{
    int32_t old = atomic_load_explicit(&e->rule, memory_order_relaxed);
    if (old == CLAIMED ||
        !atomic_compare_exchange_strong(&e->rule, &old, CLAIMED))
        return false;
#if __SIZEOF_POINTER__ == 4
    atomic_store_explicit(&e->generation, generation, memory_order_release);
    atomic_store_explicit(&e->key, (uintptr_t)pc, memory_order_release);
#else
    atomic_store_explicit(&e->key, pc + generation, memory_order_release);
#endif
    atomic_fetch_add(&u->changes, 1);
    atomic_store_explicit(&e->rule, wndl_rule_bits(rule), memory_order_release);
    return true;
}

/*
 * Searches if the home slot is used: returns the pc's entry, or no rule and the
 * slot to keep it in. A slot that is being changed is left alone.
 */
static __attribute__((noinline)) struct wndl_found search(
    struct wndl_unwinder *u, uint64_t pc, wndl_generation generation)
{
    struct search s = {.u = u, .pc = pc, .generation = generation};
    struct wndl_found result = {.entry = &u->outside};
    search_set(&s, wndl_cache_home(pc));
    if (s.found == NULL && s.vacant == NULL)
        search_set(&s, second_home(pc));
    if (s.found == NULL)
        result.entry = s.vacant == NULL ? victim(&s) : s.vacant;
    else if (read_rule(&s, &result.rule))
        result.entry = s.found;
    else
        result.rule.kind = WNDL_ENTRY_EMPTY;
    return result;
}

/* A free home slot ends the search, mostly for a new pc. */
struct wndl_found wndl_cache_find(
    struct wndl_unwinder *u, uint64_t pc, wndl_generation generation)
{
    if (!wndl_code_is_possible(pc - 1))
        return (struct wndl_found){
            &u->outside, {.kind = WNDL_ENTRY_NO_CODE}, false};
    struct wndl_found result = {wndl_cache_at(u, wndl_cache_home(pc)),
        {.kind = WNDL_ENTRY_EMPTY}, false};
    if (!is_free(result.entry)) {
        result = search(u, pc, generation);
        if (result.rule.kind != WNDL_ENTRY_EMPTY)
            return result;
    }
    result.rule = compile(pc - 1);
    result.kept = result.entry != &u->outside &&
                  keep(u, result.entry, pc, generation, result.rule);
    if (!result.kept)
        result.entry = &u->outside;
    return result;
}

/* Whoever has claimed a slot finds its key unchanged. */
void wndl_cache_refine(struct wndl_unwinder *u, uint64_t pc,
    wndl_generation generation, struct wndl_rule rule)
{
    const struct wndl_rule plain = {.kind = WNDL_ENTRY_NO_FDE};
    struct wndl_entry *e = search(u, pc, generation).entry;
    int32_t old = wndl_rule_bits(plain);
    if (!wndl_entry_is(e, pc, generation) ||
        !atomic_compare_exchange_strong(&e->rule, &old, CLAIMED))
        return;
    const bool is_it = wndl_entry_is(e, pc, generation);
    atomic_fetch_add(&u->changes, 1);
    atomic_store_explicit(
        &e->rule, wndl_rule_bits(is_it ? rule : plain), memory_order_release);
}

size_t wndl_unwinder_size(void)
{
    return sizeof(struct wndl_unwinder);
}

struct wndl_unwinder *wndl_unwinder_init(void *memory)
{
    /* A lazy binding must not be resolved within a signal handler. */
    struct wndl_dlmodule module;
    (void)wndl_dlfind((uintptr_t)&wndl_unwinder_init, &module);
    return memory;
}

/* When generations wrap, clears all slots of their first use. */
static void forget_all(struct wndl_unwinder *u)
{
    for (size_t i = 0; i < WNDL_CACHE_ENTRIES; i++) {
        struct wndl_entry *e = &u->slots[i];
        if (atomic_exchange(&e->rule, CLAIMED) == CLAIMED)
            continue;
        atomic_store_explicit(&e->key, 0, memory_order_release);
        atomic_fetch_add(&u->changes, 1);
        atomic_store_explicit(&e->rule, FREE, memory_order_release);
    }
}

void wndl_unwinder_flush(struct wndl_unwinder *u)
{
    const uint32_t mask =
        sizeof(wndl_generation) == 4 ? UINT32_MAX : UINT16_MAX;
    uint32_t old = atomic_load(&u->generation);
    while (
        !atomic_compare_exchange_weak(&u->generation, &old, (old + 1) & mask))
        ;
    if (old == mask)
        forget_all(u);
}
