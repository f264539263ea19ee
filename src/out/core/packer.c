/* SPDX-License-Identifier: MIT */
#include "out/core/packer.h"

#include <zstd.h>

enum { STEP = 1 << 16 };

bool wndl_packer_open(struct wndl_packer *p, bool zstd)
{
    enum { GZIP_ALONE = 16, MEMORY = 8 }; /* zlib's usual amount */
    *p = (struct wndl_packer){.zstd = zstd ? ZSTD_createCStream() : NULL};
    if (zstd)
        return p->zstd != NULL;
    return deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
               MAX_WBITS + GZIP_ALONE, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
}

void wndl_packer_close(struct wndl_packer *p)
{
    if (p->zstd != NULL)
        ZSTD_freeCStream(p->zstd);
    else
        (void)deflateEnd(&p->z);
}

static bool add_zstd(struct wndl_packer *p, struct wndl_bytes text, bool last,
    struct wndl_buf *out)
{
    ZSTD_inBuffer in = {text.data, text.size, 0};
    for (;;) {
        uint8_t *to = wndl_buf_reserve(out, STEP);
        if (to == NULL)
            return false;
        ZSTD_outBuffer piece = {to, STEP, 0};
        size_t left = ZSTD_compressStream2(
            p->zstd, &piece, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return false;
        out->size += piece.pos;
        if (last ? left == 0 : in.pos == in.size)
            return true;
    }
}

/* `text` is shorter than 4 GiB. */
static bool add_gzip(struct wndl_packer *p, struct wndl_bytes text, bool last,
    struct wndl_buf *out)
{
    p->z.next_in = (z_const Bytef *)text.data;
    p->z.avail_in = (uInt)text.size;
    do {
        uint8_t *to = wndl_buf_reserve(out, STEP);
        if (to == NULL)
            return false;
        p->z.next_out = to;
        p->z.avail_out = STEP;
        (void)deflate(&p->z, last ? Z_FINISH : Z_NO_FLUSH);
        out->size += STEP - p->z.avail_out;
    } while (p->z.avail_out == 0);
    return true;
}

bool wndl_packer_add(struct wndl_packer *p, struct wndl_bytes text, bool last,
    struct wndl_buf *out)
{
    return p->zstd != NULL ? add_zstd(p, text, last, out)
                           : add_gzip(p, text, last, out);
}
