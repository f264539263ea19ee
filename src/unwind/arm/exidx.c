/* SPDX-License-Identifier: MIT */
#include "unwind/arm/exidx.h"

static const char index_name[] = ".ARM.exidx";
static const char table_name[] = ".ARM.extab";

enum {
    ENTRY = 8,
    WORD = 4,
    CANTUNWIND = 1,
    /* One instruction more than the longest table has bytes. */
    OPS_MAX = 1024,
};

static const uint32_t top_bit = UINT32_C(1) << 31;

static uint32_t word_at(
    const struct wndl_exidx *x, struct wndl_bytes bytes, uint64_t offset)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, offset, x->big_endian);
    return wndl_cursor_u32(&c);
}

/* The address that the low 31 bits of the word at `addr` refer to. */
static uint64_t prel31(uint32_t word, uint64_t addr)
{
    const uint32_t offset = (word & ~top_bit) | (word & top_bit >> 1) << 1;
    return (uint32_t)(addr + offset);
}

size_t wndl_exidx_count(const struct wndl_exidx *x)
{
    return x->index.size / ENTRY;
}

uint64_t wndl_exidx_start(const struct wndl_exidx *x, size_t i)
{
    const uint64_t offset = (uint64_t)i * ENTRY;
    return prel31(word_at(x, x->index, offset), x->index_addr + offset) &
           ~UINT64_C(1);
}

enum wndl_status wndl_exidx_find(
    const struct wndl_exidx *x, uint64_t pc, size_t *i)
{
    size_t low = 0, high = wndl_exidx_count(x);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (wndl_exidx_start(x, middle) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    *i = low - 1;
    return low == 0 ? WNDL_NOT_FOUND : WNDL_OK;
}

/* ---- entries */

/*
 * Models 0 to 2: the first word has the model, and the number of words after.
 */
static enum wndl_status read_compact(struct wndl_exidx_entry *entry,
    struct wndl_bytes bytes, uint64_t offset, struct wndl_error *err)
{
    const bool inlined = entry->kind == WNDL_EXIDX_INLINE;
    const char *name = inlined ? index_name : table_name;
    const struct wndl_bytes first = wndl_bytes_slice(bytes, offset, WORD);
    struct wndl_exidx_code *code = &entry->code;
    code->words = first.data;
    const uint32_t top = first.data[code->big_endian ? 0 : 3];
    const uint32_t more = first.data[code->big_endian ? 1 : 2];
    entry->model = top & 0xf;
    code->next = entry->model == 0 ? 1 : 2;
    code->end = WORD;
    if ((top & 0x70) != 0 || entry->model > 2 || (inlined && entry->model != 0))
        return wndl_fail_at(
            err, WNDL_UNSUPPORTED, name, offset, "an unknown compact model");
    if (entry->model != 0)
        code->end += more * WORD;
    if (wndl_bytes_slice(bytes, offset, code->end).data == NULL)
        return wndl_fail_at(err, WNDL_MALFORMED, name, offset,
            "instructions go beyond the section");
    return WNDL_OK;
}

/* Instructions in the form of GNU's personalities, if they are valid. */
static void read_generic(
    struct wndl_exidx_entry *entry, struct wndl_bytes table, uint64_t offset)
{
    struct wndl_exidx_code *code = &entry->code;
    const struct wndl_bytes first = wndl_bytes_slice(table, offset, WORD);
    entry->kind = WNDL_EXIDX_GENERIC;
    if (first.data == NULL)
        return;
    const uint32_t more = first.data[code->big_endian ? 0 : 3];
    const struct wndl_bytes all =
        wndl_bytes_slice(table, offset, (more + 1) * (uint64_t)WORD);
    if (all.data == NULL)
        return;
    *code = (struct wndl_exidx_code){
        all.data, 1, (uint32_t)all.size, code->big_endian};
}

static enum wndl_status read_table(const struct wndl_exidx *x,
    struct wndl_exidx_entry *entry, uint64_t offset, struct wndl_error *err)
{
    const uint64_t in_table = entry->at - x->table_addr;
    if (entry->at < x->table_addr || entry->at % WORD != 0 ||
        wndl_bytes_slice(x->table, in_table, WORD).data == NULL)
        return wndl_fail_at(err, WNDL_MALFORMED, index_name, offset,
            "an entry points to no place in .ARM.extab");
    if ((word_at(x, x->table, in_table) & top_bit) == 0) {
        read_generic(entry, x->table, in_table + WORD);
        return WNDL_OK;
    }
    entry->kind = WNDL_EXIDX_COMPACT;
    return read_compact(entry, x->table, in_table, err);
}

enum wndl_status wndl_exidx_read(const struct wndl_exidx *x, size_t i,
    struct wndl_exidx_entry *entry, struct wndl_error *err)
{
    const uint64_t offset = (uint64_t)i * ENTRY + WORD;
    const uint32_t word = word_at(x, x->index, offset);
    *entry = (struct wndl_exidx_entry){.start = wndl_exidx_start(x, i),
        .at = x->index_addr + offset,
        .offset = offset - WORD,
        .code.big_endian = x->big_endian};
    if (word == CANTUNWIND) {
        entry->kind = WNDL_EXIDX_CANTUNWIND;
        return WNDL_OK;
    }
    if ((word & top_bit) != 0) {
        entry->kind = WNDL_EXIDX_INLINE;
        return read_compact(entry, x->index, offset, err);
    }
    entry->at = prel31(word, entry->at);
    return read_table(x, entry, offset, err);
}

/* ---- instructions */

/* Takes a byte. Sets `truncated` if there is none left. */
static uint32_t take(struct wndl_exidx_code *code, bool *truncated)
{
    if (code->next >= code->end) {
        *truncated = true;
        return 0;
    }
    const uint32_t i = code->next++;
    return code->words[(i & ~3u) | (code->big_endian ? i & 3 : 3 - (i & 3))];
}

/* vsp += 0x204 + (uleb128 << 2) */
static enum wndl_status take_large(
    struct wndl_exidx_code *code, struct wndl_exidx_op *op)
{
    uint64_t value = 0;
    bool truncated = false;
    for (unsigned shift = 0; shift < 32; shift += 7) {
        const uint32_t byte = take(code, &truncated);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) != 0)
            continue;
        op->kind = WNDL_EXIDX_MOVE;
        op->amount = 0x204 + (int64_t)(value << 2);
        if (op->amount > UINT32_MAX)
            return WNDL_MALFORMED;
        return truncated ? WNDL_TRUNCATED : WNDL_OK;
    }
    return truncated ? WNDL_TRUNCATED : WNDL_MALFORMED;
}

