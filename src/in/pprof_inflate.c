/* SPDX-License-Identifier: MIT */
#include "in/pprof_inflate.h"

#include "in/core/gunzip.h"

enum { STEP = 1 << 18 };

/* NOT_FOUND: nothing is left. */
static enum wndl_status inflate_some(
    struct wndl_gunzip *g, struct wndl_buf *out, struct wndl_error *err)
{
    size_t got = 0;
    uint8_t *to = wndl_buf_reserve(out, STEP);
    if (to == NULL)
        return wndl_gunzip_fail(g, WNDL_NOMEM, err);
    enum wndl_status status = wndl_gunzip_some(g, to, STEP, &got);
    bool is_used_up = g->taken == g->file.size;
    out->size += got;
    if (status == WNDL_NOMEM)
        return wndl_gunzip_fail(g, status, err);
    if (out->size > WNDL_PPROF_MOST)
        return wndl_fail(
            err, WNDL_LIMIT, "it is larger than 512 MiB when decompressed");
    if (status == WNDL_NOT_FOUND)
        return is_used_up ? WNDL_NOT_FOUND : WNDL_OK;
    if (is_used_up && got != STEP)
        status = WNDL_TRUNCATED;
    return status == WNDL_OK ? status : wndl_gunzip_fail(g, status, err);
}

enum wndl_status wndl_pprof_inflate(
    struct wndl_bytes file, struct wndl_buf *out, struct wndl_error *err)
{
    struct wndl_gunzip g;
    enum wndl_status status = wndl_gunzip_open(&g, file, out->mem);
    if (status != WNDL_OK)
        return wndl_gunzip_fail(&g, status, err);
    while (status == WNDL_OK)
        status = inflate_some(&g, out, err);
    wndl_gunzip_close(&g);
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}
