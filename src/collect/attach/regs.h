/* SPDX-License-Identifier: MIT */
/*
 * regs: a thread's registers in user code, as perf records have them: a word of
 * 8 bytes for each bit of WNDL_ATTACH_REGS.
 */
#ifndef WNDL_COLLECT_ATTACH_REGS_H
#define WNDL_COLLECT_ATTACH_REGS_H

#include "base/bytes.h"

#include <windlass/unwind.h>

/* Segments and flags are left out: no rule needs them. */
#if defined(__x86_64__)
#define WNDL_ATTACH_REGS UINT64_C(0xff01ff)
enum { WNDL_ATTACH_WORDS = 17 };
#elif defined(__aarch64__)
#define WNDL_ATTACH_REGS UINT64_C(0x1ffffffff)
enum { WNDL_ATTACH_WORDS = 33 };
#else
#define WNDL_ATTACH_REGS UINT64_C(0)
enum { WNDL_ATTACH_WORDS = 0 };
#endif

/* All of them, as a walk of `machine` begins with them. */
struct wndl_attach_regs {
    union {
        uint64_t words64[33];
        uint32_t words32[33];
    } context;
    struct wndl_regs start; /* its `gregs` is `context` */
};

/*
 * Reads the WNDL_ATTACH_WORDS words of a thread of an ELF machine (EM_*). False
 * if this kernel does not run such code. `to` must not move.
 */
bool wndl_attach_regs_read(
    struct wndl_attach_regs *to, uint16_t machine, struct wndl_bytes words);

#endif
