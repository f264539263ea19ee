/* SPDX-License-Identifier: MIT */
#include "os/loader_list.h"

#include "os/own_memory.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

enum { PAGE = 4096, MOST_MODULES = 4096, MOST_HEADERS = 64 };

/* Other libcs have no such list, and must be able to load us. */
#pragma weak _r_debug

/* Where the program headers of a module are. */
struct headers {
    uint64_t at; /* avma */
    size_t count;
};

/*
 * The executable's headers are where the kernel says, unless ld.so was started
 * to run it: then those are ld.so's, which do not fit its record.
 */
static struct headers headers_by_kernel(void)
{
    return (struct headers){getauxval(AT_PHDR), getauxval(AT_PHNUM)};
}

/* The headers of an image whose ELF header is where it was linked for 0. */
static bool read_elf_header(
    struct wndl_own_memory *memory, uint64_t at, struct headers *headers)
{
    ElfW(Ehdr) header;
    if (!wndl_own_memory_read(memory, at, &header, sizeof header) ||
        __builtin_memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        return false;
    *headers = (struct headers){at + header.e_phoff, header.e_phnum};
    return true;
}

static void take_segment(struct wndl_dlmodule *module, const ElfW(Phdr) * ph)
{
    const uint64_t start = module->bias.v + ph->p_vaddr;
    if (ph->p_type == PT_LOAD) {
        const uint64_t low = start & -(uint64_t)PAGE;
        const uint64_t high = start + ph->p_memsz;
        module->map_start = low < module->map_start ? low : module->map_start;
        module->map_end = high > module->map_end ? high : module->map_end;
    }
#if DLFO_STRUCT_HAS_EH_COUNT
    if (ph->p_type == PT_ARM_EXIDX)
        module->exidx =
            (struct wndl_bytes){(const uint8_t *)(uintptr_t)start, ph->p_memsz};
#else
    if (ph->p_type == PT_GNU_EH_FRAME)
        module->eh_frame_hdr = (const uint8_t *)(uintptr_t)start;
#endif
}

/*
 * Whether these are headers of the module of ld.so's record `map`, and cover
 * `pc`. The record says where the dynamic section is, too.
 */
static bool take_headers(struct wndl_own_memory *memory,
    const struct link_map *map, struct headers headers, uint64_t pc,
    struct wndl_dlmodule *module)
{
    bool fits = false;
    *module = (struct wndl_dlmodule){
        .map_start = UINT64_MAX,
        .bias = {map->l_addr},
        .name = map->l_name == NULL ? "" : map->l_name,
    };
    if (headers.count > MOST_HEADERS)
        return false;
    for (size_t i = 0; i < headers.count; i++) {
        ElfW(Phdr) ph;
        if (!wndl_own_memory_read(
                memory, headers.at + i * sizeof ph, &ph, sizeof ph))
            return false;
        take_segment(module, &ph);
        fits = fits || (ph.p_type == PT_DYNAMIC &&
                           map->l_addr + ph.p_vaddr == (uintptr_t)map->l_ld);
    }
    return fits && module->map_start <= pc && pc < module->map_end;
}

/* A record of the list, and where it is. */
struct record {
    const struct link_map *at; /* NULL: none */
    struct link_map copy;
};

static bool read_record(struct wndl_own_memory *memory,
    const struct link_map *at, struct record *record)
{
    record->at = at;
    return at != NULL && wndl_own_memory_read(memory, (uintptr_t)at,
                             &record->copy, sizeof record->copy);
}

/* The record after the first whose image begins last before `pc`. */
static struct record last_before(
    struct wndl_own_memory *memory, const struct link_map *first, uint64_t pc)
{
    struct record best = {0};
    struct record record;
    for (int i = 0; i < MOST_MODULES && read_record(memory, first, &record);
         i++) {
        if (record.copy.l_addr <= pc &&
            (best.at == NULL || record.copy.l_addr > best.copy.l_addr))
            best = record;
        first = record.copy.l_next;
    }
    return best;
}

bool wndl_loader_list_find(uint64_t pc, struct wndl_dlmodule *module)
{
    struct wndl_own_memory memory = {0};
    struct record record;
    if (&_r_debug == NULL || !read_record(&memory, _r_debug.r_map, &record))
        return false;
    struct headers headers = headers_by_kernel();
    if (!take_headers(&memory, &record.copy, headers, pc, module)) {
        record = last_before(&memory, record.at, pc);
        if (record.at == NULL ||
            !read_elf_header(&memory, record.copy.l_addr, &headers) ||
            !take_headers(&memory, &record.copy, headers, pc, module))
            return false;
    }
    module->link_map = record.at;
    return true;
}
