/* SPDX-License-Identifier: MIT */
/* fuzz_elf: everything an object answers, on any bytes. */
#include "obj/core/object.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_bytes(struct wndl_object *object, const char *name)
{
    struct wndl_bytes bytes;
    struct wndl_error err = {0};
    if (wndl_object_section_bytes(object, name, &bytes, NULL, &err) ==
            WNDL_OK &&
        bytes.size != 0)
        (void)*(volatile const uint8_t *)&bytes.data[bytes.size - 1];
}

static void use_tables(struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++)
        use_bytes(
            object, (const char *)wndl_object_section(object, i).name.data);
    use_bytes(object, ".debug_line"); /* .zdebug_line in the corpus */
    for (size_t i = 0; i < wndl_object_segment_count(object); i++)
        (void)wndl_object_segment(object, i);
}

/* What a lookup gives must be one of the functions, at or below. */
static void use_functions(struct wndl_object *object)
{
    const struct wndl_symbol *functions;
    size_t count;
    struct wndl_error err = {0};
    if (wndl_object_functions(object, &functions, &count, &err) != WNDL_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        struct wndl_symbol symbol;
        wndl_svma addr = functions[i].addr;
        if (i > 0 && functions[i - 1].addr.v > addr.v)
            abort();
        if (wndl_object_find_function(object, addr, &symbol, NULL) == WNDL_OK &&
            symbol.addr.v > addr.v)
            abort();
    }
}

static void use_variables(const struct wndl_object *object)
{
    static const char *const names[] = {"", "table", "__jit_debug_descriptor"};
    wndl_svma addr;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)!wndl_object_find_variable(object, names[i], &addr, NULL);
}

/* A stub covers the address that it was asked for by. */
static void use_stubs_at(
    struct wndl_object *object, uint64_t start, uint64_t size)
{
    enum { MAX_STUBS = 64, STEP = 8 };
    for (uint64_t at = 0; at < size && at < MAX_STUBS * STEP; at += STEP) {
        struct wndl_symbol stub;
        wndl_svma addr = {start + at};
        if (wndl_object_find_plt(object, addr, &stub, NULL) == WNDL_OK &&
            addr.v - stub.addr.v >= stub.size)
            abort();
    }
}

static void use_stubs(struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        struct wndl_section section = wndl_object_section(object, i);
        use_stubs_at(object, section.addr.v, section.size);
    }
    for (size_t i = 0; i < wndl_object_segment_count(object) && i < 4; i++) {
        struct wndl_segment segment = wndl_object_segment(object, i);
        use_stubs_at(object, segment.addr.v, segment.file_size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes bytes = {data, size};
    struct wndl_object *object;
    struct wndl_error err = {0};
    if (wndl_object_open(bytes, "fuzz", wndl_mem_libc(), &object, &err) !=
        WNDL_OK)
        return 0;
    struct wndl_bytes link;
    uint32_t crc;
    (void)wndl_object_build_id(object);
    (void)wndl_object_image_base(object);
    if (wndl_object_debuglink(object, &link, &crc) == WNDL_OK &&
        link.data[link.size] != 0)
        abort();
    use_tables(object);
    use_functions(object);
    use_variables(object);
    use_stubs(object);
    wndl_object_close(object);
    return 0;
}
