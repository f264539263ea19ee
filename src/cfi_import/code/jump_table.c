/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/jump_table.h"

#include "cfi_import/code/flow_impl.h"

enum {
    BACK = 48,
    MOST_ENTRIES = 4096,
    MOST_IN_CODE = 32,        /* entries of a table in the code, */
    MOST_OF_FUNCTION = 16384, /* bytes of its function before the jump */
    BACK_BYTES = 512,
};

/* The contents of a register. */
enum kind {
    NOTHING,
    ADDRESS, /* `value` */
    INDEX,   /* less than `count` */
    ENTRY,   /* an entry of the table at `value` */
    TARGET,  /* that, added to `base` */
};

struct value {
    uint8_t kind; /* enum kind */
    uint8_t width;
    uint8_t by; /* i386: the register with `base`, of an ENTRY */
    uint8_t shift;
    bool is_signed, subtracts;
    uint32_t count;
    uint64_t value, base;
};

struct reading {
    const struct wndl_code_text *text;
    struct value regs[WNDL_INSN_REGS];
    uint8_t compared; /* register, or none */
    int64_t with;
};

/* ---- data */

struct wndl_bytes wndl_code_text_bytes(
    const struct wndl_code_text *t, uint64_t svma)
{
    for (size_t i = 0; i < t->part_count; i++) {
        const struct wndl_code_part *p = &t->parts[i];
        if (svma >= p->svma && svma - p->svma < p->bytes.size)
            return wndl_bytes_slice(
                p->bytes, svma - p->svma, p->bytes.size - (svma - p->svma));
    }
    return (struct wndl_bytes){0};
}

/* ---- the code before */

/* The offsets of instructions that lead to `offset`, the last one first. */
static unsigned list_before(
    const struct wndl_code_flow *flow, uint64_t offset, uint32_t list[BACK])
{
    unsigned count = 0;
    uint64_t next = offset;
    for (uint64_t at = offset; at-- > 0 && offset - at < BACK_BYTES;) {
        if (wndl_code_flow_id(flow, at) == 0 ||
            at + wndl_code_flow_size(flow, at) != next)
            continue;
        list[count++] = (uint32_t)at;
        next = at;
        if (count == BACK)
            break;
    }
    return count;
}

static uint32_t entries_of(const struct reading *r, uint8_t index)
{
    return index != WNDL_INSN_NO_REG && r->regs[index].kind == INDEX
               ? r->regs[index].count
               : UINT32_MAX;
}

/*
 * i386: without a register, an entry is an address. A register whose contents
 * are not known has the address of the global offset table, from where both the
 * table and its entries are counted.
 */
static struct value value_loaded_32(
    const struct reading *r, const struct wndl_insn *insn)
{
    const struct wndl_insn_mem *m = &insn->mem;
    struct value v = {.kind = TARGET,
        .width = 4,
        .count = entries_of(r, m->index),
        .value = (uint32_t)m->offset};
    if (m->in_segment || m->index == WNDL_INSN_NO_REG || m->scale != 4)
        return (struct value){0};
    if (m->base == WNDL_INSN_NO_REG)
        return v;
    if (r->regs[m->base].kind != NOTHING || r->text->got == 0)
        return (struct value){0};
    v.kind = ENTRY;
    v.by = m->base;
    v.base = r->text->got;
    v.value = (uint32_t)(v.value + v.base);
    return v;
}

/* Entries of 4 bytes count from a known address, those of 8 are addresses. */
static struct value value_loaded_64(
    const struct reading *r, const struct wndl_insn *insn)
{
    const struct wndl_insn_mem *m = &insn->mem;
    const uint8_t width = insn->op == WNDL_INSN_LOAD_SIGNED ? 4 : 8;
    struct value v = {.kind = width == 4 ? ENTRY : TARGET,
        .width = width,
        .is_signed = true,
        .value = (uint64_t)m->offset};
    uint8_t base = m->base, index = m->index;
    if (m->in_segment || index == WNDL_INSN_NO_REG)
        return (struct value){0};
    if (m->scale == 1 && base != WNDL_INSN_NO_REG &&
        r->regs[base].kind != ADDRESS) {
        base = m->index;
        index = m->base;
    }
    v.count = entries_of(r, index);
    if (base != WNDL_INSN_NO_REG) {
        if (r->regs[base].kind != ADDRESS)
            return (struct value){0};
        v.value += r->regs[base].value;
    }
    v.base = v.value;
    return v;
}

/* Entries of 8 bytes are addresses; how others count is said by the sum. */
static struct value value_loaded_a64(
    const struct reading *r, const struct wndl_insn *insn)
{
    enum { WORD_BITS = 64, BYTE_BITS = 8 };
    const struct wndl_insn_mem *m = &insn->mem;
    const uint8_t width = insn->width / BYTE_BITS;
    if (m->base == WNDL_INSN_NO_REG || m->index == WNDL_INSN_NO_REG ||
        r->regs[m->base].kind != ADDRESS || m->scale != width)
        return (struct value){0};
    return (struct value){.kind = insn->width == WORD_BITS ? TARGET : ENTRY,
        .width = width,
        .is_signed = insn->op == WNDL_INSN_LOAD_SIGNED,
        .count = entries_of(r, m->index),
        .value = r->regs[m->base].value};
}

