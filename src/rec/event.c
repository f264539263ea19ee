/* SPDX-License-Identifier: MIT */
#include "rec/event.h"

#include <string.h>

static uint8_t *put_uleb(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static uint8_t *put_name(uint8_t *to, const char name[WNDL_EVENT_NAME_MAX])
{
    size_t size = 0;
    while (size < WNDL_EVENT_NAME_MAX && name[size] != '\0')
        size++;
    to = put_uleb(to, size);
    memcpy(to, name, size);
    return to + size;
}

static uint8_t *put_text(uint8_t *to, struct wndl_bytes text)
{
    size_t size =
        text.size < WNDL_EVENT_TEXT_MAX ? text.size : WNDL_EVENT_TEXT_MAX;
    to = put_uleb(to, size);
    memcpy(to, text.data, size);
    return to + size;
}

enum { HAS_COPY = 0x40, IN_KERNEL = 0x80 };

static uint8_t first_byte(const struct wndl_event *event)
{
    const bool is_mark = event->kind == WNDL_EVENT_MARK;
    const bool is_sample = event->kind == WNDL_EVENT_SAMPLE;
    return (uint8_t)(event->kind | (is_mark ? event->mark : event->end) << 3 |
                     (is_sample && event->copy != 0 ? HAS_COPY : 0) |
                     (is_sample && event->in_kernel ? IN_KERNEL : 0));
}

/*
 * The first byte has the kind and, above three bits, the kind of a mark or the
 * end of a sample: three bits, one that says whether there is a copy, and one
 * for time in the kernel.
 */
size_t wndl_event_put(
    uint8_t to[WNDL_EVENT_MAX], const struct wndl_event *event)
{
    uint8_t *next = to;
    *next++ = first_byte(event);
    next = put_uleb(next, event->time);
    switch (event->kind) {
    case WNDL_EVENT_SAMPLE:
        next = put_uleb(next, event->cpu);
        next = put_uleb(next, event->node);
        if (event->copy != 0)
            next = put_uleb(next, event->copy);
        break;
    case WNDL_EVENT_THREAD:
        next = put_uleb(next, event->tid);
        break;
    case WNDL_EVENT_NAME:
        next = put_name(next, event->name);
        break;
    case WNDL_EVENT_END:
        next = put_uleb(next, event->cpu);
        break;
    case WNDL_EVENT_MARK:
        next = put_uleb(next, event->duration);
        next = put_text(next, event->text);
        break;
    }
    return (size_t)(next - to);
}

static uint32_t get_u32(struct wndl_cursor *c)
{
    uint64_t value = wndl_cursor_uleb(c);
    if (value > UINT32_MAX)
        wndl_cursor_fail(c);
    return (uint32_t)value;
}

static void get_name(struct wndl_cursor *c, char name[WNDL_EVENT_NAME_MAX])
{
    uint64_t size = wndl_cursor_uleb(c);
    if (size >= WNDL_EVENT_NAME_MAX) {
        wndl_cursor_fail(c);
        return;
    }
    const uint8_t *bytes = wndl_cursor_take(c, size);
    if (bytes != NULL)
        memcpy(name, bytes, size);
}

static struct wndl_bytes get_text(struct wndl_cursor *c)
{
    uint64_t size = wndl_cursor_uleb(c);
    if (size > WNDL_EVENT_TEXT_MAX)
        wndl_cursor_fail(c);
    const uint8_t *bytes = c->failed ? NULL : wndl_cursor_take(c, size);
    return (struct wndl_bytes){bytes, bytes == NULL ? 0 : size};
}

bool wndl_event_get(struct wndl_cursor *c, struct wndl_event *event)
{
    if (wndl_cursor_left(c) == 0)
        return false;
    uint8_t first = wndl_cursor_u8(c);
    *event = (struct wndl_event){
        .kind = first & 7,
        .end = first >> 3,
        .mark = first >> 3,
        .time = wndl_cursor_uleb(c),
    };
    switch (event->kind) {
    case WNDL_EVENT_SAMPLE:
        event->cpu = wndl_cursor_uleb(c);
        event->node = get_u32(c);
        event->end = first >> 3 & 7;
        event->in_kernel = (first & IN_KERNEL) != 0;
        event->copy = (first & HAS_COPY) == 0 ? 0 : get_u32(c);
        break;
    case WNDL_EVENT_THREAD:
        event->tid = get_u32(c);
        break;
    case WNDL_EVENT_NAME:
        get_name(c, event->name);
        break;
    case WNDL_EVENT_END:
        event->cpu = wndl_cursor_uleb(c);
        break;
    case WNDL_EVENT_MARK:
        event->duration = wndl_cursor_uleb(c);
        event->text = get_text(c);
        break;
    default:
        wndl_cursor_fail(c);
        break;
    }
    return !c->failed;
}
