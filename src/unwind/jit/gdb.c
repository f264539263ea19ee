/* SPDX-License-Identifier: MIT */
/*
 * gdb: the data that just-in-time compilers provide for GDB: ELF files in
 * memory, one for each piece of code, in a list that starts in
 * __jit_debug_descriptor ("JIT Compilation Interface" of GDB's manual, version
 * 1).
 */
#include "unwind/core/arch.h"
#include "unwind/jit/registry.h"

#include <elf.h>
#include <link.h>

enum { REGISTER = 1, UNREGISTER = 2 };

/* A file's section headers and their names. */
struct headers {
    const struct wndl_jit_file *file;
    struct wndl_bytes all, names;
};

/* Any alignment: files are where the compiler put them. */
static struct wndl_bytes take(
    const struct wndl_jit_file *file, uint64_t offset, uint64_t size)
{
    if (size == 0 || size > SIZE_MAX || offset > file->size ||
        size > file->size - offset)
        return (struct wndl_bytes){0};
    const uint8_t *bytes =
        file->take(file->context, file->address + offset, (size_t)size);
    return (struct wndl_bytes){bytes, bytes == NULL ? 0 : (size_t)size};
}

static struct wndl_bytes section_bytes(
    const struct wndl_jit_file *file, const ElfW(Shdr) * header)
{
    if (header->sh_type == SHT_NOBITS)
        return (struct wndl_bytes){0};
    return take(file, header->sh_offset, header->sh_size);
}

static bool header_at(struct wndl_bytes all, size_t i, ElfW(Shdr) * header)
{
    if (i >= all.size / sizeof *header)
        return false;
    __builtin_memcpy(header, all.data + i * sizeof *header, sizeof *header);
    return true;
}

static bool open_file(struct headers *headers, const struct wndl_jit_file *file)
{
    ElfW(Ehdr) h;
    ElfW(Shdr) names;
    struct wndl_bytes first = take(file, 0, sizeof h);
    if (first.size == 0)
        return false;
    __builtin_memcpy(&h, first.data, sizeof h);
    const uint8_t class = WNDL_WORD == 8 ? ELFCLASS64 : ELFCLASS32;
    if (__builtin_memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != class || h.e_ident[EI_DATA] != ELFDATA2LSB ||
        wndl_arch_of(h.e_machine) != WNDL_ARCH_HERE || h.e_machine == 0 ||
        h.e_shentsize != sizeof(ElfW(Shdr)))
        return false;
    *headers = (struct headers){.file = file,
        .all = take(file, h.e_shoff, (uint64_t)h.e_shnum * sizeof names)};
    if (header_at(headers->all, h.e_shstrndx, &names))
        headers->names = section_bytes(file, &names);
    return true;
}

static bool is_named(struct wndl_bytes names, uint32_t at, const char *name)
{
    size_t size = __builtin_strlen(name) + 1;
    struct wndl_bytes found = wndl_bytes_slice(names, at, size);
    return found.size == size && __builtin_memcmp(found.data, name, size) == 0;
}

static bool find_frame(
    const struct headers *headers, struct wndl_cfi_section *frame)
{
    ElfW(Shdr) h;
    for (size_t i = 0; header_at(headers->all, i, &h); i++) {
        if (!is_named(headers->names, h.sh_name, ".eh_frame"))
            continue;
        struct wndl_bytes bytes = section_bytes(headers->file, &h);
        if (bytes.size == 0)
            continue;
        *frame = (struct wndl_cfi_section){
            .bytes = bytes,
            .addr = h.sh_addr != 0 ? h.sh_addr
                                   : headers->file->address + h.sh_offset,
            .address_size = WNDL_WORD,
        };
        return true;
    }
    return false;
}

static bool is_code(
    const struct wndl_jit_source *source, uint64_t start, uint64_t end)
{
    ElfW(Shdr) h;
    for (size_t i = 0; header_at(source->sections, i, &h); i++)
        if ((h.sh_flags & SHF_EXECINSTR) != 0 && h.sh_addr != 0 &&
            start >= h.sh_addr && end - h.sh_addr <= h.sh_size)
            return true;
    return false;
}

enum wndl_status wndl_jit_gdb_file(
    const struct wndl_jit_file *file, struct wndl_jit_source *source)
{
    struct headers headers;
    *source =
        (struct wndl_jit_source){.origin = file->address, .is_code = is_code};
    if (!open_file(&headers, file))
        return WNDL_UNSUPPORTED;
    source->sections = headers.all;
    return find_frame(&headers, &source->frame) ? WNDL_OK : WNDL_NOT_FOUND;
}

/* For our own memory. */
static const uint8_t *take_here(void *context, uint64_t address, size_t size)
{
    (void)context;
    (void)size;
    return (const uint8_t *)(uintptr_t)address;
}

enum wndl_status wndl_jit_gdb_source(const void *descriptor,
    enum wndl_jit_gdb *what, struct wndl_jit_source *source)
{
    const struct wndl_jit_gdb_descriptor *d = descriptor;
    *what = WNDL_JIT_GDB_NOTHING;
    if (d->version != WNDL_JIT_GDB_VERSION || d->relevant == NULL)
        return WNDL_UNSUPPORTED;
    const struct wndl_jit_file file = {
        .address = (uintptr_t)d->relevant->file,
        .size = d->relevant->file_size,
        .take = take_here,
    };
    *source = (struct wndl_jit_source){.origin = file.address};
    if (d->action == UNREGISTER)
        *what = WNDL_JIT_GDB_REMOVE;
    if (d->action != REGISTER)
        return d->action == UNREGISTER ? WNDL_OK : WNDL_UNSUPPORTED;
    enum wndl_status status = wndl_jit_gdb_file(&file, source);
    if (status == WNDL_OK)
        *what = WNDL_JIT_GDB_ADD;
    return status;
}

enum wndl_status wndl_jit_follow_gdb(
    struct wndl_jit *jit, const void *descriptor)
{
    enum wndl_jit_gdb what;
    struct wndl_jit_source source;
    const uint8_t *bytes;
    enum wndl_status status = wndl_jit_gdb_source(descriptor, &what, &source);
    if (what == WNDL_JIT_GDB_ADD)
        return wndl_jit_add_source(jit, &source);
    if (what == WNDL_JIT_GDB_REMOVE)
        return wndl_jit_remove_source(jit, source.origin, &bytes);
    return status;
}