static struct value value_loaded(
    const struct reading *r, const struct wndl_insn *insn)
{
    return r->text->mode == WNDL_INSN_A64  ? value_loaded_a64(r, insn)
           : r->text->mode == WNDL_INSN_64 ? value_loaded_64(r, insn)
                                           : value_loaded_32(r, insn);
}

/* The sum of an address with a constant, or with an entry. */
static struct value value_summed(
    const struct reading *r, const struct wndl_insn_mem *m)
{
    enum { SIGNED_BYTE = 4 }; /* and what follows it: DDI 0487, C1.2.5 */
    if (m->fixed)
        return (struct value){.kind = ADDRESS, .value = (uint64_t)m->offset};
    if (r->text->mode != WNDL_INSN_A64 || m->base == WNDL_INSN_NO_REG)
        return (struct value){0};
    struct value v = r->regs[m->base];
    if (m->index == WNDL_INSN_NO_REG) {
        v.value += (uint64_t)m->offset;
        return v.kind == ADDRESS ? v : (struct value){0};
    }
    const struct value *entry = &r->regs[m->index];
    if (m->scale == 1 && v.kind == ENTRY && entry->kind == ADDRESS) {
        v.base = entry->value;
    } else if (v.kind == ADDRESS && entry->kind == ENTRY) {
        const uint64_t base = v.value;
        v = *entry;
        v.base = base;
        v.shift = (uint8_t)__builtin_ctz(m->scale);
        v.is_signed |= m->extend >= SIGNED_BYTE;
        v.subtracts = m->subtracts;
    } else {
        return (struct value){0};
    }
    v.kind = TARGET;
    return v;
}

/* Whether the entry counts from the register `other`, which has `v`. */
static bool is_base(const struct reading *r, const struct value *entry,
    uint8_t other, const struct value *v)
{
    return r->text->mode == WNDL_INSN_64
               ? v->kind == ADDRESS && v->value == entry->value
               : v->kind == NOTHING && other == entry->by;
}

static void add_base(struct reading *r, const struct wndl_insn *insn)
{
    const bool is_first = r->regs[insn->reg].kind == ENTRY;
    const struct value *entry = &r->regs[is_first ? insn->reg : insn->from];
    const uint8_t other = is_first ? insn->from : insn->reg;
    struct value v = {0};
    if (entry->kind == ENTRY && is_base(r, entry, other, &r->regs[other])) {
        v = *entry;
        v.kind = TARGET;
    }
    r->regs[insn->reg] = v;
}

/* Behind the branch, the index is not above. */
static void bound_index(struct reading *r, const struct wndl_insn *insn)
{
    if (r->compared == WNDL_INSN_NO_REG || r->with < 0 ||
        r->with >= MOST_ENTRIES || (!insn->above && !insn->above_same))
        return;
    r->regs[r->compared] = (struct value){
        .kind = INDEX, .count = (uint32_t)r->with + (insn->above ? 1 : 0)};
}

static void forget(struct reading *r, uint32_t writes)
{
    for (unsigned i = 0; i < WNDL_INSN_REGS; i++) {
        if ((writes >> i & 1) != 0)
            r->regs[i] = (struct value){0};
    }
}

static void read_insn(struct reading *r, const struct wndl_insn *insn)
{
    struct value v = {0};
    switch ((enum wndl_insn_op)insn->op) {
    case WNDL_INSN_COMPARE:
        r->compared = insn->reg;
        r->with = insn->value;
        return;
    case WNDL_INSN_COMPARE_REG:
        r->compared = WNDL_INSN_NO_REG;
        return;
    case WNDL_INSN_BRANCH:
        bound_index(r, insn);
        return;
    case WNDL_INSN_ADDRESS:
        r->regs[insn->reg] = value_summed(r, &insn->mem);
        return;
    case WNDL_INSN_LOAD:
    case WNDL_INSN_LOAD_SIGNED:
    case WNDL_INSN_LOAD_PART:
        v = value_loaded(r, insn);
        forget(r, insn->writes);
        if (insn->reg != WNDL_INSN_NO_REG)
            r->regs[insn->reg] = v;
        return;
    case WNDL_INSN_ADD_REG:
        add_base(r, insn);
        return;
    case WNDL_INSN_NOP:
        return;
    default:
        break;
    }
    const bool copies = insn->from != WNDL_INSN_NO_REG &&
                        insn->reg != WNDL_INSN_NO_REG &&
                        (insn->op == WNDL_INSN_MOVE || insn->width == 32);
    v = copies ? r->regs[insn->from] : v;
    forget(r, insn->writes);
    if (copies)
        r->regs[insn->reg] = v;
    if (insn->op == WNDL_INSN_CALL || insn->op == WNDL_INSN_CALL_OTHER)
        forget(r, UINT32_MAX);
}

