/* SPDX-License-Identifier: MIT */
#include "base/map.h"
#include "unwind/table/table.h"
#include "unwind_tables/chrome/chrome_v2.h"

#include <elf.h>
#include <string.h>

/* ---- comparison with the binary */

enum {
    WORD = 4,
    STACK = 0x100000, /* maximum of made-up bytes */
    SPARE = 0x400,    /* of these, above the CFA */
    STACK_ADDR = 0x40000000,
};

static const uint32_t return_pc = 0x20000000, leaf_pc = 0x10000000;

struct verifying {
    const struct wndl_chrome_v2 *table;
    const struct wndl_chrome_v2_binary *binary;
    struct wndl_chrome_v2_verdict *verdict;
    uint8_t *stack;
};

/* The value of a word of the stack. All values differ. */
static uint32_t word_of(uint32_t addr)
{
    return addr ^ 0x5a000000u;
}

/* The stack grows from its end. `below` bytes of it are under the CFA. */
static void set_frame(struct wndl_chrome_v2_frame *f,
    const struct wndl_cfi_row *row, const uint8_t *stack)
{
    const uint32_t cfa = STACK_ADDR + STACK - SPARE;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++)
        f->regs[reg] = 0x71000000u + reg;
    f->regs[WNDL_ARM_LR] = return_pc;
    f->regs[WNDL_ARM_PC] = leaf_pc;
    f->regs[WNDL_ARM_SP] = STACK_ADDR;
    f->regs[row->cfa.reg] = cfa - (uint32_t)row->cfa.offset;
    f->stack = (struct wndl_bytes){stack, STACK};
    f->stack_addr = STACK_ADDR;
}

/* Computes the caller by the row itself. */
static void expect(const struct wndl_chrome_v2_frame *f,
    const struct wndl_cfi_row *row, uint32_t regs[WNDL_ARM_REGS])
{
    const uint32_t cfa = STACK_ADDR + STACK - SPARE;
    memcpy(regs, f->regs, sizeof f->regs);
    regs[WNDL_ARM_SP] = cfa;
    for (unsigned reg = WNDL_ARM_R4; reg <= WNDL_ARM_LR; reg++) {
        if (row->regs[reg].kind == WNDL_RULE_OFFSET)
            regs[reg] = word_of(cfa + (uint32_t)row->regs[reg].offset);
    }
    regs[WNDL_ARM_PC] = regs[WNDL_ARM_LR];
}

/* Whether walks find the same: they use a frame's undoing as one row. */
static bool is_found(const struct verifying *v, uint64_t pc,
    const struct wndl_chrome_v2_frame *frame,
    const uint32_t expected[WNDL_ARM_REGS])
{
    const struct wndl_table table = {.machine = EM_ARM,
        .is_chrome = true,
        .text = v->binary->text,
        .chrome = *v->table};
    const uint32_t cfa = STACK_ADDR + STACK - SPARE;
    uint32_t regs[WNDL_ARM_REGS];
    struct wndl_cfi_row row;
    const enum wndl_status status = wndl_table_row(
        &table, wndl_arch_of(EM_ARM), wndl_table_find(&table, pc), &row);
    if (status != WNDL_OK)
        return status == WNDL_NOT_FOUND && expected == NULL;
    if (expected == NULL || row.cfa.kind != WNDL_RULE_REGISTER ||
        frame->regs[row.cfa.reg] + (uint32_t)row.cfa.offset != cfa)
        return false;
    expect(frame, &row, regs);
    return memcmp(regs, expected, sizeof regs) == 0;
}

static bool is_refusal(struct wndl_bytes code)
{
    return code.size == 2 && code.data[0] == 0x80 && code.data[1] == 0;
}

