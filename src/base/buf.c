/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 256, LEB_MAX = 10, DECIMAL_MAX = 20 };

void wndl_buf_free(struct wndl_buf *buf)
{
    wndl_mem_free(buf->mem, buf->data);
    wndl_buf_init(buf, buf->mem);
}

uint8_t *wndl_buf_grow(struct wndl_buf *buf, size_t size)
{
    if (buf->failed)
        return NULL;
    size_t need;
    size_t cap = buf->cap == 0 ? FIRST_CAPACITY : buf->cap;
    buf->failed = __builtin_add_overflow(buf->size, size, &need);
    while (!buf->failed && cap < need)
        buf->failed = __builtin_mul_overflow(cap, (size_t)2, &cap);
    uint8_t *data =
        buf->failed ? NULL : buf->mem->resize(buf->mem, buf->data, cap);
    if (data == NULL) {
        buf->failed = true;
        return NULL;
    }
    buf->data = data;
    buf->cap = cap;
    return data + buf->size;
}

void wndl_buf_add(struct wndl_buf *buf, const void *bytes, size_t size)
{
    uint8_t *to = wndl_buf_reserve(buf, size);
    if (to == NULL || size == 0)
        return;
    memcpy(to, bytes, size);
    buf->size += size;
}

void wndl_buf_text(struct wndl_buf *buf, const char *text)
{
    wndl_buf_add(buf, text, strlen(text));
}

void wndl_buf_byte(struct wndl_buf *buf, uint8_t byte)
{
    wndl_buf_add(buf, &byte, 1);
}

void wndl_buf_u32le(struct wndl_buf *buf, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        wndl_buf_byte(buf, (uint8_t)(value >> 8 * i));
}

void wndl_buf_u64le(struct wndl_buf *buf, uint64_t value)
{
    wndl_buf_u32le(buf, (uint32_t)value);
    wndl_buf_u32le(buf, (uint32_t)(value >> 32));
}

void wndl_buf_long_uleb(struct wndl_buf *buf, uint64_t value)
{
    uint8_t *to = wndl_buf_reserve(buf, LEB_MAX);
    if (to == NULL)
        return;
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    buf->size = (size_t)(to - buf->data);
}

void wndl_buf_sleb(struct wndl_buf *buf, int64_t value)
{
    uint8_t *to = wndl_buf_reserve(buf, LEB_MAX);
    if (to == NULL)
        return;
    for (; value < -0x40 || value > 0x3f; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)(value & 0x7f);
    buf->size = (size_t)(to - buf->data);
}

void wndl_buf_decimal(struct wndl_buf *buf, uint64_t value)
{
    uint8_t digits[DECIMAL_MAX];
    size_t at = DECIMAL_MAX;
    do {
        digits[--at] = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    wndl_buf_add(buf, &digits[at], DECIMAL_MAX - at);
}

void wndl_buf_base64(struct wndl_buf *buf, struct wndl_bytes bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = bytes.size / 3 * 4 + (bytes.size % 3 != 0 ? 4 : 0);
    uint8_t *to = wndl_buf_reserve(buf, size);
    if (to == NULL)
        return;
    buf->size += size;
    for (size_t i = 0; i < bytes.size; i += 3, to += 4) {
        size_t left = bytes.size - i;
        uint32_t three = (uint32_t)bytes.data[i] << 16;
        three |= left > 1 ? (uint32_t)bytes.data[i + 1] << 8 : 0;
        three |= left > 2 ? bytes.data[i + 2] : 0;
        to[0] = (uint8_t)digits[three >> 18];
        to[1] = (uint8_t)digits[three >> 12 & 63];
        to[2] = left > 1 ? (uint8_t)digits[three >> 6 & 63] : '=';
        to[3] = left > 2 ? (uint8_t)digits[three & 63] : '=';
    }
}

void wndl_buf_printf(struct wndl_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    buf->failed = buf->failed || size < 0; /* more than an int can hold */
    uint8_t *to = wndl_buf_reserve(buf, (size_t)size + 1);
    if (to != NULL) {
        vsnprintf((char *)to, (size_t)size + 1, format, again);
        buf->size += (size_t)size;
    }
    va_end(again);
}
