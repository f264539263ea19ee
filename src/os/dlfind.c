/* SPDX-License-Identifier: MIT */
#include "os/dlfind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

bool wndl_dlfind(uint64_t pc, struct wndl_dlmodule *module)
{
    struct dl_find_object found;
    /* An address is looked up, not dereferenced. */
    if (_dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return false;
    const struct link_map *map = found.dlfo_link_map;
    *module = (struct wndl_dlmodule){
        .map_start = (uintptr_t)found.dlfo_map_start,
        .map_end = (uintptr_t)found.dlfo_map_end,
        .bias = {map->l_addr},
        .name = map->l_name == NULL ? "" : map->l_name,
        .eh_frame_hdr = found.dlfo_eh_frame,
    };
    return true;
}

/*
 * The ELF header is at map_start in every image whose first segment starts
 * at file offset 0, which is what linkers make unless told otherwise.
 */
static struct wndl_bytes program_headers(const struct wndl_dlmodule *module)
{
    const struct wndl_bytes image = {
        (const uint8_t *)(uintptr_t)module->map_start,
        module->map_end - module->map_start,
    };
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)image.data;
    if (image.size < sizeof *header ||
        __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phentsize != sizeof(ElfW(Phdr)))
        return (struct wndl_bytes){0};
    return wndl_bytes_slice(
        image, header->e_phoff, (uint64_t)header->e_phnum * sizeof(ElfW(Phdr)));
}

struct wndl_bytes wndl_dlmodule_from(
    const struct wndl_dlmodule *module, uint64_t address)
{
    struct wndl_bytes headers = program_headers(module);
    const ElfW(Phdr) *ph = (const ElfW(Phdr) *)(const void *)headers.data;
    size_t count = headers.size / sizeof *ph;
    uint64_t svma = wndl_svma_of_avma((wndl_avma){address}, module->bias).v;
    for (size_t i = 0; i < count; i++) {
        if (ph[i].p_type != PT_LOAD || (ph[i].p_flags & PF_R) == 0)
            continue;
        if (svma - ph[i].p_vaddr < ph[i].p_filesz)
            return (struct wndl_bytes){
                (const uint8_t *)(uintptr_t)address,
                ph[i].p_filesz - (svma - ph[i].p_vaddr),
            };
    }
    return (struct wndl_bytes){0};
}
