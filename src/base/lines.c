/* SPDX-License-Identifier: MIT */
#include "base/lines.h"

#include <string.h>

bool wndl_lines_next(struct wndl_lines *lines, struct wndl_bytes *line)
{
    struct wndl_bytes *left = &lines->left;
    if (left->size == 0)
        return false;
    const uint8_t *end = memchr(left->data, '\n', left->size);
    size_t size = end == NULL ? left->size : (size_t)(end - left->data);
    size_t taken = size + (end != NULL);
    *line = (struct wndl_bytes){left->data, size};
    if (size != 0 && line->data[size - 1] == '\r')
        line->size--;
    *left = (struct wndl_bytes){left->data + taken, left->size - taken};
    lines->number++;
    return true;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

struct wndl_bytes wndl_line_trimmed(struct wndl_bytes line)
{
    while (line.size != 0 && is_space(line.data[line.size - 1]))
        line.size--;
    while (line.size != 0 && is_space(line.data[0])) {
        line.data++;
        line.size--;
    }
    return line;
}

bool wndl_line_number(struct wndl_bytes text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.data[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return text.size != 0;
}
