/* SPDX-License-Identifier: MIT */
#include "cfi/encoded.h"

enum { TERMINATOR = 4 /* bytes of the zero length that ends .eh_frame */ };

/*
 * The head of a record: DWARF 5, 6.4.1 and 7.24, LSB 5.0 Core, 10.6.1. In
 * .eh_frame the id always has 4 bytes: 0 for a CIE, else the distance from the
 * id back to the CIE. In .debug_frame it is as wide as the format: all ones for
 * a CIE, else the CIE's offset.
 */
struct record {
    uint64_t offset;
    uint64_t end;
    uint64_t cie_offset; /* of an FDE */
    bool is_cie;
    struct wndl_cursor body; /* after the id, up to the record's end */
};

static enum wndl_status fail(const struct wndl_cfi_section *frame,
    struct wndl_error *err, enum wndl_status status, uint64_t offset,
    const char *what)
{
    return wndl_cfi_fail(frame, err, status, offset, what);
}

static void read_id(
    const struct wndl_cfi_section *frame, bool wide, struct record *record)
{
    uint64_t at = wndl_cursor_offset(&record->body);
    if (!frame->debug_frame) {
        uint32_t back = wndl_cursor_u32(&record->body);
        record->is_cie = back == 0;
        record->cie_offset = at - back;
        return;
    }
    uint64_t id =
        wide ? wndl_cursor_u64(&record->body) : wndl_cursor_u32(&record->body);
    record->is_cie = id == (wide ? UINT64_MAX : UINT32_MAX);
    record->cie_offset = id;
}

/* NOT_FOUND for the zero length that ends .eh_frame, and at the very end. */
static enum wndl_status open_record(const struct wndl_cfi_section *frame,
    uint64_t offset, struct record *record, uint64_t *next,
    struct wndl_error *err)
{
    struct wndl_cursor c =
        wndl_cursor_at(frame->bytes, offset, frame->big_endian);
    if (offset == frame->bytes.size)
        return WNDL_NOT_FOUND;
    uint64_t length = wndl_cursor_u32(&c);
    bool wide = length == UINT32_MAX;
    if (wide)
        length = wndl_cursor_u64(&c);
    if (c.failed || length > wndl_cursor_left(&c))
        return fail(frame, err, WNDL_TRUNCATED, offset,
            "a record is longer than its section");
    record->offset = offset;
    record->end = wndl_cursor_offset(&c) + length;
    if (next != NULL)
        *next = record->end;
    if (length == 0)
        return WNDL_NOT_FOUND;
    record->body = wndl_cursor_sub(&c, length);
    read_id(frame, wide, record);
    if (record->body.failed)
        return fail(
            frame, err, WNDL_MALFORMED, offset, "a record too short for an id");
    return WNDL_OK;
}

/*
 * Reads the letters of an augmentation that starts with 'z', LSB 5.0 Core,
 * 10.6.1.1.1. 'B' (AArch64 pointer keys) and 'G' (memory tagging) have no data
 * and change no rule. An unknown letter may hide the 'R' after it, so it is
 * refused.
 */
static enum wndl_status read_letters(const struct wndl_cfi_section *frame,
    struct wndl_bytes letters, struct wndl_cursor *data, struct wndl_cie *cie)
{
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < letters.size && status == WNDL_OK; i++) {
        switch (letters.data[i]) {
        case 'R':
            cie->fde_encoding = wndl_cursor_u8(data);
            break;
        case 'L':
            cie->lsda_encoding = wndl_cursor_u8(data);
            break;
        case 'P':
            status = wndl_cfi_skip_encoded(frame, data, wndl_cursor_u8(data));
            break;
        case 'S':
            cie->signal_frame = true;
            break;
        case 'B':
        case 'G':
            break;
        default:
            status = WNDL_UNSUPPORTED;
        }
    }
    return status == WNDL_OK && data->failed ? WNDL_MALFORMED : status;
}

/* `c` is after the return address register. */
static enum wndl_status read_augmentation(const struct wndl_cfi_section *frame,
    struct wndl_bytes text, struct wndl_cursor *c, struct wndl_cie *cie)
{
    if (text.size == 0)
        return WNDL_OK;
    if (text.data[0] != 'z')
        return WNDL_UNSUPPORTED;
    cie->has_z = true;
    struct wndl_cursor data = wndl_cursor_sub(c, wndl_cursor_uleb(c));
    text = wndl_bytes_slice(text, 1, text.size - 1);
    return read_letters(frame, text, &data, cie);
}

/* .debug_frame version 4 has its own sizes; ours are the section's. */
static bool sizes_agree(const struct wndl_cfi_section *frame, uint8_t version,
    struct wndl_cursor *c)
{
    if (version < 4)
        return true;
    uint8_t address_size = wndl_cursor_u8(c);
    uint8_t segment_size = wndl_cursor_u8(c);
    return c->failed ||
           (address_size == frame->address_size && segment_size == 0);
}

