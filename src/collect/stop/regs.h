/* SPDX-License-Identifier: MIT */
/*
 * regs: a thread's general registers as ptrace(2) and core files have them
 * (elf_gregset_t), for walks and for people. All machines are little-endian.
 */
#ifndef WNDL_COLLECT_STOP_REGS_H
#define WNDL_COLLECT_STOP_REGS_H

#include "base/bytes.h"

#include <windlass/unwind.h>

enum { WNDL_REGS_MAX = 34 };

struct wndl_thread_regs {
    uint16_t machine;             /* EM_* */
    uint64_t word[WNDL_REGS_MAX]; /* in the kernel's order */
    /* the same in the order of struct wndl_regs.gregs */
    union {
        uint64_t words64[WNDL_REGS_MAX];
        uint32_t words32[WNDL_REGS_MAX];
    } context;
};

/* Bytes of an elf_gregset_t; 0: a machine that is not known. */
size_t wndl_regs_size(uint16_t machine);

/*
 * Reads the registers of an elf_gregset_t. False: an unknown machine, or too
 * few bytes.
 */
bool wndl_regs_read(
    struct wndl_thread_regs *regs, uint16_t machine, struct wndl_bytes set);

/* The start of a walk. It borrows `regs`. */
struct wndl_regs wndl_regs_start(const struct wndl_thread_regs *regs);

/*
 * The number of the system call that the thread was in, or -1. 0 is a number.
 */
int64_t wndl_regs_call(const struct wndl_thread_regs *regs);

/* The name of the kernel's register `index`; NULL: there is none. Static. */
const char *wndl_regs_name(uint16_t machine, size_t index);

#endif
