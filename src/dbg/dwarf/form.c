/* SPDX-License-Identifier: MIT */
#include "dbg/dwarf/internal.h"

#include "base/status.h"

/* The layout of a form; values up to 16 are sizes in bytes. */
enum layout {
    L_ADDRESS = 32, /* address_size bytes */
    L_OFFSET,       /* offset_size bytes */
    L_REF_ADDR,     /* as L_OFFSET, but as L_ADDRESS in DWARF 2 */
    L_ULEB,
    L_SLEB,
    L_CSTR,
    L_INDEX_OFFSET, /* a ULEB128 and 4 bytes */
    L_BLOCK1, /* a length of 1, 2, 4 bytes or ULEB128, and that many bytes */
    L_BLOCK2,
    L_BLOCK4,
    L_BLOCK_ULEB,
    L_EXPRESSION, /* as L_BLOCK_ULEB */
    L_INDIRECT,
    L_UNKNOWN,
};

struct form {
    uint8_t layout;
    uint8_t kind; /* enum wndl_dw_value_kind */
};

/* DWARF 5, 7.5.6, table 7.6. */
static const struct form forms[] = {
    [0x00] = {L_UNKNOWN, WNDL_DW_OTHER},
    [0x01] = {L_ADDRESS, WNDL_DW_ADDRESS}, /* addr */
    [0x02] = {L_UNKNOWN, WNDL_DW_OTHER},
    [0x03] = {L_BLOCK2, WNDL_DW_OTHER},          /* block2 */
    [0x04] = {L_BLOCK4, WNDL_DW_OTHER},          /* block4 */
    [0x05] = {2, WNDL_DW_NUMBER},                /* data2 */
    [0x06] = {4, WNDL_DW_NUMBER},                /* data4 */
    [0x07] = {8, WNDL_DW_NUMBER},                /* data8 */
    [0x08] = {L_CSTR, WNDL_DW_STRING},           /* string */
    [0x09] = {L_BLOCK_ULEB, WNDL_DW_OTHER},      /* block */
    [0x0a] = {L_BLOCK1, WNDL_DW_OTHER},          /* block1 */
    [0x0b] = {1, WNDL_DW_NUMBER},                /* data1 */
    [0x0c] = {1, WNDL_DW_OTHER},                 /* flag */
    [0x0d] = {L_SLEB, WNDL_DW_NUMBER},           /* sdata */
    [0x0e] = {L_OFFSET, WNDL_DW_STRING_AT},      /* strp */
    [0x0f] = {L_ULEB, WNDL_DW_NUMBER},           /* udata */
    [0x10] = {L_REF_ADDR, WNDL_DW_REFERENCE},    /* ref_addr */
    [0x11] = {1, WNDL_DW_UNIT_REFERENCE},        /* ref1 */
    [0x12] = {2, WNDL_DW_UNIT_REFERENCE},        /* ref2 */
    [0x13] = {4, WNDL_DW_UNIT_REFERENCE},        /* ref4 */
    [0x14] = {8, WNDL_DW_UNIT_REFERENCE},        /* ref8 */
    [0x15] = {L_ULEB, WNDL_DW_UNIT_REFERENCE},   /* ref_udata */
    [0x16] = {L_INDIRECT, WNDL_DW_OTHER},        /* indirect */
    [0x17] = {L_OFFSET, WNDL_DW_OFFSET},         /* sec_offset */
    [0x18] = {L_EXPRESSION, WNDL_DW_EXPRESSION}, /* exprloc */
    [0x19] = {0, WNDL_DW_OTHER},                 /* flag_present */
    [0x1a] = {L_ULEB, WNDL_DW_STRING_INDEX},     /* strx */
    [0x1b] = {L_ULEB, WNDL_DW_ADDRESS_INDEX},    /* addrx */
    [0x1c] = {4, WNDL_DW_SUP_REFERENCE},         /* ref_sup4 */
    [0x1d] = {L_OFFSET, WNDL_DW_SUP_STRING_AT},  /* strp_sup */
    [0x1e] = {16, WNDL_DW_OTHER},                /* data16 */
    [0x1f] = {L_OFFSET, WNDL_DW_LINE_STRING_AT}, /* line_strp */
    [0x20] = {8, WNDL_DW_OTHER},                 /* ref_sig8 */
    [0x21] = {0, WNDL_DW_NUMBER},                /* implicit_const */
    [0x22] = {L_ULEB, WNDL_DW_OTHER},            /* loclistx */
    [0x23] = {L_ULEB, WNDL_DW_LIST_INDEX},       /* rnglistx */
    [0x24] = {8, WNDL_DW_SUP_REFERENCE},         /* ref_sup8 */
    [0x25] = {1, WNDL_DW_STRING_INDEX},          /* strx1 */
    [0x26] = {2, WNDL_DW_STRING_INDEX},          /* strx2 */
    [0x27] = {3, WNDL_DW_STRING_INDEX},          /* strx3 */
    [0x28] = {4, WNDL_DW_STRING_INDEX},          /* strx4 */
    [0x29] = {1, WNDL_DW_ADDRESS_INDEX},         /* addrx1 */
    [0x2a] = {2, WNDL_DW_ADDRESS_INDEX},         /* addrx2 */
    [0x2b] = {3, WNDL_DW_ADDRESS_INDEX},         /* addrx3 */
    [0x2c] = {4, WNDL_DW_ADDRESS_INDEX},         /* addrx4 */
};

