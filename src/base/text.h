/* SPDX-License-Identifier: MIT */
/* text: tests of the starts and ends of strings and of foreign bytes. */
#ifndef WNDL_BASE_TEXT_H
#define WNDL_BASE_TEXT_H

#include "base/bytes.h"

#include <string.h>

static inline bool wndl_bytes_start_with(
    struct wndl_bytes bytes, const char *start)
{
    size_t size = strlen(start);
    return bytes.size >= size &&
           (size == 0 || memcmp(bytes.data, start, size) == 0);
}

static inline bool wndl_bytes_end_with(struct wndl_bytes bytes, const char *end)
{
    size_t size = strlen(end);
    return bytes.size >= size &&
           (size == 0 ||
               memcmp(bytes.data + bytes.size - size, end, size) == 0);
}

static inline bool wndl_text_starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static inline bool wndl_text_ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), cut = strlen(end);
    return size >= cut && memcmp(text + size - cut, end, cut) == 0;
}

#endif
