/* SPDX-License-Identifier: MIT */
#include "unwind_tables/table/layout.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limits of blocks. A block is the largest that has about ROWS_PER_BLOCK rows
 * and a record of RECORD_SIZE bytes. Large blocks of few rows would cost a
 * lookup one more cache line, so the largest size is only for code with hardly
 * any rows: their 64 stretches alone fill the word in which lookups count.
 */
enum { ROWS_PER_BLOCK = 96, ROWS_PER_LARGEST = 8, RECORD_SIZE = 96 };

/* Hot phrases are padded to units. */
enum {
    DICT_MAX = WNDL_TABLE_DICT_MAX - WNDL_TABLE_HOT * (WNDL_TABLE_HOT_UNIT - 1)
};

/* All rows, also cut at starts of blocks, as records need them. */
struct text {
    struct wndl_phrase_text phrases;
    uint32_t *starts; /* bytes from the start of its block */
    uint32_t *rules;  /* numbers, the most frequent first */
    uint16_t *codes;  /* of the rules; WNDL_PHRASE_NO_RULE: none */
    uint8_t *lengths;
    uint32_t *blocks;
};

struct laying {
    struct wndl_table_layout *out;
    const struct wndl_table_rows *rows;
    struct wndl_arena *arena;
    struct text text;
    struct wndl_phrases found;
    uint32_t *places; /* of phrases in the dictionary, in units of 2 */
    uint32_t *names;  /* of phrases; NO_NAME: not hot */
    bool is_a64;
};

enum { NO_PLACE = UINT32_MAX, NO_NAME = UINT32_MAX };

static bool add_bytes(struct wndl_vec *bytes, const void *data, size_t size)
{
    if (size == 0)
        return true;
    if (!wndl_vec_reserve(bytes, size))
        return false;
    memcpy((uint8_t *)bytes->data + bytes->len, data, size);
    bytes->len += size;
    return true;
}

static void put_number(uint8_t **to, uint32_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        *(*to)++ = (uint8_t)(value >> 8 * i);
}

/* ---- rules by how often they occur */

struct ranked {
    uint32_t index, count;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* A phrase's code for the rule of a number. */
static uint16_t code_of(const struct laying *l, uint32_t number)
{
    uint32_t code;
    if (wndl_table_code_of_rule(
            l->is_a64, *(uint32_t *)wndl_vec_at(&l->out->rules, number), &code))
        return (uint16_t)code;
    code = number + WNDL_TABLE_CODE_NUMBER;
    return code < WNDL_PHRASE_NO_RULE ? (uint16_t)code : WNDL_PHRASE_NO_RULE;
}

/*
 * Ranks the rules' numbers by use; the number of "no information" stays 0. NULL
 * when memory is out.
 */
static uint32_t *rank_rules(struct laying *l)
{
    const size_t n = l->rows->rules.len;
    const uint32_t *counts = l->rows->counts.data, *rules = l->rows->rules.data;
    struct ranked *order = wndl_arena_calloc(l->arena, n, sizeof *order);
    uint32_t *number = wndl_arena_calloc(l->arena, n, sizeof *number);
    wndl_vec_init(&l->out->rules, l->arena, sizeof(uint32_t));
    if (order == NULL || number == NULL || !wndl_vec_reserve(&l->out->rules, n))
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct ranked){i, counts[i]};
    qsort(order + 1, n - 1, sizeof *order, compare_ranked);
    for (uint32_t i = 0; i < n; i++) {
        number[order[i].index] = i;
        *(uint32_t *)wndl_vec_push(&l->out->rules) = rules[order[i].index];
    }
    return number;
}

/* ---- blocks */

static unsigned choose_shift(const struct wndl_table_rows *rows)
{
    const struct wndl_table_run *runs = rows->runs.data;
    const uint64_t n = rows->runs.len;
    const uint64_t span = n == 0 ? 0 : runs[n - 1].start;
    unsigned shift = WNDL_TABLE_BLOCK_MAX;
    if (n << shift > span * ROWS_PER_LARGEST)
        shift--;
    while (shift > WNDL_TABLE_BLOCK_MIN && n << shift > span * ROWS_PER_BLOCK)
        shift--;
    return shift;
}

