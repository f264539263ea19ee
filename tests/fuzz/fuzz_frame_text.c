/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as text with frames and tables of images; the first says whether it
 * is JSON.
 */
#include "in/frame_text/frame_text.h"
#include "in/frame_text/images.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static const uint8_t kernel[] = "vmlinux";

static void check(struct wndl_bytes text, const struct wndl_frame_text *frame)
{
    const uint8_t *end = text.data + text.size;
    expect(frame->start < frame->end && frame->end <= text.size);
    expect(memchr(text.data + frame->start, '\n', frame->end - frame->start) ==
           NULL);
    if (frame->path.size == 0)
        expect(frame->base == WNDL_FRAME_PROCESS);
    else if (frame->path.data != kernel)
        expect(frame->path.data >= text.data &&
               frame->path.data + frame->path.size <= end);
    if (frame->name.size != 0)
        expect(frame->name.data >= text.data &&
               frame->name.data + frame->name.size <= end);
}

/* In two pieces; each frame asks for its image. */
static void check_images(struct wndl_bytes text)
{
    struct wndl_frame_images images;
    size_t half = text.size / 2;
    wndl_frame_images_init(&images, wndl_mem_libc());
    expect(
        wndl_frame_images_read(&images, (struct wndl_bytes){text.data, half}));
    expect(wndl_frame_images_read(
        &images, (struct wndl_bytes){text.data + half, text.size - half}));
    for (size_t i = 0; i < images.images.len; i++) {
        const struct wndl_frame_image *image = wndl_vec_at(&images.images, i);
        expect(image->start < image->end && image->path.size != 0);
        const struct wndl_frame_image *found =
            wndl_frame_images_find(&images, image->start, text.size);
        expect(found == NULL ||
               (found->start <= image->start && image->start < found->end));
        (void)wndl_frame_images_named(&images, image->path, i);
        (void)wndl_frame_images_listed(&images, image->start, i);
    }
    wndl_frame_images_free(&images);
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
    scan.kernel = (struct wndl_bytes){kernel, sizeof kernel - 1};
    while (wndl_frame_scan_next(&scan, &frame)) {
        check(text, &frame);
        expect(frame.start >= end);
        end = frame.end;
    }
    check_images(text);
    return 0;
}
