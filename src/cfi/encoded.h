/* SPDX-License-Identifier: MIT */
/*
 * encoded: the encoded pointers of .eh_frame and .eh_frame_hdr, and the
 * failures of this room. Private to cfi. It must not know records.
 *
 * Specification: LSB 5.0 Core, 10.5 (DW_EH_PE_*).
 */
#ifndef WNDL_CFI_ENCODED_H
#define WNDL_CFI_ENCODED_H

#include "cfi/cfi.h"

enum {
    EH_PE_ABSPTR = 0x00,
    EH_PE_ULEB128 = 0x01,
    EH_PE_UDATA2 = 0x02,
    EH_PE_UDATA4 = 0x03,
    EH_PE_UDATA8 = 0x04,
    EH_PE_SIGNED = 0x08,
    EH_PE_SLEB128 = 0x09,
    EH_PE_SDATA2 = 0x0a,
    EH_PE_SDATA4 = 0x0b,
    EH_PE_SDATA8 = 0x0c,
    EH_PE_FORMAT = 0x0f, /* mask: the form of the value */

    EH_PE_PCREL = 0x10,
    EH_PE_TEXTREL = 0x20,
    EH_PE_DATAREL = 0x30,
    EH_PE_FUNCREL = 0x40,
    EH_PE_ALIGNED = 0x50,
    EH_PE_RELATIVE = 0x70, /* mask: the base that is added to it */

    EH_PE_INDIRECT = 0x80,
    EH_PE_OMIT = 0xff,
};

/* Wraps an address of a 4-byte section at 32 bits. */
static inline uint64_t wndl_cfi_address(
    const struct wndl_cfi_section *section, uint64_t value)
{
    return section->address_size == 4 ? (uint32_t)value : value;
}

static inline uint64_t wndl_cfi_uaddr(
    const struct wndl_cfi_section *section, struct wndl_cursor *c)
{
    return section->address_size == 4 ? wndl_cursor_u32(c) : wndl_cursor_u64(c);
}

/*
 * Reads one pointer. `c` must be a cursor over section->bytes, because pcrel
 * counts from its place. UNSUPPORTED for indirect and funcrel pointers, and for
 * textrel and datarel ones whose base is 0, which means not known. If bytes are
 * missing, c->failed is set.
 */
enum wndl_status wndl_cfi_read_encoded(const struct wndl_cfi_section *section,
    struct wndl_cursor *c, uint8_t encoding, uint64_t *value) WNDL_MUST_USE;

/* Skips a pointer whose value is not needed, indirect or not. */
enum wndl_status wndl_cfi_skip_encoded(const struct wndl_cfi_section *section,
    struct wndl_cursor *c, uint8_t encoding) WNDL_MUST_USE;

/*
 * Fails like wndl_fail_at, but signal-safe: `what` is copied, nothing is
 * formatted.
 */
enum wndl_status wndl_cfi_fail(const struct wndl_cfi_section *section,
    struct wndl_error *err, enum wndl_status status, uint64_t offset,
    const char *what);

#endif
