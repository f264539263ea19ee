/* SPDX-License-Identifier: MIT */
/*
 * find: looks up the rule of an address. The index leads to the block's record,
 * the record to the phrase that covers the place, and the phrase to the rule.
 */
#include "unwind/table/bits.h"
#include "unwind/table/chrome.h"
#include "unwind/table/table.h"

/* ---- records */

/*
 * A block's record has, in this order: the number of starts of phrases after
 * the first, which is at 0; their upper parts in unary, with a 0 for each
 * bucket; their lower bytes; a bit for each phrase that says whether its id has
 * two bytes; the ids.
 */
struct record {
    const uint8_t *start, *unary, *low, *mask, *ids;
    uint32_t count;
};

/*
 * A place in a block: its phrase, and the distance from that one's start. A
 * distance above 255 may have any value above that.
 */
struct found {
    uint64_t phrase;
    uint32_t after;
};

/*
 * The place of the ids depends on the parts before them. Reading ahead stays in
 * the table, which ends with unused bytes.
 */
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
 * The number of starts in buckets up to some bucket: the number of ones before
 * the zero of that bucket. `before` has the bits before it, at least 56 or all,
 * the nearest on top, then zeros.
 */
struct starts {
    uint64_t before;
    uint32_t up_to;
};

/* False: the zero is not in the first word, where it mostly is. */
INLINED bool starts_in_one(const struct record *r, uint32_t bucket,
    const struct bits *bits, struct starts *s)
{
    const uint64_t first = wndl_load_u64(r->unary);
    const uint32_t at = bits->select(~first, bucket);
    s->before = first << (~at & 63) << 1;
    s->up_to = at - bucket;
    return at < 64;
}

/*
 * False: the zero is not in the first two words. Choosing between them takes no
 * branch.
 */
INLINED bool starts_in_two(const struct record *r, uint32_t bucket,
    const struct bits *bits, struct starts *s)
{
    const uint64_t first = wndl_load_u64(r->unary);
    const uint32_t zeros = bits->count(~first);
    const uint64_t is_second = 0u - (uint64_t)(bucket >= zeros);
    const uint64_t word =
        first ^ ((first ^ wndl_load_u64(r->unary + 8)) & is_second);
    const uint32_t at =
        bits->select(~word, bucket - (zeros & (uint32_t)is_second));
    const uint64_t from = is_second & (1 + (at >> 3)); /* bytes */
    s->before = wndl_load_u64(r->unary + from)
                << (~at & (63 - (56 & is_second))) << 1;
    s->up_to = (64 & (uint32_t)is_second) + at - bucket;
    return at < 64 && s->up_to <= r->count;
}

/*
 * Finds the last start up to `offset`. It counts back from the last start of
 * offset's bucket over those above `offset`: as long as there are ones before
 * the bucket's zero, and low bytes are larger. Unpredictable choices are not
 * branches here. Bytes of the table before a record, and 64 bytes after all
 * records, may be read. False: there are 8 or more.
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
    /* A 0 for each bucket from the start's to offset's. If there are many,
     * fewer bits are available, and before the first there is no 1: that is far
     * enough. */
    const uint32_t buckets = bits->zeros(s.before << (back & 63));
    const uint32_t after =
        (buckets << WNDL_TABLE_BUCKET) + low - (r->low + k)[-1];
    f->phrase = k;
    f->after = after < offset ? after : offset;
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

/*
 * Goes back from the k-th start, whose unary part is before `at`, to the last
 * that is not after `offset`.
 */
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

/* For any record: searches its words for the zero. */
static struct found find_start_slowly(const struct record *r, uint32_t offset)
{
    const uint32_t all = (uint32_t)(r->low - r->unary) * 8;
    uint32_t bucket = offset >> WNDL_TABLE_BUCKET;
    for (uint32_t at = 0; at < all; at += 64) {
        const uint64_t zeros = ~wndl_load_u64(r->unary + (at >> 3));
        const uint32_t in_word = portable_select(zeros, bucket);
        if (in_word < 64) {
            const uint32_t k = at + in_word - (offset >> WNDL_TABLE_BUCKET);
            if (at + in_word >= all || k > r->count)
                break;
            return go_back(r, offset, k, at + in_word);
        }
        bucket -= portable_count(zeros);
    }
    return (struct found){0, offset}; /* a malformed record */
}

