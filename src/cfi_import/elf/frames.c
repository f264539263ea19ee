/* SPDX-License-Identifier: MIT */
#include "cfi_import/elf/frames.h"

#include "base/map.h"
#include "base/search.h"
#include "cfi_import/core/source_impl.h"
#include "cfi_import/elf/go_stacks.h"
#include "obj/find/debugfile.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char EH_FRAME[] = ".eh_frame";
static const char DEBUG_FRAME[] = ".debug_frame";

enum { CIE_VERSION = 3 };

/* Code that .eh_frame has rules for. */
struct range {
    uint64_t start, end; /* svma */
};

/* Invariant: `covered` is sorted and disjoint once all of .eh_frame is read. */
struct merge {
    struct wndl_cfi_source *cfi;  /* its frame is .eh_frame */
    struct wndl_cfi_section more; /* .debug_frame, or of that form */
    const char *name;             /* of that */
    struct wndl_vec covered;      /* struct range */
    struct wndl_map cies; /* offset in `more` -> offset in `out`, plus 1 */
    struct wndl_buf out;
    struct wndl_error cut; /* why .eh_frame was not read to its end */
    bool failed;           /* memory is out */
};

/* ---- .eh_frame */

static int compare_ranges(const void *a, const void *b)
{
    const struct range *r = a, *s = b;
    return r->start < s->start ? -1 : r->start > s->start;
}

static void join_ranges(struct wndl_vec *ranges)
{
    struct range *all = ranges->data;
    size_t kept = 0;
    if (ranges->len > 1)
        qsort(all, ranges->len, sizeof *all, compare_ranges);
    for (size_t i = 0; i < ranges->len; i++) {
        if (kept != 0 && all[i].start <= all[kept - 1].end) {
            if (all[i].end > all[kept - 1].end)
                all[kept - 1].end = all[i].end;
            continue;
        }
        all[kept++] = all[i];
    }
    ranges->len = kept;
}

static void add_range(struct merge *m, const struct wndl_fde *fde)
{
    if (fde->start >= fde->end)
        return;
    struct range *range = wndl_vec_push(&m->covered);
    if (range == NULL)
        m->failed = true;
    else
        *range = (struct range){fde->start, fde->end};
}

/*
 * Copies the records. Those after one whose length cannot be read are lost, as
 * they are to all readers of the section; other damage is left to them.
 */
static void take_eh_frame(struct merge *m)
{
    const struct wndl_cfi_section *frame = &m->cfi->frame;
    uint64_t at = 0;
    while (at < frame->bytes.size && !m->failed) {
        struct wndl_fde fde;
        struct wndl_error why = {0};
        uint64_t next = at;
        const enum wndl_status status =
            wndl_fde_parse(frame, at, &fde, &next, &why);
        if (next == at) {
            m->cut = why;
            break;
        }
        if (status == WNDL_OK)
            add_range(m, &fde);
        at = next;
    }
    wndl_buf_add(&m->out, frame->bytes.data, (size_t)at);
    join_ranges(&m->covered);
}

/* ---- .debug_frame */

static void put_address(struct merge *m, uint64_t address)
{
    if (m->more.address_size == 8)
        wndl_buf_u64le(&m->out, address);
    else
        wndl_buf_u32le(&m->out, (uint32_t)address);
}

/* Sets the length of the record that begins at `start` and ends here. */
static void close_record(struct merge *m, size_t start)
{
    if (m->out.failed)
        return;
    const size_t size = m->out.size - start - sizeof(uint32_t);
    for (unsigned i = 0; i < sizeof(uint32_t); i++)
        m->out.data[start + i] = (uint8_t)(size >> 8 * i);
}

/* Without 'R' in their augmentation, addresses are absolute in both forms. */
static void write_cie(struct merge *m, const struct wndl_cie *cie)
{
    const char *letters = cie->signal_frame ? "zS" : "";
    const size_t start = m->out.size;
    wndl_buf_u32le(&m->out, 0);
    wndl_buf_u32le(&m->out, 0); /* a CIE */
    wndl_buf_byte(&m->out, CIE_VERSION);
    wndl_buf_add(&m->out, letters, __builtin_strlen(letters) + 1);
    wndl_buf_uleb(&m->out, cie->code_align);
    wndl_buf_sleb(&m->out, cie->data_align);
    wndl_buf_uleb(&m->out, cie->ra_reg);
    if (cie->signal_frame)
        wndl_buf_uleb(&m->out, 0);
    wndl_buf_add(&m->out, cie->program.data, cie->program.size);
    close_record(m, start);
}

