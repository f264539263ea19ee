/* SPDX-License-Identifier: MIT */
/*
 * a64_rows: registers are saved where the body's rules have them. A store to
 * such a place saves a register, and a load from it ends that; any other is
 * ignored. The code is read once, in the order of addresses. After a jump, the
 * state is that at a branch to there from before it, else the body's rules. So
 * the state is kept at each forward branch that does not come from the body.
 */
#include "cfi_import/macho/a64_rows.h"

enum {
    INSTRUCTION = 4, /* bytes */
    FP = 29,
    SP = 31,
    LINK = 16,     /* from X29 to the CFA */
    BRANCHES = 64, /* maximum that is kept; for more the body's rules hold */
};

/* The state at an instruction. */
struct state {
    int64_t depth;  /* bytes from SP to the CFA, */
    bool known;     /* if it is known */
    bool framed;    /* the CFA counts from X29 */
    uint32_t saved; /* those of the body's saved registers */
};

struct branch {
    uint64_t to; /* offset in the code */
    struct state state;
};

struct following {
    const struct wndl_a64_function *function;
    struct wndl_frame_writer *writer; /* NULL: a trial */
    struct state state, body;
    struct state last; /* written last */
    bool reached;      /* the body's rules were reached */
    struct branch branches[BRANCHES];
    unsigned branch_count;
};

/* An access: a change of SP, or a register and its place. */
struct access {
    bool is_load, is_pair;
    bool is_core; /* 64 bits of a general register */
    bool writes_back;
    int64_t by; /* added to SP */
    int64_t at; /* from SP before that */
    uint8_t regs[2];
};

static int64_t extended(uint32_t value, unsigned bits)
{
    const uint32_t sign = UINT32_C(1) << (bits - 1);
    value &= (sign << 1) - 1;
    return (int64_t)(value ^ sign) - (int64_t)sign;
}

static struct state state_of_body(const struct wndl_cfi_row *body)
{
    struct state s = {.framed = body->cfa.reg == FP};
    s.known = !s.framed;
    s.depth = s.framed ? 0 : body->cfa.offset;
    for (unsigned reg = 0; reg < SP; reg++) {
        if (body->regs[reg].kind == WNDL_RULE_OFFSET)
            s.saved |= UINT32_C(1) << reg;
    }
    return s;
}

/*
 * Whether two states have the same rules. If the CFA is based on X29, the depth
 * does not matter.
 */
static bool same_rules(const struct state *a, const struct state *b)
{
    return a->framed == b->framed && a->saved == b->saved &&
           (a->framed || (a->known == b->known && a->depth == b->depth));
}

static void write_row(struct following *f, uint64_t at)
{
    const struct wndl_cfi_row *body = f->function->body;
    struct wndl_cfi_row row = *body;
    if (f->writer == NULL || (at != 0 && same_rules(&f->state, &f->last)))
        return;
    row.start = f->function->start + at;
    if (!f->state.framed)
        row.cfa = (struct wndl_cfi_rule){
            .kind = WNDL_RULE_REGISTER, .reg = SP, .offset = f->state.depth};
    for (unsigned reg = 0; reg < SP; reg++) {
        if ((f->state.saved >> reg & 1) == 0)
            row.regs[reg] = (struct wndl_cfi_rule){0};
    }
    f->last = f->state;
    wndl_frame_writer_row(f->writer, &row);
}

/* ---- loads and stores by SP */

/* C4.1.94: a pair, at a multiple of its registers' size. */
static bool read_pair(uint32_t word, struct access *a)
{
    const uint32_t form = word >> 23 & 3, opc = word >> 30;
    const bool is_vector = (word >> 26 & 1) != 0;
    if ((word & 0x3a000000) != 0x28000000)
        return false;
    const unsigned scale = is_vector ? 2 + opc : opc == 2 ? 3 : 2;
    const int64_t by = extended(word >> 15, 7) * (INT64_C(1) << scale);
    *a = (struct access){.is_load = (word >> 22 & 1) != 0,
        .is_pair = true,
        .is_core = opc == 2 && !is_vector,
        .writes_back = (form & 1) != 0,
        .by = (form & 1) != 0 ? by : 0,
        .at = form == 1 ? 0 : by,
        .regs = {word & 31, word >> 10 & 31}};
    return true;
}