enum { FORM_COUNT = sizeof forms / sizeof forms[0], INDIRECT_LIMIT = 4 };

static struct form form_of(unsigned form)
{
    if (form < FORM_COUNT)
        return forms[form];
    switch (form) {
    case 0x2001: /* LLVM_addrx_offset */
        return (struct form){L_INDEX_OFFSET, WNDL_DW_ADDRESS_BEYOND};
    case 0x1f01: /* GNU_addr_index */
        return (struct form){L_ULEB, WNDL_DW_ADDRESS_INDEX};
    case 0x1f02: /* GNU_str_index */
        return (struct form){L_ULEB, WNDL_DW_STRING_INDEX};
    case 0x1f20: /* GNU_ref_alt */
        return (struct form){L_OFFSET, WNDL_DW_SUP_REFERENCE};
    case 0x1f21: /* GNU_strp_alt */
        return (struct form){L_OFFSET, WNDL_DW_SUP_STRING_AT};
    default:
        return (struct form){L_UNKNOWN, WNDL_DW_OTHER};
    }
}

/* The bytes of a layout; VARIES if its data contain the size. */
static uint32_t layout_size(unsigned layout, struct wndl_dw_encoding encoding)
{
    if (layout <= 16)
        return layout;
    if (layout == L_ADDRESS)
        return encoding.address_size;
    if (layout == L_OFFSET)
        return encoding.offset_size;
    if (layout == L_REF_ADDR)
        return encoding.version <= 2 ? encoding.address_size
                                     : encoding.offset_size;
    return WNDL_DW_VARIES;
}

int64_t wndl_dw_form_size(unsigned form, struct wndl_dw_encoding encoding)
{
    struct form f = form_of(form);
    if (f.layout == L_UNKNOWN)
        return -1;
    return layout_size(f.layout, encoding);
}

uint8_t wndl_dw_form_kind(unsigned form)
{
    return form_of(form).kind;
}

/* No section has indexes of more than 32 bits. */
static uint64_t read_index_offset(struct wndl_cursor *c)
{
    uint64_t index = wndl_cursor_uleb(c);
    if (index > UINT32_MAX)
        wndl_cursor_fail(c);
    return index << 32 | wndl_cursor_u32(c);
}

