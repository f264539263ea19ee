/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/state.h"

#include <string.h>

enum {
    FARTHEST = 1 << 30, /* bytes that an offset may have */
};

static const struct wndl_code_machine *machine_of(
    const struct wndl_code_state *s)
{
    return wndl_code_machine_of((enum wndl_insn_mode)s->mode);
}

static struct wndl_code_value *sp_of(struct wndl_code_state *s)
{
    return &s->regs[machine_of(s)->sp];
}

static int32_t word_of(const struct wndl_code_state *s)
{
    return machine_of(s)->word;
}

static const struct wndl_code_value unknown;

static struct wndl_code_value add(struct wndl_code_value v, int64_t by)
{
    const int64_t sum = v.offset + by;
    if ((v.from != WNDL_CODE_CFA && v.from < WNDL_CODE_ANCHOR) ||
        by < -FARTHEST || by > FARTHEST || sum < -FARTHEST || sum > FARTHEST)
        return unknown;
    v.offset = (int32_t)sum;
    return v;
}

static const struct wndl_code_value return_address = {
    WNDL_CODE_ENTRY + WNDL_CODE_RA, 0};

static struct wndl_code_value sp_at_entry(
    const struct wndl_code_machine *machine)
{
    return (struct wndl_code_value){WNDL_CODE_CFA,
        machine->link == WNDL_INSN_NO_REG ? -(int32_t)machine->word : 0};
}

void wndl_code_state_enter(struct wndl_code_state *s, enum wndl_insn_mode mode)
{
    memset(s, 0, sizeof *s);
    s->mode = (uint8_t)mode;
    const struct wndl_code_machine *machine = machine_of(s);
    for (unsigned reg = 0; reg < machine->regs; reg++) {
        if ((machine->keeps >> reg & 1) != 0)
            s->regs[reg].from = WNDL_CODE_ENTRY + reg;
    }
    *sp_of(s) = sp_at_entry(machine);
    if (machine->link != WNDL_INSN_NO_REG) {
        s->regs[machine->link] = return_address;
        return;
    }
    s->slots = 1;
    s->slot[0] = (struct wndl_code_slot){*sp_of(s), return_address};
}

void wndl_code_state_start(struct wndl_code_state *s, enum wndl_insn_mode mode)
{
    wndl_code_state_enter(s, mode);
    s->slots = 0;
    s->slot[0] = (struct wndl_code_slot){0};
    if (machine_of(s)->link != WNDL_INSN_NO_REG)
        s->regs[machine_of(s)->link] = unknown;
    s->is_start = 1;
}

/* ---- packed */

enum { REGS_AT = offsetof(struct wndl_code_state, regs) };

static size_t regs_size(const struct wndl_code_state *s)
{
    return machine_of(s)->regs * sizeof *s->regs;
}

struct wndl_bytes wndl_code_state_pack(const struct wndl_code_state *s,
    uint8_t room[sizeof(struct wndl_code_state)])
{
    const size_t regs = REGS_AT + regs_size(s);
    const size_t slots = s->slots * sizeof *s->slot;
    memcpy(room, s, regs);
    memcpy(room + regs, s->slot, slots);
    return (struct wndl_bytes){room, regs + slots};
}

void wndl_code_state_load(struct wndl_code_state *s, struct wndl_bytes bytes)
{
    memset(s, 0, sizeof *s);
    memcpy(s, bytes.data, REGS_AT);
    const size_t regs = regs_size(s);
    memcpy(s->regs, bytes.data + REGS_AT, regs);
    memcpy(s->slot, bytes.data + REGS_AT + regs, s->slots * sizeof *s->slot);
}

struct wndl_code_value wndl_code_packed_sp(struct wndl_bytes bytes)
{
    const unsigned sp =
        wndl_code_machine_of((enum wndl_insn_mode)bytes.data[0])->sp;
    struct wndl_code_value value;
    memcpy(&value, bytes.data + REGS_AT + sp * sizeof value, sizeof value);
    return value;
}

static bool has_return_address(const struct wndl_code_state *s)
{
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        if (wndl_code_same(s->regs[i], return_address))
            return true;
    }
    return false;
}

bool wndl_code_state_may_return(const struct wndl_code_state *s)
{
    const struct wndl_code_machine *machine = machine_of(s);
    return wndl_code_same(s->regs[machine->sp], sp_at_entry(machine)) &&
           (machine->link == WNDL_INSN_NO_REG || has_return_address(s));
}

