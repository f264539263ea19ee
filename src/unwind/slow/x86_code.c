/* SPDX-License-Identifier: MIT */
#include "unwind/slow/x86_code.h"

/* The parts after an opcode. */
enum {
    MODRM = 1,
    IMM8 = 2,
    IMM16 = 4,
    IMM_Z = 8,     /* 2 bytes with the prefix 66, else 4 */
    IMM_FULL = 16, /* as above; 8 with REX.W */
    IMM_ADDRESS = 32,
    BAD = 64,
};

/* An instruction being read. */
struct reading {
    struct wndl_cursor c;
    bool is_64;
    bool is_short; /* prefix 66 */
    uint8_t rex;   /* its lower four bits: W, R, X, B */
    struct wndl_x86 *out;
};

/* ---- what comes after each opcode */

static unsigned form_of_arithmetic(uint8_t op, bool is_64)
{
    const unsigned low = op & 7;
    if (low < 4)
        return MODRM;
    if (low == 4)
        return IMM8;
    if (low == 5)
        return IMM_Z;
    return is_64 ? BAD : 0;
}

/* Opcodes 60 to 6f, and c0 to cf. */
static unsigned form_of_mixed(uint8_t op, bool is_64)
{
    static const uint8_t sixties[16] = {0, 0, BAD, MODRM, BAD, BAD, BAD, BAD,
        IMM_Z, MODRM | IMM_Z, IMM8, MODRM | IMM8, 0, 0, 0, 0};
    static const uint8_t hundreds[16] = {MODRM | IMM8, MODRM | IMM8, IMM16, 0,
        MODRM, MODRM, MODRM | IMM8, MODRM | IMM_Z, IMM16 | IMM8, 0, IMM16, 0, 0,
        IMM8, 0, 0};
    if (op >> 4 == 6)
        return is_64 && (op & 15) < 3 ? BAD : sixties[op & 15];
    return hundreds[op & 15];
}

/* Opcodes d0 to ff. */
static unsigned form_of_last(uint8_t op, bool is_64)
{
    static const uint8_t e0[16] = {IMM8, IMM8, IMM8, IMM8, IMM8, IMM8, IMM8,
        IMM8, IMM_Z, IMM_Z, BAD, IMM8, 0, 0, 0, 0};
    if (op < 0xe0) {
        if ((op & 12) == 4)
            return op == 0xd7 ? 0 : is_64 || op == 0xd6 ? BAD : IMM8;
        return MODRM;
    }
    if (op < 0xf0)
        return e0[op & 15];
    return op == 0xf6 || op == 0xf7 || op >= 0xfe ? MODRM : 0;
}

static unsigned form_of_one(uint8_t op, bool is_64)
{
    switch (op >> 4) {
    case 0:
    case 1:
    case 2:
    case 3:
        return form_of_arithmetic(op, is_64);
    case 4:
    case 5:
        return 0;
    case 6:
    case 12:
        return form_of_mixed(op, is_64);
    case 7:
        return IMM8;
    case 8:
        return op == 0x81                 ? MODRM | IMM_Z
               : op == 0x80 || op == 0x83 ? MODRM | IMM8
               : op == 0x82               ? (is_64 ? BAD : MODRM | IMM8)
                                          : MODRM;
    case 9:
        return op == 0x9a ? BAD : 0;
    case 10:
        return op < 0xa4    ? IMM_ADDRESS
               : op == 0xa8 ? IMM8
               : op == 0xa9 ? IMM_Z
                            : 0;
    case 11:
        return op < 0xb8 ? IMM8 : IMM_FULL;
    default:
        return form_of_last(op, is_64);
    }
}

