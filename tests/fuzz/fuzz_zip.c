/* SPDX-License-Identifier: MIT */
/* fuzz_zip: finding members in any bytes. */
#include "obj/packed/zip.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(struct wndl_bytes archive, const char *text, size_t size)
{
    struct wndl_bytes name = {(const uint8_t *)text, size};
    struct wndl_bytes member;
    struct wndl_error err = {0};
    enum wndl_status status = wndl_zip_find(archive, name, &member, &err);
    if (status != WNDL_OK) {
        if (err.what[0] == '\0' || member.size != 0)
            abort();
        return;
    }
    bool inside = member.size == 0 ||
                  (member.data >= archive.data &&
                      member.data + member.size <= archive.data + archive.size);
    if (!inside)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes archive = {data, size};
    find(archive, "a", 1);
    find(archive, "lib/b", 5);
    return 0;
}
