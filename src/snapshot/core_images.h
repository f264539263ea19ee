/* SPDX-License-Identifier: MIT */
/* core_images: the binaries of a core file: which they are, and their files. */
#ifndef WNDL_SNAPSHOT_CORE_IMAGES_H
#define WNDL_SNAPSHOT_CORE_IMAGES_H

#include "snapshot/core.h"

/*
 * The GNU build-id in the first bytes of an ELF file, as they were mapped;
 * empty: there is none.
 */
struct wndl_bytes wndl_core_build_id(struct wndl_bytes image);

/*
 * Fills core->images, and the memory that the core left out. NOT_FOUND:
 * request.program is not the program of the core. NOMEM.
 */
enum wndl_status wndl_core_images_find(
    struct wndl_core *core, struct wndl_error *err) WNDL_MUST_USE;

#endif