static bool init_text(struct laying *l)
{
    struct text *t = &l->text;
    const size_t most = l->rows->runs.len + l->out->block_count;
    t->starts = wndl_arena_calloc(l->arena, most, sizeof *t->starts);
    t->rules = wndl_arena_calloc(l->arena, most, sizeof *t->rules);
    t->codes = wndl_arena_calloc(l->arena, most, sizeof *t->codes);
    t->lengths = wndl_arena_calloc(l->arena, most, 1);
    t->blocks = wndl_arena_calloc(
        l->arena, (size_t)l->out->block_count + 1, sizeof *t->blocks);
    t->phrases = (struct wndl_phrase_text){
        t->codes, t->lengths, t->blocks, l->out->block_count};
    return t->starts != NULL && t->rules != NULL && t->codes != NULL &&
           t->lengths != NULL && t->blocks != NULL;
}

static void add_row(
    struct laying *l, uint32_t *count, uint32_t start, uint32_t rule)
{
    struct text *t = &l->text;
    t->starts[*count] = start;
    t->rules[*count] = rule;
    t->codes[*count] = code_of(l, rule);
    (*count)++;
}

/* Measures a block's rows but the last, which ends with the block. */
static void measure_rows(struct text *t, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i + 1 < end; i++) {
        const uint32_t length = t->starts[i + 1] - t->starts[i];
        t->lengths[i] = length > 255 ? WNDL_PHRASE_LONG : (uint8_t)length;
    }
}

static void cut_blocks(struct laying *l, const uint32_t *number)
{
    const struct wndl_table_run *run = l->rows->runs.data;
    const struct wndl_table_run *end =
        run == NULL ? NULL : run + l->rows->runs.len;
    const unsigned shift = l->out->block_shift;
    const uint32_t mask = (1u << shift) - 1;
    uint32_t count = 0, rule = 0;
    for (uint32_t b = 0; b < l->out->block_count; b++) {
        const uint32_t first = l->text.blocks[b] = count;
        if (run == end || run->start != b << shift)
            add_row(l, &count, 0, rule);
        for (; run < end && run->start >> shift == b; run++) {
            rule = number[run->rule];
            add_row(l, &count, run->start & mask, rule);
        }
        measure_rows(&l->text, first, count);
    }
    l->text.blocks[l->out->block_count] = count;
}

/* ---- the dictionary */

static int compare_phrases(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return compare_ranked(x, y);
}

static void write_phrase(
    const struct laying *l, const struct wndl_phrase *p, uint8_t *to)
{
    const struct text *t = &l->text;
    uint32_t offset = 0;
    put_number(&to, p->rows - 1u, 1);
    for (uint32_t i = 0; i + 1 < p->rows; i++) {
        offset += t->lengths[p->row + i];
        put_number(&to, offset, 1);
    }
    for (uint32_t i = 0; i < p->rows; i++)
        put_number(&to, t->codes[p->row + i], 2);
}

static uint32_t hot_units(const struct wndl_phrase *p)
{
    return (wndl_phrase_size(p->rows) + WNDL_TABLE_HOT_UNIT - 1) /
           WNDL_TABLE_HOT_UNIT;
}

/*
 * Names the most used phrases that are not too large, in order of size, then
 * use.
 */
