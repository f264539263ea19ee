/* SPDX-License-Identifier: MIT */
#include "unwind/table/chrome_v2.h"

/*
 * INSN_MAX and LIST_MAX: maximum bytes of one sequence, and of one function's
 * pairs. They bound the time of a lookup.
 */
enum {
    WORD = 4,
    SHIPPED = 32,
    DESIGN = 40,
    INSN_MAX = 4096,
    LIST_MAX = 64 * 1024,
};

/* A part's place in the file, in bytes. */
static bool take_part(struct wndl_cursor *c, struct wndl_bytes bytes,
    uint32_t unit, uint64_t *next, struct wndl_bytes *part)
{
    const uint64_t offset = wndl_cursor_u32(c);
    const uint64_t size = (uint64_t)wndl_cursor_u32(c) * unit;
    if (c->failed || offset != *next || size > bytes.size - offset)
        return false;
    *part = (struct wndl_bytes){bytes.data + offset, (size_t)size};
    *next = offset + size;
    return true;
}

uint64_t wndl_chrome_v2_size(struct wndl_bytes head)
{
    struct wndl_cursor c = wndl_cursor_at(head, 0, false);
    uint64_t next = wndl_cursor_u32(&c);
    if (next != SHIPPED && next != DESIGN)
        return 0;
    const unsigned parts = (unsigned)next / 8;
    c = wndl_cursor_at(head, 0, false);
    for (unsigned i = 0; i < parts; i++) {
        /* Pages and functions come first, then two parts of bytes. */
        const uint32_t unit = i == 0 || i + 3 == parts ? WORD : 1;
        if (wndl_cursor_u32(&c) != next)
            return 0;
        next += (uint64_t)wndl_cursor_u32(&c) * unit;
    }
    return c.failed ? 0 : next;
}

enum wndl_status wndl_chrome_v2_open(
    struct wndl_bytes bytes, struct wndl_chrome_v2 *t, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    uint64_t next = wndl_cursor_u32(&c);
    *t = (struct wndl_chrome_v2){.design = next == DESIGN};
    if ((next != SHIPPED && next != DESIGN) || bytes.size < next)
        return wndl_fail(err, WNDL_MALFORMED,
            "not Chromium unwind info v2: its first part is at neither 32 "
            "nor 40");
    c = wndl_cursor_at(bytes, 0, false);
    if (!take_part(&c, bytes, WORD, &next, &t->pages) ||
        (t->design && !take_part(&c, bytes, 1, &next, &t->continued)) ||
        !take_part(&c, bytes, WORD, &next, &t->functions) ||
        !take_part(&c, bytes, 1, &next, &t->offsets) ||
        !take_part(&c, bytes, 1, &next, &t->instructions))
        return wndl_fail(err, WNDL_MALFORMED,
            "damaged Chromium unwind info v2: its parts do not follow each "
            "other, or go beyond the file");
    t->page_count = (uint32_t)(t->pages.size / WORD);
    t->function_count = (uint32_t)(t->functions.size / WORD);
    if (t->design && t->continued.size < (t->page_count + 7u) / 8)
        return wndl_fail(
            err, WNDL_MALFORMED, "has fewer bits than continued pages");
    return WNDL_OK;
}

static uint32_t word_at(struct wndl_bytes bytes, uint32_t i)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, (uint64_t)i * WORD, false);
    return wndl_cursor_u32(&c);
}

void wndl_chrome_v2_function(const struct wndl_chrome_v2 *t, uint32_t i,
    uint32_t *start, uint32_t *offsets)
{
    const uint32_t word = word_at(t->functions, i);
    *start = (word & 0xffff) << 1;
    *offsets = word >> 16;
}

/*
 * The page in which function `i` starts: the last one whose first function is
 * not after it.
 */
static uint32_t page_of(const struct wndl_chrome_v2 *t, uint32_t i)
{
    uint32_t low = 0, high = t->page_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (word_at(t->pages, middle) <= i)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : low - 1;
}

bool wndl_chrome_v2_fits(const struct wndl_chrome_v2 *t, uint64_t text_size)
{
    uint32_t start, offsets;
    if (t->function_count == 0)
        return true;
    const uint32_t last = t->function_count - 1;
    wndl_chrome_v2_function(t, last, &start, &offsets);
    const uint64_t page = page_of(t, last);
    return (page << WNDL_CHROME_V2_PAGE_SHIFT) + start <= text_size;
}

