/* SPDX-License-Identifier: MIT */
/*
 * What bench/shares records of C whose stacks are odd: `shares alloca N` has
 * functions in the middle of the stack whose frames only their frame pointer
 * knows the size of, and sorts above them; `shares generated N` calls code that
 * it has generated, with frame records of which no rules tell, and that calls
 * back into C.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* Calls its first argument with the second one. */
#if defined(__aarch64__)
static const uint32_t code[] = {
    0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
    0x910003fd, /* mov x29, sp */
    0xaa0003e2, /* mov x2, x0 */
    0xaa0103e0, /* mov x0, x1 */
    0xd63f0040, /* blr x2 */
    0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
    0xd65f03c0, /* ret */
};
#elif defined(__i386__)
static const uint8_t code[] = {
    0x55,             /* push %ebp */
    0x89, 0xe5,       /* mov %esp, %ebp */
    0x83, 0xec, 0x04, /* sub $4, %esp */
    0xff, 0x75, 0x0c, /* push 12(%ebp) */
    0xff, 0x55, 0x08, /* call *8(%ebp) */
    0xc9,             /* leave */
    0xc3,             /* ret */
};
#else
static const uint32_t code[] = {
    0xe92d4800, /* push {r11, lr} */
    0xe1a0b00d, /* mov r11, sp */
    0xe1a02000, /* mov r2, r0 */
    0xe1a00001, /* mov r0, r1 */
    0xe12fff32, /* blx r2 */
    0xe8bd8800, /* pop {r11, pc} */
};
#endif

static unsigned (*generated)(unsigned (*)(unsigned), unsigned);

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

static void generate(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    memcpy(memory, code, sizeof code);
    __builtin___clear_cache(memory, (char *)memory + sizeof code);
    memcpy(&generated, &memory, sizeof generated);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    unsigned sum = 0;
    const int times = atoi(argv[2]);
    unsigned (*const use)(unsigned) =
        strcmp(argv[1], "alloca") == 0 ? use_alloca : use_generated;
    generate();
    for (int i = 0; i < times; i++)
        sum += use((unsigned)i);
    printf("%u\n", sum);
}
