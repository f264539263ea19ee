/* SPDX-License-Identifier: MIT */
#include "collect/code/call_file.h"

#include "cfi/cfi.h"
#include "collect/code/binaries.h"
#include "obj/core/object.h"
#include "os/file.h"

#include <elf.h>
#include <string.h>

struct wndl_call_file {
    struct wndl_call_file *before; /* the one opened before it */
    struct wndl_file file;         /* empty: the bytes are borrowed */
    struct wndl_object *object;    /* NULL: it cannot be used */
    struct wndl_bytes bytes;
    struct wndl_cfi_section frame, header;
    bool is_64;
};

/* ---- opening */

static struct wndl_cfi_section section_of(
    const struct wndl_call_file *file, const struct wndl_binary_section *from)
{
    return (struct wndl_cfi_section){.bytes = from->bytes,
        .addr = from->svma,
        .data_base = from->svma,
        .address_size = file->is_64 ? 8 : 4};
}

static bool open_bytes(
    struct wndl_call_file *file, const struct wndl_binary *binary)
{
    if (binary->contents.size != 0) {
        file->bytes = binary->contents;
        return true;
    }
    if (!wndl_binary_open_again(binary, &file->file))
        return false;
    file->bytes = file->file.bytes;
    return true;
}

/* False if the bytes cannot be read. */
static bool open_file(
    struct wndl_call_file *file, const struct wndl_binary *binary)
{
    if (binary->machine != EM_X86_64 && binary->machine != EM_386)
        return true;
    if (!open_bytes(file, binary))
        return false;
    if (wndl_object_open(file->bytes, binary->path, wndl_mem_libc(),
            &file->object, NULL) != WNDL_OK) {
        file->object = NULL;
        return true;
    }
    file->is_64 = wndl_object_address_size(file->object) == 8;
    file->frame = section_of(file, &binary->eh_frame);
    file->header = section_of(file, &binary->eh_frame_hdr);
    return true;
}

struct wndl_call_file *wndl_call_file_of(
    struct wndl_binaries *binaries, struct wndl_binary *binary)
{
    struct wndl_call_file *file = binary->call_file;
    if (file == NULL) {
        file = wndl_mem_zalloc(wndl_mem_libc(), sizeof *file);
        if (file == NULL)
            return NULL;
        if (!open_file(file, binary)) {
            wndl_mem_free(wndl_mem_libc(), file);
            return NULL;
        }
        file->before = binaries->call_files;
        binaries->call_files = binary->call_file = file;
    }
    return file->object == NULL ? NULL : file;
}

void wndl_call_files_close(struct wndl_call_file *file)
{
    while (file != NULL) {
        struct wndl_call_file *before = file->before;
        if (file->object != NULL)
            wndl_object_close(file->object);
        wndl_file_close(&file->file);
        wndl_mem_free(wndl_mem_libc(), file);
        file = before;
    }
}

/* ---- code */

bool wndl_call_file_is_64(const struct wndl_call_file *file)
{
    return file->is_64;
}

uint64_t wndl_call_file_address(
    const struct wndl_call_file *file, uint64_t address)
{
    return file->is_64 ? address : (uint32_t)address;
}

struct wndl_bytes wndl_call_file_code(
    const struct wndl_call_file *file, uint64_t svma, size_t most)
{
    for (size_t i = 0; i < wndl_object_segment_count(file->object); i++) {
        const struct wndl_segment s = wndl_object_segment(file->object, i);
        const uint64_t in = svma - s.addr.v;
        if (!s.executable || svma < s.addr.v || in >= s.file_size)
            continue;
        const uint64_t left = s.file_size - in;
        return wndl_bytes_slice(
            file->bytes, s.file_offset + in, left < most ? left : most);
    }
    return (struct wndl_bytes){0};
}

/* ---- functions */

static bool find_fde(const struct wndl_call_file *file, uint64_t svma,
    struct wndl_call_extent *extent)
{
    struct wndl_fde fde;
    uint64_t offset;
    if (file->header.bytes.size == 0 ||
        wndl_eh_frame_hdr_find(&file->header, &file->frame, svma, &offset) !=
            WNDL_OK ||
        wndl_fde_parse(&file->frame, offset, &fde, NULL, NULL) != WNDL_OK ||
        svma < fde.start || svma >= fde.end)
        return false;
    *extent = (struct wndl_call_extent){fde.start, fde.end};
    return true;
}

static bool find_symbol(
    struct wndl_call_file *file, uint64_t svma, struct wndl_call_extent *extent)
{
    struct wndl_symbol symbol;
    if (wndl_object_find_function(
            file->object, (wndl_svma){svma}, &symbol, NULL) != WNDL_OK ||
        svma < symbol.addr.v || svma - symbol.addr.v >= symbol.size)
        return false;
    *extent =
        (struct wndl_call_extent){symbol.addr.v, symbol.addr.v + symbol.size};
    return true;
}

bool wndl_call_file_extent(
    struct wndl_call_file *file, uint64_t svma, struct wndl_call_extent *extent)
{
    struct wndl_call_extent by_fde;
    const bool has_symbol = find_symbol(file, svma, extent);
    if (!find_fde(file, svma, &by_fde))
        return has_symbol;
    if (!has_symbol || by_fde.end - by_fde.start < extent->end - extent->start)
        *extent = by_fde;
    return true;
}

bool wndl_call_file_stub(
    struct wndl_call_file *file, uint64_t svma, struct wndl_bytes *name)
{
    struct wndl_symbol stub;
    if (wndl_object_find_plt(file->object, (wndl_svma){svma}, &stub, NULL) !=
        WNDL_OK)
        return false;
    *name = stub.name;
    return true;
}

bool wndl_call_file_slot(
    struct wndl_call_file *file, uint64_t svma, struct wndl_bytes *name)
{
    return wndl_object_find_slot(file->object, (wndl_svma){svma}, name, NULL) ==
           WNDL_OK;
}

/* Names in .symtab may have a version after them. */
static bool is_named(struct wndl_bytes symbol, struct wndl_bytes name)
{
    return symbol.size >= name.size &&
           memcmp(symbol.data, name.data, name.size) == 0 &&
           (symbol.size == name.size || symbol.data[name.size] == '@');
}

bool wndl_call_file_named(struct wndl_call_file *file, struct wndl_bytes name,
    size_t *at, uint64_t *svma)
{
    const struct wndl_symbol *all;
    size_t count;
    if (name.size == 0 ||
        wndl_object_functions(file->object, &all, &count, NULL) != WNDL_OK)
        return false;
    while (*at < count) {
        const struct wndl_symbol *symbol = &all[(*at)++];
        if (!is_named(symbol->name, name))
            continue;
        *svma = symbol->addr.v;
        return true;
    }
    return false;
}
