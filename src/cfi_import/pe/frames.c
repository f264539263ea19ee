/* SPDX-License-Identifier: MIT */
#include "cfi_import/pe/frames.h"
#include "cfi_import/core/source_impl.h"
#include "cfi_import/pe/x64_rows.h"
#include "obj/pe/pe.h"
#include "unwind/core/arch.h"

#include <elf.h>

enum {
    ENTRY = 12, /* bytes */
    /* Slots of unwind codes to read, for each byte of the list. Any number of
     * functions may share a chain of 32 times 255. */
    WORK_PER_BYTE = 16,
    WORK_AT_LEAST = 16 * 1024 * 1024,
};

struct reading {
    struct wndl_cfi_source *cfi;
    const struct wndl_object *object;
    struct wndl_frame_writer writer;
    struct wndl_pe_unwind *unwind;
    uint64_t done;   /* rva; functions before it are done */
    uint32_t length; /* of the last one, bytes */
    uint64_t work, most_work;
};

static void lose(
    struct reading *r, enum wndl_status status, uint64_t entry, const char *why)
{
    struct wndl_error err = {0};
    wndl_fail_at(&err, status, ".pdata", entry, why);
    wndl_cfi_source_lose(r->cfi, &err);
}

static void lose_more(struct reading *r, uint64_t entry)
{
    lose(r, WNDL_LIMIT, entry, "more rules than a file of this size has");
}

/* Its neighbours, mostly other parts of the same function. */
struct next_to {
    uint32_t before, after; /* bytes */
};

static struct next_to look_around(
    const struct reading *r, const struct wndl_pe_function *f, uint32_t next)
{
    const uint32_t most = WNDL_PE_EPILOGUE_MAX;
    struct next_to n = {.after = f->end == next ? most : 0};
    if (f->start == r->done)
        n.before = r->length < most ? r->length : most;
    return n;
}

static struct wndl_bytes code_around(const struct reading *r,
    const struct wndl_pe_function *f, const struct next_to *n)
{
    const uint32_t least = n->before + (f->end - f->start);
    struct wndl_bytes code = wndl_pe_loaded(r->object, f->start - n->before);
    if (code.size < least)
        return (struct wndl_bytes){0};
    if (code.size > (uint64_t)least + n->after)
        code.size = least + n->after;
    return code;
}

static void write_function(struct reading *r, const struct wndl_pe_function *f,
    const struct next_to *n, uint64_t entry)
{
    const uint64_t base = wndl_object_image_base(r->object).v;
    const struct wndl_frame_function function = {
        .start = base + f->start,
        .end = base + f->end,
        .origin = entry,
        .signal_frame = r->unwind->signal_frame,
    };
    if (!wndl_frame_writer_begin(&r->writer, &function)) {
        lose_more(r, entry);
        return;
    }
    const struct wndl_x64_function code = {
        .unwind = r->unwind,
        .start = function.start,
        .end = function.end,
        .code = wndl_bytes_slice(
            wndl_pe_loaded(r->object, f->start), 0, f->end - f->start),
        .around = code_around(r, f, n),
        .before = n->before,
    };
    if (wndl_x64_write_rows(&r->writer, &code) != 0)
        lose(r, WNDL_UNSUPPORTED, entry,
            "an epilogue of a form that is not known; it has the rules of what "
            "is before it");
    if (!wndl_frame_writer_end(&r->writer))
        lose_more(r, entry);
}

/*
 * Functions must be in order, which bounds the search for epilogues. `next` is
 * the start of the next one: an absurd end loses its own function only.
 */
static void read_function(struct reading *r, const struct wndl_pe_function *f,
    uint32_t next, uint64_t entry)
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
    if (f->end > next && next >= f->start) {
        lose(r, WNDL_MALFORMED, entry, "a function that ends in the next one");
        return;
    }
    if (r->work > r->most_work) {
        lose(r, WNDL_LIMIT, entry, "unwind codes that take too long");
        return;
    }
    const enum wndl_status status =
        wndl_pe_unwind_read(r->object, f, r->unwind, &why);
    const struct next_to n = look_around(r, f, next);
    r->work += r->unwind->slots;
    r->done = f->end;
    r->length = f->end - f->start;
    if (status == WNDL_OK)
        write_function(r, f, &n, entry);
    else
        lose(r, status, entry, why);
}

static uint32_t start_of_next(struct wndl_cursor c)
{
    return wndl_cursor_left(&c) < ENTRY ? UINT32_MAX : wndl_cursor_u32(&c);
}

enum wndl_status wndl_pe_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    uint32_t claimed;
    const struct wndl_bytes list = wndl_pe_exceptions(object, &claimed);
    struct reading r = {.cfi = cfi, .object = object};
    if (wndl_object_machine(object) != EM_X86_64 || claimed < ENTRY)
        return WNDL_NOT_FOUND;
    r.unwind = wndl_arena_alloc(arena, sizeof *r.unwind);
    if (r.unwind == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_frame_writer_init(&r.writer, arena, 8, wndl_arch_x86_64.ra);
    wndl_frame_writer_bound(&r.writer, list.size);
    r.most_work = list.size * (uint64_t)WORK_PER_BYTE + WORK_AT_LEAST;
    struct wndl_cursor c = wndl_cursor_at(list, 0, false);
    while (wndl_cursor_left(&c) >= ENTRY) {
        const uint64_t entry = wndl_cursor_offset(&c);
        struct wndl_pe_function f = {wndl_cursor_u32(&c), 0, 0};
        f.end = wndl_cursor_u32(&c);
        f.unwind = wndl_cursor_u32(&c);
        read_function(&r, &f, start_of_next(c), entry);
    }
    if (list.size < claimed)
        lose(&r, WNDL_TRUNCATED, list.size,
            "the file ends, or its section, before the list of functions");
    cfi->name = ".pdata";
    cfi->size = list.size;
    return wndl_cfi_source_finish(cfi, &r.writer, arena, err);
}
