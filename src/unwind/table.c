/* SPDX-License-Identifier: MIT */
#include "unwind/table.h"

#include "unwind/table_chrome.h"

#include <elf.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "tables are used as they are in the file");

static enum wndl_status fail(
    struct wndl_error *err, enum wndl_status status, const char *what)
{
    if (err != NULL) {
        err->status = status;
        err->section[0] = '\0';
        err->sys_errno = 0;
        err->offset = 0;
        __builtin_memcpy(err->what, what, __builtin_strlen(what) + 1);
    }
    return status;
}

/* ---- the header */

static bool cpu_has_bmi2(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 3 & 1) != 0 &&
           (b >> 8 & 1) != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
           (c >> 23 & 1) != 0;
#else
    return false;
#endif
}

static size_t index_size(uint32_t blocks)
{
    return ((size_t)blocks + WNDL_TABLE_LINE_BLOCKS - 1) /
           WNDL_TABLE_LINE_BLOCKS * WNDL_TABLE_LINE;
}

/* Everything lies behind the header without gaps, so that its sizes say where
 * it is. */
static bool lay_out(struct wndl_table *t)
{
    const uint64_t size = t->bytes.size;
    uint64_t at = WNDL_TABLE_HEADER;
    t->index = t->bytes.data + at;
    at += index_size(t->block_count);
    const uint64_t dict = at;
    at += t->dict_size;
    const uint64_t rules = at;
    at += (uint64_t)t->rule_count * sizeof(uint32_t);
    const uint64_t rows = at;
    at += t->rows_size;
    const uint64_t records = at;
    at += t->records_size;
    if (at + WNDL_TABLE_TAIL != size)
        return false;
    t->dict = t->bytes.data + dict;
    t->rules = t->bytes.data + rules;
    t->rows = t->bytes.data + rows;
    t->records = t->bytes.data + records;
    t->records_end = t->records + t->records_size;
    return true;
}

/* Of the header, in its order; returns the size that the file should have. */
static uint32_t read_header(struct wndl_cursor *c, struct wndl_table *t)
{
    t->machine = wndl_cursor_u16(c);
    t->is_a64 = t->machine == EM_AARCH64;
    t->block_shift = wndl_cursor_u8(c);
    t->record_shift = wndl_cursor_u8(c);
    uint8_t id_size = wndl_cursor_u8(c);
    wndl_cursor_skip(c, 1);
    uint32_t size = wndl_cursor_u32(c);
    t->base = wndl_cursor_u64(c);
    t->block_count = wndl_cursor_u32(c);
    t->rule_count = wndl_cursor_u32(c);
    for (unsigned i = 0; i < WNDL_TABLE_HOT_CLASSES - 1; i++)
        t->hot_ends[i] = wndl_cursor_u16(c);
    t->dict_size = wndl_cursor_u32(c);
    t->rows_size = wndl_cursor_u32(c);
    t->records_size = wndl_cursor_u32(c);
    t->row_count = wndl_cursor_u32(c);
    t->function_count = wndl_cursor_u32(c);
    t->build_id = wndl_bytes_slice(
        t->bytes, wndl_cursor_offset(c), WNDL_TABLE_BUILD_ID_MAX);
    if (id_size > t->build_id.size)
        wndl_cursor_fail(c);
    t->build_id.size = id_size;
    return size;
}

/* Rule 0 is that of no information; lookups go by it where bytes lie. */
static bool is_sane(const struct wndl_table *t)
{
    if (t->block_shift < WNDL_TABLE_BLOCK_MIN ||
        t->block_shift > WNDL_TABLE_BLOCK_MAX)
        return false;
    const uint64_t span = (uint64_t)t->block_count << t->block_shift;
    return t->record_shift <= WNDL_TABLE_RECORD_SHIFT_MAX &&
           t->rule_count != 0 && t->rule_count <= WNDL_TABLE_RULES_MAX &&
           t->dict_size <= WNDL_TABLE_DICT_MAX && t->dict_size % 2 == 0 &&
           t->base <= UINT64_MAX - span;
}

