/* SPDX-License-Identifier: MIT */
/*
 * buf: a growing buffer of bytes to be written. Memory failure is sticky and
 * checked once at the end, so that writers need no checks.
 */
#ifndef WNDL_BASE_BUF_H
#define WNDL_BASE_BUF_H

#include "base/bytes.h"
#include "base/mem.h"

/* Invariant: size <= cap. After a failure `failed` stays set. */
struct wndl_buf {
    uint8_t *data;
    size_t size;
    size_t cap;
    struct wndl_mem *mem;
    bool failed;
};

static inline void wndl_buf_init(struct wndl_buf *buf, struct wndl_mem *mem)
{
    *buf = (struct wndl_buf){.mem = mem};
}

void wndl_buf_free(struct wndl_buf *buf);

/* Empties the buffer and keeps its memory. */
static inline void wndl_buf_clear(struct wndl_buf *buf)
{
    buf->size = 0;
}

/* wndl_buf_reserve(), if there is no room yet. */
uint8_t *wndl_buf_grow(struct wndl_buf *buf, size_t size);

/* Room for `size` more bytes at data + size; NULL on failure. */
static inline uint8_t *wndl_buf_reserve(struct wndl_buf *buf, size_t size)
{
    if (buf->failed || size > buf->cap - buf->size || buf->data == NULL)
        return wndl_buf_grow(buf, size);
    return buf->data + buf->size;
}

void wndl_buf_add(struct wndl_buf *buf, const void *bytes, size_t size);
void wndl_buf_text(struct wndl_buf *buf, const char *text);
void wndl_buf_byte(struct wndl_buf *buf, uint8_t byte);
void wndl_buf_u32le(struct wndl_buf *buf, uint32_t value);
void wndl_buf_u64le(struct wndl_buf *buf, uint64_t value);

/* wndl_buf_uleb() for any number. */
void wndl_buf_long_uleb(struct wndl_buf *buf, uint64_t value);

/* Appends a ULEB128. Most numbers have one byte. */
static inline void wndl_buf_uleb(struct wndl_buf *buf, uint64_t value)
{
    if (value < 0x80 && buf->size < buf->cap && !buf->failed)
        buf->data[buf->size++] = (uint8_t)value;
    else
        wndl_buf_long_uleb(buf, value);
}

void wndl_buf_sleb(struct wndl_buf *buf, int64_t value);
/* Appends a number like "%llu", in a tenth of the time. */
void wndl_buf_decimal(struct wndl_buf *buf, uint64_t value);
/* Appends `bytes` as base64 (RFC 4648, section 4). */
void wndl_buf_base64(struct wndl_buf *buf, struct wndl_bytes bytes);
void wndl_buf_printf(struct wndl_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
