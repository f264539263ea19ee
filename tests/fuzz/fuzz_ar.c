/* SPDX-License-Identifier: MIT */
/* fuzz_ar: members of archives, on any bytes, and archives in archives. */
#include "obj/ar.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEEPEST = 8 };

static void find(struct wndl_bytes archive, const char *name, unsigned depth)
{
    for (size_t nth = 0; nth < 4; nth++) {
        struct wndl_bytes member;
        struct wndl_error err = {0};
        const struct wndl_ar_wanted wanted = {
            {(const uint8_t *)name, 3}, nth % 2, nth / 2};
        if (wndl_ar_find(archive, &wanted, &member, &err) != WNDL_OK) {
            if (err.what[0] == '\0' || member.size != 0)
                abort();
            continue;
        }
        if (member.size != 0 &&
            (member.data < archive.data ||
                member.data + member.size > archive.data + archive.size))
            abort();
        if (depth < DEEPEST)
            find(member, name, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wndl_bytes archive = {data, size};
    find(archive, "a.o", 0);
    find(archive, "b.a", 0);
    return 0;
}
