/* SPDX-License-Identifier: MIT */
#include "unwind/fast/walker.h"

#include "unwind/jit/registry.h"
#include "unwind/slow/leaf.h"

static bool is_within(uint64_t address, size_t size, uint64_t low, uint64_t end)
{
    return address >= low && address <= end && size <= end - address;
}

static bool is_readable(const struct walker *w, uint64_t address, size_t size)
{
    for (size_t i = 0; i < w->stack_count; i++)
        if (is_within(address, size, w->stacks[i].low, w->stacks[i].high))
            return true;
    return is_within(address, size, w->red_zone, w->red_zone_end);
}

/* The memory reader for wndl_cfi_memory. */
READS_STACK static bool read_stack(
    void *context, uint64_t address, void *to, size_t size)
{
    if (!is_readable(context, address, size))
        return false;
    const uint8_t *from = (const uint8_t *)(uintptr_t)address;
    uint8_t *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = from[i];
    return true;
}

static bool read_word(const struct walker *w, uint64_t address, uint64_t *value)
{
    if (!is_readable(w, address, WNDL_WORD))
        return false;
    *value = load(address);
    return true;
}

void wndl_walker_set_sp(struct walker *w, uint64_t sp)
{
    w->sp = sp;
    w->high = wndl_range_end(w->stacks, w->stack_count, sp);
}

/* Returns false, so that a step can end with it. */
static bool end_walk(struct walker *w, enum wndl_walk_end end)
{
    w->walk->end =
        end == WNDL_END_COMPLETE && w->skips ? WNDL_END_FP_ROOT : end;
    return false;
}

/* Removes a frame that was not real. */
static void unpush_frame(struct walker *w)
{
    const size_t last = wndl_walker_last(w);
    const enum wndl_frame_how how =
        (enum wndl_frame_how)w->walk->frames[last].how;
    w->walk->fp_frames -= wndl_frame_is_by_fp(how);
    w->out--;
}

static bool push_frame(
    struct walker *w, uint64_t pc, bool interrupted, enum wndl_frame_how how);

/* Replaces the last frame by its caller. */
static bool replace_frame(struct walker *w, const struct wndl_fp_state *caller)
{
    w->fp = caller->fp;
    wndl_walker_set_sp(w, caller->sp);
    unpush_frame(w);
    return push_frame(w, caller->pc, false, WNDL_HOW_FP);
}

/* Whether the frame below the last one was interrupted. */
static bool is_caller_of_interrupted(const struct walker *w)
{
    size_t last = wndl_walker_last(w);
    return last > 0 && w->walk->frames[last - 1].interrupted;
}

/* Ends the walk, because the last frame's return address is impossible. */
static bool ended_by_bad_pc(struct walker *w, uint64_t pc)
{
    struct wndl_fp_state state = {.sp = w->sp, .fp = w->fp};
    if (WNDL_WORD == 4 && is_caller_of_interrupted(w) &&
        wndl_leaf_pushed(&w->space, &state, 1))
        return replace_frame(w, &state);
    w->out--;
    if (pc == 0)
        return end_walk(w, wndl_root_end(&w->space, w->sp));
    return end_walk(w, WNDL_END_BAD_PC);
}

void wndl_walker_find_rule(struct walker *w, uint64_t pc)
{
    int32_t bits;
    const struct wndl_entry *entry =
        wndl_cache_peek(w->u, pc, w->generation, &bits);
    if (entry != NULL) {
        w->link = wndl_cache_link(w->u, entry);
        w->rule = wndl_rule_of_bits(bits);
        return;
    }
    struct wndl_found found = wndl_cache_find(w->u, pc, w->generation);
    w->link = wndl_cache_link(w->u, found.entry);
    w->rule = found.rule;
}

static bool push_frame(
    struct walker *w, uint64_t pc, bool interrupted, enum wndl_frame_how how)
{
    if (w->out == w->out_end)
        return end_walk(w, pc == 0 && !interrupted
                               ? wndl_root_end(&w->space, w->sp)
                               : WNDL_END_TRUNCATED);
    *w->out++ = wndl_frame_make(pc, interrupted, how);
    w->walk->fp_frames += wndl_frame_is_by_fp(how);
    wndl_walker_find_rule(w, pc + interrupted);
    if (w->rule.kind == WNDL_ENTRY_NO_CODE && !interrupted)
        return ended_by_bad_pc(w, pc);
    return true;
}

/*
 * Takes one step by a rule that the hot loop refused for its kind, or because
 * of the memory it would read.
 */
