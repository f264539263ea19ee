/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/state.h"

#include "base/buf.h"

#include <string.h>

enum { OP_DEREF = 0x06, OP_CONSTS = 0x11, OP_PLUS = 0x22, OP_BREG0 = 0x70 };

static const struct wndl_code_machine *machine_of(
    const struct wndl_code_state *s)
{
    return wndl_code_machine_of((enum wndl_insn_mode)s->mode);
}

static uint8_t dwarf_of(const struct wndl_code_state *s, unsigned reg)
{
    return machine_of(s)->dwarf[reg];
}

/* ---- expressions */

struct writer {
    uint8_t *next, *end;
};

static void put(struct writer *w, uint8_t byte)
{
    if (w->next < w->end)
        *w->next++ = byte;
}

static void put_sleb(struct writer *w, int64_t value)
{
    for (;;) {
        const uint8_t byte = (uint8_t)(value & 0x7f);
        value >>= 7;
        if ((value == 0 && (byte & 0x40) == 0) ||
            (value == -1 && (byte & 0x40) != 0)) {
            put(w, byte);
            return;
        }
        put(w, byte | 0x80);
    }
}

/* A rule by the address reg + offset; `reg` as DWARF numbers it. */
static struct wndl_cfi_rule write_place(
    struct writer *w, enum wndl_cfi_rule_kind kind, uint8_t reg, int64_t offset)
{
    struct wndl_cfi_rule rule = {.kind = (uint8_t)kind};
    rule.expr = w->next;
    put(w, (uint8_t)(OP_BREG0 + reg));
    put_sleb(w, offset);
    rule.expr_size = (uint32_t)(w->next - rule.expr);
    return rule;
}

static void add_word(struct writer *w, struct wndl_cfi_rule *rule, int64_t by)
{
    put(w, OP_DEREF);
    if (by != 0) {
        put(w, OP_CONSTS);
        put_sleb(w, by);
        put(w, OP_PLUS);
    }
    rule->expr_size = (uint32_t)(w->next - rule->expr);
}

/* ---- rules */

/* A register by which a slot of an anchor is reached. */
static bool reach(const struct wndl_code_state *s,
    const struct wndl_code_slot *slot, unsigned *reg, int64_t *offset)
{
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        const unsigned at = machine_of(s)->lasting[i];
        if (s->regs[at].from != slot->at.from)
            continue;
        *reg = at;
        *offset = (int64_t)slot->at.offset - s->regs[at].offset;
        return true;
    }
    return false;
}

/* Whether nobody writes there: not below the red zone. */
static bool is_safe(
    const struct wndl_code_state *s, const struct wndl_code_slot *slot)
{
    const struct wndl_code_value sp = s->regs[machine_of(s)->sp];
    return sp.from != slot->at.from ||
           slot->at.offset >= sp.offset - machine_of(s)->red_zone;
}

static bool is_live(
    const struct wndl_code_state *s, const struct wndl_code_slot *slot)
{
    const struct wndl_code_value sp = s->regs[machine_of(s)->sp];
    return sp.from != slot->at.from || slot->at.offset >= sp.offset;
}

/* Code with a frame pointer keeps it longer than SP. */
static bool has_frame(const struct wndl_code_state *s)
{
    const struct wndl_code_value fp = s->regs[machine_of(s)->fp];
    for (uint32_t i = 0; fp.from == WNDL_CODE_CFA && i < s->slots; i++) {
        if (wndl_code_same(s->slot[i].at, fp) &&
            s->slot[i].value.from ==
                WNDL_CODE_ENTRY + (uint32_t)machine_of(s)->fp)
            return true;
    }
    return false;
}

static bool counts_from(
    const struct wndl_code_state *s, unsigned reg, struct wndl_cfi_rule *cfa)
{
    if (s->regs[reg].from != WNDL_CODE_CFA)
        return false;
    *cfa = (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER,
        .reg = dwarf_of(s, reg),
        .offset = -(int64_t)s->regs[reg].offset};
    return true;
}

static bool cfa_by_register(
    const struct wndl_code_state *s, struct wndl_cfi_rule *cfa)
{
    bool found = !has_frame(s) && counts_from(s, machine_of(s)->sp, cfa);
    for (unsigned i = 0; i < machine_of(s)->regs && !found; i++)
        found = counts_from(s, machine_of(s)->lasting[i], cfa);
    return found;
}

