/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog_valgrind.h: what the log asks of Helgrind and DRD, below
 * windlass/memlog.h. Include that one.
 *
 * These tools know nothing of atomic instructions, and would report each word
 * that threads share by them. So they are asked to leave the log's own words
 * alone, and nothing else: races of the program's data are still found.
 */
#ifndef WINDLASS_MEMLOG_VALGRIND_H
#define WINDLASS_MEMLOG_VALGRIND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Private: a request to Valgrind, by the instructions of its own header, which
 * have no effect elsewhere. Only x86-64 has it here.
 */
static inline void wndl_memlog_ask_valgrind(
    uint64_t request, const void *start, size_t size)
{
#if defined(__x86_64__)
    const volatile uint64_t words[6] = {
        request, (uint64_t)(uintptr_t)start, size, 0, 0, 0};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(&words[0])
                     : "cc", "memory");
#else
    (void)request;
    (void)start;
    (void)size;
#endif
}

/* Private: races of these bytes are the log's own, and none. */
static inline void wndl_memlog_share(const void *start, size_t size)
{
    enum { HELGRIND_UNTRACKED = 0x48470127, DRD_SUPPRESSED = 0x44520002 };
    wndl_memlog_ask_valgrind(HELGRIND_UNTRACKED, start, size);
    wndl_memlog_ask_valgrind(DRD_SUPPRESSED, start, size);
}

#ifdef __cplusplus
}
#endif

#endif
