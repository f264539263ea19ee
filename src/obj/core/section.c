/* SPDX-License-Identifier: MIT */
/* section: the section that a name means, and its bytes in the file. */
#include "base/text.h"
#include "obj/core/object_impl.h"

#include <elf.h>

size_t wndl_object_section_count(const struct wndl_object *object)
{
    return object->section_count;
}

struct wndl_section wndl_object_section(
    const struct wndl_object *object, size_t index)
{
    return object->sections[index].view;
}

enum wndl_status wndl_object_stored_bytes(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_bytes *bytes,
    struct wndl_error *err)
{
    *bytes = (struct wndl_bytes){0};
    if (section->view.type == SHT_NOBITS || section->view.type == SHT_NULL)
        return wndl_fail_at(err, WNDL_NOT_FOUND,
            (const char *)section->view.name.data, 0,
            "the section has no bytes in this file");
    if (section->stored_size == 0)
        return WNDL_OK;
    *bytes = wndl_bytes_slice(
        object->file, section->view.offset, section->stored_size);
    if (bytes->size == 0)
        return wndl_fail_at(err, WNDL_TRUNCATED,
            (const char *)section->view.name.data, 0,
            "the section reaches past the end of the file");
    return WNDL_OK;
}

/* ".zdebug_info" answers to ".debug_info". */
static bool section_is(
    const struct wndl_object_section *section, const char *name)
{
    struct wndl_bytes own = section->view.name;
    if (section->packing != WNDL_PACKING_ZDEBUG)
        return wndl_bytes_is(own, name);
    return name[0] == '.' &&
           wndl_bytes_is(wndl_bytes_slice(own, 2, own.size - 2), name + 1);
}

/*
 * In .o files type units have sections of their own, in groups (SHF_GROUP): the
 * one without a group is used. In .dwo files they come without groups before
 * the right one. A section that was added goes before the binary's.
 */
struct wndl_object_section *wndl_object_find_section(
    const struct wndl_object *object, const char *name)
{
    struct wndl_object_section *found = NULL;
    bool last_wins = wndl_text_ends_with(name, ".dwo");
    for (size_t i = object->section_count;
         i-- > 0 && object->sections[i].added;)
        if (section_is(&object->sections[i], name))
            return &object->sections[i];
    for (size_t i = 0; i < object->section_count; i++) {
        struct wndl_object_section *section = &object->sections[i];
        if (!section_is(section, name))
            continue;
        bool in_group = (section->view.flags & SHF_GROUP) != 0;
        if (found == NULL || (last_wins && !in_group))
            found = section;
        if (!last_wins && !in_group)
            return section;
    }
    for (size_t i = 0; i < object->loaded_count && found == NULL; i++)
        if (section_is(&object->loaded[i], name))
            found = &object->loaded[i];
    return found;
}

bool wndl_object_has_section(const struct wndl_object *object, const char *name)
{
    const struct wndl_object_section *section =
        wndl_object_find_section(object, name);
    return section != NULL && section->view.type != SHT_NOBITS &&
           section->view.type != SHT_NULL;
}

bool wndl_object_has_added(const struct wndl_object *object, const char *name)
{
    const struct wndl_object_section *section =
        wndl_object_find_section(object, name);
    return section != NULL && section->added;
}

bool wndl_object_needs_relocation(
    const struct wndl_object *object, const struct wndl_object_section *section)
{
    const struct wndl_object_format *format = object->format;
    return format != NULL && format->needs_relocation != NULL &&
           format->needs_relocation(object, section);
}

void wndl_object_disown(
    struct wndl_object *object, struct wndl_object_section *section)
{
    wndl_mem_free(object->mem, section->own);
    section->own = NULL;
}
