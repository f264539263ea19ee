/* SPDX-License-Identifier: MIT */
#include "snapshot/core_file.h"

#include "base/search.h"
#include "collect/stop/regs.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD_SIZE = sizeof(Elf64_Ehdr),
    SH_INFO_64 = offsetof(Elf64_Shdr, sh_info),
    SH_INFO_32 = offsetof(Elf32_Shdr, sh_info),
};

static const char headers[] = "program headers";

static uint64_t end_of(uint64_t start, uint64_t size)
{
    return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

static void note_damage(struct wndl_error *damage, enum wndl_status status,
    uint64_t offset, const char *what)
{
    if (damage->status == WNDL_OK)
        wndl_fail_at(damage, status, headers, offset, what);
}

/* ---- headers of either class */

bool wndl_core_elf_read(struct wndl_core_elf *elf, struct wndl_bytes bytes)
{
    *elf = (struct wndl_core_elf){0};
    if (bytes.size < EI_NIDENT || memcmp(bytes.data, ELFMAG, SELFMAG) != 0 ||
        bytes.data[EI_DATA] != ELFDATA2LSB)
        return false;
    const uint8_t class = bytes.data[EI_CLASS];
    if (class != ELFCLASS64 && class != ELFCLASS32)
        return false;
    elf->word = class == ELFCLASS64 ? 8 : 4;
    struct wndl_cursor c = wndl_cursor_at(bytes, EI_NIDENT, false);
    elf->type = wndl_cursor_u16(&c);
    elf->machine = wndl_cursor_u16(&c);
    wndl_cursor_skip(&c, sizeof(uint32_t) + elf->word); /* version, entry */
    elf->headers = wndl_cursor_uint(&c, elf->word);
    elf->sections = wndl_cursor_uint(&c, elf->word);
    wndl_cursor_skip(&c, sizeof(uint32_t) + sizeof(uint16_t)); /* flags, size */
    elf->header_size = wndl_cursor_u16(&c);
    elf->header_count = wndl_cursor_u16(&c);
    elf->section_size = wndl_cursor_u16(&c);
    return !c.failed;
}

static size_t least_header_size(const struct wndl_core_elf *elf)
{
    return elf->word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

bool wndl_core_header_read(const struct wndl_core_elf *elf,
    struct wndl_bytes bytes, uint64_t index, struct wndl_core_header *header)
{
    const uint64_t within = index * elf->header_size;
    *header = (struct wndl_core_header){0};
    if (elf->header_size < least_header_size(elf) || index > UINT32_MAX ||
        within > UINT64_MAX - elf->headers)
        return false;
    struct wndl_cursor c = wndl_cursor_at(bytes, elf->headers + within, false);
    header->type = wndl_cursor_u32(&c);
    if (elf->word == 8)
        header->flags = wndl_cursor_u32(&c);
    header->offset = wndl_cursor_uint(&c, elf->word);
    header->address = wndl_cursor_uint(&c, elf->word);
    wndl_cursor_skip(&c, elf->word); /* the physical address */
    header->file_size = wndl_cursor_uint(&c, elf->word);
    header->mem_size = wndl_cursor_uint(&c, elf->word);
    if (elf->word == 4)
        header->flags = wndl_cursor_u32(&c);
    header->alignment = wndl_cursor_uint(&c, elf->word);
    return !c.failed;
}

/* ---- which file it is */

static enum wndl_status check_machine(
    const struct wndl_core_elf *elf, struct wndl_error *err)
{
    const bool is_wide =
        elf->machine == EM_X86_64 || elf->machine == EM_AARCH64;
    if (wndl_regs_size(elf->machine) == 0 || is_wide != (elf->word == 8))
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "a core file of ELF machine %u with %u-bit addresses; those of "
            "x86-64, i386, AArch64 and 32-bit Arm can be read",
            elf->machine, elf->word * 8u);
    return WNDL_OK;
}

static enum wndl_status read_kind(
    struct wndl_core_elf *elf, struct wndl_bytes bytes, struct wndl_error *err)
{
    if (bytes.size < SELFMAG || memcmp(bytes.data, ELFMAG, SELFMAG) != 0)
        return wndl_fail(err, WNDL_UNSUPPORTED, "not a core file");
    if (bytes.size > EI_DATA && bytes.data[EI_DATA] == ELFDATA2MSB)
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "an ELF file of a big-endian machine");
    if (bytes.size < HEAD_SIZE)
        return wndl_fail_at(err, WNDL_TRUNCATED, "file", bytes.size,
            "ends within the ELF header");
    if (!wndl_core_elf_read(elf, bytes))
        return wndl_fail_at(
            err, WNDL_MALFORMED, "file", EI_CLASS, "damaged ELF header");
    if (elf->type != ET_CORE)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "an ELF program, library or object, not a core file");
    const enum wndl_status status = check_machine(elf, err);
    if (status == WNDL_OK &&
        (elf->header_size < least_header_size(elf) || elf->header_count == 0))
        return wndl_fail(err, WNDL_MALFORMED, "it has no program headers");
    return status;
}

