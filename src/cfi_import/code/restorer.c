/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/restorer.h"

#include <string.h>

enum {
    OP_DEREF = 0x06,
    OP_BREG_SP = 0x77,
    DWARF_RSP = 7,
    DWARF_RA = 16,
    WORD = 8,
    /* SP is at the ucontext_t, whose registers begin here. */
    REGISTERS = 40,
};

/* mov $15,%rax; syscall: rt_sigreturn(2). */
static const uint8_t restorer[] = {
    0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

/* The place of each register of DWARF in <sys/ucontext.h>'s gregset_t. */
static const uint8_t greg_of[WNDL_CFI_X86_REGS] = {
    13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16};

static bool is_padding(uint8_t byte)
{
    enum { NOP = 0x90, TRAP = 0xcc, END_OF_NOP = 0x00 };
    return byte == NOP || byte == TRAP || byte == END_OF_NOP;
}

static bool has_rules(const struct wndl_code_text *text, uint64_t svma)
{
    size_t low = 0, high = text->covered.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (text->covered.all[middle].end <= svma)
            low = middle + 1;
        else
            high = middle;
    }
    return low < text->covered.count && text->covered.all[low].start <= svma;
}

bool wndl_restorer_next(const struct wndl_code_text *text, uint64_t *at)
{
    const struct wndl_bytes code = text->code.bytes;
    while (*at < code.size) {
        const uint8_t *found = memmem(code.data + *at, code.size - (size_t)*at,
            restorer, sizeof restorer);
        if (found == NULL)
            return false;
        *at = (uint64_t)(found - code.data);
        if (*at != 0 && is_padding(found[-1]) &&
            !has_rules(text, text->code.svma + *at - 1))
            return true;
        *at += sizeof restorer;
    }
    return false;
}

unsigned wndl_restorer_size(void)
{
    return sizeof restorer;
}

/* Writes SP + place; the offset takes two bytes of SLEB128. */
static uint8_t *write_place(uint8_t *to, unsigned greg)
{
    const unsigned offset = REGISTERS + WORD * greg;
    *to++ = OP_BREG_SP;
    *to++ = (uint8_t)(0x80 | (offset & 0x7f));
    *to++ = (uint8_t)(offset >> 7);
    return to;
}

void wndl_restorer_row(
    struct wndl_cfi_row *row, uint8_t room[WNDL_RESTORER_ROOM])
{
    *row = (struct wndl_cfi_row){.ra_reg = DWARF_RA, .signal_frame = true};
    for (unsigned reg = 0; reg < WNDL_CFI_X86_REGS; reg++) {
        uint8_t *from = room, *end = write_place(from, greg_of[reg]);
        struct wndl_cfi_rule *rule = &row->regs[reg];
        if (reg == DWARF_RSP) {
            *end++ = OP_DEREF;
            rule = &row->cfa;
        }
        *rule = (struct wndl_cfi_rule){
            .kind = reg == DWARF_RSP ? WNDL_RULE_VAL_EXPR : WNDL_RULE_EXPR,
            .expr = from,
            .expr_size = (uint32_t)(end - from)};
        room = end;
    }
}
