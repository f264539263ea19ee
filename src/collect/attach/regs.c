/* SPDX-License-Identifier: MIT */
#include "collect/attach/regs.h"

#include <elf.h>

enum { NONE = 0xff };

/* The place of each greg of struct wndl_regs among the record's words. */
struct layout {
    uint16_t machine;
    uint8_t word, gregs;
    uint8_t ip, sp, fp, bx;
    uint8_t place[33];
};

static const struct layout layouts[] = {
#if defined(__x86_64__)
    /* ax bx cx dx si di bp sp ip r8..r15 */
    {EM_X86_64, 8, 17, 8, 7, 6, 1,
        {9, 10, 11, 12, 13, 14, 15, 16, 5, 4, 6, 1, 3, 0, 2, 7, 8}},
    {EM_386, 4, 15, 8, 7, 6, 1,
        {NONE, NONE, NONE, NONE, 5, 4, 6, 7, 1, 3, 2, 0, NONE, NONE, 8}},
#elif defined(__aarch64__)
    /* x0..x30 sp pc; a thread of 32 bits has its own sp and lr there, too */
    {EM_AARCH64, 8, 33, 32, 31, 29, 19,
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
            20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
    {EM_ARM, 4, 16, 32, 31, 11, 7,
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 31, 30, 32}},
#endif
    {0},
};

static const struct layout *layout_of(uint16_t machine)
{
    const struct layout *l = layouts;
    while (l->machine != 0 && l->machine != machine)
        l++;
    return l->machine == 0 ? NULL : l;
}

bool wndl_attach_regs_read(
    struct wndl_attach_regs *to, uint16_t machine, struct wndl_bytes words)
{
    const struct layout *l = layout_of(machine);
    if (l == NULL || words.size != (size_t)WNDL_ATTACH_WORDS * 8)
        return false;
    for (size_t i = 0; i < l->gregs; i++) {
        const uint64_t value =
            l->place[i] == NONE
                ? 0
                : wndl_load_u64(words.data + (size_t)l->place[i] * 8);
        if (l->word == 8)
            to->context.words64[i] = value;
        else
            to->context.words32[i] = (uint32_t)value;
    }
    to->start = (struct wndl_regs){
        .ip = wndl_load_u64(words.data + (size_t)l->ip * 8),
        .sp = wndl_load_u64(words.data + (size_t)l->sp * 8),
        .fp = wndl_load_u64(words.data + (size_t)l->fp * 8),
        .bx = wndl_load_u64(words.data + (size_t)l->bx * 8),
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX,
        .gregs = &to->context,
    };
    return true;
}
