/* SPDX-License-Identifier: MIT */
#include "unwind_tables/chrome/chrome_v2.h"

#include "base/intern.h"

#include <stdlib.h>

enum {
    PAGE = 1 << WNDL_CHROME_V2_PAGE_SHIFT,
    HALF = 2,
    OFFSETS_MAX = 0xffff,
    HEADER = 32,
    DESIGN_HEADER = 40,
};

static const uint8_t refuse[] = {0x80, 0x00};
static const uint8_t finish[] = {0xb0};

/* An address in a function: from this number of halfwords on. */
struct pair {
    uint32_t offset, sequence;
};

struct function {
    uint32_t start; /* bytes from the start of .text */
    uint32_t first_pair, pair_count;
    uint32_t offsets; /* place of its pairs */
};

struct building {
    struct wndl_arena arena;
    struct wndl_chrome_v2_binary binary;
    struct wndl_chrome_v2_stats *stats;
    struct wndl_vec functions, pairs;
    struct wndl_intern sequences;
    struct wndl_vec uses;   /* uint32_t for each sequence */
    struct wndl_vec places; /* uint32_t: places in the instruction table */
    struct wndl_buf now;    /* of the current function */
    uint64_t next;          /* svma: end of the last function */
    const char *why;        /* reason for a failure; NULL: no memory */
    bool failed;
};

static bool use_instructions(
    struct building *b, struct wndl_bytes bytes, uint32_t *id)
{
    if (!wndl_intern_add(&b->sequences, bytes, id))
        return false;
    while (b->uses.len <= *id)
        if (wndl_vec_push(&b->uses) == NULL)
            return false;
    ++*(uint32_t *)wndl_vec_at(&b->uses, *id);
    return true;
}

static bool add_pair(
    struct building *b, uint64_t offset, struct wndl_bytes sequence)
{
    struct pair *pair = wndl_vec_push(&b->pairs);
    if (pair == NULL || !use_instructions(b, sequence, &pair->sequence))
        return false;
    pair->offset = (uint32_t)(offset / HALF);
    ((struct function *)wndl_vec_at(&b->functions, b->functions.len - 1))
        ->pair_count++;
    return true;
}

static bool begin_function(struct building *b, uint64_t start)
{
    struct function *f = wndl_vec_push(&b->functions);
    if (f == NULL)
        return false;
    f->start = (uint32_t)(start - b->binary.text);
    f->first_pair = (uint32_t)b->pairs.len;
    return true;
}

static bool add_filler(
    struct building *b, uint64_t start, struct wndl_bytes sequence)
{
    return begin_function(b, start) && add_pair(b, 0, sequence);
}

/* Puts the undoing of the row before that of earlier rows. */
static bool add_row(struct building *b, const struct wndl_chrome_v2_function *f,
    size_t i, struct wndl_buf *step)
{
    const struct wndl_cfi_row *row = &f->rows[i];
    wndl_buf_clear(step);
    if (!wndl_chrome_v2_encode_step(step, i == 0 ? NULL : row - 1, row))
        return false;
    wndl_buf_add(step, b->now.data, b->now.size);
    const struct wndl_buf last = b->now;
    b->now = *step;
    *step = last;
    const uint64_t from = i == 0 ? f->start : row->start;
    return !b->now.failed && add_pair(b, from - f->start,
                                 (struct wndl_bytes){b->now.data, b->now.size});
}

static bool add_rows(
    struct building *b, const struct wndl_chrome_v2_function *f)
{
    const struct wndl_bytes refusal = {refuse, sizeof refuse};
    struct wndl_buf step;
    bool ok = true;
    wndl_buf_init(&step, wndl_mem_libc());
    wndl_buf_clear(&b->now);
    wndl_buf_add(&b->now, finish, sizeof finish);
    for (size_t i = 0; i < f->row_count && ok; i++)
        ok = add_row(b, f, i, &step);
    wndl_buf_free(&step);
    b->stats->refused += f->row_count == 0;
    b->stats->uncovered += f->row_count != 0 && f->rows_end < f->end;
    if (ok && f->row_count == 0)
        return add_pair(b, 0, refusal);
    if (ok && f->rows_end < f->end)
        return add_pair(b, f->rows_end - f->start, refusal);
    return ok;
}

