/* SPDX-License-Identifier: MIT */
/* Checks which malloc a program has, and whether `windlass heap` records it. */
#include "cli/doctor/doctor.h"

#include "obj/core/object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char *const known[] = {
    "libjemalloc", "libtcmalloc", "libmimalloc", "libhoard", "libtbbmalloc"};

static const char *const sanitizers[] = {"libasan.", "libhwasan.", "liblsan.",
    "libtsan.", "libclang_rt.asan", "libclang_rt.hwasan", "libclang_rt.tsan"};

static const char *const sanitizer_starts[] = {"__asan_init", "__hwasan_init",
    "__lsan_init", "__memprof_init", "__msan_init", "__tsan_init"};

enum {
    KNOWN = sizeof known / sizeof known[0],
    SANITIZERS = sizeof sanitizers / sizeof sanitizers[0],
    STARTS = sizeof sanitizer_starts / sizeof sanitizer_starts[0],
};

/* The first of the list that `text` names, or NULL. */
static const char *one_in(
    const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(text, list[i]) != NULL)
            return list[i];
    }
    return NULL;
}

static bool has_function(
    struct wndl_doctor *d, struct wndl_object *object, const char *name)
{
    const struct wndl_symbol *symbols;
    size_t count;
    struct wndl_error err = {0};
    if (wndl_object_functions(object, &symbols, &count, &err) != WNDL_OK) {
        wndl_doctor_note(d, &err);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (wndl_bytes_is(symbols[i].name, name))
            return true;
    }
    return false;
}

/* A library of the list, where the file has a name at `offset`. */
static const char *one_at(struct wndl_bytes strings, uint64_t offset,
    const char *const *list, size_t count)
{
    char name[64] = "";
    struct wndl_bytes rest =
        offset < strings.size
            ? wndl_bytes_slice(strings, offset, strings.size - offset)
            : (struct wndl_bytes){0};
    for (size_t i = 0; i + 1 < sizeof name && i < rest.size; i++)
        name[i] = (char)rest.data[i];
    return one_in(name, list, count);
}

/*
 * The first name in `list` of a library that it is linked with (ELF, "Dynamic
 * Section").
 */
static const char *one_needed(
    struct wndl_object *object, const char *const *list, size_t count)
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
        found = tag == DT_NEEDED ? one_at(strings, value, list, count) : NULL;
    }
    return found;
}

static bool has_sanitizer(struct wndl_doctor *d, struct wndl_object *object)
{
    for (size_t i = 0; i < STARTS; i++) {
        if (has_function(d, object, sanitizer_starts[i]))
            return true;
    }
    return one_needed(object, sanitizers, SANITIZERS) != NULL;
}

void wndl_doctor_heap(struct wndl_doctor *d, struct wndl_object *object)
{
    const char *preload = getenv("LD_PRELOAD");
    const char *other = preload == NULL ? NULL : one_in(preload, known, KNOWN);
    if (has_sanitizer(d, object)) {
        struct wndl_doctor_finding *f =
            wndl_doctor_find(d, "heap", WNDL_DOCTOR_NO,
                "not recorded: it has the runtime of a sanitizer, whose malloc "
                "cannot be recorded");
        wndl_doctor_advise(f, "record a build without -fsanitize");
        return;
    }
    if (has_function(d, object, "malloc")) {
        struct wndl_doctor_finding *f =
            wndl_doctor_find(d, "heap", WNDL_DOCTOR_LIMITED,
                "it has a malloc of its own: allocations of its libraries are "
                "recorded, its own are not");
        wndl_doctor_advise(f,
            "let it report its blocks with windlass/heap.h, or record a "
            "build that uses the C library's malloc");
        return;
    }
    if (other == NULL)
        other = one_needed(object, known, KNOWN);
    if (other == NULL)
        wndl_doctor_find(d, "heap", WNDL_DOCTOR_OK,
            "allocated by the C library, unless a library has a malloc too");
    else
        wndl_doctor_find(d, "heap", WNDL_DOCTOR_OK,
            "allocated by %s, which is recorded too", other);
}
