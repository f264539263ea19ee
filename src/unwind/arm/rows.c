/* SPDX-License-Identifier: MIT */
#include "unwind/arm/rows.h"

enum {
    WORD = 4,
    PROLOGUE_MAX = 96, /* instructions; compilers mix others in */
    EPILOGUE_MAX = 24,
    STEPS_MAX = 24,
    TARGETS_MAX = 8,
    NO_REG = 0xff,
};

/*
 * The place of the CFA: sp + depth or, with `by_base`, the body's register +
 * base. `saved` are those of the body's saved registers that are in their
 * slots.
 */
struct state {
    int64_t depth, base;
    uint16_t saved;
    bool by_base;
};

/* `state` is valid from `at` on. */
struct step {
    uint64_t at;
    struct state state;
};

struct steps {
    struct step list[STEPS_MAX];
    unsigned count;
    uint64_t end; /* end of the code that was followed */
};

/* Code that is the target of a jump out of a prologue. */
struct targets {
    struct step list[TARGETS_MAX];
    unsigned count;
};

/* The state in which an instruction is followed. */
struct following {
    const struct wndl_cfi_row *body;
    struct state state;
    uint8_t const_reg; /* has `constant` */
    uint8_t alias_reg; /* the value of this register is `alias` below the CFA */
    int64_t constant, alias;
};

/* ---- the body */

static bool is_saved(const struct wndl_cfi_row *body, unsigned reg)
{
    return body->regs[reg].kind == WNDL_RULE_OFFSET;
}

static uint16_t saved_by(const struct wndl_cfi_row *body)
{
    uint16_t mask = 0;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++)
        mask |= (uint16_t)(is_saved(body, reg) ? 1u << reg : 0);
    return mask;
}

static struct state body_state(const struct wndl_cfi_row *body)
{
    const bool by_base = body->cfa.reg != WNDL_ARM_SP;
    return (struct state){
        .depth = by_base ? 0 : body->cfa.offset,
        .base = by_base ? body->cfa.offset : 0,
        .saved = saved_by(body),
        .by_base = by_base,
    };
}

static bool is_body(const struct following *f)
{
    const struct state *s = &f->state;
    return s->saved == saved_by(f->body) &&
           (f->body->cfa.reg == WNDL_ARM_SP
                   ? s->depth == f->body->cfa.offset
                   : s->by_base && s->base == f->body->cfa.offset);
}

static bool is_same(const struct state *a, const struct state *b)
{
    return a->by_base == b->by_base && a->saved == b->saved &&
           (a->by_base ? a->base == b->base : a->depth == b->depth);
}

/* ---- effects of instructions */

/*
 * The registers of `mask`, stored from `slot` on, whose slots are the body's.
 * Slots are relative to the CFA.
 */
static uint16_t in_place(
    const struct wndl_cfi_row *body, uint16_t mask, int64_t slot)
{
    uint16_t found = 0;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if ((mask >> reg & 1) == 0)
            continue;
        const unsigned as = reg == WNDL_ARM_PC ? WNDL_ARM_LR : reg;
        if (is_saved(body, as) && body->regs[as].offset == slot)
            found |= (uint16_t)(1u << as);
        slot += WORD;
    }
    return found;
}

/* False if sp is not known afterwards. */
static bool follow_add(struct following *f, const struct wndl_arm_insn *i)
{
    struct state *s = &f->state;
    const bool of_base = f->body->cfa.reg != WNDL_ARM_SP;
    int64_t below; /* distance below the CFA of the value of `base` */
    if (i->base == WNDL_ARM_SP)
        below = s->depth;
    else if (s->by_base && i->base == f->body->cfa.reg)
        below = s->base;
    else if (i->base == f->alias_reg)
        below = f->alias;
    else
        return i->reg != WNDL_ARM_SP || s->by_base;
    below -= i->amount;
    if (i->reg == WNDL_ARM_SP) {
        s->depth = below;
    } else if (of_base && i->reg == f->body->cfa.reg) {
        if (s->by_base || below == f->body->cfa.offset) {
            s->by_base = true;
            s->base = below;
        }
    } else {
        f->alias_reg = i->reg;
        f->alias = below;
    }
    return true;
}

