/* SPDX-License-Identifier: MIT */
#include "snapshot/core_unpack.h"

#include "base/buf.h"
#include "obj/packed/lz4.h"
#include "snapshot/core_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
    STEP = 128 * 1024,
    PAGE = 4096,
    HEAD_MOST = 16 * 1024 * 1024, /* program headers end before that */
    SURPLUS_MOST = 16 * 1024 * 1024,
};

/* ---- temporary files */

static int open_unnamed(const char *folder)
{
    char path[PATH_MAX];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (fd >= 0)
        return fd;
    const int size =
        snprintf(path, sizeof path, "%s/windlass-core-XXXXXX", folder);
    if (size < 0 || (size_t)size >= sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

enum wndl_status wndl_core_temporary(int *fd, struct wndl_error *err)
{
    const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    *fd = -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && *fd < 0; i++) {
        if (folders[i] != NULL && folders[i][0] == '/')
            *fd = open_unnamed(folders[i]);
    }
    if (*fd < 0)
        return wndl_fail_errno(err, errno,
            "cannot make a temporary file; set TMPDIR to a folder with room");
    return WNDL_OK;
}

/* ---- the receiver of contents */

/*
 * `status` is the first that is not OK. Invariant: `most` is UINT64_MAX as long
 * as the head does not have all program headers.
 */
struct sink {
    int fd;
    uint64_t size, most; /* bytes so far, and by the program headers */
    uint64_t surplus;    /* bytes after those, which are dropped */
    struct wndl_buf head;
    struct wndl_error *err;
    enum wndl_status status;
};

static void fail(struct sink *sink, enum wndl_status status)
{
    if (sink->status == WNDL_OK)
        sink->status = status;
}

/* Looks for the program headers in the first bytes. */
static void take_head(struct sink *sink, struct wndl_bytes bytes)
{
    uint64_t most;
    struct wndl_error err = {0};
    wndl_buf_add(&sink->head, bytes.data, bytes.size);
    if (sink->head.failed) {
        fail(sink, wndl_fail(sink->err, WNDL_NOMEM, "out of memory"));
        return;
    }
    const enum wndl_status status = wndl_core_extent(
        (struct wndl_bytes){sink->head.data, sink->head.size}, &most, &err);
    if (status == WNDL_TRUNCATED && sink->head.size < HEAD_MOST)
        return;
    if (status == WNDL_OK && most <= INT64_MAX) {
        sink->most = most;
    } else if (status == WNDL_OK) {
        fail(sink, wndl_fail(sink->err, WNDL_MALFORMED,
                       "its program headers are damaged"));
    } else {
        *sink->err = err;
        fail(sink, status);
    }
    wndl_buf_free(&sink->head);
}

static bool is_zero(struct wndl_bytes bytes)
{
    return bytes.size == 0 ||
           (bytes.data[0] == 0 &&
               memcmp(bytes.data, bytes.data + 1, bytes.size - 1) == 0);
}

static void write_at(struct sink *sink, struct wndl_bytes bytes, uint64_t at)
{
    while (bytes.size != 0) {
        const ssize_t n = pwrite(sink->fd, bytes.data, bytes.size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fail(sink, wndl_fail_errno(sink->err, n < 0 ? errno : ENOSPC,
                           "cannot write its contents to a temporary file; set "
                           "TMPDIR to a folder with room"));
            return;
        }
        bytes.data += n;
        bytes.size -= (size_t)n;
        at += (uint64_t)n;
    }
}

/* The number of bytes at the front in pages that are all zeros, or all not. */
static size_t run_of_pages(
    struct wndl_bytes bytes, uint64_t at, bool *are_zeros)
{
    size_t run = 0;
    while (run < bytes.size) {
        size_t page = PAGE - (at + run) % PAGE;
        if (page > bytes.size - run)
            page = bytes.size - run;
        const bool is = is_zero(wndl_bytes_slice(bytes, run, page));
        if (run != 0 && is != *are_zeros)
            break;
        *are_zeros = is;
        run += page;
    }
    return run;
}

/*
 * False: no more is wanted. A little more is, because checksums come after the
 * contents.
 */
static bool put(void *context, struct wndl_bytes bytes)
{
    struct sink *sink = context;
    if (sink->most == UINT64_MAX)
        take_head(sink, bytes);
    const uint64_t room = sink->most > sink->size ? sink->most - sink->size : 0;
    if (bytes.size > room) {
        sink->surplus += bytes.size - room;
        bytes.size = (size_t)room;
    }
    while (bytes.size != 0 && sink->status == WNDL_OK) {
        bool are_zeros = false;
        const size_t run = run_of_pages(bytes, sink->size, &are_zeros);
        if (!are_zeros)
            write_at(sink, wndl_bytes_slice(bytes, 0, run), sink->size);
        sink->size += run;
        bytes = wndl_bytes_slice(bytes, run, bytes.size - run);
    }
    return sink->status == WNDL_OK && sink->surplus <= SURPLUS_MOST;
}

/* ---- formats */

/*
 * Each gives its contents to the sink, until that wants no more. TRUNCATED and
 * MALFORMED, with the offset in the compressed file, NOMEM.
 */

static enum wndl_status gzip_error(int rc, uint64_t at, struct wndl_error *err)
{
    if (rc == Z_MEM_ERROR)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return rc == Z_OK || rc == Z_BUF_ERROR
               ? wndl_fail_at(err, WNDL_TRUNCATED, "file", at,
                     "ends within its gzip data")
               : wndl_fail_at(
                     err, WNDL_MALFORMED, "file", at, "damaged gzip data");
}

/* zlib counts its input in 32 bits. */
static void give_input(z_stream *z, struct wndl_bytes packed)
{
    const size_t taken = (size_t)(z->next_in - packed.data);
    const size_t left = packed.size - taken;
    z->avail_in = left < INT_MAX ? (unsigned)left : INT_MAX;
}

/* A gzip file has one or more members. */
static enum wndl_status unpack_gzip(
    struct wndl_bytes packed, struct sink *sink, struct wndl_error *err)
{
    enum { GZIP = 16 };
    uint8_t out[STEP];
    z_stream z = {.next_in = (Bytef *)packed.data};
    int rc = inflateInit2(&z, MAX_WBITS + GZIP);
    bool goes_on = rc == Z_OK;
    while (goes_on) {
        give_input(&z, packed);
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = inflate(&z, Z_NO_FLUSH);
        goes_on = put(sink, (struct wndl_bytes){out, sizeof out - z.avail_out});
        if (!goes_on || (rc != Z_OK && rc != Z_STREAM_END))
            break;
        const bool is_at_end = z.next_in == packed.data + packed.size;
        if (rc == Z_STREAM_END && is_at_end)
            goes_on = false;
        else if (rc == Z_STREAM_END)
            rc = inflateReset(&z);
    }
    const uint64_t at = (uint64_t)(z.next_in - packed.data);
    inflateEnd(&z);
    if (rc == Z_STREAM_END || (!goes_on && rc == Z_OK))
        return WNDL_OK;
    return gzip_error(rc, at, err);
}

static enum wndl_status unpack_zstd(
    struct wndl_bytes packed, struct sink *sink, struct wndl_error *err)
{
    uint8_t out[STEP];
    ZSTD_inBuffer in = {packed.data, packed.size, 0};
    ZSTD_DStream *z = ZSTD_createDStream();
    if (z == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    size_t rc = 1; /* 0: at the end of a frame, with all of it given */
    bool goes_on = true, is_full = false;
    while (goes_on && (in.pos < in.size || is_full)) {
        ZSTD_outBuffer buffer = {out, sizeof out, 0};
        rc = ZSTD_decompressStream(z, &buffer, &in);
        is_full = buffer.pos == sizeof out && rc != 0;
        goes_on = !ZSTD_isError(rc) &&
                  put(sink, (struct wndl_bytes){out, buffer.pos});
    }
    ZSTD_freeDStream(z);
    if (ZSTD_isError(rc))
        return wndl_fail_at(err, WNDL_MALFORMED, "file", in.pos,
            "damaged zstd data, or of a window that takes too much memory");
    return rc == 0 || !goes_on ? WNDL_OK
                               : wndl_fail_at(err, WNDL_TRUNCATED, "file",
                                     in.pos, "ends within its zstd data");
}

static enum wndl_status xz_error(
    lzma_ret rc, uint64_t at, struct wndl_error *err)
{
    if (rc == LZMA_MEM_ERROR)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (rc == LZMA_MEMLIMIT_ERROR)
        return wndl_fail(err, WNDL_LIMIT, "takes too much memory to unpack");
    return rc == LZMA_BUF_ERROR ? wndl_fail_at(err, WNDL_TRUNCATED, "file", at,
                                      "ends within its xz data")
                                : wndl_fail_at(err, WNDL_MALFORMED, "file", at,
                                      "damaged xz data");
}

static enum wndl_status unpack_xz(
    struct wndl_bytes packed, struct sink *sink, struct wndl_error *err)
{
    const uint64_t most_memory = UINT64_C(256) << 20; /* of the dictionary */
    uint8_t out[STEP];
    lzma_stream xz = LZMA_STREAM_INIT;
    lzma_ret rc = lzma_stream_decoder(&xz, most_memory, LZMA_CONCATENATED);
    bool goes_on = true;
    xz.next_in = packed.data;
    xz.avail_in = packed.size;
    while (goes_on && rc == LZMA_OK) {
        xz.next_out = out;
        xz.avail_out = sizeof out;
        rc = lzma_code(&xz, LZMA_FINISH);
        goes_on =
            put(sink, (struct wndl_bytes){out, sizeof out - xz.avail_out});
    }
    const uint64_t at = packed.size - xz.avail_in;
    lzma_end(&xz);
    return !goes_on || rc == LZMA_STREAM_END ? WNDL_OK : xz_error(rc, at, err);
}

static enum wndl_status unpack_lz4(
    struct wndl_bytes packed, struct sink *sink, struct wndl_error *err)
{
    return wndl_unpack_lz4(packed, put, sink, err);
}

typedef enum wndl_status (*unpacker)(
    struct wndl_bytes packed, struct sink *sink, struct wndl_error *err);

static unpacker unpacker_of(struct wndl_bytes bytes)
{
    static const struct {
        char magic[8];
        size_t size;
        unpacker unpack;
    } kinds[] = {
        {"\x1f\x8b\x08", 3, unpack_gzip}, {"\x28\xb5\x2f\xfd", 4, unpack_zstd},
        {"\x04\x22\x4d\x18", 4, unpack_lz4},
        {"\xfd\x37zXZ", 6, unpack_xz}, /* and a NUL */
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (bytes.size >= kinds[i].size &&
            memcmp(bytes.data, kinds[i].magic, kinds[i].size) == 0)
            return kinds[i].unpack;
    }
    return NULL;
}

/* ---- all */

/* The contents before damage count. */
static enum wndl_status unpack_to(
    struct sink *sink, struct wndl_bytes packed, struct wndl_error *damage)
{
    struct wndl_error own = {0};
    const enum wndl_status status = unpacker_of(packed)(packed, sink, &own);
    if (sink->status != WNDL_OK)
        return sink->status;
    if (status != WNDL_OK && (status == WNDL_NOMEM || sink->size == 0)) {
        *sink->err = own;
        return status;
    }
    if (status != WNDL_OK && damage->status == WNDL_OK)
        *damage = own;
    if (ftruncate(sink->fd, (off_t)sink->size) != 0)
        return wndl_fail_errno(
            sink->err, errno, "cannot write to a temporary file");
    return WNDL_OK;
}

enum wndl_status wndl_core_unpack(
    struct wndl_file *file, struct wndl_error *damage, struct wndl_error *err)
{
    struct wndl_file unpacked = {0};
    struct wndl_error own = {0};
    struct sink sink = {.most = UINT64_MAX, .err = &own};
    if (unpacker_of(file->bytes) == NULL)
        return WNDL_OK;
    enum wndl_status status = wndl_core_temporary(&sink.fd, &own);
    if (status == WNDL_OK) {
        wndl_buf_init(&sink.head, wndl_mem_libc());
        status = unpack_to(&sink, file->bytes, damage);
        wndl_buf_free(&sink.head);
        if (status == WNDL_OK)
            status = wndl_file_of_descriptor(sink.fd, &unpacked, &own);
        close(sink.fd);
    }
    wndl_file_close(file);
    *file = unpacked;
    if (status != WNDL_OK && err != NULL)
        *err = own;
    return status;
}