static void name_hot(struct laying *l, const struct ranked *order, size_t n)
{
    const struct wndl_phrase *phrases = l->found.phrases.data;
    int32_t *ends = l->out->hot_ends;
    uint32_t counts[WNDL_TABLE_HOT_CLASSES] = {0}, hot = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t p = order[i].index;
        const uint32_t units = hot_units(&phrases[p]);
        l->names[p] = NO_NAME;
        if (order[i].count == 0 || hot == WNDL_TABLE_HOT ||
            units > WNDL_TABLE_HOT_CLASSES)
            continue;
        l->names[p] = counts[units - 1]++;
        hot++;
    }
    ends[0] = (int32_t)counts[0];
    ends[1] = (int32_t)(counts[0] + counts[1]);
    for (size_t p = 0; p < n; p++) {
        const uint32_t units = hot_units(&phrases[p]);
        if (l->names[p] != NO_NAME && units > 1)
            l->names[p] += (uint32_t)ends[units - 2];
    }
    l->out->phrase_count = hot;
}

/* Writes the hot phrases to the beginning of the dictionary. */
static bool write_hot(struct laying *l)
{
    uint8_t bytes[WNDL_TABLE_HOT * WNDL_TABLE_HOT_CLASSES *
                  WNDL_TABLE_HOT_UNIT] = {0};
    const struct wndl_phrase *phrases = l->found.phrases.data;
    const int32_t *ends = l->out->hot_ends;
    const int32_t less[] = {ends[0], ends[0] + ends[1]};
    uint32_t size = 0;
    for (uint32_t i = 0; i < l->found.phrases.len; i++) {
        if (l->names[i] == NO_NAME)
            continue;
        const uint32_t place = wndl_table_hot_place(less, l->names[i]);
        const uint32_t end =
            place + hot_units(&phrases[i]) * WNDL_TABLE_HOT_UNIT;
        write_phrase(l, &phrases[i], bytes + place);
        l->places[i] = place / 2;
        size = end > size ? end : size;
    }
    return add_bytes(&l->out->dict, bytes, size);
}

static bool add_cold(struct laying *l, uint32_t index)
{
    uint8_t bytes[64] = {0};
    const struct wndl_phrase *p =
        (const struct wndl_phrase *)l->found.phrases.data + index;
    const uint32_t size = wndl_phrase_size(p->rows);
    if (l->out->dict.len + size > WNDL_TABLE_DICT_MAX)
        return true;
    l->places[index] = (uint32_t)(l->out->dict.len / 2);
    l->out->phrase_count++;
    write_phrase(l, p, bytes);
    return add_bytes(&l->out->dict, bytes, size);
}

/*
 * Writes the phrases, the most used first. Phrases that do not fit have no
 * place.
 */
static bool write_dictionary(struct laying *l)
{
    const struct wndl_phrase *phrases = l->found.phrases.data;
    const size_t n = l->found.phrases.len;
    struct ranked *order = wndl_arena_calloc(l->arena, n, sizeof *order);
    l->places = wndl_arena_calloc(l->arena, n, sizeof *l->places);
    l->names = wndl_arena_calloc(l->arena, n, sizeof *l->names);
    if (order == NULL || l->places == NULL || l->names == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct ranked){i, i == 0 ? 0 : phrases[i].use};
    qsort(order, n, sizeof *order, compare_phrases);
    name_hot(l, order, n);
    for (uint32_t i = 0; i < n; i++)
        l->places[i] = NO_PLACE;
    bool done = write_hot(l);
    for (uint32_t i = 0; i < n && done; i++) {
        if (order[i].count != 0 && l->names[order[i].index] == NO_NAME)
            done = add_cold(l, order[i].index);
    }
    return done;
}

/* ---- records */

/* The phrases of a block. */
struct block {
    const struct wndl_phrase_cut *cuts;
    uint32_t count;
    uint32_t first, rows; /* in the text */
};

static bool has_ids(const struct laying *l, const struct block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        if (l->places[b->cuts[i].phrase] == NO_PLACE)
            return false;
    }
    return b->count != 0 && b->count - 1 <= WNDL_TABLE_STARTS_MAX;
}