static void skip(struct wndl_exidx_op *op, uint32_t bytes)
{
    op->kind = WNDL_EXIDX_SKIP;
    op->amount = bytes;
}

/* 1011xxxx */
static enum wndl_status take_1011(
    struct wndl_exidx_code *code, uint32_t byte, struct wndl_exidx_op *op)
{
    bool truncated = false;
    uint32_t next;
    switch (byte) {
    case 0xb0:
        op->kind = WNDL_EXIDX_FINISH;
        return WNDL_OK;
    case 0xb1: /* r0 to r3 */
        next = take(code, &truncated);
        op->kind = WNDL_EXIDX_POP;
        op->mask = (uint16_t)next;
        if (truncated)
            return WNDL_TRUNCATED;
        return next == 0 || next > 0xf ? WNDL_MALFORMED : WNDL_OK;
    case 0xb2:
        return take_large(code, op);
    case 0xb3: /* FSTMFDX stores a word more than its registers */
        next = take(code, &truncated);
        skip(op, ((next & 0xf) + 1) * 8 + WORD);
        return truncated ? WNDL_TRUNCATED : WNDL_OK;
    case 0xb4: /* the return address's authentication code */
        skip(op, WORD);
        return WNDL_OK;
    case 0xb5: /* vsp is the modifier of that code */
        op->kind = WNDL_EXIDX_NOTHING;
        return WNDL_OK;
    case 0xb6:
    case 0xb7:
        return WNDL_MALFORMED;
    default: /* FSTMFDX from d8 on */
        skip(op, ((byte & 7) + 1) * 8 + WORD);
        return WNDL_OK;
    }
}