/*
 * Code before the first function is refused. Gaps contain thunks, which have a
 * return address in lr.
 */
static bool fill_gap(struct building *b, uint64_t start)
{
    if (start == b->next)
        return true;
    return b->functions.len == 0
               ? add_filler(
                     b, b->next, (struct wndl_bytes){refuse, sizeof refuse})
               : add_filler(
                     b, b->next, (struct wndl_bytes){finish, sizeof finish});
}

static bool visit_function(
    void *context, const struct wndl_chrome_v2_function *f)
{
    struct building *b = context;
    if (b->next == 0)
        b->next = b->binary.text;
    if ((f->start - b->binary.text) % HALF != 0)
        b->why = "a function starts at an odd offset in .text";
    else if (f->start < b->next)
        b->why = "functions overlap, which the format cannot express";
    else if (f->end - b->binary.text > UINT32_MAX)
        b->why = "has 4 GiB of code or more";
    b->failed = b->why != NULL || !fill_gap(b, f->start) ||
                !begin_function(b, f->start) || !add_rows(b, f);
    b->next = f->end;
    return !b->failed;
}

/* ---- tables */

/* A sequence and its value: uses by its size. */
struct ranked {
    uint32_t id, uses, size;
};

static int compare_worth(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    const uint64_t p = (uint64_t)x->uses * y->size;
    const uint64_t q = (uint64_t)y->uses * x->size;
    if (p != q)
        return p > q ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Instructions with the most uses for their size get the smallest numbers. */
static bool write_instructions(struct building *b, struct wndl_buf *out)
{
    const size_t count = b->uses.len;
    struct ranked *ranked =
        wndl_arena_calloc(&b->arena, count, sizeof(struct ranked));
    uint32_t *places = wndl_arena_calloc(&b->arena, count, sizeof(uint32_t));
    if (count != 0 && (ranked == NULL || places == NULL))
        return false;
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){i, *(uint32_t *)wndl_vec_at(&b->uses, i),
            (uint32_t)wndl_intern_get(&b->sequences, i).size};
    if (count > 1) /* id 0 has no bytes and no users */
        qsort(ranked + 1, count - 1, sizeof *ranked, compare_worth);
    for (size_t i = 1; i < count; i++) {
        const struct wndl_bytes bytes =
            wndl_intern_get(&b->sequences, ranked[i].id);
        places[ranked[i].id] = (uint32_t)out->size;
        wndl_buf_add(out, bytes.data, bytes.size);
    }
    b->places = (struct wndl_vec){
        .data = places, .len = count, .element = sizeof(uint32_t)};
    b->stats->sequences = count == 0 ? 0 : count - 1;
    return true;
}

/* The lists of pairs, each once. */
struct lists {
    struct wndl_intern all;
    struct wndl_vec uses; /* uint32_t for each list */
    uint32_t *places;     /* DROPPED: it does not fit the layout */
};

enum { DROPPED = UINT32_MAX };

/* Makes a function's list, from the last address to the first. */
static void put_list(
    const struct building *b, const struct function *f, struct wndl_buf *list)
{
    wndl_buf_clear(list);
    for (uint32_t n = f->pair_count; n-- > 0;) {
        const struct pair *p = wndl_vec_at(&b->pairs, f->first_pair + n);
        wndl_buf_uleb(list, p->offset);
        wndl_buf_uleb(list, *(uint32_t *)wndl_vec_at(&b->places, p->sequence));
    }
}

/* Sets each function's `offsets` to the number of its list. */
static bool gather_lists(struct building *b, struct lists *l)
{
    struct wndl_buf list;
    bool ok = wndl_intern_init(&l->all, &b->arena);
    wndl_vec_init(&l->uses, &b->arena, sizeof(uint32_t));
    wndl_buf_init(&list, wndl_mem_libc());
    for (size_t i = 0; i < b->functions.len && ok; i++) {
        struct function *f = wndl_vec_at(&b->functions, i);
        put_list(b, f, &list);
        ok = !list.failed &&
             wndl_intern_add(&l->all, (struct wndl_bytes){list.data, list.size},
                 &f->offsets);
        while (ok && l->uses.len <= f->offsets)
            ok = wndl_vec_push(&l->uses) != NULL;
        if (ok)
            ++*(uint32_t *)wndl_vec_at(&l->uses, f->offsets);
    }
    wndl_buf_free(&list);
    return ok;
}