static enum wndl_status read_cie(const struct wndl_cfi_section *frame,
    struct record *record, struct wndl_cie *cie, struct wndl_error *err)
{
    struct wndl_cursor *c = &record->body;
    *cie = (struct wndl_cie){
        .offset = record->offset,
        .fde_encoding = EH_PE_ABSPTR,
        .lsda_encoding = EH_PE_OMIT,
    };
    uint8_t version = wndl_cursor_u8(c);
    if (version != 1 && version != 3 && !(version == 4 && frame->debug_frame))
        return fail(frame, err, c->failed ? WNDL_MALFORMED : WNDL_UNSUPPORTED,
            record->offset, "a CIE of a version other than 1, 3 and 4");
    struct wndl_bytes augmentation = wndl_cursor_cstr(c);
    if (!sizes_agree(frame, version, c))
        return fail(frame, err, WNDL_UNSUPPORTED, record->offset,
            "a CIE of another address size, or with segments");
    cie->code_align = wndl_cursor_uleb(c);
    cie->data_align = wndl_cursor_sleb(c);
    cie->ra_reg = version == 1 ? wndl_cursor_u8(c) : wndl_cursor_uleb(c);
    enum wndl_status status = read_augmentation(frame, augmentation, c, cie);
    if (c->failed || status == WNDL_MALFORMED)
        return fail(frame, err, WNDL_MALFORMED, record->offset,
            "a CIE ends before its fields do");
    if (status != WNDL_OK)
        return fail(frame, err, status, record->offset,
            "a CIE with an augmentation that is not known");
    cie->program = (struct wndl_bytes){c->next, wndl_cursor_left(c)};
    return WNDL_OK;
}

static enum wndl_status find_cie(const struct wndl_cfi_section *frame,
    const struct record *fde, struct wndl_cie *cie, struct wndl_error *err)
{
    struct record record;
    enum wndl_status status = WNDL_MALFORMED;
    if (fde->cie_offset < frame->bytes.size)
        status = open_record(frame, fde->cie_offset, &record, NULL, NULL);
    if (status != WNDL_OK || !record.is_cie)
        return fail(frame, err, WNDL_MALFORMED, fde->offset,
            "an FDE points to something that is not a CIE");
    return read_cie(frame, &record, cie, err);
}

/*
 * Reads the two addresses, and skips the augmentation data (an LSDA pointer).
 */
static enum wndl_status read_fde(const struct wndl_cfi_section *frame,
    struct record *record, struct wndl_fde *fde, struct wndl_error *err)
{
    struct wndl_cursor *c = &record->body;
    uint8_t encoding = fde->cie.fde_encoding;
    uint64_t range = 0;
    enum wndl_status status =
        wndl_cfi_read_encoded(frame, c, encoding, &fde->start);
    if (status == WNDL_OK)
        status =
            wndl_cfi_read_encoded(frame, c, encoding & EH_PE_FORMAT, &range);
    if (status != WNDL_OK)
        return fail(frame, err, status, record->offset,
            "an FDE whose pointers have an encoding that is not read");
    if (fde->cie.has_z)
        wndl_cursor_skip(c, wndl_cursor_uleb(c));
    if (c->failed)
        return fail(frame, err, WNDL_MALFORMED, record->offset,
            "an FDE ends before its fields do");
    if (range > UINT64_MAX - fde->start)
        return fail(frame, err, WNDL_MALFORMED, record->offset,
            "an FDE covers more than the address space");
    fde->end = fde->start + range;
    fde->program = (struct wndl_bytes){c->next, wndl_cursor_left(c)};
    return WNDL_OK;
}

enum wndl_status wndl_fde_parse(const struct wndl_cfi_section *frame,
    uint64_t offset, struct wndl_fde *fde, uint64_t *next,
    struct wndl_error *err)
{
    struct record record;
    enum wndl_status status = open_record(frame, offset, &record, next, err);
    if (status != WNDL_OK)
        return status;
    if (record.is_cie)
        return WNDL_NOT_FOUND;
    status = find_cie(frame, &record, &fde->cie, err);
    if (status != WNDL_OK)
        return status;
    fde->offset = offset;
    return read_fde(frame, &record, fde, err);
}

/*
 * Ends at the zero length word, because the end of a mapped file's section is
 * not always known. Damaged records are skipped as long as their lengths can be
 * read. If no other record covers pc, the first damage is the answer.
 */
enum wndl_status wndl_fde_scan(const struct wndl_cfi_section *frame,
    uint64_t pc, struct wndl_fde *fde, struct wndl_error *err)
{
    enum wndl_status damage = WNDL_NOT_FOUND;
    uint64_t offset = 0;
    uint64_t next = 0;
    for (; offset < frame->bytes.size; offset = next) {
        next = offset;
        enum wndl_status status = wndl_fde_parse(
            frame, offset, fde, &next, damage == WNDL_NOT_FOUND ? err : NULL);
        if (status == WNDL_OK && fde->start <= pc && pc < fde->end)
            return WNDL_OK;
        if (status != WNDL_OK && damage == WNDL_NOT_FOUND)
            damage = status;
        if (next == offset || next == offset + TERMINATOR)
            break;
    }
    return damage;
}