bool wndl_code_state_in_register(const struct wndl_code_state *s)
{
    if (machine_of(s)->link == WNDL_INSN_NO_REG || !has_return_address(s))
        return false;
    for (uint32_t i = 0; i < s->slots; i++) {
        if (wndl_code_same(s->slot[i].value, return_address))
            return false;
    }
    return true;
}

/* ---- slots */

static bool is_place(struct wndl_code_value v)
{
    return v.from == WNDL_CODE_CFA || v.from >= WNDL_CODE_ANCHOR;
}

static bool is_before(struct wndl_code_value a, struct wndl_code_value b)
{
    return a.from != b.from ? a.from < b.from : a.offset < b.offset;
}

static void drop_slot(struct wndl_code_state *s, uint32_t i)
{
    memmove(&s->slot[i], &s->slot[i + 1], (s->slots - i - 1) * sizeof *s->slot);
    s->slot[--s->slots] = (struct wndl_code_slot){0};
}

/* Forgets what [at, at + size) overlaps. */
static void spoil(
    struct wndl_code_state *s, struct wndl_code_value at, int64_t size)
{
    for (uint32_t i = s->slots; i-- > 0;) {
        const struct wndl_code_value slot = s->slot[i].at;
        if (slot.from == at.from && slot.offset < at.offset + size &&
            slot.offset + word_of(s) > at.offset)
            drop_slot(s, i);
    }
}

static void store(struct wndl_code_state *s, struct wndl_code_value at,
    struct wndl_code_value value)
{
    uint32_t i = 0;
    if (!is_place(at))
        return;
    spoil(s, at, word_of(s));
    if (value.from == WNDL_CODE_UNKNOWN || s->slots == WNDL_CODE_SLOTS)
        return;
    while (i < s->slots && is_before(s->slot[i].at, at))
        i++;
    memmove(&s->slot[i + 1], &s->slot[i], (s->slots - i) * sizeof *s->slot);
    s->slot[i] = (struct wndl_code_slot){at, value};
    s->slots++;
}

static struct wndl_code_value load(
    const struct wndl_code_state *s, struct wndl_code_value at)
{
    for (uint32_t i = 0; is_place(at) && i < s->slots; i++) {
        if (wndl_code_same(s->slot[i].at, at))
            return s->slot[i].value;
    }
    return unknown;
}

/* ---- instructions */

/* The index; false if it is not known. */
static bool number_of(const struct wndl_code_state *s,
    const struct wndl_insn_mem *mem, int64_t *number)
{
    const struct wndl_code_value v = s->regs[mem->index];
    *number = (int64_t)v.offset * mem->scale * (mem->subtracts ? -1 : 1);
    return v.from == WNDL_CODE_NUMBER;
}

static struct wndl_code_value address_of(
    const struct wndl_code_state *s, const struct wndl_insn_mem *mem)
{
    int64_t number = 0;
    if (mem->in_segment || mem->base == WNDL_INSN_NO_REG ||
        (mem->index != WNDL_INSN_NO_REG && !number_of(s, mem, &number)))
        return unknown;
    return add(s->regs[mem->base], mem->offset + number);
}

/* A place for which nothing but its own neighbourhood is known. */
static struct wndl_code_value new_anchor(
    struct wndl_code_state *s, uint32_t offset)
{
    const uint32_t from = WNDL_CODE_ANCHOR + offset;
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        if (s->regs[i].from == from)
            s->regs[i] = unknown;
    }
    for (uint32_t i = s->slots; i-- > 0;) {
        if (s->slot[i].at.from == from || s->slot[i].value.from == from)
            drop_slot(s, i);
    }
    return (struct wndl_code_value){from, 0};
}

static void push(
    struct wndl_code_state *s, struct wndl_code_value value, int64_t size)
{
    struct wndl_code_value *sp = sp_of(s);
    *sp = add(*sp, -size);
    if (size == word_of(s))
        store(s, *sp, value);
    else if (is_place(*sp))
        spoil(s, *sp, size);
}

static void pop(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    struct wndl_code_value *sp = sp_of(s);
    const struct wndl_code_value value =
        insn->value == word_of(s) ? load(s, *sp) : unknown;
    *sp = add(*sp, insn->value);
    if (insn->reg != WNDL_INSN_NO_REG)
        s->regs[insn->reg] = value;
    else if (insn->stores != 0 && is_place(address_of(s, &insn->mem)))
        spoil(s, address_of(s, &insn->mem), word_of(s));
}

