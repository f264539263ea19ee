/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/frames.h"

#include "cfi_import/code/binary.h"
#include "cfi_import/code/restorer.h"
#include "cfi_import/core/frame_writer.h"
#include "cfi_import/elf/frames.h"
#include "obj/pe/pe.h"

#include <elf.h>

struct making {
    struct wndl_object *object;
    enum wndl_insn_mode mode;
    struct wndl_arena arena;
    struct wndl_code_binary binary;
    struct wndl_frame_writer writer;
    struct wndl_code_rules *rules;
};

/* ---- rows */

/* The function that is written now. */
struct writing {
    struct making *m;
    const struct wndl_code_flow *flow;
    bool is_open;
    uint32_t id;  /* of the state of the last row */
    uint64_t end; /* of the last instruction, offset */
    /* Room for this row's expressions and for the last one's, which the writer
     * compares. */
    uint8_t rooms[2][WNDL_CODE_ROOM];
    unsigned turn;
};

static uint64_t svma_of(const struct writing *w, uint64_t offset)
{
    return w->flow->text->code.svma + offset;
}

static void close_function(struct writing *w)
{
    if (w->is_open)
        w->m->rules->is_cut |=
            !wndl_frame_writer_end_at(&w->m->writer, svma_of(w, w->end));
    w->is_open = false;
    w->id = 0;
}

static bool open_function(struct writing *w, uint64_t at)
{
    const uint64_t size = w->flow->text->code.bytes.size;
    const struct wndl_frame_function function = {
        .start = svma_of(w, at), .end = svma_of(w, size), .origin = at};
    w->is_open =
        w->is_open || wndl_frame_writer_begin(&w->m->writer, &function);
    w->m->rules->is_cut |= !w->is_open;
    return w->is_open;
}

static void count_hole(
    struct writing *w, const struct wndl_code_state *state, unsigned size)
{
    if (state->joined != 0)
        w->m->rules->disagree += size;
    else
        w->m->rules->lost += size;
}

/* Writes the row of a new state. False if there is none. */
static bool write_row(struct writing *w, uint64_t at, unsigned size)
{
    struct wndl_code_state state;
    struct wndl_cfi_row row;
    if (!wndl_code_flow_state(w->flow, at, &state) ||
        !wndl_code_state_row(&state, &row, w->rooms[w->turn])) {
        close_function(w);
        count_hole(w, &state, size);
        return false;
    }
    if (!open_function(w, at))
        return false;
    row.start = svma_of(w, at);
    wndl_frame_writer_row(&w->m->writer, &row);
    w->turn ^= 1;
    w->id = wndl_code_flow_id(w->flow, at);
    return true;
}

static void write_instruction(struct writing *w, uint64_t at)
{
    const unsigned size = wndl_code_flow_size(w->flow, at);
    const unsigned counted = wndl_code_flow_is_padding(w->flow, at) ? 0 : size;
    if (w->is_open && (at != w->end || wndl_code_flow_is_entry(w->flow, at)))
        close_function(w);
    const bool is_same = w->is_open && w->id == wndl_code_flow_id(w->flow, at);
    if (!is_same && !write_row(w, at, counted))
        return;
    w->end = at + size;
    w->m->rules->made += counted;
}

static void write_rows(struct making *m, const struct wndl_code_flow *flow)
{
    struct writing w = {.m = m, .flow = flow};
    const uint64_t size = flow->text->code.bytes.size;
    for (uint64_t at = 0; at < size; at++) {
        if (wndl_code_flow_id(flow, at) != 0 && (!w.is_open || at >= w.end))
            write_instruction(&w, at);
    }
    close_function(&w);
}

static void write_restorers(struct making *m, const struct wndl_code_text *text)
{
    const unsigned size = wndl_restorer_size();
    struct wndl_cfi_row row;
    uint8_t room[WNDL_RESTORER_ROOM];
    wndl_restorer_row(&row, room);
    for (uint64_t at = 0; wndl_restorer_next(text, &at); at += size) {
        const uint64_t svma = text->code.svma + at;
        const struct wndl_frame_function function = {.start = svma - 1,
            .end = svma + size,
            .origin = at - 1,
            .signal_frame = true};
        if (!wndl_frame_writer_begin(&m->writer, &function))
            return;
        row.start = function.start;
        wndl_frame_writer_row(&m->writer, &row);
        m->rules->is_cut |= !wndl_frame_writer_end(&m->writer);
        m->rules->made += size;
    }
}

/* ---- code without rules */

