/* SPDX-License-Identifier: MIT */
/*
 * win: STACK WIN, the rules for i386 code in PDB files by MSVC and LLVM. A
 * record covers a range of code. Ranges are nested: the innermost one holds.
 *
 * A program assigns values to the caller's registers. One of them is the place
 * from which the return address is searched: .raSearch, which is above the
 * function's own part of the stack. What the function has pushed for a call is
 * not recorded.
 */
#include "cfi_import/stack_record/win.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAMES = 32,  /* in one program */
    RANGES = 64, /* maximum depth */
    /* Any number of ranges may be in one, and each reads its program again. */
    LONGEST_PROGRAM = 1024,
    ESP = 4,
    EIP = 8,
};

/* ---- one record's rules */

struct variable {
    struct wndl_bytes name;
    uint16_t value; /* 0: none yet */
};

struct program {
    struct wndl_stack_record_reading *r;
    const struct wndl_breakpad_stack *record;
    struct variable list[NAMES];
    unsigned count;
};

static uint16_t make_term(struct program *p, enum wndl_stack_record_kind kind,
    uint8_t reg, int64_t offset)
{
    const struct wndl_stack_record_term term = {
        .kind = (uint8_t)kind, .reg = reg, .offset = offset};
    return wndl_stack_record_add(p->r->terms, &term);
}

static uint16_t make_constant(struct program *p, int64_t value)
{
    return make_term(p, WNDL_STACK_RECORD_NUMBER, 0, value);
}

/* The initial value of a name; 0: none. */
static uint16_t first_value(struct program *p, struct wndl_bytes name)
{
    const struct wndl_breakpad_stack *s = p->record;
    const int reg = wndl_stack_record_register(p->r->machine, name);
    if (reg >= 0)
        return make_term(p, WNDL_STACK_RECORD_REGISTER, (uint8_t)reg, 0);
    if (wndl_bytes_is(name, ".raSearch") ||
        wndl_bytes_is(name, ".raSearchStart"))
        return make_term(
            p, WNDL_STACK_RECORD_REGISTER, ESP, (int64_t)s->locals + s->saved);
    if (wndl_bytes_is(name, ".cbLocals"))
        return make_constant(p, s->locals);
    if (wndl_bytes_is(name, ".cbSavedRegs"))
        return make_constant(p, s->saved);
    if (wndl_bytes_is(name, ".cbParams"))
        return make_constant(p, s->parameters);
    return wndl_bytes_is(name, ".cbCalleeParams") ? make_constant(p, 0) : 0;
}

/* NULL, after a failure, if there are too many. */
static struct variable *find_variable(struct program *p, struct wndl_bytes name)
{
    for (unsigned i = 0; i < p->count; i++)
        if (wndl_bytes_equal(p->list[i].name, name))
            return &p->list[i];
    if (p->count == NAMES) {
        wndl_stack_record_fail(
            p->r->terms, WNDL_LIMIT, "a program of too many names");
        return NULL;
    }
    p->list[p->count] = (struct variable){name, first_value(p, name)};
    return &p->list[p->count++];
}

static bool is_name(struct wndl_bytes word)
{
    return word.size > 1 && (word.data[0] == '$' || word.data[0] == '.');
}

/* "NAME VALUE =": the name was pushed below the value. */
static void assign_variable(struct program *p,
    struct wndl_stack_record_operands *stack,
    struct wndl_bytes names[WNDL_STACK_RECORD_DEPTH])
{
    const uint16_t value = wndl_stack_record_pop(p->r->terms, stack);
    (void)wndl_stack_record_pop(p->r->terms, stack);
    if (p->r->terms->why != NULL)
        return;
    const struct wndl_bytes name = names[stack->depth];
    struct variable *v = name.size == 0 ? NULL : find_variable(p, name);
    if (v == NULL || value == 0)
        wndl_stack_record_fail(p->r->terms, WNDL_MALFORMED,
            "an assignment without a name or a value");
    else
        v->value = value;
}

