/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/sanitizer.h"

#include "os/dlfind.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* The old table has as many chains as there are symbols. */
static size_t count_symbols(const struct link_map *m)
{
    const uint32_t *old = table_of(m, DT_HASH);
    return old == NULL ? 0 : old[1];
}

/* GNU's table has a filter, buckets, and chains in the order of symbols. */
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static bool may_have(const uint32_t *gnu, uint32_t hash)
{
    enum { BITS = 8 * sizeof(uintptr_t) };
    const uintptr_t *filter = (const uintptr_t *)(const void *)(gnu + 4);
    const uintptr_t word = filter[hash / BITS % gnu[2]];
    return (word >> hash % BITS & word >> (hash >> gnu[3]) % BITS & 1) != 0;
}

struct names {
    const ElfW(Sym) * symbols;
    const char *text;
};

static bool is_defined(const struct names *n, size_t i, const char *name)
{
    return n->symbols[i].st_shndx != SHN_UNDEF &&
           strcmp(n->text + n->symbols[i].st_name, name) == 0;
}

static bool defines_by_gnu(
    const struct names *n, const uint32_t *gnu, const char *name)
{
    const uint32_t hash = hash_of(name);
    if (gnu[0] == 0 || gnu[2] == 0 || !may_have(gnu, hash))
        return false;
    const uint32_t *buckets =
        gnu + 4 + gnu[2] * (sizeof(uintptr_t) / sizeof *gnu);
    const uint32_t *chains = buckets + gnu[0];
    uint32_t i = buckets[hash % gnu[0]];
    if (i < gnu[1])
        return false;
    for (;; i++) {
        const uint32_t here = chains[i - gnu[1]];
        if ((here | 1) == (hash | 1) && is_defined(n, i, name))
            return true;
        if ((here & 1) != 0)
            return false;
    }
}

static bool defines(
    const struct link_map *m, const struct names *n, const char *name)
{
    const uint32_t *gnu = table_of(m, DT_GNU_HASH);
    if (gnu != NULL)
        return defines_by_gnu(n, gnu, name);
    for (size_t i = 1, count = count_symbols(m); i < count; i++) {
        if (is_defined(n, i, name))
            return true;
    }
    return false;
}

/* GNU's hash table leaves out undefined symbols, which then come first. */
static bool asks(
    const struct link_map *m, const struct names *n, const char *name)
{
    const uint32_t *gnu = table_of(m, DT_GNU_HASH);
    const size_t count = gnu == NULL ? count_symbols(m) : gnu[1];
    for (size_t i = 1; i < count; i++) {
        if (n->symbols[i].st_shndx == SHN_UNDEF &&
            strcmp(n->text + n->symbols[i].st_name, name) == 0)
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
    static const char *const starts[] = {"__asan_init", "__hwasan_init",
        "__lsan_init", "__memprof_init", "__msan_init", "__tsan_init"};
    const struct names n = {table_of(m, DT_SYMTAB), table_of(m, DT_STRTAB)};
    if (n.symbols == NULL || n.text == NULL)
        return false;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (defines(m, &n, starts[i]))
            return true;
    }
    return defines(m, &n, "pthread_create") &&
           asks(m, &n, "__sanitizer_symbolize_code");
}

/* ---- all modules */

static bool find(void)
{
    struct wndl_dlmodule ours;
    if (!wndl_dlfind((uintptr_t)find, &ours))
        return false;
    const struct link_map *m = ours.link_map;
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
