/* SPDX-License-Identifier: MIT */
/*
 * eh_frame: .eh_frame_hdr and .eh_frame of a file without section headers, as
 * unwinders find them: by PT_GNU_EH_FRAME and the pointer in its header (LSB
 * 5.0 Core, 10.6.2). Only the form of that pointer that all linkers write is
 * read: 4 bytes with sign, relative to its place.
 */
#include "obj/elf/impl.h"

#include <elf.h>

enum {
    POINTER_AT = 4, /* bytes in the header before the pointer */
    VERSION = 1,
    PCREL_SDATA4 = 0x1b,
};

/* The bytes of the whole records at `from`, up to the zero that ends them. */
static uint64_t size_of_records(struct wndl_bytes from, bool big_endian)
{
    struct wndl_cursor c = wndl_cursor_at(from, 0, big_endian);
    uint64_t whole = 0;
    while (!c.failed && wndl_cursor_left(&c) != 0) {
        uint64_t length = wndl_cursor_u32(&c);
        const bool is_end = length == 0;
        if (length == UINT32_MAX)
            length = wndl_cursor_u64(&c);
        wndl_cursor_skip(&c, length);
        whole = c.failed ? whole : wndl_cursor_offset(&c);
        if (is_end)
            break;
    }
    return whole;
}

static void set_section(struct wndl_object_section *section, const char *name,
    uint64_t addr, struct wndl_bytes bytes, struct wndl_bytes file)
{
    *section = (struct wndl_object_section){.stored_size = bytes.size};
    section->view = (struct wndl_section){
        .name = {(const uint8_t *)name, __builtin_strlen(name)},
        .addr = {addr},
        .size = bytes.size,
        .offset = (uint64_t)(bytes.data - file.data),
        .type = SHT_PROGBITS,
        .flags = SHF_ALLOC,
    };
}

enum wndl_status wndl_elf_find_eh_frame(struct wndl_object *object,
    const struct wndl_segment *header, struct wndl_error *err)
{
    const struct wndl_bytes bytes = wndl_bytes_slice(
        wndl_object_loaded_bytes(object, header->addr), 0, header->file_size);
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, object->big_endian);
    const bool is_usual =
        wndl_cursor_u8(&c) == VERSION && wndl_cursor_u8(&c) == PCREL_SDATA4;
    wndl_cursor_skip(&c, POINTER_AT - 2);
    const int32_t distance = (int32_t)wndl_cursor_u32(&c);
    if (c.failed || !is_usual)
        return WNDL_OK;
    uint64_t addr = header->addr.v + POINTER_AT + (uint64_t)(int64_t)distance;
    if (object->address_size == 4)
        addr = (uint32_t)addr;
    struct wndl_bytes frame =
        wndl_object_loaded_bytes(object, (wndl_svma){addr});
    frame.size = (size_t)size_of_records(frame, object->big_endian);
    if (frame.size == 0)
        return WNDL_OK;
    struct wndl_object_section *loaded =
        wndl_arena_calloc(&object->arena, 2, sizeof *loaded);
    if (loaded == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for the sections");
    set_section(
        &loaded[0], ".eh_frame_hdr", header->addr.v, bytes, object->file);
    set_section(&loaded[1], ".eh_frame", addr, frame, object->file);
    object->loaded = loaded;
    object->loaded_count = 2;
    return WNDL_OK;
}
