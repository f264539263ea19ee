/* SPDX-License-Identifier: MIT */
#include "cfi_import/stack_record/expr.h"

#include <string.h>

/* DWARF 5, 7.7.1. */
enum {
    OP_DEREF = 0x06,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_PICK = 0x15,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_BREG0 = 0x70,
    OP_BREGX = 0x92,
};

/*
 * Maximum bytes of one expression, and its maximum depth; real ones have a
 * dozen, and three.
 */
enum { EXPR_MAX = 128, NESTING = 24 };

void wndl_stack_record_begin(struct wndl_stack_record_terms *t)
{
    t->list[0] =
        (struct wndl_stack_record_term){.kind = WNDL_STACK_RECORD_NONE};
    t->count = 1;
    t->status = WNDL_OK;
    t->why = NULL;
}

void wndl_stack_record_begin_function(struct wndl_stack_record_terms *t)
{
    t->used = 0;
}

void wndl_stack_record_fail(
    struct wndl_stack_record_terms *t, enum wndl_status status, const char *why)
{
    if (t->why != NULL)
        return;
    t->status = status;
    t->why = why;
}

/* Addresses wrap. */
static int64_t wrap(const struct wndl_stack_record_terms *t, int64_t value)
{
    return t->word == 4 ? (int32_t)(uint32_t)value : value;
}

uint16_t wndl_stack_record_add(struct wndl_stack_record_terms *t,
    const struct wndl_stack_record_term *from)
{
    if (t->count == WNDL_STACK_RECORD_TERMS) {
        wndl_stack_record_fail(
            t, WNDL_LIMIT, "an expression of too many words");
        return 0;
    }
    t->list[t->count] = *from;
    t->list[t->count].offset = wrap(t, from->offset);
    return t->count++;
}

bool wndl_stack_record_word(struct wndl_bytes *text, struct wndl_bytes *word)
{
    size_t size = 0;
    while (text->size != 0 && *text->data == ' ')
        *text = (struct wndl_bytes){text->data + 1, text->size - 1};
    while (size < text->size && text->data[size] != ' ')
        size++;
    *word = (struct wndl_bytes){text->data, size};
    text->data = size == 0 ? text->data : text->data + size;
    text->size -= size;
    return size != 0;
}

/* ---- the stack */

void wndl_stack_record_push(struct wndl_stack_record_terms *t,
    struct wndl_stack_record_operands *stack, uint16_t term)
{
    if (stack->depth == WNDL_STACK_RECORD_DEPTH)
        wndl_stack_record_fail(
            t, WNDL_LIMIT, "an expression that nests too deep");
    else
        stack->terms[stack->depth++] = term;
}

uint16_t wndl_stack_record_pop(
    struct wndl_stack_record_terms *t, struct wndl_stack_record_operands *stack)
{
    if (stack->depth != 0)
        return stack->terms[--stack->depth];
    wndl_stack_record_fail(
        t, WNDL_MALFORMED, "an operator that lacks an operand");
    return 0;
}

static uint16_t plus(
    struct wndl_stack_record_terms *t, uint16_t term, int64_t offset)
{
    struct wndl_stack_record_term sum = t->list[term];
    sum.offset = (int64_t)((uint64_t)sum.offset + (uint64_t)offset);
    return wndl_stack_record_add(t, &sum);
}

static uint16_t result(
    struct wndl_stack_record_terms *t, uint8_t op, uint16_t a, uint16_t b)
{
    const struct wndl_stack_record_term term = {
        .kind = WNDL_STACK_RECORD_RESULT, .op = op, .a = a, .b = b};
    return wndl_stack_record_add(t, &term);
}

/* Rounds down to a multiple, by a mask for powers of two. */
static uint16_t align(struct wndl_stack_record_terms *t, uint16_t a,
    const struct wndl_stack_record_term *unit)
{
    struct wndl_stack_record_term mask = *unit;
    const uint64_t n = (uint64_t)unit->offset;
    mask.offset = (int64_t)-n;
    if (n != 0 && (n & (n - 1)) == 0)
        return result(t, OP_AND, a, wndl_stack_record_add(t, &mask));
    wndl_stack_record_fail(
        t, WNDL_UNSUPPORTED, "an alignment that is not a power of two");
    return 0;
}

