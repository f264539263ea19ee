/* SPDX-License-Identifier: MIT */
#include "unwind/slow/flow_arm.h"

#include "os/dlfind.h"
#include "unwind/arm/code.h"
#include "unwind/arm/exidx.h"
#include "unwind/slow/landing_arm.h"
#include "unwind/space/arm_find.h"

enum {
    WORD = 4,
    STEPS_MAX = 2048, /* instructions of all ways together */
    WAYS_MAX = 48,
    STRETCHES_MAX = 48,
    FIRST_SAVED = WNDL_ARM_R4,
    LAST_SAVED = 11,
    IP = 12,
};

/*
 * The registers that are kept for a branch that was passed over: those on which
 * frames are based. They are few, for signal handlers' stacks.
 */
static const uint8_t kept[] = {7, 11, WNDL_ARM_SP, WNDL_ARM_LR};
enum { KEPT = sizeof kept };

struct way {
    uint32_t at, pushed_lr, regs[KEPT];
    uint16_t valid;
};

/* A stretch of code that has been followed. */
struct stretch {
    uint32_t from, to;
};

/* The code being followed, with the registers there. */
struct flow {
    const struct wndl_space *space;
    const struct wndl_cfi_regs *before; /* at the start */
    struct wndl_cfi_regs now;
    uint64_t pushed_lr;  /* 0: it was not pushed, or its value was unknown */
    uint64_t lr_slot;    /* from which lr was loaded; 0: none */
    bool popped_lr;      /* lr is popped for good: a jump is the last call */
    bool is_another;     /* not the caller but a function further up */
    int64_t conditional; /* number of the next instructions under a condition */
    struct way ways[WAYS_MAX];
    struct stretch stretches[STRETCHES_MAX];
    unsigned way_count, ways_taken, stretch_count, steps;
};

static bool has(const struct wndl_cfi_regs *regs, unsigned number)
{
    return (regs->valid >> number & 1) != 0;
}

static void set(struct wndl_cfi_regs *regs, unsigned number, uint64_t value)
{
    regs->regs[number] = value;
    regs->valid |= UINT64_C(1) << number;
}

static void forget(struct wndl_cfi_regs *regs, unsigned number)
{
    regs->valid &= ~(UINT64_C(1) << number);
}

/* Forgets registers that functions do not preserve. */
static void forget_scratch(struct wndl_cfi_regs *regs)
{
    for (unsigned reg = 0; reg < WNDL_ARM_PC; reg++) {
        if ((reg < FIRST_SAVED || reg > LAST_SAVED) && reg != WNDL_ARM_SP)
            forget(regs, reg);
    }
}

/* Restores a register. If it was pushed on the way, it is as at the start. */
static bool restore(struct flow *f, unsigned reg, uint64_t slot)
{
    uint64_t value;
    if (slot < f->before->regs[WNDL_ARM_SP]) {
        const bool is_ra = reg == WNDL_ARM_PC || reg == WNDL_ARM_LR;
        value = is_ra ? f->pushed_lr : f->before->regs[reg];
        if (is_ra ? value == 0 : !has(f->before, reg)) {
            forget(&f->now, reg);
            return reg != WNDL_ARM_PC;
        }
    } else if (!wndl_space_word(f->space, slot, &value)) {
        return false;
    }
    set(&f->now, reg, value);
    return true;
}

/* Restores the registers of `mask`, stored from `slot` on. */
static bool restore_all(struct flow *f, unsigned mask, uint64_t slot)
{
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if ((mask >> reg & 1) == 0)
            continue;
        if (!restore(f, reg, slot))
            return false;
        slot += WORD;
    }
    return true;
}

static void add(struct flow *f, const struct wndl_arm_insn *i)
{
    if (has(&f->now, i->base))
        set(&f->now, i->reg,
            (uint32_t)(f->now.regs[i->base] + (uint64_t)i->amount));
    else
        forget(&f->now, i->reg);
}

static void push(struct flow *f, const struct wndl_arm_insn *i)
{
    uint64_t *sp = &f->now.regs[WNDL_ARM_SP];
    *sp = (uint32_t)(*sp + (uint64_t)i->amount);
    if ((i->mask >> WNDL_ARM_LR & 1) == 0)
        return;
    f->popped_lr = false;
    if (has(&f->now, WNDL_ARM_LR))
        f->pushed_lr = f->now.regs[WNDL_ARM_LR];
}

