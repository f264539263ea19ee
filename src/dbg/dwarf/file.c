/* SPDX-License-Identifier: MIT */
/* The tables of directories and files in the header of a line program. */
#include "dbg/dwarf/internal.h"

static const char *const SECTION = ".debug_line";

/* DWARF 5, 7.22, table 7.27. */
enum { LNCT_PATH = 1, LNCT_DIRECTORY = 2, FORMAT_LIMIT = 255 };

/* The layout of a table's entries (DWARF 5, 6.2.4). */
struct format {
    unsigned count;
    struct {
        uint32_t content;
        uint16_t form;
    } fields[FORMAT_LIMIT];
};

static uint32_t clamped(uint64_t v)
{
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static bool read_format(struct wndl_cursor *c, struct wndl_dw_encoding encoding,
    struct format *format)
{
    format->count = wndl_cursor_u8(c);
    for (unsigned i = 0; i < format->count; i++) {
        format->fields[i].content = clamped(wndl_cursor_uleb(c));
        uint64_t form = wndl_cursor_uleb(c);
        if (form >= WNDL_DW_SKIP ||
            wndl_dw_form_size((unsigned)form, encoding) < 0)
            return false;
        format->fields[i].form = (uint16_t)form;
    }
    return !c->failed;
}

static enum wndl_status read_entry(struct wndl_cursor *c,
    struct wndl_dw_encoding encoding, const struct format *format,
    struct wndl_vec *entries)
{
    struct wndl_dw_file *entry = wndl_vec_push(entries);
    if (entry == NULL)
        return WNDL_NOMEM;
    for (unsigned i = 0; i < format->count; i++) {
        struct wndl_dw_value v =
            wndl_dw_read_form(c, format->fields[i].form, encoding);
        if (format->fields[i].content == LNCT_PATH) {
            entry->name = v.u;
            entry->kind = v.kind;
        } else if (format->fields[i].content == LNCT_DIRECTORY) {
            entry->dir = clamped(v.u);
        }
    }
    return WNDL_OK;
}

/* A table of version 5: formats, a count, entries. */
static enum wndl_status read_table(struct wndl_dwarf *d, struct wndl_cursor *c,
    struct wndl_dw_encoding encoding, struct wndl_vec *entries)
{
    uint64_t at = wndl_cursor_offset(c);
    struct format format;
    if (!read_format(c, encoding, &format))
        return wndl_dw_damage(d, SECTION, at, "damaged entry format");
    uint64_t count = wndl_cursor_uleb(c);
    if (count > wndl_cursor_left(c))
        return wndl_dw_damage(d, SECTION, at, "more entries than bytes");
    enum wndl_status status = WNDL_OK;
    for (uint64_t i = 0; i < count && status == WNDL_OK; i++)
        status = read_entry(c, encoding, &format, entries);
    if (status == WNDL_OK && c->failed)
        return wndl_dw_damage(d, SECTION, at, "entries run past the header");
    return status;
}

/* Notes a string in place, to be read later; false for the empty one. */
static bool read_name(struct wndl_cursor *c, struct wndl_dw_file *entry)
{
    entry->name = wndl_cursor_offset(c);
    entry->kind = WNDL_DW_STRING;
    return wndl_cursor_cstr(c).size > 0;
}

enum wndl_status wndl_dw_read_file_entry(
    struct wndl_cursor *c, struct wndl_vec *files)
{
    struct wndl_dw_file entry = {0};
    if (!read_name(c, &entry))
        return WNDL_NOT_FOUND;
    entry.dir = clamped(wndl_cursor_uleb(c));
    (void)wndl_cursor_uleb(c); /* time of last change */
    (void)wndl_cursor_uleb(c); /* length */
    struct wndl_dw_file *slot = wndl_vec_push(files);
    if (slot == NULL)
        return WNDL_NOMEM;
    *slot = entry;
    return WNDL_OK;
}

/* Before version 5: names up to an empty one, files up to an empty one. */
static enum wndl_status read_old_tables(
    struct wndl_dwarf *d, struct wndl_cursor *c, struct wndl_dw_lines *lines)
{
    uint64_t at = wndl_cursor_offset(c);
    struct wndl_dw_file dir = {0};
    while (read_name(c, &dir)) {
        struct wndl_dw_file *slot = wndl_vec_push(&lines->dirs);
        if (slot == NULL)
            return WNDL_NOMEM;
        *slot = dir;
    }
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK)
        status = wndl_dw_read_file_entry(c, &lines->files);
    if (c->failed)
        return wndl_dw_damage(d, SECTION, at, "files run past the header");
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

enum wndl_status wndl_dw_read_files(struct wndl_dwarf *d, struct wndl_cursor *c,
    struct wndl_dw_encoding encoding, struct wndl_dw_lines *lines)
{
    if (encoding.version < 5)
        return read_old_tables(d, c, lines);
    enum wndl_status status = read_table(d, c, encoding, &lines->dirs);
    return status == WNDL_OK ? read_table(d, c, encoding, &lines->files)
                             : status;
}
