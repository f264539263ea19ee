/* SPDX-License-Identifier: MIT */
/*
 * The stack use of i386 code: records of two streams. The newer have a program
 * that finds the caller; the older ("FPO") have sizes only.
 */
#include "dbg/pdb/internal.h"

enum {
    RECORD = 32, /* bytes */
    OLD_RECORD = 16,
    WORD = 4,
    STRINGS_HEADER = 12,
    LONGEST_PROGRAM = 1024,
    /*
     * Bytes of output for each byte of the file: any number of records may have
     * the same program, and code in any number of pieces.
     */
    TOLD_PER_BYTE = 4,
    TOLD_AT_LEAST = 64 * 1024,
};

static const char section[] = "frame data";

struct visiting {
    struct wndl_pdb *pdb;
    wndl_pdb_visit_stack visit;
    void *context;
    uint64_t left; /* bytes that may still be given out */
};

static void damage(
    struct visiting *v, enum wndl_status status, uint64_t at, const char *what)
{
    wndl_pdb_damage(v->pdb, status, section, at, what);
}

/* Visits once for each piece of code that was moved as one. */
static enum wndl_status visit_stretches(
    struct visiting *v, const struct wndl_pdb_stack *linked, uint64_t record)
{
    uint64_t at = linked->rva;
    const uint64_t end = at + linked->size;
    enum wndl_status status = WNDL_OK;
    while (at < end && status == WNDL_OK) {
        const struct wndl_pdb_stretch s =
            wndl_pdb_stretch_from(v->pdb, at, end);
        struct wndl_pdb_stack one = *linked;
        const uint64_t bytes = RECORD + linked->program.size;
        if (v->left < bytes) {
            damage(v, WNDL_LIMIT, record,
                "more programs, or pieces of code, than a file of this size "
                "has");
            return WNDL_OK;
        }
        v->left -= bytes;
        one.rva = s.other;
        one.size = (uint32_t)(s.end - at);
        if (s.other != (uint32_t)WNDL_PDB_NOWHERE)
            status = v->visit(v->context, &one);
        at = s.end;
    }
    return status;
}

/* ---- with programs */

static bool is_text(struct wndl_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        if (bytes.data[i] < ' ' || bytes.data[i] > '~')
            return false;
    return true;
}

/* False, and damage, when it is not there. NOMEM leaves scratch.failed. */
static bool find_program(struct visiting *v, uint32_t offset,
    struct wndl_bytes *program, uint64_t record)
{
    struct wndl_pdb *pdb = v->pdb;
    const struct wndl_msf_range range = {
        STRINGS_HEADER + (uint64_t)offset, LONGEST_PROGRAM + 1};
    const struct wndl_bytes found =
        wndl_msf_read(&pdb->msf, &pdb->strings, range, &pdb->scratch);
    *program = wndl_bytes_cstr(found, 0);
    if (program->data != NULL && is_text(*program))
        return true;
    if (!pdb->scratch.failed)
        damage(v, WNDL_MALFORMED, record,
            "a program that is missing, too long or not text");
    return false;
}

/* start, size, locals, parameters, stack at most, program; of 2 bytes prologue
 * and saved registers; flags, which say of exceptions and where a function
 * starts */
static enum wndl_status read_record(
    struct visiting *v, struct wndl_cursor *c, uint64_t at)
{
    struct wndl_pdb_stack f = {.type = WNDL_PDB_FRAME_DATA};
    f.rva = wndl_cursor_u32(c);
    f.size = wndl_cursor_u32(c);
    f.locals = wndl_cursor_u32(c);
    f.parameters = wndl_cursor_u32(c);
    f.stack_most = wndl_cursor_u32(c);
    const uint32_t program = wndl_cursor_u32(c);
    f.prologue = wndl_cursor_u16(c);
    f.saved = wndl_cursor_u16(c);
    wndl_cursor_skip(c, WORD);
    if (find_program(v, program, &f.program, at))
        return visit_stretches(v, &f, at);
    return v->pdb->scratch.failed ? WNDL_NOMEM : WNDL_OK;
}

/* ---- without */

/* start, size, words of locals; of 2 bytes words of parameters, and bits: 8 of
 * the prologue, 3 of saved registers, exceptions, EBP, 1 of none, 2 of type */
static enum wndl_status read_old_record(
    struct visiting *v, struct wndl_cursor *c, uint64_t at)
{
    struct wndl_pdb_stack f = {.rva = wndl_cursor_u32(c)};
    f.size = wndl_cursor_u32(c);
    const uint32_t locals = wndl_cursor_u32(c);
    f.locals = locals * WORD;
    f.parameters = wndl_cursor_u16(c) * (uint32_t)WORD;
    const uint32_t bits = wndl_cursor_u16(c);
    f.prologue = bits & 0xff;
    f.saved = (bits >> 8 & 7) * WORD;
    f.allocates_bp = (bits >> 12 & 1) != 0;
    f.type = (uint8_t)(bits >> 14);
    if (locals <= UINT32_MAX / WORD)
        return visit_stretches(v, &f, at);
    damage(v, WNDL_MALFORMED, at, "more locals than there is memory");
    return WNDL_OK;
}

/* ---- streams */

typedef enum wndl_status (*read_one)(
    struct visiting *v, struct wndl_cursor *c, uint64_t at);

/* Reads records of `size` bytes, which may follow a number of 4 bytes. */
static enum wndl_status read_stream(struct visiting *v,
    const struct wndl_msf_stream *stream, size_t size, read_one read)
{
    struct wndl_msf_piece piece;
    const size_t before = stream->size % size == WORD ? WORD : 0;
    enum wndl_status status = wndl_msf_load(&v->pdb->msf, stream,
        (struct wndl_msf_range){0, stream->size}, v->pdb->mem, &piece);
    if (status == WNDL_NOMEM)
        return status;
    struct wndl_cursor c = wndl_cursor_at(piece.bytes, before, false);
    if (status != WNDL_OK || (stream->size - before) % size != 0)
        damage(v, WNDL_TRUNCATED, piece.bytes.size, "the list is cut short");
    status = WNDL_OK;
    while (wndl_cursor_left(&c) >= size && status == WNDL_OK)
        status = read(v, &c, wndl_cursor_offset(&c));
    wndl_msf_free(&piece, v->pdb->mem);
    return status;
}

enum wndl_status wndl_pdb_visit_stacks(
    struct wndl_pdb *pdb, wndl_pdb_visit_stack visit, void *context)
{
    const uint64_t size = pdb->in.file.size;
    struct visiting v = {
        pdb, visit, context, size * TOLD_PER_BYTE + TOLD_AT_LEAST};
    enum wndl_status status =
        read_stream(&v, &pdb->frame_data, RECORD, read_record);
    return status == WNDL_OK
               ? read_stream(&v, &pdb->fpo, OLD_RECORD, read_old_record)
               : status;
}