/* A refusal is never wrong: tables leave out what does not fit them. */
static bool is_right(
    const struct verifying *v, uint64_t pc, const struct wndl_cfi_row *row)
{
    struct wndl_chrome_v2_place place;
    struct wndl_chrome_v2_frame frame;
    uint32_t regs[WNDL_ARM_REGS];
    if (wndl_chrome_v2_find(v->table, pc - v->binary->text, &place) != WNDL_OK)
        return false;
    const struct wndl_bytes code =
        wndl_chrome_v2_sequence(v->table, place.instruction);
    if (row == NULL || is_refusal(code)) {
        v->verdict->left_out += row != NULL;
        return is_refusal(code) && is_found(v, pc, NULL, NULL);
    }
    set_frame(&frame, row, v->stack);
    expect(&frame, row, regs);
    return is_found(v, pc, &frame, regs) &&
           wndl_chrome_v2_run(code, &frame) == WNDL_OK &&
           memcmp(regs, frame.regs, sizeof regs) == 0;
}

/* Checks [start, end) of one row, or of code without rules. */
static void check(struct verifying *v, uint64_t start, uint64_t end,
    const struct wndl_cfi_row *row)
{
    const uint64_t at[] = {
        start, (start + (end - start) / 2) & ~UINT64_C(1), (end - 1) & ~1ull};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t pc = at[i] < start ? start : at[i];
        v->verdict->looked_up++;
        if (is_right(v, pc, row))
            continue;
        if (v->verdict->wrong++ == 0)
            v->verdict->first_wrong = pc;
    }
    v->verdict->rows++;
}

static bool check_function(
    void *context, const struct wndl_chrome_v2_function *f)
{
    struct verifying *v = context;
    const uint64_t rows_end = f->row_count == 0 ? f->start : f->rows_end;
    for (size_t i = 0; i < f->row_count; i++) {
        const bool last = i + 1 == f->row_count;
        const uint64_t start = i == 0 ? f->start : f->rows[i].start;
        const uint64_t end = last ? rows_end : f->rows[i + 1].start;
        if (start < end)
            check(v, start, end, &f->rows[i]);
    }
    if (rows_end < f->end)
        check(v, rows_end, f->end, NULL);
    return true;
}

enum wndl_status wndl_chrome_v2_verify(const struct wndl_chrome_v2 *table,
    struct wndl_object *object, struct wndl_chrome_v2_verdict *verdict,
    struct wndl_error *err)
{
    struct wndl_arena arena;
    struct wndl_chrome_v2_binary binary;
    *verdict = (struct wndl_chrome_v2_verdict){0};
    wndl_arena_init(&arena, wndl_mem_libc());
    struct verifying v = {
        table, &binary, verdict, wndl_arena_alloc(&arena, STACK)};
    enum wndl_status status = WNDL_NOMEM;
    if (v.stack == NULL)
        wndl_fail(err, status, "out of memory");
    else {
        for (uint32_t i = 0; i < STACK; i += WORD) {
            const uint32_t word = word_of(STACK_ADDR + i);
            memcpy(v.stack + i, &word, sizeof word);
        }
        status =
            wndl_chrome_v2_functions(object, &binary, check_function, &v, err);
    }
    wndl_arena_free(&arena);
    if (status == WNDL_OK && !wndl_chrome_v2_fits(table, binary.text_size))
        return wndl_fail(err, WNDL_MALFORMED,
            "its .text ends before the last function in the table, which is "
            "for another binary");
    return status;
}

/* ---- contents */

struct wndl_bytes wndl_chrome_v2_sequence(
    const struct wndl_chrome_v2 *table, uint32_t at)
{
    const struct wndl_bytes all = table->instructions;
    const size_t left = all.size - at;
    struct wndl_exidx_code code = {all.data + at, 0,
        left > UINT32_MAX ? UINT32_MAX : (uint32_t)left, true};
    struct wndl_exidx_op op;
    while (code.next < code.end && wndl_exidx_next(&code, &op) == WNDL_OK) {
        if (op.kind == WNDL_EXIDX_FINISH || op.kind == WNDL_EXIDX_REFUSE)
            return (struct wndl_bytes){all.data + at, code.next};
    }
    return (struct wndl_bytes){0};
}

