/* SPDX-License-Identifier: MIT */
#include "cfi_import/core/source_impl.h"
#include "cfi_import/pe/arm64.h"
#include "cfi_import/pe/frames.h"
#include "obj/pe/pe.h"
#include "unwind/core/arch.h"

#include <elf.h>

enum {
    ENTRY = 8, /* bytes */
    WORD = 4,
    FLAGS = 3, /* of an entry's second word */
    IS_ELSEWHERE = 0,
    IS_PACKED = 1,
    IS_PACKED_PART = 2, /* neither prologue nor epilogue */
    /* Steps to execute, for each byte of the list. Any number of functions may
     * share codes. */
    WORK_PER_BYTE = 64,
    WORK_AT_LEAST = 16 * 1024 * 1024,
    WORK_PER_EPILOGUE = 16, /* for the epilogue itself, without steps */
};

struct reading {
    struct wndl_cfi_source *cfi;
    const struct wndl_object *object;
    struct wndl_frame_writer writer;
    struct wndl_arm64_steps *prologue, *epilogue;
    uint64_t done; /* rva; functions before it are done */
    uint64_t work, most_work;
};

/* One function. */
struct function {
    uint64_t entry;            /* offset of its entry in .pdata */
    uint32_t start, size;      /* rva, bytes */
    struct wndl_bytes codes;   /* empty if packed */
    struct wndl_cursor scopes; /* of epilogues, `scope_count` words */
    uint32_t scope_count;
    bool has_last;      /* it has an epilogue at the end, */
    uint32_t last_code; /* of these codes, unless packed */
    bool is_part;       /* the steps of `prologue` were executed before it */
};

static void lose(
    struct reading *r, enum wndl_status status, uint64_t entry, const char *why)
{
    struct wndl_error err = {0};
    wndl_fail_at(&err, status, ".pdata", entry, why);
    wndl_cfi_source_lose(r->cfi, &err);
}

/* ---- rows */

static void write_row(
    struct reading *r, const struct wndl_arm64_state *state, uint64_t at)
{
    struct wndl_cfi_row row = state->row;
    row.start = at;
    wndl_frame_writer_row(&r->writer, &row);
}

static struct wndl_arm64_state state_after(
    struct reading *r, const struct wndl_arm64_steps *steps, uint32_t count)
{
    struct wndl_arm64_state state = wndl_arm64_state_at_entry();
    for (uint32_t i = 0; i < count; i++)
        wndl_arm64_state_step(&state, &steps->list[i]);
    r->work += count;
    return state;
}

/* The state of the function's body. */
static struct wndl_arm64_state write_prologue(
    struct reading *r, const struct function *f, uint64_t start)
{
    const struct wndl_arm64_steps *steps = r->prologue;
    const uint32_t own = f->is_part ? steps->count : steps->own;
    const uint64_t end = start + f->size;
    struct wndl_arm64_state state = state_after(r, steps, own);
    write_row(r, &state, start);
    for (uint32_t i = own; i < steps->count; i++) {
        wndl_arm64_state_step(&state, &steps->list[i]);
        start += WNDL_ARM64_INSTRUCTION;
        if (start < end)
            write_row(r, &state, start);
    }
    return state;
}

/*
 * The number of instructions of an epilogue, with the one that leaves the
 * function.
 */
static uint32_t epilogue_length(const struct wndl_arm64_steps *steps)
{
    return steps->count - steps->own + 1;
}

/*
 * Writes an epilogue, each of whose instructions undoes a step. After it the
 * body's rules hold again.
 */
static void write_epilogue(struct reading *r,
    const struct wndl_arm64_state *body, uint64_t at, uint64_t end)
{
    const struct wndl_arm64_steps *steps = r->epilogue;
    for (uint32_t left = steps->count + 1; left-- > steps->own;) {
        const struct wndl_arm64_state state = state_after(r, steps, left);
        write_row(r, &state, at);
        at += WNDL_ARM64_INSTRUCTION;
    }
    if (at < end)
        write_row(r, body, at);
}

/* ---- epilogues */

/*
 * *at: its place in the function, which is set for one at the end. False, after
 * a report, if there is no epilogue.
 */
