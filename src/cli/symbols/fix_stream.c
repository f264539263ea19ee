/* SPDX-License-Identifier: MIT */
#include "cli/symbols/fix_stream.h"

#include "base/buf.h"
#include "cli/core/command.h"
#include "in/core/unpacker.h"
#include "in/dmd_tables.h"
#include "out/core/packer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Text without frames is best kept in the processor's cache; frames are best
 * looked up together. A line longer than LONGEST_LINE goes out in pieces, and
 * a frame that is cut so stays as it is.
 */
enum {
    SMALL_PIECE = 256 << 10,
    LARGE_PIECE = 16 << 20,
    LONGEST_LINE = 64 << 20,
    INPUT_PIECE = 128 << 10, /* of packed input, and of the first read */
};

/* `text` begins at the start of a line, or in the middle of a long one. */
struct flow {
    struct wndl_fix_stream *stream;
    struct wndl_buf text;
    size_t lines; /* bytes of `text` up to the end of its last whole line */
    size_t want;
    bool regular;
    bool ended;
    enum wndl_dmd_guess dmd;
    enum wndl_fix_end end; /* of writing */
    enum wndl_packing packing;
    struct wndl_unpacker unpacker;
    struct wndl_packer packer;
    bool packs;
    struct wndl_buf input;    /* read, and perhaps packed */
    struct wndl_bytes unread; /* the rest of it */
    struct wndl_buf packed;   /* output that is to be written */
};

static bool wait_for(int fd, short events, int timeout)
{
    struct pollfd p = {.fd = fd, .events = events};
    return poll(&p, 1, timeout) > 0;
}

