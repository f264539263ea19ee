/* SPDX-License-Identifier: MIT */
/*
 * compress: sections that are stored compressed. The size in a header is
 * believed only up to the limits of the method and of any real section.
 */
#include "obj/core/object_impl.h"
#include "obj/packed/unpack.h"

#include <elf.h>

/* ELFCOMPRESS_ZSTD, newer than the elf.h of glibc 2.36. */
enum { COMPRESS_ZSTD = 2 };

static bool is_zdebug(struct wndl_bytes name)
{
    static const char prefix[] = ".zdebug_";
    return wndl_bytes_is(wndl_bytes_slice(name, 0, sizeof prefix - 1), prefix);
}

static struct wndl_packed read_chdr(
    const struct wndl_object *object, struct wndl_bytes stored)
{
    struct wndl_packed packed = {0};
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

static struct wndl_packed read_zdebug(struct wndl_bytes stored)
{
    struct wndl_packed packed = {.method = ELFCOMPRESS_ZLIB};
    struct wndl_cursor c = wndl_cursor_at(stored, 0, true);
    struct wndl_cursor magic = wndl_cursor_sub(&c, 4);
    packed.size = wndl_cursor_u64(&c);
    packed.failed =
        c.failed || !wndl_bytes_is((struct wndl_bytes){magic.start, 4}, "ZLIB");
    packed.body =
        wndl_bytes_slice(stored, wndl_cursor_offset(&c), wndl_cursor_left(&c));
    return packed;
}

static struct wndl_packed read_packed(const struct wndl_object *object,
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
    struct wndl_packed packed = read_packed(object, section, stored);
    if (!packed.failed)
        section->view.size = packed.size;
}

/*
 * Checks the size against the method's own limits, before any memory is used.
 */
static const char *find_lie(const struct wndl_packed *packed)
{
    /* Deflate's best: 258 bytes from 2 bits, 1032 bytes from one. */
    enum { ZLIB_RATIO = 1032 };
    if (packed->method == ELFCOMPRESS_ZLIB &&
        packed->size / ZLIB_RATIO > packed->body.size)
        return "claims to inflate to more than deflate can";
    if (packed->method == COMPRESS_ZSTD &&
        !wndl_zstd_may_give(packed->body, packed->size))
        return "states another size than its zstd data";
    if (!wndl_unpack_plausible(packed->body.size, packed->size))
        return "claims to inflate to more than is plausible";
    return NULL;
}

static enum wndl_status check_packed(const struct wndl_object_section *section,
    const struct wndl_packed *packed, struct wndl_error *err)
{
    const char *name = (const char *)section->view.name.data;
    if (packed->failed)
        return wndl_fail_at(
            err, WNDL_MALFORMED, name, 0, "no header of a compressed section");
    if (packed->method != ELFCOMPRESS_ZLIB && packed->method != COMPRESS_ZSTD)
        return wndl_fail_at(
            err, WNDL_UNSUPPORTED, name, 0, "an unknown compression method");
    const char *lie = find_lie(packed);
    if (lie != NULL)
        return wndl_fail_at(err, WNDL_LIMIT, name, 0, lie);
    return WNDL_OK;
}

enum wndl_status wndl_object_inflate_begin(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_packed *packed,
    struct wndl_error *err)
{
    struct wndl_bytes stored;
    enum wndl_status status =
        wndl_object_stored_bytes(object, section, &stored, err);
    if (status != WNDL_OK)
        return status;
    *packed = read_packed(object, section, stored);
    status = check_packed(section, packed, err);
    if (status != WNDL_OK)
        return status;
    /* Not in the arena, which would zero hundreds of megabytes for nothing. */
    size_t size = packed->size == 0 ? 1 : (size_t)packed->size;
    section->own = object->mem->resize(object->mem, NULL, size);
    if (section->own == NULL)
        return wndl_fail_at(err, WNDL_NOMEM,
            (const char *)section->view.name.data, 0, "no memory to inflate");
    return WNDL_OK;
}

enum wndl_status wndl_object_inflate_run(struct wndl_mem *mem,
    struct wndl_object_section *section, const struct wndl_packed *packed,
    struct wndl_error *err)
{
    struct wndl_unpack unpack = {
        mem, packed->body, section->own, (size_t)packed->size, 0};
    bool zstd = packed->method == COMPRESS_ZSTD;
    enum wndl_status status =
        zstd ? wndl_unpack_zstd(&unpack) : wndl_unpack_zlib(&unpack);
    if (status == WNDL_OK)
        return status;
    const char *what = zstd ? "damaged zstd data, or not of the size it states"
                            : "damaged zlib data, or not of the size it states";
    return wndl_fail_at(err, status, (const char *)section->view.name.data,
        section->stored_size - packed->body.size + unpack.taken,
        status == WNDL_NOMEM ? "no memory to inflate" : what);
}

enum wndl_status wndl_object_inflate(struct wndl_object *object,
    struct wndl_object_section *section, struct wndl_error *err)
{
    struct wndl_packed packed;
    enum wndl_status status =
        wndl_object_inflate_begin(object, section, &packed, err);
    if (status == WNDL_OK)
        status = wndl_object_inflate_run(object->mem, section, &packed, err);
    return status;
}