static bool follow_add_register(
    struct following *f, const struct wndl_arm_insn *i)
{
    if (i->base == f->const_reg)
        f->state.depth -= i->amount * f->constant;
    return i->base == f->const_reg || f->state.by_base;
}

static void follow_constant(struct following *f, const struct wndl_arm_insn *i)
{
    if (i->kind == WNDL_ARM_CONST) {
        f->const_reg = i->reg;
        f->constant = i->amount;
    } else if (f->const_reg == i->reg) {
        f->constant = (f->constant & 0xffff) | i->amount << 16;
    }
}

/* ---- prologues */

/*
 * Follows an instruction of a prologue. False if it cannot be part of one. A
 * stored pc is not a return address, unlike a loaded one.
 */
static bool follow_down(struct following *f, const struct wndl_arm_insn *i)
{
    struct state *s = &f->state;
    const uint16_t mask = i->mask & (uint16_t) ~(1u << WNDL_ARM_PC);
    switch ((enum wndl_arm_kind)i->kind) {
    case WNDL_ARM_OTHER:
    case WNDL_ARM_LOAD:
    case WNDL_ARM_BRANCH:
        return true;
    case WNDL_ARM_PUSH:
        s->depth -= i->amount;
        s->saved |= in_place(f->body, mask, -s->depth);
        return true;
    case WNDL_ARM_STORE:
        s->saved |= in_place(f->body, mask, i->amount - s->depth);
        return true;
    case WNDL_ARM_ADD:
        return follow_add(f, i);
    case WNDL_ARM_ADDREG:
        return follow_add_register(f, i);
    case WNDL_ARM_CONST:
    case WNDL_ARM_TOP:
        follow_constant(f, i);
        return true;
    default:
        return false;
    }
}

static bool add_step(struct steps *steps, uint64_t at, const struct state *s)
{
    if (steps->count == STEPS_MAX)
        return false;
    steps->list[steps->count++] = (struct step){at, *s};
    return true;
}

static void add_target(struct targets *targets, const struct state *state,
    const struct wndl_arm_insn *i, uint64_t at)
{
    if (i->target > at && targets->count < TARGETS_MAX)
        targets->list[targets->count++] = (struct step){i->target, *state};
}

static bool leaves_function(const struct wndl_arm_insn *i)
{
    return i->kind == WNDL_ARM_RETURN || i->kind == WNDL_ARM_JUMP ||
           (i->kind == WNDL_ARM_POP && (i->mask >> WNDL_ARM_PC & 1) != 0);
}

/* Whether a branch to `at` has the same state. */
static bool is_target(
    const struct targets *targets, uint64_t at, const struct state *state)
{
    for (unsigned i = 0; i < targets->count; i++) {
        if (targets->list[i].at == at &&
            is_same(&targets->list[i].state, state))
            return true;
    }
    return false;
}

/*
 * Whether a conditional instruction is skipped on the path where the prologue
 * continues, which is certain if it leaves the function. False if it may be
 * part of the prologue.
 */
static bool is_beside(const struct wndl_arm_insn *i)
{
    return i->kind == WNDL_ARM_OTHER || i->kind == WNDL_ARM_LOAD ||
           i->kind == WNDL_ARM_BRANCH || leaves_function(i);
}

/*
 * Follows a prologue. True if it reaches the body's rule. `steps` receives the
 * states up to there, or up to where the prologue could not be followed.
 */