/*
 * Reads an access to one register. Vector registers matter only by their change
 * of SP.
 */
static bool read_single(uint32_t word, struct access *a)
{
    const uint32_t form = word >> 10 & 3;
    *a = (struct access){.is_load = (word >> 22 & 3) != 0,
        .is_core = word >> 30 == 3 && (word >> 26 & 1) == 0,
        .regs = {word & 31}};
    if ((word & 0x3b000000) == 0x39000000) {
        a->at = (int64_t)(word >> 10 & 0xfff) * 8;
        return true;
    }
    if ((word & 0x3b200000) != 0x38000000 || form == 2)
        return false;
    const int64_t by = extended(word >> 12, 9);
    a->writes_back = form != 0;
    a->by = form != 0 ? by : 0;
    a->at = form == 1 ? 0 : by;
    return true;
}

/* `at` is relative to SP. */
static void take_register(
    struct following *f, const struct access *a, unsigned reg, int64_t at)
{
    const struct wndl_cfi_rule *rule = &f->function->body->regs[reg];
    const uint32_t bit = UINT32_C(1) << reg;
    struct state *s = &f->state;
    if (reg == SP || rule->kind != WNDL_RULE_OFFSET)
        return;
    /* X29 is loaded from its slot, even if SP is unknown. */
    if (reg == FP && a->is_load && s->framed) {
        s->depth = at - rule->offset;
        s->known = true;
        s->framed = false;
    }
    if (s->known && at - s->depth == rule->offset)
        s->saved = a->is_load ? s->saved & ~bit : s->saved | bit;
}

static void move_sp(struct following *f, int64_t by)
{
    struct state *s = &f->state;
    const bool is_body = same_rules(s, &f->body);
    /* A frame by SP has its size: this is the next function's prologue, if
     * any. */
    if (is_body && !s->framed && by < 0)
        return;
    s->depth -= by;
    if (is_body && s->framed && s->known && by < 0)
        f->body = *s;
}

static void take_access(struct following *f, const struct access *a)
{
    if (a->is_core) {
        take_register(f, a, a->regs[0], a->at);
        if (a->is_pair)
            take_register(f, a, a->regs[1], a->at + 8);
    }
    if (a->writes_back)
        move_sp(f, a->by);
}

/* ---- arithmetic */

static void take_sum(struct following *f, uint32_t word)
{
    struct state *s = &f->state;
    const unsigned to = word & 31, from = word >> 5 & 31;
    const int64_t amount = (int64_t)(word >> 10 & 0xfff)
                           << ((word >> 22 & 1) != 0 ? 12 : 0);
    const int64_t by = (word >> 30 & 1) != 0 ? -amount : amount;
    const uint32_t record = UINT32_C(3) << FP;
    if (to == SP && from == SP) {
        move_sp(f, by);
    } else if (to == SP) {
        s->known = s->framed && from == FP;
        s->depth = LINK - by;
    } else if (to == FP && from == SP && f->body.framed && s->known &&
               s->depth - by == LINK && (s->saved & record) == record) {
        s->framed = true;
    }
}

/* By a register, or to a boundary. */
static bool sets_sp(uint32_t word)
{
    return (word & 31) == SP && ((word & 0xbfe00000) == 0x8b200000 ||
                                    (word & 0xff800000) == 0x92000000);
}

/* ---- branches */

enum flow { GOES_ON, CALLS, RETURNS, JUMPS };

