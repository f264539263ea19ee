/* SPDX-License-Identifier: MIT */
/*
 * notes: the identity of a file (build-id), and the name of its debug file
 * (.gnu_debuglink).
 */
#include "obj/elf/impl.h"

#include <elf.h>

/*
 * A note: three 4-byte words, the name, the descriptor; name and descriptor
 * padded to 4, or to 8 where the section says so (as .note.gnu.property does).
 */
struct wndl_bytes wndl_elf_find_build_id(
    struct wndl_bytes notes, uint64_t alignment, bool big_endian)
{
    uint64_t mask = alignment == 8 ? 7 : 3;
    struct wndl_cursor c = wndl_cursor_at(notes, 0, big_endian);
    while (wndl_cursor_left(&c) != 0) {
        uint32_t name_size = wndl_cursor_u32(&c);
        uint32_t desc_size = wndl_cursor_u32(&c);
        uint32_t type = wndl_cursor_u32(&c);
        const uint8_t *name = wndl_cursor_take(&c, name_size);
        wndl_cursor_skip(&c, -wndl_cursor_offset(&c) & mask);
        const uint8_t *desc = wndl_cursor_take(&c, desc_size);
        if (c.failed)
            break;
        struct wndl_bytes owner = {name, name_size};
        struct wndl_bytes gnu = {(const uint8_t *)"GNU", 4};
        if (type == NT_GNU_BUILD_ID && wndl_bytes_equal(owner, gnu))
            return (struct wndl_bytes){desc, desc_size};
        /* The last descriptor's padding may be missing. */
        uint64_t padding = -wndl_cursor_offset(&c) & mask;
        if (padding > wndl_cursor_left(&c))
            break;
        wndl_cursor_skip(&c, padding);
    }
    return (struct wndl_bytes){0};
}

/* The name, its NUL, padding to 4, and a CRC32 in the file's byte order. */
enum wndl_status wndl_object_debuglink(
    const struct wndl_object *object, struct wndl_bytes *name, uint32_t *crc)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const struct wndl_object_section *section = &object->sections[i];
        struct wndl_bytes link;
        if (!wndl_bytes_is(section->view.name, ".gnu_debuglink"))
            continue;
        if (wndl_object_stored_bytes(object, section, &link, NULL) != WNDL_OK)
            continue;
        struct wndl_cursor c = wndl_cursor_at(link, 0, object->big_endian);
        *name = wndl_cursor_cstr(&c);
        wndl_cursor_skip(&c, -wndl_cursor_offset(&c) & 3);
        *crc = wndl_cursor_u32(&c);
        if (!c.failed && name->size != 0)
            return WNDL_OK;
    }
    *name = (struct wndl_bytes){0};
    *crc = 0;
    return WNDL_NOT_FOUND;
}
