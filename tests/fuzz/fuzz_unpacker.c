/* SPDX-License-Identifier: MIT */
/* Any bytes as packed text; the first says in which pieces it comes. */
#include "in/core/unpacker.h"

#include <stdlib.h>

enum { MOST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* False at damage, or after MOST bytes. */
static bool unpack_piece(
    struct wndl_unpacker *u, struct wndl_bytes piece, size_t *sum)
{
    uint8_t room[1024];
    struct wndl_error err = {0};
    struct wndl_unpacked to = {room, sizeof room, 1};
    while (to.size != 0 && *sum < MOST) {
        if (wndl_unpacker_some(u, &piece, &to, &err) != WNDL_OK)
            return false;
        if (to.size > sizeof room)
            abort();
        *sum += to.size;
    }
    return *sum < MOST;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_unpacker u;
    bool more;
    if (size == 0)
        return 0;
    size_t step = 1 + (size_t)data[0];
    struct wndl_bytes left = {data + 1, size - 1};
    enum wndl_packing packing = wndl_packing_of(left, &more);
    if (packing == WNDL_PACKED_NOT)
        return 0;
    size_t sum = 0;
    bool goes_on = wndl_unpacker_open(&u, packing, wndl_mem_libc()) == WNDL_OK;
    while (goes_on && left.size != 0) {
        struct wndl_bytes piece = {
            left.data, left.size < step ? left.size : step};
        left.data += piece.size;
        left.size -= piece.size;
        goes_on = unpack_piece(&u, piece, &sum);
    }
    struct wndl_error err = {0};
    if (goes_on && wndl_unpacker_end(&u, &err) != WNDL_OK &&
        err.what[0] == '\0')
        abort();
    wndl_unpacker_close(&u);
    return 0;
}