/* *to: the other target, relative to the instruction; 0: not known. */
static enum flow read_flow(uint32_t word, int64_t *to)
{
    *to = 0;
    if ((word & 0x7c000000) == 0x14000000) {
        *to = extended(word, 26) * INSTRUCTION;
        return word >> 31 != 0 ? CALLS : JUMPS;
    }
    if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
        *to = extended(word >> 5, 19) * INSTRUCTION;
    if ((word & 0x7e000000) == 0x36000000)
        *to = extended(word >> 5, 14) * INSTRUCTION;
    if ((word & 0xfe000000) == 0xd6000000) {
        const uint32_t kind = word >> 21 & 7;
        return kind == 1 ? CALLS : kind == 2 ? RETURNS : JUMPS;
    }
    const bool traps = (word & 0xffe0001f) == 0xd4200000 || word >> 16 == 0;
    return traps ? JUMPS : GOES_ON;
}

static void keep_branch(struct following *f, uint64_t at, int64_t by)
{
    if (by <= 0 || f->branch_count == BRANCHES ||
        same_rules(&f->state, &f->body))
        return;
    f->branches[f->branch_count++] =
        (struct branch){at + (uint64_t)by, f->state};
}

/* The state after a jump. */
static struct state state_from_branches(struct following *f, uint64_t at)
{
    struct state s = f->body;
    unsigned left = 0;
    for (unsigned i = 0; i < f->branch_count; i++) {
        if (f->branches[i].to == at)
            s = f->branches[i].state;
        if (f->branches[i].to >= at)
            f->branches[left++] = f->branches[i];
    }
    f->branch_count = left;
    return s;
}

/* Whether the caller's registers are all unchanged. */
static bool is_entry(const struct state *s)
{
    return !s->framed && s->known && s->depth == 0 && s->saved == 0;
}

/* ---- functions */

static void take(struct following *f, uint32_t word)
{
    struct access a;
    const bool by_sp = (word >> 5 & 31) == SP;
    if (by_sp && (read_pair(word, &a) || read_single(word, &a)))
        take_access(f, &a);
    else if ((word & 0xbf800000) == 0x91000000)
        take_sum(f, word);
    else if (sets_sp(word))
        f->state.known = false;
}

/* False if the code contradicts its rules. */
static bool follow_one(struct following *f, uint64_t at, uint32_t word)
{
    int64_t to;
    const enum flow flow = read_flow(word, &to);
    if (flow == CALLS)
        return same_rules(&f->state, &f->body);
    if (flow == RETURNS && !is_entry(&f->state))
        return false;
    keep_branch(f, at, to);
    if (flow == GOES_ON)
        take(f, word);
    else
        f->state = state_from_branches(f, at + INSTRUCTION);
    const struct state *s = &f->state;
    if (!s->framed && (!s->known || s->depth < 0 || s->depth > INT32_MAX))
        return false;
    if (!f->reached && same_rules(s, &f->body)) {
        f->reached = true;
        f->body = *s;
    }
    return true;
}

static bool follow(
    const struct wndl_a64_function *function, struct wndl_frame_writer *w)
{
    struct wndl_cursor c = wndl_cursor_at(function->code, 0, false);
    struct following f = {.function = function,
        .writer = w,
        .state = {.known = true},
        .body = state_of_body(function->body)};
    f.reached = same_rules(&f.state, &f.body);
    while (wndl_cursor_left(&c) >= INSTRUCTION) {
        const uint64_t at = wndl_cursor_offset(&c);
        write_row(&f, at);
        if (!follow_one(&f, at, wndl_cursor_u32(&c)))
            return false;
    }
    return f.reached;
}

bool wndl_a64_write_rows(
    struct wndl_frame_writer *w, const struct wndl_a64_function *function)
{
    const uint8_t base = function->body->cfa.reg;
    if ((base != SP && base != FP) || function->code.size < INSTRUCTION ||
        !follow(function, NULL))
        return false;
    return follow(function, w);
}