enum wndl_status wndl_table_open(
    struct wndl_bytes bytes, struct wndl_table *table, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    const uint8_t *magic = wndl_cursor_take(&c, 8);
    *table = (struct wndl_table){.bytes = bytes};
    if (magic == NULL || bytes.size < WNDL_TABLE_HEADER)
        return fail(err, WNDL_TRUNCATED, "is too short for an unwind table");
    if (__builtin_memcmp(magic, WNDL_TABLE_MAGIC, 8) != 0)
        return fail(err, WNDL_MALFORMED, "is not an unwind table");
    table->crc = wndl_cursor_u32(&c);
    if (wndl_cursor_u16(&c) != WNDL_TABLE_VERSION)
        return fail(err, WNDL_UNSUPPORTED,
            "is an unwind table of another version than 2");
    uint32_t size = read_header(&c, table);
    if (size > bytes.size)
        return fail(err, WNDL_TRUNCATED, "is an unwind table cut short");
    if (c.failed || size != bytes.size || !is_sane(table) || !lay_out(table))
        return fail(
            err, WNDL_MALFORMED, "is an unwind table with a damaged header");
    table->buckets = (uint8_t)(1u << (table->block_shift - WNDL_TABLE_BUCKET));
    table->has_bmi2 = cpu_has_bmi2();
    return WNDL_OK;
}

enum wndl_status wndl_table_is_for(const struct wndl_table *table,
    uint16_t machine, struct wndl_bytes build_id, struct wndl_error *err)
{
    if (table->machine != machine)
        return fail(
            err, WNDL_MALFORMED, "is an unwind table for another machine");
    if (!wndl_bytes_equal(table->build_id, build_id))
        return fail(err, WNDL_MALFORMED,
            "is an unwind table for another binary, by its build-id");
    return WNDL_OK;
}

/* ---- bits */

