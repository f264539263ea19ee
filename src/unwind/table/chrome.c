/* SPDX-License-Identifier: MIT */
#include "unwind/table/chrome.h"

#include <elf.h>
#include <stddef.h>

/* Maximum bytes of instructions of one sequence; real ones have a dozen. */
enum { SEQUENCE_MAX = 4096, INSTRUCTION = (1 << 24) - 1 };

enum wndl_status wndl_table_open_chrome(struct wndl_bytes bytes,
    const struct wndl_table_chrome_of *of, struct wndl_table *table,
    struct wndl_error *err)
{
    *table = (struct wndl_table){
        .bytes = bytes, .machine = of->machine, .text = of->text};
    if (of->machine != EM_ARM)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "Chromium unwind info v2, which is for 32-bit Arm only");
    enum wndl_status status = wndl_chrome_v2_open(bytes, &table->chrome, err);
    if (status != WNDL_OK)
        return status;
    if (table->chrome.instructions.size >= INSTRUCTION)
        return wndl_fail(
            err, WNDL_LIMIT, "has more instructions than a lookup can address");
    if (!wndl_chrome_v2_fits(&table->chrome, of->text_size))
        return wndl_fail(err, WNDL_MALFORMED,
            "for another binary: it has functions after the end of .text");
    table->is_chrome = true;
    return WNDL_OK;
}

static uint32_t rule_at(uint32_t instruction)
{
    return (uint32_t)WNDL_TABLE_CHROME << 24 | instruction;
}

uint32_t wndl_table_chrome_find(const struct wndl_table *table, uint64_t svma)
{
    struct wndl_chrome_v2_place place;
    switch (wndl_chrome_v2_find(&table->chrome, svma - table->text, &place)) {
    case WNDL_OK:
        return rule_at(place.instruction);
    case WNDL_NOT_FOUND:
        return 0;
    default:
        return rule_at(INSTRUCTION);
    }
}

enum wndl_status wndl_table_chrome_row(
    const struct wndl_table *table, uint32_t rule, struct wndl_cfi_row *row)
{
    const struct wndl_bytes all = table->chrome.instructions;
    const uint32_t at = rule & INSTRUCTION;
    if (!table->is_chrome || at >= all.size)
        return WNDL_MALFORMED;
    const uint64_t left = all.size - at;
    const uint32_t size = left < SEQUENCE_MAX ? (uint32_t)left : SEQUENCE_MAX;
    /* Plain bytes are those of words, with the highest byte first. */
    const struct wndl_exidx_entry entry = {
        .kind = WNDL_EXIDX_INLINE,
        .code = {all.data + at, 0, size, true},
    };
    const enum wndl_status status = wndl_exidx_row(&entry, row, NULL);
    return status == WNDL_OK || status == WNDL_NOT_FOUND ? status
                                                         : WNDL_MALFORMED;
}

/* ---- the binary */

/* A section header, of which name, address and place are used. */
struct header {
    uint32_t name;
    uint64_t addr, offset, size;
};

static bool read_header(
    struct wndl_bytes elf, uint64_t at, struct header *header)
{
    struct wndl_cursor c = wndl_cursor_at(elf, at, false);
    header->name = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 8); /* type, flags */
    header->addr = wndl_cursor_u32(&c);
    header->offset = wndl_cursor_u32(&c);
    header->size = wndl_cursor_u32(&c);
    return !c.failed;
}

bool wndl_table_chrome_of_file(
    struct wndl_bytes elf, struct wndl_table_chrome_of *of)
{
    static const char magic[] = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB};
    static const char text[] = ".text";
    struct wndl_cursor c = wndl_cursor_at(elf, 0, false);
    const uint8_t *start = wndl_cursor_take(&c, sizeof magic);
    struct header names, header;
    if (start == NULL || __builtin_memcmp(start, magic, sizeof magic) != 0)
        return false;
    c = wndl_cursor_at(elf, offsetof(Elf32_Ehdr, e_machine), false);
    of->machine = wndl_cursor_u16(&c);
    c = wndl_cursor_at(elf, offsetof(Elf32_Ehdr, e_shoff), false);
    const uint64_t table = wndl_cursor_u32(&c);
    c = wndl_cursor_at(elf, offsetof(Elf32_Ehdr, e_shnum), false);
    const uint16_t count = wndl_cursor_u16(&c), strings = wndl_cursor_u16(&c);
    if (c.failed || strings >= count ||
        !read_header(elf, table + strings * sizeof(Elf32_Shdr), &names))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!read_header(elf, table + i * sizeof(Elf32_Shdr), &header))
            return false;
        const struct wndl_bytes name =
            wndl_bytes_slice(elf, names.offset + header.name, sizeof text);
        if (name.data != NULL &&
            __builtin_memcmp(name.data, text, sizeof text) == 0) {
            of->text = header.addr;
            of->text_size = header.size;
            return true;
        }
    }
    return false;
}
