/* SPDX-License-Identifier: MIT */
/* Any bytes as results of the memory value profiler. */
#include "in/mvp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_mvp mvp;
    struct wndl_error err = {0};
    wndl_mvp_init(&mvp, wndl_mem_libc());
    if (wndl_mvp_read(&mvp, (struct wndl_bytes){data, size}, &err) == WNDL_OK)
        for (size_t i = 0; i < mvp.sites.len; i++) {
            const struct wndl_mvp_site *site = wndl_vec_at(&mvp.sites, i);
            if (wndl_mvp_constant_bits(site) > 8 * site->size)
                __builtin_trap();
        }
    wndl_mvp_free(&mvp);
    return 0;
}
