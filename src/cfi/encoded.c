/* SPDX-License-Identifier: MIT */
#include "cfi/encoded.h"

/* Reads only the value's bytes, sign-extended if the format is signed. */
static bool read_format(const struct wndl_cfi_section *section,
    struct wndl_cursor *c, uint8_t format, uint64_t *value)
{
    switch (format) {
    case EH_PE_SDATA4:
        *value = (uint64_t)(int32_t)wndl_cursor_u32(c);
        return true;
    case EH_PE_UDATA4:
        *value = wndl_cursor_u32(c);
        return true;
    case EH_PE_ABSPTR:
    case EH_PE_SIGNED:
        *value = wndl_cfi_uaddr(section, c);
        return true;
    case EH_PE_UDATA8:
    case EH_PE_SDATA8:
        *value = wndl_cursor_u64(c);
        return true;
    case EH_PE_UDATA2:
        *value = wndl_cursor_u16(c);
        return true;
    case EH_PE_SDATA2:
        *value = (uint64_t)(int16_t)wndl_cursor_u16(c);
        return true;
    case EH_PE_ULEB128:
        *value = wndl_cursor_uleb(c);
        return true;
    case EH_PE_SLEB128:
        *value = (uint64_t)wndl_cursor_sleb(c);
        return true;
    default:
        return false;
    }
}

static uint64_t place(
    const struct wndl_cfi_section *section, const struct wndl_cursor *c)
{
    return section->addr + (uint64_t)(c->next - section->bytes.data);
}

/* DW_EH_PE_aligned: the value is at the next multiple of its size. */
static void skip_padding(
    const struct wndl_cfi_section *section, struct wndl_cursor *c)
{
    uint64_t mask = section->address_size - 1u;
    wndl_cursor_skip(c, -place(section, c) & mask);
}

static enum wndl_status base_of(const struct wndl_cfi_section *section,
    const struct wndl_cursor *c, uint8_t relative, uint64_t *base)
{
    switch (relative) {
    case EH_PE_ABSPTR:
        *base = 0;
        return WNDL_OK;
    case EH_PE_PCREL:
        *base = place(section, c);
        return WNDL_OK;
    case EH_PE_TEXTREL:
        *base = section->text_base;
        break;
    case EH_PE_DATAREL:
        *base = section->data_base;
        break;
    default:
        return WNDL_UNSUPPORTED;
    }
    return *base != 0 ? WNDL_OK : WNDL_UNSUPPORTED;
}

enum wndl_status wndl_cfi_read_encoded(const struct wndl_cfi_section *section,
    struct wndl_cursor *c, uint8_t encoding, uint64_t *value)
{
    uint64_t base = 0;
    *value = 0;
    if (encoding == (EH_PE_PCREL | EH_PE_SDATA4)) { /* nearly always */
        base = place(section, c);
        base += (uint64_t)(int32_t)wndl_cursor_u32(c);
        *value = wndl_cfi_address(section, base);
        return WNDL_OK;
    }
    if (encoding == EH_PE_ALIGNED) {
        skip_padding(section, c);
        encoding = EH_PE_ABSPTR;
    }
    enum wndl_status status = base_of(
        section, c, encoding & (EH_PE_RELATIVE | EH_PE_INDIRECT), &base);
    if (status != WNDL_OK)
        return status;
    if (!read_format(section, c, encoding & EH_PE_FORMAT, value))
        return WNDL_UNSUPPORTED;
    *value = wndl_cfi_address(section, *value + base);
    return WNDL_OK;
}

enum wndl_status wndl_cfi_skip_encoded(const struct wndl_cfi_section *section,
    struct wndl_cursor *c, uint8_t encoding)
{
    uint64_t ignored = 0;
    if (encoding == EH_PE_OMIT)
        return WNDL_OK;
    if ((encoding & EH_PE_RELATIVE) == EH_PE_ALIGNED)
        skip_padding(section, c);
    return read_format(section, c, encoding & EH_PE_FORMAT, &ignored)
               ? WNDL_OK
               : WNDL_UNSUPPORTED;
}

static void copy_text(char *to, size_t size, const char *text)
{
    size_t i = 0;
    for (; i + 1 < size && text[i] != '\0'; i++)
        to[i] = text[i];
    to[i] = '\0';
}

enum wndl_status wndl_cfi_fail(const struct wndl_cfi_section *section,
    struct wndl_error *err, enum wndl_status status, uint64_t offset,
    const char *what)
{
    if (err == NULL)
        return status;
    copy_text(err->section, sizeof err->section,
        section->debug_frame ? ".debug_frame" : ".eh_frame");
    copy_text(err->what, sizeof err->what, what);
    err->offset = offset;
    err->status = status;
    err->sys_errno = 0;
    return status;
}
