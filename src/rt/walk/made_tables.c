/* SPDX-License-Identifier: MIT */
#include "rt/walk/made_tables.h"

#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/walk/rules.h"
#include "unwind/table/set.h"

/* Tables below `count` do not change. A damaged table has no bytes. */
static struct {
    _Atomic uint32_t count;
    _Atomic bool busy;
    struct taken {
        uint64_t start, end, bias;
        struct wndl_table table;
    } all[WNDL_SHM_MADE];
} made;

void wndl_rt_made_tables_start(void)
{
    atomic_store(&made.count, 0);
    atomic_store(&made.busy, false);
    wndl_table_set_forget();
    wndl_rt_made_tables_take();
}

/* The program may have written over the row. */
static void take(struct taken *taken, const struct wndl_shm_made *row)
{
    const struct wndl_shm_made copy = *row;
    const struct wndl_bytes all = {
        wndl_rt.shm->made_bytes, WNDL_SHM_MADE_BYTES};
    const struct wndl_bytes bytes =
        wndl_bytes_slice(all, copy.offset, copy.size);
    taken->start = copy.start;
    taken->end = copy.end;
    taken->bias = copy.bias;
    if (copy.offset % WNDL_TABLE_ALIGN != 0 ||
        wndl_table_open(bytes, &taken->table, NULL) != WNDL_OK)
        taken->table.bytes.size = 0;
}

void wndl_rt_made_tables_take(void)
{
    uint32_t count =
        atomic_load_explicit(&wndl_rt.shm->made_count, memory_order_acquire);
    uint32_t have = atomic_load_explicit(&made.count, memory_order_acquire);
    if (count > WNDL_SHM_MADE)
        count = WNDL_SHM_MADE;
    if (count <= have || atomic_exchange(&made.busy, true))
        return;
    have = atomic_load_explicit(&made.count, memory_order_acquire);
    for (; have < count; have++)
        take(&made.all[have], &wndl_rt.shm->made[have]);
    atomic_store_explicit(&made.count, have, memory_order_release);
    atomic_store(&made.busy, false);
    wndl_table_set_forget();
    wndl_rt_rules_forget();
}

bool wndl_rt_made_tables_are_there(void)
{
    return atomic_load_explicit(&made.count, memory_order_acquire) != 0;
}

static bool is_of(const struct taken *taken, const struct wndl_dlmodule *module,
    struct wndl_bytes build_id)
{
    return taken->bias == module->bias.v && taken->table.bytes.size != 0 &&
           module->map_start >= taken->start &&
           module->map_start < taken->end &&
           wndl_table_is_for(
               &taken->table, WNDL_ARCH_MACHINE, build_id, NULL) == WNDL_OK;
}

/* The later of two at one place belongs to the module that is there now. */
const struct wndl_table *wndl_rt_made_table(
    const struct wndl_dlmodule *module, struct wndl_bytes build_id)
{
    uint32_t i = atomic_load_explicit(&made.count, memory_order_acquire);
    while (i-- > 0) {
        if (is_of(&made.all[i], module, build_id))
            return &made.all[i].table;
    }
    return NULL;
}
