/* SPDX-License-Identifier: MIT */
/*
 * unwind_misses LIBRARY...: asks for the rules of new return addresses, those
 * of every 61st call in the code of the libraries. Prints how many had a rule;
 * callgrind counts the cost of each measured_miss().
 */
#include "unwind/fast/cache.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <windlass/unwind.h>

enum { EVERY = 61, CALL = 0xe8, CALL_SIZE = 5 };

struct code {
    const uint8_t *start;
    size_t size;
};

uint8_t measured_miss(struct wndl_unwinder *u, uint64_t pc);

__attribute__((noinline, used)) uint8_t measured_miss(
    struct wndl_unwinder *u, uint64_t pc)
{
    return wndl_cache_find(u, pc, wndl_cache_generation(u)).rule.kind;
}

static struct code code_of(const char *library)
{
    struct code code = {0};
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    struct link_map *map = NULL;
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return code;
    const uint8_t *base = (const uint8_t *)map->l_addr;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)base;
    const ElfW(Phdr) *ph =
        (const ElfW(Phdr) *)(const void *)(base + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) != 0)
            code = (struct code){base + ph[i].p_vaddr, ph[i].p_filesz};
    return code;
}

/* A direct call into the same code: else the byte was no call's. */
static bool is_call(struct code code, size_t at)
{
    int32_t distance;
    if (code.start[at] != CALL)
        return false;
    memcpy(&distance, &code.start[at + 1], sizeof distance);
    int64_t target = (int64_t)at + CALL_SIZE + distance;
    return target >= 0 && target < (int64_t)code.size;
}

static size_t ask(struct wndl_unwinder *u, struct code code)
{
    size_t calls = 0, asked = 0;
    for (size_t at = 0; at + CALL_SIZE < code.size; at++) {
        if (!is_call(code, at) || calls++ % EVERY != 0)
            continue;
        uint64_t pc = (uintptr_t)&code.start[at + CALL_SIZE];
        asked += measured_miss(u, pc) < WNDL_ENTRY_NO_FDE;
    }
    return asked;
}

int main(int argc, char **argv)
{
    void *memory = mmap(NULL, wndl_unwinder_size(), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    struct wndl_unwinder *u = wndl_unwinder_init(memory);
    size_t asked = 0;
    for (int i = 1; i < argc; i++)
        asked += ask(u, code_of(argv[i]));
    (void)printf("%zu\n", asked);
    return 0;
}
