/* SPDX-License-Identifier: MIT */
/*
 * walker: a walk of this process's own memory. walk.c, which takes all steps,
 * shares it with resume.c, which takes only those it must.
 */
#ifndef WNDL_UNWIND_FAST_WALKER_H
#define WNDL_UNWIND_FAST_WALKER_H

#include "unwind/core/frame.h"
#include "unwind/fast/cache.h"
#include "unwind/slow/full.h"

#include <stddef.h>

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LIKELY(x) __builtin_expect(!!(x), 1)

/*
 * Loads a stack word. Stack words belong to other functions' objects, so
 * neither sanitizers nor the compiler's type rules may apply to these loads.
 */
#define READS_STACK __attribute__((no_sanitize("address", "thread")))

struct stack_word {
    uintptr_t v;
} __attribute__((packed, may_alias));

READS_STACK static inline uint64_t load(uint64_t address)
{
    return ((const struct stack_word *)(uintptr_t)address)->v;
}

/*
 * The last place at which the registers are known that the hot loop does not
 * track.
 */
enum anchor_source {
    ANCHOR_REGS,  /* as the caller gave them */
    ANCHOR_STACK, /* as a ucontext_t's gregs, at `gregs` on the stack */
    ANCHOR_FULL,  /* in `full` */
};

struct anchor {
    enum anchor_source source;
    size_t frame; /* index of the frame that has them */
    uint64_t gregs;
    struct wndl_full full;
};

/* The readable ranges of stacks. */
struct wndl_walker_stacks {
    const struct wndl_stack_range *ranges;
    size_t count;
};

/*
 * A walk. The next step starts from the last frame written. `rule` is its rule,
 * `link` its entry, `sp` and `fp` its registers; `fp` is 0 if it is not known,
 * which no rule accepts. sp is in the range that ends at `high`; high = 0: in
 * none.
 */
struct walker {
    struct wndl_unwinder *u;
    wndl_generation generation;
    uintptr_t link;
    struct wndl_rule rule;
    wndl_frame_word *out, *out_end;
    uint64_t sp, fp, high;
    const struct wndl_stack_range *stacks;
    size_t stack_count;
    uint64_t red_zone, red_zone_end; /* also readable */
    bool skips; /* callers may be missing: its end is a guess */
    const struct wndl_regs *regs;
    struct wndl_walk *walk;
    struct wndl_space space;
    struct anchor anchor;
};

static inline size_t wndl_walker_last(const struct walker *w)
{
    return (size_t)(w->out - (wndl_frame_word *)w->walk->frames) - 1;
}

/*
 * Whether the last frame has no caller by its pc alone: it always ends a walk.
 */
static inline bool wndl_walker_is_at_root(const struct walker *w)
{
    return w->rule.kind == WNDL_ENTRY_STOP ||
           (w->rule.kind == WNDL_ENTRY_START &&
               wndl_space_method(&w->space) == WNDL_WALK_ANY &&
               !w->walk->frames[wndl_walker_last(w)].interrupted);
}

/*
 * Walks as wndl_unwind_regs does. Not `interrupted`: regs->ip is a return
 * address, and the other registers are as after the call.
 */
void wndl_walk_plainly(struct wndl_unwinder *u, const struct wndl_regs *regs,
    struct wndl_walker_stacks stacks, struct wndl_walk *walk, bool interrupted);

/* Sets all but the registers and the stacks. */
void wndl_walker_init(
    struct walker *w, struct wndl_unwinder *u, struct wndl_walk *walk);

/* Sets frame 0, except its rule. False if `regs` does not suffice to go on. */
bool wndl_walker_start(struct walker *w, bool interrupted);

/* Takes a step that the hot loops do not take themselves. False: the end. */
bool wndl_walker_step(struct walker *w);

/*
 * Continues after a hot loop: the rule of `pc`, the last frame's, is in place
 * or not known. May remove or replace that frame. False: the end.
 */
bool wndl_walker_land(struct walker *w, uint64_t pc);

/*
 * The end of the range that contains `sp`; 0 if there is none. A range that no
 * user stack can have is ignored, because sums of its addresses could overflow.
 */
static inline uint64_t wndl_range_end(
    const struct wndl_stack_range *stacks, size_t count, uint64_t sp)
{
    uint64_t high = 0;
    for (size_t i = 0; i < count; i++)
        if (sp >= stacks[i].low && sp < stacks[i].high &&
            stacks[i].high < UINT64_C(1) << 63)
            high = stacks[i].high;
    return high;
}

void wndl_walker_set_sp(struct walker *w, uint64_t sp);

/* Sets the rule of the last frame. `pc` is as in struct wndl_entry. */
void wndl_walker_find_rule(struct walker *w, uint64_t pc);

/*
 * A link to a caller's entry, which no link reached. *changes adds the changes
 * made here. An impossible pc may match a free slot, whose rule has no kind.
 */