static bool follow_prologue(const struct wndl_arm_function *function,
    const struct wndl_arm_code *code, struct steps *steps,
    struct targets *targets)
{
    struct following f = {
        .body = function->body, .const_reg = NO_REG, .alias_reg = NO_REG};
    uint64_t at = function->start;
    int64_t conditional = 0;
    *steps = (struct steps){.end = at};
    *targets = (struct targets){0};
    (void)add_step(steps, at, &f.state);
    for (unsigned n = 0; n < PROLOGUE_MAX && !is_body(&f); n++) {
        struct wndl_arm_insn i;
        if (at >= function->end || !wndl_arm_decode(code, at, &i))
            return false;
        const struct state before = f.state;
        steps->end = at + i.size;
        const bool always = conditional == 0 && !i.conditional;
        conditional -= conditional > 0;
        /* It continues after an early return that was jumped over. */
        const bool over = always && leaves_function(&i) &&
                          i.kind != WNDL_ARM_POP &&
                          is_target(targets, at + i.size, &f.state);
        if (i.kind == WNDL_ARM_IT)
            conditional = i.amount;
        else if (!over && (always ? !follow_down(&f, &i) : !is_beside(&i)))
            return false;
        if (f.state.depth < 0)
            return false;
        at += i.size;
        if (i.kind == WNDL_ARM_BRANCH)
            add_target(targets, &before, &i, at);
        if (!is_same(&before, &f.state) && !add_step(steps, at, &f.state))
            return false;
    }
    steps->end = at;
    return is_body(&f);
}

/* ---- epilogues */

/* False: it is not part of an epilogue. */
static bool follow_up(struct following *f, const struct wndl_arm_insn *i)
{
    struct state *s = &f->state;
    switch ((enum wndl_arm_kind)i->kind) {
    case WNDL_ARM_OTHER:
    case WNDL_ARM_STORE:
        return true;
    case WNDL_ARM_LOAD:
        s->saved &= (uint16_t)~in_place(f->body, i->mask, i->amount - s->depth);
        return true;
    case WNDL_ARM_POP:
        /* Below a frame of unknown size nothing is known. */
        if (s->by_base && s->depth == 0)
            return false;
        s->saved &= (uint16_t)~in_place(f->body, i->mask, -s->depth);
        s->depth -= i->amount;
        s->by_base &= (i->mask >> f->body->cfa.reg & 1) == 0;
        return true;
    case WNDL_ARM_ADD:
        if (!follow_add(f, i))
            return false;
        /*
         * Once SP is set from the base, the CFA counts from SP: a pop of the
         * base may follow.
         */
        s->by_base &= i->reg != WNDL_ARM_SP || i->base == WNDL_ARM_SP;
        return true;
    case WNDL_ARM_ADDREG:
        return follow_add_register(f, i);
    case WNDL_ARM_CONST:
    case WNDL_ARM_TOP:
        follow_constant(f, i);
        return true;
    default:
        return false;
    }
}

/*
 * Code that may be an epilogue. Either all of its instructions have the same
 * condition, or none has one.
 */
struct candidate {
    uint64_t at;
    unsigned most; /* instructions */
    bool conditional;
};

/*
 * Whether the code from `at` on undoes all of the body's rule and leaves. `f`
 * is the state there; `steps` receives the states.
 */
static bool follow_epilogue(const struct wndl_arm_function *function,
    const struct wndl_arm_code *code, struct following f,
    const struct candidate *c, struct steps *steps)
{
    uint64_t at = c->at;
    *steps = (struct steps){.end = at};
    for (unsigned n = 0; n < c->most && at < function->end; n++) {
        struct wndl_arm_insn i;
        if (!wndl_arm_decode(code, at, &i) || i.conditional != c->conditional)
            return false;
        const struct state before = f.state;
        const bool last = leaves_function(&i);
        if ((!last || i.kind == WNDL_ARM_POP) && !follow_up(&f, &i))
            return false;
        at += i.size;
        steps->end = at;
        if (f.state.depth < 0)
            return false;
        if (last)
            return f.state.depth == 0 && f.state.saved == 0;
        if (!is_same(&before, &f.state) && !add_step(steps, at, &f.state))
            return false;
    }
    return false;
}

/* ---- rows */

/* A function being read. `state` is valid from `from` on. */
struct going {
    const struct wndl_arm_function *function;
    struct wndl_arm_code code;
    bool (*visit)(void *context, const struct wndl_cfi_row *row);
    void *context;
    uint64_t from;
    struct state state;
    bool stopped;
};

