/* SPDX-License-Identifier: MIT */
#include "rt/heap/leaks/pointer_filter.h"

#if defined(__x86_64__) && defined(__LP64__)
#define HAS_AVX2 1
#include <cpuid.h>
#include <immintrin.h>
#endif

/*
 * The distance of prefetches. A processor does not prefetch across pages by
 * itself, and waiting for memory would take longer than all else.
 */
enum { LINE = 64 / sizeof(uintptr_t), AHEAD = 2048 / sizeof(uintptr_t) };

/* Memory after the words must not be read. */
static inline void fetch_ahead(const uintptr_t *words, size_t i, size_t count)
{
    if (i + AHEAD < count)
        __builtin_prefetch(&words[i + AHEAD]);
}

/* No branch depends on a word's value, which no processor could predict. */
static inline size_t keep_some(const struct wndl_rt_pointer_filter *s,
    const uintptr_t *words, size_t count, uintptr_t *found)
{
    const uintptr_t low = s->low, gap = s->gap;
    const uintptr_t size = s->high - low, gap_size = s->gap_end - gap;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        uintptr_t word = words[i] & ~s->tags;
        found[kept] = word;
        kept += (unsigned)(word - low < size) & (word - gap >= gap_size);
    }
    return kept;
}

static size_t keep_portably(const struct wndl_rt_pointer_filter *s,
    const uintptr_t *words, size_t count, uintptr_t *found)
{
    size_t kept = 0, i = 0;
    for (; i + LINE <= count; i += LINE) {
        fetch_ahead(words, i, count);
        kept += keep_some(s, &words[i], LINE, found + kept);
    }
    return kept + keep_some(s, &words[i], count - i, found + kept);
}

#ifdef HAS_AVX2

/* Whether the system saves the registers, too: XCR0's bits SSE and AVX. */
static bool saves_avx(void)
{
    enum { SSE_AND_AVX = 6 };
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & SSE_AND_AVX) == SSE_AND_AVX;
}

/*
 * GCC's own function comes with a constructor, which asks for all features at
 * each start. In a virtual machine each question takes microseconds.
 */
bool wndl_rt_pointer_filter_has_avx2(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0 &&
           saves_avx() && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           (b & bit_AVX2) != 0;
}

#define WITH_AVX2 __attribute__((target("avx2")))

/* Flips the signs, because there are signed comparisons only. */
WITH_AVX2 static inline __m256i all_four(uintptr_t value)
{
    return _mm256_set1_epi64x((int64_t)value ^ INT64_MIN);
}

/* Like keep_portably(). Most lines have no such word. */
WITH_AVX2 static size_t keep_by_lines(const struct wndl_rt_pointer_filter *s,
    const uintptr_t *words, size_t count, uintptr_t *found)
{
    const __m256i low = all_four(s->low), size = all_four(s->high - s->low);
    const __m256i gap = all_four(s->gap);
    const __m256i gap_size = all_four(s->gap_end - s->gap);
    size_t kept = 0, i = 0;
    for (; i + LINE <= count; i += LINE) {
        __m256i any = _mm256_setzero_si256();
        fetch_ahead(words, i, count);
        for (size_t half = 0; half < 2; half++) {
            const __m256i four =
                _mm256_loadu_si256((const __m256i *)&words[i] + half);
            const __m256i is_in =
                _mm256_cmpgt_epi64(size, _mm256_sub_epi64(four, low));
            const __m256i is_between =
                _mm256_cmpgt_epi64(gap_size, _mm256_sub_epi64(four, gap));
            any = _mm256_or_si256(any, _mm256_andnot_si256(is_between, is_in));
        }
        if (_mm256_testz_si256(any, any) == 0)
            kept += keep_some(s, &words[i], LINE, found + kept);
    }
    return kept + keep_some(s, &words[i], count - i, found + kept);
}

#else

bool wndl_rt_pointer_filter_has_avx2(void)
{
    return false;
}

#define keep_by_lines keep_portably

#endif

size_t wndl_rt_pointer_filter_keep(const struct wndl_rt_pointer_filter *s,
    const uintptr_t *words, size_t count, uintptr_t *found)
{
    return s->has_avx2 && s->tags == 0 ? keep_by_lines(s, words, count, found)
                                       : keep_portably(s, words, count, found);
}