static uint16_t operate(
    struct wndl_stack_record_terms *t, uint8_t c, uint16_t a, uint16_t b)
{
    const struct wndl_stack_record_term left = t->list[a], right = t->list[b];
    if (left.kind == WNDL_STACK_RECORD_NONE ||
        right.kind == WNDL_STACK_RECORD_NONE) {
        wndl_stack_record_fail(
            t, WNDL_MALFORMED, "an operator on what has no value");
        return 0;
    }
    if (c == '+' && right.kind == WNDL_STACK_RECORD_NUMBER)
        return plus(t, a, right.offset);
    if (c == '+' && left.kind == WNDL_STACK_RECORD_NUMBER)
        return plus(t, b, left.offset);
    if (c == '-' && right.kind == WNDL_STACK_RECORD_NUMBER)
        return plus(t, a, (int64_t) - (uint64_t)right.offset);
    if (c == '@' && right.kind == WNDL_STACK_RECORD_NUMBER)
        return align(t, a, &right);
    const uint8_t op = c == '+'   ? OP_PLUS
                       : c == '-' ? OP_MINUS
                       : c == '*' ? OP_MUL
                       : c == '%' ? OP_MOD
                                  : 0;
    if (op != 0)
        return result(t, op, a, b);
    wndl_stack_record_fail(
        t, WNDL_UNSUPPORTED, "an operator that rules cannot express");
    return 0;
}

static uint16_t memory(struct wndl_stack_record_terms *t, uint16_t address)
{
    const struct wndl_stack_record_term term = {
        .kind = WNDL_STACK_RECORD_MEMORY, .a = address};
    if (t->list[address].kind != WNDL_STACK_RECORD_NONE)
        return wndl_stack_record_add(t, &term);
    wndl_stack_record_fail(
        t, WNDL_MALFORMED, "an operator on what has no value");
    return 0;
}

/* Decimal, with or without a minus. False: it is not a number. */
static bool read_number(
    struct wndl_stack_record_terms *t, struct wndl_bytes word, int64_t *value)
{
    const bool negative = word.size > 1 && word.data[0] == '-';
    uint64_t n = 0;
    for (size_t i = negative; i < word.size; i++) {
        const unsigned digit = word.data[i] - (unsigned)'0';
        if (digit > 9)
            return false;
        if (n > (UINT64_MAX >> 1) / 10 - 1)
            wndl_stack_record_fail(
                t, WNDL_MALFORMED, "a number that is too large");
        else
            n = n * 10 + digit;
    }
    *value = (int64_t)(negative ? -n : n);
    return word.size != 0;
}

bool wndl_stack_record_run(struct wndl_stack_record_terms *t,
    struct wndl_stack_record_operands *stack, struct wndl_bytes word)
{
    struct wndl_stack_record_term number = {.kind = WNDL_STACK_RECORD_NUMBER};
    if (word.size == 1 && memchr("+-*/%@", word.data[0], 6) != NULL) {
        const uint16_t b = wndl_stack_record_pop(t, stack),
                       a = wndl_stack_record_pop(t, stack);
        wndl_stack_record_push(t, stack, operate(t, word.data[0], a, b));
        return true;
    }
    if (wndl_bytes_is(word, "^")) {
        wndl_stack_record_push(
            t, stack, memory(t, wndl_stack_record_pop(t, stack)));
        return true;
    }
    if (!read_number(t, word, &number.offset))
        return false;
    wndl_stack_record_push(t, stack, wndl_stack_record_add(t, &number));
    return true;
}

/* ---- DWARF expressions */

struct writing {
    struct wndl_stack_record_terms *terms;
    uint8_t out[EXPR_MAX];
    size_t size;
    unsigned depth; /* depth of the stack */
    bool keeps_cfa; /* at the bottom, for several uses */
    bool failed;
};

