/* SPDX-License-Identifier: MIT */
#include "os/dlfind.h"

#include "os/loader_list.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

enum { PAGE = 4096, EXIDX_ENTRY = 8 };

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
    if (_dl_find_object == NULL)
        return wndl_loader_list_find(pc, module);
    /* An address is looked up, not dereferenced. */
    if (_dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return false;
    const struct link_map *map = found.dlfo_link_map;
    *module = (struct wndl_dlmodule)
    {
        .map_start = (uintptr_t)found.dlfo_map_start,
        .map_end = (uintptr_t)found.dlfo_map_end, .bias = {map->l_addr},
        .name = map->l_name == NULL ? "" : map->l_name, .link_map = map,
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
 * The module's ELF header. It is at map_start in every image whose first
 * segment starts at file offset 0, which is the linkers' default. NULL: there
 * is none.
 */
static const ElfW(Ehdr) * elf_header(const struct wndl_dlmodule *module)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(uintptr_t)module->map_start;
    const uint64_t mapped = module->map_end - module->map_start;
    const bool is_there =
        mapped >= sizeof *header &&
        __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_phentsize == sizeof(ElfW(Phdr));
    return is_there ? header : NULL;
}

/*
 * The headers on the page of the ELF header. Memory after that page may be
 * unmapped: tools that add segments (patchelf, BOLT) move the program headers
 * there.
 */
static struct wndl_bytes headers_on_first_page(
    const struct wndl_dlmodule *module)
{
    const ElfW(Ehdr) *header = elf_header(module);
    const uint64_t mapped = module->map_end - module->map_start;
    if (header == NULL)
        return (struct wndl_bytes){0};
    return wndl_bytes_slice((struct wndl_bytes){(const uint8_t *)header,
                                mapped < PAGE ? mapped : PAGE},
        header->e_phoff, (uint64_t)header->e_phnum * sizeof(ElfW(Phdr)));
}

/*
 * Three adjacent fields of glibc's own part of struct link_map. ld.so has read
 * these headers when it loaded the module: they are mapped as long as it is.
 */
struct loader_headers {
    const uint8_t *headers; /* l_phdr */
    uintptr_t entry;        /* l_entry */
    ElfW(Half) count;       /* l_phnum */
};

static struct loader_headers read_loader_headers(
    const void *link_map, size_t at)
{
    struct loader_headers found;
    __builtin_memcpy(&found, (const uint8_t *)link_map + at, sizeof found);
    return found;
}

/* Whether these fields can be those of the module of this ELF header. */
static bool fits(const struct loader_headers *found, const ElfW(Ehdr) * header,
    wndl_bias bias)
{
    return header != NULL && found->count == header->e_phnum &&
           found->entry == (uintptr_t)(header->e_entry + bias.v);
}

/*
 * The offset of these fields in struct link_map, which differs between versions
 * of glibc. It is found in the record of the module that has this code, whose
 * headers are known. 0: not found.
 */
static size_t loader_headers_at(void)
{
    enum { FIRST = sizeof(struct link_map), WORDS = 128 };
    struct wndl_dlmodule own;
    if (!wndl_dlfind((uintptr_t)&loader_headers_at, &own))
        return 0;
    const struct wndl_bytes known = headers_on_first_page(&own);
    for (size_t at = FIRST; known.size != 0 && at < WORDS * sizeof(uintptr_t);
         at += sizeof(uintptr_t)) {
        const struct loader_headers found =
            read_loader_headers(own.link_map, at);
        if (found.headers == known.data &&
            fits(&found, elf_header(&own), own.bias))
            return at;
    }
    return 0;
}

static struct wndl_bytes headers_by_loader(const struct wndl_dlmodule *module)
{
    const size_t at = module->link_map == NULL ? 0 : loader_headers_at();
    if (at == 0)
        return (struct wndl_bytes){0};
    const struct loader_headers found =
        read_loader_headers(module->link_map, at);
    if (found.headers == NULL ||
        !fits(&found, elf_header(module), module->bias))
        return (struct wndl_bytes){0};
    return (struct wndl_bytes){found.headers, found.count * sizeof(ElfW(Phdr))};
}

struct wndl_bytes wndl_dlmodule_headers(const struct wndl_dlmodule *module)
{
    struct wndl_bytes headers = headers_on_first_page(module);
    if (headers.size == 0)
        headers = headers_by_kernel(module);
    return headers.size != 0 ? headers : headers_by_loader(module);
}

struct wndl_bytes wndl_dlmodule_around(
    const struct wndl_dlmodule *module, uint64_t address)
{
    const struct wndl_bytes headers = wndl_dlmodule_headers(module);
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