static bool step_checked(struct walker *w)
{
    const struct wndl_rule rule = w->rule;
    uint64_t cfa = (rule.kind == WNDL_ENTRY_FP ? w->fp : w->sp) +
                   (uint64_t)WNDL_WORD * rule.cfa;
    uint64_t pc, fp;
    if (!read_word(w, cfa - WNDL_WORD, &pc) ||
        !read_word(w, cfa + (uint64_t)(WNDL_WORD * rule.fp_slot), &fp))
        return end_walk(w, WNDL_END_BAD_READ);
    if (cfa <= w->sp)
        return end_walk(w, WNDL_END_NO_PROGRESS);
    if (rule.fp_slot != WNDL_SLOT_NONE)
        w->fp = fp;
    wndl_walker_set_sp(w, cfa);
    return push_frame(w, pc, false, WNDL_HOW_CFI);
}

static bool step_realign(struct walker *w)
{
    const int16_t cfa_slot = (int16_t)w->rule.cfa;
    uint64_t cfa, pc, fp;
    if (!read_word(w, w->fp + (uint64_t)(WNDL_WORD * cfa_slot), &cfa) ||
        !read_word(w, w->fp + (uint64_t)(WNDL_WORD * w->rule.fp_slot), &fp) ||
        !read_word(w, cfa - WNDL_WORD, &pc))
        return end_walk(w, WNDL_END_BAD_READ);
    if (cfa <= w->sp)
        return end_walk(w, WNDL_END_NO_PROGRESS);
    w->fp = fp;
    wndl_walker_set_sp(w, cfa);
    return push_frame(w, pc, false, WNDL_HOW_CFI);
}

/* The interrupted code may have been on another stack, so SP may fall. */
static bool step_sigreturn(struct walker *w)
{
    uint64_t gregs = w->sp + (uint64_t)WNDL_WORD * w->rule.cfa, pc, sp, fp;
    if (!read_word(w, gregs + WNDL_GREG_IP * WNDL_WORD, &pc) ||
        !read_word(w, gregs + WNDL_GREG_SP * WNDL_WORD, &sp) ||
        !read_word(w, gregs + WNDL_GREG_FP * WNDL_WORD, &fp))
        return end_walk(w, WNDL_END_BAD_READ);
    w->fp = fp;
    wndl_walker_set_sp(w, sp);
    if (!push_frame(w, pc, true, WNDL_HOW_CFI))
        return false;
    w->anchor.source = ANCHOR_STACK;
    w->anchor.frame = wndl_walker_last(w);
    w->anchor.gregs = gregs;
    return true;
}

static void load_anchor(const struct walker *w, struct wndl_full *full)
{
    if (w->anchor.source == ANCHOR_FULL) {
        *full = w->anchor.full;
        return;
    }
    if (w->anchor.source == ANCHOR_REGS) {
        wndl_full_init(full, w->space.arch, w->regs);
        full->interrupted = w->walk->frames[0].interrupted;
        return;
    }
    uintptr_t gregs[WNDL_GREGS];
    for (unsigned i = 0; i < WNDL_GREGS; i++) {
        uint64_t value;
        bool known = read_word(w, w->anchor.gregs + i * WNDL_WORD, &value);
        gregs[i] = known ? (uintptr_t)value : 0;
    }
    wndl_full_init(full, w->space.arch, &(struct wndl_regs){.gregs = gregs});
}

/*
 * Takes a step by a rule that needs more registers than the hot loop tracks. It
 * walks again from where all were known, exactly, to one frame past this one.
 * The end is the next anchor, so that no frame is walked again more than once.
 */
static bool step_full(struct walker *w)
{
    struct wndl_full full;
    struct wndl_step step = {0};
    size_t last = wndl_walker_last(w);
    load_anchor(w, &full);
    for (size_t i = w->anchor.frame; i <= last; i++) {
        step = wndl_full_step(&w->space, &full);
        if (!step.more && WNDL_DWARF_PC != WNDL_DWARF_RA &&
            step.end == WNDL_END_BAD_PC && last > 0)
            unpush_frame(w);
        if (!step.more)
            return end_walk(w, step.end);
        i -= step.replaces;
    }
    const struct wndl_cfi_regs *r = &full.regs;
    bool fp_valid = (r->valid >> WNDL_DWARF_FP & 1) != 0;
    w->fp = fp_valid ? r->regs[WNDL_DWARF_FP] : 0;
    wndl_walker_set_sp(w, r->regs[WNDL_DWARF_SP]);
    w->anchor.source = ANCHOR_FULL;
    w->anchor.frame = last + 1;
    w->anchor.full = full;
    return push_frame(w, r->regs[WNDL_DWARF_PC], full.interrupted, step.how);
}

