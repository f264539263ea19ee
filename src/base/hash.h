/* SPDX-License-Identifier: MIT */
/* hash: mixing of bits for tables. Not for input that is made to collide. */
#ifndef WNDL_BASE_HASH_H
#define WNDL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * 2^64 divided by the golden ratio. Its multiples are spread evenly over the
 * high bits (Knuth, The Art of Computer Programming, 6.4).
 */
#define WNDL_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Mixes all bits of `key` into all bits, for any power-of-two table. */
static inline uint64_t wndl_hash_u64(uint64_t key)
{
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93u;
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93u;
    return key ^ key >> 32;
}

/* The hash of `size` bytes. */
uint64_t wndl_hash_bytes(const void *bytes, size_t size);

#endif
