/* SPDX-License-Identifier: MIT */
/*
 * STACK CFI INIT begins a function, the STACK CFI records behind it change its
 * rules from an address on. What rows cannot say loses its function; code whose
 * CFA is said not to be known is left out of it.
 */
#include "cfi_import/sym/frames_impl.h"

#include <elf.h>
#include <stdio.h>

static const struct wndl_sym_machine machines[] = {
    {EM_X86_64, 8, 7, 16, 17, WNDL_CFI_X86,
        {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
            "r10", "r11", "r12", "r13", "r14", "r15", "rip"}},
    {EM_386, 4, 4, 8, 9, WNDL_CFI_X86,
        {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"}},
    {EM_ARM, 4, 13, 14, 16, WNDL_CFI_ARM,
        {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
            "r11", "r12", "sp", "lr", "pc"}},
    {EM_AARCH64, 8, 31, 30, 33, WNDL_CFI_AARCH64,
        {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
            "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
            "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
            "x29", "x30", "sp", "pc"}},
};

/* Second names, of Breakpad's own. */
static const struct {
    uint16_t machine;
    uint8_t reg;
    const char *name;
} others[] = {
    {EM_ARM, 11, "fp"},
    {EM_ARM, 13, "r13"},
    {EM_ARM, 14, "r14"},
    {EM_ARM, 15, "r15"},
    {EM_AARCH64, 29, "fp"},
    {EM_AARCH64, 30, "lr"},
};

int wndl_sym_register(const struct wndl_sym_machine *m, struct wndl_bytes name)
{
    if (name.size != 0 && name.data[0] == '$')
        name = (struct wndl_bytes){name.data + 1, name.size - 1};
    for (unsigned reg = 0; reg < m->named; reg++)
        if (wndl_bytes_is(name, m->names[reg]))
            return (int)reg;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].machine == m->machine &&
            wndl_bytes_is(name, others[i].name))
            return others[i].reg;
    return -1;
}

void wndl_sym_lose(struct wndl_sym_reading *r,
    const struct wndl_breakpad_stack *record, enum wndl_status status,
    const char *why)
{
    char text[160];
    struct wndl_error err = {0};
    snprintf(text, sizeof text, "line %llu: %s",
        (unsigned long long)record->line, why);
    wndl_fail_at(&err, status, "symbols", record->at, text);
    wndl_frames_lose(r->frames, &err);
}

/* ---- rules of one record */

/* A value of "NAME: VALUE", up to the next name or the end. */
static uint16_t read_value(struct wndl_sym_reading *r, struct wndl_bytes *text)
{
    struct wndl_sym_terms *t = r->terms;
    struct wndl_sym_stack stack = {.depth = 0};
    struct wndl_bytes word, rest = *text;
    bool is_undefined = false;
    while (wndl_sym_word(&rest, &word) && t->why == NULL &&
           word.data[word.size - 1] != ':') {
        struct wndl_sym_term term = {.kind = WNDL_SYM_REGISTER};
        const int reg = wndl_sym_register(r->machine, word);
        *text = rest;
        if (wndl_bytes_is(word, ".undef"))
            is_undefined = true;
        if (is_undefined || wndl_sym_run(t, &stack, word))
            continue;
        term.kind = wndl_bytes_is(word, ".cfa") ? WNDL_SYM_CFA : term.kind;
        term.reg = (uint8_t)(reg < 0 ? 0 : reg);
        if (term.kind == WNDL_SYM_CFA || reg >= 0)
            wndl_sym_push(t, &stack, wndl_sym_add(t, &term));
        else
            wndl_sym_fail(
                t, WNDL_UNSUPPORTED, "a rule by a register that is not known");
    }
    if (is_undefined)
        return 0;
    if (stack.depth != 1)
        wndl_sym_fail(t, WNDL_MALFORMED, "a rule that has not one value");
    return wndl_sym_pop(t, &stack);
}