/* The first of [begin, end) that starts after `key`. */
static uint32_t first_after(
    const struct wndl_chrome_v2 *t, uint32_t begin, uint32_t end, uint32_t key)
{
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        uint32_t start, offsets;
        wndl_chrome_v2_function(t, middle, &start, &offsets);
        if (start <= key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

bool wndl_chrome_v2_pair(struct wndl_cursor *pairs,
    const struct wndl_chrome_v2 *t, uint32_t *offset, uint32_t *instruction)
{
    const uint64_t halfwords = wndl_cursor_uleb(pairs);
    const uint64_t at = wndl_cursor_uleb(pairs);
    if (pairs->failed || halfwords > UINT32_MAX / 2 ||
        at >= t->instructions.size)
        return false;
    *offset = (uint32_t)halfwords * 2;
    *instruction = (uint32_t)at;
    return true;
}

/* The first pair at or below `from_start`; pairs are in descending order. */
static enum wndl_status find_pair(const struct wndl_chrome_v2 *t, uint32_t at,
    uint64_t from_start, struct wndl_chrome_v2_place *place)
{
    const uint64_t left = at < t->offsets.size ? t->offsets.size - at : 0;
    struct wndl_cursor c = wndl_cursor_at(
        wndl_bytes_slice(t->offsets, at, left < LIST_MAX ? left : LIST_MAX), 0,
        false);
    uint64_t last = UINT64_MAX;
    while (wndl_chrome_v2_pair(&c, t, &place->offset, &place->instruction)) {
        if (place->offset >= last)
            return WNDL_MALFORMED;
        if (place->offset <= from_start)
            return WNDL_OK;
        last = place->offset;
    }
    return WNDL_MALFORMED;
}

enum wndl_status wndl_chrome_v2_find(const struct wndl_chrome_v2 *t,
    uint64_t text_offset, struct wndl_chrome_v2_place *place)
{
    const uint64_t page = text_offset >> WNDL_CHROME_V2_PAGE_SHIFT;
    const uint32_t page_size = 1u << WNDL_CHROME_V2_PAGE_SHIFT;
    const uint32_t key = (uint32_t)text_offset & (page_size - 1);
    uint32_t offsets;
    if (page >= t->page_count)
        return WNDL_NOT_FOUND;
    const uint32_t p = (uint32_t)page;
    const uint32_t begin = word_at(t->pages, p);
    const uint32_t end =
        p + 1 < t->page_count ? word_at(t->pages, p + 1) : t->function_count;
    if (begin > end || end > t->function_count)
        return WNDL_MALFORMED;
    const uint32_t after = first_after(t, begin, end, key);
    if (after == 0)
        return WNDL_NOT_FOUND;
    if (after == begin && t->design &&
        (t->continued.data[p / 8] >> p % 8 & 1) == 0)
        return WNDL_NOT_FOUND;
    place->function = after - 1;
    wndl_chrome_v2_function(t, place->function, &place->start, &offsets);
    const uint64_t start =
        ((uint64_t)page_of(t, place->function) << WNDL_CHROME_V2_PAGE_SHIFT) +
        place->start;
    if (start > text_offset || start > UINT32_MAX)
        return WNDL_MALFORMED;
    place->start = (uint32_t)start;
    return find_pair(t, offsets, text_offset - start, place);
}

/* ---- instructions */

/* False: some of them are not on the stack. */
static bool pop(struct wndl_chrome_v2_frame *f, uint16_t mask)
{
    const uint64_t size = (uint64_t)__builtin_popcount(mask) * WORD;
    const uint64_t offset = f->regs[WNDL_ARM_SP] - (uint64_t)f->stack_addr;
    const struct wndl_bytes words = wndl_bytes_slice(f->stack, offset, size);
    struct wndl_cursor c = wndl_cursor_at(words, 0, false);
    if (words.data == NULL)
        return false;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if ((mask >> reg & 1) != 0 && reg != WNDL_ARM_SP)
            f->regs[reg] = wndl_cursor_u32(&c);
        else if (reg == WNDL_ARM_SP && (mask >> reg & 1) != 0)
            return false;
    }
    f->regs[WNDL_ARM_SP] += (uint32_t)size;
    return true;
}

/* False: the kind is not allowed here, or sp leaves the stack. */
static bool run_one(struct wndl_chrome_v2_frame *f,
    const struct wndl_exidx_op *op, uint32_t lowest)
{
    int64_t sp = f->regs[WNDL_ARM_SP];
    if (op->kind == WNDL_EXIDX_POP) {
        if ((op->mask & 0xf) != 0 || !pop(f, op->mask))
            return false;
        sp = f->regs[WNDL_ARM_SP];
    } else if (op->kind == WNDL_EXIDX_MOVE) {
        sp += op->amount;
    } else if (op->kind == WNDL_EXIDX_SET && op->reg >= WNDL_ARM_R4) {
        sp = f->regs[op->reg];
    } else {
        return false;
    }
    const int64_t top = (int64_t)f->stack_addr + (int64_t)f->stack.size;
    if (sp < lowest || sp > top || sp > UINT32_MAX || sp % WORD != 0)
        return false;
    f->regs[WNDL_ARM_SP] = (uint32_t)sp;
    return true;
}

enum wndl_status wndl_chrome_v2_run(
    struct wndl_bytes instructions, struct wndl_chrome_v2_frame *frame)
{
    const uint32_t size =
        instructions.size > INSN_MAX ? INSN_MAX : (uint32_t)instructions.size;
    /* Plain bytes are those of words, with the highest byte first. */
    struct wndl_exidx_code code = {instructions.data, 0, size, true};
    struct wndl_chrome_v2_frame f = *frame;
    const uint32_t pc = f.regs[WNDL_ARM_PC], sp = f.regs[WNDL_ARM_SP];
    bool popped_pc = false;
    while (code.next < code.end) {
        struct wndl_exidx_op op;
        if (wndl_exidx_next(&code, &op) != WNDL_OK)
            return WNDL_MALFORMED;
        if (op.kind == WNDL_EXIDX_REFUSE)
            return WNDL_NOT_FOUND;
        if (op.kind != WNDL_EXIDX_FINISH) {
            if (!run_one(&f, &op, sp))
                return WNDL_MALFORMED;
            popped_pc |= (op.mask >> WNDL_ARM_PC & 1) != 0;
            continue;
        }
        if (!popped_pc)
            f.regs[WNDL_ARM_PC] = f.regs[WNDL_ARM_LR];
        if (f.regs[WNDL_ARM_SP] % 8 != 0 ||
            (f.regs[WNDL_ARM_SP] == sp && f.regs[WNDL_ARM_PC] == pc))
            return WNDL_MALFORMED;
        *frame = f;
        return WNDL_OK;
    }
    return WNDL_MALFORMED;
}
