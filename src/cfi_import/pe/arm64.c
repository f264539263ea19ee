/* SPDX-License-Identifier: MIT */
/*
 * arm64: the codes of a prologue list its last step first, the order in which
 * steps are undone. The codes of an epilogue list the steps that its
 * instructions undo, in the order of the instructions. So both are read as
 * steps from the last to the first, and reversed at the end.
 */
#include "cfi_import/pe/arm64.h"

#include "unwind/core/arch.h"

enum {
    FIRST = 19, /* of the saved registers: x19 to x28 */
    LAST = 28,
    FP = 29,
    LR = 30,
    WORD = 8,
    SLOT = 16,         /* unit of stack allocation */
    SP_LEAST = 512,    /* maximum that a storing instruction allocates */
    ALLOC_MOST = 4080, /* maximum of the usual instruction */
};

struct reading {
    struct wndl_arm64_steps *steps;
    struct wndl_cursor codes;
    const char **why;
};

static enum wndl_status fail(
    struct reading *r, enum wndl_status status, const char *why)
{
    *r->why = why;
    return status;
}

static enum wndl_status add(struct reading *r, struct wndl_arm64_step step)
{
    if (r->steps->count == WNDL_ARM64_STEPS)
        return fail(r, WNDL_LIMIT, "more unwind codes than are possible");
    r->steps->list[r->steps->count++] = step;
    return WNDL_OK;
}

static enum wndl_status alloc(struct reading *r, uint32_t size)
{
    return add(r, (struct wndl_arm64_step){.alloc = size});
}

/* ---- codes that save */

/* Vector registers are not recorded. */
struct saving {
    uint8_t reg, count;
    bool is_vector;
    uint32_t at;    /* from SP after that */
    uint32_t alloc; /* bytes by which SP is lowered */
};

static struct wndl_arm64_step step_of(const struct saving *s)
{
    return (struct wndl_arm64_step){
        .alloc = s->alloc,
        .saved = s->is_vector ? 0 : s->count,
        .regs = {s->reg, (uint8_t)(s->reg + 1)},
        .saved_at = s->at,
    };
}

static enum wndl_status save(struct reading *r, const struct saving *s)
{
    if (!s->is_vector && s->reg + s->count - 1 > LR)
        return fail(r, WNDL_MALFORMED, "a register that does not exist");
    return add(r, step_of(s));
}

/* Codes of 2 bytes: the register's bits, then 6 bits of its place. */
static enum wndl_status save_indexed(
    struct reading *r, struct saving s, unsigned code)
{
    const uint32_t at = (code & 63) * WORD;
    s.reg = (uint8_t)(s.reg + (code >> 6 & (s.is_vector ? 7 : 15)));
    s.at = at;
    return save(r, &s);
}

static enum wndl_status save_lower(
    struct reading *r, struct saving s, uint32_t words)
{
    s.alloc = (words + 1) * WORD;
    return save(r, &s);
}

/*
 * The second byte has 0, pair, lower, and 5 bits of the register; the third has
 * 2 bits of the kind and 6 of the place.
 */
static enum wndl_status save_any(struct reading *r)
{
    const uint8_t which = wndl_cursor_u8(&r->codes);
    const uint8_t where = wndl_cursor_u8(&r->codes);
    const bool pair = (which & 0x40) != 0, lower = (which & 0x20) != 0;
    const uint32_t kind = where >> 6;
    const uint32_t unit = pair || lower || kind == 2 ? SLOT : WORD;
    struct saving s = {.reg = which & 31, .count = pair ? 2 : 1};
    s.is_vector = kind != 0;
    if ((which & 0x80) != 0 || kind == 3)
        return fail(r, WNDL_UNSUPPORTED, "an unwind code that is not known");
    if (lower)
        s.alloc = ((where & 63u) + 1) * unit;
    else
        s.at = (where & 63u) * unit;
    return save(r, &s);
}

static enum wndl_status save_with_lr(
    struct reading *r, unsigned reg, uint32_t at)
{
    if (reg >= LR)
        return fail(r, WNDL_MALFORMED, "a register that does not exist");
    return add(r, (struct wndl_arm64_step){
                      .saved = 2, .regs = {(uint8_t)reg, LR}, .saved_at = at});
}

/*
 * A pair after that of the step before, which is the next code. Its registers
 * are set when all codes are read.
 */
static enum wndl_status save_next(struct reading *r)
{
    return add(r, (struct wndl_arm64_step){.saved = UINT8_MAX});
}

/*
 * Reads codes from 11001000 on: pairs and single registers, from x19 and from
 * d8 up.
 */