static bool pop(struct flow *f, const struct wndl_arm_insn *i)
{
    const uint64_t slot = f->now.regs[WNDL_ARM_SP];
    if (!has(&f->now, WNDL_ARM_SP))
        return false;
    set(&f->now, WNDL_ARM_SP, (uint32_t)(slot + (uint64_t)i->amount));
    f->popped_lr |= (i->mask >> WNDL_ARM_LR & 1) != 0;
    return restore_all(f, i->mask & ~(1u << WNDL_ARM_SP), slot);
}

static bool load(struct flow *f, const struct wndl_arm_insn *i)
{
    const uint64_t slot =
        (uint32_t)(f->now.regs[WNDL_ARM_SP] + (uint64_t)i->amount);
    if (!has(&f->now, WNDL_ARM_SP))
        return false;
    if (i->mask == 1u << WNDL_ARM_LR)
        f->lr_slot = slot;
    return restore_all(f, i->mask, slot);
}

/*
 * libgcc's unwinder saves all of its caller's registers, and loads lr from
 * among them. While it unwinds, it overwrites them with those of the function
 * that it has reached. Then sp is not that of its return. If it continues after
 * a landing pad, which has called it through __cxa_end_cleanup, it starts from
 * the return address, in pc, of the pad's function. Its frame has only pc above
 * lr; other code that loads lr mostly has nothing there.
 */
static bool has_come_to_another(struct flow *f)
{
    struct wndl_cfi_regs all = {0};
    for (unsigned reg = FIRST_SAVED; reg <= WNDL_ARM_PC; reg++) {
        uint64_t value;
        const uint64_t slot =
            f->lr_slot - (uint64_t)WORD * WNDL_ARM_LR + (uint64_t)WORD * reg;
        if (slot < f->before->regs[WNDL_ARM_SP] ||
            !wndl_space_word(f->space, slot, &value))
            return false;
        set(&all, reg, value);
    }
    const uint64_t pc = all.regs[WNDL_ARM_PC];
    const bool returns = wndl_code_is_mapped(f->space->remote, pc - 1) &&
                         wndl_arm_is_after_call(f->space->remote, pc);
    if (all.regs[WNDL_ARM_SP] == f->now.regs[WNDL_ARM_SP] &&
        (pc == all.regs[WNDL_ARM_LR] || !returns))
        return false;
    if (returns)
        wndl_landing_arm_right(f->space, f->now.regs[WNDL_ARM_SP], &all);
    f->now = all;
    f->is_another = true;
    return true;
}

static bool is_libgccs_return(const struct flow *f)
{
    return f->lr_slot != 0 && has(&f->now, WNDL_ARM_SP) &&
           f->now.regs[WNDL_ARM_SP] == f->lr_slot + 2 * WORD;
}

static bool follow_return(struct flow *f)
{
    if (is_libgccs_return(f) && has_come_to_another(f))
        return true;
    if (has(&f->now, WNDL_ARM_LR))
        set(&f->now, WNDL_ARM_PC, f->now.regs[WNDL_ARM_LR]);
    return has(&f->now, WNDL_ARM_LR);
}

/* A conditional instruction is assumed not to be executed. */
static bool may_be_passed_over(const struct wndl_arm_insn *i)
{
    switch ((enum wndl_arm_kind)i->kind) {
    case WNDL_ARM_PUSH:
    case WNDL_ARM_ADDREG:
    case WNDL_ARM_MOVES_SP:
        return false;
    case WNDL_ARM_POP:
        return (i->mask >> WNDL_ARM_PC & 1) != 0;
    case WNDL_ARM_ADD:
        return i->reg != WNDL_ARM_SP;
    default:
        return true;
    }
}

/*
 * Follows one instruction; a return sets PC. False if nothing is known
 * afterwards.
 */
