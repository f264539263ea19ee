/* SPDX-License-Identifier: MIT */
#include "elfmake.h"

#include <elf.h>

void put(struct wndl_buf *buf, const struct elf_recipe *recipe, uint64_t value,
    size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t byte = recipe->big_endian ? size - 1 - i : i;
        wndl_buf_byte(buf, (uint8_t)(value >> 8 * byte));
    }
}

void put_word(
    struct wndl_buf *buf, const struct elf_recipe *recipe, uint64_t value)
{
    put(buf, recipe, value, recipe->is_64 ? 8 : 4);
}

static void pad(struct wndl_buf *buf, size_t alignment)
{
    while (buf->size % alignment != 0)
        wndl_buf_byte(buf, 0);
}

static size_t add_string(struct wndl_buf *strings, const char *text)
{
    size_t at = strings->size;
    wndl_buf_text(strings, text);
    wndl_buf_byte(strings, 0);
    return at;
}

static void put_header(struct wndl_buf *out, const struct elf_recipe *recipe,
    uint64_t segments, uint64_t sections)
{
    const uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
        recipe->is_64 ? ELFCLASS64 : ELFCLASS32,
        recipe->big_endian ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT};
    size_t count = recipe->section_count + 2;
    bool none = recipe->no_sections;
    bool extended = recipe->extended;
    wndl_buf_add(out, ident, sizeof ident);
    put(out, recipe, recipe->type, 2);
    put(out, recipe, recipe->machine, 2);
    put(out, recipe, EV_CURRENT, 4);
    put_word(out, recipe, 0);
    put_word(out, recipe, recipe->segment_count == 0 ? 0 : segments);
    put_word(out, recipe, none ? 0 : sections);
    put(out, recipe, 0, 4);
    put(out, recipe, recipe->is_64 ? 64 : 52, 2);
    put(out, recipe, recipe->is_64 ? 56 : 32, 2);
    put(out, recipe, extended ? PN_XNUM : recipe->segment_count, 2);
    put(out, recipe, recipe->is_64 ? 64 : 40, 2);
    put(out, recipe, none || extended ? 0 : count, 2);
    put(out, recipe, none ? 0 : extended ? SHN_XINDEX : count - 1, 2);
}

static void put_section(struct wndl_buf *out, const struct elf_recipe *recipe,
    const struct made_section *section, uint64_t name, uint64_t offset)
{
    bool nobits = section->type == SHT_NOBITS || section->type == SHT_NULL;
    put(out, recipe, name, 4);
    put(out, recipe, section->type, 4);
    put_word(out, recipe, section->flags);
    put_word(out, recipe, section->addr);
    put_word(out, recipe, offset);
    put_word(out, recipe, nobits ? section->size : section->data.size);
    put(out, recipe, section->link, 4);
    put(out, recipe, section->info, 4);
    put_word(out, recipe, section->alignment);
    put_word(out, recipe, section->entry_size);
}

static void put_segment(struct wndl_buf *out, const struct elf_recipe *recipe,
    const struct made_segment *segment, const uint64_t *offsets)
{
    uint64_t offset = 0;
    uint64_t size = 0;
    if (segment->section != 0) {
        offset = offsets[segment->section - 1];
        size = recipe->sections[segment->section - 1].data.size;
    }
    put(out, recipe, segment->type, 4);
    if (recipe->is_64)
        put(out, recipe, segment->flags, 4);
    put_word(out, recipe, offset);
    put_word(out, recipe, segment->addr);
    put_word(out, recipe, segment->addr);
    put_word(out, recipe, size);
    put_word(out, recipe, segment->mem_size);
    if (!recipe->is_64)
        put(out, recipe, segment->flags, 4);
    put_word(out, recipe, segment->alignment);
}

enum { MAX_SECTIONS = 32 };

/* Where each part is in the file. */
struct layout {
    uint64_t offsets[MAX_SECTIONS], names[MAX_SECTIONS];
    uint64_t names_name, names_offset;
    uint64_t segments, sections;
};

