/* SPDX-License-Identifier: MIT */
/*
 * prepare: caches rules of code that walks have not visited yet: the rules
 * after each call, as far as calls can be recognised by their bytes alone.
 * Bytes that only look like a call cost an entry of the cache, and are never
 * looked up.
 */
#include "os/dlfind.h"
#include "unwind/fast/cache.h"
#include "unwind/space/call.h"

struct code {
    struct wndl_bytes bytes;
    uint64_t start;
    const struct wndl_dlmodule *module;
};

/*
 * Quickly skips bytes that end no call, as most do. A segment may contain
 * constants, too: sanitizers must not check the reads.
 */
__attribute__((no_sanitize("address", "thread"))) static bool may_be_after_call(
    const uint8_t *ra)
{
    enum { CALL = 0xe8, INDIRECT = 0xff };
    return ra[-5] == CALL || ra[-2] == INDIRECT || ra[-3] == INDIRECT ||
           ra[-4] == INDIRECT || ra[-6] == INDIRECT || ra[-7] == INDIRECT;
}

static bool is_after_call(const struct code *code, uint64_t ra)
{
    const struct wndl_space here = {.arch = WNDL_ARCH_HERE};
    struct wndl_call call;
    return wndl_call_before(&here, ra, &call) &&
           (call.target == 0 || (call.target >= code->module->map_start &&
                                    call.target < code->module->map_end));
}

static size_t prepare(
    struct wndl_unwinder *u, const struct code *code, size_t most)
{
    enum { LONGEST_CALL = 7 };
    const wndl_generation generation = wndl_cache_generation(u);
    size_t kept = 0;
    for (size_t i = LONGEST_CALL; i < code->bytes.size && kept < most; i++) {
        uint64_t ra = code->start + i;
        if (may_be_after_call(code->bytes.data + i) && is_after_call(code, ra))
            kept += wndl_cache_find(u, ra, generation).kept;
    }
    return kept;
}

size_t wndl_unwind_prepare(
    struct wndl_unwinder *u, uint64_t start, uint64_t size, size_t most)
{
    struct wndl_dlmodule module;
    if (!WNDL_ARCH_HERE->reads_code || !wndl_dlfind(start, &module))
        return 0;
    struct code code = {wndl_dlmodule_from(&module, start), start, &module};
    if (code.bytes.size > size)
        code.bytes.size = (size_t)size;
    return prepare(u, &code, most);
}
