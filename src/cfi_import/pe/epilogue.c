/* SPDX-License-Identifier: MIT */
/*
 * epilogue: instructions by Intel 64 and IA-32 Architectures Software
 * Developer's Manual, volume 2.
 */
#include "cfi_import/pe/epilogue.h"

#include <string.h>

enum { SP = 4 /* as instructions encode it */ };

bool wndl_pe_shape_of(
    const struct wndl_pe_unwind *unwind, struct wndl_pe_shape *shape)
{
    *shape = (struct wndl_pe_shape){0};
    for (uint32_t i = unwind->count; i > 0; i--) {
        const struct wndl_pe_step *step = &unwind->steps[i - 1];
        if (step->kind == WNDL_PE_MACHINE)
            return false;
        if (step->kind == WNDL_PE_ALLOC && shape->pops != 0)
            return false; /* between pushes: not freed in one step */
        if (step->kind == WNDL_PE_PUSH && shape->pops == WNDL_PE_PUSHES)
            return false;
        if (step->kind == WNDL_PE_PUSH)
            shape->popped[shape->pops++] = step->reg;
        else if (step->kind == WNDL_PE_ALLOC)
            shape->allocated += step->value;
        else if (step->kind == WNDL_PE_FRAME) {
            shape->framed = true;
            shape->frame = step->reg;
        }
    }
    return shape->pops != 0 || shape->allocated != 0;
}

/* A signed number of 1 or 4 bytes. Missing bytes are 0. */
static int64_t number_at(struct wndl_bytes code, size_t at, size_t size)
{
    struct wndl_cursor c = wndl_cursor_at(code, at, false);
    return size == 1 ? (int8_t)wndl_cursor_u8(&c)
                     : (int32_t)wndl_cursor_u32(&c);
}

static size_t if_inside(struct wndl_bytes code, size_t at, size_t size)
{
    return at <= code.size && size <= code.size - at ? size : 0;
}

/* The bytes of "add rsp, N", or of the shorter "sub rsp, -128"; or 0. */
static size_t add_at(
    const struct wndl_pe_shape *shape, struct wndl_bytes code, size_t at)
{
    const uint8_t *p = code.data + at;
    if (if_inside(code, at, 4) == 0 || p[0] != 0x48 ||
        (p[2] != 0xc4 && p[2] != 0xec) || (p[1] != 0x83 && p[1] != 0x81))
        return 0;
    const size_t wide = p[1] == 0x83 ? 1 : 4;
    const int64_t number = number_at(code, at + 3, wide);
    const int64_t freed = p[2] == 0xc4 ? number : -number;
    if (freed <= 0 || (!shape->framed && (uint64_t)freed != shape->allocated))
        return 0;
    return if_inside(code, at, 3 + wide);
}

/* "lea rsp, [frame+N]" */
static size_t lea_at(
    const struct wndl_pe_shape *shape, struct wndl_bytes code, size_t at)
{
    const uint8_t *p = code.data + at;
    const uint8_t rex = shape->frame < 8 ? 0x48 : 0x49;
    const uint8_t rm = shape->frame & 7;
    if (!shape->framed || if_inside(code, at, 4) == 0 || p[0] != rex ||
        p[1] != 0x8d || (p[2] & 0x3f) != (SP << 3 | rm))
        return 0;
    const size_t sib = rm == SP ? 1 : 0;
    if (p[2] >> 6 == 1)
        return if_inside(code, at, 4 + sib);
    return p[2] >> 6 == 2 ? if_inside(code, at, 7 + sib) : 0;
}

/*
 * "mov rsp, frame" in either form, or "mov rsp, r11", if a function keeps the
 * end of its stack there while it restores registers.
 */
static size_t mov_at(
    const struct wndl_pe_shape *shape, struct wndl_bytes code, size_t at)
{
    static const uint8_t r11 = 11;
    const uint8_t *p = code.data + at;
    if (if_inside(code, at, 3) == 0 || (p[0] & 0xfa) != 0x48)
        return 0;
    uint8_t from;
    if (p[1] == 0x8b && (p[2] & 0xf8) == (0xc0 | SP << 3))
        from = (uint8_t)((p[2] & 7) | (p[0] & 1) << 3);
    else if (p[1] == 0x89 && (p[2] & 0xc7) == (0xc0 | SP))
        from = (uint8_t)((p[2] >> 3 & 7) | (p[0] & 4) << 1);
    else
        return 0;
    return from == r11 || (shape->framed && from == shape->frame) ? 3 : 0;
}

