/* SPDX-License-Identifier: MIT */
#include "obj/pe.h"
#include "tables/frames_impl.h"
#include "tables/pe_epilogue.h"
#include "unwind/arch.h"

#include <elf.h>
#include <stdlib.h>

/* What is written is some 10 bytes for each of the list, mostly. */
enum { ENTRY = 12, BYTES_PER_BYTE = 32, BYTES_AT_LEAST = 16 * 1024 * 1024 };

struct reading {
    struct wndl_frames *frames;
    const struct wndl_object *object;
    struct wndl_frame_writer writer;
    struct wndl_pe_unwind *unwind;
    uint64_t done; /* rva up to which functions have been */
};

static void write_row(
    struct reading *r, const struct wndl_cfi_row *row, uint64_t start)
{
    struct wndl_cfi_row at = *row;
    at.start = start;
    wndl_frame_writer_row(&r->writer, &at);
}

/* ---- epilogues */

/* The return address is behind what is to be popped. Registers that were put
 * elsewhere have been taken back before the stack was freed. */
static void write_pops(
    struct reading *r, const struct wndl_pe_shape *shape, uint64_t at)
{
    for (size_t popped = 0; popped <= shape->pops; popped++) {
        struct wndl_pe_state state = wndl_pe_state_at_entry(0);
        for (size_t i = shape->pops; i > popped; i--) {
            const struct wndl_pe_step push = {
                WNDL_PE_PUSH, shape->popped[i - 1], 0, 0};
            wndl_pe_state_step(&state, &push);
        }
        write_row(r, &state.row, at);
        if (popped < shape->pops)
            at += wndl_pe_pop_size(shape->popped[popped]);
    }
}

/* A function whose prologue has been written. */
struct body {
    const struct wndl_pe_function *function;
    const struct wndl_cfi_row *row; /* of all but epilogues */
    struct wndl_bytes code;
    uint64_t start; /* svma */
    struct wndl_pe_shape shape;
};

static void write_epilogue(struct reading *r, const struct body *b,
    const struct wndl_pe_epilogue *epilogue)
{
    write_pops(r, &b->shape, b->start + epilogue->pops);
    if (epilogue->end < b->code.size)
        write_row(r, b->row, b->start + epilogue->end);
}

static void look_for_epilogues(struct reading *r, const struct body *b)
{
    struct wndl_pe_epilogue epilogue;
    size_t from = r->unwind->prologue;
    while (wndl_pe_epilogue_find(&b->shape, b->code, from, &epilogue)) {
        write_epilogue(r, b, &epilogue);
        from = epilogue.end;
    }
}

static void lose(
    struct reading *r, enum wndl_status status, uint64_t entry, const char *why)
{
    struct wndl_error err = {0};
    wndl_fail_at(&err, status, ".pdata", entry, why);
    wndl_frames_lose(r->frames, &err);
}

/* From the one furthest from the end on. */
static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a < b) - (a > b);
}

static void write_told_epilogues(
    struct reading *r, const struct body *b, uint64_t entry)
{
    struct wndl_pe_unwind *u = r->unwind;
    struct wndl_pe_epilogue epilogue;
    size_t done = u->prologue;
    qsort(u->epilogues, u->epilogue_count, sizeof *u->epilogues, compare);
    for (uint32_t i = 0; i < u->epilogue_count; i++) {
        const uint64_t distance = u->epilogues[i];
        if (distance > b->code.size || b->code.size - distance < done ||
            !wndl_pe_epilogue_at(
                &b->shape, b->code, b->code.size - distance, &epilogue)) {
            lose(r, WNDL_UNSUPPORTED, entry,
                "an epilogue of a form that is not known; it has the rules of "
                "what is before it");
            continue;
        }
        write_epilogue(r, b, &epilogue);
        done = epilogue.end;
    }
}

/* ---- functions */

