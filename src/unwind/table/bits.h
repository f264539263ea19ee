/* SPDX-License-Identifier: MIT */
/*
 * bits: kernels for look-ups in a table, which count the bits of a word and
 * compare bytes side by side. One set is in plain C. x86-64 also has one with
 * POPCNT and one with BMI2. Operands are nearly random, so no kernel branches
 * on them where a mask will do.
 */
#ifndef WNDL_UNWIND_TABLE_BITS_H
#define WNDL_UNWIND_TABLE_BITS_H

#include "base/bytes.h"
#include "unwind/table/format.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BYTES_OF(x) (UINT64_C(0x0101010101010101) * (x))

#define INLINED __attribute__((always_inline)) static inline

/* The kernels of one processor. */
struct bits {
    unsigned (*count)(uint64_t word);
    /* The index of the `n`-th set bit, from 0; 64: there are fewer. */
    unsigned (*select)(uint64_t word, unsigned n);
    /* The number of 0 bits at the top; 63 for 0. */
    unsigned (*zeros)(uint64_t word);
    /* wndl_table_rule_of_code(). */
    uint32_t (*rule_of_code)(bool is_a64, uint32_t code);
};

/* The number of bits in each half of a byte, and then in each byte. */
static inline uint64_t half_sums(uint64_t x)
{
    x -= x >> 1 & BYTES_OF(0x55);
    return (x & BYTES_OF(0x33)) + (x >> 2 & BYTES_OF(0x33));
}

static inline uint64_t byte_sums(uint64_t halves)
{
    return (halves + (halves >> 4)) & BYTES_OF(0x0f);
}

static inline unsigned portable_count(uint64_t word)
{
    return (unsigned)(byte_sums(half_sums(word)) * BYTES_OF(1) >> 56);
}

/*
 * The bit at which the first of 8 bytes begins that is above n; 64: none is.
 * The bytes and n are below 128, and no byte is below the one before it.
 */
static inline unsigned first_above(uint64_t bytes, unsigned n)
{
    const uint64_t above =
        ~((n | UINT64_C(0x80)) * BYTES_OF(1) - bytes) & BYTES_OF(0x80);
    return above == 0 ? 64 : (unsigned)__builtin_ctzll(above) & ~7u;
}

/*
 * The place of the n-th set bit of 4: 2 bits for each value of the 4 and each
 * n. The first word is for the n 0 and 1, the second for 2 and 3.
 */
static inline unsigned select_of_4(uint64_t four, unsigned n)
{
    const uint64_t first = UINT64_C(0x498e4dc349824100);
    const uint64_t second = UINT64_C(0xe330300020000000);
    const uint64_t is_second = 0u - (uint64_t)(n >> 1);
    const uint64_t places = first ^ ((first ^ second) & is_second);
    return (unsigned)(places >> (four << 2 | (n & 1) << 1)) & 3;
}

/* Finds the byte with the bit, then its half, then the bit. */
INLINED unsigned portable_select(uint64_t word, unsigned n)
{
    const uint64_t halves = half_sums(word);
    const uint64_t sums = byte_sums(halves) * BYTES_OF(1); /* up to each byte */
    unsigned at = first_above(sums, n);
    if (at == 64)
        return 64;
    n -= (unsigned)(sums << 8 >> at & 0xff);
    const unsigned lower = (unsigned)(halves >> at & 0xf);
    const unsigned is_upper = 0u - (n >= lower);
    n -= lower & is_upper;
    at += 4 & is_upper;
    return at + select_of_4(word >> at & 0xf, n);
}

static inline unsigned portable_zeros(uint64_t word)
{
    return (unsigned)__builtin_clzll(word | 1);
}

static const struct bits portable_bits = {
    portable_count, portable_select, portable_zeros, wndl_table_rule_of_code};

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static inline unsigned popcnt_count(
    uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

__attribute__((target("bmi,bmi2"))) static inline unsigned bmi2_select(
    uint64_t word, unsigned n)
{
    return (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << n, word));
}

__attribute__((target("lzcnt"))) static inline unsigned bmi2_zeros(
    uint64_t word)
{
    return (unsigned)_lzcnt_u64(word);
}

/* Moves the code's bits to their places in wndl_table_rule_of_code(). */
__attribute__((target("bmi2"))) static inline uint32_t bmi2_rule_of_code(
    bool is_a64, uint32_t code)
{
    return _pdep_u32(code, is_a64 ? 0x103fc3f : 0x10f03ff) +
           ((uint32_t)WNDL_TABLE_SP << 24);
}

static const struct bits popcnt_bits = {
    popcnt_count, portable_select, portable_zeros, wndl_table_rule_of_code};
static const struct bits bmi2_bits = {
    popcnt_count, bmi2_select, bmi2_zeros, bmi2_rule_of_code};
#endif

/*
 * not_above_8: a bit for each of 8 bytes, set if it is not above `limit`. Bits
 * above those are arbitrary. not_above_16: the same for 16 bytes, with 255 for
 * a larger limit; *first receives the first 8 of them, which are not read
 * twice.
 */
#if defined(__x86_64__)
static inline uint32_t not_above(__m128i bytes, __m128i limits)
{
    const __m128i least = _mm_min_epu8(bytes, limits);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, least));
}

static inline uint32_t not_above_8(const uint8_t *bytes, uint8_t limit)
{
    const __m128i one = _mm_cvtsi32_si128(limit);
    return not_above(_mm_loadl_epi64((const __m128i *)(const void *)bytes),
        _mm_shufflelo_epi16(_mm_unpacklo_epi8(one, one), 0));
}

static inline uint32_t not_above_16(
    const uint8_t *bytes, uint32_t limit, uint64_t *first)
{
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    const __m128i all = _mm_shufflelo_epi16(_mm_cvtsi32_si128((int)limit), 0);
    const __m128i twice = _mm_unpacklo_epi64(all, all);
    *first = (uint64_t)_mm_cvtsi128_si64(x);
    return not_above(x, _mm_packus_epi16(twice, twice));
}
#else
static inline uint32_t word_not_above(uint64_t x, uint8_t limit)
{
    const uint64_t high = BYTES_OF(0x80);
    const uint64_t y = BYTES_OF((uint64_t)limit);
    const uint64_t z = (y | high) - (x & ~high);
    const uint64_t is = ((y & ~x) | (~(y ^ x) & z)) & high;
    return (uint32_t)((is >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

static inline uint32_t not_above_8(const uint8_t *bytes, uint8_t limit)
{
    return word_not_above(wndl_load_u64(bytes), limit);
}

static inline uint32_t not_above_16(
    const uint8_t *bytes, uint32_t limit, uint64_t *first)
{
    const uint8_t low = (uint8_t)(limit < 255 ? limit : 255);
    *first = wndl_load_u64(bytes);
    return word_not_above(*first, low) | not_above_8(bytes + 8, low) << 8;
}
#endif

/*
 * `a` if the mask is all ones, `b` if it is 0. Compilers make no branch of it,
 * as they do of conditions that are nearly random.
 */
static inline uint32_t either(uint32_t mask, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & mask);
}

#endif
