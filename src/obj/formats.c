/* SPDX-License-Identifier: MIT */
/*
 * formats: the list of all formats of binaries. It is above all rooms: each
 * format is read in a room of its own, and core has the common parts.
 */
#include "obj/elf/impl.h"
#include "obj/macho/impl.h"
#include "obj/pe/impl.h"
#include "obj/wasm/impl.h"

static const struct wndl_object_format pe = {
    .is = wndl_pe_is,
    .open = wndl_pe_open,
    .has_symtab = wndl_pe_has_symtab,
    .read_functions = wndl_pe_read_functions,
};

static const struct wndl_object_format macho = {
    .is = wndl_macho_is,
    .open = wndl_macho_open,
    .has_symtab = wndl_macho_has_symtab,
    .read_functions = wndl_macho_read_functions,
};

static const struct wndl_object_format wasm = {
    .is = wndl_wasm_is,
    .open = wndl_wasm_open,
    .has_symtab = wndl_wasm_has_symtab,
    .read_functions = wndl_wasm_read_functions,
};

/* The last one: it also refuses files of no known format. */
static const struct wndl_object_format elf = {
    .open = wndl_elf_open,
    .has_symtab = wndl_elf_has_symtab,
    .read_functions = wndl_elf_read_all_functions,
    .needs_relocation = wndl_elf_needs_relocation,
    .relocate = wndl_elf_relocate,
};

static const struct wndl_object_format *const formats[] = {
    &pe, &macho, &wasm, &elf, NULL};

enum wndl_status wndl_object_open_source(
    const struct wndl_object_source *source, struct wndl_mem *mem,
    struct wndl_object **out, struct wndl_error *err)
{
    return wndl_object_open_any(formats, source, mem, out, err);
}

enum wndl_status wndl_object_open(struct wndl_bytes bytes, const char *path,
    struct wndl_mem *mem, struct wndl_object **out, struct wndl_error *err)
{
    const struct wndl_object_source source = {bytes, path, NULL};
    return wndl_object_open_source(&source, mem, out, err);
}