static struct wndl_cfi_row write_prologue(
    struct reading *r, uint64_t start, uint64_t end)
{
    const struct wndl_pe_unwind *u = r->unwind;
    struct wndl_pe_state state = wndl_pe_state_at_entry(u->base);
    for (uint32_t i = 0; i < u->own; i++)
        wndl_pe_state_step(&state, &u->steps[i]);
    write_row(r, &state.row, start);
    for (uint32_t i = u->own; i < u->count; i++) {
        const uint64_t at = start + u->steps[i].at;
        wndl_pe_state_step(&state, &u->steps[i]);
        if (at < end && at >= r->writer.at)
            write_row(r, &state.row, at);
    }
    return state.row;
}

static void write_function(
    struct reading *r, const struct wndl_pe_function *f, uint64_t entry)
{
    const uint64_t base = wndl_object_image_base(r->object).v;
    const struct wndl_frame_function function = {
        .start = base + f->start,
        .end = base + f->end,
        .origin = entry,
        .signal_frame = r->unwind->signal_frame,
    };
    if (!wndl_frame_writer_begin(&r->writer, &function)) {
        lose(r, WNDL_LIMIT, entry, "more rules than a file of this size has");
        return;
    }
    const struct wndl_cfi_row row =
        write_prologue(r, function.start, function.end);
    struct body b = {.function = f,
        .row = &row,
        .start = function.start,
        .code = wndl_bytes_slice(
            wndl_pe_loaded(r->object, f->start), 0, f->end - f->start)};
    if (b.code.size != 0 && wndl_pe_shape_of(r->unwind, &b.shape)) {
        if (r->unwind->version == 1)
            look_for_epilogues(r, &b);
        else
            write_told_epilogues(r, &b, entry);
    }
    wndl_frame_writer_end(&r->writer);
}

/* They are to be in order: that bounds what is looked at for epilogues. */
static void read_function(
    struct reading *r, const struct wndl_pe_function *f, uint64_t entry)
{
    const char *why = "";
    if (f->start == 0 && f->end == 0)
        return;
    if (f->start >= f->end || f->start < r->done) {
        lose(r, WNDL_MALFORMED, entry,
            f->start >= f->end ? "a function that ends before it starts"
                               : "a function that starts in the one before");
        return;
    }
    const enum wndl_status status =
        wndl_pe_unwind_read(r->object, f, r->unwind, &why);
    r->done = f->end;
    if (status == WNDL_OK)
        write_function(r, f, entry);
    else
        lose(r, status, entry, why);
}

enum wndl_status wndl_pe_frames(struct wndl_frames *frames,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    uint32_t claimed;
    const struct wndl_bytes list = wndl_pe_exceptions(object, &claimed);
    struct reading r = {.frames = frames, .object = object};
    if (wndl_object_machine(object) != EM_X86_64 || claimed < ENTRY)
        return WNDL_NOT_FOUND;
    r.unwind = wndl_arena_alloc(arena, sizeof *r.unwind);
    if (r.unwind == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_frame_writer_init(&r.writer, arena, 8, wndl_arch_x86_64.ra);
    const uint64_t limit =
        (uint64_t)list.size * BYTES_PER_BYTE + BYTES_AT_LEAST;
    if (limit < r.writer.limit)
        r.writer.limit = limit;
    struct wndl_cursor c = wndl_cursor_at(list, 0, false);
    while (wndl_cursor_left(&c) >= ENTRY) {
        const uint64_t entry = wndl_cursor_offset(&c);
        struct wndl_pe_function f = {wndl_cursor_u32(&c), 0, 0};
        f.end = wndl_cursor_u32(&c);
        f.unwind = wndl_cursor_u32(&c);
        read_function(&r, &f, entry);
    }
    if (list.size < claimed)
        lose(&r, WNDL_TRUNCATED, list.size,
            "the file ends, or its section, before the list of functions");
    frames->name = ".pdata";
    frames->size = list.size;
    return wndl_frames_finish(frames, &r.writer, arena, err);
}