static bool read_epilogue(struct reading *r, const struct function *f,
    uint32_t first_code, uint64_t *at, uint64_t done)
{
    const char *why = "";
    enum wndl_status status = WNDL_OK;
    if (f->codes.size != 0)
        status = wndl_arm64_steps_read(r->epilogue, f->codes, first_code, &why);
    r->work += r->epilogue->count + WORK_PER_EPILOGUE;
    const uint64_t size =
        epilogue_length(r->epilogue) * (uint64_t)WNDL_ARM64_INSTRUCTION;
    if (status != WNDL_OK) {
        lose(r, status, f->entry, why);
        return false;
    }
    if (f->has_last && size <= f->size)
        *at = f->size - size;
    if (size <= f->size && *at >= done && *at <= f->size - size)
        return true;
    lose(r, WNDL_MALFORMED, f->entry,
        "an epilogue that is not in its function, or in the one before");
    return false;
}

static void write_epilogues(struct reading *r, const struct function *f,
    const struct wndl_arm64_state *body)
{
    const uint64_t base = wndl_object_image_base(r->object).v;
    const uint64_t start = base + f->start, end = start + f->size;
    const uint32_t count = f->has_last ? 1 : f->scope_count;
    struct wndl_cursor scopes = f->scopes;
    uint64_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (r->work > r->most_work) {
            lose(r, WNDL_LIMIT, f->entry, "epilogues that take too long");
            return;
        }
        const uint32_t scope = f->has_last ? 0 : wndl_cursor_u32(&scopes);
        uint64_t at = (scope & 0x3ffff) * (uint64_t)WNDL_ARM64_INSTRUCTION;
        const uint32_t code = f->has_last ? f->last_code : scope >> 22;
        if (!read_epilogue(r, f, code, &at, done))
            continue;
        write_epilogue(r, body, start + at, end);
        done = at +
               epilogue_length(r->epilogue) * (uint64_t)WNDL_ARM64_INSTRUCTION;
    }
}

static void write_function(struct reading *r, const struct function *f)
{
    const uint64_t base = wndl_object_image_base(r->object).v;
    const struct wndl_frame_function function = {
        .start = base + f->start,
        .end = base + f->start + f->size,
        .origin = f->entry,
    };
    bool fits = wndl_frame_writer_begin(&r->writer, &function);
    if (fits) {
        const struct wndl_arm64_state body =
            write_prologue(r, f, function.start);
        write_epilogues(r, f, &body);
        fits = wndl_frame_writer_end(&r->writer);
    }
    if (!fits)
        lose(
            r, WNDL_LIMIT, f->entry, "more rules than a file of this size has");
}

/* ---- records */

/* Reads the header, epilogues and codes. */
static enum wndl_status read_xdata(
    struct reading *r, struct function *f, uint32_t rva, const char **why)
{
    const struct wndl_bytes bytes = wndl_pe_loaded(r->object, rva);
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    const uint32_t head = wndl_cursor_u32(&c);
    uint32_t words = head >> 27;
    f->scope_count = head >> 22 & 31;
    f->size = (head & 0x3ffff) * WNDL_ARM64_INSTRUCTION;
    f->has_last = (head >> 21 & 1) != 0;
    if (words == 0 && f->scope_count == 0) {
        const uint32_t more = wndl_cursor_u32(&c);
        f->scope_count = more & 0xffff;
        words = more >> 16 & 0xff;
    }
    f->last_code = f->scope_count;
    if (!f->has_last)
        f->scopes = wndl_cursor_sub(&c, f->scope_count * (uint64_t)WORD);
    const uint64_t size = words * (uint64_t)WORD;
    f->codes = (struct wndl_bytes){wndl_cursor_take(&c, size), size};
    *why = c.failed ? "its unwind information is missing or cut short"
                    : "unwind information of an unknown version";
    if (c.failed)
        return WNDL_TRUNCATED;
    return (head >> 18 & 3) != 0 ? WNDL_UNSUPPORTED : WNDL_OK;
}

