/* SPDX-License-Identifier: MIT */
/* unwind/table/bits.h: each processor's kernels against plain loops. */
#include "unwind/table/bits.h"

#include "testlib.h"

enum { WORDS = 20000, SETS_MAX = 3 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Words with few bits, with many, with one, and at both ends. */
static uint64_t make_word(uint64_t *state, unsigned i)
{
    const uint64_t a = next_random(state), b = next_random(state);
    switch (i % 6) {
    case 0:
        return a & b & next_random(state);
    case 1:
        return a | b | next_random(state);
    case 2:
        return UINT64_C(1) << (a & 63);
    case 3:
        return a << (b & 63);
    case 4:
        return i % 12 < 6 ? 0 : UINT64_MAX;
    default:
        return a;
    }
}

/* Those that this processor has. */
static size_t list_sets(const struct bits *sets[SETS_MAX])
{
    size_t count = 0;
    sets[count++] = &portable_bits;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("popcnt"))
        sets[count++] = &popcnt_bits;
    /* No processor has BMI2 and lacks LZCNT. */
    if (__builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2"))
        sets[count++] = &bmi2_bits;
#endif
    return count;
}

static unsigned slow_count(uint64_t word)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 64; i++)
        count += word >> i & 1;
    return count;
}

static unsigned slow_select(uint64_t word, unsigned n)
{
    for (unsigned i = 0; i < 64; i++)
        if ((word >> i & 1) != 0 && n-- == 0)
            return i;
    return 64;
}

static unsigned slow_zeros(uint64_t word)
{
    unsigned zeros = 0;
    while (zeros < 64 && word >> (63 - zeros) == 0)
        zeros++;
    return zeros;
}

static void compare_word(const struct bits *bits, uint64_t word)
{
    assert_int_equal(bits->count(word), slow_count(word));
    for (unsigned n = 0; n < 64; n++)
        assert_int_equal(bits->select(word, n), slow_select(word, n));
    if (word != 0)
        assert_int_equal(bits->zeros(word), slow_zeros(word));
    else
        assert_true(bits->zeros(word) >= 63);
}

static void counts_and_selects_as_loops_do(void **state)
{
    (void)state;
    const struct bits *sets[SETS_MAX];
    const size_t count = list_sets(sets);
    uint64_t random = UINT64_C(0x123456789abcdef1);
    for (unsigned i = 0; i < WORDS; i++) {
        const uint64_t word = make_word(&random, i);
        for (size_t k = 0; k < count; k++)
            compare_word(sets[k], word);
    }
}

static void makes_the_rule_of_every_code(void **state)
{
    (void)state;
    const struct bits *sets[SETS_MAX];
    const size_t count = list_sets(sets);
    for (uint32_t code = 0; code < WNDL_TABLE_CODE_NUMBER; code++)
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(sets[k]->rule_of_code(false, code),
                wndl_table_rule_of_code(false, code));
            assert_int_equal(sets[k]->rule_of_code(true, code),
                wndl_table_rule_of_code(true, code));
        }
}

static uint32_t slow_not_above(
    const uint8_t *bytes, unsigned count, uint32_t limit)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < count; i++)
        mask |= (uint32_t)(bytes[i] <= limit) << i;
    return mask;
}

/* Bytes near the limit, where comparisons go wrong, and far from it. */
static void fill(uint8_t bytes[16], uint32_t limit, uint64_t *random)
{
    for (unsigned i = 0; i < 16; i++) {
        const uint64_t r = next_random(random);
        bytes[i] = (uint8_t)(r % 2 == 0 ? r >> 8 : limit + (r >> 8) % 3 - 1);
    }
}

static void compares_bytes_as_loops_do(void **state)
{
    (void)state;
    uint8_t bytes[16];
    uint64_t first, random = UINT64_C(0xfedcba987654321f);
    for (unsigned i = 0; i < WORDS; i++) {
        const uint32_t limit = i % 300;
        fill(bytes, limit, &random);
        if (limit <= UINT8_MAX)
            assert_int_equal(not_above_8(bytes, (uint8_t)limit) & 0xff,
                slow_not_above(bytes, 8, limit));
        assert_int_equal(not_above_16(bytes, limit, &first) & 0xffff,
            slow_not_above(bytes, 16, limit));
        assert_memory_equal(&first, bytes, sizeof first);
    }
}

static void takes_either_by_a_mask(void **state)
{
    (void)state;
    assert_int_equal(either(UINT32_MAX, 5, 9), 5);
    assert_int_equal(either(0, 5, 9), 9);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_selects_as_loops_do),
        cmocka_unit_test(makes_the_rule_of_every_code),
        cmocka_unit_test(compares_bytes_as_loops_do),
        cmocka_unit_test(takes_either_by_a_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