/*
 * The number of ids of two bytes before that of the k-th phrase, k < 64.
 * *is_long receives all ones if the k-th has one, else 0.
 */
INLINED uint32_t long_ids(
    uint64_t mask, uint64_t k, const struct bits *bits, uint32_t *is_long)
{
    const uint64_t up_to = mask << (~k & 63); /* the k-th bit is the top bit */
    *is_long = (uint32_t)((int64_t)up_to >> 63);
    return bits->count(up_to << 1);
}

/* ---- phrases */

/* Rule 0 is known without reading a line that may be cold. */
static inline uint32_t rule_of_number(
    const struct wndl_table *t, uint32_t number)
{
    return number != 0 && number < t->rule_count
               ? wndl_load_u32(t->rules + (size_t)number * 4)
               : 0;
}

INLINED uint32_t rule_of(
    const struct wndl_table *t, uint32_t code, const struct bits *bits)
{
    if (__builtin_expect(code >= WNDL_TABLE_CODE_NUMBER, 0))
        return rule_of_number(t, code - WNDL_TABLE_CODE_NUMBER);
    return bits->rule_of_code(false, code);
}

/*
 * Many of AArch64's rules are numbers, nearly at random: no branch. Rules are
 * after the dictionary; if there is no number, the phrase is read again.
 */
INLINED uint32_t a64_rule(const struct wndl_table *t, uint32_t phrase,
    uint32_t code, const struct bits *bits)
{
    const uint32_t number = code - WNDL_TABLE_CODE_NUMBER;
    const uint32_t is_number = 0u - (number - 1 < t->rule_count - 1);
    const uint32_t is_code = 0u - (code < WNDL_TABLE_CODE_NUMBER);
    const uint32_t at = either(is_number, t->dict_size + 4 * number, phrase);
    return (wndl_load_u32(t->dict + at) & is_number) |
           (bits->rule_of_code(true, code) & is_code);
}

/*
 * The rule `at` bytes after the start of the phrase at `place`. After the
 * dictionary there are at least as many bytes as a phrase has.
 */
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
    const uint32_t code = wndl_load_u16(phrase + 1 + more + 2 * row);
    return t->is_a64 ? a64_rule(t, place, code, bits) : rule_of(t, code, bits);
}

/* The same for the phrase with that id. */
INLINED uint32_t rule_of_id(const struct wndl_table *t, const uint8_t *id,
    uint32_t is_long, uint32_t at, const struct bits *bits)
{
    if (id >= t->records_end)
        return 0;
    const uint32_t hot = wndl_table_hot_place(t->hot_less, id[0]);
    const uint32_t place = either(is_long, 2u * wndl_load_u16(id), hot);
    return rule_in_phrase(t, place, at, bits);
}

/* ---- blocks */