static void set_rule(struct wndl_sym_reading *r, struct wndl_bytes name,
    uint16_t value, struct wndl_cfi_row *row)
{
    if (wndl_bytes_is(name, ".cfa")) {
        wndl_sym_cfa_rule(r->terms, value, &row->cfa);
        return;
    }
    const int reg = wndl_bytes_is(name, ".ra")
                        ? (int)row->ra_reg
                        : wndl_sym_register(r->machine, name);
    /* Of registers that no row has nothing is lost. */
    if (reg >= 0)
        wndl_sym_rule(r->terms, value, 0, (unsigned)reg, &row->regs[reg]);
}

/* False, with `why` in the terms, for what does not become a row. */
static bool read_rules(struct wndl_sym_reading *r, struct wndl_bytes text,
    struct wndl_cfi_row *row)
{
    struct wndl_bytes name;
    wndl_sym_begin(r->terms);
    while (r->terms->why == NULL && wndl_sym_word(&text, &name)) {
        if (name.size < 2 || name.data[name.size - 1] != ':') {
            wndl_sym_fail(r->terms, WNDL_MALFORMED, "a rule of no register");
            break;
        }
        name.size--;
        const uint16_t value = read_value(r, &text);
        if (r->terms->why == NULL)
            set_rule(r, name, value, row);
    }
    if (r->terms->why == NULL && row->cfa.kind == WNDL_RULE_UNSET)
        wndl_sym_fail(r->terms, WNDL_MALFORMED, "rules without a CFA");
    if (r->terms->why == NULL && r->machine->family == WNDL_CFI_X86 &&
        row->regs[row->ra_reg].kind == WNDL_RULE_UNSET)
        wndl_sym_fail(
            r->terms, WNDL_MALFORMED, "rules without a return address");
    return r->terms->why == NULL;
}

/* ---- functions */

/* The function that is being written. */
struct function {
    struct wndl_breakpad_stack init;
    struct wndl_cfi_row row;
    bool begun; /* its INIT is good */
    bool open;  /* it is being written: its CFA is known */
    bool lost;  /* what is behind its INIT is of no use */
};

static void drop(struct wndl_sym_reading *r, struct function *f,
    const struct wndl_breakpad_stack *record, enum wndl_status status,
    const char *why)
{
    wndl_sym_lose(r, record, status, why);
    if (f->open)
        wndl_frame_writer_undo(&r->writer);
    f->open = false;
    f->lost = true;
}

static void lose_more(struct wndl_sym_reading *r, struct function *f)
{
    wndl_sym_lose(
        r, &f->init, WNDL_LIMIT, "more rules than a file of this size has");
    f->open = false;
    f->lost = true;
}

static void end_function(struct wndl_sym_reading *r, struct function *f)
{
    if (f->open && !wndl_frame_writer_end(&r->writer))
        lose_more(r, f);
    f->open = false;
}

static void stop(struct wndl_sym_reading *r, struct function *f)
{
    if (f->open && !wndl_frame_writer_end_at(&r->writer, f->row.start))
        lose_more(r, f);
    f->open = false;
}

/* The rules as they are now; nothing where the CFA is not known. */
static void tell(struct wndl_sym_reading *r, struct function *f)
{
    const struct wndl_frame_function function = {
        f->row.start, f->init.start + f->init.size, f->init.at, false};
    if (f->row.cfa.kind == WNDL_RULE_UNDEFINED) {
        stop(r, f);
        return;
    }
    if (!f->open && !wndl_frame_writer_begin(&r->writer, &function)) {
        lose_more(r, f);
        return;
    }
    f->open = true;
    wndl_frame_writer_row(&r->writer, &f->row);
}

static void begin_function(struct wndl_sym_reading *r, struct function *f,
    const struct wndl_breakpad_stack *init)
{
    *f = (struct function){
        .init = *init, .row = {.start = init->start, .ra_reg = r->machine->ra}};
    wndl_sym_begin_function(r->terms);
    if (init->size == 0)
        drop(r, f, init, WNDL_MALFORMED, "a function of no code");
    else if (init->start + init->size > WNDL_SYM_CODE_MAX ||
             init->size == WNDL_SYM_CODE_MAX)
        drop(r, f, init, WNDL_LIMIT, "code beyond 4 GiB");
    else if (!read_rules(r, init->rules, &f->row))
        drop(r, f, init, r->terms->status, r->terms->why);
    else
        tell(r, f);
    f->begun = !f->lost;
}

