/* SPDX-License-Identifier: MIT */
/*
 * frames: STACK CFI INIT begins a function, and the STACK CFI records after it
 * change its rules from an address on. A rule that no row can express loses its
 * function. Code whose CFA is declared unknown is left out of it.
 */
#include "cfi_import/stack_record/frames.h"

#include "cfi_import/stack_record/reading.h"
#include "cfi_import/stack_record/win.h"

#include <elf.h>

/* ---- rules of one record */

/* A value of "NAME: VALUE", up to the next name or the end. */
static uint16_t read_value(
    struct wndl_stack_record_reading *r, struct wndl_bytes *text)
{
    struct wndl_stack_record_terms *t = r->terms;
    struct wndl_stack_record_operands stack = {.depth = 0};
    struct wndl_bytes word, rest = *text;
    bool is_undefined = false;
    while (wndl_stack_record_word(&rest, &word) && t->why == NULL &&
           word.data[word.size - 1] != ':') {
        struct wndl_stack_record_term term = {
            .kind = WNDL_STACK_RECORD_REGISTER};
        const int reg = wndl_stack_record_register(r->machine, word);
        *text = rest;
        if (wndl_bytes_is(word, ".undef"))
            is_undefined = true;
        if (is_undefined || wndl_stack_record_run(t, &stack, word))
            continue;
        term.kind =
            wndl_bytes_is(word, ".cfa") ? WNDL_STACK_RECORD_CFA : term.kind;
        term.reg = (uint8_t)(reg < 0 ? 0 : reg);
        if (term.kind == WNDL_STACK_RECORD_CFA || reg >= 0)
            wndl_stack_record_push(t, &stack, wndl_stack_record_add(t, &term));
        else
            wndl_stack_record_fail(
                t, WNDL_UNSUPPORTED, "a rule by a register that is not known");
    }
    if (is_undefined)
        return 0;
    if (stack.depth != 1)
        wndl_stack_record_fail(
            t, WNDL_MALFORMED, "a rule without exactly one value");
    return wndl_stack_record_pop(t, &stack);
}

static void set_rule(struct wndl_stack_record_reading *r,
    struct wndl_bytes name, uint16_t value, struct wndl_cfi_row *row)
{
    if (wndl_bytes_is(name, ".cfa")) {
        wndl_stack_record_cfa_rule(r->terms, value, &row->cfa);
        return;
    }
    const int reg = wndl_bytes_is(name, ".ra")
                        ? (int)row->ra_reg
                        : wndl_stack_record_register(r->machine, name);
    /* Registers that no row has are omitted without loss. */
    if (reg >= 0)
        wndl_stack_record_rule(
            r->terms, value, 0, (unsigned)reg, &row->regs[reg]);
}

/* False, with `why` in the terms, if it cannot become a row. */
static bool read_rules(struct wndl_stack_record_reading *r,
    struct wndl_bytes text, struct wndl_cfi_row *row)
{
    struct wndl_bytes name;
    wndl_stack_record_begin(r->terms);
    while (r->terms->why == NULL && wndl_stack_record_word(&text, &name)) {
        if (name.size < 2 || name.data[name.size - 1] != ':') {
            wndl_stack_record_fail(
                r->terms, WNDL_MALFORMED, "a rule of no register");
            break;
        }
        name.size--;
        const uint16_t value = read_value(r, &text);
        if (r->terms->why == NULL)
            set_rule(r, name, value, row);
    }
    if (r->terms->why == NULL && row->cfa.kind == WNDL_RULE_UNSET)
        wndl_stack_record_fail(r->terms, WNDL_MALFORMED, "rules without a CFA");
    if (r->terms->why == NULL && r->machine->family == WNDL_CFI_X86 &&
        row->regs[row->ra_reg].kind == WNDL_RULE_UNSET)
        wndl_stack_record_fail(
            r->terms, WNDL_MALFORMED, "rules without a return address");
    return r->terms->why == NULL;
}

/* ---- functions */

/* The function being written. */
struct function {
    struct wndl_breakpad_stack init;
    struct wndl_cfi_row row;
    bool begun; /* its INIT is good */
    bool open;  /* it is being written: its CFA is known */
    bool lost;  /* records after its INIT are useless */
};

static void lose_function(struct wndl_stack_record_reading *r,
    struct function *f, const struct wndl_breakpad_stack *record,
    enum wndl_status status, const char *why)
{
    wndl_stack_record_lose(r, record, status, why);
    if (f->open)
        wndl_frame_writer_undo(&r->writer);
    f->open = false;
    f->lost = true;
}

