/* SPDX-License-Identifier: MIT */
/*
 * shares: a C program with unusual stacks, which bench/shares records.
 * `shares alloca N` sorts above functions with alloca, whose frame size only
 * their frame pointer gives. `shares generated N` calls code that it has
 * generated, which has frame records and no rules, and which calls back into C.
 */
#include "../tests/fixtures/unwind/calls_back.h"

#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 400 };

static unsigned mixed(unsigned n)
{
    return n * 1103515245 + 12345;
}

/* Insertion sort: in C of our own, so that it has rules. */
static __attribute__((noinline)) void sort(
    unsigned *numbers, int count, int (*compare)(unsigned, unsigned))
{
    for (int i = 1; i < count; i++) {
        const unsigned number = numbers[i];
        int at = i;
        for (; at > 0 && compare(numbers[at - 1], number) > 0; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

static __attribute__((noinline)) int by_value(unsigned a, unsigned b)
{
    return (a > b) - (a < b);
}

static __attribute__((noinline)) unsigned sorted_middle(unsigned seed)
{
    unsigned numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = seed = mixed(seed);
    sort(numbers, NUMBERS / 4, by_value);
    return numbers[NUMBERS / 8];
}

/* ---- alloca */

static __attribute__((noinline)) unsigned fixed(unsigned depth);

/* Its frame's size is known to its frame pointer alone. */
static __attribute__((noinline)) unsigned grown(unsigned depth)
{
    const size_t size = depth % 7 * 24 + 16;
    volatile char *room = alloca(size);
    memset((char *)room, (int)depth, size);
    return fixed(depth) + (unsigned char)room[size - 1];
}

static unsigned fixed(unsigned depth)
{
    if (depth == 0)
        return sorted_middle(depth);
    return grown(depth - 1) + mixed(depth);
}

static unsigned use_alloca(unsigned n)
{
    return grown(8 + n % 16);
}

/* ---- generated code */

static calls_back *generated;

static __attribute__((noinline)) unsigned called_back(unsigned n)
{
    if (n % 8 == 0)
        return sorted_middle(n);
    return generated(called_back, n - 1) + mixed(n);
}

static unsigned use_generated(unsigned n)
{
    return generated(called_back, n % 64) + generated(use_alloca, n);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    unsigned sum = 0;
    const int times = atoi(argv[2]);
    unsigned (*const use)(unsigned) =
        strcmp(argv[1], "alloca") == 0 ? use_alloca : use_generated;
    generated = make_calls_back();
    for (int i = 0; i < times; i++)
        sum += use((unsigned)i);
    printf("%u\n", sum);
}
