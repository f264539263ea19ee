/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/a64.h"
#include "cfi_import/code/flow_impl.h"

/* Bytes before the displacement, that, and of both together at most. */
enum { CALL = 1, BRANCH = 2, ADDRESS = 3, DISPLACEMENT = 4, LONGEST = 7 };

enum { START_SIZE = 64 }; /* bytes: crt1.o's _start has half of that */

/* Addresses of data may be those of tables, which end where others start. */
static void note_address(struct wndl_code_flow *f, uint64_t svma)
{
    uint64_t *address = wndl_vec_push(&f->addresses);
    f->failed |= address == NULL;
    if (address != NULL)
        *address = svma;
}

/*
 * The size of what is before the displacement, if an instruction that leads or
 * points elsewhere began here; else 0.
 */
static unsigned size_before(const uint8_t *p)
{
    if ((p[0] & 0xfe) == 0xe8) /* call, jmp */
        return CALL;
    if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80) /* a branch */
        return BRANCH;
    if ((p[0] & 0xf8) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 0x05)
        return ADDRESS; /* lea of RIP */
    return 0;
}

/*
 * Whether any bytes of code that is not followed may be an instruction that
 * refers to some that is. To decode all of it would take ten times as long.
 * Addresses of data are noted, or what looks like them.
 */
static bool may_refer(struct wndl_code_flow *f, uint64_t start, uint64_t end)
{
    const struct wndl_code_part *code = &f->text->code;
    bool refers = false;
    if (!has_offset(f, start) || code->bytes.size < LONGEST)
        return false;
    uint64_t last = code->bytes.size - LONGEST;
    if (end - code->svma < last)
        last = end - code->svma;
    for (uint64_t at = start - code->svma; at < last; at++) {
        const uint8_t *p = code->bytes.data + at;
        const unsigned before = size_before(p);
        if (before == 0)
            continue;
        const uint64_t target = code->svma + at + before + DISPLACEMENT +
                                (uint64_t)(int32_t)wndl_load_u32(p + before);
        refers |= is_ours(f, target);
        if (before == ADDRESS && !has_offset(f, target))
            note_address(f, target);
    }
    return refers;
}

static bool is_within(uint64_t start, uint64_t svma)
{
    return start != 0 && svma >= start && svma - start < START_SIZE;
}

/* The process's first code only has addresses of functions, such as main. */
static bool is_of_start(const struct wndl_code_flow *f, uint64_t svma)
{
    return is_within(f->text->start, svma) || is_within(f->first, svma);
}

static void take_reference(struct wndl_code_flow *f,
    const struct wndl_insn_glance *g, uint64_t next, bool is_sure)
{
    if (g->op == WNDL_INSN_ADDRESS && !has_offset(f, g->target))
        note_address(f, g->target);
    if (!is_ours(f, g->target))
        return;
    const uint32_t at = offset_of(f, g->target);
    const bool calls = g->op == WNDL_INSN_CALL && g->target != next;
    const bool is_called = (calls && is_sure) || is_of_start(f, next);
    if (calls || g->op == WNDL_INSN_ADDRESS)
        f->marks[at] |= is_called ? IS_CALLED : IS_NAMED;
    else if (!calls)
        f->marks[at] |= IS_TARGET;
}

void wndl_code_flow_scan(
    struct wndl_code_flow *f, uint64_t start, uint64_t end, bool is_sure)
{
    if (is_sure && start < end && !is_ours(f, start) &&
        f->text->mode != WNDL_INSN_A64 && !may_refer(f, start, end))
        return;
    struct wndl_insn_pages pages = {.known = 0};
    while (start < end && has_offset(f, start)) {
        struct wndl_insn_glance g;
        const struct wndl_bytes code = code_at(f, offset_of(f, start));
        const bool known = wndl_insn_glance(f->text->mode, code, start, &g);
        const unsigned size = known ? g.size : 1;
        if (f->text->mode == WNDL_INSN_A64 && known &&
            wndl_insn_a64_sum(&pages, code, start, &g.target))
            g.op = WNDL_INSN_ADDRESS;
        f->scanned += known && g.is_padding ? 0 : size;
        if (known && g.is_plain)
            f->marks[offset_of(f, start)] |= IS_PLAIN | size;
        start += size;
        if (known && g.from_base)
            g.target = (uint32_t)(g.target + f->text->got);
        else if (known && g.is_constant && !f->text->is_fixed)
            continue;
        if (known && g.op != WNDL_INSN_OTHER)
            take_reference(f, &g, start, is_sure);
    }
}
