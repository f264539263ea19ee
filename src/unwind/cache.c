/* SPDX-License-Identifier: MIT */
#include "unwind/cache.h"

#include "os/dlfind.h"
#include "unwind/space.h"

static struct wndl_entry compile(uint64_t pc)
{
    struct wndl_code code;
    switch (wndl_code_find(NULL, pc, &code)) {
    case WNDL_CODE_ROW:
        return wndl_entry_of_row(&code.row, pc);
    case WNDL_CODE_NO_FDE:
        return (struct wndl_entry){.kind = WNDL_ENTRY_NO_FDE};
    case WNDL_CODE_NO_MODULE:
        return (struct wndl_entry){.kind = WNDL_ENTRY_NO_MODULE};
    case WNDL_CODE_BAD:
        break;
    }
    return (struct wndl_entry){.kind = WNDL_ENTRY_BAD};
}

struct wndl_entry *wndl_cache_find(struct wndl_unwinder *u, uint64_t key)
{
    if (!wndl_code_is_possible(key - 1))
        return &u->no_code;
    uint32_t home = wndl_cache_home(key);
    struct wndl_entry *entry = NULL;
    for (uint32_t look = 0; look < WNDL_CACHE_WAYS; look++) {
        entry = wndl_cache_at(u, wndl_cache_place(home, look));
        if (entry->key == key)
            return entry;
        if (entry->key == 0)
            break;
    }
    if (entry->key != 0)
        entry = wndl_cache_at(
            u, wndl_cache_place(home, u->victim++ % WNDL_CACHE_WAYS));
    *entry = compile(key - 1);
    entry->key = key;
    return entry;
}

size_t wndl_unwinder_size(void)
{
    return sizeof(struct wndl_unwinder);
}

struct wndl_unwinder *wndl_unwinder_init(void *memory)
{
    struct wndl_unwinder *u = memory;
    u->no_code.kind = WNDL_ENTRY_NO_MODULE;
    /* A lazy binding must not be resolved within a signal handler. */
    struct wndl_dlmodule module;
    (void)wndl_dlfind((uintptr_t)&wndl_unwinder_init, &module);
    return u;
}

void wndl_unwinder_flush(struct wndl_unwinder *u)
{
    __builtin_memset(u, 0, sizeof *u);
    u->no_code.kind = WNDL_ENTRY_NO_MODULE;
}