/* Drops the lists with the fewest uses for their size, if not all fit. */
static bool drop_rare(struct building *b, struct lists *l, size_t room)
{
    const size_t count = l->uses.len;
    size_t size = 0;
    struct ranked *ranked =
        wndl_arena_calloc(&b->arena, count, sizeof(struct ranked));
    l->places = wndl_arena_calloc(&b->arena, count, sizeof(uint32_t));
    if (ranked == NULL || l->places == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        ranked[i] = (struct ranked){i, *(uint32_t *)wndl_vec_at(&l->uses, i),
            (uint32_t)wndl_intern_get(&l->all, i).size};
        size += ranked[i].size;
    }
    if (size <= room)
        return true;
    qsort(ranked + 1, count - 1, sizeof *ranked, compare_worth);
    size = 0;
    for (size_t i = 1; i < count; i++) {
        if (ranked[i].size <= room - size)
            size += ranked[i].size;
        else
            l->places[ranked[i].id] = DROPPED;
    }
    return true;
}

/* Writes the list of a function that refuses to be unwound. */
static uint32_t write_refusal(
    struct wndl_buf *offsets, struct wndl_buf *instructions)
{
    const uint32_t at = (uint32_t)offsets->size;
    wndl_buf_uleb(offsets, 0);
    wndl_buf_uleb(offsets, instructions->size);
    wndl_buf_add(instructions, refuse, sizeof refuse);
    return at;
}

static bool write_offsets(
    struct building *b, struct wndl_buf *out, struct wndl_buf *instructions)
{
    enum { REFUSAL_MAX = 8 };
    struct lists l;
    uint32_t refusal = DROPPED;
    if (!gather_lists(b, &l) || !drop_rare(b, &l, OFFSETS_MAX - REFUSAL_MAX))
        return false;
    for (uint32_t i = 1; i < l.uses.len; i++) {
        if (l.places[i] == DROPPED)
            continue;
        const struct wndl_bytes list = wndl_intern_get(&l.all, i);
        l.places[i] = (uint32_t)out->size;
        wndl_buf_add(out, list.data, list.size);
    }
    for (size_t i = 0; i < b->functions.len; i++) {
        struct function *f = wndl_vec_at(&b->functions, i);
        f->offsets = l.places[f->offsets];
        if (f->offsets != DROPPED)
            continue;
        if (refusal == DROPPED)
            refusal = write_refusal(out, instructions);
        f->offsets = refusal;
        b->stats->dropped_functions++;
        b->stats->dropped += f->pair_count;
    }
    return true;
}

/* Each page has the number of the first function that starts in it. */
static void write_pages(const struct building *b, struct wndl_buf *pages,
    struct wndl_buf *functions, struct wndl_buf *continued)
{
    uint32_t page = 0;
    uint8_t bits = 0;
    for (size_t i = 0; i < b->functions.len; i++) {
        const struct function *f = wndl_vec_at(&b->functions, i);
        for (; page <= f->start / PAGE; page++) {
            const bool goes_on = page < f->start / PAGE || f->start % PAGE != 0;
            wndl_buf_u32le(pages, (uint32_t)i);
            bits |= (uint8_t)(goes_on ? 1u << page % 8 : 0);
            if (page % 8 == 7) {
                wndl_buf_byte(continued, bits);
                bits = 0;
            }
        }
        wndl_buf_u32le(functions, f->start % PAGE / HALF | f->offsets << 16);
    }
    if (page % 8 != 0)
        wndl_buf_byte(continued, bits);
    /* Readers that overlay structs need the functions after it aligned. */
    while (continued->size % WNDL_CHROME_V2_ENTRY != 0 && !continued->failed)
        wndl_buf_byte(continued, 0);
}

struct parts {
    struct wndl_buf pages, continued, functions, offsets, instructions;
};

