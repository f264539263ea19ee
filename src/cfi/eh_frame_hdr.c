/* SPDX-License-Identifier: MIT */
#include "cfi/encoded.h"

/* LSB 5.0 Core, 10.6.2. Version, three encodings; then eh_frame_ptr. */
enum { HDR_VERSION = 1, USUAL = EH_PE_DATAREL | EH_PE_SDATA4 };

/* The sorted table: count * 2 * field <= bytes.size. */
struct table {
    struct wndl_bytes bytes; /* from the first entry to the header's end */
    uint64_t offset;         /* of bytes in the header */
    uint64_t count;
    unsigned field; /* bytes of one of the two fields of an entry */
    uint8_t encoding;
};

/* The header with itself as the base, whatever the caller's data_base is. */
static struct wndl_cfi_section with_datarel(const struct wndl_cfi_section *hdr)
{
    struct wndl_cfi_section own = *hdr;
    own.data_base = hdr->addr;
    return own;
}

static unsigned format_size(const struct wndl_cfi_section *hdr, uint8_t format)
{
    switch (format) {
    case EH_PE_UDATA4:
    case EH_PE_SDATA4:
        return 4;
    case EH_PE_UDATA8:
    case EH_PE_SDATA8:
        return 8;
    case EH_PE_UDATA2:
    case EH_PE_SDATA2:
        return 2;
    case EH_PE_ABSPTR:
    case EH_PE_SIGNED:
        return hdr->address_size;
    default:
        return 0;
    }
}

/* Reads up to and including eh_frame_ptr. */
static enum wndl_status open_hdr(const struct wndl_cfi_section *hdr,
    struct wndl_cursor *c, uint8_t encodings[3], uint64_t *frame_addr)
{
    *c = wndl_cursor_at(hdr->bytes, 0, hdr->big_endian);
    uint8_t version = wndl_cursor_u8(c);
    for (int i = 0; i < 3; i++)
        encodings[i] = wndl_cursor_u8(c);
    if (c->failed)
        return WNDL_TRUNCATED;
    if (version != HDR_VERSION)
        return WNDL_UNSUPPORTED;
    if (encodings[0] == EH_PE_OMIT)
        return WNDL_NOT_FOUND;
    enum wndl_status status =
        wndl_cfi_read_encoded(hdr, c, encodings[0], frame_addr);
    return c->failed ? WNDL_TRUNCATED : status;
}

/* A count that exceeds the bytes is reduced. */
static enum wndl_status open_table(
    const struct wndl_cfi_section *hdr, struct table *table)
{
    struct wndl_cursor c;
    uint8_t encodings[3];
    uint64_t frame_addr = 0;
    enum wndl_status status = open_hdr(hdr, &c, encodings, &frame_addr);
    if (status != WNDL_OK)
        return status == WNDL_NOT_FOUND ? WNDL_UNSUPPORTED : status;
    if (encodings[1] == EH_PE_OMIT || encodings[2] == EH_PE_OMIT)
        return WNDL_UNSUPPORTED;
    status = wndl_cfi_read_encoded(hdr, &c, encodings[1], &table->count);
    if (status != WNDL_OK || c.failed)
        return status != WNDL_OK ? status : WNDL_TRUNCATED;
    table->encoding = encodings[2];
    table->field = format_size(hdr, encodings[2] & EH_PE_FORMAT);
    if (table->field == 0)
        return WNDL_UNSUPPORTED;
    table->offset = wndl_cursor_offset(&c);
    table->bytes = (struct wndl_bytes){c.next, wndl_cursor_left(&c)};
    uint64_t room = table->bytes.size / (2 * table->field);
    table->count = table->count < room ? table->count : room;
    return WNDL_OK;
}

/* datarel|sdata4: both are relative to the header. */
struct usual_entry {
    int32_t start, record;
} __attribute__((packed, may_alias));

/* The form that all linkers write: pcrel|sdata4, udata4, datarel|sdata4. */
struct usual_hdr {
    uint8_t head[4];
    int32_t frame; /* relative to here */
    uint32_t count;
    struct usual_entry entries[];
} __attribute__((packed, may_alias));