/* 11xxxxxx: VFP and WMMX registers, which have no rules. */
static enum wndl_status take_11(
    struct wndl_exidx_code *code, uint32_t byte, struct wndl_exidx_op *op)
{
    bool truncated = false;
    uint32_t next;
    if (byte == 0xc7) { /* wCGR0 to wCGR3 */
        next = take(code, &truncated);
        skip(op, (uint32_t)__builtin_popcount(next) * WORD);
        if (truncated)
            return WNDL_TRUNCATED;
        return next == 0 || next > 0xf ? WNDL_MALFORMED : WNDL_OK;
    }
    if (byte == 0xc6 || byte == 0xc8 || byte == 0xc9) {
        next = take(code, &truncated);
        skip(op, ((next & 0xf) + 1) * 8);
        return truncated ? WNDL_TRUNCATED : WNDL_OK;
    }
    if (byte > 0xd7 || (byte > 0xc9 && byte < 0xd0))
        return WNDL_MALFORMED;
    skip(op, ((byte & 7) + 1) * 8);
    return WNDL_OK;
}

/* 1000xxxx to 1010xxxx: core registers. */
static enum wndl_status take_core(
    struct wndl_exidx_code *code, uint32_t byte, struct wndl_exidx_op *op)
{
    bool truncated = false;
    op->kind = WNDL_EXIDX_POP;
    if (byte < 0x90) {
        const uint32_t mask = (byte & 0xf) << 8 | take(code, &truncated);
        op->kind = mask == 0 ? WNDL_EXIDX_REFUSE : WNDL_EXIDX_POP;
        op->mask = (uint16_t)(mask << WNDL_ARM_R4);
        return truncated ? WNDL_TRUNCATED : WNDL_OK;
    }
    if (byte < 0xa0) {
        op->kind = WNDL_EXIDX_SET;
        op->reg = byte & 0xf;
        return op->reg == WNDL_ARM_SP || op->reg == WNDL_ARM_PC ? WNDL_MALFORMED
                                                                : WNDL_OK;
    }
    op->mask = (uint16_t)(((2u << (byte & 7)) - 1) << WNDL_ARM_R4);
    if ((byte & 8) != 0)
        op->mask |= 1u << WNDL_ARM_LR;
    return WNDL_OK;
}

enum wndl_status wndl_exidx_next(
    struct wndl_exidx_code *code, struct wndl_exidx_op *op)
{
    bool truncated = false;
    const uint32_t byte = take(code, &truncated);
    *op = (struct wndl_exidx_op){.kind = WNDL_EXIDX_FINISH};
    if (truncated)
        return WNDL_OK;
    if (byte < 0x80) {
        const int64_t amount = (int64_t)(byte & 0x3f) * WORD + WORD;
        op->kind = WNDL_EXIDX_MOVE;
        op->amount = byte < 0x40 ? amount : -amount;
        return WNDL_OK;
    }
    if (byte < 0xb0)
        return take_core(code, byte, op);
    return byte < 0xc0 ? take_1011(code, byte, op) : take_11(code, byte, op);
}

/* ---- the row */

/*
 * The state of the frame. vsp is by the registers of the function's body:
 * register `base` + `offset`. Slots count from `slots_base` until the CFA is
 * known.
 */
struct frame {
    uint8_t base;
    int64_t offset;
    uint16_t saved;
    uint8_t slot_base[WNDL_ARM_REGS];
    int64_t slot[WNDL_ARM_REGS];
};

static void pop(struct frame *f, uint16_t mask)
{
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if ((mask >> reg & 1) == 0)
            continue;
        f->slot[reg] = f->offset;
        f->slot_base[reg] = f->base;
        f->offset += WORD;
    }
    f->saved |= mask;
}

