/* SPDX-License-Identifier: MIT */
/* ips: the list of images in the crash reports of Apple's systems, as JSON. */
#ifndef WNDL_IN_FRAME_TEXT_IPS_H
#define WNDL_IN_FRAME_TEXT_IPS_H

#include "in/frame_text/images.h"

/* The place of the next list of images in `text`, from `from` on; NULL: none */
const uint8_t *wndl_frame_next_ips_list(
    struct wndl_bytes text, const uint8_t *from);

/*
 * Reads the next entry of the list, whose rest is `list`, into the path, the
 * UUID and the architecture of `image`, which may be empty. False at the end,
 * and where the text is something else. The first `list` is the text from the
 * place of the list on.
 */
bool wndl_frame_next_ips_image(
    struct wndl_bytes *list, struct wndl_frame_image *image);

#endif
