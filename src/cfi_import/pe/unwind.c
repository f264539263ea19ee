/* SPDX-License-Identifier: MIT */
#include "cfi_import/pe/unwind.h"

#include "obj/pe/pe.h"
#include "unwind/core/arch.h"

#include <stdlib.h>

enum {
    HEADER = 4, /* bytes */
    SLOT = 2,
    FUNCTION = 12,
    IS_CHAINED = 4,     /* flag */
    IS_INDIRECT = 1,    /* of an entry's unwind: it is another entry's */
    MACHINE_FRAME = 40, /* bytes: RIP, CS, RFLAGS, RSP, SS */
    MACHINE_SP = 16,    /* RSP, from its end */
    WORD = 8,
};

enum code {
    PUSH_NONVOL = 0,
    ALLOC_LARGE = 1,
    ALLOC_SMALL = 2,
    SET_FPREG = 3,
    SAVE_NONVOL = 4,
    SAVE_NONVOL_FAR = 5,
    EPILOG = 6,
    SAVE_XMM128 = 8,
    SAVE_XMM128_FAR = 9,
    PUSH_MACHFRAME = 10,
};

/* DWARF's number of an instruction's register, below 16. */
static uint8_t dwarf_number(uint8_t reg)
{
    static const uint8_t numbers[16] = {
        0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    return numbers[reg & 15];
}

/* One UNWIND_INFO of a chain. */
struct info {
    struct wndl_cursor slots;
    uint8_t version, flags, prologue, frame, frame_offset;
};

struct reading {
    const struct wndl_object *object;
    struct wndl_pe_unwind *unwind;
    struct info infos[WNDL_PE_CHAIN];
    size_t info_count;
    const char **why;
};

static enum wndl_status fail(
    struct reading *r, enum wndl_status status, const char *why)
{
    *r->why = why;
    return status;
}

/* ---- codes */

/* Steps are filled in from the last to the first. */
static enum wndl_status add_step(struct reading *r, struct wndl_pe_step step)
{
    if (r->unwind->count == WNDL_PE_STEPS)
        return fail(r, WNDL_LIMIT, "more unwind codes than are possible");
    r->unwind->steps[r->unwind->count++] = step;
    return WNDL_OK;
}

/* The operand in the next slots: 2 bytes that count eights, or 4. */
static uint32_t operand(struct info *info, bool wide)
{
    return wide ? wndl_cursor_u32(&info->slots)
                : (uint32_t)wndl_cursor_u16(&info->slots) * WORD;
}

/*
 * The first code has the length of epilogues, and whether one is at the very
 * end; the others have their starts. Padding begins at the end.
 */
static void add_epilogue(
    struct wndl_pe_unwind *u, bool *seen, uint8_t at, uint8_t bits)
{
    const uint32_t distance = *seen ? at + (uint32_t)bits * 256 : at;
    const bool is_there = *seen || (bits & 1) != 0;
    *seen = true;
    if (is_there && distance != 0 && u->epilogue_count < WNDL_PE_CODES)
        u->epilogues[u->epilogue_count++] = distance;
}

static enum wndl_status read_frame(
    struct reading *r, const struct info *info, uint8_t at)
{
    if (info->frame == 0)
        return fail(
            r, WNDL_MALFORMED, "it sets a frame pointer but names none");
    return add_step(r, (struct wndl_pe_step){WNDL_PE_FRAME, info->frame, at,
                           info->frame_offset * 16u});
}

static enum wndl_status read_code(
    struct reading *r, struct info *info, bool *seen_epilogue)
{
    const uint8_t at = wndl_cursor_u8(&info->slots);
    const uint8_t byte = wndl_cursor_u8(&info->slots);
    const uint8_t bits = byte >> 4;
    struct wndl_pe_step step = {WNDL_PE_ALLOC, bits, at, 0};
    switch ((enum code)(byte & 15)) {
    case PUSH_NONVOL:
        step.kind = WNDL_PE_PUSH;
        return add_step(r, step);
    case ALLOC_LARGE:
        if (bits > 1)
            break;
        step.value = operand(info, bits == 1);
        return add_step(r, step);
    case ALLOC_SMALL:
        step.value = bits * 8u + 8;
        return add_step(r, step);
    case SET_FPREG:
        return read_frame(r, info, at);
    case SAVE_NONVOL:
    case SAVE_NONVOL_FAR:
        step.kind = WNDL_PE_SAVE;
        step.value = operand(info, (byte & 15) == SAVE_NONVOL_FAR);
        return add_step(r, step);
    case EPILOG:
        if (info->version == 1)
            break;
        add_epilogue(r->unwind, seen_epilogue, at, bits);
        return WNDL_OK;
    case SAVE_XMM128: /* vector registers are not recorded */
    case SAVE_XMM128_FAR:
        (void)operand(info, (byte & 15) == SAVE_XMM128_FAR);
        return WNDL_OK;
    case PUSH_MACHFRAME:
        if (bits > 1)
            break;
        step = (struct wndl_pe_step){WNDL_PE_MACHINE, 0, at, bits * 8u};
        r->unwind->signal_frame = true;
        return add_step(r, step);
    }
    return fail(r, WNDL_UNSUPPORTED, "an unwind code that is not known");
}

/* Codes are in reverse order of execution. */
static void reverse(struct wndl_pe_step *steps, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const struct wndl_pe_step step = steps[i];
        steps[i] = steps[count - 1 - i];
        steps[count - 1 - i] = step;
    }
}

/* The furthest from the end comes first. */
static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a < b) - (a > b);
}