static void run_program(struct program *p, struct wndl_bytes text)
{
    struct wndl_stack_record_terms *t = p->r->terms;
    struct wndl_stack_record_operands stack = {.depth = 0};
    struct wndl_bytes names[WNDL_STACK_RECORD_DEPTH], word;
    while (t->why == NULL && wndl_stack_record_word(&text, &word)) {
        if (wndl_bytes_is(word, "=")) {
            assign_variable(p, &stack, names);
            continue;
        }
        if (is_name(word)) {
            const struct variable *v = find_variable(p, word);
            wndl_stack_record_push(t, &stack, v == NULL ? 0 : v->value);
        } else if (!wndl_stack_record_run(t, &stack, word)) {
            wndl_stack_record_fail(
                t, WNDL_UNSUPPORTED, "a program with a word that is not known");
        }
        if (stack.depth != 0)
            names[stack.depth - 1] =
                is_name(word) ? word : (struct wndl_bytes){0};
    }
    if (stack.depth != 0)
        wndl_stack_record_fail(
            t, WNDL_MALFORMED, "a program that does not end");
}

/* The name must stay valid. */
static uint16_t value_of(struct program *p, const char *name)
{
    const struct wndl_bytes bytes = {(const uint8_t *)name, strlen(name)};
    const struct variable *v = find_variable(p, bytes);
    return v == NULL ? 0 : v->value;
}

/*
 * Breakpad's program for records without one: by the stack pointer, and EBP in
 * place of the first saved register, if it was saved.
 */
static struct wndl_bytes default_program(bool allocates_bp)
{
    static const char plain[] = "$eip .raSearchStart ^ = "
                                "$esp .raSearchStart 4 + =";
    static const char other[] =
        "$eip .raSearchStart ^ = "
        "$ebp $esp .cbCalleeParams + .cbSavedRegs + 8 - ^ = "
        "$esp .raSearchStart 4 + =";
    return allocates_bp
               ? (struct wndl_bytes){(const uint8_t *)other, sizeof other - 1}
               : (struct wndl_bytes){(const uint8_t *)plain, sizeof plain - 1};
}

/* Whether the program assigns the caller's registers. */
static bool has_caller(
    struct wndl_stack_record_terms *t, uint16_t eip, uint16_t esp)
{
    const struct wndl_stack_record_term *ra = &t->list[eip],
                                        *cfa = &t->list[esp];
    if ((ra->kind == WNDL_STACK_RECORD_REGISTER && ra->reg == EIP) ||
        (cfa->kind == WNDL_STACK_RECORD_REGISTER && cfa->reg == ESP &&
            cfa->offset == 0))
        wndl_stack_record_fail(
            t, WNDL_MALFORMED, "a program that leaves EIP or ESP as it was");
    return t->why == NULL;
}

static bool read_row(struct wndl_stack_record_reading *r,
    const struct wndl_breakpad_stack *record, struct wndl_cfi_row *row)
{
    static const struct {
        const char *name;
        uint8_t reg;
    } saved[] = {{"$ebx", 3}, {"$ebp", 5}, {"$esi", 6}, {"$edi", 7}};
    struct wndl_stack_record_terms *t = r->terms;
    struct program p = {.r = r, .record = record};
    wndl_stack_record_begin(t);
    *row = (struct wndl_cfi_row){.ra_reg = EIP};
    run_program(&p, record->rules.size != 0
                        ? record->rules
                        : default_program(record->allocates_bp));
    const uint16_t esp = value_of(&p, "$esp"), eip = value_of(&p, "$eip");
    if (t->why != NULL || !has_caller(t, eip, esp))
        return false;
    wndl_stack_record_cfa_rule(t, esp, &row->cfa);
    wndl_stack_record_rule(t, eip, esp, EIP, &row->regs[EIP]);
    for (size_t i = 0; i < sizeof saved / sizeof saved[0]; i++)
        wndl_stack_record_rule(t, value_of(&p, saved[i].name), esp,
            saved[i].reg, &row->regs[saved[i].reg]);
    return t->why == NULL;
}

/* ---- ranges */

struct nest {
    struct wndl_stack_record_reading *r;
    const struct wndl_breakpad_stack *around[RANGES]; /* innermost last */
    uint64_t ends[RANGES]; /* their own ends, not beyond the enclosing
                            * range's */
    unsigned depth;
    bool failed;
};