/* After a call, nothing is left below SP. */
static void call(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    const uint32_t kept = machine_of(s)->keeps | insn->keeps;
    if (insn->frees != 0)
        *sp_of(s) = add(*sp_of(s), insn->frees);
    const struct wndl_code_value sp = s->regs[machine_of(s)->sp];
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        if ((kept >> i & 1) == 0)
            s->regs[i] = unknown;
    }
    for (uint32_t i = s->slots; is_place(sp) && i-- > 0;) {
        if (s->slot[i].at.from == sp.from && s->slot[i].at.offset < sp.offset)
            drop_slot(s, i);
    }
}

static void leave(struct wndl_code_state *s)
{
    const struct wndl_code_value fp = s->regs[WNDL_INSN_RBP];
    s->regs[WNDL_INSN_RBP] = load(s, fp);
    s->regs[WNDL_INSN_RSP] = add(fp, word_of(s));
}

static void enter(struct wndl_code_state *s, int64_t size)
{
    push(s, s->regs[WNDL_INSN_RBP], word_of(s));
    s->regs[WNDL_INSN_RBP] = s->regs[WNDL_INSN_RSP];
    s->regs[WNDL_INSN_RSP] = add(s->regs[WNDL_INSN_RSP], -size);
}

static void exchange(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    const struct wndl_code_value value = s->regs[insn->reg];
    s->regs[insn->reg] = s->regs[insn->from];
    s->regs[insn->from] = value;
}

static bool set(
    struct wndl_code_state *s, unsigned reg, struct wndl_code_value value)
{
    const bool changes = !wndl_code_same(s->regs[reg], value);
    s->regs[reg] = value;
    return changes;
}

static struct wndl_code_value value_of(
    const struct wndl_code_state *s, unsigned reg)
{
    return reg == WNDL_INSN_NO_REG ? unknown : s->regs[reg];
}

static struct wndl_code_value number(int64_t value)
{
    return value < 0 || value > FARTHEST
               ? unknown
               : (struct wndl_code_value){WNDL_CODE_NUMBER, (int32_t)value};
}

static bool save(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    const struct wndl_code_value at = address_of(s, &insn->mem);
    if (!is_place(at))
        return false;
    store(s, at, value_of(s, insn->from));
    if (insn->is_pair)
        store(s, add(at, word_of(s)), value_of(s, insn->second));
    return true;
}

static bool restore(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    const struct wndl_code_value at = address_of(s, &insn->mem);
    bool changes = false;
    if (insn->reg != WNDL_INSN_NO_REG)
        changes = set(s, insn->reg, load(s, at));
    if (insn->second != WNDL_INSN_NO_REG)
        changes |= set(s, insn->second, load(s, add(at, word_of(s))));
    return changes;
}

/* Another 16 bits of a number. */
static struct wndl_code_value insert(
    struct wndl_code_value v, const struct wndl_insn *insn)
{
    const int64_t kept =
        v.offset & ~(int64_t)((UINT64_C(0xffff) << insn->width));
    return v.from == WNDL_CODE_NUMBER ? number(kept | insn->value) : unknown;
}

/* The instructions that are not followed, and the writes of others. */
static bool spoil_all(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    const struct wndl_code_value at = address_of(s, &insn->mem);
    const uint32_t slots = s->slots;
    bool changes = false;
    if (insn->stores != 0 && is_place(at))
        spoil(s, at, insn->stores);
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        if ((insn->writes >> i & 1) != 0)
            changes |= set(s, i, unknown);
    }
    return changes || s->slots != slots;
}

static void push_from(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    push(s, value_of(s, insn->from), insn->value);
}

/* False if nothing changed. */
static bool step(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    switch ((enum wndl_insn_op)insn->op) {
    case WNDL_INSN_MOVE:
        return set(s, insn->reg, s->regs[insn->from]);
    case WNDL_INSN_LOAD:
        return restore(s, insn);
    case WNDL_INSN_STORE:
        return save(s, insn);
    case WNDL_INSN_ADDRESS:
        return set(s, insn->reg, address_of(s, &insn->mem));
    case WNDL_INSN_ADD:
        return set(s, insn->reg, add(s->regs[insn->reg], insn->value));
    case WNDL_INSN_NUMBER:
        return set(s, insn->reg, number(insn->value));
    case WNDL_INSN_INSERT:
        return set(s, insn->reg, insert(s->regs[insn->reg], insn));
    case WNDL_INSN_EXCHANGE:
        exchange(s, insn);
        return true;
    case WNDL_INSN_PUSH:
        push_from(s, insn);
        return true;
    case WNDL_INSN_POP:
        pop(s, insn);
        return true;
    case WNDL_INSN_ENTER:
        enter(s, insn->value);
        return true;
    case WNDL_INSN_LEAVE:
        leave(s);
        return true;
    case WNDL_INSN_CALL:
    case WNDL_INSN_CALL_OTHER:
        call(s, insn);
        return true;
    default:
        return spoil_all(s, insn);
    }
}