/* Calls visit for each part of the code that is not covered. */
static void each_gap(const struct wndl_code_text *text,
    void (*visit)(void *context, uint64_t start, uint64_t end), void *context)
{
    const struct wndl_code_ranges *c = &text->covered;
    const uint64_t end = text->code.svma + text->code.bytes.size;
    uint64_t at = text->code.svma;
    for (size_t i = 0; i < c->count && at < end; i++) {
        if (c->all[i].end <= at)
            continue;
        if (c->all[i].start > at)
            visit(context, at, c->all[i].start < end ? c->all[i].start : end);
        at = c->all[i].end;
    }
    if (at < end)
        visit(context, at, end);
}

struct missing {
    const struct wndl_code_text *text;
    uint64_t bytes;
};

/* Instructions that do nothing fill up to the next function. */
static void count_gap(void *context, uint64_t start, uint64_t end)
{
    struct missing *m = context;
    const struct wndl_bytes all = m->text->code.bytes;
    unsigned size;
    do {
        const uint64_t offset = start - m->text->code.svma;
        size = wndl_insn_padding(
            m->text->mode, wndl_bytes_slice(all, offset, all.size - offset));
        start += size;
    } while (size != 0 && start < end);
    m->bytes += start < end ? end - start : 0;
}

/* The bytes of gaps after the padding that they begin with. */
static uint64_t missing_in(const struct wndl_code_text *text)
{
    struct missing missing = {text, 0};
    each_gap(text, count_gap, &missing);
    return missing.bytes;
}

static void scan_gap(void *context, uint64_t start, uint64_t end)
{
    wndl_code_flow_scan(context, start, end, false);
}

/* ---- entries */

/*
 * R_X86_64_RELATIVE or R_AARCH64_RELATIVE: a word of data has the address
 * `addend`.
 */
static void enter_relocated_64(
    struct wndl_cursor *c, struct wndl_code_flow *flow)
{
    const uint32_t relative = flow->text->mode == WNDL_INSN_A64
                                  ? R_AARCH64_RELATIVE
                                  : R_X86_64_RELATIVE;
    while (wndl_cursor_left(c) >= sizeof(Elf64_Rela)) {
        wndl_cursor_skip(c, sizeof(Elf64_Addr));
        const uint64_t info = wndl_cursor_u64(c);
        const uint64_t addend = wndl_cursor_u64(c);
        if (ELF64_R_TYPE(info) == relative)
            wndl_code_flow_enter(flow, addend, WNDL_CODE_NAMED);
    }
}

/* R_386_RELATIVE: the word there has the address. */
static void enter_relocated_32(
    struct wndl_cursor *c, struct wndl_code_flow *flow)
{
    while (wndl_cursor_left(c) >= sizeof(Elf32_Rel)) {
        const uint32_t place = wndl_cursor_u32(c);
        const uint32_t info = wndl_cursor_u32(c);
        struct wndl_cursor word =
            wndl_cursor_at(wndl_code_text_bytes(flow->text, place), 0, false);
        const uint32_t address = wndl_cursor_u32(&word);
        if (ELF32_R_TYPE(info) == R_386_RELATIVE && !word.failed)
            wndl_code_flow_enter(flow, address, WNDL_CODE_NAMED);
    }
}

static void enter_relocated(struct making *m, struct wndl_code_flow *flow)
{
    const bool is_64 = m->mode != WNDL_INSN_32;
    struct wndl_bytes bytes;
    if (wndl_object_section_bytes(m->object, is_64 ? ".rela.dyn" : ".rel.dyn",
            &bytes, NULL, NULL) != WNDL_OK)
        return;
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    if (is_64)
        enter_relocated_64(&c, flow);
    else
        enter_relocated_32(&c, flow);
}

static void find_entries(struct making *m, struct wndl_code_flow *flow)
{
    const struct wndl_code_ranges covered = flow->text->covered;
    wndl_code_binary_enter(&m->binary, flow);
    enter_relocated(m, flow);
    const struct wndl_code_range *f = m->binary.functions.data;
    for (size_t i = 0; i < m->binary.functions.len && covered.count != 0; i++)
        wndl_code_flow_scan(flow, f[i].start, f[i].end, true);
    const uint64_t before = flow->scanned;
    each_gap(flow->text, scan_gap, flow);
    m->rules->bytes += flow->scanned - before;
}

static struct wndl_code_text text_of(
    struct making *m, const struct wndl_code_part *code)
{
    return (struct wndl_code_text){.mode = m->mode,
        .code = *code,
        .got = m->binary.got,
        .is_fixed = m->binary.is_fixed,
        .parts = m->binary.parts.data,
        .part_count = m->binary.parts.len,
        .start = wndl_object_entry(m->object).v,
        .covered = {m->binary.covered.data, m->binary.covered.len},
        .ends = wndl_code_binary_ends,
        .context = &m->binary};
}

