/* SPDX-License-Identifier: MIT */
/* frame_writer: records and instructions by DWARF 5, 6.4.1 and 7.24. */
#include "cfi_import/core/frame_writer.h"

#include "cfi/cfi_ops.h"

#include <string.h>

/* Mostly some 10 bytes are written for each byte read. */
enum {
    CIE_VERSION = 3,
    BYTES_PER_BYTE = 32,
    BYTES_AT_LEAST = 16 * 1024 * 1024,
};

static void put_address(struct wndl_frame_writer *w, uint64_t address)
{
    if (w->word == 8)
        wndl_buf_u64le(&w->out, address);
    else
        wndl_buf_u32le(&w->out, (uint32_t)address);
}

/* Sets the length of the record that begins at `start` and ends here. */
static void close_record(struct wndl_frame_writer *w, size_t start)
{
    if (w->out.failed)
        return;
    const size_t size = w->out.size - start - sizeof(uint32_t);
    for (unsigned i = 0; i < sizeof(uint32_t); i++)
        w->out.data[start + i] = (uint8_t)(size >> 8 * i);
}

/* Offsets are in bytes, because they need not be multiples of words. */
static uint64_t write_cie(
    struct wndl_frame_writer *w, uint8_t ra_reg, const char *augmentation)
{
    const size_t start = w->out.size;
    wndl_buf_u32le(&w->out, 0);
    wndl_buf_u32le(&w->out, UINT32_MAX);
    wndl_buf_byte(&w->out, CIE_VERSION);
    wndl_buf_add(&w->out, augmentation, strlen(augmentation) + 1);
    wndl_buf_uleb(&w->out, 1);
    wndl_buf_sleb(&w->out, 1);
    wndl_buf_uleb(&w->out, ra_reg);
    if (augmentation[0] == 'z')
        wndl_buf_uleb(&w->out, 0);
    close_record(w, start);
    return start;
}

void wndl_frame_writer_init(struct wndl_frame_writer *w,
    struct wndl_arena *arena, uint8_t word, uint8_t ra_reg)
{
    *w = (struct wndl_frame_writer){.word = word, .limit = UINT32_MAX / 2};
    wndl_buf_init(&w->out, arena->mem);
    wndl_vec_init(&w->origins, arena, sizeof(struct wndl_frame_origin));
    w->plain_cie = write_cie(w, ra_reg, "");
    w->signal_cie = write_cie(w, ra_reg, "zS");
}

void wndl_frame_writer_bound(struct wndl_frame_writer *w, uint64_t source)
{
    const uint64_t limit = source * BYTES_PER_BYTE + BYTES_AT_LEAST;
    if (limit < w->limit)
        w->limit = limit;
}

bool wndl_frame_writer_begin(
    struct wndl_frame_writer *w, const struct wndl_frame_function *function)
{
    if (w->out.size >= w->limit)
        return false;
    struct wndl_frame_origin *o = wndl_vec_push(&w->origins);
    w->failed |= o == NULL || w->out.failed;
    if (w->failed)
        return false;
    w->fde = w->out.size;
    w->full = false;
    *o = (struct wndl_frame_origin){w->fde, function->origin};
    w->at = w->start = function->start;
    w->last = (struct wndl_cfi_row){0};
    wndl_buf_u32le(&w->out, 0);
    wndl_buf_u32le(&w->out,
        (uint32_t)(function->signal_frame ? w->signal_cie : w->plain_cie));
    put_address(w, function->start);
    put_address(w, function->end - function->start);
    if (function->signal_frame)
        wndl_buf_uleb(&w->out, 0);
    return true;
}

static void put_expression(
    struct wndl_frame_writer *w, const struct wndl_cfi_rule *rule)
{
    wndl_buf_uleb(&w->out, rule->expr_size);
    wndl_buf_add(&w->out, rule->expr, rule->expr_size);
}

static void put_cfa(
    struct wndl_frame_writer *w, const struct wndl_cfi_rule *cfa)
{
    if (cfa->kind == WNDL_RULE_VAL_EXPR) {
        wndl_buf_byte(&w->out, CFA_DEF_CFA_EXPRESSION);
        put_expression(w, cfa);
    } else if (cfa->kind == WNDL_RULE_REGISTER) {
        wndl_buf_byte(&w->out, CFA_DEF_CFA_SF);
        wndl_buf_uleb(&w->out, cfa->reg);
        wndl_buf_sleb(&w->out, cfa->offset);
    }
}

