/* SPDX-License-Identifier: MIT */
/*
 * minidebug: the symbols that a stripped binary keeps inside itself, as an
 * xz-compressed ELF file in .gnu_debugdata ("MiniDebugInfo"). It has the
 * functions that are not in .dynsym, so the two are read together.
 */
#include "obj/elf/impl.h"
#include "obj/packed/unpack.h"

#include <elf.h>

static const char SECTION[] = ".gnu_debugdata";

static const char *unpack_error(enum wndl_status status)
{
    switch (status) {
    case WNDL_NOMEM:
        return "no memory to unpack";
    case WNDL_LIMIT:
        return "unpacks to more than is plausible";
    case WNDL_UNSUPPORTED:
        return "compressed by an xz filter that is not known";
    default:
        return "damaged xz data";
    }
}

static enum wndl_status unpack(struct wndl_object *object,
    struct wndl_bytes packed, struct wndl_error *err)
{
    struct wndl_buf out;
    uint64_t at;
    wndl_buf_init(&out, object->mem);
    enum wndl_status status = wndl_unpack_xz(packed, &out, &at);
    object->inner_bytes = out.data;
    if (status != WNDL_OK)
        return wndl_fail_at(err, status, SECTION, at, unpack_error(status));
    struct wndl_bytes bytes = {out.data, out.size};
    struct wndl_error inside = {0};
    const struct wndl_object_source source = {bytes, object->path, NULL};
    status = wndl_object_open_any(
        object->formats, &source, object->mem, &object->inner, &inside);
    if (status != WNDL_OK)
        return wndl_fail_at(err, status, SECTION, 0, inside.what);
    if (object->inner->machine != object->machine ||
        object->inner->address_size != object->address_size)
        return wndl_fail_at(err, WNDL_MALFORMED, SECTION, 0,
            "its symbols are of another machine");
    return WNDL_OK;
}

/* Appends its functions, once. NOT_FOUND without it; on failure nothing is
 * appended. */
static enum wndl_status read_minidebug(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err)
{
    struct wndl_bytes packed;
    enum wndl_status status =
        wndl_object_section_bytes(object, SECTION, &packed, NULL, err);
    if (status == WNDL_OK)
        status = unpack(object, packed, err);
    if (status != WNDL_OK)
        return status;
    size_t before = functions->len;
    struct wndl_error inside = {0};
    status = wndl_elf_read_functions(object->inner, functions, &inside);
    if (status == WNDL_OK)
        return status;
    functions->len = before;
    return wndl_fail_at(err, status, SECTION, 0, inside.what);
}

static bool has_type(const struct wndl_object *object, uint32_t type)
{
    for (size_t i = 0; i < object->section_count; i++)
        if (object->sections[i].view.type == type)
            return true;
    return false;
}

bool wndl_elf_has_symtab(const struct wndl_object *object)
{
    return has_type(object, SHT_SYMTAB) ||
           wndl_object_find_section(object, SECTION) != NULL;
}

static enum wndl_status read_both(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err)
{
    enum wndl_status own = wndl_elf_read_functions(object, functions, err);
    if ((own != WNDL_OK && own != WNDL_NOT_FOUND) ||
        !wndl_elf_lacks_symbols(object))
        return own;
    struct wndl_error damage = {0};
    enum wndl_status added = read_minidebug(object, functions, &damage);
    if (added == WNDL_OK)
        return added;
    if (added == WNDL_NOMEM)
        return wndl_fail(err, added, "no memory for the symbols");
    if (added != WNDL_NOT_FOUND)
        wndl_object_note_damage(object, &damage);
    return own;
}

enum wndl_status wndl_elf_read_all_functions(struct wndl_object *object,
    struct wndl_vec *functions, struct wndl_error *err)
{
    enum wndl_status status = read_both(object, functions, err);
    if (status == WNDL_OK)
        wndl_elf_follow_descriptors(object, functions);
    return status;
}
