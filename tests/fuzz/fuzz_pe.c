/* SPDX-License-Identifier: MIT */
/* Any bytes as a PE image: sections, symbols, exports, the PDB it names. */
#include "obj/find/debug_id.h"
#include "obj/pe/pe.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_sections(struct wndl_object *object)
{
    volatile uint8_t seen = 0;
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        struct wndl_section section = wndl_object_section(object, i);
        struct wndl_bytes bytes;
        if (section.name.data[section.name.size] != '\0')
            abort();
        if (wndl_object_section_bytes(object, (const char *)section.name.data,
                &bytes, NULL, NULL) == WNDL_OK)
            for (size_t k = 0; k < bytes.size; k += 512)
                seen = bytes.data[k];
    }
    (void)seen;
}

static void find_symbols(struct wndl_object *object)
{
    const struct wndl_symbol *symbols;
    struct wndl_symbol found;
    size_t count;
    if (wndl_object_functions(object, &symbols, &count, NULL) != WNDL_OK)
        return;
    for (size_t i = 0; i < count && i < 64; i++) {
        if (symbols[i].name.data[symbols[i].name.size] != '\0')
            abort();
        (void)!wndl_object_find_function(object, symbols[i].addr, &found, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_object *object;
    struct wndl_debug_id id;
    struct wndl_pe_pdb pdb;
    struct wndl_symbol stub;
    struct wndl_bytes file = {data, size};
    if (!wndl_pe_is(file) || wndl_object_open(file, "a.exe", wndl_mem_libc(),
                                 &object, NULL) != WNDL_OK)
        return 0;
    read_sections(object);
    find_symbols(object);
    (void)!wndl_object_find_plt(
        object, wndl_object_image_base(object), &stub, NULL);
    (void)wndl_object_debug_id(object, &id);
    (void)!wndl_pe_find_pdb(object, &pdb);
    wndl_object_close(object);
    return 0;
}
