/* SPDX-License-Identifier: MIT */
#include "in/perf_map.h"

#include <string.h>

static int digit(uint8_t text)
{
    if (text >= '0' && text <= '9')
        return text - '0';
    text |= 0x20;
    return text >= 'a' && text <= 'f' ? text - 'a' + 10 : -1;
}

/* Reads hex digits, perhaps after "0x", and the spaces after them. */
static uint64_t number(struct wndl_cursor *c)
{
    uint64_t value = 0;
    if (wndl_cursor_left(c) > 2 && c->next[0] == '0' && c->next[1] == 'x')
        c->next += 2;
    const uint8_t *start = c->next;
    for (; c->next != c->end && digit(*c->next) >= 0; c->next++) {
        if (value >> 60 != 0) {
            wndl_cursor_fail(c);
            return 0;
        }
        value = value << 4 | (uint64_t)digit(*c->next);
    }
    bool spaced = c->next != c->end && (*c->next == ' ' || *c->next == '\t');
    if (c->next == start || !spaced)
        wndl_cursor_fail(c);
    while (c->next != c->end && (*c->next == ' ' || *c->next == '\t'))
        c->next++;
    return value;
}

static bool parse(struct wndl_bytes text, struct wndl_perf_map_line *line)
{
    struct wndl_cursor c = wndl_cursor_at(text, 0, false);
    uint64_t end;
    line->start = number(&c);
    line->size = number(&c);
    line->name = (struct wndl_bytes){c.next, wndl_cursor_left(&c)};
    return !c.failed && line->name.size != 0 &&
           !__builtin_add_overflow(line->start, line->size, &end);
}

/* Takes the last line off, without its line end. */
static struct wndl_bytes take_line(struct wndl_bytes *left)
{
    size_t size = left->size;
    if (left->data[size - 1] == '\n')
        size--;
    const uint8_t *before = size == 0 ? NULL : memrchr(left->data, '\n', size);
    size_t start = before == NULL ? 0 : (size_t)(before - left->data) + 1;
    if (size > start && left->data[size - 1] == '\r')
        size--;
    left->size = start;
    return (struct wndl_bytes){left->data + start, size - start};
}

bool wndl_perf_map_previous(
    struct wndl_perf_map *map, struct wndl_perf_map_line *line)
{
    while (map->left.size != 0) {
        struct wndl_bytes text = take_line(&map->left);
        if (text.size == 0)
            continue;
        if (parse(text, line))
            return true;
        map->damaged++;
    }
    return false;
}