/* Whether the last frame's rule is of code without CFI, or may become so. */
static bool may_be_followed(const struct walker *w)
{
    return w->rule.kind == WNDL_ENTRY_NO_FDE ||
           w->rule.kind >= WNDL_ENTRY_FLOW_SP;
}

/* Steps by frame pointers, and keeps what was learned of the code. */
static struct wndl_step learn_step(
    struct walker *w, struct wndl_fp_state *state, bool in_module)
{
    const uint64_t pc = state->pc;
    struct wndl_rule rule = w->rule;
    if (!state->interrupted && may_be_followed(w))
        state->rule = &rule;
    const struct wndl_step step = wndl_fp_step(&w->space, state, in_module);
    if (rule.kind != w->rule.kind)
        wndl_cache_refine(w->u, pc, w->generation, rule);
    return step;
}

static bool step_fp(struct walker *w, bool in_module)
{
    const struct wndl_frame *frame = &w->walk->frames[wndl_walker_last(w)];
    struct wndl_fp_state state = {frame->address, w->sp, w->fp,
        frame->interrupted, is_caller_of_interrupted(w), NULL};
    if (!in_module && wndl_space_method(&w->space) != WNDL_WALK_FP &&
        wndl_jit_rule(
            w->space.jit, frame->address - !frame->interrupted, &w->rule))
        return wndl_walker_step(w);
    struct wndl_step step = learn_step(w, &state, in_module);
    if (!step.more && step.end == WNDL_END_BAD_PC && wndl_walker_last(w) > 0)
        unpush_frame(w);
    if (!step.more)
        return end_walk(w, step.end);
    w->skips = w->skips || step.skips;
    if (step.replaces)
        return replace_frame(w, &state);
    w->fp = state.fp;
    wndl_walker_set_sp(w, state.sp);
    return push_frame(w, state.pc, false, step.how);
}

/*
 * Takes one step of a kind that the hot loop does not handle. False at the end
 * of the walk.
 */
bool wndl_walker_step(struct walker *w)
{
    if (wndl_space_method(&w->space) == WNDL_WALK_FP)
        return step_fp(w, w->rule.kind != WNDL_ENTRY_NO_MODULE &&
                              w->rule.kind != WNDL_ENTRY_NO_CODE);
    if (WNDL_DWARF_PC != WNDL_DWARF_RA && w->rule.kind >= WNDL_ENTRY_FULL &&
        w->rule.kind != WNDL_ENTRY_BAD)
        return step_full(w);
    switch ((enum wndl_entry_kind)w->rule.kind) {
    case WNDL_ENTRY_SP:
    case WNDL_ENTRY_FP:
    case WNDL_ENTRY_SP_LOW:
        return step_checked(w);
    case WNDL_ENTRY_REALIGN:
        return step_realign(w);
    case WNDL_ENTRY_SIGRETURN:
        return step_sigreturn(w);
    case WNDL_ENTRY_STOP:
        return end_walk(w, WNDL_END_COMPLETE);
    case WNDL_ENTRY_FULL:
        return step_full(w);
    case WNDL_ENTRY_START:
        return wndl_walker_is_at_root(w) ? end_walk(w, WNDL_END_COMPLETE)
                                         : step_fp(w, true);
    case WNDL_ENTRY_NO_FDE:
    case WNDL_ENTRY_FLOW_SP:
    case WNDL_ENTRY_FLOW_FP:
    case WNDL_ENTRY_NO_FLOW:
        return step_fp(w, true);
    case WNDL_ENTRY_NO_MODULE:
    case WNDL_ENTRY_NO_CODE:
        return step_fp(w, false);
    case WNDL_ENTRY_EMPTY:
    case WNDL_ENTRY_BAD:
        break;
    }
    return end_walk(w, WNDL_END_BAD_CFI);
}

/*
 * Finds the rule of `pc` unless the hot loop has left it in `rule`. False at
 * the end of the walk.
 */
bool wndl_walker_land(struct walker *w, uint64_t pc)
{
    if (w->rule.kind == WNDL_ENTRY_EMPTY)
        wndl_walker_find_rule(w, pc);
    return w->rule.kind == WNDL_ENTRY_NO_CODE ? ended_by_bad_pc(w, pc) : true;
}

/* The inputs of a hot loop. */
struct ground {
    struct wndl_unwinder *u;
    wndl_generation generation;
    uint32_t changes; /* of the cache, when its first rule was read */
    uint64_t high;    /* end of sp's range */
    uint64_t bits;    /* of its frames */
    const wndl_frame_word *out_end;
};

