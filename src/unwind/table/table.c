/* SPDX-License-Identifier: MIT */
#include "unwind/table/table.h"

#include "unwind/table/chrome.h"

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

#if defined(__x86_64__)
/* AMD's processors before Zen 3 have it in microcode, which takes some hundred
 * cycles. */
static bool has_fast_pdep(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b >> 3 & 1) == 0 ||
        (b >> 8 & 1) == 0 || __get_cpuid(0x80000001, &a, &b, &c, &d) == 0 ||
        (c & bit_LZCNT) == 0 || __get_cpuid(0, &a, &b, &c, &d) == 0)
        return false;
    const bool is_intel = b == signature_INTEL_ebx;
    const unsigned family = __get_cpuid(1, &a, &b, &c, &d) == 0 ? 0 : a >> 8;
    return is_intel || (family & 0xf) != 0xf || (family >> 12 & 0xff) >= 10;
}

static enum wndl_table_cpu this_cpu(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 23 & 1) == 0)
        return WNDL_TABLE_ANY_CPU;
    return has_fast_pdep() ? WNDL_TABLE_PDEP : WNDL_TABLE_POPCNT;
}
#else
static enum wndl_table_cpu this_cpu(void)
{
    return WNDL_TABLE_ANY_CPU;
}
#endif

static size_t index_size(uint32_t blocks)
{
    return ((size_t)blocks + WNDL_TABLE_LINE_BLOCKS - 1) /
           WNDL_TABLE_LINE_BLOCKS * WNDL_TABLE_LINE;
}

/* Everything lies behind the header without gaps, so that its sizes say where
 * it is, and how large the file is. */
static uint64_t size_of_all(const struct wndl_table *t)
{
    return WNDL_TABLE_HEADER + (uint64_t)index_size(t->block_count) +
           t->dict_size + (uint64_t)t->rule_count * sizeof(uint32_t) +
           t->rows_size + t->records_size + WNDL_TABLE_TAIL;
}

