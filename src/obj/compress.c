/* SPDX-License-Identifier: MIT */
/*
 * compress: sections that are stored deflated. How large one becomes is
 * believed only as far as deflate can go.
 */
#include "obj/object_impl.h"

#include <elf.h>
#include <zlib.h>

/* Deflate's best: 258 bytes from 2 bits, 1032 bytes from one. */
enum { MAX_RATIO = 1032 };

/* ELFCOMPRESS_ZSTD, newer than the elf.h of glibc 2.36. */
enum { COMPRESS_ZSTD = 2 };

/* zlib takes and gives at most this much at once. */
static const uint64_t MAX_STEP = UINT32_C(1) << 30;

static bool is_zdebug(struct wndl_bytes name)
{
    static const char prefix[] = ".zdebug_";
    return wndl_bytes_is(wndl_bytes_slice(name, 0, sizeof prefix - 1), prefix);
}

struct packed {
    struct wndl_bytes body; /* the zlib stream */
    uint64_t size;          /* inflated, as claimed */
    uint32_t method;        /* ELFCOMPRESS_* */
    bool failed;            /* no room for the header, or not one */
};

static struct packed read_chdr(
    const struct wndl_object *object, struct wndl_bytes stored)
{
    struct packed packed = {0};
    struct wndl_cursor c = wndl_cursor_at(stored, 0, object->big_endian);
    packed.method = wndl_cursor_u32(&c);
    if (object->address_size == 8) {
        wndl_cursor_skip(&c, 4); /* ch_reserved */
        packed.size = wndl_cursor_u64(&c);
        wndl_cursor_skip(&c, 8); /* ch_addralign */
    } else {
        packed.size = wndl_cursor_u32(&c);
        wndl_cursor_skip(&c, 4);
    }
    packed.failed = c.failed;
    packed.body =
        wndl_bytes_slice(stored, wndl_cursor_offset(&c), wndl_cursor_left(&c));
    return packed;
}

static struct packed read_zdebug(struct wndl_bytes stored)
{
    struct packed packed = {.method = ELFCOMPRESS_ZLIB};
    struct wndl_cursor c = wndl_cursor_at(stored, 0, true);
    struct wndl_cursor magic = wndl_cursor_sub(&c, 4);
    packed.size = wndl_cursor_u64(&c);
    packed.failed =
        c.failed || !wndl_bytes_is((struct wndl_bytes){magic.start, 4}, "ZLIB");
    packed.body =
        wndl_bytes_slice(stored, wndl_cursor_offset(&c), wndl_cursor_left(&c));
    return packed;
}

static struct packed read_packed(const struct wndl_object *object,
    const struct wndl_object_section *section, struct wndl_bytes stored)
{
    return section->packing == WNDL_PACKING_CHDR ? read_chdr(object, stored)
                                                 : read_zdebug(stored);
}

void wndl_object_detect_packing(
    const struct wndl_object *object, struct wndl_object_section *section)
{
    struct wndl_bytes stored;
    if ((section->view.flags & SHF_COMPRESSED) != 0)
        section->packing = WNDL_PACKING_CHDR;
    else if (is_zdebug(section->view.name))
        section->packing = WNDL_PACKING_ZDEBUG;
    else
        return;
    if (wndl_object_stored_bytes(object, section, &stored, NULL) != WNDL_OK)
        return;
    struct packed packed = read_packed(object, section, stored);
    if (!packed.failed)
        section->view.size = packed.size;
}

static void *zlib_alloc(void *context, uInt items, uInt size)
{
    struct wndl_mem *mem = context;
    return mem->resize(mem, NULL, (size_t)items * size);
}

static void zlib_free(void *context, void *old)
{
    wndl_mem_free(context, old);
}

static uInt step(uint64_t left)
{
    return (uInt)(left < MAX_STEP ? left : MAX_STEP);
}

/* Z_STREAM_END when the stream fills `size` bytes exactly. */
static int run_zlib(z_stream *z, struct wndl_bytes body, uint64_t size)
{
    uint64_t in_left = body.size;
    uint64_t out_left = size;
    int rc = Z_OK;
    while (rc == Z_OK) {
        uInt in = step(in_left);
        uInt out = step(out_left);
        z->avail_in = in;
        z->avail_out = out;
        rc = inflate(z, Z_NO_FLUSH);
        in_left -= in - z->avail_in;
        out_left -= out - z->avail_out;
    }
    return rc == Z_STREAM_END && out_left != 0 ? Z_DATA_ERROR : rc;
}

static enum wndl_status inflate_body(struct wndl_object *object,
    struct wndl_object_section *section, const struct packed *packed,
    struct wndl_error *err)
{
    const char *name = (const char *)section->view.name.data;
    z_stream z = {
        .zalloc = zlib_alloc,
        .zfree = zlib_free,
        .opaque = object->mem,
        .next_in = (Bytef *)packed->body.data,
        .next_out = section->inflated,
    };
    if (inflateInit(&z) != Z_OK)
        return wndl_fail_at(err, WNDL_NOMEM, name, 0, "no memory to inflate");
    int rc = run_zlib(&z, packed->body, packed->size);
    uint64_t at = section->stored_size - packed->body.size + z.total_in;
    inflateEnd(&z);
    if (rc == Z_MEM_ERROR)
        return wndl_fail_at(err, WNDL_NOMEM, name, at, "no memory to inflate");
    if (rc != Z_STREAM_END)
        return wndl_fail_at(err, WNDL_MALFORMED, name, at,
            "damaged zlib data, or not of the size it states");
    return WNDL_OK;
}

static enum wndl_status check_packed(const struct wndl_object_section *section,
    const struct packed *packed, struct wndl_error *err)
{
    const char *name = (const char *)section->view.name.data;
    if (packed->failed)
        return wndl_fail_at(
            err, WNDL_MALFORMED, name, 0, "no header of a compressed section");
    if (packed->method == COMPRESS_ZSTD)
        return wndl_fail_at(err, WNDL_UNSUPPORTED, name, 0,
            "compressed with zstd, which is not read");
    if (packed->method != ELFCOMPRESS_ZLIB)
        return wndl_fail_at(
            err, WNDL_UNSUPPORTED, name, 0, "an unknown compression method");
    if (packed->size / MAX_RATIO > packed->body.size || packed->size > SIZE_MAX)
        return wndl_fail_at(err, WNDL_LIMIT, name, 0,
            "claims to inflate to more than deflate can");
    return WNDL_OK;
}

enum wndl_status wndl_object_inflate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err)
{
    struct wndl_bytes stored;
    enum wndl_status status =
        wndl_object_stored_bytes(object, section, &stored, err);
    if (status != WNDL_OK || section->inflated != NULL)
        return status;
    struct packed packed = read_packed(object, section, stored);
    status = check_packed(section, &packed, err);
    if (status != WNDL_OK)
        return status;
    /* Not of the arena: it would zero hundreds of megabytes for nothing. */
    size_t size = packed.size == 0 ? 1 : (size_t)packed.size;
    section->inflated = object->mem->resize(object->mem, NULL, size);
    if (section->inflated == NULL)
        return wndl_fail_at(err, WNDL_NOMEM,
            (const char *)section->view.name.data, 0, "no memory to inflate");
    status = inflate_body(object, section, &packed, err);
    if (status != WNDL_OK) {
        wndl_mem_free(object->mem, section->inflated);
        section->inflated = NULL;
    }
    return status;
}