static void put_section_headers(struct wndl_buf *out,
    const struct elf_recipe *recipe, const struct layout *layout,
    const struct wndl_buf *names)
{
    uint32_t last = (uint32_t)recipe->section_count + 1;
    struct made_section zero = {0};
    if (recipe->extended)
        zero = (struct made_section){.size = last + 1,
            .link = last,
            .info = (uint32_t)recipe->segment_count};
    put_section(out, recipe, &zero, 0, 0);
    for (size_t i = 0; i < recipe->section_count; i++)
        put_section(out, recipe, &recipe->sections[i], layout->names[i],
            layout->offsets[i]);
    struct made_section strings = {
        .type = SHT_STRTAB, .data = bytes_of(names), .alignment = 1};
    put_section(
        out, recipe, &strings, layout->names_name, layout->names_offset);
}

/* The header is written twice: its size is known before what it says. */
struct wndl_bytes make_elf(const struct elf_recipe *recipe)
{
    struct layout layout = {0};
    struct wndl_buf out, names, head;
    wndl_buf_init(&out, wndl_mem_libc());
    wndl_buf_init(&names, wndl_mem_libc());
    wndl_buf_init(&head, wndl_mem_libc());
    add_string(&names, "");
    put_header(&out, recipe, 0, 0);
    for (size_t i = 0; i < recipe->section_count; i++) {
        const struct made_section *section = &recipe->sections[i];
        pad(&out, 8);
        layout.offsets[i] = out.size;
        layout.names[i] = add_string(&names, section->name);
        if (section->type != SHT_NOBITS)
            wndl_buf_add(&out, section->data.data, section->data.size);
    }
    layout.names_name = add_string(&names, ".shstrtab");
    layout.names_offset = out.size;
    if (!recipe->no_sections)
        wndl_buf_add(&out, names.data, names.size);
    pad(&out, 8);
    layout.segments = out.size;
    for (size_t i = 0; i < recipe->segment_count; i++)
        put_segment(&out, recipe, &recipe->segments[i], layout.offsets);
    layout.sections = out.size;
    if (!recipe->no_sections)
        put_section_headers(&out, recipe, &layout, &names);
    put_header(&head, recipe, layout.segments, layout.sections);
    __builtin_memcpy(out.data, head.data, head.size);
    wndl_buf_free(&head);
    wndl_buf_free(&names);
    return bytes_of(&out);
}

static void put_symbol(struct wndl_buf *entries,
    const struct elf_recipe *recipe, const struct made_symbol *symbol,
    size_t name)
{
    put(entries, recipe, name, 4);
    if (!recipe->is_64) {
        put(entries, recipe, symbol->value, 4);
        put(entries, recipe, symbol->size, 4);
    }
    put(entries, recipe, symbol->info, 1);
    put(entries, recipe, 0, 1);
    put(entries, recipe, symbol->section, 2);
    if (recipe->is_64) {
        put(entries, recipe, symbol->value, 8);
        put(entries, recipe, symbol->size, 8);
    }
}

void make_symbols(const struct elf_recipe *recipe,
    const struct made_symbol *symbols, size_t count, struct wndl_buf *entries,
    struct wndl_buf *strings)
{
    struct made_symbol zero = {.name = ""};
    put_symbol(entries, recipe, &zero, add_string(strings, ""));
    for (size_t i = 0; i < count; i++)
        put_symbol(
            entries, recipe, &symbols[i], add_string(strings, symbols[i].name));
}

void put_build_id(struct wndl_buf *buf, const struct elf_recipe *recipe,
    const void *id, size_t size)
{
    put(buf, recipe, 4, 4);
    put(buf, recipe, size, 4);
    put(buf, recipe, NT_GNU_BUILD_ID, 4);
    wndl_buf_add(buf, "GNU", 4);
    wndl_buf_add(buf, id, size);
    pad(buf, 4);
}
