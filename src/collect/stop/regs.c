/* SPDX-License-Identifier: MIT */
#include "collect/stop/regs.h"

#include <elf.h>

enum { NONE = 0xff };

/* One machine's elf_gregset_t. Places are indexes of words in it. */
struct layout {
    uint16_t machine;
    uint8_t word, count, gregs;
    uint8_t ip, sp, fp, bx;
    uint8_t call; /* of the system call's number; NONE: there is none */
    uint8_t place[WNDL_REGS_MAX]; /* of each greg */
    const char *const *names;
};

static const char *const x86_64_names[] = {"r15", "r14", "r13", "r12", "rbp",
    "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi",
    "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base", "ds",
    "es", "fs", "gs"};

static const char *const i386_names[] = {"ebx", "ecx", "edx", "esi", "edi",
    "ebp", "eax", "ds", "es", "fs", "gs", "orig_eax", "eip", "cs", "eflags",
    "esp", "ss"};

static const char *const aarch64_names[] = {"x0", "x1", "x2", "x3", "x4", "x5",
    "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
    "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "x30", "sp", "pc", "pstate"};

static const char *const arm_names[] = {"r0", "r1", "r2", "r3", "r4", "r5",
    "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc", "cpsr",
    "orig_r0"};

static const struct layout layouts[] = {
    {EM_X86_64, 8, 27, 17, 16, 19, 4, 5, 15,
        {9, 8, 7, 6, 3, 2, 1, 0, 14, 13, 4, 5, 12, 10, 11, 19, 16},
        x86_64_names},
    {EM_386, 4, 17, 15, 12, 15, 5, 0, 11,
        {10, 9, 8, 7, 4, 3, 5, 15, 0, 2, 1, 6, NONE, NONE, 12}, i386_names},
    {EM_AARCH64, 8, 34, 33, 32, 31, 29, 19, NONE,
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
            20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32},
        aarch64_names},
    {EM_ARM, 4, 18, 16, 15, 13, 11, 7, NONE,
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, arm_names},
};

static const struct layout *layout_of(uint16_t machine)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i].machine == machine)
            return &layouts[i];
    }
    return NULL;
}

size_t wndl_regs_size(uint16_t machine)
{
    const struct layout *l = layout_of(machine);
    return l == NULL ? 0 : (size_t)l->word * l->count;
}

bool wndl_regs_read(
    struct wndl_thread_regs *regs, uint16_t machine, struct wndl_bytes set)
{
    const struct layout *l = layout_of(machine);
    struct wndl_cursor c = wndl_cursor_at(set, 0, false);
    *regs = (struct wndl_thread_regs){.machine = machine};
    if (l == NULL)
        return false;
    for (size_t i = 0; i < l->count; i++)
        regs->word[i] = wndl_cursor_uint(&c, l->word);
    for (size_t i = 0; i < l->gregs; i++) {
        uint64_t value = l->place[i] == NONE ? 0 : regs->word[l->place[i]];
        if (l->word == 8)
            regs->context.words64[i] = value;
        else
            regs->context.words32[i] = (uint32_t)value;
    }
    return !c.failed;
}

struct wndl_regs wndl_regs_start(const struct wndl_thread_regs *regs)
{
    const struct layout *l = layout_of(regs->machine);
    if (l == NULL)
        return (struct wndl_regs){0};
    return (struct wndl_regs){
        .ip = regs->word[l->ip],
        .sp = regs->word[l->sp],
        .fp = regs->word[l->fp],
        .bx = regs->word[l->bx],
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX,
        .gregs = &regs->context,
    };
}

int64_t wndl_regs_call(const struct wndl_thread_regs *regs)
{
    const struct layout *l = layout_of(regs->machine);
    if (l == NULL || l->call == NONE)
        return -1;
    uint64_t number = regs->word[l->call];
    return l->word == 8 ? (int64_t)number : (int32_t)(uint32_t)number;
}

const char *wndl_regs_name(uint16_t machine, size_t index)
{
    const struct layout *l = layout_of(machine);
    return l == NULL || index >= l->count ? NULL : l->names[index];
}
