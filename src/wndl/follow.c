/* SPDX-License-Identifier: MIT */
#include "wndl/follow.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool wndl_follower_init(struct wndl_follower *f, struct wndl_profile *p)
{
    *f = (struct wndl_follower){0};
    wndl_buf_init(&f->rest, p->arena.mem);
    return wndl_reader_init(&f->reader, p);
}

void wndl_follower_free(struct wndl_follower *f)
{
    wndl_buf_free(&f->rest);
    wndl_reader_free(&f->reader);
}

static enum wndl_status add_bytes(
    struct wndl_follower *f, int fd, struct wndl_error *err)
{
    uint8_t part[1 << 16];
    const uint64_t before = f->offset;
    for (;;) {
        ssize_t size = pread(fd, part, sizeof part, (off_t)f->offset);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return wndl_fail_errno(err, errno, "cannot read");
        if (size == 0)
            break;
        wndl_buf_add(&f->rest, part, (size_t)size);
        f->offset += (uint64_t)size;
    }
    wndl_reader_allow(&f->reader, before, f->offset);
    return f->rest.failed ? wndl_fail(err, WNDL_NOMEM, "out of memory")
                          : WNDL_OK;
}

static void drop_bytes(struct wndl_follower *f, size_t count)
{
    memmove(f->rest.data, f->rest.data + count, f->rest.size - count);
    f->rest.size -= count;
}

static enum wndl_status begin(struct wndl_follower *f, struct wndl_error *err)
{
    struct wndl_chunk_reader reader;
    const struct wndl_bytes header = {f->rest.data, WNDL_FILE_HEADER_SIZE};
    enum wndl_status status = wndl_chunk_reader_init(&reader, header, err);
    f->begun = status == WNDL_OK;
    if (f->begun)
        drop_bytes(f, WNDL_FILE_HEADER_SIZE);
    return status;
}

/* Reads the whole chunks, and sets *used to their bytes. */
static enum wndl_status read_whole(struct wndl_follower *f, size_t *used)
{
    enum { CRC_SIZE = 4 };
    const struct wndl_bytes bytes = {f->rest.data, f->rest.size};
    struct wndl_chunk_reader chunks = {
        .cursor = wndl_cursor_at(bytes, 0, false)};
    struct wndl_chunk chunk;
    *used = 0;
    while (wndl_chunk_next(&chunks, &chunk)) {
        enum wndl_status status = wndl_reader_chunk(&f->reader, &chunk);
        if (status == WNDL_NOMEM)
            return status;
        f->reader.p->chunks_damaged += status != WNDL_OK;
        *used = (size_t)(chunk.payload.data - bytes.data) + chunk.payload.size +
                CRC_SIZE;
    }
    f->reader.p->chunks_damaged += chunks.cut ? 0 : chunks.damaged;
    *used = chunks.cut ? *used : bytes.size;
    /* Only the end of a file joins these. */
    f->reader.kernel_samples.len = f->reader.in_kernel.len = 0;
    return WNDL_OK;
}

enum wndl_status wndl_follower_read(
    struct wndl_follower *f, int fd, struct wndl_error *err)
{
    size_t used;
    enum wndl_status status = add_bytes(f, fd, err);
    if (status == WNDL_OK && !f->begun && f->rest.size >= WNDL_FILE_HEADER_SIZE)
        status = begin(f, err);
    if (status != WNDL_OK || !f->begun)
        return status;
    status = read_whole(f, &used);
    if (status != WNDL_OK)
        return wndl_fail(err, status, "out of memory");
    drop_bytes(f, used);
    return WNDL_OK;
}
