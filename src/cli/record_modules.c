/* SPDX-License-Identifier: MIT */
#include "cli/record_modules.h"

#include "cli/command.h"
#include "cli/unwind_info_text.h"
#include "in/wndl.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST = 12 };

/* A module, and how many different places of it are on stacks. */
struct place_count {
    uint64_t places;
    const struct wndl_image *image;
};

static int compare_counts(const void *a, const void *b)
{
    const struct place_count *p = a, *q = b;
    if (p->places != q->places)
        return p->places > q->places ? -1 : 1;
    return p->image < q->image ? -1 : p->image > q->image;
}

/* NULL: no memory, or nothing to count. */
static struct place_count *count_places(struct wndl_profile *p)
{
    const size_t count = p->images.len;
    struct place_count *counts =
        wndl_arena_calloc(&p->arena, count, sizeof *counts);
    for (size_t i = 0; i < count && counts != NULL; i++)
        counts[i].image = wndl_vec_at(&p->images, i);
    for (size_t i = 0; i < p->frames.len && counts != NULL; i++) {
        const struct wndl_frame_key *f = wndl_vec_at(&p->frames, i);
        if (f->image < count)
            counts[f->image].places++;
    }
    if (counts != NULL)
        qsort(counts, count, sizeof *counts, compare_counts);
    return counts;
}

static void say_module(
    struct wndl_profile *p, const struct place_count *counted)
{
    char share[200];
    struct wndl_unwind_info info;
    struct wndl_bytes name = counted->image->path;
    const char *path = wndl_arena_copy(&p->arena, name.data, name.size);
    if (path == NULL || path[0] != '/')
        return;
    if (wndl_unwind_info_cover(&info, path, wndl_mem_libc(), NULL) == WNDL_OK &&
        wndl_unwind_info_share(share, sizeof share, &info))
        wndl_cli_note("CFI covers %s of %s, %" PRIu64 " place%s on stacks",
            share, path, counted->places, counted->places == 1 ? "" : "s");
    wndl_unwind_info_close(&info);
}

static void say_all(struct wndl_profile *p)
{
    const struct place_count *counts = count_places(p);
    size_t count = p->images.len < MOST ? p->images.len : MOST;
    for (size_t i = 0; i < count && counts != NULL; i++)
        if (counts[i].places != 0)
            say_module(p, &counts[i]);
}

void wndl_record_say_modules(const char *path)
{
    struct wndl_file file;
    struct wndl_profile p;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return;
    if (wndl_profile_init(&p, wndl_mem_libc())) {
        if (wndl_recording_read(&p, file.bytes, NULL) == WNDL_OK)
            say_all(&p);
        wndl_profile_free(&p);
    }
    wndl_file_close(&file);
}
