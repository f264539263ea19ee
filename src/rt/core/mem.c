/* SPDX-License-Identifier: MIT */
/*
 * mem: the memory functions that compilers call by name, inside the object. The
 * program's own may be interposed by code that must not run in our signal
 * handler (sanitizers, other recorders).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* A word at any address, where other types are stored. */
struct word {
    uint64_t v;
} __attribute__((packed, may_alias));

typedef uint64_t block __attribute__((vector_size(16), aligned(1), may_alias));

enum { WORD = sizeof(struct word), BLOCK = sizeof(block) };

#if defined(__x86_64__) || defined(__i386__)

enum { LARGE = 4096 };

static void copy_large(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb"
                     : "+D"(to), "+S"(from), "+c"(size)
                     :
                     : "memory");
}

static void fill(void *to, uint8_t value, size_t size)
{
    __asm__ volatile("rep stosb"
                     : "+D"(to), "+c"(size)
                     : "a"(value)
                     : "memory");
}

#else

static void fill(void *to, uint8_t value, size_t size)
{
    const block filled = {UINT64_C(0x0101010101010101) * value,
        UINT64_C(0x0101010101010101) * value};
    uint8_t *t = to;
    for (; size >= BLOCK; size -= BLOCK, t += BLOCK)
        *(block *)(void *)t = filled;
    for (; size > 0; size--)
        *t++ = value;
}

#endif

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    uint8_t *t = to;
    const uint8_t *f = from;
#if defined(__x86_64__) || defined(__i386__)
    /* The string instruction starts slowly. */
    if (size >= LARGE) {
        copy_large(to, from, size);
        return to;
    }
#endif
    for (; size >= BLOCK; size -= BLOCK, t += BLOCK, f += BLOCK)
        *(block *)(void *)t = *(const block *)(const void *)f;
    for (; size > 0; size--)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t size)
{
    fill(to, (uint8_t)value, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size)
        return memcpy(to, from, size);
    uint8_t *t = to;
    const uint8_t *f = from;
    for (; size >= WORD; size -= WORD)
        *(struct word *)(void *)(t + size - WORD) =
            *(const struct word *)(const void *)(f + size - WORD);
    while (size-- > 0)
        t[size] = f[size];
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const uint8_t *x = a;
    const uint8_t *y = b;
    for (size_t i = 0; i < size; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

void *memchr(const void *bytes, int wanted, size_t size)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < size; i++) {
        if (b[i] == (uint8_t)wanted)
            return (void *)(b + i);
    }
    return NULL;
}

void *memrchr(const void *bytes, int wanted, size_t size)
{
    const uint8_t *b = bytes;
    while (size-- > 0) {
        if (b[size] == (uint8_t)wanted)
            return (void *)(b + size);
    }
    return NULL;
}

size_t strlen(const char *text)
{
    size_t size = 0;
    while (text[size] != '\0')
        size++;
    return size;
}

int strcmp(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

/* clang makes this of memcmp() == 0. */
int bcmp(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size);
}