static enum wndl_status read_codes(struct reading *r, struct info *info)
{
    struct wndl_pe_unwind *u = r->unwind;
    bool seen_epilogue = false;
    enum wndl_status status = WNDL_OK;
    u->epilogue_count = 0;
    u->own = u->count;
    while (wndl_cursor_left(&info->slots) != 0 && status == WNDL_OK)
        status = read_code(r, info, &seen_epilogue);
    if (status != WNDL_OK)
        return status;
    if (info->slots.failed)
        return fail(r, WNDL_MALFORMED, "an unwind code without its operand");
    reverse(u->steps + u->own, u->count - u->own);
    if (u->epilogue_count > 1)
        qsort(u->epilogues, u->epilogue_count, sizeof *u->epilogues, compare);
    u->version = info->version;
    u->prologue = info->prologue;
    return WNDL_OK;
}

/* ---- infos */

/* *next: the function of which this is a part; 0: none. */
static enum wndl_status read_info(
    struct reading *r, uint32_t rva, uint32_t *next)
{
    struct info *info = &r->infos[r->info_count++];
    const struct wndl_bytes bytes = wndl_pe_loaded(r->object, rva);
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    const uint8_t first = wndl_cursor_u8(&c);
    *info = (struct info){.version = first & 7, .flags = first >> 3};
    info->prologue = wndl_cursor_u8(&c);
    const uint8_t count = wndl_cursor_u8(&c);
    const uint8_t frame = wndl_cursor_u8(&c);
    info->frame = frame & 15;
    info->frame_offset = frame >> 4;
    r->unwind->slots += count;
    info->slots = wndl_cursor_sub(&c, (uint64_t)count * SLOT);
    wndl_cursor_skip(&c, count % 2 * SLOT);
    *next = 0;
    if ((info->flags & IS_CHAINED) != 0) {
        wndl_cursor_skip(&c, FUNCTION - sizeof *next);
        *next = wndl_cursor_u32(&c);
    }
    if (bytes.size < HEADER || info->slots.failed ||
        ((info->flags & IS_CHAINED) != 0 && c.failed))
        return fail(r, WNDL_TRUNCATED,
            "its unwind information is missing or cut short");
    if (info->version != 1 && info->version != 2)
        return fail(
            r, WNDL_UNSUPPORTED, "unwind information of an unknown version");
    return WNDL_OK;
}

/* The place of the unwind information, if an entry refers to another. */
static uint32_t direct(const struct reading *r, uint32_t unwind)
{
    if ((unwind & IS_INDIRECT) == 0)
        return unwind;
    const uint32_t entry = unwind & ~(uint32_t)IS_INDIRECT;
    struct wndl_cursor c = wndl_cursor_at(
        wndl_pe_loaded(r->object, entry), FUNCTION - sizeof(uint32_t), false);
    return wndl_cursor_u32(&c);
}

/*
 * Registers are saved below the frame pointer, if it was set, else above the
 * final SP.
 */
static int64_t base_of(const struct wndl_pe_unwind *unwind)
{
    struct wndl_pe_state state = wndl_pe_state_at_entry(0);
    for (uint32_t i = 0; i < unwind->count && !state.framed; i++)
        wndl_pe_state_step(&state, &unwind->steps[i]);
    return state.depth;
}

enum wndl_status wndl_pe_unwind_read(const struct wndl_object *object,
    const struct wndl_pe_function *function, struct wndl_pe_unwind *unwind,
    const char **why)
{
    struct reading r = {.object = object, .unwind = unwind, .why = why};
    uint32_t rva = direct(&r, function->unwind);
    enum wndl_status status = WNDL_OK;
    unwind->count = unwind->own = unwind->epilogue_count = 0;
    unwind->slots = 0;
    unwind->signal_frame = false;
    *why = "";
    do {
        if (r.info_count == WNDL_PE_CHAIN)
            return fail(&r, WNDL_LIMIT,
                "a chain of more than 32 pieces of unwind information");
        status = read_info(&r, rva, &rva);
        rva = direct(&r, rva);
    } while (rva != 0 && status == WNDL_OK);
    while (r.info_count > 0 && status == WNDL_OK)
        status = read_codes(&r, &r.infos[--r.info_count]);
    unwind->base = base_of(unwind);
    return status;
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

struct wndl_pe_state wndl_pe_state_at_entry(int64_t base)
{
    const struct wndl_arch *arch = &wndl_arch_x86_64;
    struct wndl_pe_state state = {.depth = WORD, .base = base};
    state.row.ra_reg = arch->ra;
    set_cfa(&state.row, arch->sp, WORD);
    set_offset(&state.row, arch->ra, -WORD);
    return state;
}

void wndl_pe_state_step(
    struct wndl_pe_state *state, const struct wndl_pe_step *step)
{
    const struct wndl_arch *arch = &wndl_arch_x86_64;
    const uint8_t reg = dwarf_number(step->reg);
    switch ((enum wndl_pe_step_kind)step->kind) {
    case WNDL_PE_PUSH:
        state->depth += WORD;
        set_offset(&state->row, reg, -state->depth);
        break;
    case WNDL_PE_ALLOC:
        state->depth += step->value;
        break;
    case WNDL_PE_FRAME:
        state->framed = true;
        set_cfa(&state->row, reg, state->depth - step->value);
        break;
    case WNDL_PE_SAVE:
        set_offset(&state->row, reg, (int64_t)step->value - state->base);
        break;
    case WNDL_PE_MACHINE:
        state->depth = MACHINE_FRAME + step->value;
        set_offset(&state->row, arch->ra, -MACHINE_FRAME);
        set_offset(&state->row, arch->sp, -MACHINE_SP);
        break;
    }
    if (!state->framed)
        set_cfa(&state->row, arch->sp, state->depth);
}