static void put_part(struct wndl_buf *out, uint32_t *at,
    const struct wndl_buf *part, size_t unit)
{
    wndl_buf_u32le(out, *at);
    wndl_buf_u32le(out, (uint32_t)(part->size / unit));
    *at += (uint32_t)part->size;
}

static bool write_all(const struct parts *p, bool design, struct wndl_buf *out)
{
    const size_t unit = WNDL_CHROME_V2_ENTRY;
    uint32_t at = design ? DESIGN_HEADER : HEADER;
    put_part(out, &at, &p->pages, unit);
    if (design)
        put_part(out, &at, &p->continued, 1);
    put_part(out, &at, &p->functions, unit);
    put_part(out, &at, &p->offsets, 1);
    put_part(out, &at, &p->instructions, 1);
    wndl_buf_add(out, p->pages.data, p->pages.size);
    if (design)
        wndl_buf_add(out, p->continued.data, p->continued.size);
    wndl_buf_add(out, p->functions.data, p->functions.size);
    wndl_buf_add(out, p->offsets.data, p->offsets.size);
    wndl_buf_add(out, p->instructions.data, p->instructions.size);
    return !out->failed && !p->pages.failed && !p->continued.failed &&
           !p->functions.failed && !p->offsets.failed &&
           !p->instructions.failed;
}

static enum wndl_status lay_out(struct building *b, bool design,
    struct wndl_buf *out, struct wndl_error *err)
{
    struct parts p;
    struct wndl_buf *const all[] = {
        &p.pages, &p.continued, &p.functions, &p.offsets, &p.instructions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_init(all[i], wndl_mem_libc());
    bool made = write_instructions(b, &p.instructions) &&
                write_offsets(b, &p.offsets, &p.instructions);
    if (made) {
        write_pages(b, &p.pages, &p.functions, &p.continued);
        made = write_all(&p, design, out);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wndl_buf_free(all[i]);
    if (made)
        return WNDL_OK;
    return b->why == NULL ? wndl_fail(err, WNDL_NOMEM, "out of memory")
                          : wndl_fail(err, WNDL_LIMIT, "%s", b->why);
}

static enum wndl_status gather_functions(
    struct building *b, struct wndl_object *object, struct wndl_error *err)
{
    enum wndl_status status =
        wndl_chrome_v2_functions(object, &b->binary, visit_function, b, err);
    if (status != WNDL_OK)
        return status;
    /* Nothing is known of the code after the last function. */
    if (!b->failed && b->functions.len != 0 &&
        (b->next - b->binary.text) % PAGE != 0)
        b->failed =
            !add_filler(b, b->next, (struct wndl_bytes){refuse, sizeof refuse});
    if (b->failed)
        return b->why == NULL ? wndl_fail(err, WNDL_NOMEM, "out of memory")
                              : wndl_fail(err, WNDL_LIMIT, "%s", b->why);
    if (b->functions.len == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "has no rules for code in .text");
    return status;
}

enum wndl_status wndl_chrome_v2_build(struct wndl_object *object, bool design,
    struct wndl_buf *out, struct wndl_chrome_v2_stats *stats,
    struct wndl_error *err)
{
    struct building b = {.stats = stats};
    *stats = (struct wndl_chrome_v2_stats){0};
    wndl_arena_init(&b.arena, wndl_mem_libc());
    wndl_buf_init(&b.now, wndl_mem_libc());
    wndl_vec_init(&b.functions, &b.arena, sizeof(struct function));
    wndl_vec_init(&b.pairs, &b.arena, sizeof(struct pair));
    wndl_vec_init(&b.uses, &b.arena, sizeof(uint32_t));
    enum wndl_status status = wndl_intern_init(&b.sequences, &b.arena)
                                  ? gather_functions(&b, object, err)
                                  : wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (status == WNDL_OK)
        status = lay_out(&b, design, out, err);
    stats->source = b.binary.source;
    stats->functions = b.functions.len;
    stats->addresses = b.pairs.len;
    stats->lost = b.binary.lost;
    wndl_buf_free(&b.now);
    wndl_arena_free(&b.arena);
    return status;
}