/* ---- the table */

/* The number of entries up to where something else has its address. */
static uint32_t entries_before_next(
    const struct wndl_code_flow *f, const struct value *v)
{
    const uint64_t *all = f->addresses.data;
    const size_t count = f->addresses.len;
    const size_t next =
        count == 0 ? 0 : wndl_search_up_to(all, sizeof *all, count, v->value);
    const uint64_t room =
        next < count ? (all[next] - v->value) / v->width : MOST_ENTRIES;
    return room < v->count ? (uint32_t)room : v->count;
}

/* The number of entries of a table in the code, up to what something leads to.
 */
static uint32_t entries_before_code(
    const struct wndl_code_flow *f, const struct value *v)
{
    enum { LEADS = IS_TARGET | IS_NAMED | IS_CALLED | IS_START };
    const uint64_t size = f->text->code.bytes.size;
    const uint32_t start = offset_of(f, v->value);
    uint32_t count = 0;
    for (uint64_t at = start;
         at + v->width <= size && count < v->count && count < MOST_IN_CODE;
         at += v->width, count++) {
        if (wndl_code_flow_id(f, at) != 0 ||
            (at != start && (f->marks[at] & LEADS) != 0))
            break;
    }
    return count;
}

/*
 * A table of which the entries are subtracted is after its function, as dav1d's
 * are, and only leads to that: from the last known start on.
 */
static void bound_targets(const struct wndl_code_flow *f, uint64_t jump,
    uint64_t svma, struct wndl_jump_table *table)
{
    uint64_t start = jump;
    while (start != 0 && jump - start < MOST_OF_FUNCTION &&
           (f->marks[start] & (IS_NAMED | IS_CALLED | IS_START)) == 0)
        start--;
    table->low = f->text->code.svma + start;
    if (svma > f->text->code.svma + jump)
        table->high = svma;
}

bool wndl_jump_table_find(const struct wndl_code_flow *flow, uint64_t offset,
    struct wndl_jump_table *table)
{
    const struct wndl_code_part *code = &flow->text->code;
    struct reading r = {.text = flow->text, .compared = WNDL_INSN_NO_REG};
    struct wndl_insn insn;
    struct value v;
    uint32_t list[BACK];
    unsigned count = list_before(flow, offset, list);
    while (count-- > 0) {
        const struct wndl_bytes bytes = wndl_bytes_slice(
            code->bytes, list[count], code->bytes.size - list[count]);
        if (wndl_insn_decode(
                flow->text->mode, bytes, code->svma + list[count], &insn))
            read_insn(&r, &insn);
    }
    if (!wndl_insn_decode(flow->text->mode,
            wndl_bytes_slice(code->bytes, offset, code->bytes.size - offset),
            code->svma + offset, &insn))
        return false;
    v = insn.from != WNDL_INSN_NO_REG ? r.regs[insn.from]
                                      : value_loaded(&r, &insn);
    if (v.kind != TARGET || (v.subtracts && !has_offset(flow, v.value)))
        return false;
    *table = (struct wndl_jump_table){
        .bytes = wndl_code_text_bytes(flow->text, v.value),
        .base = v.base,
        .is_32 = flow->text->mode == WNDL_INSN_32,
        .shift = v.shift,
        .is_signed = v.is_signed,
        .subtracts = v.subtracts,
        .count = v.subtracts ? entries_before_code(flow, &v)
                             : entries_before_next(flow, &v),
        .high = UINT64_MAX,
        .width = v.width};
    if (v.subtracts)
        bound_targets(flow, offset, v.value, table);
    return table->bytes.size != 0;
}

static uint64_t entry_at(
    const struct wndl_jump_table *table, struct wndl_cursor *c)
{
    switch (table->width) {
    case 1: {
        const uint8_t entry = wndl_cursor_u8(c);
        return table->is_signed ? (uint64_t)(int8_t)entry : entry;
    }
    case 2: {
        const uint16_t entry = wndl_cursor_u16(c);
        return table->is_signed ? (uint64_t)(int16_t)entry : entry;
    }
    default: {
        const uint32_t entry = wndl_cursor_u32(c);
        return table->is_signed ? (uint64_t)(int32_t)entry : entry;
    }
    }
}

static uint64_t target_of(const struct wndl_jump_table *table, uint64_t entry)
{
    const uint64_t by = entry << table->shift;
    return table->subtracts ? table->base - by : table->base + by;
}

bool wndl_jump_table_entry(
    const struct wndl_jump_table *table, uint32_t index, uint64_t *svma)
{
    struct wndl_cursor c =
        wndl_cursor_at(table->bytes, (uint64_t)index * table->width, false);
    if (index >= table->count || index >= MOST_ENTRIES)
        return false;
    if (table->width == 8)
        *svma = wndl_cursor_u64(&c);
    else
        *svma = target_of(table, entry_at(table, &c));
    if (table->is_32)
        *svma = (uint32_t)*svma;
    return !c.failed && *svma >= table->low && *svma < table->high;
}
