/* SPDX-License-Identifier: MIT */
/*
 * dynamic: the dynamic symbols and relocations of a file without section
 * headers, found as the dynamic linker does (gABI 4.1, "Dynamic Section"). The
 * table of symbols has no length; the hash table has the number of symbols.
 */
#include "obj/elf/impl.h"

#include <elf.h>

static const char DYNAMIC[] = "PT_DYNAMIC";

struct dynamic {
    uint64_t symbols, strings, string_size, stride;
    uint64_t hash, gnu_hash;
    uint64_t got, plt, plt_size;
    uint64_t rel, rel_size, rela, rela_size;
};

static uint64_t read_word(
    struct wndl_cursor *c, const struct wndl_object *object)
{
    return object->address_size == 8 ? wndl_cursor_u64(c) : wndl_cursor_u32(c);
}

static struct dynamic read_dynamic(const struct wndl_object *object)
{
    struct dynamic d = {0};
    const struct {
        uint64_t tag;
        uint64_t *value;
    } wanted[] = {
        {DT_SYMTAB, &d.symbols},
        {DT_STRTAB, &d.strings},
        {DT_STRSZ, &d.string_size},
        {DT_SYMENT, &d.stride},
        {DT_HASH, &d.hash},
        {DT_GNU_HASH, &d.gnu_hash},
        {DT_PLTGOT, &d.got},
        {DT_JMPREL, &d.plt},
        {DT_PLTRELSZ, &d.plt_size},
        {DT_REL, &d.rel},
        {DT_RELSZ, &d.rel_size},
        {DT_RELA, &d.rela},
        {DT_RELASZ, &d.rela_size},
    };
    struct wndl_cursor c =
        wndl_cursor_at(object->dynamic, 0, object->big_endian);
    while (!c.failed) {
        uint64_t tag = read_word(&c, object);
        uint64_t value = read_word(&c, object);
        if (tag == DT_NULL)
            break;
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (wanted[i].tag == tag && !c.failed)
                *wanted[i].value = value;
    }
    return d;
}

struct wndl_elf_dynamic_tables wndl_elf_dynamic_tables(
    const struct wndl_object *object, bool narrow)
{
    struct dynamic d = read_dynamic(object);
    uint64_t others = narrow ? d.rel : d.rela;
    uint64_t size = narrow ? d.rel_size : d.rela_size;
    return (struct wndl_elf_dynamic_tables){
        .relocations = {wndl_bytes_slice(wndl_object_loaded_bytes(
                                             object, (wndl_svma){d.plt}),
                            0, d.plt_size),
            wndl_bytes_slice(
                wndl_object_loaded_bytes(object, (wndl_svma){others}), 0,
                size)},
        .symbols = wndl_object_loaded_bytes(object, (wndl_svma){d.symbols}),
        .strings = wndl_bytes_slice(
            wndl_object_loaded_bytes(object, (wndl_svma){d.strings}), 0,
            d.string_size),
        .got = d.got,
    };
}

/* gABI 4.1, "Hash Table": there are as many chains as symbols. */
static uint64_t count_by_hash(
    const struct wndl_object *object, struct wndl_bytes hash)
{
    struct wndl_cursor c = wndl_cursor_at(hash, 0, object->big_endian);
    wndl_cursor_skip(&c, 4); /* nbucket */
    return wndl_cursor_u32(&c);
}

/*
 * Buckets hold the first symbol of their chain. Chains have a word for each
 * symbol from the `first` hashed one on, odd at their ends; the chain that
 * begins last is the last. 0 when the table is cut short.
 */
static uint64_t count_by_gnu_hash(
    const struct wndl_object *object, struct wndl_bytes hash)
{
    struct wndl_cursor c = wndl_cursor_at(hash, 0, object->big_endian);
    uint32_t buckets = wndl_cursor_u32(&c);
    uint32_t first = wndl_cursor_u32(&c);
    uint64_t bloom = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 4); /* shift of the bloom filter */
    wndl_cursor_skip(&c, bloom * object->address_size);
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets && !c.failed; i++) {
        uint32_t start = wndl_cursor_u32(&c);
        last = start > last ? start : last;
    }
    if (c.failed || last == 0)
        return c.failed ? 0 : first;
    if (last < first)
        return 0;
    wndl_cursor_skip(&c, (uint64_t)(last - first) * 4);
    while ((wndl_cursor_u32(&c) & 1) == 0 && !c.failed)
        last++;
    return c.failed ? 0 : (uint64_t)last + 1;
}

static uint64_t count_symbols(
    const struct wndl_object *object, const struct dynamic *d)
{
    uint64_t count = 0;
    if (d->hash != 0)
        count = count_by_hash(
            object, wndl_object_loaded_bytes(object, (wndl_svma){d->hash}));
    if (count == 0 && d->gnu_hash != 0)
        count = count_by_gnu_hash(
            object, wndl_object_loaded_bytes(object, (wndl_svma){d->gnu_hash}));
    return count;
}

enum wndl_status wndl_elf_dynamic_open(const struct wndl_object *object,
    struct wndl_elf_symbols *symbols, struct wndl_error *err)
{
    uint64_t least =
        object->address_size == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    struct dynamic d = read_dynamic(object);
    *symbols = (struct wndl_elf_symbols){.object = object, .name = DYNAMIC};
    if (d.symbols == 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "no symbol table");
    symbols->stride = d.stride == 0 ? least : d.stride;
    if (symbols->stride < least || symbols->stride > UINT32_MAX)
        return wndl_fail_at(err, WNDL_MALFORMED, DYNAMIC, 0,
            "symbols of the wrong size for their class");
    symbols->count = count_symbols(object, &d);
    if (symbols->count == 0)
        return wndl_fail_at(err, WNDL_MALFORMED, DYNAMIC, 0,
            "no hash table to count the symbols");
    struct wndl_bytes entries =
        wndl_object_loaded_bytes(object, (wndl_svma){d.symbols});
    struct wndl_bytes strings =
        wndl_object_loaded_bytes(object, (wndl_svma){d.strings});
    symbols->entries =
        wndl_bytes_slice(entries, 0, symbols->count * symbols->stride);
    symbols->strings = wndl_bytes_slice(strings, 0, d.string_size);
    if (symbols->entries.size == 0 || symbols->strings.size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, DYNAMIC, 0,
            "the symbols reach past the end of their segment");
    return WNDL_OK;
}