/* A new anchor for SP keeps what is pushed from here on. */
static void anchor(
    struct wndl_code_state *s, const struct wndl_insn *insn, uint32_t offset)
{
    const uint32_t joined = s->joined;
    struct wndl_code_value *sp = sp_of(s);
    if (insn->op == WNDL_INSN_ALIGN && insn->reg != machine_of(s)->sp)
        s->regs[insn->reg] = new_anchor(s, offset);
    else if (sp->from == WNDL_CODE_UNKNOWN)
        *sp = new_anchor(s, offset);
    s->joined = sp->from == WNDL_CODE_CFA ? 0 : joined;
}

static bool keeps_fp(const struct wndl_code_state *s)
{
    const struct wndl_code_value fp = {WNDL_CODE_ENTRY + machine_of(s)->fp, 0};
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        if (wndl_code_same(s->regs[i], fp))
            return true;
    }
    for (uint32_t i = 0; i < s->slots; i++) {
        if (wndl_code_same(s->slot[i].value, fp))
            return true;
    }
    return false;
}

/*
 * A new thread returns from clone(2) with a stack of its own. Code that then
 * clears RBP, of which it has no copy, cannot return: the psABI, 3.4.1, marks
 * the outermost frame so.
 */
static bool note_thread(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    const bool before = s->is_start, past = s->past_syscall;
    s->past_syscall |= insn->is_syscall;
    if (insn->zeroes == machine_of(s)->fp && past && !keeps_fp(s))
        s->is_start = 1;
    return s->is_start != before || s->past_syscall != past;
}

static bool note_sign(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    const bool before = s->is_signed;
    if (insn->sign != 0)
        s->is_signed = insn->sign == WNDL_INSN_SIGNS;
    return s->is_signed != before;
}

static bool move_base(struct wndl_code_state *s, const struct wndl_insn *insn)
{
    return insn->moves != 0 &&
           set(s, insn->mem.base, add(s->regs[insn->mem.base], insn->moves));
}

bool wndl_code_state_step(
    struct wndl_code_state *s, const struct wndl_insn *insn, uint32_t offset)
{
    bool changes = step(s, insn);
    changes |= move_base(s, insn);
    changes |= note_sign(s, insn);
    changes |= note_thread(s, insn);
    if (!changes && insn->op != WNDL_INSN_ALIGN)
        return false;
    anchor(s, insn, offset);
    return true;
}

bool wndl_code_state_equal_sp(struct wndl_code_state *s, unsigned reg)
{
    if (s->regs[reg].from != WNDL_CODE_CFA ||
        !set(s, machine_of(s)->sp, s->regs[reg]))
        return false;
    s->joined = 0;
    return true;
}

/* ---- joins */

bool wndl_code_state_share_base(
    const struct wndl_code_state *a, const struct wndl_code_state *b)
{
    const struct wndl_code_machine *machine = machine_of(a);
    for (unsigned i = 0; i < machine->regs; i++) {
        if (i != machine->sp && a->regs[i].from == WNDL_CODE_CFA &&
            wndl_code_same(a->regs[i], b->regs[i]))
            return true;
    }
    return false;
}

static bool keeps_slot(
    const struct wndl_code_state *other, const struct wndl_code_slot *slot)
{
    return wndl_code_same(load(other, slot->at), slot->value);
}

void wndl_code_state_join(
    struct wndl_code_state *s, const struct wndl_code_state *other)
{
    const struct wndl_code_value sp = s->regs[machine_of(s)->sp];
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        if (!wndl_code_same(s->regs[i], other->regs[i]))
            s->regs[i] = unknown;
    }
    for (uint32_t i = s->slots; i-- > 0;) {
        if (!keeps_slot(other, &s->slot[i]))
            drop_slot(s, i);
    }
    s->is_signed |= other->is_signed;
    s->is_start &= other->is_start;
    s->past_syscall &= other->past_syscall;
    s->joined |= other->joined;
    if (!wndl_code_same(sp, *sp_of(s)))
        s->joined = 1;
}
