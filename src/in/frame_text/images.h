/* SPDX-License-Identifier: MIT */
/*
 * images: the tables of loaded files that programs print beside their stacks:
 * rows of /proc/PID/maps, GDB's `info proc mappings`, the binary images of
 * Apple's crash reports as text and as JSON, and `{{{module}}}` and
 * `{{{mmap}}}` of LLVM's symbolizer markup. Rows in a run are a table. It must
 * not know the files.
 */
#ifndef WNDL_IN_FRAME_TEXT_IMAGES_H
#define WNDL_IN_FRAME_TEXT_IMAGES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "in/frame_text/frame_text.h"

/* Where a part of a file is: [start, end), whose first byte is at `offset`. */
struct wndl_frame_image {
    uint64_t start;
    uint64_t end;
    uint64_t offset;
    enum wndl_frame_base base; /* of `offset`: FILE, RVA or SVMA */
    struct wndl_bytes path;
    struct wndl_bytes build_id; /* hex digits, or empty */
    struct wndl_bytes arch;     /* or empty */
};

/* Images [first, first + count), in the order of their addresses. */
struct wndl_frame_image_table {
    size_t at; /* where it begins in the text; 0 also if it began before */
    size_t first;
    size_t count;
};

struct wndl_frame_images {
    struct wndl_arena arena;
    struct wndl_vec images;  /* struct wndl_frame_image */
    struct wndl_vec tables;  /* struct wndl_frame_image_table */
    struct wndl_vec modules; /* of the markup: images without addresses */
    struct wndl_map by_name; /* table and name of a file -> image + 1 */
    bool continues;          /* the last table may get more rows */
    bool markup;             /* the last table is one of markup */
};

/* Makes it empty. Ends with wndl_frame_images_free. */
void wndl_frame_images_init(
    struct wndl_frame_images *images, struct wndl_mem *mem);
void wndl_frame_images_free(struct wndl_frame_images *images);

/* Whether there is markup in `text`: it may be in a piece without frames. */
bool wndl_frame_has_markup(struct wndl_bytes text);

/*
 * Reads the tables of the next piece of text; of the tables before, only the
 * last is kept. All is copied. At most 65,536 rows of a table and as many
 * tables of a piece count. False when memory is out.
 */
bool wndl_frame_images_read(
    struct wndl_frame_images *images, struct wndl_bytes text);

/*
 * The image that had `address` in the table before `at`, an offset in the last
 * piece, else in the table after it; or NULL. It lives until the next read.
 */
const struct wndl_frame_image *wndl_frame_images_find(
    const struct wndl_frame_images *images, uint64_t address, size_t at);

/*
 * The image of that number in the list of images, of JSON, after `at`, else of
 * the last before it.
 */
const struct wndl_frame_image *wndl_frame_images_listed(
    const struct wndl_frame_images *images, uint64_t number, size_t at);

/* The same for the name of a file, without its folders. */
const struct wndl_frame_image *wndl_frame_images_named(
    const struct wndl_frame_images *images, struct wndl_bytes name, size_t at);

#endif