static enum wndl_status read_saving(struct reading *r, unsigned code)
{
    const uint32_t lower = code & 63, lower5 = code & 31;
    const uint8_t reg = (uint8_t)(FIRST + (code >> 6 & 15));
    switch (code >> 10) {
    case 0x32:
        return save_indexed(r, (struct saving){FIRST, 2, false, 0, 0}, code);
    case 0x33:
        return save_lower(r, (struct saving){reg, 2, false, 0, 0}, lower);
    case 0x34:
        return save_indexed(r, (struct saving){FIRST, 1, false, 0, 0}, code);
    case 0x35:
        if ((code >> 9 & 1) == 0)
            return save_lower(r,
                (struct saving){
                    (uint8_t)(FIRST + (code >> 5 & 15)), 1, false, 0, 0},
                lower5);
        return save_with_lr(r, FIRST + 2 * (code >> 6 & 7), lower * WORD);
    case 0x36:
        return (code >> 9 & 1) == 0
                   ? save_indexed(r, (struct saving){8, 2, true, 0, 0}, code)
                   : save_lower(r, (struct saving){8, 2, true, 0, 0}, lower);
    default:
        return (code >> 9 & 1) == 0
                   ? save_indexed(r, (struct saving){8, 1, true, 0, 0}, code)
                   : save_lower(r, (struct saving){8, 1, true, 0, 0}, lower5);
    }
}

/* ---- other codes */

enum code {
    ALLOC_Z = 0xdf,
    ALLOC_L = 0xe0,
    SET_FP = 0xe1,
    ADD_FP = 0xe2,
    NOP = 0xe3,
    END = 0xe4,
    END_C = 0xe5,
    SAVE_NEXT = 0xe6,
    SAVE_ANY_REG = 0xe7,
    TRAP_FRAME = 0xe8,
    MACHINE_FRAME = 0xe9,
    CONTEXT = 0xea,
    EC_CONTEXT = 0xeb,
    CLEAR_UNWOUND_TO_CALL = 0xec,
    PAC_SIGN_LR = 0xfc,
};

static enum wndl_status alloc_large(struct reading *r)
{
    uint32_t size = wndl_cursor_u8(&r->codes);
    size = size << 8 | wndl_cursor_u8(&r->codes);
    size = size << 8 | wndl_cursor_u8(&r->codes);
    return alloc(r, size * SLOT);
}

static enum wndl_status read_other(struct reading *r, uint8_t byte)
{
    switch ((enum code)byte) {
    case ALLOC_L:
        return alloc_large(r);
    case SET_FP:
        return add(r, (struct wndl_arm64_step){.sets_fp = true});
    case ADD_FP:
        return add(r, (struct wndl_arm64_step){.sets_fp = true,
                          .fp_at = wndl_cursor_u8(&r->codes) * (uint32_t)WORD});
    case NOP:
        return alloc(r, 0);
    case SAVE_NEXT:
        return save_next(r);
    case SAVE_ANY_REG:
        return save_any(r);
    case PAC_SIGN_LR:
        return add(r, (struct wndl_arm64_step){.signs = true});
    case TRAP_FRAME:
    case MACHINE_FRAME:
    case CONTEXT:
    case EC_CONTEXT:
    case CLEAR_UNWOUND_TO_CALL:
        return fail(r, WNDL_UNSUPPORTED, "a frame of the system's own");
    case ALLOC_Z:
        return fail(r, WNDL_UNSUPPORTED, "a frame of scalable vectors");
    default:
        return fail(r, WNDL_UNSUPPORTED, "an unwind code that is not known");
    }
}

static enum wndl_status read_code(struct reading *r, uint8_t byte)
{
    if (byte < 0x20)
        return alloc(r, byte * (uint32_t)SLOT);
    if (byte < 0x40)
        return add(r, (struct wndl_arm64_step){.alloc = (byte & 31u) * WORD,
                          .saved = 2,
                          .regs = {FIRST, FIRST + 1}});
    if (byte < 0x80)
        return add(r,
            (struct wndl_arm64_step){
                .saved = 2, .regs = {FP, LR}, .saved_at = (byte & 63u) * WORD});
    if (byte < 0xc0)
        return add(
            r, (struct wndl_arm64_step){.alloc = ((byte & 63u) + 1) * WORD,
                   .saved = 2,
                   .regs = {FP, LR}});
    if (byte < 0xc8)
        return alloc(
            r, ((byte & 7u) << 8 | wndl_cursor_u8(&r->codes)) * (uint32_t)SLOT);
    if (byte < ALLOC_Z)
        return read_saving(r, (unsigned)byte << 8 | wndl_cursor_u8(&r->codes));
    return read_other(r, byte);
}

