/* SPDX-License-Identifier: MIT */
#include "cfi_import/arm/source.h"
#include "unwind_tables/chrome/chrome_v2.h"

#include <elf.h>
#include <stdlib.h>

/*
 * Each address of a function repeats the undoing of the rows before. These
 * bound the effect of a malicious file. Compilers' functions have some ten
 * rows.
 */
enum { ROWS_MAX = 4096, UNDOING_MAX = 256 /* bytes */ };

/* The rows of one function that are kept. */
struct keeping {
    struct wndl_vec rows; /* struct wndl_cfi_row */
    struct wndl_buf scratch;
    size_t undoing;    /* bytes of instructions that undo all rows so far */
    uint64_t rows_end; /* 0: all rows are kept */
    bool failed;
};

/* A record of .debug_frame. */
struct record {
    uint64_t start, end, fde;
};

static bool is_smaller(
    const struct wndl_cfi_row *before, const struct wndl_cfi_row *row)
{
    if (before->cfa.reg != row->cfa.reg)
        return row->cfa.reg == WNDL_ARM_SP;
    return row->cfa.offset < before->cfa.offset;
}

static bool is_same(const struct wndl_cfi_row *a, const struct wndl_cfi_row *b)
{
    bool same = a->cfa.reg == b->cfa.reg && a->cfa.offset == b->cfa.offset;
    for (unsigned reg = WNDL_ARM_R4; reg <= WNDL_ARM_LR; reg++)
        same &= a->regs[reg].kind == b->regs[reg].kind &&
                a->regs[reg].offset == b->regs[reg].offset;
    return same;
}

/* A register restored within the frame still has its slot. */
static void keep_slots(
    const struct wndl_cfi_row *before, struct wndl_cfi_row *row)
{
    for (unsigned reg = WNDL_ARM_R4; reg <= WNDL_ARM_LR; reg++) {
        if (before->regs[reg].kind == WNDL_RULE_OFFSET &&
            row->regs[reg].kind <= WNDL_RULE_SAME)
            row->regs[reg] = before->regs[reg];
    }
}

static bool visit_row(void *context, const struct wndl_cfi_row *row)
{
    struct keeping *k = context;
    struct wndl_cfi_row kept = *row;
    const struct wndl_cfi_row *before =
        k->rows.len == 0 ? NULL : wndl_vec_at(&k->rows, k->rows.len - 1);
    if (before != NULL && row->cfa.kind == WNDL_RULE_REGISTER &&
        is_smaller(before, row))
        return false;
    if (before != NULL)
        keep_slots(before, &kept);
    if (before != NULL && is_same(before, &kept))
        return true;
    wndl_buf_clear(&k->scratch);
    if (!wndl_chrome_v2_encode_step(&k->scratch, before, &kept) ||
        k->undoing + k->scratch.size > UNDOING_MAX || k->rows.len == ROWS_MAX) {
        k->rows_end = row->start;
        return false;
    }
    struct wndl_cfi_row *added = wndl_vec_push(&k->rows);
    k->undoing += k->scratch.size;
    k->failed = added == NULL || k->scratch.failed;
    if (added != NULL)
        *added = kept;
    return !k->failed;
}

/* The kept rows as a function. */
static struct wndl_chrome_v2_function kept_function(
    const struct keeping *k, uint64_t start, uint64_t end)
{
    const uint64_t rows_end =
        k->rows_end == 0 || k->rows_end > end ? end : k->rows_end;
    return (struct wndl_chrome_v2_function){start, end, k->rows.data,
        rows_end == start ? 0 : k->rows.len, rows_end};
}

/* ---- .ARM.exidx */

struct walking {
    struct wndl_chrome_v2_binary *binary;
    bool (*visit)(
        void *context, const struct wndl_chrome_v2_function *function);
    void *context;
    struct keeping keeping;
};

static bool is_text(
    const struct wndl_chrome_v2_binary *b, uint64_t start, uint64_t end)
{
    return start < end && start >= b->text && end - b->text <= b->text_size;
}

static void begin_function(struct keeping *k)
{
    k->rows.len = 0;
    k->undoing = 0;
    k->rows_end = 0;
}

static enum wndl_status walk_exidx(
    struct walking *w, const struct wndl_arm_source *source)
{
    struct keeping *k = &w->keeping;
    for (size_t i = 0; i < wndl_exidx_count(&source->exidx); i++) {
        const uint64_t start = wndl_exidx_start(&source->exidx, i);
        uint64_t end = wndl_arm_source_end(source, i);
        if (end > w->binary->text + w->binary->text_size)
            end = w->binary->text + w->binary->text_size;
        if (!is_text(w->binary, start, end))
            continue;
        begin_function(k);
        const enum wndl_status status =
            wndl_arm_source_rows(source, i, visit_row, k, NULL);
        w->binary->lost += status == WNDL_MALFORMED || status == WNDL_TRUNCATED;
        const struct wndl_chrome_v2_function f = kept_function(k, start, end);
        if (k->failed)
            return WNDL_NOMEM;
        if (!w->visit(w->context, &f))
            return WNDL_OK;
    }
    return WNDL_OK;
}

/* ---- .debug_frame */

static int compare_records(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->fde < y->fde ? -1 : x->fde > y->fde;
}