/* The offset in `out` of the FDE's CIE, which is written if it is new. */
static uint64_t place_of_cie(struct merge *m, const struct wndl_cie *cie)
{
    uint64_t *place = wndl_map_put(&m->cies, cie->offset);
    m->failed = m->failed || place == NULL;
    if (place == NULL)
        return 0;
    if (*place == 0) {
        *place = m->out.size + 1;
        write_cie(m, cie);
    }
    return *place - 1;
}

static void write_fde(
    struct merge *m, const struct wndl_fde *fde, const struct range *code)
{
    const uint64_t cie = place_of_cie(m, &fde->cie);
    const size_t start = m->out.size;
    struct wndl_frame_origin *origin = wndl_vec_push(&m->cfi->origins);
    if (origin == NULL) {
        m->failed = true;
        return;
    }
    *origin = (struct wndl_frame_origin){start, fde->offset};
    wndl_buf_u32le(&m->out, 0);
    wndl_buf_u32le(&m->out, (uint32_t)(m->out.size - cie));
    put_address(m, code->start);
    put_address(m, code->end - code->start);
    if (fde->cie.signal_frame)
        wndl_buf_uleb(&m->out, 0);
    wndl_buf_add(&m->out, fde->program.data, fde->program.size);
    close_record(m, start);
}

/*
 * Cuts `code` at the first address that .eh_frame covers. False if that is its
 * start. *left receives the bytes of code after that which are not covered, or
 * a part of them.
 */
static bool cut_covered(
    const struct merge *m, struct range *code, uint64_t *left)
{
    const struct range *all = m->covered.data;
    const size_t at = m->covered.len == 0
                          ? 0
                          : wndl_search_up_to(&all->start, sizeof *all,
                                m->covered.len, code->start);
    *left = 0;
    if (at != 0 && all[at - 1].end > code->start) {
        if (all[at - 1].end < code->end)
            *left = code->end - all[at - 1].end;
        return false;
    }
    if (at < m->covered.len && all[at].start < code->end) {
        if (all[at].end < code->end)
            *left = code->end - all[at].end;
        code->end = all[at].start;
    }
    return true;
}

/* Rules count from the start of their function, so only its end can be cut. */
static void add_fde(struct merge *m, const struct wndl_fde *fde)
{
    struct range code = {fde->start, fde->end};
    struct wndl_error why = {0};
    uint64_t left;
    if (code.start >= code.end)
        return;
    if (cut_covered(m, &code, &left))
        write_fde(m, fde, &code);
    if (left == 0)
        return;
    (void)wndl_fail_at(&why, WNDL_UNSUPPORTED, m->name, fde->offset,
        "an FDE of which .eh_frame covers a part before its end");
    wndl_cfi_source_lose(m->cfi, &why);
}

static void take_debug_frame(struct merge *m)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < m->more.bytes.size && !m->failed; at = next) {
        struct wndl_fde fde;
        struct wndl_error why = {0};
        next = m->more.bytes.size;
        const enum wndl_status status =
            wndl_fde_parse(&m->more, at, &fde, &next, &why);
        if (status == WNDL_OK)
            add_fde(m, &fde);
        else if (status != WNDL_NOT_FOUND)
            wndl_cfi_source_lose(m->cfi, &why);
    }
}

/* ---- both */

static const char *name_of(const struct wndl_cfi_source *cfi)
{
    return cfi->code_from == 0 ? ".eh_frame and .debug_frame"
           : cfi->more == NULL ? ".eh_frame and code"
                               : ".eh_frame, .debug_frame and code";
}

/* Moves the result to the arena, if there are more records than `before`. */
static enum wndl_status finish_merge(struct merge *m, size_t before,
    struct wndl_arena *arena, struct wndl_error *err)
{
    struct wndl_cfi_source *cfi = m->cfi;
    enum wndl_status status = WNDL_OK;
    if (m->failed || m->out.failed) {
        status = wndl_fail(err, WNDL_NOMEM, "out of memory");
    } else if (cfi->origins.len != before) {
        const char *copy = wndl_arena_copy(arena, m->out.data, m->out.size);
        if (copy == NULL)
            status = wndl_fail(err, WNDL_NOMEM, "out of memory");
        cfi->frame.bytes = (struct wndl_bytes){
            (const uint8_t *)copy, copy == NULL ? 0 : m->out.size};
        cfi->name = name_of(cfi);
        cfi->size += m->more.bytes.size;
        if (m->cut.status != WNDL_OK)
            wndl_cfi_source_lose(cfi, &m->cut);
    }
    wndl_buf_free(&m->out);
    return status;
}