/* The result for a list of pairs, kept because functions share them. */
struct list {
    uint32_t addresses;
    uint64_t naive;
};

struct counting {
    const struct wndl_chrome_v2 *table;
    struct wndl_chrome_v2_counts *counts;
    struct wndl_map lists;     /* place -> index of `found`, from 1 */
    struct wndl_vec found;     /* struct list */
    struct wndl_map sequences; /* place -> size */
    uint64_t work;
};

enum { WORK_PER_BYTE = 64, WORK_AT_LEAST = 1 << 20 };

/* MALFORMED, or NOMEM. */
static enum wndl_status count_pair(
    struct counting *c, uint32_t instruction, struct list *list)
{
    uint64_t *size = wndl_map_put(&c->sequences, instruction);
    if (size == NULL)
        return WNDL_NOMEM;
    if (*size == 0) {
        *size = wndl_chrome_v2_sequence(c->table, instruction).size;
        c->work += *size;
    }
    if (*size == 0)
        return WNDL_MALFORMED;
    list->addresses++;
    list->naive += WORD + *size;
    return WNDL_OK;
}

static enum wndl_status count_list(
    struct counting *c, uint32_t at, struct list *list)
{
    struct wndl_cursor pairs = wndl_cursor_at(c->table->offsets, at, false);
    uint64_t last = UINT64_MAX;
    uint32_t offset, instruction;
    const uint64_t limit =
        WORK_AT_LEAST + WORK_PER_BYTE * (uint64_t)c->table->offsets.size;
    while (wndl_chrome_v2_pair(&pairs, c->table, &offset, &instruction)) {
        if (offset >= last)
            return WNDL_MALFORMED;
        const enum wndl_status status = count_pair(c, instruction, list);
        if (status != WNDL_OK || offset == 0)
            return status;
        if (c->work++ > limit)
            return WNDL_LIMIT;
        last = offset;
    }
    return WNDL_MALFORMED;
}

static enum wndl_status count_function(struct counting *c, uint32_t i)
{
    uint32_t start, offsets;
    wndl_chrome_v2_function(c->table, i, &start, &offsets);
    uint64_t *index = wndl_map_put(&c->lists, offsets);
    if (index == NULL)
        return WNDL_NOMEM;
    if (*index == 0) {
        struct list *made = wndl_vec_push(&c->found);
        if (made == NULL)
            return WNDL_NOMEM;
        *index = c->found.len;
        const enum wndl_status status = count_list(c, offsets, made);
        if (status != WNDL_OK)
            return status;
    }
    const struct list *list = wndl_vec_at(&c->found, (size_t)*index - 1);
    c->counts->addresses += list->addresses;
    c->counts->naive += list->naive;
    return WNDL_OK;
}

enum wndl_status wndl_chrome_v2_count(const struct wndl_chrome_v2 *table,
    struct wndl_chrome_v2_counts *counts, struct wndl_mem *mem,
    struct wndl_error *err)
{
    struct wndl_arena arena;
    struct counting c = {.table = table, .counts = counts};
    enum wndl_status status = WNDL_OK;
    *counts =
        (struct wndl_chrome_v2_counts){.functions = table->function_count};
    wndl_arena_init(&arena, mem);
    wndl_map_init(&c.lists, &arena);
    wndl_map_init(&c.sequences, &arena);
    wndl_vec_init(&c.found, &arena, sizeof(struct list));
    for (uint32_t i = 0; i < table->function_count && status == WNDL_OK; i++) {
        status = count_function(&c, i);
        if (status == WNDL_NOMEM)
            wndl_fail(err, status, "out of memory");
        else if (status == WNDL_LIMIT)
            wndl_fail(
                err, status, "function %u: sequences overlap too much", i);
        else if (status != WNDL_OK)
            wndl_fail(err, status,
                "function %u: its offsets or instructions have no end, or are "
                "not in order",
                i);
    }
    counts->offset_sequences = c.lists.count;
    counts->sequences = c.sequences.count;
    wndl_arena_free(&arena);
    return status;
}
