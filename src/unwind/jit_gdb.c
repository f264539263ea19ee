/* SPDX-License-Identifier: MIT */
/*
 * jit_gdb: what just-in-time compilers tell GDB: ELF files in memory, one for
 * each piece of code, in a list that starts in __jit_debug_descriptor ("JIT
 * Compilation Interface" of GDB's manual, version 1).
 */
#include "unwind/arch.h"
#include "unwind/jit.h"

#include <elf.h>
#include <link.h>

enum { VERSION = 1, REGISTER = 1, UNREGISTER = 2 };

struct entry {
    struct entry *next, *previous;
    const uint8_t *file;
    uint64_t file_size;
};

struct descriptor {
    uint32_t version;
    uint32_t action;
    struct entry *relevant;
    struct entry *first;
};

/* A file's bytes, and where its section headers and their names are. */
struct file {
    struct wndl_bytes bytes;
    const ElfW(Shdr) * headers;
    size_t count;
    struct wndl_bytes names;
};

/* Any alignment: files are where the compiler put them. */
static struct wndl_bytes section_bytes(
    const struct file *file, const ElfW(Shdr) * header)
{
    if (header->sh_type == SHT_NOBITS)
        return (struct wndl_bytes){0};
    return wndl_bytes_slice(file->bytes, header->sh_offset, header->sh_size);
}

static bool header_at(const struct file *file, size_t i, ElfW(Shdr) * header)
{
    if (i >= file->count)
        return false;
    __builtin_memcpy(header,
        (const uint8_t *)file->headers + i * sizeof *header, sizeof *header);
    return true;
}

static bool open_file(struct file *file, struct wndl_bytes bytes)
{
    ElfW(Ehdr) h;
    ElfW(Shdr) names;
    if (bytes.size < sizeof h)
        return false;
    __builtin_memcpy(&h, bytes.data, sizeof h);
    const uint8_t class = WNDL_WORD == 8 ? ELFCLASS64 : ELFCLASS32;
    if (__builtin_memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != class || h.e_ident[EI_DATA] != ELFDATA2LSB ||
        wndl_arch_of(h.e_machine) != WNDL_ARCH_HERE || h.e_machine == 0 ||
        h.e_shentsize != sizeof(ElfW(Shdr)))
        return false;
    struct wndl_bytes headers = wndl_bytes_slice(
        bytes, h.e_shoff, (uint64_t)h.e_shnum * sizeof(ElfW(Shdr)));
    *file = (struct file){.bytes = bytes,
        .headers = (const ElfW(Shdr) *)(const void *)headers.data,
        .count = headers.size / sizeof(ElfW(Shdr))};
    if (header_at(file, h.e_shstrndx, &names))
        file->names = section_bytes(file, &names);
    return true;
}

static bool is_named(const struct file *file, uint32_t at, const char *name)
{
    size_t size = __builtin_strlen(name) + 1;
    struct wndl_bytes found = wndl_bytes_slice(file->names, at, size);
    return found.size == size && __builtin_memcmp(found.data, name, size) == 0;
}

static bool find_frame(const struct file *file, struct wndl_cfi_section *frame)
{
    ElfW(Shdr) h;
    for (size_t i = 0; header_at(file, i, &h); i++) {
        struct wndl_bytes bytes = section_bytes(file, &h);
        if (!is_named(file, h.sh_name, ".eh_frame") || bytes.size == 0)
            continue;
        *frame = (struct wndl_cfi_section){
            .bytes = bytes,
            .addr = h.sh_addr != 0 ? h.sh_addr : (uintptr_t)bytes.data,
            .address_size = WNDL_WORD,
        };
        return true;
    }
    return false;
}

static bool is_code(
    const struct wndl_jit_source *source, uint64_t start, uint64_t end)
{
    struct file file;
    ElfW(Shdr) h;
    if (!open_file(&file, source->file))
        return false;
    for (size_t i = 0; header_at(&file, i, &h); i++)
        if ((h.sh_flags & SHF_EXECINSTR) != 0 && h.sh_addr != 0 &&
            start >= h.sh_addr && end - h.sh_addr <= h.sh_size)
            return true;
    return false;
}

enum wndl_status wndl_jit_gdb_source(const void *descriptor,
    enum wndl_jit_gdb *what, struct wndl_jit_source *source)
{
    const struct descriptor *d = descriptor;
    struct file file;
    *what = WNDL_JIT_GDB_NOTHING;
    if (d->version != VERSION || d->relevant == NULL)
        return WNDL_UNSUPPORTED;
    const struct entry *e = d->relevant;
    *source = (struct wndl_jit_source){.origin = (uintptr_t)e->file,
        .is_code = is_code,
        .file = {e->file, (size_t)e->file_size}};
    if (d->action == UNREGISTER)
        *what = WNDL_JIT_GDB_REMOVE;
    if (d->action != REGISTER)
        return d->action == UNREGISTER ? WNDL_OK : WNDL_UNSUPPORTED;
    if (!open_file(&file, source->file))
        return WNDL_UNSUPPORTED;
    if (!find_frame(&file, &source->frame))
        return WNDL_NOT_FOUND;
    *what = WNDL_JIT_GDB_ADD;
    return WNDL_OK;
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
