/* SPDX-License-Identifier: MIT */
/*
 * Unpacked bytes go to a file without a name, not to the heap, so that their
 * pages can be released and mapped again like those of any other file.
 */
#include "obj/packed/packed_file.h"
#include "obj/packed/unpack.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum { STEP = 64 * 1024 };

/* The receiver of unpacked bytes; `status` is the first that is not OK. */
struct sink {
    int fd;
    uint64_t packed; /* bytes that all is from */
    uint64_t size;
    struct wndl_error *err;
    enum wndl_status status;
};

static bool put(struct sink *sink, const uint8_t *bytes, size_t size)
{
    const uint64_t most = UINT64_C(4) << 30;
    sink->size += size;
    if (sink->size > most || !wndl_unpack_plausible(sink->packed, sink->size))
        sink->status = wndl_fail(
            sink->err, WNDL_LIMIT, "unpacks to more than is plausible");
    while (size != 0 && sink->status == WNDL_OK) {
        ssize_t n = write(sink->fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            sink->status =
                wndl_fail_errno(sink->err, errno, "cannot unpack the file");
            break;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return sink->status == WNDL_OK;
}

static enum wndl_status xz_error(
    lzma_ret rc, uint64_t at, struct wndl_error *err)
{
    switch (rc) {
    case LZMA_STREAM_END:
        return WNDL_OK;
    case LZMA_MEM_ERROR:
        return wndl_fail(err, WNDL_NOMEM, "no memory to unpack");
    case LZMA_MEMLIMIT_ERROR:
        return wndl_fail(err, WNDL_LIMIT, "takes too much memory to unpack");
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "compressed by an xz filter that is not known");
    case LZMA_BUF_ERROR:
        return wndl_fail_at(
            err, WNDL_TRUNCATED, "file", at, "ends within its xz data");
    default:
        return wndl_fail_at(err, WNDL_MALFORMED, "file", at, "damaged xz data");
    }
}

static enum wndl_status unpack_xz(struct wndl_bytes packed, struct sink *sink)
{
    const uint64_t most_memory = UINT64_C(256) << 20; /* of the dictionary */
    uint8_t out[STEP];
    lzma_stream xz = LZMA_STREAM_INIT;
    lzma_ret rc = lzma_stream_decoder(&xz, most_memory, LZMA_CONCATENATED);
    xz.next_in = packed.data;
    xz.avail_in = packed.size;
    while (rc == LZMA_OK) {
        xz.next_out = out;
        xz.avail_out = sizeof out;
        rc = lzma_code(&xz, LZMA_FINISH);
        if (!put(sink, out, sizeof out - xz.avail_out))
            break;
    }
    uint64_t at = packed.size - xz.avail_in;
    lzma_end(&xz);
    return sink->status != WNDL_OK ? sink->status : xz_error(rc, at, sink->err);
}

static enum wndl_status unpack_zstd(struct wndl_bytes packed, struct sink *sink)
{
    uint8_t out[STEP];
    ZSTD_inBuffer in = {packed.data, packed.size, 0};
    size_t rc = 1; /* 0: at the end of a frame, with all of it given */
    ZSTD_DStream *z = ZSTD_createDStream();
    if (z == NULL)
        return wndl_fail(sink->err, WNDL_NOMEM, "no memory to unpack");
    bool full = false;
    while ((in.pos < in.size || full) && !ZSTD_isError(rc)) {
        ZSTD_outBuffer buffer = {out, sizeof out, 0};
        rc = ZSTD_decompressStream(z, &buffer, &in);
        full = buffer.pos == sizeof out && rc != 0;
        if (!put(sink, out, buffer.pos))
            break;
    }
    ZSTD_freeDStream(z);
    if (sink->status != WNDL_OK)
        return sink->status;
    if (ZSTD_isError(rc))
        return wndl_fail_at(
            sink->err, WNDL_MALFORMED, "file", in.pos, "damaged zstd data");
    return rc == 0 ? WNDL_OK
                   : wndl_fail_at(sink->err, WNDL_TRUNCATED, "file", in.pos,
                         "ends within its zstd data");
}

typedef enum wndl_status (*unpacker)(struct wndl_bytes, struct sink *);

static unpacker unpacker_of(struct wndl_bytes bytes)
{
    static const struct {
        char magic[8];
        size_t size;
        unpacker unpack;
    } kinds[] = {
        {"\xfd\x37zXZ", 6, unpack_xz}, /* and a NUL */
        {"\x28\xb5\x2f\xfd", 4, unpack_zstd},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bytes.size >= kinds[i].size &&
            memcmp(bytes.data, kinds[i].magic, kinds[i].size) == 0)
            return kinds[i].unpack;
    return NULL;
}

enum wndl_status wndl_packed_file_unpack(
    struct wndl_file *file, struct wndl_error *err)
{
    unpacker unpack = unpacker_of(file->bytes);
    if (unpack == NULL)
        return WNDL_OK;
    struct wndl_file unpacked = {0};
    struct sink sink = {
        .fd = memfd_create("windlass-unpacked", MFD_CLOEXEC),
        .packed = file->bytes.size,
        .err = err,
    };
    enum wndl_status status;
    if (sink.fd < 0)
        status = wndl_fail_errno(err, errno, "cannot unpack the file");
    else
        status = unpack(file->bytes, &sink);
    if (status == WNDL_OK)
        status = wndl_file_of_descriptor(sink.fd, &unpacked, err);
    if (sink.fd >= 0)
        close(sink.fd);
    wndl_file_close(file);
    *file = unpacked;
    return status;
}