static void go_on(struct wndl_sym_reading *r, struct function *f,
    const struct wndl_breakpad_stack *record)
{
    if (f->lost)
        return;
    if (!f->begun) {
        wndl_sym_lose(r, record, WNDL_MALFORMED, "rules of no function");
        return;
    }
    if (record->start < f->row.start ||
        record->start >= f->init.start + f->init.size) {
        drop(r, f, record, WNDL_MALFORMED,
            "rules outside of their function, or not in order");
        return;
    }
    f->row.start = record->start;
    if (read_rules(r, record->rules, &f->row))
        tell(r, f);
    else
        drop(r, f, record, r->terms->status, r->terms->why);
}

static void keep(struct wndl_sym_reading *r, struct wndl_vec *win,
    const struct wndl_breakpad_stack *record)
{
    if (r->machine->machine != EM_386) {
        wndl_sym_lose(r, record, WNDL_UNSUPPORTED,
            "a STACK WIN record of another machine than i386");
        return;
    }
    struct wndl_breakpad_stack *kept = wndl_vec_push(win);
    r->failed |= kept == NULL;
    if (kept != NULL)
        *kept = *record;
}

/* CFI is written as it comes, WIN kept: its ranges are within each other.
 * False when there is none of either. */
static bool read_all(
    struct wndl_sym_reading *r, struct wndl_bytes text, struct wndl_vec *win)
{
    struct wndl_breakpad_stacks stacks = {.text = text};
    struct wndl_breakpad_stack record;
    struct function f = {.open = false};
    struct wndl_error err = {0};
    enum wndl_status status;
    bool found = false;
    while ((status = wndl_breakpad_stack_next(&stacks, &record, &err)) !=
               WNDL_NOT_FOUND &&
           !r->failed) {
        found = true;
        if (status != WNDL_OK) {
            /* It may have begun a function, or said what holds in this one. */
            wndl_frames_lose(r->frames, &err);
            if (f.open)
                wndl_frame_writer_undo(&r->writer);
            f = (struct function){.lost = true};
            continue;
        }
        record.start += r->base;
        if (record.kind == WNDL_BREAKPAD_CFI_INIT) {
            end_function(r, &f);
            begin_function(r, &f, &record);
        } else if (record.kind == WNDL_BREAKPAD_CFI) {
            go_on(r, &f, &record);
        } else {
            keep(r, win, &record);
        }
    }
    end_function(r, &f);
    return found;
}

enum wndl_status wndl_sym_frames(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct wndl_bytes text;
    struct wndl_vec win;
    struct wndl_sym_reading r = {.frames = frames, .arena = arena};
    if (!wndl_object_has_added(object, WNDL_SYM_SECTION))
        return WNDL_NOT_FOUND;
    enum wndl_status status =
        wndl_object_section_bytes(object, WNDL_SYM_SECTION, &text, NULL, err);
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (machines[i].machine == wndl_object_machine(object))
            r.machine = &machines[i];
    if (status != WNDL_OK || r.machine == NULL)
        return status != WNDL_OK ? status : WNDL_NOT_FOUND;
    r.terms = wndl_arena_alloc(arena, sizeof *r.terms);
    if (r.terms == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    r.base = wndl_object_image_base(object).v;
    r.terms->word = r.machine->word;
    r.terms->sp = r.machine->sp;
    wndl_vec_init(&win, arena, sizeof(struct wndl_breakpad_stack));
    wndl_frame_writer_init(&r.writer, arena, r.machine->word, r.machine->ra);
    wndl_frame_writer_bound(&r.writer, text.size);
    if (!read_all(&r, text, &win)) {
        wndl_frame_writer_drop(&r.writer);
        return WNDL_NOT_FOUND;
    }
    wndl_sym_write_win(&r, &win);
    frames->name = WNDL_SYM_SECTION;
    frames->size = text.size;
    status = wndl_frames_finish(frames, &r.writer, arena, err);
    frames->frame.family = r.machine->family;
    if (status == WNDL_OK && r.failed)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return status;
}
