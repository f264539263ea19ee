/* SPDX-License-Identifier: MIT */
/*
 * fuzz_code: any bytes as code, at CODE, and as a stack, at STACK. Words of the
 * stack below 0x10000 are offsets in the code: they may be return addresses.
 */
#ifndef WNDL_FUZZ_CODE_H
#define WNDL_FUZZ_CODE_H

#include "unwind/space/space.h"

#include <stdlib.h>
#include <string.h>

enum { CODE = 0x10000, STACK = 0x100000 };

struct memory {
    struct wndl_bytes stack, code;
    size_t word; /* bytes */
};

static inline bool read_memory(
    void *context, uint64_t address, void *to, size_t size)
{
    const struct memory *m = context;
    const struct wndl_bytes read =
        address < STACK ? wndl_bytes_slice(m->code, address - CODE, size)
                        : wndl_bytes_slice(m->stack, address - STACK, size);
    if (read.size != size)
        return false;
    memcpy(to, read.data, size);
    return true;
}

static inline bool read_words(
    void *context, uint64_t address, void *to, size_t size)
{
    const struct memory *m = context;
    uint64_t word = 0;
    if (!read_memory(context, address, to, size))
        return false;
    if (address < STACK || size != m->word)
        return true;
    memcpy(&word, to, size);
    word += word < CODE ? CODE : 0;
    memcpy(to, &word, size);
    return true;
}

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

#endif