static bool cfa_by_slot(const struct wndl_code_state *s, struct writer *w,
    struct wndl_cfi_rule *cfa)
{
    for (uint32_t i = 0; i < s->slots; i++) {
        const struct wndl_code_slot *slot = &s->slot[i];
        unsigned reg;
        int64_t offset;
        if (slot->value.from != WNDL_CODE_CFA || !is_safe(s, slot) ||
            !reach(s, slot, &reg, &offset))
            continue;
        *cfa = write_place(w, WNDL_RULE_VAL_EXPR, dwarf_of(s, reg), offset);
        add_word(w, cfa, -(int64_t)slot->value.offset);
        return true;
    }
    return false;
}

/*
 * The rule by a slot that has the register's value at the entry: one at or
 * above SP, or one of the red zone.
 */
static bool rule_by_slot(const struct wndl_code_state *s, unsigned reg,
    bool is_above, struct writer *w, struct wndl_cfi_rule *rule)
{
    for (uint32_t i = 0; i < s->slots; i++) {
        const struct wndl_code_slot *slot = &s->slot[i];
        unsigned base;
        int64_t offset;
        if (slot->value.from != WNDL_CODE_ENTRY + reg || !is_safe(s, slot) ||
            (is_above && !is_live(s, slot)))
            continue;
        if (slot->at.from == WNDL_CODE_CFA)
            *rule = (struct wndl_cfi_rule){
                .kind = WNDL_RULE_OFFSET, .offset = slot->at.offset};
        else if (reach(s, slot, &base, &offset))
            *rule = write_place(w, WNDL_RULE_EXPR, dwarf_of(s, base), offset);
        else
            continue;
        return true;
    }
    return false;
}

static bool rule_by_register(
    const struct wndl_code_state *s, unsigned reg, struct wndl_cfi_rule *rule)
{
    for (unsigned i = 0; i < machine_of(s)->regs; i++) {
        if (s->regs[i].from != WNDL_CODE_ENTRY + reg)
            continue;
        *rule = (struct wndl_cfi_rule){
            .kind = WNDL_RULE_REGISTER, .reg = dwarf_of(s, i)};
        return true;
    }
    return false;
}

/* Saved words come first: callees of assembly may not keep registers. */
static struct wndl_cfi_rule rule_of(
    const struct wndl_code_state *s, unsigned reg, struct writer *w)
{
    const unsigned home = reg == WNDL_CODE_RA ? machine_of(s)->link : reg;
    struct wndl_cfi_rule rule = {0};
    if (rule_by_slot(s, reg, true, w, &rule))
        return rule;
    if (home != WNDL_INSN_NO_REG && s->regs[home].from == WNDL_CODE_ENTRY + reg)
        return rule;
    if (!rule_by_register(s, reg, &rule) &&
        !rule_by_slot(s, reg, false, w, &rule))
        rule.kind = WNDL_RULE_UNDEFINED;
    return rule;
}

/* Any CFA will do: nobody asks for the registers of a caller. */
static bool end_stack(
    const struct wndl_code_machine *machine, struct wndl_cfi_row *row)
{
    row->cfa = (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER,
        .reg = machine->dwarf[machine->sp],
        .offset = machine->word};
    row->regs[machine->dwarf_ra].kind = WNDL_RULE_UNDEFINED;
    return true;
}

bool wndl_code_state_row(const struct wndl_code_state *s,
    struct wndl_cfi_row *row, uint8_t room[WNDL_CODE_ROOM])
{
    const struct wndl_code_machine *machine = machine_of(s);
    struct writer w = {room, room + WNDL_CODE_ROOM};
    *row = (struct wndl_cfi_row){
        .ra_reg = machine->dwarf_ra, .ra_signed = s->is_signed != 0};
    if (s->is_start)
        return end_stack(machine, row);
    if (!cfa_by_register(s, &row->cfa) && !cfa_by_slot(s, &w, &row->cfa))
        return false;
    struct wndl_cfi_rule *ra = &row->regs[machine->dwarf_ra];
    *ra = rule_of(s, WNDL_CODE_RA, &w);
    for (size_t i = 0; i < machine->kept_count; i++)
        row->regs[machine->dwarf[machine->kept[i]]] =
            rule_of(s, machine->kept[i], &w);
    return ra->kind != WNDL_RULE_UNDEFINED;
}