/* The value, or the offset where strings and expressions in place start. */
static uint64_t read_varying(struct wndl_cursor *c, unsigned layout)
{
    uint64_t at = wndl_cursor_offset(c);
    switch (layout) {
    case L_ULEB:
        return wndl_cursor_uleb(c);
    case L_SLEB:
        return (uint64_t)wndl_cursor_sleb(c);
    case L_CSTR:
        (void)wndl_cursor_cstr(c);
        return at;
    case L_INDEX_OFFSET:
        return read_index_offset(c);
    case L_BLOCK1:
        wndl_cursor_skip(c, wndl_cursor_u8(c));
        return 0;
    case L_BLOCK2:
        wndl_cursor_skip(c, wndl_cursor_u16(c));
        return 0;
    case L_BLOCK4:
        wndl_cursor_skip(c, wndl_cursor_u32(c));
        return 0;
    case L_BLOCK_ULEB:
        wndl_cursor_skip(c, wndl_cursor_uleb(c));
        return 0;
    case L_EXPRESSION:
        wndl_cursor_skip(c, wndl_cursor_uleb(c));
        return at;
    default:
        wndl_cursor_fail(c);
        return 0;
    }
}

/* The form that is stored in the DIE itself, which may again be indirect. */
static struct form read_indirect(struct wndl_cursor *c)
{
    struct form f = {L_INDIRECT, WNDL_DW_OTHER};
    for (int i = 0; i < INDIRECT_LIMIT && f.layout == L_INDIRECT; i++) {
        uint64_t form = wndl_cursor_uleb(c);
        bool readable = form != WNDL_DW_IMPLICIT_CONST && form <= UINT16_MAX;
        f = form_of(readable ? (unsigned)form : 0);
    }
    return f;
}

struct wndl_dw_value wndl_dw_read_form(
    struct wndl_cursor *c, unsigned form, struct wndl_dw_encoding encoding)
{
    struct form f = form_of(form);
    if (f.layout == L_INDIRECT)
        f = read_indirect(c);
    uint32_t size = layout_size(f.layout, encoding);
    struct wndl_dw_value v = {0, f.kind};
    if (size == WNDL_DW_VARIES)
        v.u = read_varying(c, f.layout);
    else if (size <= 8)
        v.u = wndl_dw_read_uint(c, size);
    else
        wndl_cursor_skip(c, size);
    return v;
}

/*
 * The offset of entry `index` of a table at `base`; past any section if there
 * is none.
 */
static uint64_t entry_at(uint64_t base, uint64_t index, unsigned size)
{
    uint64_t at;
    if (__builtin_mul_overflow(index, size, &at) ||
        __builtin_add_overflow(at, base, &at))
        return UINT64_MAX;
    return at;
}

/* A number of `size` bytes. False when it is not in the section. */
static bool read_at(const struct wndl_dwarf *d, struct wndl_bytes section,
    uint64_t at, unsigned size, uint64_t *out)
{
    struct wndl_cursor c = wndl_cursor_at(section, at, d->in.big_endian);
    *out = wndl_dw_read_uint(&c, size);
    return !c.failed;
}

static enum wndl_status string_at(struct wndl_dwarf *d,
    struct wndl_bytes section, const char *name, uint64_t offset,
    struct wndl_bytes *out)
{
    struct wndl_bytes s = wndl_bytes_cstr(section, offset);
    if (s.data == NULL)
        return wndl_dw_damage(d, name, offset, "string outside the section");
    *out = s;
    return WNDL_OK;
}

/* Damage there is reported for `d`, which refers to the string. */
static enum wndl_status supplementary_string(
    struct wndl_dwarf *d, uint64_t offset, struct wndl_bytes *out)
{
    *out = (struct wndl_bytes){(const uint8_t *)"", 0};
    enum wndl_status status = wndl_dw_load_supplementary(d);
    if (status != WNDL_OK || d->supplementary == NULL)
        return status;
    return string_at(
        d, d->supplementary->in.str, ".debug_str (supplementary)", offset, out);
}

