/* SPDX-License-Identifier: MIT */
#include "os/dlfind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

enum { PAGE = 4096, EXIDX_ENTRY = 8 };

/* Other libcs, such as musl, have none, and must be able to load us. */
#pragma weak _dl_find_object

/*
 * Extends the module to the executable's whole extent, which the kernel's
 * program headers give. glibc treats an executable with gaps between its
 * segments, as one aligned to more than a page has, segment by segment.
 */
static void widen_to_executable(struct wndl_dlmodule *module)
{
    const ElfW(Phdr) *ph = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = ph == NULL ? 0 : getauxval(AT_PHNUM);
    uint64_t start = UINT64_MAX;
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if (ph[i].p_type != PT_LOAD)
            continue;
        uint64_t low = (module->bias.v + ph[i].p_vaddr) & -(uint64_t)PAGE;
        uint64_t high = module->bias.v + ph[i].p_vaddr + ph[i].p_memsz;
        start = low < start ? low : start;
        end = high > end ? high : end;
    }
    if (start <= module->map_start && module->map_end <= end) {
        module->map_start = start;
        module->map_end = end;
    }
}

bool wndl_dlfind(uint64_t pc, struct wndl_dlmodule *module)
{
    struct dl_find_object found;
    /* An address is looked up, not dereferenced. */
    if (_dl_find_object == NULL ||
        _dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return false;
    const struct link_map *map = found.dlfo_link_map;
    *module = (struct wndl_dlmodule)
    {
        .map_start = (uintptr_t)found.dlfo_map_start,
        .map_end = (uintptr_t)found.dlfo_map_end, .bias = {map->l_addr},
        .name = map->l_name == NULL ? "" : map->l_name,
#if DLFO_STRUCT_HAS_EH_COUNT
        .exidx = {
            found.dlfo_eh_frame, (size_t)found.dlfo_eh_count * EXIDX_ENTRY},
#else
        .eh_frame_hdr = found.dlfo_eh_frame,
#endif
    };
    if (module->name[0] == '\0')
        widen_to_executable(module);
    return true;
}

/*
 * The executable's headers, whose place the kernel gives. If ld.so was started
 * to run the program, it gives ld.so's, so they must be of this image.
 */
static struct wndl_bytes headers_by_kernel(const struct wndl_dlmodule *module)
{
    uint64_t start = getauxval(AT_PHDR);
    uint64_t size = getauxval(AT_PHNUM) * sizeof(ElfW(Phdr));
    if (module->name[0] != '\0' || start < module->map_start ||
        start >= module->map_end || size > module->map_end - start)
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){(const uint8_t *)(uintptr_t)start, size};
}

/*
 * The ELF header is at map_start in every image whose first segment starts at
 * file offset 0, which is the linkers' default. Memory after its page may be
 * unmapped: tools that add segments (patchelf, BOLT) move the program headers
 * there.
 */
static struct wndl_bytes program_headers(const struct wndl_dlmodule *module)
{
    uint64_t mapped = module->map_end - module->map_start;
    const struct wndl_bytes page = {
        (const uint8_t *)(uintptr_t)module->map_start,
        mapped < PAGE ? mapped : PAGE,
    };
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)page.data;
    if (page.size < sizeof *header ||
        __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phentsize != sizeof(ElfW(Phdr)))
        return headers_by_kernel(module);
    struct wndl_bytes headers = wndl_bytes_slice(
        page, header->e_phoff, (uint64_t)header->e_phnum * sizeof(ElfW(Phdr)));
    return headers.size != 0 ? headers : headers_by_kernel(module);
}

struct wndl_bytes wndl_dlmodule_around(
    const struct wndl_dlmodule *module, uint64_t address)
{
    struct wndl_bytes headers = program_headers(module);
    const ElfW(Phdr) *ph = (const ElfW(Phdr) *)(const void *)headers.data;
    size_t count = headers.size / sizeof *ph;
    uint64_t svma = wndl_svma_of_avma((wndl_avma){address}, module->bias).v;
    for (size_t i = 0; i < count; i++) {
        if (ph[i].p_type != PT_LOAD || (ph[i].p_flags & PF_R) == 0)
            continue;
        const uint64_t at = svma - ph[i].p_vaddr;
        if (at < ph[i].p_filesz)
            return (struct wndl_bytes){
                (const uint8_t *)(uintptr_t)(address - at), ph[i].p_filesz};
    }
    return (struct wndl_bytes){0};
}

struct wndl_bytes wndl_dlmodule_from(
    const struct wndl_dlmodule *module, uint64_t address)
{
    const struct wndl_bytes all = wndl_dlmodule_around(module, address);
    const uint64_t at = address - (uintptr_t)all.data;
    return wndl_bytes_slice(all, at, all.size - at);
}