static void lay_out(struct wndl_table *t)
{
    t->index = t->bytes.data + WNDL_TABLE_HEADER;
    t->dict = t->index + index_size(t->block_count);
    t->rules = t->dict + t->dict_size;
    t->rows = t->rules + (size_t)t->rule_count * sizeof(uint32_t);
    t->records = t->rows + t->rows_size;
    t->records_end = t->records + t->records_size;
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
    t->hot_less[0] = wndl_cursor_u16(c);
    for (unsigned i = 1; i < WNDL_TABLE_HOT_CLASSES - 1; i++)
        t->hot_less[i] = t->hot_less[i - 1] + wndl_cursor_u16(c);
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

enum wndl_status wndl_table_open_head(struct wndl_bytes head,
    uint64_t file_size, struct wndl_table *table, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(head, 0, false);
    const uint8_t *magic = wndl_cursor_take(&c, 8);
    *table = (struct wndl_table){.bytes = head};
    if (magic == NULL || head.size < WNDL_TABLE_HEADER)
        return fail(err, WNDL_TRUNCATED, "is too short for an unwind table");
    if (__builtin_memcmp(magic, WNDL_TABLE_MAGIC, 8) != 0)
        return fail(err, WNDL_MALFORMED, "is not an unwind table");
    table->crc = wndl_cursor_u32(&c);
    if (wndl_cursor_u16(&c) != WNDL_TABLE_VERSION)
        return fail(err, WNDL_UNSUPPORTED,
            "is an unwind table of another version than 2");
    uint32_t size = read_header(&c, table);
    if (size > file_size)
        return fail(err, WNDL_TRUNCATED, "is an unwind table cut short");
    if (c.failed || size != file_size || !is_sane(table) ||
        size_of_all(table) != size)
        return fail(
            err, WNDL_MALFORMED, "is an unwind table with a damaged header");
    return WNDL_OK;
}

enum wndl_status wndl_table_open(
    struct wndl_bytes bytes, struct wndl_table *table, struct wndl_error *err)
{
    enum wndl_status status =
        wndl_table_open_head(bytes, bytes.size, table, err);
    if (status != WNDL_OK)
        return status;
    lay_out(table);
    table->in_block = (1u << table->block_shift) - 1;
    table->buckets = (uint8_t)(1u << (table->block_shift - WNDL_TABLE_BUCKET));
    table->cpu = this_cpu();
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

#define INLINED __attribute__((always_inline)) static inline

/* What a lookup counts with. */
struct bits {
    unsigned (*count)(uint64_t word);
    /* Where the `n`-th set bit is, from 0; 64: there are fewer. */
    unsigned (*select)(uint64_t word, unsigned n);
    /* How many bits on top are 0; of 0 some 63. */
    unsigned (*zeros)(uint64_t word);
    uint32_t (*rule_of_code)(bool is_a64, uint32_t code);
    /* find_in_two() by these, out of line. */
    uint32_t (*find_in_two)(
        const struct wndl_table *t, const uint8_t *record, uint32_t offset);
};

/* The bits of each half of a byte, and then those of each byte. */
static inline uint64_t half_sums(uint64_t x)
{
    x -= x >> 1 & BYTES_OF(0x55);
    return (x & BYTES_OF(0x33)) + (x >> 2 & BYTES_OF(0x33));
}

static inline uint64_t byte_sums(uint64_t halves)
{
    return (halves + (halves >> 4)) & BYTES_OF(0x0f);
}

static unsigned portable_count(uint64_t word)
{
    return (unsigned)(byte_sums(half_sums(word)) * BYTES_OF(1) >> 56);
}

/* The bit at which the first of 8 bytes that is above n begins, 64: none is.
 * The bytes, like n, are below 128, and each is not below the one before. */
static inline unsigned first_above(uint64_t bytes, unsigned n)
{
    const uint64_t above =
        ~((n | UINT64_C(0x80)) * BYTES_OF(1) - bytes) & BYTES_OF(0x80);
    return above == 0 ? 64 : (unsigned)__builtin_ctzll(above) & ~7u;
}

/* Where the n-th set bit of 4 is: 2 bits for each value of the 4 and each n.
 * The first word is of the n 0 and 1, the second of 2 and 3. */
static inline unsigned select_of_4(uint64_t four, unsigned n)
{
    const uint64_t first = UINT64_C(0x498e4dc349824100);
    const uint64_t second = UINT64_C(0xe330300020000000);
    const uint64_t is_second = 0u - (uint64_t)(n >> 1);
    const uint64_t places = first ^ ((first ^ second) & is_second);
    return (unsigned)(places >> (four << 2 | (n & 1) << 1)) & 3;
}

/* The byte up to which there are more than n; the half of it; the bit. */
INLINED unsigned portable_select(uint64_t word, unsigned n)
{
    const uint64_t halves = half_sums(word);
    const uint64_t sums = byte_sums(halves) * BYTES_OF(1); /* up to each */
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

static unsigned portable_zeros(uint64_t word)
{
    return (unsigned)__builtin_clzll(word | 1);
}

static uint32_t portable_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset);

static const struct bits portable = {portable_count, portable_select,
    portable_zeros, wndl_table_rule_of_code, portable_in_two};

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static unsigned popcnt_count(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

__attribute__((target("bmi,bmi2"))) static unsigned bmi2_select(
    uint64_t word, unsigned n)
{
    return (unsigned)_tzcnt_u64(_pdep_u64(UINT64_C(1) << n, word));
}

__attribute__((target("lzcnt"))) static unsigned bmi2_zeros(uint64_t word)
{
    return (unsigned)_lzcnt_u64(word);
}

/* The code's bits to where wndl_table_rule_of_code() has them. */
__attribute__((target("bmi2"))) static uint32_t bmi2_rule_of_code(
    bool is_a64, uint32_t code)
{
    return _pdep_u32(code, is_a64 ? 0x103fc3f : 0x10f03ff) +
           ((uint32_t)WNDL_TABLE_SP << 24);
}

static uint32_t popcnt_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset);
static uint32_t bmi2_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset);

static const struct bits popcnt = {popcnt_count, portable_select,
    portable_zeros, wndl_table_rule_of_code, popcnt_in_two};
static const struct bits bmi2 = {
    popcnt_count, bmi2_select, bmi2_zeros, bmi2_rule_of_code, bmi2_in_two};
#endif

/*
 * not_above_8: of each of 8 bytes a bit, whether it is not above `limit`; above
 * those bits anything. not_above_16: the same of 16, with 255 for a larger
 * limit; *first gets the first 8 of them, which are not read twice.
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
    return word_not_above(load64(bytes), limit);
}

static inline uint32_t not_above_16(
    const uint8_t *bytes, uint32_t limit, uint64_t *first)
{
    const uint8_t low = (uint8_t)(limit < 255 ? limit : 255);
    *first = load64(bytes);
    return word_not_above(*first, low) | not_above_8(bytes + 8, low) << 8;
}
#endif

/* `a` where the mask is all ones, `b` where it is 0: compilers make no branch
 * of it, as they do of conditions that are as good as random. */
static inline uint32_t either(uint32_t mask, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & mask);
}

