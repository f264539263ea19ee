/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_code.h"

#include "obj/core/object.h"
#include "os/file.h"
#include "symbolize/symbolizer.h"

/* The difference of avma and rva; false if the file has no such code. */
static bool find_bias(
    const struct wndl_vm_code *code, struct wndl_mem *mem, uint64_t *bias)
{
    struct wndl_file file;
    struct wndl_object *object;
    bool found = false;
    if (wndl_file_open(code->path, &file, NULL) != WNDL_OK)
        return false;
    if (wndl_object_open(file.bytes, code->path, mem, &object, NULL) ==
        WNDL_OK) {
        for (size_t i = 0; i < wndl_object_segment_count(object); i++) {
            struct wndl_segment s = wndl_object_segment(object, i);
            if (found || code->offset < (s.file_offset & ~UINT64_C(4095)) ||
                code->offset >= s.file_offset + s.file_size || !s.executable)
                continue;
            found = true;
            *bias = s.addr.v - s.file_offset + code->offset - code->start -
                    wndl_object_image_base(object).v;
        }
        wndl_object_close(object);
    }
    wndl_file_close(&file);
    return found;
}

struct wndl_symbolizer *wndl_vm_code_open(const struct wndl_vm_code *code,
    const struct wndl_symbol_sources *sources, struct wndl_mem *mem,
    uint64_t *bias)
{
    const struct wndl_symbolizer_options options = {
        .size = sizeof options,
        .debug_dirs = sources->debug_dirs,
        .debuginfod = sources->debuginfod,
        .cache = sources->cache,
    };
    struct wndl_symbolizer *symbols = NULL;
    if (!find_bias(code, mem, bias))
        return NULL;
    if (wndl_symbolizer_open_with(mem, code->path, &options, &symbols, NULL) !=
        WNDL_OK)
        return NULL;
    return symbols;
}