static void lose_more(struct wndl_stack_record_reading *r, struct function *f)
{
    wndl_stack_record_lose(
        r, &f->init, WNDL_LIMIT, "more rules than a file of this size has");
    f->open = false;
    f->lost = true;
}

static void end_function(
    struct wndl_stack_record_reading *r, struct function *f)
{
    if (f->open && !wndl_frame_writer_end(&r->writer))
        lose_more(r, f);
    f->open = false;
}

static void end_function_early(
    struct wndl_stack_record_reading *r, struct function *f)
{
    if (f->open && !wndl_frame_writer_end_at(&r->writer, f->row.start))
        lose_more(r, f);
    f->open = false;
}

/* The current rules; nothing if the CFA is not known. */
static void write_row(struct wndl_stack_record_reading *r, struct function *f)
{
    const struct wndl_frame_function function = {
        f->row.start, f->init.start + f->init.size, f->init.at, false};
    if (f->row.cfa.kind == WNDL_RULE_UNDEFINED) {
        end_function_early(r, f);
        return;
    }
    if (!f->open && !wndl_frame_writer_begin(&r->writer, &function)) {
        lose_more(r, f);
        return;
    }
    f->open = true;
    wndl_frame_writer_row(&r->writer, &f->row);
}

static void begin_function(struct wndl_stack_record_reading *r,
    struct function *f, const struct wndl_breakpad_stack *init)
{
    *f = (struct function){
        .init = *init, .row = {.start = init->start, .ra_reg = r->machine->ra}};
    wndl_stack_record_begin_function(r->terms);
    if (init->size == 0)
        lose_function(r, f, init, WNDL_MALFORMED, "a function of no code");
    else if (init->start + init->size > WNDL_STACK_RECORD_CODE_MAX ||
             init->size == WNDL_STACK_RECORD_CODE_MAX)
        lose_function(r, f, init, WNDL_LIMIT, "code beyond 4 GiB");
    else if (!read_rules(r, init->rules, &f->row))
        lose_function(r, f, init, r->terms->status, r->terms->why);
    else
        write_row(r, f);
    f->begun = !f->lost;
}

static void go_on(struct wndl_stack_record_reading *r, struct function *f,
    const struct wndl_breakpad_stack *record)
{
    if (f->lost)
        return;
    if (!f->begun) {
        wndl_stack_record_lose(
            r, record, WNDL_MALFORMED, "rules of no function");
        return;
    }
    if (record->start < f->row.start ||
        record->start >= f->init.start + f->init.size) {
        lose_function(r, f, record, WNDL_MALFORMED,
            "rules outside of their function, or not in order");
        return;
    }
    f->row.start = record->start;
    if (read_rules(r, record->rules, &f->row))
        write_row(r, f);
    else
        lose_function(r, f, record, r->terms->status, r->terms->why);
}

static void keep_win(struct wndl_stack_record_reading *r, struct wndl_vec *win,
    const struct wndl_breakpad_stack *record)
{
    if (r->machine->machine != EM_386) {
        wndl_stack_record_lose(r, record, WNDL_UNSUPPORTED,
            "a STACK WIN record of another machine than i386");
        return;
    }
    struct wndl_breakpad_stack *kept = wndl_vec_push(win);
    r->failed |= kept == NULL;
    if (kept != NULL)
        *kept = *record;
}

/*
 * CFI is written at once. WIN is kept, because its ranges are nested. False if
 * there is none of either.
 */
static bool read_all(struct wndl_stack_record_reading *r,
    struct wndl_bytes text, struct wndl_vec *win)
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
            /* The lost record may have begun a function, or changed this
             * one. */
            wndl_cfi_source_lose(r->cfi, &err);
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
            keep_win(r, win, &record);
        }
    }
    end_function(r, &f);
    return found;
}

enum wndl_status wndl_stack_record_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct wndl_bytes text;
    struct wndl_vec win;
    struct wndl_stack_record_reading r = {.cfi = cfi, .arena = arena};
    if (!wndl_object_has_added(object, WNDL_STACK_RECORD_SECTION))
        return WNDL_NOT_FOUND;
    enum wndl_status status = wndl_object_section_bytes(
        object, WNDL_STACK_RECORD_SECTION, &text, NULL, err);
    r.machine = wndl_stack_record_machine_of(wndl_object_machine(object));
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
    wndl_stack_record_write_win(&r, &win);
    cfi->name = WNDL_STACK_RECORD_SECTION;
    cfi->size = text.size;
    status = wndl_cfi_source_finish(cfi, &r.writer, arena, err);
    cfi->frame.family = r.machine->family;
    if (status == WNDL_OK && r.failed)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return status;
}
