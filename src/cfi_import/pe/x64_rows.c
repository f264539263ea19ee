/* SPDX-License-Identifier: MIT */
#include "cfi_import/pe/x64_rows.h"

static void write_row(
    struct wndl_frame_writer *w, const struct wndl_cfi_row *row, uint64_t start)
{
    struct wndl_cfi_row at = *row;
    at.start = start;
    wndl_frame_writer_row(w, &at);
}

/* A function whose prologue has been written. */
struct body {
    const struct wndl_x64_function *function;
    const struct wndl_cfi_row *row; /* of all its code but epilogues */
    struct wndl_pe_shape shape;
};

/*
 * The return address is above the words to be popped. Registers that were saved
 * elsewhere were restored before the stack was freed.
 */
static void write_pops(
    struct wndl_frame_writer *w, const struct body *b, uint64_t at)
{
    const struct wndl_pe_shape *shape = &b->shape;
    for (size_t popped = 0; popped <= shape->pops; popped++) {
        struct wndl_pe_state state = wndl_pe_state_at_entry(0);
        for (size_t i = shape->pops; i > popped; i--) {
            const struct wndl_pe_step push = {
                WNDL_PE_PUSH, shape->popped[i - 1], 0, 0};
            wndl_pe_state_step(&state, &push);
        }
        if (at >= b->function->start && at < b->function->end)
            write_row(w, &state.row, at);
        if (popped < shape->pops)
            at += wndl_pe_pop_size(shape->popped[popped]);
    }
}

/* `base` is the svma of the bytes with the epilogue. */
static void write_epilogue(struct wndl_frame_writer *w, const struct body *b,
    uint64_t base, const struct wndl_pe_epilogue *epilogue)
{
    write_pops(w, b, base + epilogue->pops);
    if (base + epilogue->end < b->function->end)
        write_row(w, b->row, base + epilogue->end);
}

/* Bytes with epilogues, and the function's place in them. */
struct place {
    struct wndl_bytes code;
    size_t before;
    uint64_t base; /* svma */
};

static struct place place_of(const struct wndl_x64_function *f)
{
    if (f->around.size == 0)
        return (struct place){f->code, 0, f->start};
    return (struct place){f->around, f->before, f->start - f->before};
}

/*
 * Writes the rest of an epilogue that began before the function. Such a part
 * does nothing of its own first. Returns its end, or 0.
 */
static size_t write_rest(
    struct wndl_frame_writer *w, const struct body *b, const struct place *p)
{
    struct wndl_bytes front = p->code;
    struct wndl_pe_epilogue epilogue;
    if (b->function->unwind->prologue != 0)
        return 0;
    if (front.size > p->before + WNDL_PE_EPILOGUE_MAX)
        front.size = p->before + WNDL_PE_EPILOGUE_MAX;
    for (size_t from = 0;
         from < p->before &&
         wndl_pe_epilogue_find(&b->shape, front, from, &epilogue) &&
         epilogue.pops <= p->before;
         from = epilogue.end) {
        if (epilogue.end <= p->before)
            continue;
        write_epilogue(w, b, p->base, &epilogue);
        return epilogue.end;
    }
    return 0;
}

static void look_for_epilogues(
    struct wndl_frame_writer *w, const struct body *b)
{
    const struct place p = place_of(b->function);
    struct wndl_pe_epilogue epilogue;
    size_t from = write_rest(w, b, &p);
    if (from < p.before + b->function->unwind->prologue)
        from = p.before + b->function->unwind->prologue;
    while (wndl_pe_epilogue_find(&b->shape, p.code, from, &epilogue)) {
        write_epilogue(w, b, p.base, &epilogue);
        from = epilogue.end;
    }
}

static uint32_t write_listed_epilogues(
    struct wndl_frame_writer *w, const struct body *b)
{
    const struct wndl_pe_unwind *u = b->function->unwind;
    const struct wndl_bytes code = b->function->code;
    uint32_t unknown = 0;
    struct wndl_pe_epilogue epilogue;
    size_t done = u->prologue;
    for (uint32_t i = 0; i < u->epilogue_count; i++) {
        const uint64_t distance = u->epilogues[i];
        if (distance > code.size || code.size - distance < done ||
            !wndl_pe_epilogue_at(
                &b->shape, code, code.size - distance, &epilogue)) {
            unknown++;
            continue;
        }
        write_epilogue(w, b, b->function->start, &epilogue);
        done = epilogue.end;
    }
    return unknown;
}

static struct wndl_cfi_row write_prologue(
    struct wndl_frame_writer *w, const struct wndl_x64_function *f)
{
    const struct wndl_pe_unwind *u = f->unwind;
    struct wndl_pe_state state = wndl_pe_state_at_entry(u->base);
    for (uint32_t i = 0; i < u->own; i++)
        wndl_pe_state_step(&state, &u->steps[i]);
    write_row(w, &state.row, f->start);
    for (uint32_t i = u->own; i < u->count; i++) {
        const uint64_t at = f->start + u->steps[i].at;
        wndl_pe_state_step(&state, &u->steps[i]);
        if (at < f->end && at >= w->at)
            write_row(w, &state.row, at);
    }
    return state.row;
}

uint32_t wndl_x64_write_rows(
    struct wndl_frame_writer *w, const struct wndl_x64_function *function)
{
    const struct wndl_cfi_row row = write_prologue(w, function);
    struct body b = {function, &row, {.pops = 0}};
    if (function->code.size == 0 ||
        !wndl_pe_shape_of(function->unwind, &b.shape))
        return 0;
    if (function->unwind->version == 2)
        return write_listed_epilogues(w, &b);
    look_for_epilogues(w, &b);
    return 0;
}