static void put(struct writing *w, uint8_t byte)
{
    w->failed |= w->size == EXPR_MAX;
    if (!w->failed)
        w->out[w->size++] = byte;
}

static void put_uleb(struct writing *w, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put(w, (uint8_t)(value | 0x80));
    put(w, (uint8_t)value);
}

static void put_sleb(struct writing *w, int64_t value)
{
    for (; value < -64 || value > 63; value >>= 7)
        put(w, (uint8_t)(value | 0x80));
    put(w, (uint8_t)(value & 0x7f));
}

static void put_offset(struct writing *w, int64_t offset)
{
    if (offset == 0)
        return;
    put(w, offset > 0 ? OP_PLUS_UCONST : OP_CONSTU);
    put_uleb(w, offset > 0 ? (uint64_t)offset : -(uint64_t)offset);
    if (offset < 0)
        put(w, OP_MINUS);
}

static void put_cfa(struct writing *w)
{
    if (!w->keeps_cfa)
        return; /* the CFA is on the stack at the start */
    put(w, OP_PICK);
    put(w, (uint8_t)(w->depth++ - 1)); /* counted from the top */
}

/* Nesting is bounded. */
static void put_term(struct writing *w, uint16_t at, unsigned nesting)
{
    const struct wndl_stack_record_term term = w->terms->list[at];
    w->failed |= nesting == NESTING;
    if (w->failed)
        return;
    switch ((enum wndl_stack_record_kind)term.kind) {
    case WNDL_STACK_RECORD_NONE:
        w->failed = true;
        return;
    case WNDL_STACK_RECORD_NUMBER:
        put(w, OP_CONSTS);
        put_sleb(w, term.offset);
        w->depth++;
        return;
    case WNDL_STACK_RECORD_REGISTER:
        put(w, term.reg < 32 ? (uint8_t)(OP_BREG0 + term.reg) : OP_BREGX);
        if (term.reg >= 32)
            put_uleb(w, term.reg);
        put_sleb(w, term.offset);
        w->depth++;
        return;
    case WNDL_STACK_RECORD_CFA:
        put_cfa(w);
        break;
    case WNDL_STACK_RECORD_MEMORY:
        put_term(w, term.a, nesting + 1);
        put(w, OP_DEREF);
        break;
    case WNDL_STACK_RECORD_RESULT:
        put_term(w, term.a, nesting + 1);
        put_term(w, term.b, nesting + 1);
        put(w, term.op);
        w->depth--;
        break;
    }
    put_offset(w, term.offset);
}

/*
 * Counts uses of the CFA, and checks whether it comes first. Gives up on the
 * terms on which put_term() fails.
 */
static unsigned count_cfa(const struct wndl_stack_record_terms *t, uint16_t at,
    unsigned nesting, unsigned *budget)
{
    const struct wndl_stack_record_term *term = &t->list[at];
    if (nesting == NESTING || *budget == 0)
        return 0;
    --*budget;
    if (term->kind == WNDL_STACK_RECORD_CFA)
        return 1;
    unsigned count = 0;
    if (term->kind == WNDL_STACK_RECORD_MEMORY ||
        term->kind == WNDL_STACK_RECORD_RESULT)
        count += count_cfa(t, term->a, nesting + 1, budget);
    if (term->kind == WNDL_STACK_RECORD_RESULT)
        count += count_cfa(t, term->b, nesting + 1, budget);
    return count;
}

static bool begins_with_cfa(
    const struct wndl_stack_record_terms *t, uint16_t at)
{
    while (t->list[at].kind == WNDL_STACK_RECORD_MEMORY ||
           t->list[at].kind == WNDL_STACK_RECORD_RESULT)
        at = t->list[at].a;
    return t->list[at].kind == WNDL_STACK_RECORD_CFA;
}

