/* SPDX-License-Identifier: MIT */
/* Any bytes as text with frames; the first says whether it is JSON. */
#include "in/frame_text/frame_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check(struct wndl_bytes text, const struct wndl_frame_text *frame)
{
    const uint8_t *end = text.data + text.size;
    expect(frame->start < frame->end && frame->end <= text.size);
    expect(memchr(text.data + frame->start, '\n', frame->end - frame->start) ==
           NULL);
    expect(frame->path.size != 0 && frame->path.data >= text.data &&
           frame->path.data + frame->path.size <= end);
    if (frame->name.size != 0)
        expect(frame->name.data >= text.data &&
               frame->name.data + frame->name.size <= end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct wndl_bytes text = {data + 1, size - 1};
    struct wndl_frame_scan scan;
    struct wndl_frame_text frame;
    size_t end = 0;
    wndl_frame_scan_init(&scan, text, data[0] == '{');
    while (wndl_frame_scan_next(&scan, &frame)) {
        check(text, &frame);
        expect(frame.start >= end);
        end = frame.end;
    }
    return 0;
}
