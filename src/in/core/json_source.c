/* SPDX-License-Identifier: MIT */
#include "in/core/json_source.h"

enum wndl_status wndl_json_source_open(struct wndl_json_source *source,
    struct wndl_bytes file, struct wndl_mem *mem)
{
    *source = (struct wndl_json_source){.gunzip = {.file = file}, .mem = mem};
    if (!wndl_gunzip_is_gzip(file))
        return WNDL_OK;
    enum wndl_status status = wndl_gunzip_open(&source->gunzip, file, mem);
    if (status != WNDL_OK)
        return status;
    source->window = mem->resize(mem, NULL, WNDL_JSON_SOURCE_WINDOW);
    return source->window == NULL ? WNDL_NOMEM : WNDL_OK;
}

void wndl_json_source_close(struct wndl_json_source *source)
{
    wndl_gunzip_close(&source->gunzip);
    wndl_mem_free(source->mem, source->window);
    source->window = NULL;
}

/*
 * A file has one member or several; a tape may be filled up with zeros after
 * it.
 */
static bool is_after_last(const struct wndl_gunzip *g)
{
    size_t at = g->taken;
    while (at < g->file.size && g->file.data[at] == 0)
        at++;
    return g->between && at == g->file.size;
}

/* The part of a member before damage is not returned. */
static enum wndl_status inflate_piece(struct wndl_json_source *s,
    struct wndl_bytes *piece, struct wndl_error *err)
{
    struct wndl_gunzip *g = &s->gunzip;
    size_t got = 0;
    while (got == 0 && !is_after_last(g)) {
        enum wndl_status status = WNDL_TRUNCATED;
        if (g->taken != g->file.size)
            status =
                wndl_gunzip_some(g, s->window, WNDL_JSON_SOURCE_WINDOW, &got);
        if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            return wndl_gunzip_fail(g, status, err);
    }
    *piece = (struct wndl_bytes){s->window, got};
    return WNDL_OK;
}

enum wndl_status wndl_json_source_more(
    void *context, struct wndl_bytes *piece, struct wndl_error *err)
{
    struct wndl_json_source *s = context;
    struct wndl_gunzip *g = &s->gunzip;
    if (s->window != NULL)
        return inflate_piece(s, piece, err);
    *piece = wndl_bytes_slice(g->file, g->taken, g->file.size - g->taken);
    g->taken = g->file.size;
    return WNDL_OK;
}
