/* SPDX-License-Identifier: MIT */
/* Files with several architectures, and the names of architectures. */
#include "obj/macho/impl.h"

#include <stdio.h>
#include <string.h>

/* Java's classes begin with the same four bytes, and then a version from 43
 * on; no file has as many architectures. */
enum { FAT = 0xcafebabe, FAT_64 = 0xcafebabf, MOST_ARCHES = 42 };

enum { CPU_MASK = 0x00ffffff };

static const struct {
    uint32_t cpu;
    int32_t subtype; /* -1: any other */
    const char *name;
} names[] = {
    {7, -1, "i386"},
    {12, 5, "armv4t"},
    {12, 6, "armv6"},
    {12, 7, "armv5"},
    {12, 9, "armv7"},
    {12, 11, "armv7s"},
    {12, 12, "armv7k"},
    {12, 14, "armv6m"},
    {12, 15, "armv7m"},
    {12, 16, "armv7em"},
    {12, -1, "arm"},
    {18, -1, "ppc"},
    {0x01000007, 8, "x86_64h"},
    {0x01000007, -1, "x86_64"},
    {0x0100000c, 2, "arm64e"},
    {0x0100000c, -1, "arm64"},
    {0x01000012, -1, "ppc64"},
    {0x0200000c, -1, "arm64_32"},
};

static const char own_arch[] =
#if defined __x86_64__
    "x86_64";
#elif defined __aarch64__
    "arm64";
#elif defined __i386__
    "i386";
#else
    "";
#endif

/* "cpu 99/1" for one that is not known. */
static void name_arch(
    uint32_t cpu, uint32_t subtype, char name[WNDL_MACHO_ARCH])
{
    subtype &= CPU_MASK;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].cpu != cpu ||
            (names[i].subtype >= 0 && (uint32_t)names[i].subtype != subtype))
            continue;
        snprintf(name, WNDL_MACHO_ARCH, "%s", names[i].name);
        return;
    }
    snprintf(name, WNDL_MACHO_ARCH, "cpu %u/%u", cpu, subtype);
}

bool wndl_macho_read_magic(
    struct wndl_bytes bytes, bool *big_endian, uint8_t *address_size)
{
    for (int big = 0; big < 2; big++) {
        struct wndl_cursor c = wndl_cursor_at(bytes, 0, big != 0);
        uint32_t magic = wndl_cursor_u32(&c);
        *big_endian = big != 0;
        *address_size = magic == WNDL_MACHO_MAGIC_64 ? 8 : 4;
        if (magic == WNDL_MACHO_MAGIC || magic == WNDL_MACHO_MAGIC_64)
            return true;
    }
    return false;
}

struct arches {
    struct wndl_cursor at;
    uint32_t count;
    bool wide;
};

static bool open_arches(struct wndl_bytes bytes, struct arches *a)
{
    a->at = wndl_cursor_at(bytes, 0, true);
    uint32_t magic = wndl_cursor_u32(&a->at);
    a->count = wndl_cursor_u32(&a->at);
    a->wide = magic == FAT_64;
    return (magic == FAT || magic == FAT_64) && a->count != 0 &&
           a->count <= MOST_ARCHES;
}

struct arch {
    uint64_t offset;
    uint64_t size;
    char name[WNDL_MACHO_ARCH];
};

static bool next_arch(struct arches *a, struct arch *arch)
{
    struct wndl_cursor *c = &a->at;
    if (a->count == 0)
        return false;
    a->count--;
    uint32_t cpu = wndl_cursor_u32(c);
    uint32_t subtype = wndl_cursor_u32(c);
    arch->offset = a->wide ? wndl_cursor_u64(c) : wndl_cursor_u32(c);
    arch->size = a->wide ? wndl_cursor_u64(c) : wndl_cursor_u32(c);
    wndl_cursor_skip(c, a->wide ? 8 : 4);
    name_arch(cpu, subtype, arch->name);
    return !c->failed;
}

bool wndl_macho_is_fat(struct wndl_bytes bytes)
{
    struct arches a;
    return open_arches(bytes, &a);
}

bool wndl_macho_is(struct wndl_bytes bytes)
{
    bool big_endian;
    uint8_t address_size;
    return wndl_macho_read_magic(bytes, &big_endian, &address_size) ||
           wndl_macho_is_fat(bytes);
}

bool wndl_macho_arch_at(
    struct wndl_bytes bytes, size_t index, char name[WNDL_MACHO_ARCH])
{
    struct arches a;
    struct arch arch;
    bool big_endian;
    uint8_t address_size;
    if (open_arches(bytes, &a)) {
        for (size_t i = 0; next_arch(&a, &arch); i++) {
            if (i != index)
                continue;
            memcpy(name, arch.name, sizeof arch.name);
            return true;
        }
        return false;
    }
    if (index != 0 || !wndl_macho_read_magic(bytes, &big_endian, &address_size))
        return false;
    struct wndl_cursor c = wndl_cursor_at(bytes, 4, big_endian);
    uint32_t cpu = wndl_cursor_u32(&c);
    name_arch(cpu, wndl_cursor_u32(&c), name);
    return !c.failed;
}

bool wndl_macho_arch_of(
    const struct wndl_object *object, char name[WNDL_MACHO_ARCH])
{
    if (object->macho == NULL)
        return false;
    name_arch(object->macho->cpu, object->macho->subtype, name);
    return true;
}

/* Says which there are. */
static enum wndl_status fail_missing(
    struct wndl_bytes bytes, const char *arch, struct wndl_error *err)
{
    struct arches a;
    struct arch one;
    char list[160] = "";
    size_t size = 0;
    if (open_arches(bytes, &a))
        while (next_arch(&a, &one) && size + sizeof one.name < sizeof list)
            size += (size_t)snprintf(list + size, sizeof list - size, "%s%s",
                size == 0 ? "" : ", ", one.name);
    if (arch == NULL)
        return wndl_fail(err, WNDL_NOT_FOUND,
            "holds several architectures; choose one with --arch: %s", list);
    return wndl_fail(err, WNDL_NOT_FOUND,
        "has nothing for the architecture %s, but for %s", arch, list);
}

static enum wndl_status slice(struct wndl_bytes bytes, const struct arch *arch,
    struct wndl_bytes *part, struct wndl_error *err)
{
    *part = wndl_bytes_slice(bytes, arch->offset, arch->size);
    if (part->size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED, arch->name, arch->offset,
            "the architecture's part reaches past the end of the file");
    return WNDL_OK;
}

enum wndl_status wndl_macho_choose(struct wndl_bytes bytes, const char *arch,
    struct wndl_bytes *part, struct wndl_error *err)
{
    struct arches a;
    struct arch one;
    *part = bytes;
    if (!open_arches(bytes, &a))
        return WNDL_OK;
    const char *wanted = arch == NULL ? own_arch : arch;
    bool only = a.count == 1 && arch == NULL;
    while (next_arch(&a, &one))
        if (only || strcmp(one.name, wanted) == 0)
            return slice(bytes, &one, part, err);
    if (a.at.failed)
        return wndl_fail_at(err, WNDL_TRUNCATED, "fat header",
            wndl_cursor_offset(&a.at),
            "the list of architectures is cut short");
    return fail_missing(bytes, arch, err);
}