enum wndl_status wndl_core_extent(
    struct wndl_bytes head, uint64_t *size, struct wndl_error *err)
{
    struct wndl_core_elf elf = {0};
    struct wndl_core_header header;
    if (head.size < HEAD_SIZE)
        return wndl_fail_at(err, WNDL_TRUNCATED, "file", head.size,
            "ends within the ELF header");
    enum wndl_status status = read_kind(&elf, head, err);
    if (status != WNDL_OK)
        return status;
    *size = end_of(elf.sections, elf.section_size);
    if (elf.header_count == PN_XNUM)
        return WNDL_OK;
    *size = end_of(elf.headers, (uint64_t)elf.header_count * elf.header_size);
    for (uint32_t i = 0; i < elf.header_count; i++) {
        if (!wndl_core_header_read(&elf, head, i, &header))
            return wndl_fail_at(err, WNDL_TRUNCATED, headers,
                (uint64_t)i * elf.header_size, "the file ends within them");
        if (end_of(header.offset, header.file_size) > *size)
            *size = end_of(header.offset, header.file_size);
    }
    return WNDL_OK;
}

/* ---- segments */

static void take_count(struct wndl_core_elf *elf, struct wndl_bytes bytes,
    struct wndl_error *damage)
{
    const uint64_t info = elf->word == 8 ? SH_INFO_64 : SH_INFO_32;
    if (elf->header_count != PN_XNUM)
        return;
    struct wndl_cursor c =
        wndl_cursor_at(bytes, end_of(elf->sections, info), false);
    const uint32_t count = wndl_cursor_u32(&c);
    if (!c.failed)
        elf->header_count = count;
    else
        note_damage(damage, WNDL_TRUNCATED, 0,
            "their number is at the end of the file, which is cut off");
}

static bool take_segment(
    struct wndl_core_file *core, const struct wndl_core_header *header)
{
    struct wndl_core_segment *segment = wndl_vec_push(&core->segments);
    if (segment == NULL)
        return false;
    *segment = (struct wndl_core_segment){
        .start = header->address,
        .end = header->address + header->mem_size,
        .offset = header->offset,
        .size = header->file_size < header->mem_size ? header->file_size
                                                     : header->mem_size,
        .is_writable = (header->flags & PF_W) != 0,
        .is_executable = (header->flags & PF_X) != 0,
    };
    return true;
}

static bool take_notes(
    struct wndl_core_file *core, const struct wndl_core_header *header)
{
    struct wndl_core_part *part = wndl_vec_push(&core->notes);
    if (part == NULL)
        return false;
    *part = (struct wndl_core_part){header->offset, header->file_size};
    return true;
}

/*
 * The table of headers, while it is read. Without their number it ends where
 * the first bytes of a segment are.
 */
struct table {
    struct wndl_core_elf elf;
    uint64_t first, last; /* the bytes of segments, in the file */
};

static bool is_after_table(const struct table *t, uint64_t index)
{
    return t->elf.header_count == PN_XNUM &&
           t->elf.headers + (index + 1) * t->elf.header_size > t->first;
}

