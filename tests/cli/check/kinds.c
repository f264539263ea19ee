/* SPDX-License-Identifier: MIT */
/*
 *     kinds fork|exec PROGRAM|flood|avx512
 *
 * What processes do that is hard on a checker: children that are forked at the
 * same time, a program that another one replaces, more errors than a checker
 * counts, instructions that it does not know. Each after an error.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 8, TIMES = 3 };

static volatile char *block;

static void __attribute__((noinline)) in_parent(void)
{
    block[10] = 1;
}

static void __attribute__((noinline)) in_child(void)
{
    block[11] = 1;
}

static void fork_all(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() != 0)
            continue;
        for (int k = 0; k < TIMES; k++)
            in_child();
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
}

#define FIVE(what, n) what(n##0) what(n##1) what(n##2) what(n##3) what(n##4)
#define TEN(what, n) FIVE(what, n##0) FIVE(what, n##1)
#define FUNCTION(n)                                                            \
    static void __attribute__((noinline)) flood##n(void)                       \
    {                                                                          \
        block[10] = 1;                                                         \
    }
#define CALL(n) flood##n();
#define HALF(what, n)                                                          \
    TEN(what, n##0)                                                            \
    TEN(what, n##1)                                                            \
    TEN(what, n##2)                                                            \
    TEN(what, n##3)                                                            \
    TEN(what, n##4)
#define HUNDRED(what, n) HALF(what, n##0) HALF(what, n##1)

HUNDRED(FUNCTION, 1)
HUNDRED(FUNCTION, 2)
HUNDRED(FUNCTION, 3)
HUNDRED(FUNCTION, 4)
HUNDRED(FUNCTION, 5)
HUNDRED(FUNCTION, 6)
HUNDRED(FUNCTION, 7)
HUNDRED(FUNCTION, 8)
HUNDRED(FUNCTION, 9)
HUNDRED(FUNCTION, 10)
HUNDRED(FUNCTION, 11)

static void flood(void)
{
    HUNDRED(CALL, 1)
    HUNDRED(CALL, 2)
    HUNDRED(CALL, 3)
    HUNDRED(CALL, 4)
    HUNDRED(CALL, 5)
    HUNDRED(CALL, 6)
    HUNDRED(CALL, 7)
    HUNDRED(CALL, 8)
    HUNDRED(CALL, 9)
    HUNDRED(CALL, 10)
    HUNDRED(CALL, 11)
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    block = malloc(10);
    in_parent();
    if (strcmp(what, "fork") == 0)
        fork_all();
    else if (strcmp(what, "exec") == 0 && argc > 2)
        execl(argv[2], argv[2], "o", (char *)NULL);
    else if (strcmp(what, "flood") == 0)
        flood();
#if defined(__x86_64__)
    else if (strcmp(what, "avx512") == 0)
        __asm__ volatile("vpxorq %%zmm1, %%zmm1, %%zmm1" ::: "xmm1");
#endif
    free((void *)block);
    return 0;
}
