/* SPDX-License-Identifier: MIT */
#include "analyze/vm/vm_code.h"

#include "obj/core/object.h"
#include "os/file.h"
#include "symbolize/symbolizer.h"

static bool find_segment(const struct wndl_object *object, uint64_t offset,
    struct wndl_segment *segment)
{
    for (size_t i = 0; i < wndl_object_segment_count(object); i++) {
        *segment = wndl_object_segment(object, i);
        if (segment->executable &&
            offset >= (segment->file_offset & ~UINT64_C(4095)) &&
            offset < segment->file_offset + segment->file_size)
            return true;
    }
    return false;
}

bool wndl_vm_code_place(const struct wndl_vm_code *code, struct wndl_mem *mem,
    struct wndl_vm_code_place *place)
{
    struct wndl_file file;
    struct wndl_object *object;
    bool found = false;
    if (wndl_file_open(code->path, &file, NULL) != WNDL_OK)
        return false;
    if (wndl_object_open(file.bytes, code->path, mem, &object, NULL) ==
        WNDL_OK) {
        struct wndl_segment s;
        found = find_segment(object, code->offset, &s);
        if (found) {
            place->to_svma =
                s.addr.v - s.file_offset + code->offset - code->start;
            place->to_rva = place->to_svma - wndl_object_image_base(object).v;
        }
        wndl_object_close(object);
    }
    wndl_file_close(&file);
    return found;
}

struct wndl_symbolizer *wndl_vm_code_open(const struct wndl_vm_code *code,
    const struct wndl_symbol_sources *sources, struct wndl_mem *mem)
{
    const struct wndl_symbolizer_options options = {
        .size = sizeof options,
        .debug_dirs = sources->debug_dirs,
        .debuginfod = sources->debuginfod,
        .cache = sources->cache,
    };
    struct wndl_symbolizer *symbols = NULL;
    if (wndl_symbolizer_open_with(mem, code->path, &options, &symbols, NULL) !=
        WNDL_OK)
        return NULL;
    return symbols;
}