/* Looks up a block whose phrases have no ids: rows of a start and a rule. */
static __attribute__((noinline)) uint32_t find_plain(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    uint32_t low = 0, high = wndl_load_u16(record + 1);
    const uint8_t *rows = record + 3;
    if ((size_t)(t->records_end - record) < 3 + high * WNDL_TABLE_PLAIN_ROW)
        return 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (wndl_load_u16(rows + middle * WNDL_TABLE_PLAIN_ROW) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0
                    : rule_of_number(
                          t, wndl_load_u32(
                                 rows + (low - 1) * WNDL_TABLE_PLAIN_ROW + 1) >>
                                 8);
}

/* Before its id there are `longs` ids of two bytes; the others have one. */
INLINED uint32_t rule_at(const struct wndl_table *t, const struct record *r,
    struct found f, const struct bits *bits)
{
    uint32_t longs = 0, is_long;
    const uint8_t *mask = r->mask;
    uint64_t k = f.phrase;
    for (; k >= 64; k -= 64, mask += 8)
        longs += bits->count(wndl_load_u64(mask));
    longs += long_ids(wndl_load_u64(mask), k, bits, &is_long);
    return rule_of_id(t, r->ids + f.phrase + longs, is_long, f.after, bits);
}

/* The rare cases, in a function of their own, so that others pay nothing. */
static __attribute__((noinline)) uint32_t find_slowly(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    struct record r;
    if (!read_record(t, record, &r))
        return 0;
    return rule_at(t, &r, find_start_slowly(&r, offset), &portable_bits);
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
    /*
     * Computed now, so that neither its inputs nor bytes of the table stay in
     * registers: there are just enough registers that callers need not save.
     */
    __asm__("" : "+r"(f.after), "+r"(t));
    const uint32_t longs =
        long_ids(wndl_load_u64(r->mask), f.phrase, bits, &is_long);
    return rule_of_id(t, r->ids + f.phrase + longs, is_long, f.after, bits);
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

/* find_in_two() with given kernels, out of line. */
typedef uint32_t in_two_fn(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset);

/* With many buckets, a good part of the zeros is in the second word. */
INLINED uint32_t find_in_record(const struct wndl_table *t,
    const uint8_t *record, uint32_t offset, const struct bits *bits,
    in_two_fn *in_two)
{
    enum { MANY = 64 };
    struct record r;
    struct starts s;
    if (__builtin_expect(t->buckets >= MANY, 0))
        return in_two(t, record, offset);
    if (!read_record(t, record, &r))
        return 0;
    if (__builtin_expect(
            !starts_in_one(&r, offset >> WNDL_TABLE_BUCKET, bits, &s), 0))
        return in_two(t, record, offset);
    return find_by_starts(t, &r, offset, s, bits);
}

static __attribute__((noinline)) uint32_t find_outside(
    const struct wndl_table *t, uint64_t svma)
{
    return t->is_chrome ? wndl_table_chrome_find(t, svma) : 0;
}

INLINED uint32_t find_rule(const struct wndl_table *t, uint64_t svma,
    const struct bits *bits, in_two_fn *in_two)
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
        wndl_load_u16(t->index + 4 * ((size_t)line + 1) + 2 * block);
    if (entry >= WNDL_TABLE_UNIFORM)
        return rule_of_number(t, entry - WNDL_TABLE_UNIFORM);
    const uint64_t place =
        wndl_load_u32(index) + ((uint64_t)entry << t->record_shift);
    const uint8_t *record = t->records + place;
    if (record >= t->records_end)
        return 0;
    const uint32_t in_block = (uint32_t)offset & t->in_block;
    if (__builtin_expect(record[0] == WNDL_TABLE_PLAIN, 0))
        return find_plain(t, record, in_block);
    return find_in_record(t, record, in_block, bits, in_two);
}

/* ---- for each processor */

static __attribute__((noinline)) uint32_t portable_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    return find_in_two(t, record, offset, &portable_bits);
}

static __attribute__((noinline)) uint32_t find_portable(
    const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &portable_bits, portable_in_two);
}

#if defined(__x86_64__)
#define POPCNT __attribute__((target("popcnt"), noinline)) static
#define BMI2 __attribute__((target("bmi,bmi2,lzcnt,popcnt"), noinline)) static

POPCNT uint32_t popcnt_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    return find_in_two(t, record, offset, &popcnt_bits);
}

POPCNT uint32_t find_popcnt(const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &popcnt_bits, popcnt_in_two);
}

BMI2 uint32_t bmi2_in_two(
    const struct wndl_table *t, const uint8_t *record, uint32_t offset)
{
    return find_in_two(t, record, offset, &bmi2_bits);
}

BMI2 uint32_t find_bmi2(const struct wndl_table *table, uint64_t svma)
{
    return find_rule(table, svma, &bmi2_bits, bmi2_in_two);
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
    return wndl_load_u16(entry) >= WNDL_TABLE_UNIFORM;
}
