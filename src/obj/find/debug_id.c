/* SPDX-License-Identifier: MIT */
#include "obj/find/debug_id.h"

#include "obj/macho/macho.h"
#include "obj/pe/pe.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 4096 };

static void swap(uint8_t *a, uint8_t *b)
{
    uint8_t kept = *a;
    *a = *b;
    *b = kept;
}

/* The first three fields of a GUID are numbers, stored little-endian. */
static void to_guid(uint8_t bytes[WNDL_GUID_SIZE])
{
    swap(&bytes[0], &bytes[3]);
    swap(&bytes[1], &bytes[2]);
    swap(&bytes[4], &bytes[5]);
    swap(&bytes[6], &bytes[7]);
}

struct wndl_debug_id wndl_debug_id_of_build_id(
    struct wndl_bytes build_id, bool big_endian)
{
    struct wndl_debug_id id = {.age = 0};
    size_t size =
        build_id.size < WNDL_GUID_SIZE ? build_id.size : WNDL_GUID_SIZE;
    if (size != 0)
        memcpy(id.guid, build_id.data, size);
    if (!big_endian)
        to_guid(id.guid);
    return id;
}

bool wndl_object_debug_id(struct wndl_object *object, struct wndl_debug_id *id)
{
    struct wndl_bytes text;
    uint8_t sum[WNDL_GUID_SIZE] = {0};
    struct wndl_bytes build_id = wndl_object_build_id(object);
    char arch[WNDL_MACHO_ARCH];
    bool is_uuid = wndl_macho_arch_of(object, arch);
    bool big_endian = is_uuid || wndl_object_is_big_endian(object);
    if (build_id.size == 0 && is_uuid)
        return false;
    if (build_id.size == 0) {
        if (wndl_object_section_bytes(object, ".text", &text, NULL, NULL) !=
                WNDL_OK ||
            text.size == 0)
            return false;
        for (size_t i = 0; i < text.size && i < PAGE; i++)
            sum[i % WNDL_GUID_SIZE] ^= text.data[i];
        build_id = (struct wndl_bytes){sum, sizeof sum};
    }
    *id = wndl_debug_id_of_build_id(build_id, big_endian);
    struct wndl_pe_pdb pdb;
    if (wndl_pe_find_pdb(object, &pdb) == WNDL_OK)
        id->age = pdb.age;
    return true;
}

char *wndl_debug_id_text(
    const struct wndl_debug_id *id, char text[WNDL_DEBUG_ID_TEXT])
{
    for (size_t i = 0; i < WNDL_GUID_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02X", id->guid[i]);
    snprintf(text + 2 * WNDL_GUID_SIZE, 9, "%X", id->age);
    return text;
}
