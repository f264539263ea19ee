/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/sanitizer.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Other libcs have none, and must be able to load us. */
#pragma weak _dl_find_object

/* ---- one module: gABI 4.1, "Dynamic Section" */

/* The loader has relocated the addresses in most, not in the vDSO's. */
static const void *table_of(const struct link_map *m, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = m->l_ld; d->d_tag != DT_NULL; d++) {
        uintptr_t at = d->d_un.d_ptr;
        if (d->d_tag == tag)
            return (const void *)(at < m->l_addr ? at + m->l_addr : at);
    }
    return NULL;
}

/*
 * The table has no length. GNU's hash table has four numbers, as many words as
 * the third says, the buckets, and the chains, of which each last one is odd.
 */
static size_t count_by_gnu(const uint32_t *hash)
{
    size_t words = hash[2] * (sizeof(uintptr_t) / sizeof *hash);
    const uint32_t *buckets = hash + 4 + words;
    const uint32_t *chains = buckets + hash[0];
    uint32_t first = hash[1];
    uint32_t last = 0;
    for (uint32_t i = 0; i < hash[0]; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < first)
        return first;
    while ((chains[last - first] & 1) == 0)
        last++;
    return (size_t)last + 1;
}

static size_t count_symbols(const struct link_map *m)
{
    const uint32_t *gnu = table_of(m, DT_GNU_HASH);
    const uint32_t *old = table_of(m, DT_HASH);
    if (gnu != NULL)
        return count_by_gnu(gnu);
    return old == NULL ? 0 : old[1];
}

static bool is_start(const char *name)
{
    static const char *const starts[] = {"__asan_init", "__hwasan_init",
        "__lsan_init", "__memprof_init", "__msan_init", "__tsan_init"};
    if (name[0] != '_' || name[1] != '_')
        return false; /* as in nearly all: there may be many */
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (strcmp(name, starts[i]) == 0)
            return true;
    }
    return false;
}

/*
 * If GCC has linked a sanitizer statically, its own functions are not exported.
 * Those that the program may define for it are, and those that it replaces.
 * UBSan, which leaves malloc alone, does not replace this one.
 */
static bool has_sanitizer(const struct link_map *m)
{
    const ElfW(Sym) *symbols = table_of(m, DT_SYMTAB);
    const char *names = table_of(m, DT_STRTAB);
    bool asks = false;
    bool stands_before = false;
    if (symbols == NULL || names == NULL)
        return false;
    for (size_t i = 1, count = count_symbols(m); i < count; i++) {
        const char *name = names + symbols[i].st_name;
        bool is_defined = symbols[i].st_shndx != SHN_UNDEF;
        if (is_defined && is_start(name))
            return true;
        asks |= !is_defined && strcmp(name, "__sanitizer_symbolize_code") == 0;
        stands_before |= is_defined && strcmp(name, "pthread_create") == 0;
    }
    return asks && stands_before;
}

/* ---- all modules */

static bool find(void)
{
    struct dl_find_object ours;
    if (_dl_find_object == NULL ||
        _dl_find_object((void *)(uintptr_t)find, &ours) != 0)
        return false;
    const struct link_map *m = ours.dlfo_link_map;
    while (m->l_prev != NULL)
        m = m->l_prev;
    while (m != NULL && !has_sanitizer(m))
        m = m->l_next;
    return m != NULL;
}

bool wndl_rt_heap_is_sanitized(void)
{
    static enum { NOT_KNOWN, NO, YES } known;
    if (known == NOT_KNOWN)
        known = find() ? YES : NO;
    return known == YES;
}