/* After a return, r0 to r3 and r12 are not preserved. */
static bool is_kept(unsigned reg)
{
    return (reg >= WNDL_ARM_R4 && reg <= 11) || reg >= WNDL_ARM_LR;
}

static bool fill(struct wndl_cfi_row *row, const struct frame *f)
{
    *row = (struct wndl_cfi_row){
        .cfa = {.kind = WNDL_RULE_REGISTER, .reg = f->base},
        .ra_reg = WNDL_ARM_LR,
    };
    row->cfa.offset = f->offset;
    if ((f->saved >> WNDL_ARM_SP & 1) != 0)
        return false;
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if ((f->saved >> reg & 1) == 0 || !is_kept(reg))
            continue;
        if (f->slot_base[reg] != f->base)
            return false;
        /* A popped pc is where the walk continues. */
        struct wndl_cfi_rule *rule =
            &row->regs[reg == WNDL_ARM_PC ? WNDL_ARM_LR : reg];
        rule->kind = WNDL_RULE_OFFSET;
        rule->offset = f->slot[reg] - f->offset;
    }
    return true;
}

/* Sets vsp from a register. False if that register was popped before. */
static bool set_vsp(struct frame *f, uint8_t reg)
{
    const bool popped = (f->saved >> reg & 1) != 0;
    f->base = reg;
    f->offset = 0;
    return !popped;
}

static enum wndl_status run(
    struct wndl_exidx_code code, struct frame *f, const char **why)
{
    for (unsigned i = 0; i < OPS_MAX; i++) {
        struct wndl_exidx_op op;
        const enum wndl_status status = wndl_exidx_next(&code, &op);
        *why = "an unwinding instruction that is not valid";
        if (status != WNDL_OK || op.kind == WNDL_EXIDX_FINISH)
            return status;
        *why = "refuses to be unwound";
        if (op.kind == WNDL_EXIDX_REFUSE)
            return WNDL_NOT_FOUND;
        *why = "a restored register becomes the stack pointer";
        if (op.kind == WNDL_EXIDX_POP)
            pop(f, op.mask);
        else if (op.kind == WNDL_EXIDX_SET && !set_vsp(f, op.reg))
            return WNDL_UNSUPPORTED;
        else if (op.kind != WNDL_EXIDX_SET)
            f->offset += op.amount;
    }
    *why = "too many unwinding instructions";
    return WNDL_LIMIT;
}

/*
 * Whether these are the instructions of a function that makes calls, and so
 * saves lr, as every function with a personality does. All bytes after the end
 * must be ends too.
 */
static bool is_code(struct wndl_exidx_code code)
{
    struct wndl_exidx_op op = {.kind = WNDL_EXIDX_NOTHING};
    uint32_t popped = 0;
    while (code.next < code.end) {
        const bool ended = op.kind == WNDL_EXIDX_FINISH;
        if (wndl_exidx_next(&code, &op) != WNDL_OK ||
            (ended && op.kind != WNDL_EXIDX_FINISH))
            return false;
        popped |= op.mask;
    }
    return (popped & (1u << WNDL_ARM_LR | 1u << WNDL_ARM_PC)) != 0;
}

enum wndl_status wndl_exidx_row(const struct wndl_exidx_entry *entry,
    struct wndl_cfi_row *row, struct wndl_error *err)
{
    struct frame f = {.base = WNDL_ARM_SP};
    const char *why = "cannot be unwound (CANTUNWIND)";
    enum wndl_status status = WNDL_NOT_FOUND;
    if (entry->kind == WNDL_EXIDX_GENERIC && !is_code(entry->code)) {
        why = "is of the generic model: only its personality knows its rules";
        status = WNDL_UNSUPPORTED;
    } else if (entry->kind != WNDL_EXIDX_CANTUNWIND) {
        status = run(entry->code, &f, &why);
    }
    if (status == WNDL_OK && !fill(row, &f)) {
        why = "no row can express it: slots by two registers, or a popped sp";
        status = WNDL_UNSUPPORTED;
    }
    if (status == WNDL_OK)
        return status;
    return wndl_fail_at(err, status, index_name, entry->offset, why);
}