static enum wndl_status read_steps(
    struct reading *r, struct function *f, uint32_t word, const char **why)
{
    switch (word & FLAGS) {
    case IS_ELSEWHERE:
        break;
    case IS_PACKED:
    case IS_PACKED_PART:
        f->size = (word >> 2 & 0x7ff) * WNDL_ARM64_INSTRUCTION;
        f->is_part = (word & FLAGS) == IS_PACKED_PART;
        f->has_last = !f->is_part;
        return wndl_arm64_steps_unpack(r->prologue, r->epilogue, word, why);
    default:
        *why = "an entry of a kind that is not known";
        return WNDL_UNSUPPORTED;
    }
    const enum wndl_status status = read_xdata(r, f, word, why);
    if (status != WNDL_OK)
        return status;
    if (f->codes.size == 0) {
        *why = "unwind information without codes";
        return WNDL_MALFORMED;
    }
    return wndl_arm64_steps_read(r->prologue, f->codes, 0, why);
}

/*
 * Functions must be in order. `next` is the start of the next one: an absurd
 * end loses its own function only.
 */
static void read_function(
    struct reading *r, struct function *f, uint32_t word, uint32_t next)
{
    const char *why = "unwind codes that take too long";
    enum wndl_status status = WNDL_LIMIT;
    if (f->start == 0 && word == 0)
        return;
    if (r->work <= r->most_work) {
        r->prologue->count = 0;
        status = read_steps(r, f, word, &why);
        r->work += r->prologue->count;
    }
    if (status == WNDL_OK) {
        const uint64_t end = f->start + (uint64_t)f->size;
        status = WNDL_MALFORMED;
        if (f->size == 0)
            why = "a function of no size";
        else if (f->start < r->done)
            why = "a function that starts in the one before";
        else if (end > UINT32_MAX || (end > next && next >= f->start))
            why = "a function that ends in the next one";
        else
            status = WNDL_OK;
    }
    if (status != WNDL_OK) {
        lose(r, status, f->entry, why);
        return;
    }
    r->done = f->start + f->size;
    write_function(r, f);
}

static uint32_t start_of_next(struct wndl_cursor c)
{
    return wndl_cursor_left(&c) < ENTRY ? UINT32_MAX : wndl_cursor_u32(&c);
}

static void read_list(struct reading *r, struct wndl_bytes list)
{
    struct wndl_cursor c = wndl_cursor_at(list, 0, false);
    while (wndl_cursor_left(&c) >= ENTRY) {
        struct function f = {.entry = wndl_cursor_offset(&c)};
        f.start = wndl_cursor_u32(&c);
        const uint32_t word = wndl_cursor_u32(&c);
        read_function(r, &f, word, start_of_next(c));
    }
}

enum wndl_status wndl_pe_arm64_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    uint32_t claimed;
    const struct wndl_bytes list = wndl_pe_exceptions(object, &claimed);
    const uint16_t machine = wndl_object_machine(object);
    struct reading r = {.cfi = cfi, .object = object};
    if (claimed != 0 && machine == EM_ARM)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "its unwind information (.pdata) is that of 32-bit Arm, which is "
            "not read");
    if (machine != EM_AARCH64 || claimed < ENTRY)
        return WNDL_NOT_FOUND;
    r.prologue = wndl_arena_alloc(arena, sizeof *r.prologue);
    r.epilogue = wndl_arena_alloc(arena, sizeof *r.epilogue);
    if (r.prologue == NULL || r.epilogue == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_frame_writer_init(&r.writer, arena, 8, wndl_arch_aarch64.ra);
    wndl_frame_writer_bound(&r.writer, list.size);
    r.most_work = list.size * (uint64_t)WORK_PER_BYTE + WORK_AT_LEAST;
    read_list(&r, list);
    if (list.size < claimed)
        lose(&r, WNDL_TRUNCATED, list.size,
            "the file ends, or its section, before the list of functions");
    cfi->name = ".pdata";
    cfi->size = list.size;
    const enum wndl_status status =
        wndl_cfi_source_finish(cfi, &r.writer, arena, err);
    cfi->frame.family = WNDL_CFI_AARCH64;
    return status;
}