/* ---- records */

/*
 * A block's record: how many starts of phrases follow the first, which is at 0;
 * their upper parts in unary, with a 0 for each bucket; their lower bytes; a
 * bit for each phrase, whether its id takes two bytes; the ids.
 */
struct record {
    const uint8_t *start, *unary, *low, *mask, *ids;
    uint32_t count;
};

/* What covers a place in a block: the phrase, and how far behind its start the
 * place is; what is farther than 255 may be anything above. */
struct found {
    uint64_t phrase;
    uint32_t behind;
};

/* Where the ids are is only known after what lies before them, which is all
 * in the table: it ends with bytes that belong to nothing. */
INLINED bool read_record(
    const struct wndl_table *t, const uint8_t *record, struct record *r)
{
    const size_t n = record[0];
    r->start = record;
    r->count = (uint32_t)n;
    r->unary = record + 1;
    r->low = r->unary + ((n + t->buckets + 7) >> 3);
    r->mask = r->low + n;
    r->ids = r->mask + ((n + 8) >> 3);
    return r->ids <= t->records_end;
}

/*
 * How many of the starts are in buckets up to some bucket: the ones before the
 * zero of that number. `before` are the bits before it, at least 56 or all, the
 * nearest on top, then zeros.
 */
struct starts {
    uint64_t before;
    uint32_t up_to;
};

/* False: the zero is not in the first word, where it mostly is. */
INLINED bool starts_in_one(const struct record *r, uint32_t bucket,
    const struct bits *bits, struct starts *s)
{
    const uint64_t first = load64(r->unary);
    const uint32_t at = bits->select(~first, bucket);
    s->before = first << (~at & 63) << 1;
    s->up_to = at - bucket;
    return at < 64;
}

/* False: it is not in the first two. In which of them it is, is no branch. */
INLINED bool starts_in_two(const struct record *r, uint32_t bucket,
    const struct bits *bits, struct starts *s)
{
    const uint64_t first = load64(r->unary);
    const uint32_t zeros = bits->count(~first);
    const uint64_t is_second = 0u - (uint64_t)(bucket >= zeros);
    const uint64_t word = first ^ ((first ^ load64(r->unary + 8)) & is_second);
    const uint32_t at =
        bits->select(~word, bucket - (zeros & (uint32_t)is_second));
    const uint64_t from = is_second & (1 + (at >> 3)); /* bytes */
    s->before = load64(r->unary + from) << (~at & (63 - (56 & is_second))) << 1;
    s->up_to = (64 & (uint32_t)is_second) + at - bucket;
    return at < 64 && s->up_to <= r->count;
}

