/* SPDX-License-Identifier: MIT */
#include "analyze/binary/cfi_text.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A register that walks follow, by its name for people. */
struct walked {
    const char *name;
    uint8_t reg;
};

struct wndl_cfi_machine {
    const char *breakpad_prefix; /* before the names, "r" or "e" */
    const char *breakpad_mark;   /* before prefix and name, "$" */
    uint8_t named;               /* registers that have a name */
    uint8_t named_plainly;       /* registers from this one on have no prefix */
    uint8_t sp, ra;
    const char *names[WNDL_CFI_REGS];
    struct walked walked[10]; /* ends with a NULL name */
};

/* Figure 3.36 of x86-64's psABI, table 2.14 of i386's. */
static const struct wndl_cfi_machine x86_64 = {"r", "$", 17, 8, 7, 16,
    {"AX", "DX", "CX", "BX", "SI", "DI", "BP", "SP", "R8", "R9", "R10", "R11",
        "R12", "R13", "R14", "R15", "IP"},
    {{"SP", 7}, {"BP", 6}, {"BX", 3}, {NULL, 0}}};
static const struct wndl_cfi_machine i386 = {"e", "$", 9, 9, 4, 8,
    {"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "IP"},
    {{"SP", 4}, {"BP", 5}, {"BX", 3}, {NULL, 0}}};
/* DWARF for the Arm Architecture (aadwarf32), 4.1. */
static const struct wndl_cfi_machine arm = {"", "", 15, 0, 13, 14,
    {"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11",
        "R12", "SP", "LR", "PC"},
    {{"SP", 13}, {"R4", 4}, {"R5", 5}, {"R6", 6}, {"R7", 7}, {"R8", 8},
        {"R9", 9}, {"R10", 10}, {"R11", 11}, {NULL, 0}}};
/* aadwarf64, 4.1; Breakpad calls LR x30, and FP x29. */
enum { AARCH64_FP = 29 };
static const struct wndl_cfi_machine aarch64 = {"", "", 32, 0, 31, 30,
    {"X0", "X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9", "X10", "X11",
        "X12", "X13", "X14", "X15", "X16", "X17", "X18", "X19", "X20", "X21",
        "X22", "X23", "X24", "X25", "X26", "X27", "X28", "X29", "X30", "SP"},
    {{"SP", 31}, {"FP", AARCH64_FP}, {NULL, 0}}};

const struct wndl_cfi_machine *wndl_cfi_machine_of(uint16_t elf_machine)
{
    if (elf_machine == EM_X86_64)
        return &x86_64;
    if (elf_machine == EM_ARM)
        return &arm;
    if (elf_machine == EM_AARCH64)
        return &aarch64;
    return elf_machine == EM_386 ? &i386 : NULL;
}

/* ---- expressions: DWARF 5, 2.5.1 and 7.7.1 */

enum { DEPTH = 12, TERM = 160 };

/* The two ways in which rules are written. */
struct style {
    bool is_breakpad;
    const struct wndl_cfi_machine *machine;
};

/* The evaluation stack, of texts. A text that does not fit fails it. */
struct terms {
    struct style style;
    unsigned depth;
    bool failed;
    char text[DEPTH][TERM];
};

static void push_term(struct terms *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void push_term(struct terms *t, const char *format, ...)
{
    va_list args;
    if (t->depth == DEPTH) {
        t->failed = true;
        return;
    }
    va_start(args, format);
    int size = vsnprintf(t->text[t->depth++], TERM, format, args);
    va_end(args);
    t->failed |= size >= TERM;
}

/* Takes `count` terms and returns the first; they stay readable. */
static char (*take(struct terms *t, unsigned count))[TERM]
{
    if (t->depth < count) {
        t->failed = true;
        t->depth = count;
    }
    t->depth -= count;
    return &t->text[t->depth];
}

/* "rax" and "r8", or "AX" and "R8". */
static void register_name(struct style style, unsigned reg, char name[8])
{
    const struct wndl_cfi_machine *m = style.machine;
    if (reg >= m->named)
        snprintf(name, 8, "REG%u", reg);
    else if (!style.is_breakpad)
        snprintf(name, 8, "%s",
            m != &aarch64       ? m->names[reg]
            : reg == aarch64.ra ? "LR"
            : reg == AARCH64_FP ? "FP"
                                : m->names[reg]);
    else
        snprintf(name, 8, "%s%s",
            reg < m->named_plainly || reg == m->ra ? m->breakpad_prefix : "",
            m->names[reg]);
    for (char *c = name; style.is_breakpad && *c != '\0'; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
}

/* Pushes a value plus an offset. */
static void push_sum(struct terms *t, const char *value, int64_t offset)
{
    uint64_t size = offset < 0 ? -(uint64_t)offset : (uint64_t)offset;
    char sign = offset < 0 ? '-' : '+';
    if (offset == 0)
        push_term(t, "%s", value);
    else if (t->style.is_breakpad)
        push_term(t, "%s %" PRIu64 " %c", value, size, sign);
    else
        push_term(t, "%s%c%" PRIu64, value, sign, size);
}

static void push_register(struct terms *t, unsigned reg, int64_t offset)
{
    char name[8], old[16];
    register_name(t->style, reg, name);
    snprintf(old, sizeof old, "%s%s",
        t->style.is_breakpad ? t->style.machine->breakpad_mark : "old", name);
    push_sum(t, old, offset);
}

static void push_deref(struct terms *t)
{
    char copy[TERM];
    memcpy(copy, take(t, 1)[0], TERM);
    if (t->style.is_breakpad)
        push_term(t, "%s ^", copy);
    else
        push_term(t, "*(%s)", copy);
}

/* Operators of two operands; Breakpad has those of `breakpad` only. */
static const struct {
    uint8_t op;
    const char *infix;
    const char *breakpad;
} binary[] = {
    {0x1a, "&", NULL},
    {0x1c, "-", "-"},
    {0x1e, "*", "*"},
    {0x21, "|", NULL},
    {0x22, "+", "+"},
    {0x24, "<<", NULL},
    {0x25, ">>", NULL},
    {0x27, "^", NULL},
    {0x29, "==", NULL},
    {0x2a, ">=", NULL},
    {0x2b, ">", NULL},
    {0x2c, "<=", NULL},
    {0x2d, "<", NULL},
    {0x2e, "!=", NULL},
};

/*
 * If the mask rounds addresses down to multiples of a power of two, that power,
 * as Breakpad writes it; else 0.
 */
static long long alignment_of(const char *mask)
{
    char *end;
    const long long value = strtoll(mask, &end, 10);
    return *end == '\0' && value < 0 && value > -(1ll << 32) &&
                   (-value & (-value - 1)) == 0
               ? -value
               : 0;
}

static void push_binary(struct terms *t, uint8_t op)
{
    char copy[2][TERM];
    memcpy(copy, take(t, 2), sizeof copy);
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        if (binary[i].op != op)
            continue;
        if (!t->style.is_breakpad)
            push_term(t, "(%s%s%s)", copy[0], binary[i].infix, copy[1]);
        else if (binary[i].breakpad != NULL)
            push_term(t, "%s %s %s", copy[0], copy[1], binary[i].breakpad);
        else if (op == 0x1a && alignment_of(copy[1]) != 0)
            push_term(t, "%s %lld @", copy[0], alignment_of(copy[1]));
        else
            break;
        return;
    }
    t->failed = true;
}

/* DW_OP_const1u to DW_OP_const8s: width and sign are in the number. */
static int64_t constant(uint8_t op, struct wndl_cursor *c)
{
    switch (op) {
    case 0x08:
        return wndl_cursor_u8(c);
    case 0x09:
        return (int8_t)wndl_cursor_u8(c);
    case 0x0a:
        return wndl_cursor_u16(c);
    case 0x0b:
        return (int16_t)wndl_cursor_u16(c);
    case 0x0c:
        return wndl_cursor_u32(c);
    case 0x0d:
        return (int32_t)wndl_cursor_u32(c);
    case 0x10:
        return (int64_t)wndl_cursor_uleb(c);
    case 0x11:
        return wndl_cursor_sleb(c);
    default:
        return (int64_t)wndl_cursor_u64(c);
    }
}

static void push_op(struct terms *t, uint8_t op, struct wndl_cursor *c)
{
    enum { DEREF = 6, CONST1U = 8, CONSTS = 0x11, PLUS_UCONST = 0x23 };
    char copy[TERM];
    if (op >= 0x30 && op <= 0x4f) { /* DW_OP_lit0 to 31 */
        push_term(t, "%d", op - 0x30);
    } else if (op >= 0x70 && op <= 0x8f) { /* DW_OP_breg0 to 31 */
        push_register(t, op - 0x70u, wndl_cursor_sleb(c));
    } else if (op >= CONST1U && op <= CONSTS) {
        push_term(t, "%" PRId64, constant(op, c));
    } else if (op == DEREF) {
        push_deref(t);
    } else if (op == PLUS_UCONST) {
        memcpy(copy, take(t, 1)[0], TERM);
        push_sum(t, copy, (int64_t)wndl_cursor_uleb(c));
    } else {
        push_binary(t, op);
    }
}

/* Pushes one term: the value of the expression. */
static void push_expression(
    struct terms *t, const struct wndl_cfi_rule *rule, const char *initial)
{
    struct wndl_bytes expr = {rule->expr, rule->expr_size};
    struct wndl_cursor c = wndl_cursor_at(expr, 0, false);
    if (initial != NULL)
        push_term(t, "%s", initial);
    while (wndl_cursor_left(&c) != 0 && !t->failed)
        push_op(t, wndl_cursor_u8(&c), &c);
    if (t->depth == 0 || c.failed)
        t->failed = true;
}

/* ---- rules */

static void push_cfa(struct terms *t, const struct wndl_cfi_rule *cfa)
{
    if (cfa->kind == WNDL_RULE_REGISTER)
        push_register(t, cfa->reg, cfa->offset);
    else if (cfa->kind == WNDL_RULE_VAL_EXPR)
        push_expression(t, cfa, NULL);
    else
        t->failed = true;
}

static void push_rule(
    struct terms *t, unsigned reg, const struct wndl_cfi_rule *rule)
{
    const char *cfa = t->style.is_breakpad ? ".cfa" : "cfa";
    switch ((enum wndl_cfi_rule_kind)rule->kind) {
    case WNDL_RULE_UNSET:
    case WNDL_RULE_SAME:
        if (reg == t->style.machine->sp && rule->kind == WNDL_RULE_UNSET)
            push_term(t, "%s", cfa);
        else
            push_register(t, reg, 0);
        return;
    case WNDL_RULE_UNDEFINED:
        t->failed = true;
        return;
    case WNDL_RULE_OFFSET:
    case WNDL_RULE_VAL_OFFSET:
        push_sum(t, cfa, rule->offset);
        break;
    case WNDL_RULE_REGISTER:
        push_register(t, rule->reg, 0);
        return;
    case WNDL_RULE_EXPR:
    case WNDL_RULE_VAL_EXPR:
        push_expression(t, rule, cfa);
        break;
    }
    if (rule->kind == WNDL_RULE_OFFSET || rule->kind == WNDL_RULE_EXPR)
        push_deref(t);
}

static bool is_expression(const struct wndl_cfi_rule *rule)
{
    return rule->kind == WNDL_RULE_EXPR || rule->kind == WNDL_RULE_VAL_EXPR;
}

static void add_term(struct wndl_buf *text, const struct terms *t,
    const struct wndl_cfi_rule *rule)
{
    if (!t->failed) {
        wndl_buf_text(text, t->text[t->depth - 1]);
    } else if (t->style.is_breakpad) {
        wndl_buf_text(text, ".undef");
    } else if (!is_expression(rule)) {
        wndl_buf_text(text, "unknown");
    } else {
        wndl_buf_text(text, rule->kind == WNDL_RULE_EXPR ? "*expr{" : "expr{");
        for (uint32_t i = 0; i < rule->expr_size; i++)
            wndl_buf_printf(text, "%02x", rule->expr[i]);
        wndl_buf_byte(text, '}');
    }
}

static void add_rule(struct wndl_buf *text, struct style style, unsigned reg,
    const struct wndl_cfi_rule *rule)
{
    struct terms t = {.style = style};
    push_rule(&t, reg, rule);
    add_term(text, &t, rule);
}

static void add_cfa(
    struct wndl_buf *text, struct style style, const struct wndl_cfi_rule *rule)
{
    struct terms t = {.style = style};
    push_cfa(&t, rule);
    add_term(text, &t, rule);
}

void wndl_cfi_text_rule(struct wndl_buf *text,
    const struct wndl_cfi_machine *machine, const struct wndl_cfi_row *row)
{
    const struct style style = {.machine = machine};
    wndl_buf_text(text, "let cfa=");
    add_cfa(text, style, &row->cfa);
    wndl_buf_text(text, " in RA=");
    if (row->ra_reg < WNDL_CFI_REGS)
        add_rule(text, style, row->ra_reg, &row->regs[row->ra_reg]);
    else
        wndl_buf_text(text, "unknown");
    for (const struct walked *w = machine->walked; w->name != NULL; w++) {
        wndl_buf_printf(text, " %s=", w->name);
        add_rule(text, style, w->reg, &row->regs[w->reg]);
    }
    if (row->signal_frame)
        wndl_buf_text(text, " (signal frame)");
    if (row->ra_signed)
        wndl_buf_text(text, " (RA signed)");
}

static bool is_same(
    const struct wndl_cfi_rule *a, const struct wndl_cfi_rule *b)
{
    if (is_expression(a))
        return a->kind == b->kind && a->expr_size == b->expr_size &&
               memcmp(a->expr, b->expr, a->expr_size) == 0;
    return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

/*
 * Whether a register's rule is written. In a first row (no `before`) rules that
 * are unset are not written, except for the return address.
 */
static bool is_said(const struct wndl_cfi_row *row,
    const struct wndl_cfi_row *before, unsigned reg)
{
    const struct wndl_cfi_rule *rule = &row->regs[reg];
    if (before != NULL)
        return !is_same(rule, &before->regs[reg]);
    return rule->kind != WNDL_RULE_UNSET || reg == row->ra_reg;
}

void wndl_cfi_text_breakpad(struct wndl_buf *text,
    const struct wndl_cfi_machine *machine, const struct wndl_cfi_row *row,
    const struct wndl_cfi_row *before)
{
    const struct style style = {true, machine};
    const char *space = "";
    if (before == NULL || !is_same(&row->cfa, &before->cfa)) {
        wndl_buf_text(text, ".cfa: ");
        add_cfa(text, style, &row->cfa);
        space = " ";
    }
    for (unsigned i = 0; i <= machine->named; i++) {
        /* The return address comes first, as in dump_syms. */
        unsigned reg = i == 0 ? row->ra_reg : i - 1;
        char name[8];
        if ((i != 0 && reg == row->ra_reg) || !is_said(row, before, reg))
            continue;
        register_name(style, reg, name);
        wndl_buf_printf(text, "%s%s%s: ", space,
            reg == row->ra_reg ? "." : machine->breakpad_mark,
            reg == row->ra_reg ? "ra" : name);
        add_rule(text, style, reg, &row->regs[reg]);
        space = " ";
    }
}
