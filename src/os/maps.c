/* SPDX-License-Identifier: MIT */
#include "os/maps.h"

#include "os/raw.h"

#include <errno.h>
#include <string.h>

static bool take(struct wndl_cursor *c, uint8_t wanted)
{
    if (wndl_cursor_left(c) != 0 && *c->next == wanted) {
        c->next++;
        return true;
    }
    return false;
}

static void expect(struct wndl_cursor *c, uint8_t wanted)
{
    if (!take(c, wanted))
        wndl_cursor_fail(c);
}

static int digit(uint8_t text)
{
    if (text >= '0' && text <= '9')
        return text - '0';
    if (text >= 'a' && text <= 'f')
        return text - 'a' + 10;
    return -1;
}

/* Reads digits of `base` 10 or 16. None, or more than 64 bits, fail. */
static uint64_t number(struct wndl_cursor *c, int base)
{
    uint64_t value = 0;
    const uint8_t *start = c->next;
    for (; wndl_cursor_left(c) != 0; c->next++) {
        int d = digit(*c->next);
        if (d < 0 || d >= base)
            break;
        if (value > (UINT64_MAX - (uint64_t)d) / (uint64_t)base) {
            wndl_cursor_fail(c);
            return 0;
        }
        value = value * (uint64_t)base + (uint64_t)d;
    }
    if (c->next == start)
        wndl_cursor_fail(c);
    return value;
}

static bool permission(struct wndl_cursor *c, uint8_t letter)
{
    bool has = take(c, letter);
    if (!has)
        expect(c, '-');
    return has;
}

static struct wndl_bytes rest_of_line(struct wndl_cursor *c)
{
    while (take(c, ' '))
        ;
    struct wndl_bytes rest = {c->next, wndl_cursor_left(c)};
    const uint8_t *newline =
        rest.size == 0 ? NULL : memchr(rest.data, '\n', rest.size);
    if (newline != NULL)
        rest.size = (size_t)(newline - rest.data);
    wndl_cursor_skip(c, rest.size + (newline != NULL));
    return rest;
}

/* "55d0a000-55d0b000 r-xp 00001000 fe:01 1234   /usr/bin/x" */
bool wndl_maps_line(struct wndl_cursor *c, struct wndl_mapping *mapping)
{
    if (wndl_cursor_left(c) == 0)
        return false;
    struct wndl_mapping m = {0};
    m.start = number(c, 16);
    expect(c, '-');
    m.end = number(c, 16);
    expect(c, ' ');
    m.readable = permission(c, 'r');
    m.writable = permission(c, 'w');
    m.executable = permission(c, 'x');
    if (!take(c, 's'))
        expect(c, 'p');
    expect(c, ' ');
    m.offset = number(c, 16);
    expect(c, ' ');
    (void)number(c, 16);
    expect(c, ':');
    (void)number(c, 16);
    expect(c, ' ');
    m.inode = number(c, 10);
    if (!c->failed)
        m.path = rest_of_line(c);
    *mapping = m;
    return !c->failed;
}

/* The contents of the room: `used` bytes, of which whole lines are read. */
struct reader {
    int fd;
    uint8_t *room;
    size_t size;
    size_t used;
    bool skipping; /* in the middle of a line that did not fit */
    bool failed;   /* the last read */
};

/* False at the end of the file, and when it cannot be read. */
static bool fill(struct reader *r)
{
    long got;
    do
        got = wndl_raw_read(r->fd, r->room + r->used, r->size - r->used);
    while (got == -EINTR);
    r->failed = got < 0;
    if (got <= 0)
        return false;
    r->used += (size_t)got;
    return true;
}

/* The bytes up to and including the last newline in the room. */
static size_t whole_lines(const struct reader *r)
{
    const uint8_t *newline = memrchr(r->room, '\n', r->used);
    return newline == NULL ? 0 : (size_t)(newline - r->room) + 1;
}

static void drop(struct reader *r, size_t size)
{
    memmove(r->room, r->room + size, r->used - size);
    r->used -= size;
}

/* Skips the rest of a line that did not fit. */
static void skip_long_line(struct reader *r)
{
    const uint8_t *newline = memchr(r->room, '\n', r->used);
    drop(r, newline == NULL ? r->used : (size_t)(newline - r->room) + 1);
    r->skipping = newline == NULL;
}

/* Whose lines wndl_maps_each() hands out. */
struct visitor {
    bool (*visit)(void *context, const struct wndl_mapping *mapping);
    void *context;
};

static bool hand_out(void *context, struct wndl_bytes lines)
{
    const struct visitor *to = context;
    struct wndl_cursor c = wndl_cursor_at(lines, 0, false);
    struct wndl_mapping mapping;
    while (wndl_maps_line(&c, &mapping)) {
        if (!to->visit(to->context, &mapping))
            return false;
    }
    return true;
}

bool wndl_maps_lines(const char *path, struct wndl_bytes room,
    bool (*visit)(void *context, struct wndl_bytes lines), void *context)
{
    int fd = wndl_raw_open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct reader r = {
        .fd = fd, .room = (uint8_t *)room.data, .size = room.size};
    while (fill(&r)) {
        if (r.skipping)
            skip_long_line(&r);
        size_t lines = whole_lines(&r);
        if (!visit(context, (struct wndl_bytes){r.room, lines}))
            break;
        drop(&r, lines);
        if (r.used == r.size)
            skip_long_line(&r);
    }
    wndl_raw_close(fd);
    return !r.failed;
}

bool wndl_maps_each(const char *path, struct wndl_bytes room,
    bool (*visit)(void *context, const struct wndl_mapping *mapping),
    void *context)
{
    struct visitor to = {visit, context};
    return wndl_maps_lines(path, room, hand_out, &to);
}