/*
 * The starts in offset's bucket that are behind it are the last of those up to
 * its bucket: so many of the ones before the zero, and of the low bytes before
 * the next bucket's. What may go either way is no branch here, which would be
 * guessed wrong. Before a record there are bytes of the table, and behind all
 * records 64 more, that may be read. False: there are 8 or more.
 */
INLINED bool find_start(const struct record *r, uint32_t offset,
    struct starts s, const struct bits *bits, struct found *f)
{
    enum { MOST = 8 };
    const uint8_t low = (uint8_t)offset;
    const uint64_t stay =
        ~s.before | (uint64_t)not_above_8(r->low + s.up_to - MOST, low) << 56 |
        UINT64_C(1) << (63 - MOST);
    const uint32_t back = bits->zeros(stay);
    const uint64_t k = s.up_to - back;
    /* A 0 for each bucket from the start's to offset's. Of many there are
     * fewer bits, and before the first there is no 1: that is far enough. */
    const uint32_t buckets = bits->zeros(s.before << (back & 63));
    const uint32_t behind =
        (buckets << WNDL_TABLE_BUCKET) + low - (r->low + k)[-1];
    f->phrase = k;
    f->behind = behind < offset ? behind : offset;
    return back != MOST;
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
 * is not behind `offset`. */
static struct found go_back(
    const struct record *r, uint32_t offset, uint32_t k, uint32_t at)
{
    const uint8_t low = (uint8_t)offset;
    while (
        k > 0 && at > 0 && unary_bit(r->unary, at - 1) && r->low[k - 1] > low) {
        k--;
        at--;
    }
    if (k == 0)
        return (struct found){0, offset};
    const uint32_t bucket = bucket_of(r->unary, at, k);
    return (struct found){
        k, offset - (bucket << WNDL_TABLE_BUCKET | r->low[k - 1])};
}

/* Of any record: of its words the one that the zero is in. */
static struct found find_start_slowly(const struct record *r, uint32_t offset)
{
    const uint32_t all = (uint32_t)(r->low - r->unary) * 8;
    uint32_t bucket = offset >> WNDL_TABLE_BUCKET;
    for (uint32_t at = 0; at < all; at += 64) {
        const uint64_t zeros = ~load64(r->unary + (at >> 3));
        const uint32_t in_word = portable_select(zeros, bucket);
        if (in_word < 64) {
            const uint32_t k = at + in_word - (offset >> WNDL_TABLE_BUCKET);
            if (at + in_word >= all || k > r->count)
                break;
            return go_back(r, offset, k, at + in_word);
        }
        bucket -= portable_count(zeros);
    }
    return (struct found){0, offset}; /* a record that lies */
}

/* How many of the phrases before the k-th have ids of two bytes, k < 64;
 * *is_long gets all ones when that has, or 0. */
INLINED uint32_t long_ids(
    uint64_t mask, uint64_t k, const struct bits *bits, uint32_t *is_long)
{
    const uint64_t up_to = mask << (~k & 63); /* the k-th on top */
    *is_long = (uint32_t)((int64_t)up_to >> 63);
    return bits->count(up_to << 1);
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

INLINED uint32_t rule_of(
    const struct wndl_table *t, uint32_t code, const struct bits *bits)
{
    if (__builtin_expect(code >= WNDL_TABLE_CODE_NUMBER, 0))
        return rule_of_number(t, code - WNDL_TABLE_CODE_NUMBER);
    return bits->rule_of_code(false, code);
}

/* Of AArch64's many are numbers, as good as at random: no branch. Rules lie
 * behind the dictionary; where there is no number, the phrase is read again. */
INLINED uint32_t a64_rule(const struct wndl_table *t, uint32_t phrase,
    uint32_t code, const struct bits *bits)
{
    const uint32_t number = code - WNDL_TABLE_CODE_NUMBER;
    const uint32_t is_number = 0u - (number - 1 < t->rule_count - 1);
    const uint32_t told = 0u - (code < WNDL_TABLE_CODE_NUMBER);
    const uint32_t at = either(is_number, t->dict_size + 4 * number, phrase);
    return (load32(t->dict + at) & is_number) |
           (bits->rule_of_code(true, code) & told);
}

/* The rule `at` behind the start of the phrase at `place`. Behind the
 * dictionary there are at least as many bytes as a phrase has. */
INLINED uint32_t rule_in_phrase(const struct wndl_table *t, uint32_t place,
    uint32_t at, const struct bits *bits)
{
    if (place >= t->dict_size)
        return 0;
    const uint8_t *phrase = t->dict + place;
    uint64_t first;
    const uint64_t starts = not_above_16(phrase, at, &first) >> 1;
    const uint64_t more = first & WNDL_TABLE_PHRASE_COUNT;
    const uint64_t row =
        (uint64_t)__builtin_ctzll(~starts | UINT64_C(1) << more);
    const uint32_t code = load16(phrase + 1 + more + 2 * row);
    return t->is_a64 ? a64_rule(t, place, code, bits) : rule_of(t, code, bits);
}

/* The same, of the phrase whose id that is. */
INLINED uint32_t rule_of_id(const struct wndl_table *t, const uint8_t *id,
    uint32_t is_long, uint32_t at, const struct bits *bits)
{
    if (id >= t->records_end)
        return 0;
    const uint32_t hot = wndl_table_hot_place(t->hot_less, id[0]);
    const uint32_t place = either(is_long, 2u * load16(id), hot);
    return rule_in_phrase(t, place, at, bits);
}

/* ---- blocks */

/* A block whose phrases have no ids: rows of a start and a rule each. */
static __attribute__((noinline)) uint32_t find_plain(
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

/* Before its id are `longs` of two bytes, and the others of one. */
INLINED uint32_t rule_at(const struct wndl_table *t, const struct record *r,
    struct found f, const struct bits *bits)
{
    uint32_t longs = 0, is_long;
    const uint8_t *mask = r->mask;
    uint64_t k = f.phrase;
    for (; k >= 64; k -= 64, mask += 8)
        longs += bits->count(load64(mask));
    longs += long_ids(load64(mask), k, bits, &is_long);
    return rule_of_id(t, r->ids + f.phrase + longs, is_long, f.behind, bits);
}

/* What few records need, apart, so that the others keep nothing for it. */
static __attribute__((noinline)) uint32_t find_slowly(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    struct record r;
    if (!read_record(t, record, &r))
        return 0;
    return rule_at(t, &r, find_start_slowly(&r, offset), &portable);
}

INLINED uint32_t find_by_starts(const struct wndl_table *t,
    const struct record *r, uint32_t offset, struct starts s,
    const struct bits *bits)
{
    struct found f;
    uint32_t is_long;
    if (__builtin_expect(
            !find_start(r, offset, s, bits, &f) || f.phrase >= 64, 0))
        return find_slowly(t, r->start, offset);
    /* Now, so that what it is made of is not kept, nor what was read of the
     * table: there are just enough registers that callers need not save. */
    __asm__("" : "+r"(f.behind), "+r"(t));
    const uint32_t longs = long_ids(load64(r->mask), f.phrase, bits, &is_long);
    return rule_of_id(t, r->ids + f.phrase + longs, is_long, f.behind, bits);
}

INLINED uint32_t find_in_two(const struct wndl_table *t, const uint8_t *record,
    uint32_t offset, const struct bits *bits)
{
    struct record r;
    struct starts s;
    if (!read_record(t, record, &r))
        return 0;
    if (!starts_in_two(&r, offset >> WNDL_TABLE_BUCKET, bits, &s))
        return find_slowly(t, record, offset);
    return find_by_starts(t, &r, offset, s, bits);
}

/* Of many buckets' zeros a good part is in the second word. */
INLINED uint32_t find_in_record(const struct wndl_table *t,
    const uint8_t *record, uint32_t offset, const struct bits *bits)
{
    enum { MANY = 64 };
    struct record r;
    struct starts s;
    if (__builtin_expect(t->buckets >= MANY, 0))
        return bits->find_in_two(t, record, offset);
    if (!read_record(t, record, &r))
        return 0;
    if (__builtin_expect(
            !starts_in_one(&r, offset >> WNDL_TABLE_BUCKET, bits, &s), 0))
        return bits->find_in_two(t, record, offset);
    return find_by_starts(t, &r, offset, s, bits);
}

static __attribute__((noinline)) uint32_t find_outside(
    const struct wndl_table *t, uint64_t svma)
{
    return t->is_chrome ? wndl_table_chrome_find(t, svma) : 0;
}

INLINED uint32_t find_rule(
    const struct wndl_table *t, uint64_t svma, const struct bits *bits)
{
    const uint64_t offset = svma - t->base;
    const uint64_t block = offset >> t->block_shift;
    if (block >= t->block_count)
        return find_outside(t, svma);
    const uint32_t line = (uint32_t)block / WNDL_TABLE_LINE_BLOCKS;
    const uint8_t *index = t->index + (size_t)line * WNDL_TABLE_LINE;
    /* 4 bytes for each line up to this one, 2 for each block before. */
    _Static_assert(WNDL_TABLE_LINE == 4 + 2 * WNDL_TABLE_LINE_BLOCKS, "lines");
    const uint32_t entry =
        load16(t->index + 4 * ((size_t)line + 1) + 2 * block);
    if (entry >= WNDL_TABLE_UNIFORM)
        return rule_of_number(t, entry - WNDL_TABLE_UNIFORM);
    const uint64_t place = load32(index) + ((uint64_t)entry << t->record_shift);
    const uint8_t *record = t->records + place;
    if (record >= t->records_end)
        return 0;
    const uint32_t in_block = (uint32_t)offset & t->in_block;
    if (__builtin_expect(record[0] == WNDL_TABLE_PLAIN, 0))
        return find_plain(t, record, in_block);
    return find_in_record(t, record, in_block, bits);
}

/* ---- for each processor */

static __attribute__((noinline)) uint32_t portable_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    return find_in_two(t, record, offset, &portable);
}

static __attribute__((noinline)) uint32_t find_portable(
    const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &portable);
}

#if defined(__x86_64__)
#define POPCNT __attribute__((target("popcnt"), noinline)) static
#define BMI2 __attribute__((target("bmi,bmi2,lzcnt,popcnt"), noinline)) static

POPCNT uint32_t popcnt_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    return find_in_two(t, record, offset, &popcnt);
}

