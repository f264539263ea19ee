/* SPDX-License-Identifier: MIT */
/* fuzz_lz4: LZ4 frames, with contents that are given up to 16 MiB. */
#include "obj/packed/lz4.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sums up all bytes, so that each is read. */
struct sum {
    uint64_t bytes, size;
};

static bool add(void *context, struct wndl_bytes contents)
{
    const uint64_t most = UINT64_C(16) << 20;
    struct sum *sum = context;
    for (size_t i = 0; i < contents.size; i++)
        sum->bytes += contents.data[i];
    sum->size += contents.size;
    return sum->size < most;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sum sum = {0};
    struct wndl_error err = {0};
    if (wndl_unpack_lz4((struct wndl_bytes){data, size}, add, &sum, &err) !=
            WNDL_OK &&
        err.what[0] == '\0')
        __builtin_trap();
    return 0;
}