static void reverse(struct wndl_arm64_steps *steps)
{
    for (uint32_t i = 0; i < steps->count / 2; i++) {
        struct wndl_arm64_step *other = &steps->list[steps->count - 1 - i];
        const struct wndl_arm64_step step = steps->list[i];
        steps->list[i] = *other;
        *other = step;
    }
}

/* Gives each "next" the pair after that of the step before it. */
static enum wndl_status resolve_next(struct reading *r)
{
    struct wndl_arm64_step *list = r->steps->list;
    for (uint32_t i = 0; i < r->steps->count; i++) {
        if (list[i].saved != UINT8_MAX)
            continue;
        const struct wndl_arm64_step last =
            i == 0 ? (struct wndl_arm64_step){0} : list[i - 1];
        list[i] = (struct wndl_arm64_step){.saved = last.saved,
            .regs = {(uint8_t)(last.regs[0] + 2), (uint8_t)(last.regs[1] + 2)},
            .saved_at = last.saved_at + 2 * WORD};
        const bool is_vector = last.saved == 0 && last.regs[1] != 0;
        if (is_vector)
            continue;
        if (last.saved != 2 || last.regs[1] != last.regs[0] + 1 ||
            last.regs[1] + 2 > LR)
            return fail(r, WNDL_UNSUPPORTED,
                "a next pair of registers without a pair before it");
    }
    return WNDL_OK;
}

enum wndl_status wndl_arm64_steps_read(struct wndl_arm64_steps *steps,
    struct wndl_bytes codes, uint32_t first, const char **why)
{
    struct reading r = {steps, wndl_cursor_at(codes, first, false), why};
    enum wndl_status status = WNDL_OK;
    uint32_t own = UINT32_MAX;
    steps->count = 0;
    while (status == WNDL_OK) {
        const uint8_t byte = wndl_cursor_u8(&r.codes);
        if (r.codes.failed || byte == END)
            break;
        if (byte != END_C)
            status = read_code(&r, byte);
        else if (own == UINT32_MAX)
            own = steps->count;
    }
    if (status != WNDL_OK)
        return status;
    if (r.codes.failed)
        return fail(&r, WNDL_MALFORMED, "unwind codes without an end");
    steps->own = own == UINT32_MAX ? 0 : steps->count - own;
    reverse(steps);
    return resolve_next(&r);
}

/* ---- packed */

/* An entry's second word: the saved registers, and the allocation. */
struct packed {
    uint32_t floats, ints;  /* numbers of registers, `floats` less 1; 0: none */
    uint32_t chain;         /* the way in which LR is saved */
    bool homes;             /* x0 to x7 are saved, too */
    uint32_t saved, locals; /* bytes */
    bool lowered;           /* SP was lowered for the saved registers */
};

enum { UNCHAINED = 0, SAVES_LR = 1, SIGNED = 2, CHAINED = 3 };

/* The first step that saves registers makes room for all. */
static enum wndl_status add_saving(
    struct reading *r, struct packed *p, struct saving s)
{
    s.alloc = p->lowered ? 0 : p->saved;
    p->lowered = true;
    return add(r, step_of(&s));
}

static enum wndl_status unpack_ints(struct reading *r, struct packed *p)
{
    enum wndl_status status = WNDL_OK;
    const bool with_lr = p->chain == SAVES_LR;
    for (uint32_t i = 0; i < p->ints && status == WNDL_OK; i += 2) {
        const uint8_t reg = (uint8_t)(FIRST + i);
        const bool pair = i + 1 < p->ints;
        struct saving s = {reg, pair ? 2 : 1, false, i * WORD, 0};
        if (pair || !with_lr) {
            status = add_saving(r, p, s);
            continue;
        }
        if (i == 0)
            return fail(r, WNDL_MALFORMED, "x19 and LR in one pair, alone");
        status = save_with_lr(r, reg, s.at);
    }
    if (status == WNDL_OK && with_lr && p->ints % 2 == 0)
        status =
            add_saving(r, p, (struct saving){LR, 1, false, p->ints * WORD, 0});
    return status;
}

/* Neither these registers nor their contents are recorded. */
static enum wndl_status unpack_vectors(struct reading *r, struct packed *p)
{
    enum wndl_status status = WNDL_OK;
    const uint32_t floats = p->floats == 0 ? 0 : (p->floats + 2) / 2;
    for (uint32_t i = 0; i < floats && status == WNDL_OK; i++)
        status = add_saving(r, p, (struct saving){8, 2, true, 0, 0});
    return status;
}

