/* SPDX-License-Identifier: MIT */
/* fuzz_macho: everything that is read of Mach-O, on any bytes. */
#include "base/map.h"
#include "obj/macho/macho.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_sections(struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        struct wndl_bytes bytes;
        struct wndl_section section = wndl_object_section(object, i);
        if (wndl_object_section_bytes(object, (const char *)section.name.data,
                &bytes, NULL, NULL) == WNDL_OK &&
            bytes.size != 0)
            (void)*(volatile const uint8_t *)&bytes.data[bytes.size - 1];
    }
    for (size_t i = 0; i < wndl_object_segment_count(object); i++)
        (void)wndl_object_segment(object, i);
}

/* What a lookup gives must cover the address. */
static void use_functions(struct wndl_object *object)
{
    const struct wndl_symbol *functions;
    size_t count;
    if (wndl_object_functions(object, &functions, &count, NULL) != WNDL_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        struct wndl_symbol symbol;
        wndl_svma addr = functions[i].addr;
        if (i > 0 && functions[i - 1].addr.v > addr.v)
            abort();
        if (wndl_object_find_function(object, addr, &symbol, NULL) == WNDL_OK &&
            addr.v - symbol.addr.v >= symbol.size)
            abort();
    }
}

static void use_map(const struct wndl_object *object)
{
    struct wndl_arena arena;
    struct wndl_macho_map map;
    struct wndl_map names;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_map_init(&names, &arena);
    if (wndl_macho_read_map(object, &arena, &map, NULL) == WNDL_OK)
        for (size_t i = 0; i < map.linked_count; i++) {
            const struct wndl_macho_linked *linked = &map.linked[i];
            if (linked->source >= map.source_count ||
                linked->name.data[linked->name.size] != 0 ||
                (i > 0 && linked[-1].start > linked->start))
                abort();
        }
    (void)!wndl_macho_read_names(object, &names, NULL);
    wndl_arena_free(&arena);
}

static void use(struct wndl_bytes bytes, const char *arch)
{
    struct wndl_object *object;
    struct wndl_error err = {0};
    const struct wndl_object_source source = {bytes, "fuzz", arch};
    char name[WNDL_MACHO_ARCH];
    enum wndl_status status =
        wndl_object_open_source(&source, wndl_mem_libc(), &object, &err);
    if (status != WNDL_OK && (err.what[0] == '\0' || err.file[0] == '\0'))
        abort();
    if (status != WNDL_OK)
        return;
    if (!wndl_macho_arch_of(object, name))
        abort();
    use_sections(object);
    use_functions(object);
    use_map(object);
    wndl_object_close(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes bytes = {data, size};
    char arch[WNDL_MACHO_ARCH];
    if (!wndl_macho_is(bytes))
        return 0;
    use(bytes, NULL);
    for (size_t i = 0; wndl_macho_arch_at(bytes, i, arch); i++)
        use(bytes, arch);
    return 0;
}