static bool follow_text(struct making *m, const struct wndl_code_part *code)
{
    struct wndl_arena arena;
    struct wndl_code_flow flow;
    const struct wndl_code_text text = text_of(m, code);
    if (missing_in(&text) == 0)
        return true;
    wndl_arena_init(&arena, m->arena.mem);
    bool done = wndl_code_flow_init(&flow, &text, &arena);
    if (done) {
        find_entries(m, &flow);
        done = wndl_code_flow_run(&flow);
        m->rules->is_cut |= flow.full;
    }
    if (done) {
        write_rows(m, &flow);
        if (m->mode == WNDL_INSN_64)
            write_restorers(m, &text);
    }
    wndl_arena_free(&arena);
    return done;
}

/* ---- public */

static enum wndl_status open_binary(struct making *m)
{
    struct wndl_cfi_source cfi;
    const enum wndl_status status =
        wndl_elf_cfi_open(&cfi, m->object, &m->arena, NULL);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK)
        cfi = (struct wndl_cfi_source){0};
    return wndl_code_binary_open(&m->binary, m->object, &cfi.frame, &m->arena);
}

static enum wndl_status follow_all(struct making *m)
{
    enum wndl_status status = open_binary(m);
    for (size_t i = 0; status == WNDL_OK && i < m->binary.texts.len; i++) {
        if (!follow_text(m, wndl_vec_at(&m->binary.texts, i)))
            status = WNDL_NOMEM;
    }
    return status;
}

static enum wndl_status add_rules(struct making *m)
{
    struct wndl_cfi_section frame;
    const struct wndl_code_rules *r = m->rules;
    if (!wndl_frame_writer_take(&m->writer, &m->arena, &frame))
        return WNDL_NOMEM;
    const uint64_t known = r->made + r->disagree + r->lost;
    m->rules->unreached = r->bytes < known ? 0 : r->bytes - known;
    return r->made == 0 ? WNDL_OK
                        : wndl_object_add_section(
                              m->object, WNDL_CODE_RULES_SECTION, frame.bytes);
}

static bool is_for(const struct wndl_object *object)
{
    const uint16_t machine = wndl_object_machine(object);
    return (machine == EM_X86_64 || machine == EM_386 ||
               (machine == EM_AARCH64 && !wndl_object_is_big_endian(object))) &&
           wndl_object_is_image(object) && !wndl_object_is_pe(object) &&
           !wndl_object_has_section(object, "__text") &&
           !wndl_object_has_added(object, WNDL_STACK_RECORD_SECTION) &&
           !wndl_object_has_added(object, WNDL_CODE_RULES_SECTION);
}

enum wndl_status wndl_code_rules_add(struct wndl_object *object,
    struct wndl_code_rules *rules, struct wndl_mem *mem)
{
    struct making m = {
        .object = object, .mode = wndl_code_mode_of(object), .rules = rules};
    const struct wndl_code_machine *machine = wndl_code_machine_of(m.mode);
    *rules = (struct wndl_code_rules){0};
    if (!is_for(object))
        return WNDL_OK;
    wndl_arena_init(&m.arena, mem);
    wndl_frame_writer_init(
        &m.writer, &m.arena, machine->word, machine->dwarf_ra);
    enum wndl_status status = follow_all(&m);
    if (status == WNDL_OK)
        status = add_rules(&m);
    else
        wndl_frame_writer_drop(&m.writer);
    wndl_arena_free(&m.arena);
    return status;
}

/* A file that is no program has 0 as its entry. */
static bool lacks_start(const struct wndl_code_text *text)
{
    const struct wndl_code_ranges *c = &text->covered;
    if (text->start == 0 || text->start < text->code.svma ||
        text->start - text->code.svma >= text->code.bytes.size)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        if (text->start >= c->all[i].start && text->start < c->all[i].end)
            return false;
    }
    return true;
}

struct wndl_code_missing wndl_code_rules_missing(
    struct wndl_object *object, struct wndl_mem *mem)
{
    struct making m = {.object = object, .mode = wndl_code_mode_of(object)};
    struct wndl_code_missing missing = {0};
    if (!is_for(object))
        return missing;
    wndl_arena_init(&m.arena, mem);
    const bool is_open = open_binary(&m) == WNDL_OK;
    for (size_t i = 0; is_open && i < m.binary.texts.len; i++) {
        const struct wndl_code_text text =
            text_of(&m, wndl_vec_at(&m.binary.texts, i));
        missing.bytes += missing_in(&text);
        uint64_t at = 0;
        missing.has_end |=
            lacks_start(&text) ||
            (m.mode == WNDL_INSN_64 && wndl_restorer_next(&text, &at));
    }
    wndl_arena_free(&m.arena);
    return missing;
}