enum wndl_status wndl_dw_string(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_value value,
    struct wndl_bytes inline_in, struct wndl_bytes *out)
{
    unsigned size = unit->str_offset_size;
    uint64_t offset;
    switch (value.kind) {
    case WNDL_DW_STRING:
        return string_at(d, inline_in, ".debug_info", value.u, out);
    case WNDL_DW_STRING_AT:
        return string_at(d, d->in.str, ".debug_str", value.u, out);
    case WNDL_DW_LINE_STRING_AT:
        return string_at(d, d->in.line_str, ".debug_line_str", value.u, out);
    case WNDL_DW_STRING_INDEX:
        offset = entry_at(unit->str_offsets_base, value.u, size);
        if (!read_at(d, d->in.str_offsets, offset, size, &offset))
            return wndl_dw_damage(d, ".debug_str_offsets",
                unit->str_offsets_base, "string index outside the section");
        return string_at(d, d->in.str, ".debug_str", offset, out);
    case WNDL_DW_SUP_STRING_AT:
        return supplementary_string(d, value.u, out);
    default:
        *out = (struct wndl_bytes){(const uint8_t *)"", 0};
        return WNDL_OK;
    }
}

enum wndl_status wndl_dw_address_at(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t index, uint64_t *address)
{
    if (!unit->has_addr_base)
        return wndl_dw_damage(d, ".debug_info", unit->dies,
            "address index in a unit without DW_AT_addr_base");
    unsigned size = unit->encoding.address_size;
    uint64_t at = entry_at(unit->addr_base, index, size);
    if (!read_at(d, d->in.addr, at, size, address))
        return wndl_dw_damage(d, ".debug_addr", unit->addr_base,
            "address index outside the section");
    return WNDL_OK;
}

/* Reads an operation that gives a number (DWARF 5, 7.7.1). False for others. */
static bool read_operand(struct wndl_cursor *c, uint64_t *number)
{
    switch (wndl_cursor_u8(c)) {
    case 0x08: /* DW_OP_const1u */
        *number = wndl_cursor_u8(c);
        return true;
    case 0x0a: /* DW_OP_const2u */
        *number = wndl_cursor_u16(c);
        return true;
    case 0x0c: /* DW_OP_const4u */
        *number = wndl_cursor_u32(c);
        return true;
    case 0x10: /* DW_OP_constu */
        *number = wndl_cursor_uleb(c);
        return true;
    default:
        return false;
    }
}

/*
 * An address as producers write it as an expression to need few of them in
 * .debug_addr: DW_OP_addrx, a constant, DW_OP_plus.
 */
static enum wndl_status address_by_expression(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, uint64_t at, uint64_t *address)
{
    enum { OP_PLUS = 0x22, OP_ADDRX = 0xa1 };
    struct wndl_cursor whole = wndl_cursor_at(d->in.info, at, d->in.big_endian);
    struct wndl_cursor c = wndl_cursor_sub(&whole, wndl_cursor_uleb(&whole));
    bool known = wndl_cursor_u8(&c) == OP_ADDRX;
    uint64_t index = wndl_cursor_uleb(&c);
    uint64_t beyond = 0;
    if (known && wndl_cursor_left(&c) != 0)
        known = read_operand(&c, &beyond) && wndl_cursor_u8(&c) == OP_PLUS;
    if (!known || c.failed || wndl_cursor_left(&c) != 0)
        return wndl_dw_damage(d, ".debug_info", at,
            "an address as an expression that is not understood");
    enum wndl_status status = wndl_dw_address_at(d, unit, index, address);
    if (status == WNDL_OK)
        *address += beyond;
    return status;
}

enum wndl_status wndl_dw_address(struct wndl_dwarf *d,
    const struct wndl_dw_unit *unit, struct wndl_dw_value value,
    uint64_t *address)
{
    if (value.kind == WNDL_DW_ADDRESS_INDEX)
        return wndl_dw_address_at(d, unit, value.u, address);
    if (value.kind == WNDL_DW_EXPRESSION)
        return address_by_expression(d, unit, value.u, address);
    *address = value.u;
    if (value.kind != WNDL_DW_ADDRESS_BEYOND)
        return WNDL_OK;
    enum wndl_status status =
        wndl_dw_address_at(d, unit, value.u >> 32, address);
    *address += value.u & UINT32_MAX;
    return status;
}