static inline uint16_t load16(const uint8_t *p)
{
    uint16_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t load32(const uint8_t *p)
{
    uint32_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

#define BYTES_OF(x) (UINT64_C(0x0101010101010101) * (x))

/* What a lookup counts with. */
struct bits {
    unsigned (*count)(uint64_t word);
    /* The lower n < 64 bits. */
    uint64_t (*lower)(uint64_t word, unsigned n);
    /* Where the `n`-th set bit is, from 0; 64: there are fewer. */
    unsigned (*select)(uint64_t word, unsigned n);
    /* How many of the `count` <= 15 sorted bytes behind the first of 16 are
     * not above `limit`. */
    unsigned (*not_above)(const uint8_t *bytes, uint32_t count, uint8_t limit);
};

/* The sum of each byte's bits. */
static inline uint64_t byte_sums(uint64_t x)
{
    x -= x >> 1 & BYTES_OF(0x55);
    x = (x & BYTES_OF(0x33)) + (x >> 2 & BYTES_OF(0x33));
    return (x + (x >> 4)) & BYTES_OF(0x0f);
}

static unsigned portable_count(uint64_t word)
{
    return (unsigned)(byte_sums(word) * BYTES_OF(1) >> 56);
}

static uint64_t portable_lower(uint64_t word, unsigned n)
{
    return word & ((UINT64_C(1) << n) - 1);
}

/* In the byte up to which there are more than n: then bit by bit. */
static unsigned portable_select(uint64_t word, unsigned n)
{
    const uint64_t sums = byte_sums(word) * BYTES_OF(1); /* up to each byte */
    const uint64_t not_more =
        (((n | UINT64_C(0x80)) * BYTES_OF(1)) - sums) & BYTES_OF(0x80);
    const unsigned byte = (unsigned)((not_more >> 7) * BYTES_OF(1) >> 56) * 8;
    if (byte == 64)
        return 64;
    unsigned before = byte == 0 ? 0 : (unsigned)(sums >> (byte - 8) & 0xff);
    uint64_t rest = word >> byte;
    for (; before < n; before++)
        rest &= rest - 1;
    return byte + (unsigned)__builtin_ctzll(rest);
}

/* How many of the 8 bytes are not above `limit`. */
static inline uint32_t word_not_above(uint64_t bytes, uint8_t limit)
{
    const uint64_t high = BYTES_OF(0x80);
    const uint64_t y = BYTES_OF((uint64_t)limit);
    const uint64_t z = (y | high) - (bytes & ~high);
    const uint64_t is = ((y & ~bytes) | (~(y ^ bytes) & z)) & high;
    return (uint32_t)((is >> 7) * BYTES_OF(1) >> 56);
}

/* The first `count` of 8 bytes; the others are 255. */
static inline uint64_t first_bytes(const uint8_t *bytes, uint32_t count)
{
    return load64(bytes) | (count < 8 ? ~UINT64_C(0) << 8 * count : 0);
}

static unsigned portable_not_above(
    const uint8_t *bytes, uint32_t count, uint8_t limit)
{
    uint32_t n = word_not_above(first_bytes(bytes + 1, count), limit);
    if (__builtin_expect(count > 8, 0))
        n += word_not_above(first_bytes(bytes + 9, count - 8), limit);
    return n < count ? n : count;
}

static const struct bits portable = {
    portable_count, portable_lower, portable_select, portable_not_above};

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static unsigned bmi2_count(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

__attribute__((target("bmi2"))) static uint64_t bmi2_lower(
    uint64_t word, unsigned n)
{
    return _bzhi_u64(word, n);
}

__attribute__((target("bmi,bmi2"))) static unsigned bmi2_select(
    uint64_t word, unsigned n)
{
    return (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << n, word));
}

__attribute__((target("bmi2,popcnt"))) static unsigned bmi2_not_above(
    const uint8_t *bytes, uint32_t count, uint8_t limit)
{
    const __m128i all = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    const __m128i least = _mm_min_epu8(all, _mm_set1_epi8((char)limit));
    const uint32_t is = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(all, least));
    return (unsigned)__builtin_popcount(_bzhi_u32(is >> 1, count));
}

static const struct bits bmi2 = {
    bmi2_count, bmi2_lower, bmi2_select, bmi2_not_above};
#endif

#define INLINED __attribute__((always_inline)) static inline

/* ---- records */

/*
 * A block's record: how many starts of phrases follow the first, which is at 0;
 * their upper parts in unary, with a 0 for each bucket; their lower bytes; a
 * bit for each phrase, whether its id takes two bytes; the ids.
 */
struct record {
    const uint8_t *unary, *low, *mask;
    uint32_t count;
};

/* Where in a block: the phrase that covers it, and where that starts. */
struct found {
    uint32_t phrase, start;
};

/*
 * How many of the starts are in buckets up to `bucket`: the ones before the
 * zero of that number. *at gets the place of that zero.
 */
INLINED uint32_t starts_up_to(const struct record *r, uint32_t bucket,
    const struct bits *bits, uint32_t *at)
{
    const uint8_t *p = r->unary;
    uint32_t zeros = 0;
    if (__builtin_expect(r->low - p <= 8, 1)) {
        *at = bits->select(~load64(p), bucket);
        return *at - bucket;
    }
    for (uint32_t place = 0; p < r->low; p += 8, place += 64) {
        const uint64_t clear = ~load64(p);
        const uint32_t count = bits->count(clear);
        if (zeros + count > bucket) {
            *at = place + bits->select(clear, bucket - zeros);
            return *at - bucket;
        }
        zeros += count;
    }
    *at = 0; /* a record that lies */
    return 0;
}

static inline bool unary_bit(const uint8_t *unary, uint32_t at)
{
    return (unary[at >> 3] >> (at & 7) & 1) != 0;
}

/* The bucket of the start before `at`. */
static inline uint32_t bucket_of(
    const uint8_t *unary, uint32_t at, uint32_t start)
{
    while (at > start && !unary_bit(unary, at - 1))
        at--;
    return at - start;
}

/* From the k-th start, whose unary part is before `at`, back to the last that
 * is not behind `offset`: bit by bit. */
static __attribute__((noinline)) struct found find_far(const uint8_t *unary,
    const uint8_t *lows, uint32_t offset, uint32_t k, uint32_t at)
{
    const uint8_t low = (uint8_t)offset;
    while (k > 0 && at > 0 && unary_bit(unary, at - 1) && lows[k - 1] > low) {
        k--;
        at--;
    }
    if (k == 0)
        return (struct found){0, 0};
    const uint32_t bucket = bucket_of(unary, at, k);
    return (struct found){k, bucket << WNDL_TABLE_BUCKET | lows[k - 1]};
}

/* The bits before `at`, at least 57 or all, the nearest on top; then zeros. */
static inline uint64_t unary_before(const struct record *r, uint32_t at)
{
    return at <= 64 ? load64(r->unary) << (64 - at)
                    : load64(r->unary + (at >> 3) - 7) << (8 - (at & 7));
}

INLINED struct found find_start(
    const struct record *r, uint32_t offset, const struct bits *bits)
{
    uint32_t at;
    uint32_t k = starts_up_to(r, offset >> WNDL_TABLE_BUCKET, bits, &at);
    if (k == 0 || k > r->count)
        return (struct found){0, 0};
    uint64_t before = unary_before(r, at);
    while ((int64_t)before < 0 && r->low[k - 1] > (uint8_t)offset) {
        k--;
        at--;
        before <<= 1;
        if (k == 0)
            return (struct found){0, 0};
    }
    if (__builtin_expect(before == 0, 0))
        return find_far(r->unary, r->low, offset, k, at);
    const uint32_t one = at - 1 - (uint32_t)__builtin_clzll(before);
    return (struct found){
        k, (one - (k - 1)) << WNDL_TABLE_BUCKET | r->low[k - 1]};
}

/* How many of the phrases before the k-th have ids of two bytes; and whether
 * that has. */
INLINED uint32_t long_ids(
    const struct record *r, uint32_t k, const struct bits *bits, bool *is_long)
{
    const uint8_t *p = r->mask;
    uint32_t count = 0;
    for (; __builtin_expect(k >= 64, 0); k -= 64, p += 8)
        count += bits->count(load64(p));
    const uint64_t word = load64(p);
    *is_long = (word >> k & 1) != 0;
    return count + bits->count(bits->lower(word, k));
}

/* ---- phrases */

/* Rule 0 is known without a look, which may be at a cold line. */
static inline uint32_t rule_of_number(
    const struct wndl_table *t, uint32_t number)
{
    return number != 0 && number < t->rule_count
               ? load32(t->rules + (size_t)number * 4)
               : 0;
}

/* The rule `at` behind the start of the phrase at `place`. Behind the
 * dictionary there are at least as many bytes as a phrase has. */
INLINED uint32_t rule_in_phrase(const struct wndl_table *t, uint32_t place,
    uint32_t at, const struct bits *bits)
{
    if (place >= t->dict_size)
        return 0;
    const uint8_t *phrase = t->dict + place;
    const uint32_t more = phrase[0] & WNDL_TABLE_PHRASE_COUNT;
    const uint32_t row =
        bits->not_above(phrase, more, (uint8_t)(at < 255 ? at : 255));
    const uint32_t code = load16(phrase + 1 + more + (size_t)2 * row);
    if (__builtin_expect(code >= WNDL_TABLE_CODE_NUMBER, 0))
        return rule_of_number(t, code - WNDL_TABLE_CODE_NUMBER);
    return wndl_table_rule_of_code(t->is_a64, code);
}

/* ---- blocks */

/* A block whose phrases have no ids: rows of a start and a rule each. */
static uint32_t find_plain(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    uint32_t low = 0, high = load16(record + 1);
    const uint8_t *rows = record + 3;
    if ((size_t)(t->records_end - record) < 3 + high * WNDL_TABLE_PLAIN_ROW)
        return 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (load16(rows + middle * WNDL_TABLE_PLAIN_ROW) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0
               ? 0
               : rule_of_number(t,
                     load32(rows + (low - 1) * WNDL_TABLE_PLAIN_ROW + 1) >> 8);
}

/* Where the ids are is only known after what lies before them, which is all
 * in the table: it ends with bytes that belong to nothing. */
INLINED uint32_t find_in_record(const struct wndl_table *t,
    const uint8_t *record, uint32_t offset, const struct bits *bits)
{
    const size_t n = record[0], unary = (n + t->buckets + 7) >> 3;
    const uint8_t *low = record + 1 + unary, *mask = low + n;
    const uint8_t *ids = mask + ((n + 8) >> 3);
    const struct record r = {record + 1, low, mask, (uint32_t)n};
    if (ids > t->records_end)
        return 0;
    bool is_long;
    const struct found f = find_start(&r, offset, bits);
    const uint8_t *id = ids + f.phrase + long_ids(&r, f.phrase, bits, &is_long);
    if (id >= t->records_end)
        return 0;
    const uint32_t place =
        is_long ? 2u * load16(id) : wndl_table_hot_place(t->hot_ends, id[0]);
    return rule_in_phrase(t, place, offset - f.start, bits);
}

INLINED uint32_t find_rule(
    const struct wndl_table *t, uint64_t svma, const struct bits *bits)
{
    const uint64_t offset = svma - t->base;
    const uint64_t block = offset >> t->block_shift;
    if (block >= t->block_count)
        return t->is_chrome ? wndl_table_chrome_find(t, svma) : 0;
    const uint32_t line = (uint32_t)block / WNDL_TABLE_LINE_BLOCKS;
    const uint8_t *index = t->index + (size_t)line * WNDL_TABLE_LINE;
    /* 4 bytes for each line up to this one, 2 for each block before. */
    _Static_assert(WNDL_TABLE_LINE == 4 + 2 * WNDL_TABLE_LINE_BLOCKS, "lines");
    const uint32_t entry =
        load16(t->index + 4 * ((size_t)line + 1) + 2 * block);
    if (entry >= WNDL_TABLE_UNIFORM)
        return rule_of_number(t, entry - WNDL_TABLE_UNIFORM);
    const uint64_t place = load32(index) + ((uint64_t)entry << t->record_shift);
    if (place >= t->records_size)
        return 0;
    const uint8_t *record = t->records + place;
    const uint32_t in_block = (uint32_t)offset & ((1u << t->block_shift) - 1);
    if (__builtin_expect(record[0] == WNDL_TABLE_PLAIN, 0))
        return find_plain(t, record, in_block);
    return find_in_record(t, record, in_block, bits);
}

uint32_t wndl_table_find_portable(const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &portable);
}

#if defined(__x86_64__)
__attribute__((target("bmi,bmi2,popcnt"), noinline)) static uint32_t find_bmi2(
    const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &bmi2);
}
#endif

uint32_t wndl_table_find(const struct wndl_table *table, uint64_t svma)
{
#if defined(__x86_64__)
    if (__builtin_expect(table->has_bmi2, 1))
        return find_bmi2(table, svma);
#endif
    return wndl_table_find_portable(table, svma);
}

bool wndl_table_block_is_uniform(const struct wndl_table *table, uint32_t block)
{
    const uint32_t line = block / WNDL_TABLE_LINE_BLOCKS;
    const uint8_t *entry = table->index + (size_t)line * WNDL_TABLE_LINE + 4 +
                           (size_t)(block % WNDL_TABLE_LINE_BLOCKS) * 2;
    return load16(entry) >= WNDL_TABLE_UNIFORM;
}