static unsigned form_of_0f(uint8_t op)
{
    if (op >> 4 == 8)
        return IMM_Z;
    if (op >> 4 == 3 || op >> 3 == 0xc8 >> 3)
        return 0;
    switch (op) {
    case 0x05:
    case 0x06:
    case 0x08:
    case 0x09:
    case 0x0b:
    case 0x0e:
    case 0x77:
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa8:
    case 0xa9:
    case 0xaa:
        return 0;
    case 0x0f:
    case 0x70:
    case 0x71:
    case 0x72:
    case 0x73:
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc2:
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return MODRM | IMM8;
    case 0x04:
    case 0x0a:
    case 0x0c:
        return BAD;
    default:
        return MODRM;
    }
}

static unsigned form_of(const struct reading *r)
{
    const struct wndl_x86 *x = r->out;
    unsigned form = MODRM;
    if (x->map == WNDL_X86_ONE)
        form = form_of_one(x->opcode, r->is_64);
    else if (x->map == WNDL_X86_0F)
        form = form_of_0f(x->opcode);
    else if (x->map == WNDL_X86_0F3A)
        form = MODRM | IMM8;
    return form;
}

/* ---- the parts */

/* On i386, the prefix 67 is refused: operands would have another form. */
static bool read_prefixes(struct reading *r, uint8_t *byte)
{
    for (;;) {
        *byte = wndl_cursor_u8(&r->c);
        switch (*byte) {
        case 0x66:
            r->is_short = true;
            if (r->out->prefix == 0)
                r->out->prefix = 0x66;
            continue;
        case 0xf2:
        case 0xf3:
            r->out->prefix = *byte;
            continue;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0xf0:
            continue;
        case 0x67:
            r->out->is_narrow = true;
            if (r->is_64)
                continue;
            return false;
        default:
            return !r->c.failed;
        }
    }
}

/* The map and the opcode after 0f. */
static void read_escaped(struct reading *r)
{
    r->out->map = WNDL_X86_0F;
    r->out->opcode = wndl_cursor_u8(&r->c);
    if (r->out->opcode != 0x38 && r->out->opcode != 0x3a)
        return;
    r->out->map = r->out->opcode == 0x38 ? WNDL_X86_0F38 : WNDL_X86_0F3A;
    r->out->opcode = wndl_cursor_u8(&r->c);
}

/* VEX, EVEX: the bits R, X and B are inverted. False: an unknown map. */
static bool read_vector(struct reading *r, uint8_t first)
{
    const uint8_t one = wndl_cursor_u8(&r->c);
    uint8_t two = one, map = WNDL_X86_0F;
    r->rex = (uint8_t)((~one >> 7 & 1) << 2);
    if (first != 0xc5) {
        r->rex = (uint8_t)(~one >> 5 & 7);
        map = one & (first == 0x62 ? 7 : 31);
        two = wndl_cursor_u8(&r->c);
    }
    if (first == 0x62)
        (void)wndl_cursor_u8(&r->c);
    r->out->is_vector = true;
    r->out->vvvv = ~two >> 3 & 15;
    r->out->map = map;
    r->out->opcode = wndl_cursor_u8(&r->c);
    const bool is_fp16 = first == 0x62 && (map == 5 || map == 6);
    return map >= WNDL_X86_0F && (map <= WNDL_X86_0F3A || is_fp16);
}

/* c4, c5 and 62 are other instructions on i386 unless ModRM would be 11b. */
static bool is_vector(const struct reading *r, uint8_t byte)
{
    if (byte != 0xc4 && byte != 0xc5 && byte != 0x62)
        return false;
    return r->is_64 || (wndl_cursor_left(&r->c) != 0 && *r->c.next >> 6 == 3);
}

static bool read_opcode(struct reading *r)
{
    uint8_t byte;
    if (!read_prefixes(r, &byte))
        return false;
    if (r->is_64 && byte >> 4 == 4) {
        r->rex = byte & 15;
        r->out->has_rex = true;
        r->out->is_wide = (byte & 8) != 0;
        byte = wndl_cursor_u8(&r->c);
    }
    if (is_vector(r, byte))
        return read_vector(r, byte);
    if (byte == 0x0f)
        read_escaped(r);
    else
        r->out->opcode = byte;
    return true;
}

