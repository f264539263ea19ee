/* SPDX-License-Identifier: MIT */
#include "tables/x64_rows.h"

static void write_row(
    struct wndl_frame_writer *w, const struct wndl_cfi_row *row, uint64_t start)
{
    struct wndl_cfi_row at = *row;
    at.start = start;
    wndl_frame_writer_row(w, &at);
}

/* The return address is behind what is to be popped. Registers that were put
 * elsewhere have been taken back before the stack was freed. */
static void write_pops(
    struct wndl_frame_writer *w, const struct wndl_pe_shape *shape, uint64_t at)
{
    for (size_t popped = 0; popped <= shape->pops; popped++) {
        struct wndl_pe_state state = wndl_pe_state_at_entry(0);
        for (size_t i = shape->pops; i > popped; i--) {
            const struct wndl_pe_step push = {
                WNDL_PE_PUSH, shape->popped[i - 1], 0, 0};
            wndl_pe_state_step(&state, &push);
        }
        write_row(w, &state.row, at);
        if (popped < shape->pops)
            at += wndl_pe_pop_size(shape->popped[popped]);
    }
}

/* A function whose prologue has been written. */
struct body {
    const struct wndl_x64_function *function;
    const struct wndl_cfi_row *row; /* of all but epilogues */
    struct wndl_pe_shape shape;
};

static void write_epilogue(struct wndl_frame_writer *w, const struct body *b,
    const struct wndl_pe_epilogue *epilogue)
{
    write_pops(w, &b->shape, b->function->start + epilogue->pops);
    if (epilogue->end < b->function->code.size)
        write_row(w, b->row, b->function->start + epilogue->end);
}

static void look_for_epilogues(
    struct wndl_frame_writer *w, const struct body *b)
{
    struct wndl_pe_epilogue epilogue;
    size_t from = b->function->unwind->prologue;
    while (
        wndl_pe_epilogue_find(&b->shape, b->function->code, from, &epilogue)) {
        write_epilogue(w, b, &epilogue);
        from = epilogue.end;
    }
}

static uint32_t write_told_epilogues(
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
        write_epilogue(w, b, &epilogue);
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
        return write_told_epilogues(w, &b);
    look_for_epilogues(w, &b);
    return 0;
}
