/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a jitdump, by which a few addresses are named: some of
 * everywhere, and that of the first code.
 */
#include "analyze/names/jit_names.h"
#include "in/jitdump.h"

#include <stdlib.h>

enum { ADDRESSES = 4 };

static uint64_t start_of_first_code(struct wndl_jitdump dump)
{
    struct wndl_jitdump_record record;
    while (wndl_jitdump_next(&dump, &record)) {
        if (record.kind == WNDL_JITDUMP_LOAD)
            return record.start;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const struct wndl_jit_address *)a)->address;
    uint64_t y = ((const struct wndl_jit_address *)b)->address;
    return x < y ? -1 : x > y;
}

static void name_addresses(
    struct wndl_symbolized *s, struct wndl_bytes file, uint32_t pid, uint64_t a)
{
    struct wndl_jit_address addresses[ADDRESSES] = {
        {0, 0, 0}, {a, 0, 1}, {a + 9, 0, 2}, {UINT64_MAX, 0, 3}};
    uint32_t next[ADDRESSES + 1] = {0, 1, 2, 3, 4};
    struct wndl_jit_names names = {
        .s = s, .addresses = addresses, .next = next, .count = ADDRESSES};
    qsort(addresses, ADDRESSES, sizeof addresses[0], compare);
    enum wndl_status status = wndl_jit_names_from_dump(&names, file, pid, NULL);
    if (status == WNDL_OK && names.named != s->frame_locations.len)
        abort();
}

static void name_frames(struct wndl_bytes file, const struct wndl_jitdump *dump)
{
    struct wndl_profile p;
    struct wndl_symbolized s;
    uint32_t frame;
    if (!wndl_profile_init(&p, wndl_mem_libc()))
        return;
    bool made = true;
    for (uint64_t i = 0; i < ADDRESSES && made; i++)
        made = wndl_profile_frame(
            &p, (struct wndl_frame_key){.address = i}, &frame);
    if (made && wndl_symbolized_init(&s, &p, wndl_mem_libc())) {
        name_addresses(&s, file, dump->pid, start_of_first_code(*dump));
        wndl_symbolized_free(&s);
    }
    wndl_profile_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_bytes file = {data, size};
    struct wndl_jitdump dump;
    if (wndl_jitdump_open(&dump, file, NULL) == WNDL_OK)
        name_frames(file, &dump);
    return 0;
}