static void read_sib(struct reading *r)
{
    const uint8_t sib = wndl_cursor_u8(&r->c);
    r->out->has_sib = true;
    r->out->index = (uint8_t)((sib >> 3 & 7) | (r->rex & 2) << 2);
    r->out->base = (uint8_t)((sib & 7) | (r->rex & 1) << 3);
}

static void read_modrm(struct reading *r)
{
    struct wndl_x86 *x = r->out;
    const uint8_t modrm = wndl_cursor_u8(&r->c);
    x->has_modrm = true;
    x->mod = modrm >> 6;
    x->reg = (uint8_t)((modrm >> 3 & 7) | (r->rex & 4) << 1);
    x->rm = (uint8_t)((modrm & 7) | (r->rex & 1) << 3);
    x->base = x->rm;
    if (x->mod == 3)
        return;
    if ((modrm & 7) == 4)
        read_sib(r);
    if (x->mod == 1)
        x->displacement = (int8_t)wndl_cursor_u8(&r->c);
    else if (x->mod == 2 || (x->base & 7) == 5)
        x->displacement = (int32_t)wndl_cursor_u32(&r->c);
}

/* The prefix 66 does not shorten the distance of a jump of x86-64. */
static bool is_16_bit(const struct reading *r)
{
    const struct wndl_x86 *x = r->out;
    const bool jumps = x->map == WNDL_X86_0F || (x->opcode | 1) == 0xe9;
    return r->is_short && !x->is_wide && !(r->is_64 && jumps);
}

static void read_immediate(struct reading *r, unsigned form)
{
    struct wndl_x86 *x = r->out;
    const bool is_z = (form & (IMM_Z | IMM_FULL)) != 0;
    if (form & IMM16)
        x->immediate = wndl_cursor_u16(&r->c);
    if (form & IMM8)
        x->immediate = (int8_t)wndl_cursor_u8(&r->c);
    if (((form & IMM_FULL) && x->is_wide) || ((form & IMM_ADDRESS) && r->is_64))
        x->immediate = (int64_t)wndl_cursor_u64(&r->c);
    else if (is_z && is_16_bit(r))
        x->immediate = (int16_t)wndl_cursor_u16(&r->c);
    else if (is_z || (form & IMM_ADDRESS))
        x->immediate = (int32_t)wndl_cursor_u32(&r->c);
}

/* test, alone of its group, has an immediate. */
static unsigned form_of_group(const struct wndl_x86 *x)
{
    if (x->map != WNDL_X86_ONE || (x->reg & 7) > 1)
        return 0;
    return x->opcode == 0xf6 ? IMM8 : x->opcode == 0xf7 ? IMM_Z : 0;
}

/* AMD's XOP, which few processors have had, begins as a pop does. */
static bool is_xop(const struct wndl_x86 *x)
{
    return x->map == WNDL_X86_ONE && !x->is_vector && x->opcode == 0x8f &&
           (x->reg & 7) != 0;
}

bool wndl_x86_decode(
    struct wndl_bytes code, bool is_64, struct wndl_x86 *instruction)
{
    struct reading r = {.is_64 = is_64, .out = instruction};
    *instruction = (struct wndl_x86){.size = 0};
    if (code.size > WNDL_X86_LONGEST)
        code.size = WNDL_X86_LONGEST;
    r.c = wndl_cursor_at(code, 0, false);
    if (!read_opcode(&r))
        return false;
    unsigned form = form_of(&r);
    if (form & BAD)
        return false;
    instruction->low = (uint8_t)((instruction->opcode & 7) | (r.rex & 1) << 3);
    if (form & MODRM) {
        read_modrm(&r);
        form |= form_of_group(instruction);
    }
    if (is_xop(instruction))
        return false;
    read_immediate(&r, form);
    instruction->size = (uint8_t)wndl_cursor_offset(&r.c);
    return !r.c.failed;
}