static bool write_plain(struct laying *l, const struct block *b)
{
    uint8_t bytes[WNDL_TABLE_PLAIN_ROW], *to = bytes;
    put_number(&to, WNDL_TABLE_PLAIN, 1);
    put_number(&to, b->rows, 2);
    bool done = add_bytes(&l->out->records, bytes, 3);
    for (uint32_t i = b->first; i < b->first + b->rows && done; i++) {
        to = bytes;
        put_number(&to, l->text.starts[i], 2);
        put_number(&to, l->text.rules[i], 3);
        done = add_bytes(&l->out->records, bytes, sizeof bytes);
    }
    l->out->plain_blocks++;
    return done;
}

static void set_bit(uint8_t *bits, uint32_t at)
{
    bits[at >> 3] |= (uint8_t)(1u << (at & 7));
}

/* Writes the number of starts, their upper parts, their lower bytes. */
static uint8_t *write_starts(
    const struct laying *l, const struct block *b, uint8_t *to)
{
    const uint32_t n = b->count - 1;
    const uint32_t buckets = 1u << (l->out->block_shift - WNDL_TABLE_BUCKET);
    *to++ = (uint8_t)n;
    for (uint32_t i = 1; i <= n; i++) {
        const uint32_t start = l->text.starts[b->cuts[i].row];
        set_bit(to, (start >> WNDL_TABLE_BUCKET) + i - 1);
    }
    to += (n + buckets + 7) / 8;
    for (uint32_t i = 1; i <= n; i++)
        *to++ = (uint8_t)l->text.starts[b->cuts[i].row];
    return to;
}

/*
 * Writes the id of each phrase, a name of one byte or a place of two, and a bit
 * that says which.
 */
static uint8_t *write_ids(
    const struct laying *l, const struct block *b, uint8_t *to)
{
    uint8_t *mask = to;
    to += (b->count + 7) / 8;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t p = b->cuts[i].phrase;
        const bool is_hot = l->names[p] != NO_NAME;
        if (!is_hot)
            set_bit(mask, i);
        put_number(&to, is_hot ? l->names[p] : l->places[p], is_hot ? 1 : 2);
    }
    return to;
}

static bool write_record(struct laying *l, const struct block *b)
{
    uint8_t bytes[2048] = {0};
    if (!has_ids(l, b))
        return write_plain(l, b);
    const uint8_t *end = write_ids(l, b, write_starts(l, b, bytes));
    return add_bytes(&l->out->records, bytes, (size_t)(end - bytes));
}

static bool align_records(struct wndl_table_layout *out)
{
    static const uint8_t zeros[1 << WNDL_TABLE_RECORD_SHIFT_MAX];
    const size_t unit = (size_t)1 << out->record_shift;
    return add_bytes(&out->records, zeros, -out->records.len & (unit - 1));
}

/* Takes the cuts of the next block from *cut. */
static struct block next_block(
    const struct laying *l, uint32_t number, size_t *cut)
{
    const struct wndl_phrase_cut *cuts = l->found.cuts.data;
    struct block b = {cuts == NULL ? NULL : cuts + *cut, 0,
        l->text.blocks[number],
        l->text.blocks[number + 1] - l->text.blocks[number]};
    while (*cut < l->found.cuts.len && cuts[*cut].row < b.first + b.rows) {
        (*cut)++;
        b.count++;
    }
    return b;
}

/* The result of writing the blocks. */
enum written { WRITTEN, OUT_OF_MEMORY, TOO_LONG };

/* Writes the index entry of a block, and its record if it needs one. */
static enum written write_block(
    struct laying *l, const struct block *b, size_t line_start, uint32_t *entry)
{
    struct wndl_table_layout *out = l->out;
    const uint32_t rule = l->text.rules[b->first];
    if (b->rows == 1 && rule < WNDL_TABLE_UNIFORM_RULES) {
        *entry = WNDL_TABLE_UNIFORM + rule;
        out->uniform_blocks++;
        return WRITTEN;
    }
    if (!align_records(out))
        return OUT_OF_MEMORY;
    const size_t offset = (out->records.len - line_start) >> out->record_shift;
    *entry = (uint32_t)offset;
    if (offset >= WNDL_TABLE_UNIFORM)
        return TOO_LONG;
    return write_record(l, b) ? WRITTEN : OUT_OF_MEMORY;
}

