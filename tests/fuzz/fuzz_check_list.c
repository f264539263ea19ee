/* SPDX-License-Identifier: MIT */
/* Any bytes as a baseline. */
#include "in/check_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_arena arena;
    struct wndl_vec known;
    struct wndl_error err = {0};
    uint64_t sum = 0;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&known, &arena, sizeof(struct wndl_known_finding));
    if (wndl_check_list_read(&known, (struct wndl_bytes){data, size}, &err) ==
        WNDL_OK) {
        for (size_t i = 0; i < known.len; i++) {
            const struct wndl_known_finding *k = wndl_vec_at(&known, i);
            for (size_t b = 0; b < k->place.size; b++)
                sum += k->place.data[b];
        }
    }
    wndl_arena_free(&arena);
    return sum == UINT64_MAX;
}