/* NULL if it is of another form, or too short. */
static const struct usual_hdr *usual_hdr(const struct wndl_cfi_section *hdr)
{
    static const uint8_t head[4] = {HDR_VERSION, 0x1b, 0x03, USUAL};
    const struct usual_hdr *usual =
        (const struct usual_hdr *)(const void *)hdr->bytes.data;
    bool is_usual = hdr->bytes.size >= sizeof *usual && !hdr->big_endian &&
                    __builtin_memcmp(usual->head, head, sizeof head) == 0;
    return is_usual ? usual : NULL;
}

/*
 * Finds the address of the record in the usual table. Sums wrap at the width of
 * an address, and it is the sums that are sorted.
 */
static enum wndl_status search_usual(const struct wndl_cfi_section *hdr,
    const struct usual_hdr *usual, uint64_t pc, uint64_t *record)
{
    const uint64_t mask = wndl_cfi_address(hdr, UINT64_MAX);
    const uint64_t origin = hdr->addr;
    const struct usual_entry *e = usual->entries;
    uint64_t room = (hdr->bytes.size - sizeof *usual) / sizeof *e;
    uint64_t count = usual->count < room ? usual->count : room;
    if (count == 0)
        return WNDL_NOT_FOUND;
    while (count > 1) {
        uint64_t half = count / 2;
        bool is_above = ((origin + (uint64_t)e[half].start) & mask) > pc;
        e = is_above ? e : e + half;
        count -= half;
    }
    if (((origin + (uint64_t)e->start) & mask) > pc)
        return WNDL_NOT_FOUND;
    *record = (origin + (uint64_t)e->record) & mask;
    return WNDL_OK;
}

enum wndl_status wndl_eh_frame_hdr_frame_addr(
    const struct wndl_cfi_section *hdr, uint64_t *addr)
{
    const struct usual_hdr *usual = usual_hdr(hdr);
    if (usual != NULL) {
        uint64_t here = hdr->addr + sizeof usual->head;
        *addr = wndl_cfi_address(hdr, here + (uint64_t)usual->frame);
        return WNDL_OK;
    }
    struct wndl_cfi_section own = with_datarel(hdr);
    struct wndl_cursor c;
    uint8_t encodings[3];
    return open_hdr(&own, &c, encodings, addr);
}

/* Field 0 of an entry is the start of its code, field 1 is its record. */
static enum wndl_status any_field(const struct wndl_cfi_section *hdr,
    const struct table *table, uint64_t entry, unsigned field, uint64_t *value)
{
    uint64_t offset = table->offset + (entry * 2 + field) * table->field;
    struct wndl_cursor c = wndl_cursor_at(hdr->bytes, offset, hdr->big_endian);
    return wndl_cfi_read_encoded(hdr, &c, table->encoding, value);
}

/* The same in a table with any fields of fixed size. */
static enum wndl_status search_any(const struct wndl_cfi_section *hdr,
    const struct table *table, uint64_t pc, uint64_t *record)
{
    uint64_t low = 0;
    uint64_t high = table->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        uint64_t start = 0;
        enum wndl_status status = any_field(hdr, table, middle, 0, &start);
        if (status != WNDL_OK)
            return status;
        if (start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? WNDL_NOT_FOUND
                    : any_field(hdr, table, low - 1, 1, record);
}

enum wndl_status wndl_eh_frame_hdr_find(const struct wndl_cfi_section *hdr,
    const struct wndl_cfi_section *frame, uint64_t pc, uint64_t *fde_offset)
{
    const struct usual_hdr *usual = usual_hdr(hdr);
    uint64_t record = 0;
    enum wndl_status status = WNDL_OK;
    if (usual != NULL) {
        status = search_usual(hdr, usual, pc, &record);
    } else {
        struct table table;
        struct wndl_cfi_section own = with_datarel(hdr);
        status = open_table(&own, &table);
        if (status == WNDL_OK)
            status = search_any(&own, &table, pc, &record);
    }
    if (status != WNDL_OK)
        return status;
    *fde_offset = record - frame->addr;
    return *fde_offset < frame->bytes.size ? WNDL_OK : WNDL_MALFORMED;
}