static enum wndl_fix_end write_all(
    struct wndl_fix_stream *stream, const uint8_t *data, size_t size)
{
    while (size != 0) {
        ssize_t written = write(stream->output, data, size);
        if (written < 0 && errno == EAGAIN) {
            wait_for(stream->output, POLLOUT, -1);
        } else if (written < 0 && errno != EINTR) {
            stream->sys_errno = errno;
            return errno == EPIPE ? WNDL_FIX_NO_READER : WNDL_FIX_CANNOT_WRITE;
        } else if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
    return WNDL_FIX_DONE;
}

/* ---- input */

/* Reads more into the empty `input`; 0 at the end, -1 for errno. */
static ssize_t fill_input(struct flow *f)
{
    wndl_buf_clear(&f->input);
    uint8_t *to = wndl_buf_reserve(&f->input, INPUT_PIECE);
    ssize_t got = -1;
    errno = ENOMEM;
    if (to != NULL)
        got = read(f->stream->input, to, INPUT_PIECE);
    f->input.size = got > 0 ? (size_t)got : 0;
    f->unread = (struct wndl_bytes){f->input.data, f->input.size};
    return got;
}

/* Bytes that are packed; -1 also for damage, which is in the stream. */
static ssize_t read_packed(struct flow *f, uint8_t *to, size_t room)
{
    struct wndl_error *damage = &f->stream->damage;
    struct wndl_unpacked unpacked = {to, room, 0};
    while (unpacked.size == 0) {
        ssize_t filled = f->unread.size != 0 ? 1 : fill_input(f);
        if (filled <= 0)
            return filled < 0 ||
                           wndl_unpacker_end(&f->unpacker, damage) == WNDL_OK
                       ? filled
                       : -1;
        if (wndl_unpacker_some(&f->unpacker, &f->unread, &unpacked, damage) !=
            WNDL_OK)
            return -1;
    }
    return (ssize_t)unpacked.size;
}

static ssize_t read_bytes(struct flow *f, uint8_t *to, size_t room)
{
    if (f->packing != WNDL_PACKED_NOT)
        return read_packed(f, to, room);
    if (f->unread.size == 0)
        return read(f->stream->input, to, room);
    size_t size = f->unread.size < room ? f->unread.size : room;
    memcpy(to, f->unread.data, size);
    f->unread.data += size;
    f->unread.size -= size;
    return (ssize_t)size;
}

/* Reads once, and does not wait for more input. */
static enum wndl_fix_end read_some(struct flow *f)
{
    struct wndl_fix_stream *stream = f->stream;
    bool full = f->text.size >= f->want || f->dmd != WNDL_DMD_NO;
    size_t room = full ? SMALL_PIECE : f->want - f->text.size;
    uint8_t *to = wndl_buf_reserve(&f->text, room);
    if (to == NULL)
        return WNDL_FIX_NO_MEMORY;
    ssize_t got = read_bytes(f, to, room);
    if (got < 0 && stream->damage.status != WNDL_OK)
        return WNDL_FIX_CANNOT_READ;
    if (got < 0 && errno == EAGAIN) {
        wait_for(stream->input, POLLIN, -1);
        return WNDL_FIX_DONE;
    }
    if (got < 0 && errno != EINTR) {
        stream->sys_errno = errno;
        return WNDL_FIX_CANNOT_READ;
    }
    f->ended = got == 0;
    const uint8_t *newline = got > 0 ? memrchr(to, '\n', (size_t)got) : NULL;
    if (newline != NULL)
        f->lines = (size_t)(newline - f->text.data) + 1;
    f->text.size += got > 0 ? (size_t)got : 0;
    return WNDL_FIX_DONE;
}

/* Reads the first bytes, by which packed text is known. */
static enum wndl_fix_end read_head(struct flow *f)
{
    bool more = true;
    while (more) {
        uint8_t *to = wndl_buf_reserve(&f->input, INPUT_PIECE);
        if (to == NULL)
            return WNDL_FIX_NO_MEMORY;
        ssize_t got = read(f->stream->input, to, INPUT_PIECE);
        if (got < 0 && errno == EAGAIN) {
            wait_for(f->stream->input, POLLIN, -1);
            continue;
        }
        if (got < 0 && errno != EINTR) {
            f->stream->sys_errno = errno;
            return WNDL_FIX_CANNOT_READ;
        }
        f->input.size += got > 0 ? (size_t)got : 0;
        f->unread = (struct wndl_bytes){f->input.data, f->input.size};
        f->packing = wndl_packing_of(f->unread, &more);
        more = (more && got != 0) || got < 0;
    }
    return WNDL_FIX_DONE;
}

static enum wndl_fix_end open_packing(struct flow *f)
{
    bool opened = true;
    if (f->packing == WNDL_PACKED_NOT)
        return WNDL_FIX_DONE;
    if (f->stream->repack) {
        opened = wndl_packer_open(&f->packer, f->packing == WNDL_PACKED_ZSTD);
        f->packs = opened;
    }
    return wndl_unpacker_open(&f->unpacker, f->packing, wndl_mem_libc()) ==
                       WNDL_OK &&
                   opened
               ? WNDL_FIX_DONE
               : WNDL_FIX_NO_MEMORY;
}

/* ---- output */

static enum wndl_fix_end write_packed(
    struct flow *f, struct wndl_bytes piece, bool last)
{
    wndl_buf_clear(&f->packed);
    if (!wndl_packer_add(&f->packer, piece, last, &f->packed))
        return WNDL_FIX_NO_MEMORY;
    return write_all(f->stream, f->packed.data, f->packed.size);
}

/* Writes a piece of the result (struct wndl_fix_sink). */
static bool take_piece(void *context, struct wndl_bytes piece)
{
    struct flow *f = context;
    f->end = f->packs ? write_packed(f, piece, false)
                      : write_all(f->stream, piece.data, piece.size);
    return f->end == WNDL_FIX_DONE;
}

/* Takes `size` bytes off the front of the text, fixed, to the output. */
static enum wndl_fix_end pass_on(struct flow *f, size_t size, bool frames)
{
    struct wndl_fix_sink sink = {f, take_piece};
    struct wndl_bytes text = {f->text.data, size};
    if (!frames)
        (void)take_piece(f, text);
    else if (wndl_fix_text(f->stream->fix, text, &sink) == WNDL_NOMEM)
        f->end = WNDL_FIX_NO_MEMORY;
    f->text.size -= size;
    f->lines = 0;
    if (f->text.size != 0)
        memmove(f->text.data, f->text.data + size, f->text.size);
    return f->end;
}

static bool more_is_there(const struct flow *f)
{
    return f->text.size < f->want && (f->regular || f->unread.size != 0 ||
                                         wait_for(f->stream->input, POLLIN, 0));
}

/* The whole lines. The first frames wait for more, if that is there already. */
static enum wndl_fix_end pass_lines(struct flow *f)
{
    struct wndl_bytes lines = {f->text.data, f->lines};
    bool frames = wndl_fix_has_frames(f->stream->fix, lines);
    bool first = frames && f->want == SMALL_PIECE;
    f->want = frames ? LARGE_PIECE : SMALL_PIECE;
    if (first && more_is_there(f))
        return WNDL_FIX_DONE;
    return pass_on(f, f->lines, frames);
}

/* Reads until the input is known to be a DMD file, which is read whole. */
static bool must_be_whole(struct flow *f)
{
    if (f->dmd == WNDL_DMD_TOO_SHORT)
        f->dmd =
            wndl_dmd_guess((struct wndl_bytes){f->text.data, f->text.size});
    return f->dmd != WNDL_DMD_NO;
}

static enum wndl_fix_end pass_dmd(struct flow *f)
{
    struct wndl_error err = {0};
    struct wndl_fix_sink sink = {f, take_piece};
    struct wndl_bytes text = {f->text.data, f->text.size};
    char detail[320];
    switch (wndl_fix_dmd(f->stream->fix, text, &sink, &err)) {
    case WNDL_OK:
    case WNDL_IO:
        return f->end;
    case WNDL_NOMEM:
        return WNDL_FIX_NO_MEMORY;
    default:
        wndl_cli_error("%s: %s; no frames are added to its tables",
            f->stream->name, wndl_error_text(&err, detail, sizeof detail));
        return pass_on(f, f->text.size, true);
    }
}

static enum wndl_fix_end run_flow(struct flow *f)
{
    while (!f->ended) {
        enum wndl_fix_end end = read_some(f);
        if (end != WNDL_FIX_DONE)
            return f->text.size == 0 ||
                           pass_on(f, f->text.size, true) == WNDL_FIX_DONE
                       ? end
                       : f->end;
        if (f->text.size >= LONGEST_LINE && f->lines == 0)
            f->lines = f->text.size;
        if (must_be_whole(f) || f->ended || f->lines == 0 || more_is_there(f))
            continue;
        end = pass_lines(f);
        if (end != WNDL_FIX_DONE)
            return end;
    }
    if (f->text.size == 0)
        return WNDL_FIX_DONE;
    return f->dmd == WNDL_DMD_YES ? pass_dmd(f)
                                  : pass_on(f, f->text.size, true);
}

static void close_flow(struct flow *f)
{
    if (f->packing != WNDL_PACKED_NOT)
        wndl_unpacker_close(&f->unpacker);
    if (f->packs)
        wndl_packer_close(&f->packer);
    wndl_buf_free(&f->text);
    wndl_buf_free(&f->input);
    wndl_buf_free(&f->packed);
}

enum wndl_fix_end wndl_fix_stream_run(struct wndl_fix_stream *stream)
{
    struct stat st;
    struct flow f = {.stream = stream, .want = SMALL_PIECE};
    f.dmd = stream->dmd ? WNDL_DMD_TOO_SHORT : WNDL_DMD_NO;
    f.regular = fstat(stream->input, &st) == 0 && S_ISREG(st.st_mode);
    wndl_buf_init(&f.text, wndl_mem_libc());
    wndl_buf_init(&f.input, wndl_mem_libc());
    wndl_buf_init(&f.packed, wndl_mem_libc());
    enum wndl_fix_end end = read_head(&f);
    if (end == WNDL_FIX_DONE)
        end = open_packing(&f);
    if (end == WNDL_FIX_DONE)
        end = run_flow(&f);
    if (f.packs && (end == WNDL_FIX_DONE || end == WNDL_FIX_CANNOT_READ)) {
        enum wndl_fix_end last = write_packed(&f, (struct wndl_bytes){0}, true);
        end = last == WNDL_FIX_DONE ? end : last;
    }
    close_flow(&f);
    return end;
}