static void give_row(struct going *g, uint64_t end)
{
    const struct wndl_cfi_row *body = g->function->body;
    struct wndl_cfi_row row = *body;
    if (g->from >= end || g->stopped)
        return;
    row.start = g->from;
    row.end = end;
    row.cfa.reg = g->state.by_base ? body->cfa.reg : WNDL_ARM_SP;
    row.cfa.offset = g->state.by_base ? g->state.base : g->state.depth;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if ((g->state.saved >> reg & 1) == 0)
            row.regs[reg] = (struct wndl_cfi_rule){0};
    }
    g->stopped = !g->visit(g->context, &row);
}

static void change_state(
    struct going *g, uint64_t at, const struct state *state)
{
    if (at > g->function->end)
        at = g->function->end;
    if (is_same(&g->state, state))
        return;
    give_row(g, at);
    g->from = at;
    g->state = *state;
}

static void take_steps(struct going *g, const struct steps *steps)
{
    for (unsigned i = 0; i < steps->count; i++)
        change_state(g, steps->list[i].at, &steps->list[i].state);
}

/* After a jump: the state of a jump to here, else the body's. */
static void change_after_jump(
    struct going *g, uint64_t at, const struct targets *targets)
{
    struct state next = body_state(g->function->body);
    for (unsigned i = 0; i < targets->count; i++) {
        if (targets->list[i].at == at)
            next = targets->list[i].state;
    }
    change_state(g, at, &next);
}

/* Whether an epilogue may begin with this instruction. */
static bool may_begin(const struct following *f, const struct wndl_arm_insn *i)
{
    const uint8_t base = f->body->cfa.reg;
    return i->kind == WNDL_ARM_POP || i->kind == WNDL_ARM_ADDREG ||
           (i->kind == WNDL_ARM_ADD &&
               (i->reg == WNDL_ARM_SP || (i->reg == base && i->base == base)));
}

/* Keeps the state that an epilogue will need. */
static void note_saved(struct following *f, const struct wndl_arm_insn *i)
{
    struct following probe = *f;
    if (i->kind == WNDL_ARM_LOAD || i->kind == WNDL_ARM_CONST ||
        i->kind == WNDL_ARM_TOP ||
        (i->kind == WNDL_ARM_ADD && i->reg != WNDL_ARM_SP &&
            i->reg != f->body->cfa.reg)) {
        if (follow_up(&probe, i))
            *f = probe;
    }
}

/* A frame whose CFA is not based on sp may grow after the prologue. */
static void deepen_frame(
    struct following *fresh, struct following *f, const struct wndl_arm_insn *i)
{
    const bool grows = i->kind == WNDL_ARM_PUSH ||
                       (i->kind == WNDL_ARM_ADD && i->reg == WNDL_ARM_SP &&
                           i->base == WNDL_ARM_SP && i->amount < 0);
    if (!grows || !f->state.by_base)
        return;
    fresh->state.depth -= i->amount;
    f->state.depth -= i->amount;
}

/*
 * Linkers merge the entries of neighbours with equal rules. So a function may
 * begin at a push of lr within the body's rule, if from there a prologue makes
 * that rule again. A function without a frame has that rule from the start.
 * *depth receives the depth after the first instruction.
 */
static bool begin_again(struct going *g, const struct wndl_arm_insn *i,
    uint64_t at, struct steps *steps, int64_t *depth)
{
    struct wndl_arm_function next = *g->function;
    struct targets targets;
    next.start = at;
    if (i->kind != WNDL_ARM_PUSH || (i->mask >> WNDL_ARM_LR & 1) == 0 ||
        !follow_prologue(&next, &g->code, steps, &targets) || steps->end == at)
        return false;
    const struct state body = body_state(g->function->body);
    take_steps(g, steps);
    change_state(g, steps->end, &body);
    *depth = steps->list[steps->count - 1].state.depth;
    return true;
}

/*
 * An epilogue under a condition, as after the check of a stack protector.
 * Within it the condition is taken to hold, after it not to have held.
 */