static void note_place(struct table *t, const struct wndl_core_header *header)
{
    const uint64_t end = end_of(header->offset, header->file_size);
    if (header->file_size != 0 && header->offset < t->first)
        t->first = header->offset;
    if (end > t->last)
        t->last = end;
}

/* False without memory. */
static bool take_header(struct wndl_core_file *core,
    const struct wndl_core_header *header, uint64_t at,
    struct wndl_error *damage)
{
    if (header->type == PT_NOTE)
        return take_notes(core, header);
    if (header->type != PT_LOAD || header->mem_size == 0)
        return true;
    if (header->mem_size > UINT64_MAX - header->address ||
        header->file_size > UINT64_MAX - header->offset) {
        note_damage(damage, WNDL_MALFORMED, at,
            "a segment ends after the last address");
        return true;
    }
    return take_segment(core, header);
}

static int by_start(const void *a, const void *b)
{
    const struct wndl_core_segment *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The file has fewer bytes than its headers say. */
static void note_cut(
    const struct wndl_core_file *core, uint64_t size, struct wndl_error *damage)
{
    if (size > core->bytes.size && damage->status == WNDL_OK)
        wndl_fail(damage, WNDL_TRUNCATED,
            "cut short: it has %llu of %llu bytes, so memory is missing",
            (unsigned long long)core->bytes.size, (unsigned long long)size);
}

/* False without memory. */
static bool take_headers(
    struct wndl_core_file *core, struct table *t, struct wndl_error *damage)
{
    for (uint64_t i = 0; i < t->elf.header_count; i++) {
        struct wndl_core_header header;
        const uint64_t at = i * t->elf.header_size;
        if (is_after_table(t, i))
            break;
        if (!wndl_core_header_read(&t->elf, core->bytes, i, &header)) {
            note_damage(
                damage, WNDL_TRUNCATED, at, "the file ends within them");
            break;
        }
        note_place(t, &header);
        if (!take_header(core, &header, at, damage))
            return false;
    }
    return true;
}

enum wndl_status wndl_core_file_read(struct wndl_core_file *core,
    struct wndl_arena *arena, struct wndl_bytes bytes,
    struct wndl_error *damage, struct wndl_error *err)
{
    struct table t = {.first = UINT64_MAX};
    enum wndl_status status = read_kind(&t.elf, bytes, err);
    *core = (struct wndl_core_file){
        .bytes = bytes, .machine = t.elf.machine, .word = t.elf.word};
    wndl_vec_init(&core->segments, arena, sizeof(struct wndl_core_segment));
    wndl_vec_init(&core->notes, arena, sizeof(struct wndl_core_part));
    if (status != WNDL_OK)
        return status;
    take_count(&t.elf, bytes, damage);
    if (!take_headers(core, &t, damage))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (core->segments.len > 1)
        qsort(core->segments.data, core->segments.len,
            sizeof(struct wndl_core_segment), by_start);
    note_cut(core, t.last, damage);
    return WNDL_OK;
}

/* ---- memory */

const struct wndl_core_segment *wndl_core_segment_at(
    const struct wndl_core_file *core, uint64_t address)
{
    const struct wndl_core_segment *all = core->segments.data;
    if (core->segments.len == 0)
        return NULL;
    const size_t count = wndl_search_up_to(
        &all->start, sizeof *all, core->segments.len, address);
    return count != 0 && address < all[count - 1].end ? &all[count - 1] : NULL;
}

struct wndl_bytes wndl_core_bytes_at(
    const struct wndl_core_file *core, uint64_t address)
{
    const struct wndl_core_segment *segment =
        wndl_core_segment_at(core, address);
    const uint64_t within = segment == NULL ? 0 : address - segment->start;
    if (segment == NULL || within >= segment->size)
        return (struct wndl_bytes){0};
    const uint64_t at = segment->offset + within;
    uint64_t size = segment->size - within;
    if (at >= core->bytes.size)
        return (struct wndl_bytes){0};
    if (size > core->bytes.size - at)
        size = core->bytes.size - at;
    return wndl_bytes_slice(core->bytes, at, size);
}