/* Steps from the last frame to its caller, which is written to out[n]. */
READS_STACK __attribute__((always_inline)) static inline bool hot_step(
    struct ground *g, struct hot *h, unsigned n)
{
    struct hot_step step;
    if (!hot_look(h, g->high, &step))
        return false;
    uint64_t pc = load(step.cfa - WNDL_WORD),
             saved = load(step.cfa + (uint64_t)(WNDL_WORD * step.slot));
    h->fp = step.slot != WNDL_SLOT_NONE ? saved : h->fp;
    h->sp = step.cfa;
    h->out[n] = pc + g->bits;
    h->link = wndl_walker_caller(g->u, h->link, pc, g->generation, &g->changes);
    h->rule = linked_rule(g->u, h->link);
    OPAQUE(h->rule);
    return true;
}

/*
 * The hot loop: frames by SP and FP rules, until another kind of step is needed
 * or there is room for less than two. A link predicts the caller's entry before
 * its key, the return address, is loaded for comparison, so that the loads of
 * one frame do not wait for the other's. If other threads have changed the
 * cache meanwhile, the rules may belong to other keys: then it returns false,
 * and the results must not be used.
 */
READS_STACK __attribute__((always_inline)) static inline bool hot_steps(
    struct ground *g, struct hot *h)
{
    /* Kept in a register, not computed for each frame. */
    g->bits = wndl_frame_bits(false, WNDL_HOW_CFI);
    OPAQUE(g->bits);
    const wndl_frame_word *const last = g->out_end - 1;
    while (h->out < last && hot_step(g, h, 0)) {
        if (!hot_step(g, h, 1)) {
            h->out++;
            break;
        }
        h->out += 2;
    }
    return LIKELY(wndl_cache_changes(g->u) == g->changes);
}

/* Takes over the result of a hot loop. False at the end of the walk. */
static bool take_hot(struct walker *w, const struct hot *h)
{
    if (h->out == w->out)
        return true;
    w->out = h->out;
    w->sp = h->sp;
    w->fp = h->fp;
    w->link = h->link;
    w->rule = wndl_rule_of_bits((int32_t)h->rule);
    return wndl_walker_land(
        w, h->out[-1] - wndl_frame_bits(false, WNDL_HOW_CFI));
}

/* Steps by the hot loop as far as possible. SP must be in a range. */
READS_STACK static bool step_many(struct walker *w)
{
    struct ground g = {
        w->u, w->generation, wndl_cache_changes(w->u), w->high, 0, w->out_end};
    struct hot h = {w->out, w->sp, w->fp, w->link, wndl_rule_bits(w->rule)};
    return !hot_steps(&g, &h) || take_hot(w, &h);
}

/* Frame 0; false if `regs` does not suffice to go on. */
bool wndl_walker_start(struct walker *w, bool interrupted)
{
    const struct wndl_regs *regs = w->regs;
    const uint32_t needed = WNDL_REG_IP | WNDL_REG_SP;
    w->walk->fp_frames = 0;
    w->skips = false;
    w->out = (wndl_frame_word *)w->walk->frames;
    w->out_end = w->out + w->walk->max_frames;
    if ((regs->valid & needed) != needed)
        return end_walk(w, WNDL_END_NO_RULE);
    *w->out++ = wndl_frame_make(regs->ip, interrupted, WNDL_HOW_CONTEXT);
    w->fp = (regs->valid & WNDL_REG_FP) != 0 ? regs->fp : 0;
    wndl_walker_set_sp(w, regs->sp);
    /* An SP outside of all stacks has no readable red zone. */
    w->red_zone_end = w->high == 0 ? 0 : regs->sp;
    w->red_zone = w->high == 0 ? 0 : regs->sp - WNDL_RED_ZONE;
    w->anchor.source = ANCHOR_REGS;
    w->anchor.frame = 0;
    return true;
}

void wndl_walker_init(
    struct walker *w, struct wndl_unwinder *u, struct wndl_walk *walk)
{
    w->u = u;
    w->generation = wndl_cache_generation(u);
    w->walk = walk;
    w->space = (struct wndl_space){.memory = {read_stack, w},
        .arch = WNDL_ARCH_HERE,
        .jit = walk->jit,
        .method = walk->method};
}

/*
 * Continues a walk that the hot loop alone cannot finish, from its state `h`.
 */
