/* SPDX-License-Identifier: MIT */
/* A thread's ring: what can be read can be written again, the same. */
#include "rec/event.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    struct wndl_event event;
    while (wndl_event_get(&c, &event)) {
        uint8_t bytes[WNDL_EVENT_MAX];
        struct wndl_event again;
        size_t written = wndl_event_put(bytes, &event);
        struct wndl_cursor back =
            wndl_cursor_at((struct wndl_bytes){bytes, written}, 0, false);
        if (written > WNDL_EVENT_MAX || !wndl_event_get(&back, &again) ||
            again.kind != event.kind || again.time != event.time ||
            again.cpu != event.cpu || again.node != event.node ||
            again.tid != event.tid || strcmp(again.name, event.name) != 0)
            abort();
    }
    return 0;
}