static bool take_conditional(struct going *g, const struct following *f,
    const struct candidate *c, struct steps *steps)
{
    const struct state body = body_state(g->function->body);
    if (!is_same(&g->state, &body) ||
        !follow_epilogue(g->function, &g->code, *f, c, steps))
        return false;
    take_steps(g, steps);
    change_state(g, steps->end, &body);
    return true;
}

/* Reports all from `at` on. sp is `depth` below the CFA there, if known. */
static void go_through(
    struct going *g, uint64_t at, int64_t depth, const struct targets *targets)
{
    const struct state body = body_state(g->function->body);
    struct following fresh = {.body = g->function->body,
        .state = body,
        .const_reg = NO_REG,
        .alias_reg = NO_REG};
    fresh.state.depth = depth;
    struct following f = fresh;
    struct wndl_arm_insn i;
    struct steps steps;
    int64_t conditional = 0;
    for (; at < g->function->end && !g->stopped &&
           wndl_arm_decode(&g->code, at, &i);
         at += i.size, conditional -= conditional > 0) {
        const bool always = conditional == 0 && !i.conditional;
        const bool is_it = i.kind == WNDL_ARM_IT;
        const struct candidate candidate = {is_it ? at + i.size : at,
            is_it ? (unsigned)i.amount : EPILOGUE_MAX, i.conditional};
        if (conditional == 0 &&
            (is_it || (i.conditional && may_begin(&f, &i))) &&
            take_conditional(g, &f, &candidate, &steps)) {
            at = steps.end - i.size;
        } else if (is_it) {
            conditional = i.amount + 1;
        } else if (always && leaves_function(&i)) {
            f = fresh;
            change_after_jump(g, at + i.size, targets);
        } else if (always && is_same(&g->state, &body) &&
                   begin_again(g, &i, at, &steps, &fresh.state.depth)) {
            at = steps.end - i.size;
            f = fresh;
        } else if (always && is_same(&g->state, &body)) {
            note_saved(&f, &i);
            deepen_frame(&fresh, &f, &i);
            if (may_begin(&f, &i) &&
                follow_epilogue(g->function, &g->code, f, &candidate, &steps)) {
                take_steps(g, &steps);
                at = steps.end - i.size;
                f = fresh;
                change_after_jump(g, steps.end, targets);
            }
        } else if (always && may_begin(&f, &i)) {
            change_state(g, at + i.size, &body);
        }
    }
}

/* Tries the code as Thumb, then as ARM, then the first part as Thumb. */
static enum wndl_arm_prologue choose_prologue(
    struct going *g, struct steps *steps, struct targets *targets)
{
    const struct wndl_arm_function *function = g->function;
    if (follow_prologue(function, &g->code, steps, targets))
        return WNDL_ARM_FOLLOWED;
    g->code.thumb = false;
    if (function->start % WORD == 0 &&
        follow_prologue(function, &g->code, steps, targets))
        return WNDL_ARM_FOLLOWED;
    g->code.thumb = true;
    (void)follow_prologue(function, &g->code, steps, targets);
    return steps->count > 1 ? WNDL_ARM_PARTLY : WNDL_ARM_NOT_FOLLOWED;
}

enum wndl_arm_prologue wndl_arm_rows(const struct wndl_arm_function *function,
    bool (*visit)(void *context, const struct wndl_cfi_row *row), void *context)
{
    const struct state body = body_state(function->body);
    struct going g = {.function = function,
        .code = {function->code, function->code_addr, true},
        .visit = visit,
        .context = context,
        .from = function->start,
        .state = body};
    struct steps steps;
    struct targets targets;
    const enum wndl_arm_prologue how = choose_prologue(&g, &steps, &targets);
    uint64_t at = function->start;
    int64_t depth = body.depth;
    if (how != WNDL_ARM_NOT_FOLLOWED) {
        take_steps(&g, &steps);
        change_state(&g, steps.end, &body);
        at = steps.end;
    }
    if (how == WNDL_ARM_FOLLOWED)
        depth = steps.list[steps.count - 1].state.depth;
    go_through(&g, at, depth, &targets);
    give_row(&g, function->end);
    return how;
}