static __attribute__((noinline)) void walk_on(
    struct walker *w, const struct hot *h, bool interrupted)
{
    bool by_cfi = wndl_space_method(&w->space) != WNDL_WALK_FP;
    bool goes_on = wndl_walker_start(w, interrupted);
    if (goes_on && h->out == w->out)
        wndl_walker_find_rule(w, w->regs->ip + interrupted);
    goes_on = goes_on && take_hot(w, h);
    while (goes_on)
        goes_on =
            (!by_cfi || w->high == 0 || step_many(w)) && wndl_walker_step(w);
    w->walk->count = (size_t)(w->out - (wndl_frame_word *)w->walk->frames);
}

/*
 * Prepares frame 0, with its rule, for the hot loop. False if that is not
 * possible.
 */
READS_STACK __attribute__((always_inline)) static inline bool hot_start(
    struct ground *g, struct hot *h, const struct wndl_regs *regs,
    bool interrupted)
{
    const uint32_t needed = WNDL_REG_IP | WNDL_REG_SP;
    const uint64_t pc = regs->ip + interrupted;
    if (UNLIKELY(g->high == 0 || (regs->valid & needed) != needed))
        return false;
    g->generation = wndl_cache_generation(g->u);
    g->changes = wndl_cache_changes(g->u);
    h->link = wndl_cache_home(pc) / WNDL_CACHE_LINK;
    if (UNLIKELY(!leads_to(g->u, h->link, pc, g->generation)))
        return false;
    h->rule = linked_rule(g->u, h->link);
    h->sp = regs->sp;
    h->fp = (regs->valid & WNDL_REG_FP) != 0 ? regs->fp : 0;
    h->out[-1] = wndl_frame_make(regs->ip, interrupted, WNDL_HOW_CONTEXT);
    return true;
}

/*
 * Most walks are hot loop only, and need no more preparation than that. The
 * others continue from its end.
 */
READS_STACK __attribute__((always_inline)) static inline void walk_from(
    struct wndl_unwinder *u, const struct wndl_regs *regs,
    struct wndl_walker_stacks stacks, struct wndl_walk *walk, bool interrupted)
{
    wndl_frame_word *const first = (wndl_frame_word *)walk->frames;
    struct hot h = {.out = first + 1};
    struct ground g = {.u = u, .out_end = first + walk->max_frames};
    g.high = wndl_range_end(stacks.ranges, stacks.count, regs->sp);
    bool by_cfi = (walk->method & 3) != WNDL_WALK_FP;
    bool holds =
        by_cfi && hot_start(&g, &h, regs, interrupted) && hot_steps(&g, &h);
    if (LIKELY(holds) &&
        LIKELY(wndl_rule_of_bits((int32_t)h.rule).kind == WNDL_ENTRY_STOP)) {
        walk->count = (size_t)(h.out - first);
        walk->end = WNDL_END_COMPLETE;
        walk->fp_frames = 0;
        return;
    }
    struct walker w;
    const struct hot reached = {
        holds ? h.out : first + 1, h.sp, h.fp, h.link, h.rule};
    w.regs = regs;
    w.stacks = stacks.ranges;
    w.stack_count = stacks.count;
    wndl_walker_init(&w, u, walk);
    walk_on(&w, &reached, interrupted);
}

READS_STACK void wndl_walk_plainly(struct wndl_unwinder *u,
    const struct wndl_regs *regs, struct wndl_walker_stacks stacks,
    struct wndl_walk *walk, bool interrupted)
{
    if (interrupted)
        walk_from(u, regs, stacks, walk, true);
    else
        walk_from(u, regs, stacks, walk, false);
}

READS_STACK void wndl_unwind_regs(struct wndl_unwinder *u,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_walk *walk)
{
    walk_from(
        u, regs, (struct wndl_walker_stacks){stacks, stack_count}, walk, true);
}

/* Only assembly refers to it, which link-time optimisation does not see. */
#if __has_attribute(externally_visible)
#define CALLED_BY_ASM __attribute__((used, externally_visible))
#else
#define CALLED_BY_ASM __attribute__((used))
#endif

/* Continues wndl_unwind_self, with its caller's registers. */
void wndl_unwind_self_from(struct wndl_unwinder *u,
    const struct wndl_stack_range *stack, struct wndl_walk *walk,
    struct wndl_regs *regs) CALLED_BY_ASM;

READS_STACK void wndl_unwind_self_from(struct wndl_unwinder *u,
    const struct wndl_stack_range *stack, struct wndl_walk *walk,
    struct wndl_regs *regs)
{
    regs->valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX;
    regs->gregs = NULL;
    walk_from(u, regs, (struct wndl_walker_stacks){stack, 1}, walk, false);
}
