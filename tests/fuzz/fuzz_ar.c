/* SPDX-License-Identifier: MIT */
/* fuzz_ar: members of archives, on any bytes, and archives in archives. */
#include "obj/packed/ar.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEEPEST = 8 };

static void find(struct wndl_bytes archive, const char *name, unsigned depth);

static void use(struct wndl_bytes archive, const struct wndl_ar_member *m,
    const char *name, unsigned depth)
{
    for (int i = 0; m != NULL && i < 4; i++, m = m->next) {
        struct wndl_bytes member = m->bytes;
        if (member.size != 0 &&
            (member.data < archive.data ||
                member.data + member.size > archive.data + archive.size))
            abort();
        if (depth < DEEPEST)
            find(member, name, depth + 1);
    }
}

static void find(struct wndl_bytes archive, const char *name, unsigned depth)
{
    const struct wndl_bytes wanted = {(const uint8_t *)name, 3};
    const struct wndl_ar *ar;
    struct wndl_arena arena;
    struct wndl_error err = {0};
    wndl_arena_init(&arena, wndl_mem_libc());
    enum wndl_status status = wndl_ar_open(archive, &arena, &ar, &err);
    if (status != WNDL_OK && err.what[0] == '\0')
        abort();
    for (uint64_t time = 0; status == WNDL_OK && time < 2; time++) {
        const struct wndl_ar_member *first;
        if (wndl_ar_find(ar, wanted, time, &first, &err) == WNDL_OK)
            use(archive, first, name, depth);
        else if (err.what[0] == '\0' || first != NULL)
            abort();
    }
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wndl_bytes archive = {data, size};
    find(archive, "a.o", 0);
    find(archive, "b.a", 0);
    return 0;
}
