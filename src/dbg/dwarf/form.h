/* SPDX-License-Identifier: MIT */
/*
 * form: values of attributes, and the strings and addresses that they refer to.
 */
#ifndef WNDL_DBG_DWARF_FORM_H
#define WNDL_DBG_DWARF_FORM_H

#include "base/bytes.h"
#include "base/status.h"

struct wndl_dwarf;
struct wndl_dw_unit;

enum wndl_dw_value_kind {
    WNDL_DW_OTHER, /* skipped, not kept: blocks, flags, 16-byte data */
    WNDL_DW_NUMBER,
    WNDL_DW_OFFSET, /* into the section that the attribute is about */
    WNDL_DW_ADDRESS,
    WNDL_DW_ADDRESS_INDEX,  /* into .debug_addr */
    WNDL_DW_ADDRESS_BEYOND, /* the same plus bytes: index << 32 | bytes */
    WNDL_DW_EXPRESSION,     /* in place: offset of its length */
    WNDL_DW_LIST_INDEX,     /* into the offsets of .debug_rnglists */
    WNDL_DW_REFERENCE,      /* to a DIE, as offset into .debug_info */
    /* the same from the unit's header; wndl_dw_read_die resolves it */
    WNDL_DW_UNIT_REFERENCE,
    WNDL_DW_STRING,    /* in place: offset into the section with the DIE */
    WNDL_DW_STRING_AT, /* offset into .debug_str */
    WNDL_DW_LINE_STRING_AT,
    WNDL_DW_STRING_INDEX, /* into .debug_str_offsets */
    /* In the supplementary file: */
    WNDL_DW_SUP_REFERENCE, /* to a DIE, as offset into .debug_info */
    WNDL_DW_SUP_STRING_AT, /* offset into .debug_str */
};

struct wndl_dw_value {
    uint64_t u;
    uint32_t kind; /* enum wndl_dw_value_kind */
};

/* The sizes of forms depend on these (DWARF 5, 7.4 and 7.5.1). */
struct wndl_dw_encoding {
    uint8_t version;
    uint8_t address_size; /* 4 or 8 */
    uint8_t offset_size;  /* 4 or 8: the 32-bit or 64-bit DWARF format */
};

/* Forms that the code names; WNDL_DW_SKIP is no form of DWARF. */
enum {
    WNDL_DW_REF4 = 0x13,
    WNDL_DW_IMPLICIT_CONST = 0x21,
    WNDL_DW_SKIP = 0xffff,
};

/* The size of a form whose data contain it. */
enum { WNDL_DW_VARIES = UINT32_MAX };

/* The bytes of a form; WNDL_DW_VARIES; or -1 for an unknown form. */
int64_t wndl_dw_form_size(unsigned form, struct wndl_dw_encoding encoding);

/* The kind of a form's values: enum wndl_dw_value_kind. */
uint8_t wndl_dw_form_kind(unsigned form);

/* Reads a value of `form`, which must be known to wndl_dw_form_size. */
struct wndl_dw_value wndl_dw_read_form(
    struct wndl_cursor *c, unsigned form, struct wndl_dw_encoding encoding);

/*
 * The bytes of a string value; empty when `value` is no string, or is in a
 * missing supplementary file. `inline_in` is the section that it was read from.
 */
enum wndl_status wndl_dw_string(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_value value,
    struct wndl_bytes inline_in, struct wndl_bytes *out) WNDL_MUST_USE;

/*
 * The address that a value means: in place, by index, or by an expression. A
 * damaged or missing entry is damage.
 */
enum wndl_status wndl_dw_address(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_value value,
    uint64_t *address) WNDL_MUST_USE;

/* The address at `index` of the unit's part of .debug_addr. */
enum wndl_status wndl_dw_address_at(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t index,
    uint64_t *address) WNDL_MUST_USE;

/* The largest address; many linkers write it for dropped code. */
static inline uint64_t wndl_dw_max_address(unsigned address_size)
{
    return address_size == 4 ? UINT32_MAX : UINT64_MAX;
}

/* A number of `size` bytes. */
static inline uint64_t wndl_dw_read_uint(struct wndl_cursor *c, unsigned size)
{
    switch (size) {
    case 1:
        return wndl_cursor_u8(c);
    case 2:
        return wndl_cursor_u16(c);
    case 4:
        return wndl_cursor_u32(c);
    case 8:
        return wndl_cursor_u64(c);
    default:
        return wndl_cursor_uint(c, size);
    }
}

#endif