static void put_rule(
    struct wndl_frame_writer *w, unsigned reg, const struct wndl_cfi_rule *rule)
{
    static const uint8_t ops[] = {
        [WNDL_RULE_UNSET] = CFA_RESTORE_EXTENDED,
        [WNDL_RULE_SAME] = CFA_SAME_VALUE,
        [WNDL_RULE_UNDEFINED] = CFA_UNDEFINED,
        [WNDL_RULE_OFFSET] = CFA_OFFSET_EXTENDED_SF,
        [WNDL_RULE_VAL_OFFSET] = CFA_VAL_OFFSET_SF,
        [WNDL_RULE_REGISTER] = CFA_REGISTER,
        [WNDL_RULE_EXPR] = CFA_EXPRESSION,
        [WNDL_RULE_VAL_EXPR] = CFA_VAL_EXPRESSION,
    };
    wndl_buf_byte(&w->out, ops[rule->kind]);
    wndl_buf_uleb(&w->out, reg);
    if (rule->kind == WNDL_RULE_OFFSET || rule->kind == WNDL_RULE_VAL_OFFSET)
        wndl_buf_sleb(&w->out, rule->offset);
    else if (rule->kind == WNDL_RULE_REGISTER)
        wndl_buf_uleb(&w->out, rule->reg);
    else if (rule->kind == WNDL_RULE_EXPR || rule->kind == WNDL_RULE_VAL_EXPR)
        put_expression(w, rule);
}

static void advance(struct wndl_frame_writer *w, uint64_t to)
{
    while (to > w->at) {
        const uint64_t left = to - w->at;
        const uint32_t by = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
        if (by <= CFA_LOW) {
            wndl_buf_byte(&w->out, (uint8_t)(CFA_ADVANCE_LOC + by));
        } else {
            wndl_buf_byte(&w->out, CFA_ADVANCE_LOC4);
            wndl_buf_u32le(&w->out, by);
        }
        w->at += by;
    }
}

void wndl_frame_writer_row(
    struct wndl_frame_writer *w, const struct wndl_cfi_row *row)
{
    bool same = wndl_cfi_rule_equal(&row->cfa, &w->last.cfa) &&
                row->ra_signed == w->last.ra_signed;
    for (unsigned i = 0; i < WNDL_CFI_REGS && same; i++)
        same = wndl_cfi_rule_equal(&row->regs[i], &w->last.regs[i]);
    w->full |= w->out.size >= w->limit;
    if (same || w->full)
        return;
    advance(w, row->start);
    if (!wndl_cfi_rule_equal(&row->cfa, &w->last.cfa))
        put_cfa(w, &row->cfa);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++)
        if (!wndl_cfi_rule_equal(&row->regs[i], &w->last.regs[i]))
            put_rule(w, i, &row->regs[i]);
    if (row->ra_signed != w->last.ra_signed)
        wndl_buf_byte(&w->out, CFA_AARCH64_NEGATE_RA_STATE);
    w->last = *row;
}

void wndl_frame_writer_undo(struct wndl_frame_writer *w)
{
    if (w->out.failed)
        return;
    w->out.size = w->fde;
    w->origins.len--;
}

bool wndl_frame_writer_end(struct wndl_frame_writer *w)
{
    if (w->full && !w->out.failed) {
        wndl_frame_writer_undo(w);
        return false;
    }
    close_record(w, w->fde);
    return true;
}

bool wndl_frame_writer_end_at(struct wndl_frame_writer *w, uint64_t end)
{
    /* After length, CIE and start. */
    const size_t at = w->fde + 2 * sizeof(uint32_t) + w->word;
    if (w->out.failed)
        return true;
    if (end == w->start) {
        wndl_frame_writer_undo(w);
        return true;
    }
    for (unsigned i = 0; i < w->word; i++)
        w->out.data[at + i] = (uint8_t)((end - w->start) >> 8 * i);
    return wndl_frame_writer_end(w);
}

bool wndl_frame_writer_take(struct wndl_frame_writer *w,
    struct wndl_arena *arena, struct wndl_cfi_section *frame)
{
    const bool whole = !w->failed && !w->out.failed;
    char *copy =
        whole ? wndl_arena_copy(arena, w->out.data, w->out.size) : NULL;
    *frame = (struct wndl_cfi_section){
        .bytes = {(const uint8_t *)copy, copy == NULL ? 0 : w->out.size},
        .address_size = w->word,
        .debug_frame = true,
    };
    wndl_buf_free(&w->out);
    return copy != NULL;
}

void wndl_frame_writer_drop(struct wndl_frame_writer *w)
{
    wndl_buf_free(&w->out);
}