static enum wndl_status merge(struct wndl_cfi_source *cfi,
    const struct wndl_cfi_source *other, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct merge m = {.cfi = cfi, .more = other->frame, .name = other->name};
    const size_t before = cfi->origins.len;
    wndl_vec_init(&m.covered, arena, sizeof(struct range));
    if (before == 0)
        wndl_vec_init(&cfi->origins, arena, sizeof(struct wndl_frame_origin));
    wndl_map_init(&m.cies, arena);
    wndl_buf_init(&m.out, arena->mem);
    take_eh_frame(&m);
    if (strcmp(other->name, DEBUG_FRAME) == 0) {
        cfi->more_from = m.out.size;
        cfi->more = DEBUG_FRAME;
    } else {
        cfi->code_from = m.out.size;
    }
    take_debug_frame(&m);
    return finish_merge(&m, before, arena, err);
}

static enum wndl_status find_debug_frame(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    const enum wndl_status status =
        wndl_cfi_source_find(cfi, object, DEBUG_FRAME, err);
    return status != WNDL_OK
               ? status
               : wndl_go_begin_stacks(&cfi->frame, object, arena, err);
}

/* .eh_frame and .debug_frame. */
static enum wndl_status open_sections(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct wndl_cfi_source more = {0};
    struct wndl_error why = {0};
    enum wndl_status status = wndl_cfi_source_find(cfi, object, EH_FRAME, err);
    if (status == WNDL_NOT_FOUND) {
        *cfi = (struct wndl_cfi_source){0};
        return find_debug_frame(cfi, object, arena, err);
    }
    if (status != WNDL_OK || cfi->frame.big_endian)
        return status;
    const enum wndl_status other = find_debug_frame(&more, object, arena, &why);
    if (other == WNDL_OK)
        return merge(cfi, &more, arena, err);
    if (other != WNDL_NOT_FOUND)
        wndl_cfi_source_lose(cfi, &why);
    return WNDL_OK;
}

/* Rules from code complete .eh_frame, which every program of gcc has. */
enum wndl_status wndl_elf_cfi_open(struct wndl_cfi_source *cfi,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct wndl_cfi_source code = {0};
    *cfi = (struct wndl_cfi_source){0};
    enum wndl_status status = open_sections(cfi, object, arena, err);
    if ((status != WNDL_OK && status != WNDL_NOT_FOUND) ||
        !wndl_object_has_added(object, WNDL_CODE_RULES_SECTION) ||
        (status == WNDL_OK && cfi->frame.debug_frame))
        return status;
    if (status == WNDL_NOT_FOUND) {
        *cfi = (struct wndl_cfi_source){0};
        return wndl_cfi_source_find(cfi, object, WNDL_CODE_RULES_SECTION, err);
    }
    status = wndl_cfi_source_find(&code, object, WNDL_CODE_RULES_SECTION, err);
    return status == WNDL_OK ? merge(cfi, &code, arena, err) : status;
}

/* ---- the debug file */

static enum wndl_status add_section(
    struct wndl_object *object, struct wndl_object *from)
{
    struct wndl_bytes bytes;
    const enum wndl_status status =
        wndl_object_section_bytes(from, DEBUG_FRAME, &bytes, NULL, NULL);
    if (status == WNDL_NOMEM)
        return status;
    return status != WNDL_OK || bytes.size == 0
               ? WNDL_OK
               : wndl_object_add_section(object, DEBUG_FRAME, bytes);
}

enum wndl_status wndl_elf_cfi_add_debug_file(
    struct wndl_object *object, const char *const *dirs, struct wndl_mem *mem)
{
    struct wndl_debugfile debug;
    if (!wndl_object_is_image(object) ||
        wndl_object_machine(object) == EM_ARM ||
        wndl_object_has_section(object, DEBUG_FRAME))
        return WNDL_OK;
    enum wndl_status status =
        wndl_debugfile_find(object, dirs, mem, &debug, NULL);
    if (status != WNDL_OK)
        return status == WNDL_NOMEM ? status : WNDL_OK;
    status = add_section(object, debug.object);
    wndl_debugfile_close(&debug);
    return status;
}
