/* SPDX-License-Identifier: MIT */
#include "unwind_chain.h"

#include <alloca.h>
#include <stdbool.h>
#include <stdlib.h>

/* libc has no frame pointers: a program that walks by them goes round it. */
#ifndef CHAIN_USES_QSORT
#define CHAIN_USES_QSORT 1
#endif

/* alloca needs a frame pointer. */
#ifndef CHAIN_USES_ALLOCA
#define CHAIN_USES_ALLOCA 1
#endif

#define INLINE static inline __attribute__((always_inline))

/* Values that the compiler cannot see through, and must keep. */
INLINE long make_opaque(void)
{
    long value;
    __asm__ volatile("" : "=r"(value));
    return value;
}

INLINE void use(long value)
{
    __asm__ volatile("" : : "r"(value));
}

INLINE void escape(void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

static long (*const shapes[CHAIN_SHAPES])(struct chain *chain);

static __attribute__((noinline)) long dispatch(struct chain *chain)
{
    size_t depth = chain->depth;
    if (depth == chain->count) {
        chain->leaf(chain->context);
        return 1;
    }
    unsigned shape = chain->shape[depth];
    if (shape < CHAIN_SHAPES)
        return 1 + shapes[shape](chain);
    return 1 + chain->extra[shape - CHAIN_SHAPES](chain);
}

long chain_next(struct chain *chain)
{
    chain->depth++;
    return 1 + dispatch(chain);
}

/* A call whose return address is not merged with another's. */
#define CALL_SITE(n)                                                           \
    case n:                                                                    \
        result = enter(chain);                                                 \
        __asm__ volatile("# site %c0" : : "i"(n));                             \
        break

/* The next function is called from the shape itself, not by a helper. */
INLINE long enter(struct chain *chain)
{
    size_t depth = chain->depth;
    unsigned shape = depth == chain->count ? CHAIN_SHAPES : chain->shape[depth];
    if (shape < CHAIN_SHAPES)
        return shapes[shape](chain);
    return dispatch(chain);
}

INLINE long call_from_site(struct chain *chain)
{
    long result = 0;
    switch (chain->site[chain->depth++] % CHAIN_SITES) {
        CALL_SITE(0);
        CALL_SITE(1);
        CALL_SITE(2);
        CALL_SITE(3);
        CALL_SITE(4);
        CALL_SITE(5);
        CALL_SITE(6);
        CALL_SITE(7);
    }
    return result;
}

static __thread struct chain *qsort_chain;

static int compare_by_going_on(const void *a, const void *b)
{
    struct chain *chain = qsort_chain;
    if (chain == NULL)
        return *(const long *)a > *(const long *)b;
    qsort_chain = NULL;
    return (int)call_from_site(chain);
}

INLINE long call_through_qsort(struct chain *chain)
{
    long two[2] = {1, 2};
    qsort_chain = chain;
    qsort(two, 2, sizeof two[0], compare_by_going_on);
    return two[0];
}

INLINE long body(struct chain *chain, unsigned number)
{
    const unsigned kept = number % 7;
    long a = make_opaque(), b = make_opaque(), c = make_opaque();
    long d = make_opaque(), e = make_opaque(), f = make_opaque();
    if (CHAIN_USES_ALLOCA && number % 16 == 15)
        escape(alloca(64 + chain->depth % 64));
    long result = CHAIN_USES_QSORT && number % 32 == 7
                      ? call_through_qsort(chain)
                      : call_from_site(chain);
    if (kept > 0)
        use(a);
    if (kept > 1)
        use(b);
    if (kept > 2)
        use(c);
    if (kept > 3)
        use(d);
    if (kept > 4)
        use(e);
    if (kept > 5)
        use(f);
    return result + 1;
}

#define FRAME_BYTES(n) (256 + (n)*61 % 59 * 64)

#define SHAPE(n)                                                               \
    static __attribute__((noinline)) long shape_##n(struct chain *chain)       \
    {                                                                          \
        char frame[FRAME_BYTES(n)];                                            \
        escape(frame);                                                         \
        return body(chain, n);                                                 \
    }

#define FOUR(DO, a, b, c, d) DO(a) DO(b) DO(c) DO(d)

/* clang-format off */
#define EACH_SHAPE(DO) \
    FOUR(DO, 0, 1, 2, 3) FOUR(DO, 4, 5, 6, 7) \
    FOUR(DO, 8, 9, 10, 11) FOUR(DO, 12, 13, 14, 15) \
    FOUR(DO, 16, 17, 18, 19) FOUR(DO, 20, 21, 22, 23) \
    FOUR(DO, 24, 25, 26, 27) FOUR(DO, 28, 29, 30, 31) \
    FOUR(DO, 32, 33, 34, 35) FOUR(DO, 36, 37, 38, 39) \
    FOUR(DO, 40, 41, 42, 43) FOUR(DO, 44, 45, 46, 47) \
    FOUR(DO, 48, 49, 50, 51) FOUR(DO, 52, 53, 54, 55) \
    FOUR(DO, 56, 57, 58, 59) FOUR(DO, 60, 61, 62, 63) \
    FOUR(DO, 64, 65, 66, 67) FOUR(DO, 68, 69, 70, 71) \
    FOUR(DO, 72, 73, 74, 75) FOUR(DO, 76, 77, 78, 79) \
    FOUR(DO, 80, 81, 82, 83) FOUR(DO, 84, 85, 86, 87) \
    FOUR(DO, 88, 89, 90, 91) FOUR(DO, 92, 93, 94, 95) \
    FOUR(DO, 96, 97, 98, 99) FOUR(DO, 100, 101, 102, 103) \
    FOUR(DO, 104, 105, 106, 107) FOUR(DO, 108, 109, 110, 111) \
    FOUR(DO, 112, 113, 114, 115) FOUR(DO, 116, 117, 118, 119) \
    FOUR(DO, 120, 121, 122, 123) FOUR(DO, 124, 125, 126, 127) \
    FOUR(DO, 128, 129, 130, 131) FOUR(DO, 132, 133, 134, 135) \
    FOUR(DO, 136, 137, 138, 139) FOUR(DO, 140, 141, 142, 143) \
    FOUR(DO, 144, 145, 146, 147) FOUR(DO, 148, 149, 150, 151) \
    FOUR(DO, 152, 153, 154, 155) FOUR(DO, 156, 157, 158, 159) \
    FOUR(DO, 160, 161, 162, 163) FOUR(DO, 164, 165, 166, 167) \
    FOUR(DO, 168, 169, 170, 171) FOUR(DO, 172, 173, 174, 175) \
    FOUR(DO, 176, 177, 178, 179) FOUR(DO, 180, 181, 182, 183) \
    FOUR(DO, 184, 185, 186, 187) FOUR(DO, 188, 189, 190, 191) \
    FOUR(DO, 192, 193, 194, 195) FOUR(DO, 196, 197, 198, 199) \
    FOUR(DO, 200, 201, 202, 203) FOUR(DO, 204, 205, 206, 207) \
    FOUR(DO, 208, 209, 210, 211) FOUR(DO, 212, 213, 214, 215) \
    FOUR(DO, 216, 217, 218, 219) FOUR(DO, 220, 221, 222, 223) \
    FOUR(DO, 224, 225, 226, 227) FOUR(DO, 228, 229, 230, 231) \
    FOUR(DO, 232, 233, 234, 235) FOUR(DO, 236, 237, 238, 239) \
    FOUR(DO, 240, 241, 242, 243) FOUR(DO, 244, 245, 246, 247) \
    FOUR(DO, 248, 249, 250, 251) FOUR(DO, 252, 253, 254, 255)
/* clang-format on */

EACH_SHAPE(SHAPE)

#define SHAPE_NAME(n) shape_##n,

static long (*const shapes[CHAIN_SHAPES])(struct chain *chain) = {
    EACH_SHAPE(SHAPE_NAME)};

/* xorshift64*; the seed must not be 0. */
static uint32_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * 0x2545f4914f6cdd1du >> 32);
}

void chain_random(
    struct chain *chain, size_t count, uint64_t seed, size_t extras)
{
    uint64_t state = seed * 2 + 1;
    for (int i = 0; i < 8; i++)
        (void)next_random(&state);
    chain->count = count;
    for (size_t i = 0; i < count; i++) {
        bool extra = extras > 0 && next_random(&state) % 8 == 0;
        uint32_t pick = next_random(&state);
        chain->shape[i] = (uint16_t)(extra ? CHAIN_SHAPES + pick % extras
                                           : pick % CHAIN_SHAPES);
        chain->site[i] = next_random(&state) % CHAIN_SITES;
    }
}

void chain_run(struct chain *chain)
{
    chain->depth = 0;
    use(dispatch(chain));
}