POPCNT uint32_t find_popcnt(const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &popcnt);
}

BMI2 uint32_t bmi2_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    return find_in_two(t, record, offset, &bmi2);
}

BMI2 uint32_t find_bmi2(const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &bmi2);
}
#endif

uint32_t wndl_table_find_by(
    const struct wndl_table *table, uint64_t svma, enum wndl_table_cpu cpu)
{
#if defined(__x86_64__)
    if (__builtin_expect(cpu == WNDL_TABLE_PDEP, 1))
        return find_bmi2(table, svma);
    if (cpu == WNDL_TABLE_POPCNT)
        return find_popcnt(table, svma);
#endif
    (void)cpu;
    return find_portable(table, svma);
}

uint32_t wndl_table_find(const struct wndl_table *table, uint64_t svma)
{
    return wndl_table_find_by(table, svma, table->cpu);
}

bool wndl_table_block_is_uniform(const struct wndl_table *table, uint32_t block)
{
    const uint32_t line = block / WNDL_TABLE_LINE_BLOCKS;
    const uint8_t *entry = table->index + (size_t)line * WNDL_TABLE_LINE + 4 +
                           (size_t)(block % WNDL_TABLE_LINE_BLOCKS) * 2;
    return load16(entry) >= WNDL_TABLE_UNIFORM;
}
