/* SPDX-License-Identifier: MIT */
/* crc32c: the Castagnoli CRC (RFC 3720, B.4) of our recordings. */
#ifndef WNDL_REC_CRC32C_H
#define WNDL_REC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The CRC of `size` bytes that follow others. `crc` is that of the bytes
 * before, 0 at the start. Any thread; not for the runtime, which writes no
 * chunks.
 */
uint32_t wndl_crc32c(uint32_t crc, const void *bytes, size_t size);

/*
 * The same for any processor. wndl_crc32c uses it where there is no faster way.
 */
uint32_t wndl_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

#endif