static enum wndl_status unpack_homes(struct reading *r, struct packed *p)
{
    enum wndl_status status = WNDL_OK;
    for (uint32_t i = 0; p->homes && i < 4 && status == WNDL_OK; i++)
        status = add_saving(r, p, (struct saving){0, 2, true, 0, 0});
    return status;
}

static enum wndl_status unpack_locals(
    struct reading *r, const struct packed *p, bool is_prologue)
{
    const bool chained = p->chain == CHAINED || p->chain == SIGNED;
    const bool stores = chained && p->locals <= SP_LEAST;
    uint32_t left = stores ? 0 : p->locals;
    enum wndl_status status = WNDL_OK;
    if (left > ALLOC_MOST) {
        status = alloc(r, ALLOC_MOST);
        left -= ALLOC_MOST;
    }
    if (status == WNDL_OK && left != 0)
        status = alloc(r, left);
    if (status == WNDL_OK && chained)
        status = add(r,
            (struct wndl_arm64_step){
                .alloc = stores ? p->locals : 0, .saved = 2, .regs = {FP, LR}});
    if (status == WNDL_OK && chained && is_prologue)
        status = add(r, (struct wndl_arm64_step){.sets_fp = true});
    return status;
}

/*
 * An epilogue needs neither the frame pointer nor the contents of x0 to x7. But
 * it frees the room that saving them made.
 */
static enum wndl_status unpack(
    struct reading *r, struct packed p, bool is_prologue)
{
    enum wndl_status status = WNDL_OK;
    r->steps->count = r->steps->own = 0;
    if (p.chain == SIGNED)
        status = add(r, (struct wndl_arm64_step){.signs = true});
    if (status == WNDL_OK)
        status = unpack_ints(r, &p);
    if (status == WNDL_OK)
        status = unpack_vectors(r, &p);
    if (status == WNDL_OK && is_prologue)
        status = unpack_homes(r, &p);
    if (status == WNDL_OK && p.homes && !p.lowered)
        status = alloc(r, p.saved);
    return status == WNDL_OK ? unpack_locals(r, &p, is_prologue) : status;
}

enum wndl_status wndl_arm64_steps_unpack(struct wndl_arm64_steps *prologue,
    struct wndl_arm64_steps *epilogue, uint32_t word, const char **why)
{
    struct reading r = {.steps = prologue, .why = why};
    struct packed p = {
        .floats = word >> 13 & 7,
        .ints = word >> 16 & 15,
        .homes = (word >> 20 & 1) != 0,
        .chain = word >> 21 & 3,
    };
    const uint32_t frame = (word >> 23) * SLOT;
    p.saved = p.ints * WORD + (p.chain == SAVES_LR ? WORD : 0);
    p.saved += p.floats == 0 ? 0 : (p.floats + 1) * WORD;
    p.saved += p.homes ? 8 * WORD : 0;
    p.saved = (p.saved + SLOT - 1) & ~(uint32_t)(SLOT - 1);
    p.locals = frame - p.saved;
    if (p.ints > LAST - FIRST + 1)
        return fail(&r, WNDL_MALFORMED, "more registers than there are");
    if (frame < p.saved || (p.chain >= SIGNED && p.locals == 0))
        return fail(&r, WNDL_MALFORMED, "a frame too small for what is saved");
    enum wndl_status status = unpack(&r, p, true);
    r.steps = epilogue;
    return status == WNDL_OK ? unpack(&r, p, false) : status;
}

/* ---- rows */

static void set_offset(struct wndl_cfi_row *row, uint8_t reg, int64_t offset)
{
    row->regs[reg] =
        (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = offset};
}

static void set_cfa(struct wndl_cfi_row *row, uint8_t reg, int64_t offset)
{
    row->cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER, .reg = reg, .offset = offset};
}

struct wndl_arm64_state wndl_arm64_state_at_entry(void)
{
    struct wndl_arm64_state state = {.depth = 0};
    state.row.ra_reg = wndl_arch_aarch64.ra;
    set_cfa(&state.row, wndl_arch_aarch64.sp, 0);
    return state;
}

void wndl_arm64_state_step(
    struct wndl_arm64_state *state, const struct wndl_arm64_step *step)
{
    state->row.ra_signed |= step->signs;
    state->depth += step->alloc;
    for (unsigned i = 0; i < step->saved; i++)
        set_offset(&state->row, step->regs[i],
            (int64_t)step->saved_at + i * WORD - state->depth);
    if (step->sets_fp) {
        state->framed = true;
        set_cfa(&state->row, wndl_arch_aarch64.fp, state->depth - step->fp_at);
    }
    if (!state->framed)
        set_cfa(&state->row, wndl_arch_aarch64.sp, state->depth);
}