static bool follow(struct flow *f, const struct wndl_arm_insn *i)
{
    switch ((enum wndl_arm_kind)i->kind) {
    case WNDL_ARM_PUSH:
        push(f, i);
        return true;
    case WNDL_ARM_POP:
        return pop(f, i);
    case WNDL_ARM_LOAD:
        return load(f, i);
    case WNDL_ARM_ADD:
        add(f, i);
        return true;
    case WNDL_ARM_CALL:
        f->popped_lr = false;
        forget(&f->now, WNDL_ARM_LR);
        return true;
    case WNDL_ARM_IT:
        f->conditional = i->amount;
        return true;
    case WNDL_ARM_RETURN:
        return follow_return(f);
    case WNDL_ARM_JUMP: /* to an unknown target, it may be a tail call */
        return i->target != 0 ||
               ((f->popped_lr || i->base == IP) && follow_return(f));
    case WNDL_ARM_ADDREG:
    case WNDL_ARM_MOVES_SP: /* a frame pointer may restore it */
        forget(&f->now, WNDL_ARM_SP);
        return true;
    default:
        return true;
    }
}

/* Keeps a way for later, once for each target. */
static void keep_way(struct flow *f, uint64_t at)
{
    if (at == 0 || f->way_count == WAYS_MAX)
        return;
    for (unsigned i = 0; i < f->way_count; i++) {
        if (f->ways[i].at == at)
            return;
    }
    struct way *way = &f->ways[f->way_count++];
    *way = (struct way){.at = (uint32_t)at,
        .pushed_lr = (uint32_t)f->pushed_lr,
        .valid = (uint16_t)f->now.valid};
    for (unsigned i = 0; i < KEPT; i++)
        way->regs[i] = (uint32_t)f->now.regs[kept[i]];
}

/* The start of the first way that was not followed yet; 0: none. */
static uint64_t take_way(struct flow *f)
{
    if (f->ways_taken == f->way_count)
        return 0;
    const struct way *way = &f->ways[f->ways_taken++];
    f->pushed_lr = way->pushed_lr;
    f->lr_slot = 0;
    f->popped_lr = false;
    f->is_another = false;
    f->conditional = 0;
    f->now = *f->before;
    for (unsigned i = 0; i < KEPT; i++) {
        forget(&f->now, kept[i]);
        if ((way->valid >> kept[i] & 1) != 0)
            set(&f->now, kept[i], way->regs[i]);
    }
    return way->at;
}

/*
 * Notes a stretch that begins at `at`. False if that was followed already, or
 * there is no room.
 */
static bool enter(struct flow *f, uint64_t at)
{
    for (unsigned i = 0; i < f->stretch_count; i++) {
        if (at >= f->stretches[i].from && at < f->stretches[i].to)
            return false;
    }
    if (f->stretch_count == STRETCHES_MAX)
        return false;
    f->stretches[f->stretch_count++] =
        (struct stretch){(uint32_t)at, (uint32_t)at};
    return true;
}

/* Follows code up to a return, whose address is then in PC. */
static bool follow_way(
    struct flow *f, const struct wndl_arm_code *code, uint64_t at)
{
    forget(&f->now, WNDL_ARM_PC);
    if (!enter(f, at))
        return false;
    for (; f->steps < STEPS_MAX; f->steps++) {
        struct wndl_arm_insn i;
        if (!wndl_arm_decode(code, at, &i))
            return false;
        at += i.size;
        f->stretches[f->stretch_count - 1].to = (uint32_t)at;
        const bool always = f->conditional == 0 && !i.conditional;
        f->conditional -= f->conditional > 0;
        if (i.kind == WNDL_ARM_BRANCH || (i.kind == WNDL_ARM_JUMP && !always))
            keep_way(f, i.target);
        if (!always && may_be_passed_over(&i))
            continue;
        if (!always || !follow(f, &i))
            return false;
        if (has(&f->now, WNDL_ARM_PC))
            return true;
        if (i.kind != WNDL_ARM_JUMP)
            continue;
        at = i.target;
        if (!enter(f, at))
            return false;
    }
    return false;
}

/* Sets the caller's registers; false if they are impossible. */
static bool take(const struct flow *f, struct wndl_full *full)
{
    struct wndl_cfi_regs caller = f->now;
    const uint64_t ra = caller.regs[WNDL_ARM_PC];
    const bool returns = wndl_arm_is_after_call(f->space->remote, ra);
    const uint64_t sp = caller.regs[WNDL_ARM_SP];
    const uint64_t sp_before = f->before->regs[WNDL_ARM_SP];
    if (!has(&caller, WNDL_ARM_SP) || sp < sp_before ||
        (sp == sp_before && !(full->interrupted && returns)) ||
        !(f->is_another ? wndl_code_is_mapped(f->space->remote, ra) : returns))
        return false;
    forget_scratch(&caller);
    set(&caller, WNDL_ARM_PC, ra & ~UINT64_C(1));
    full->regs = caller;
    full->interrupted = !returns; /* a landing pad */
    return true;
}