static enum written write_line(struct laying *l, uint32_t first, size_t *cut)
{
    uint8_t line[WNDL_TABLE_LINE], *to = line;
    struct wndl_table_layout *out = l->out;
    if (!align_records(out))
        return OUT_OF_MEMORY;
    const size_t start = out->records.len;
    put_number(&to, (uint32_t)start, 4);
    for (uint32_t i = first; i < first + WNDL_TABLE_LINE_BLOCKS; i++) {
        uint32_t entry = WNDL_TABLE_UNIFORM; /* after the last: no rule */
        if (i < out->block_count) {
            const struct block b = next_block(l, i, cut);
            const enum written written = write_block(l, &b, start, &entry);
            if (written != WRITTEN)
                return written;
        }
        put_number(&to, entry, 2);
    }
    return add_bytes(&out->index, line, sizeof line) ? WRITTEN : OUT_OF_MEMORY;
}

static enum written write_blocks(struct laying *l)
{
    struct wndl_table_layout *out = l->out;
    size_t cut = 0;
    out->uniform_blocks = 0;
    out->plain_blocks = 0;
    out->records.len = 0;
    out->index.len = 0;
    for (uint32_t b = 0; b < out->block_count; b += WNDL_TABLE_LINE_BLOCKS) {
        const enum written written = write_line(l, b, &cut);
        if (written != WRITTEN)
            return written;
    }
    return WRITTEN;
}

/* ---- the whole layout */

static bool init_layout(struct laying *l, unsigned block_shift)
{
    const struct wndl_table_run *runs = l->rows->runs.data;
    const size_t n = l->rows->runs.len;
    const uint64_t span = n == 0 ? 0 : runs[n - 1].start;
    struct wndl_table_layout *out = l->out;
    *out = (struct wndl_table_layout){.block_shift = block_shift};
    out->block_count =
        (uint32_t)((span + (UINT64_C(1) << block_shift) - 1) >> block_shift);
    wndl_vec_init(&out->dict, l->arena, 1);
    wndl_vec_init(&out->records, l->arena, 1);
    wndl_vec_init(&out->index, l->arena, 1);
    const uint32_t *number = rank_rules(l);
    if (number == NULL || !init_text(l))
        return false;
    cut_blocks(l, number);
    return true;
}

/* If records are too far from their line's first, a larger unit is used. */
static enum written lay_out_blocks(struct laying *l, unsigned block_shift)
{
    if (!init_layout(l, block_shift) ||
        !wndl_phrases_find(&l->found, &l->text.phrases, DICT_MAX, l->arena) ||
        !write_dictionary(l))
        return OUT_OF_MEMORY;
    enum written written = write_blocks(l);
    while (written == TOO_LONG &&
           l->out->record_shift < WNDL_TABLE_RECORD_SHIFT_MAX) {
        l->out->record_shift++;
        written = write_blocks(l);
    }
    return written;
}

static bool has_large_records(const struct wndl_table_layout *out)
{
    const uint64_t count = out->block_count - out->uniform_blocks;
    return out->records.len > count * RECORD_SIZE;
}

/* 30 of the smallest blocks always fit: 2048 rows of 5 bytes each. */
bool wndl_table_lay_out(struct wndl_table_layout *layout,
    const struct wndl_table_rows *rows, uint16_t machine,
    struct wndl_arena *arena)
{
    struct laying l = {.out = layout,
        .rows = rows,
        .arena = arena,
        .is_a64 = machine == EM_AARCH64};
    enum written written = lay_out_blocks(&l, choose_shift(rows));
    while (written == WRITTEN && has_large_records(layout) &&
           layout->block_shift > WNDL_TABLE_BLOCK_MIN)
        written = lay_out_blocks(&l, layout->block_shift - 1);
    if (written == TOO_LONG)
        written = lay_out_blocks(&l, WNDL_TABLE_BLOCK_MIN);
    return written == WRITTEN;
}
