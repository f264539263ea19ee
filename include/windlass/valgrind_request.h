/* SPDX-License-Identifier: MIT */
/*
 * windlass/valgrind_request.h: how a program asks the Valgrind under which it
 * runs for something, below windlass/annotate.h and windlass/memlog.h. Include
 * those.
 *
 * x86 needs nothing of Valgrind. For other processors it takes Valgrind's own
 * header, if that is there when the program is compiled; else it does nothing.
 */
#ifndef WINDLASS_VALGRIND_REQUEST_H
#define WINDLASS_VALGRIND_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__x86_64__) && !defined(__i386__) && defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Private: a request, by the instructions of Valgrind's own header, which have
 * no effect elsewhere. A tool ignores the requests of other tools.
 */
static inline void wndl_valgrind_ask(uintptr_t request, uintptr_t at,
    uintptr_t second, uintptr_t third, uintptr_t fourth)
{
#if defined(__x86_64__)
    const volatile uintptr_t words[6] = {request, at, second, third, fourth, 0};
    uintptr_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(&words[0])
                     : "cc", "memory");
#elif defined(__i386__)
    const volatile uintptr_t words[6] = {request, at, second, third, fourth, 0};
    uintptr_t answer = 0;
    __asm__ volatile("roll $3, %%edi; roll $13, %%edi\n\t"
                     "roll $29, %%edi; roll $19, %%edi\n\t"
                     "xchgl %%ebx, %%ebx"
                     : "+d"(answer)
                     : "a"(&words[0])
                     : "cc", "memory");
#elif defined(VALGRIND_DO_CLIENT_REQUEST_STMT)
    VALGRIND_DO_CLIENT_REQUEST_STMT(request, at, second, third, fourth, 0);
#else
    (void)request;
    (void)at;
    (void)second;
    (void)third;
    (void)fourth;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