/* Finds the first way to a possible return. */
static bool follow_all(
    struct flow *f, const struct wndl_arm_code *code, struct wndl_full *full)
{
    uint64_t at = f->before->regs[WNDL_ARM_PC];
    for (; at != 0; at = take_way(f)) {
        if (follow_way(f, code, at) && take(f, full))
            return true;
    }
    return false;
}

/*
 * Steps from a stub of a procedure linkage table, which changes ip only, to the
 * return of its target.
 */
static bool step_from_stub(const struct wndl_space *space,
    const struct wndl_arm_code *code, struct wndl_full *full)
{
    enum {
        STUB_MAX = 5,
        ADD_PC = 0xe28fc,
        ADD_IP = 0xe28cc,
        JUMP = 0xe5bcf,
        TO_ARM = 0x46c04778, /* bx pc; nop: comes from Thumb code */
    };
    const uint64_t ra = full->regs.regs[WNDL_ARM_LR];
    const uint64_t pc = full->regs.regs[WNDL_ARM_PC];
    struct wndl_cursor c = wndl_cursor_at(code->bytes, pc - code->addr, false);
    uint32_t word = wndl_cursor_u32(&c);
    /* Elsewhere a blx in Thumb code looks the same. */
    if (!full->interrupted || !has(&full->regs, WNDL_ARM_LR) || pc % WORD != 0)
        return false;
    for (unsigned i = 1;
         i < STUB_MAX &&
         (word == TO_ARM || word >> 12 == ADD_PC || word >> 12 == ADD_IP);
         i++)
        word = wndl_cursor_u32(&c);
    if (c.failed || word >> 12 != JUMP ||
        !wndl_arm_is_after_call(space->remote, ra))
        return false;
    set(&full->regs, WNDL_ARM_PC, ra & ~UINT64_C(1));
    full->interrupted = false;
    return true;
}

/* Steps as Thumb code or as ARM code. */
static bool step_as(const struct wndl_space *space,
    const struct wndl_arm_code *code, struct wndl_full *full)
{
    const struct wndl_cfi_regs before = full->regs;
    const uint64_t pc = before.regs[WNDL_ARM_PC];
    struct flow f = {.space = space, .before = &before, .now = before};
    if (pc % (code->thumb ? 2 : WORD) != 0)
        return false;
    if (!full->interrupted) {
        forget(&f.now, WNDL_ARM_LR);
        if (!wndl_arm_is_after_call(space->remote, pc | code->thumb))
            return false;
    }
    return follow_all(&f, code, full);
}

static bool is_same(const struct wndl_full *a, const struct wndl_full *b)
{
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if (has(&a->regs, reg) && a->regs.regs[reg] != b->regs.regs[reg])
            return false;
    }
    return a->regs.valid == b->regs.valid && a->interrupted == b->interrupted;
}

bool wndl_flow_arm_step_in(const struct wndl_space *space,
    struct wndl_bytes bytes, uint64_t addr, struct wndl_full *full)
{
    struct wndl_arm_code code = {.bytes = bytes, .addr = addr};
    if (step_from_stub(space, &code, full) ||
        wndl_landing_arm_step(space, bytes, addr, full)) {
        forget_scratch(&full->regs);
        return true;
    }
    struct wndl_full other = *full;
    const bool is_arm = step_as(space, &code, &other);
    code.thumb = true;
    struct wndl_full thumb = *full;
    const bool is_thumb = step_as(space, &code, &thumb);
    if (is_arm ? is_thumb && !is_same(&other, &thumb) : !is_thumb)
        return false; /* neither form, or two answers */
    *full = is_arm ? other : thumb;
    return true;
}

bool wndl_flow_arm_step(const struct wndl_space *space, struct wndl_full *full)
{
    struct wndl_dlmodule module;
    const uint64_t pc = full->regs.regs[WNDL_ARM_PC];
    if (space->remote != NULL || !wndl_dlfind(pc, &module))
        return false;
    const struct wndl_bytes bytes = wndl_dlmodule_around(&module, pc);
    return wndl_flow_arm_step_in(space, bytes, (uintptr_t)bytes.data, full);
}