/* From `at` on the innermost range's rules hold. */
static void write_row(struct nest *n, uint64_t at)
{
    struct wndl_cfi_row row;
    const struct wndl_breakpad_stack *record = n->around[n->depth - 1];
    if (n->failed)
        return;
    if (!read_row(n->r, record, &row)) {
        wndl_stack_record_lose(
            n->r, record, n->r->terms->status, n->r->terms->why);
        n->failed = true;
        return;
    }
    row.start = at;
    wndl_frame_writer_row(&n->r->writer, &row);
}

/* Leaves ranges that end at `at` or before, but never the outermost. */
static void leave_ranges(struct nest *n, uint64_t at)
{
    while (n->depth > 1 && n->ends[n->depth - 1] <= at) {
        const uint64_t end = n->ends[--n->depth];
        if (end < n->ends[n->depth - 1])
            write_row(n, end);
    }
}

static void enter_range(
    struct nest *n, const struct wndl_breakpad_stack *record)
{
    uint64_t end = record->start + record->size;
    if (n->depth == RANGES) {
        wndl_stack_record_lose(
            n->r, record, WNDL_LIMIT, "ranges nested too deep");
        n->failed = true;
        return;
    }
    if (n->depth != 0 && end > n->ends[n->depth - 1]) {
        end = n->ends[n->depth - 1];
        wndl_stack_record_lose(n->r, record, WNDL_MALFORMED,
            "a range that ends after the one it starts in: it is cut there");
    }
    n->around[n->depth] = record;
    n->ends[n->depth++] = end;
    write_row(n, record->start);
}

/*
 * Writes the records from `first` on that start in its range. Returns their
 * number.
 */
static size_t write_function(struct wndl_stack_record_reading *r,
    const struct wndl_vec *list, size_t first)
{
    const struct wndl_breakpad_stack *outer = wndl_vec_at(list, first);
    const uint64_t end = outer->start + outer->size;
    const struct wndl_frame_function function = {
        outer->start, end, outer->at, false};
    struct nest n = {.r = r};
    size_t i = first;
    const bool begun = wndl_frame_writer_begin(&r->writer, &function);
    wndl_stack_record_begin_function(r->terms);
    for (; i < list->len; i++) {
        const struct wndl_breakpad_stack *record = wndl_vec_at(list, i);
        if (record->start >= end)
            break;
        leave_ranges(&n, record->start);
        if (begun && !n.failed)
            enter_range(&n, record);
    }
    leave_ranges(&n, end);
    if (begun && n.failed)
        wndl_frame_writer_undo(&r->writer);
    else if (!begun || !wndl_frame_writer_end(&r->writer))
        wndl_stack_record_lose(
            r, outer, WNDL_LIMIT, "more rules than a file of this size has");
    return i - first;
}

/* Among equal ranges the last is the innermost: frame data precedes FPO. */
static int compare_records(const void *left, const void *right)
{
    const struct wndl_breakpad_stack *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool is_usable(struct wndl_stack_record_reading *r,
    const struct wndl_breakpad_stack *record)
{
    if (record->type != WNDL_BREAKPAD_FPO &&
        record->type != WNDL_BREAKPAD_FRAME_DATA)
        wndl_stack_record_lose(r, record, WNDL_UNSUPPORTED,
            "a STACK WIN record of another type than 0 and 4");
    else if (record->size == 0)
        wndl_stack_record_lose(r, record, WNDL_MALFORMED, "a range of no code");
    else if (record->start + record->size > WNDL_STACK_RECORD_CODE_MAX ||
             record->size == WNDL_STACK_RECORD_CODE_MAX)
        wndl_stack_record_lose(r, record, WNDL_LIMIT, "code beyond 4 GiB");
    else if (record->rules.size > LONGEST_PROGRAM)
        wndl_stack_record_lose(
            r, record, WNDL_LIMIT, "a program that is too long");
    else
        return true;
    return false;
}

void wndl_stack_record_write_win(
    struct wndl_stack_record_reading *r, const struct wndl_vec *records)
{
    struct wndl_vec list = *records;
    list.len = 0;
    for (size_t i = 0; i < records->len; i++) {
        const struct wndl_breakpad_stack *record = wndl_vec_at(records, i);
        if (is_usable(r, record))
            *(struct wndl_breakpad_stack *)wndl_vec_at(&list, list.len++) =
                *record;
    }
    if (list.len > 1)
        qsort(list.data, list.len, list.element, compare_records);
    for (size_t i = 0; i < list.len;)
        i += write_function(r, &list, i);
}
