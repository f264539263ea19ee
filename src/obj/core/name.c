/* SPDX-License-Identifier: MIT */
/* name: names in string tables, none of which is too long. */
#include "obj/core/object_impl.h"

#include <string.h>

enum { LONGEST = 64 * 1024 };

struct wndl_bytes wndl_object_name_at(
    struct wndl_bytes strings, uint64_t offset)
{
    uint64_t left = offset < strings.size ? strings.size - offset : 0;
    struct wndl_bytes near =
        wndl_bytes_slice(strings, offset, left < LONGEST ? left : LONGEST);
    struct wndl_bytes name = wndl_bytes_cstr(near, 0);
    if (name.data == NULL && near.size == LONGEST)
        return (struct wndl_bytes){(const uint8_t *)"", 0};
    return name;
}

struct wndl_bytes wndl_object_ended_name(const uint8_t *name)
{
    size_t size = strnlen((const char *)name, LONGEST);
    if (size == LONGEST)
        return (struct wndl_bytes){(const uint8_t *)"", 0};
    return (struct wndl_bytes){name, size};
}