static size_t freeing_at(
    const struct wndl_pe_shape *shape, struct wndl_bytes code, size_t at)
{
    size_t size = add_at(shape, code, at);
    if (size == 0)
        size = lea_at(shape, code, at);
    return size == 0 ? mov_at(shape, code, at) : size;
}

/* The end of the pops that begin at `at`; 0: there are none. */
static size_t end_of_pops(
    const struct wndl_pe_shape *shape, struct wndl_bytes code, size_t at)
{
    for (size_t i = 0; i < shape->pops; i++) {
        const uint8_t reg = shape->popped[i];
        const size_t size = if_inside(code, at, wndl_pe_pop_size(reg));
        if (size == 0 || code.data[at + size - 1] != (0x58 | (reg & 7)) ||
            (size == 2 && code.data[at] != 0x41))
            return 0;
        at += size;
    }
    return at;
}

/* Whether a jump that ends at `next` leaves the function. */
static bool leaves(struct wndl_bytes code, size_t next, int64_t distance)
{
    const int64_t target = (int64_t)next + distance;
    return target < 0 || target >= (int64_t)code.size;
}

/* Bytes of a jump through a register or memory, at its opcode. */
static size_t indirect_at(struct wndl_bytes code, size_t at)
{
    const uint8_t *p = code.data + at;
    if (if_inside(code, at, 2) == 0 || p[0] != 0xff || (p[1] >> 3 & 7) != 4)
        return 0;
    const uint8_t mod = p[1] >> 6, rm = p[1] & 7;
    if (mod == 3)
        return 2;
    const size_t sib = rm == SP ? 1 : 0;
    const bool is_wide = mod == 2 || (mod == 0 && rm == 5);
    return if_inside(code, at, 2 + sib + (is_wide ? 4 : mod));
}

/* The bytes of an epilogue's end, a return or a jump elsewhere; or 0. */
static size_t exit_at(struct wndl_bytes code, size_t at)
{
    if (if_inside(code, at, 1) == 0)
        return 0;
    const uint8_t *p = code.data + at;
    size_t size;
    switch (p[0]) {
    case 0xc3:
        return 1;
    case 0xc2:
        return if_inside(code, at, 3);
    case 0xf3: /* "rep ret" */
        return if_inside(code, at, 2) != 0 && p[1] == 0xc3 ? 2 : 0;
    case 0xeb:
        size = if_inside(code, at, 2);
        return leaves(code, at + 2, number_at(code, at + 1, 1)) ? size : 0;
    case 0xe9:
        size = if_inside(code, at, 5);
        return leaves(code, at + 5, number_at(code, at + 1, 4)) ? size : 0;
    default:
        if ((p[0] & 0xf0) != 0x40)
            return indirect_at(code, at);
        size = indirect_at(code, at + 1);
        return size == 0 ? 0 : size + 1;
    }
}

/* Pops and an exit, with all of the allocation freed before `at`. */
static bool ends_at(const struct wndl_pe_shape *shape, struct wndl_bytes code,
    size_t at, struct wndl_pe_epilogue *epilogue)
{
    const size_t end = end_of_pops(shape, code, at);
    if (end == 0)
        return false;
    const size_t size = exit_at(code, end);
    *epilogue = (struct wndl_pe_epilogue){at, end + size};
    return size != 0;
}

bool wndl_pe_epilogue_at(const struct wndl_pe_shape *shape,
    struct wndl_bytes code, size_t from, struct wndl_pe_epilogue *epilogue)
{
    const size_t freeing = freeing_at(shape, code, from);
    return (freeing != 0 && ends_at(shape, code, from + freeing, epilogue)) ||
           ends_at(shape, code, from, epilogue);
}

bool wndl_pe_epilogue_find(const struct wndl_pe_shape *shape,
    struct wndl_bytes code, size_t from, struct wndl_pe_epilogue *epilogue)
{
    for (size_t at = from; at < code.size; at++) {
        const size_t freeing = freeing_at(shape, code, at);
        if (freeing != 0 && ends_at(shape, code, at + freeing, epilogue))
            return true;
        /* Nothing is allocated: there are only the pops. */
        if (shape->allocated == 0 && ends_at(shape, code, at, epilogue))
            return true;
    }
    return false;
}
