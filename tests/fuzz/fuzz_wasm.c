/* SPDX-License-Identifier: MIT */
/* fuzz_wasm: everything that is read of WebAssembly modules, on any bytes. */
#include "obj/wasm/wasm.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_bytes(struct wndl_bytes bytes)
{
    if (bytes.size != 0)
        (void)*(volatile const uint8_t *)&bytes.data[bytes.size - 1];
}

static void use_sections(struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        struct wndl_bytes bytes;
        struct wndl_section section = wndl_object_section(object, i);
        if (wndl_object_section_bytes(object, (const char *)section.name.data,
                &bytes, NULL, NULL) == WNDL_OK)
            use_bytes(bytes);
    }
    use_bytes(wndl_object_build_id(object));
    use_bytes(wndl_wasm_external(object));
}

/* Bodies are one after another, inside the code. */
static void use_functions(struct wndl_object *object)
{
    const struct wndl_symbol *functions;
    size_t count;
    uint64_t end = 0;
    if (wndl_object_functions(object, &functions, &count, NULL) != WNDL_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        if (functions[i].addr.v < end || functions[i].name.size == 0)
            abort();
        end = functions[i].addr.v + functions[i].size;
        if (end > wndl_object_segment(object, 0).mem_size)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes bytes = {data, size};
    struct wndl_object *object;
    struct wndl_error err = {0};
    if (!wndl_wasm_is(bytes))
        return 0;
    enum wndl_status status =
        wndl_object_open(bytes, "fuzz", wndl_mem_libc(), &object, &err);
    if (status != WNDL_OK && (err.what[0] == '\0' || err.file[0] == '\0'))
        abort();
    if (status != WNDL_OK)
        return 0;
    use_sections(object);
    use_functions(object);
    (void)wndl_wasm_same_code(object, object);
    wndl_object_close(object);
    return 0;
}
