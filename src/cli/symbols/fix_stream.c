/* SPDX-License-Identifier: MIT */
#include "cli/symbols/fix_stream.h"

#include "base/buf.h"
#include "cli/core/command.h"
#include "in/dmd_tables.h"

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

/* Reads once, and does not wait for more input. */
static enum wndl_fix_end read_some(struct flow *f)
{
    struct wndl_fix_stream *stream = f->stream;
    bool full = f->text.size >= f->want || f->dmd != WNDL_DMD_NO;
    size_t room = full ? SMALL_PIECE : f->want - f->text.size;
    uint8_t *to = wndl_buf_reserve(&f->text, room);
    if (to == NULL)
        return WNDL_FIX_NO_MEMORY;
    ssize_t got = read(stream->input, to, room);
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

/* Writes a piece of the result (struct wndl_fix_sink). */
static bool take_piece(void *context, struct wndl_bytes piece)
{
    struct flow *f = context;
    f->end = write_all(f->stream, piece.data, piece.size);
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
    return f->text.size < f->want &&
           (f->regular || wait_for(f->stream->input, POLLIN, 0));
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
            return end;
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

enum wndl_fix_end wndl_fix_stream_run(struct wndl_fix_stream *stream)
{
    struct stat st;
    struct flow f = {.stream = stream, .want = SMALL_PIECE};
    f.dmd = stream->dmd ? WNDL_DMD_TOO_SHORT : WNDL_DMD_NO;
    f.regular = fstat(stream->input, &st) == 0 && S_ISREG(st.st_mode);
    wndl_buf_init(&f.text, wndl_mem_libc());
    enum wndl_fix_end end = run_flow(&f);
    wndl_buf_free(&f.text);
    return end;
}