/* `given`: evaluation starts with the CFA on the stack. */
static void set_expression(struct wndl_stack_record_terms *t, uint16_t term,
    bool given, struct wndl_cfi_rule *rule)
{
    struct writing w = {.terms = t, .depth = 0};
    unsigned budget = EXPR_MAX;
    const unsigned uses = count_cfa(t, term, 0, &budget);
    if (uses != 0 && !given) {
        wndl_stack_record_fail(
            t, WNDL_MALFORMED, "a CFA that is computed from itself");
        return;
    }
    w.keeps_cfa = uses > 1 || !begins_with_cfa(t, term);
    w.depth = given && w.keeps_cfa ? 1 : 0;
    put_term(&w, term, 0);
    if (w.failed || w.size > WNDL_STACK_RECORD_SPACE - t->used) {
        wndl_stack_record_fail(t, WNDL_LIMIT, "an expression that is too long");
        return;
    }
    memcpy(t->space + t->used, w.out, w.size);
    rule->expr = t->space + t->used;
    rule->expr_size = (uint32_t)w.size;
    t->used += w.size;
}

/* ---- rules */

void wndl_stack_record_cfa_rule(
    struct wndl_stack_record_terms *t, uint16_t at, struct wndl_cfi_rule *rule)
{
    const struct wndl_stack_record_term *term = &t->list[at];
    *rule = (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER};
    if (term->kind == WNDL_STACK_RECORD_NONE) {
        rule->kind = WNDL_RULE_UNDEFINED;
    } else if (term->kind == WNDL_STACK_RECORD_REGISTER) {
        rule->reg = term->reg;
        rule->offset = term->offset;
    } else {
        rule->kind = WNDL_RULE_VAL_EXPR;
        set_expression(t, at, false, rule);
    }
}

/* Whether a value is at a fixed distance from the CFA. */
static bool by_cfa(const struct wndl_stack_record_terms *t, uint16_t at,
    uint16_t cfa, int64_t *offset)
{
    const struct wndl_stack_record_term *term = &t->list[at],
                                        *base = &t->list[cfa];
    *offset = term->offset;
    if (term->kind == WNDL_STACK_RECORD_CFA)
        return true;
    *offset =
        wrap(t, (int64_t)((uint64_t)term->offset - (uint64_t)base->offset));
    return cfa != 0 && term->kind == base->kind && term->reg == base->reg &&
           term->op == base->op && term->a == base->a && term->b == base->b;
}

void wndl_stack_record_rule(struct wndl_stack_record_terms *t, uint16_t at,
    uint16_t cfa, unsigned reg, struct wndl_cfi_rule *rule)
{
    const struct wndl_stack_record_term *term = &t->list[at];
    const bool is_word =
        term->kind == WNDL_STACK_RECORD_MEMORY && term->offset == 0;
    int64_t offset = 0;
    *rule = (struct wndl_cfi_rule){.kind = WNDL_RULE_UNSET};
    if (term->kind == WNDL_STACK_RECORD_NONE) {
        rule->kind = WNDL_RULE_UNDEFINED;
    } else if (term->kind == WNDL_STACK_RECORD_REGISTER && term->offset == 0 &&
               term->reg == reg) {
        /* For SP, no rule means the CFA. */
        rule->kind = reg == t->sp ? WNDL_RULE_SAME : WNDL_RULE_UNSET;
    } else if (is_word && by_cfa(t, term->a, cfa, &offset)) {
        rule->kind = WNDL_RULE_OFFSET;
        rule->offset = offset;
    } else if (by_cfa(t, at, cfa, &offset)) {
        if (reg == t->sp && offset == 0)
            return;
        rule->kind = WNDL_RULE_VAL_OFFSET;
        rule->offset = offset;
    } else if (term->kind == WNDL_STACK_RECORD_REGISTER && term->offset == 0) {
        rule->kind = WNDL_RULE_REGISTER;
        rule->reg = term->reg;
    } else {
        rule->kind = is_word ? WNDL_RULE_EXPR : WNDL_RULE_VAL_EXPR;
        set_expression(t, is_word ? term->a : at, true, rule);
    }
}
