/* SPDX-License-Identifier: MIT */
/*
 * elfmake: small ELF files of any class and byte order, made for a test.
 */
#ifndef WNDL_ELFMAKE_H
#define WNDL_ELFMAKE_H

#include "base/buf.h"

struct made_section {
    const char *name;
    uint32_t type;
    uint64_t flags, addr;
    struct wndl_bytes data;
    uint32_t link, info;
    uint64_t alignment, entry_size;
    uint64_t size; /* of SHT_NOBITS; else it is data's */
};

/* What it loads is `section` (1: the first of the recipe), unless 0. */
struct made_segment {
    uint32_t type, flags;
    uint64_t addr, mem_size, alignment;
    size_t section;
};

struct made_symbol {
    const char *name;
    uint64_t value, size;
    uint8_t info;
    uint16_t section;
};

/*
 * Section 0 and, as the last one, .shstrtab are added. With `extended` the
 * counts and the index go to section 0, as if they did not fit 16 bits; with
 * `no_sections` there are no section headers at all.
 */
struct elf_recipe {
    bool is_64, big_endian, extended, no_sections;
    uint16_t type, machine;
    const struct made_section *sections;
    size_t section_count;
    const struct made_segment *segments;
    size_t segment_count;
};

/* The file, in memory of malloc that the caller frees. */
struct wndl_bytes make_elf(const struct elf_recipe *recipe);

/* `size` bytes of `value` in a byte order; `word` is 8 or 4 by class. */
void put(struct wndl_buf *buf, const struct elf_recipe *recipe, uint64_t value,
    size_t size);
void put_word(
    struct wndl_buf *buf, const struct elf_recipe *recipe, uint64_t value);

/* The contents of a symbol table (entry 0 is added) and its strings. */
void make_symbols(const struct elf_recipe *recipe,
    const struct made_symbol *symbols, size_t count, struct wndl_buf *entries,
    struct wndl_buf *strings);

/* The contents of a note section with a GNU build-id. */
void put_build_id(struct wndl_buf *buf, const struct elf_recipe *recipe,
    const void *id, size_t size);

static inline struct wndl_bytes bytes_of(const struct wndl_buf *buf)
{
    return (struct wndl_bytes){buf->data, buf->size};
}

#endif
