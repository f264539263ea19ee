/* SPDX-License-Identifier: MIT */
/* What `windlass heap` would see of a program: whose malloc it has. */
#include "cli/doctor.h"

#include "obj/object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char *const known[] = {
    "libjemalloc", "libtcmalloc", "libmimalloc", "libhoard", "libtbbmalloc"};

enum { KNOWN = sizeof known / sizeof known[0] };

/* One that `text` names, or NULL. */
static const char *known_in(const char *text)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (strstr(text, known[i]) != NULL)
            return known[i];
    }
    return NULL;
}

static bool has_malloc(struct wndl_object *object)
{
    const struct wndl_symbol *symbols;
    size_t count;
    if (wndl_object_functions(object, &symbols, &count, NULL) != WNDL_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (wndl_bytes_is(symbols[i].name, "malloc"))
            return true;
    }
    return false;
}

/* A library that the file names at `offset` of its strings. */
static const char *known_at(struct wndl_bytes strings, uint64_t offset)
{
    char name[64] = "";
    struct wndl_bytes rest =
        offset < strings.size
            ? wndl_bytes_slice(strings, offset, strings.size - offset)
            : (struct wndl_bytes){0};
    for (size_t i = 0; i + 1 < sizeof name && i < rest.size; i++)
        name[i] = (char)rest.data[i];
    return known_in(name);
}

/* The libraries that it is linked with: ELF, "Dynamic Section". */
static const char *known_needed(struct wndl_object *object)
{
    struct wndl_bytes dynamic;
    struct wndl_bytes strings;
    if (wndl_object_section_bytes(object, ".dynamic", &dynamic, NULL, NULL) !=
            WNDL_OK ||
        wndl_object_section_bytes(object, ".dynstr", &strings, NULL, NULL) !=
            WNDL_OK)
        return NULL;
    bool wide = wndl_object_address_size(object) == sizeof(uint64_t);
    struct wndl_cursor c =
        wndl_cursor_at(dynamic, 0, wndl_object_is_big_endian(object));
    const char *found = NULL;
    while (found == NULL && !c.failed) {
        uint64_t tag = wide ? wndl_cursor_u64(&c) : wndl_cursor_u32(&c);
        uint64_t value = wide ? wndl_cursor_u64(&c) : wndl_cursor_u32(&c);
        if (c.failed || tag == DT_NULL)
            break;
        found = tag == DT_NEEDED ? known_at(strings, value) : NULL;
    }
    return found;
}

void wndl_doctor_heap(struct wndl_doctor *d, struct wndl_object *object)
{
    const char *preload = getenv("LD_PRELOAD");
    const char *other = preload == NULL ? NULL : known_in(preload);
    if (has_malloc(object)) {
        struct wndl_doctor_finding *f =
            wndl_doctor_find(d, "heap", WNDL_DOCTOR_LIMITED,
                "it has a malloc of its own: what its libraries allocate is "
                "recorded, what it allocates itself is not");
        wndl_doctor_advise(f,
            "let it tell of its blocks by windlass/heap.h, or record a build "
            "that uses the C library's malloc");
        return;
    }
    if (other == NULL)
        other = known_needed(object);
    if (other == NULL)
        wndl_doctor_find(d, "heap", WNDL_DOCTOR_OK,
            "allocated by the C library, unless a library has a malloc too");
    else
        wndl_doctor_find(d, "heap", WNDL_DOCTOR_OK,
            "allocated by %s, which is recorded as well", other);
}
