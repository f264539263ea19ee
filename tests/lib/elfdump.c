/* SPDX-License-Identifier: MIT */
/*
 * elfdump: what src/obj makes of a binary, one line per thing, for comparison
 * with readelf. `elfdump sections|segments|functions|identity|plt FILE`, or
 * `elfdump bytes FILE SECTION` for a section's (inflated) contents.
 */
#include "obj/core/object.h"
#include "os/file.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int complain(const struct wndl_error *err)
{
    char text[1024];
    fprintf(stderr, "elfdump: %s\n", wndl_error_text(err, text, sizeof text));
    return 1;
}

/* In an object file readelf's addresses count from their sections. `at` is
 * where the last one was found: they come in the order of the sections. */
static uint64_t unplaced(
    const struct wndl_object *object, uint64_t addr, size_t *at)
{
    size_t count = wndl_object_section_count(object);
    if (!wndl_object_is_relocatable(object))
        return addr;
    for (size_t tried = 0; tried < count; tried++) {
        struct wndl_section s = wndl_object_section(object, *at);
        if ((s.flags & SHF_ALLOC) != 0 && addr >= s.addr.v &&
            addr - s.addr.v < s.size)
            return addr - s.addr.v;
        *at = *at + 1 == count ? 0 : *at + 1;
    }
    return addr;
}

static int dump_sections(struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        struct wndl_section s = wndl_object_section(object, i);
        printf("%zu %s %" PRIx32 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
               "\n",
            i, (const char *)s.name.data, s.type,
            wndl_object_is_relocatable(object) ? 0 : s.addr.v, s.offset, s.size,
            s.flags);
    }
    return 0;
}

static int dump_segments(struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_segment_count(object); i++) {
        struct wndl_segment s = wndl_object_segment(object, i);
        printf("LOAD %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n",
            s.file_offset, s.addr.v, s.file_size, s.mem_size,
            s.executable ? "E" : "-");
    }
    return 0;
}

static int dump_functions(struct wndl_object *object)
{
    const struct wndl_symbol *functions;
    size_t count;
    size_t at = 0;
    struct wndl_error err = {0};
    if (wndl_object_functions(object, &functions, &count, &err) != WNDL_OK)
        return complain(&err);
    for (size_t i = 0; i < count; i++)
        if (functions[i].kind == WNDL_SYMBOL_FUNC)
            printf("%016" PRIx64 " %" PRIu64 " %s\n",
                unplaced(object, functions[i].addr.v, &at), functions[i].size,
                (const char *)functions[i].name.data);
    return 0;
}

static int dump_identity(struct wndl_object *object)
{
    struct wndl_bytes id = wndl_object_build_id(object);
    printf("build-id ");
    for (size_t i = 0; i < id.size; i++)
        printf("%02x", id.data[i]);
    printf("\nclass %u\nmachine %u\norder %s\n",
        wndl_object_address_size(object) * 8,
        (unsigned)wndl_object_machine(object),
        wndl_object_is_big_endian(object) ? "big" : "little");
    struct wndl_bytes link;
    uint32_t crc;
    if (wndl_object_debuglink(object, &link, &crc) == WNDL_OK)
        printf("debuglink %s %08" PRIx32 "\n", (const char *)link.data, crc);
    return 0;
}

static bool holds_stubs(const struct wndl_section *section)
{
    return wndl_bytes_is(section->name, ".plt") ||
           wndl_bytes_is(section->name, ".plt.sec") ||
           wndl_bytes_is(section->name, ".plt.got");
}

/* Each stub with a name, once, found by its last byte. */
static int dump_plt(struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        struct wndl_section s = wndl_object_section(object, i);
        struct wndl_symbol stub, last;
        for (uint64_t at = 0; holds_stubs(&s) && at < s.size; at += stub.size) {
            wndl_svma addr = {s.addr.v + at};
            stub.size = 8;
            if (wndl_object_find_plt(object, addr, &stub, NULL) != WNDL_OK)
                continue;
            addr.v = stub.addr.v + stub.size - 1;
            if (wndl_object_find_plt(object, addr, &last, NULL) != WNDL_OK ||
                last.addr.v != stub.addr.v)
                return 1;
            if (stub.name.size != 0)
                printf("%" PRIx64 " %s %s\n", stub.addr.v,
                    (const char *)stub.name.data, (const char *)s.name.data);
        }
    }
    return 0;
}

static int dump_bytes(struct wndl_object *object, const char *name)
{
    struct wndl_bytes bytes;
    struct wndl_error err = {0};
    if (wndl_object_section_bytes(object, name, &bytes, NULL, &err) != WNDL_OK)
        return complain(&err);
    return fwrite(bytes.data, 1, bytes.size, stdout) == bytes.size ? 0 : 1;
}

static int dump(struct wndl_object *object, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(struct wndl_object *object);
    } dumps[] = {
        {"sections", dump_sections},
        {"segments", dump_segments},
        {"functions", dump_functions},
        {"identity", dump_identity},
        {"plt", dump_plt},
    };
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++)
        if (strcmp(argv[1], dumps[i].name) == 0)
            return dumps[i].run(object);
    if (strcmp(argv[1], "bytes") == 0 && argv[3] != NULL)
        return dump_bytes(object, argv[3]);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_error err = {0};
    if (wndl_file_open(argv[2], &file, &err) != WNDL_OK)
        return complain(&err);
    int rc;
    if (wndl_object_open(file.bytes, argv[2], wndl_mem_libc(), &object, &err) !=
        WNDL_OK) {
        rc = complain(&err);
    } else {
        rc = dump(object, argv);
        wndl_object_close(object);
    }
    wndl_file_close(&file);
    return rc;
}