/* False if memory is out. The linker has discarded code at 0. */
static bool list_records(const struct walking *w,
    const struct wndl_cfi_section *frame, struct wndl_vec *records)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < frame->bytes.size; at = next) {
        struct wndl_fde fde;
        next = frame->bytes.size;
        const enum wndl_status status =
            wndl_fde_parse(frame, at, &fde, &next, NULL);
        w->binary->lost += status != WNDL_OK && status != WNDL_NOT_FOUND;
        if (status != WNDL_OK || fde.start == 0 ||
            !is_text(w->binary, fde.start, fde.end))
            continue;
        struct record *r = wndl_vec_push(records);
        if (r == NULL)
            return false;
        *r = (struct record){fde.start, fde.end, fde.offset};
    }
    if (records->len > 1)
        qsort(records->data, records->len, records->element, compare_records);
    return true;
}

static enum wndl_status walk_frame(struct walking *w,
    const struct wndl_cfi_section *frame, const struct wndl_vec *records,
    struct wndl_error *err)
{
    struct keeping *k = &w->keeping;
    for (size_t i = 0; i < records->len; i++) {
        const struct record *r = wndl_vec_at(records, i);
        struct wndl_fde fde;
        if (i + 1 < records->len && r[1].start < r->end)
            return wndl_fail_at(err, WNDL_LIMIT, ".debug_frame", r[1].fde,
                "functions overlap, which the format cannot express");
        begin_function(k);
        enum wndl_status status =
            wndl_fde_parse(frame, r->fde, &fde, NULL, NULL);
        if (status == WNDL_OK)
            status = wndl_cfi_rows(frame, &fde, visit_row, k, NULL);
        if (status != WNDL_OK) {
            begin_function(k);
            w->binary->lost++;
        }
        const struct wndl_chrome_v2_function f =
            kept_function(k, r->start, r->end);
        if (k->failed)
            return WNDL_NOMEM;
        if (!w->visit(w->context, &f))
            return WNDL_OK;
    }
    return WNDL_OK;
}

static enum wndl_status walk_source(struct walking *w,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct wndl_section info;
    struct wndl_arm_source source;
    struct wndl_cfi_section frame = {.address_size = 4,
        .big_endian = wndl_object_is_big_endian(object),
        .debug_frame = true};
    struct wndl_vec records;
    enum wndl_status status = WNDL_NOT_FOUND;
    wndl_vec_init(&records, arena, sizeof(struct record));
    w->binary->source = ".debug_frame";
    if (wndl_object_has_section(object, ".debug_frame"))
        status = wndl_object_section_bytes(
            object, ".debug_frame", &frame.bytes, &info, err);
    if (status == WNDL_OK && !list_records(w, &frame, &records))
        status = WNDL_NOMEM;
    if (status == WNDL_OK && records.len != 0)
        status = walk_frame(w, &frame, &records, err);
    else if (status == WNDL_OK || status == WNDL_NOT_FOUND) {
        w->binary->source = ".ARM.exidx";
        status = wndl_arm_source_open(&source, object, err);
        if (status == WNDL_OK)
            status = walk_exidx(w, &source);
        else if (status == WNDL_NOT_FOUND)
            wndl_fail(err, status,
                "has no unwinding information (.debug_frame, .ARM.exidx)");
    }
    return status == WNDL_NOMEM ? wndl_fail(err, status, "out of memory")
                                : status;
}

/*
 * The place of .text, from which addresses count. A file of debug information
 * may have .debug_frame, but lacks the bytes of .text.
 */
static enum wndl_status find_text(const struct wndl_object *object,
    struct wndl_chrome_v2_binary *binary, struct wndl_error *err)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        const struct wndl_section s = wndl_object_section(object, i);
        if (!wndl_bytes_is(s.name, ".text"))
            continue;
        if (s.addr.v > UINT32_MAX || s.size > UINT32_MAX - s.addr.v)
            return wndl_fail(err, WNDL_MALFORMED,
                "has a .text that ends beyond 32 bits of address");
        binary->text = s.addr.v;
        binary->text_size = s.size;
        return WNDL_OK;
    }
    return wndl_fail(err, WNDL_NOT_FOUND,
        "has no section .text, which this format counts from");
}

enum wndl_status wndl_chrome_v2_functions(struct wndl_object *object,
    struct wndl_chrome_v2_binary *binary,
    bool (*visitor)(
        void *context, const struct wndl_chrome_v2_function *function),
    void *context, struct wndl_error *err)
{
    struct wndl_arena arena;
    struct walking w = {.binary = binary, .visit = visitor, .context = context};
    *binary = (struct wndl_chrome_v2_binary){0};
    if (wndl_object_machine(object) != EM_ARM || !wndl_object_is_image(object))
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "not a program or shared library for 32-bit Arm, as this format "
            "requires");
    enum wndl_status status = find_text(object, binary, err);
    if (status != WNDL_OK)
        return status;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&w.keeping.rows, &arena, sizeof(struct wndl_cfi_row));
    wndl_buf_init(&w.keeping.scratch, wndl_mem_libc());
    status = walk_source(&w, object, &arena, err);
    wndl_buf_free(&w.keeping.scratch);
    wndl_arena_free(&arena);
    return status;
}
