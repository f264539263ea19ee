/* SPDX-License-Identifier: MIT */
#include "model/mvp.h"

#include "model/vm.h"

void wndl_mvp_init(struct wndl_mvp *mvp, struct wndl_mem *mem)
{
    *mvp = (struct wndl_mvp){.command = ""};
    wndl_arena_init(&mvp->arena, mem);
    wndl_vec_init(&mvp->code, &mvp->arena, sizeof(struct wndl_vm_code));
    wndl_vec_init(&mvp->sites, &mvp->arena, sizeof(struct wndl_mvp_site));
    wndl_vec_init(&mvp->heaps, &mvp->arena, sizeof(struct wndl_mvp_heap));
    wndl_vec_init(&mvp->uses, &mvp->arena, sizeof(struct wndl_mvp_use));
    wndl_vec_init(&mvp->equals, &mvp->arena, sizeof(struct wndl_mvp_equal));
    wndl_vec_init(&mvp->pairs, &mvp->arena, sizeof(struct wndl_mvp_pair));
    wndl_vec_init(&mvp->mappings, &mvp->arena, sizeof(struct wndl_mvp_mapping));
}

void wndl_mvp_free(struct wndl_mvp *mvp)
{
    wndl_arena_free(&mvp->arena);
}

uint32_t wndl_mvp_constant_bits(const struct wndl_mvp_site *site)
{
    const int constant =
        (int)(8 * site->size) - __builtin_popcountll(site->varying);
    const int signs = __builtin_popcountll(site->signs);
    const int bits = constant + (signs == 0 ? 0 : signs - 1);
    return site->is_wide || bits < 0 ? 0 : (uint32_t)bits;
}

uint64_t wndl_mvp_wasted(const struct wndl_mvp_site *site)
{
    uint64_t wasted;
    if (__builtin_mul_overflow(
            site->sectors, wndl_mvp_constant_bits(site), &wasted))
        return UINT64_MAX;
    return wasted;
}