static inline uintptr_t find_caller(struct wndl_unwinder *u, uint64_t pc,
    wndl_generation generation, uint32_t *changes)
{
    const uint32_t home = wndl_cache_home(pc), next = wndl_cache_place(home, 1);
    if (LIKELY(wndl_entry_is(wndl_cache_at(u, home), pc, generation)))
        return home / WNDL_CACHE_LINK;
    if (LIKELY(wndl_entry_is(wndl_cache_at(u, next), pc, generation)))
        return next / WNDL_CACHE_LINK;
    struct wndl_found found = wndl_cache_find(u, pc, generation);
    *changes += found.kept;
    return wndl_cache_link(u, found.entry);
}

/*
 * The link to the last caller. From one frame to the next, the hot loops wait
 * for this load only, not for a computation of its address.
 */
static inline uintptr_t linked(struct wndl_unwinder *u, uintptr_t callee)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    uintptr_t link; /* the load clears its upper bits */
    /* A relaxed load, but not into the register that holds `callee`, which
     * would then have to be saved at every frame. */
    __asm__("movzwl (%1,%2,8), %k0" : "=&r"(link) : "r"(u->slots), "r"(callee));
    return link;
#else
    return atomic_load_explicit(
        &wndl_cache_linked(u, callee)->last, memory_order_relaxed);
#endif
}

/*
 * The link to the caller before that. The processor predicts which of the two
 * it is, or neither, and goes on before the return address has arrived.
 */
static inline uintptr_t linked_before(struct wndl_unwinder *u, uintptr_t callee)
{
    return atomic_load_explicit(
        &wndl_cache_linked(u, callee)->before, memory_order_relaxed);
}

static inline void link_caller(
    struct wndl_unwinder *u, uintptr_t callee, uintptr_t caller)
{
    struct wndl_entry *entry = wndl_cache_linked(u, callee);
    const uint16_t last =
        atomic_load_explicit(&entry->last, memory_order_relaxed);
    atomic_store_explicit(&entry->before, last, memory_order_relaxed);
    atomic_store_explicit(&entry->last, (uint16_t)caller, memory_order_relaxed);
}

/* The same, but keeps the link to the caller before. */
static inline void link_last(
    struct wndl_unwinder *u, uintptr_t callee, uintptr_t caller)
{
    atomic_store_explicit(&wndl_cache_linked(u, callee)->last, (uint16_t)caller,
        memory_order_relaxed);
}

/* Whether the link is to the entry of this pc. */
static inline bool leads_to(struct wndl_unwinder *u, uintptr_t link,
    uint64_t pc, wndl_generation generation)
{
    return wndl_entry_is(wndl_cache_linked(u, link), pc, generation);
}

static inline int32_t linked_rule(struct wndl_unwinder *u, uintptr_t link)
{
    return wndl_entry_rule(wndl_cache_linked(u, link));
}

/* A link to the entry of the caller of `callee`, which is then linked to it. */
static inline uintptr_t wndl_walker_caller(struct wndl_unwinder *u,
    uintptr_t callee, uint64_t pc, wndl_generation generation,
    uint32_t *changes)
{
    uintptr_t caller = linked(u, callee);
    if (LIKELY(leads_to(u, caller, pc, generation)))
        return caller;
    caller = find_caller(u, pc, generation, changes);
    link_last(u, callee, caller);
    return caller;
}

/* The last frame's state, in a hot loop. */
struct hot {
    wndl_frame_word *out;
    uint64_t sp, fp;
    uintptr_t link;
    int64_t rule; /* as wndl_rule_bits() makes it */
};

/* A step of the hot loops: the CFA, and the words from there to FP. */
struct hot_step {
    uint64_t cfa;
    int64_t slot;
};

/*
 * Hides the origin of `x` from the compiler, which would otherwise share its
 * value on a rare path with the usual one, and make that longer.
 */
#define OPAQUE(x) __asm__("" : "+r"(x))

/*
 * A step by an FP rule. False if the rule is another, or needs a check. A slot
 * is below the CFA. If it is not below sp, which the difference of two
 * arbitrary addresses shows, the CFA is above sp.
 */
static inline bool look_by_fp(const struct hot *h, struct hot_step *step)
{
    int32_t bits = (int32_t)h->rule;
    OPAQUE(bits);
    const struct wndl_rule rule = wndl_rule_of_bits(bits);
    step->cfa = h->fp + (uint64_t)WNDL_WORD * rule.cfa;
    step->slot = rule.fp_slot;
    OPAQUE(step->slot);
    return bits >> 24 == WNDL_ENTRY_FP &&
           (int64_t)(step->cfa + (uint64_t)(WNDL_WORD * step->slot) - h->sp) >=
               0;
}

/*
 * A step by an SP or FP rule. False if the rule is of another kind, or if the
 * step would read at or above `high`, where the range of sp ends.
 */
READS_STACK __attribute__((always_inline)) static inline bool hot_look(
    const struct hot *h, uint64_t high, struct hot_step *step)
{
    step->cfa = h->sp + (uint64_t)WNDL_WORD * (uint16_t)h->rule;
    step->slot = h->rule >> 16;
    if (UNLIKELY(step->slot >= 0) && !look_by_fp(h, step))
        return false;
    return LIKELY(step->cfa <= high);
}

#endif
