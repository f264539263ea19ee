/* SPDX-License-Identifier: MIT */
/*
 * fix_batch: the frames of a piece of text, their answers, and how a frame is
 * written. Shared by the files of analyze/fix.
 */
#ifndef WNDL_ANALYZE_FIX_BATCH_H
#define WNDL_ANALYZE_FIX_BATCH_H

#include "analyze/fix/modules.h"
#include "base/buf.h"
#include "in/frame_text/images.h"

/*
 * A frame. `module` 0: the frame stays as it is. `answer` is empty if it is not
 * known.
 */
struct wndl_fix_frame {
    struct wndl_frame_text text;
    uint32_t module;
    uint64_t offset; /* from the image base, as in the text */
    uint64_t rva;    /* of the byte to look up */
    struct wndl_symbols answer;
};

/* The inside of a wndl_fix. */
struct wndl_fix {
    struct wndl_mem *mem;
    struct wndl_fix_options options;
    struct wndl_fix_listener listener;
    struct wndl_fix_modules modules;
    struct wndl_frame_images images; /* of the text */
    struct wndl_buf path;            /* scratch: a path without escapes */
    struct wndl_buf plain;           /* scratch: text without controls */
    bool interrupted;                /* by a signal; for the next glibc frame */
};

/* Frames in the order of the text. */
struct wndl_fix_batch {
    struct wndl_arena arena;
    struct wndl_vec frames; /* struct wndl_fix_frame */
};

/* The frame at `index`, which is below the count. */
static inline struct wndl_fix_frame *wndl_fix_frame_at(
    const struct wndl_fix_batch *batch, size_t index)
{
    return wndl_vec_at(&batch->frames, index);
}

/* Starts a scan of `text` for the frames that are to be named. */
void wndl_fix_scan_init(const struct wndl_fix *fix,
    struct wndl_frame_scan *scan, struct wndl_bytes text);

/*
 * Finds the frames of `text` and looks them up. NOMEM. Ends with
 * wndl_fix_batch_free, even after a failure.
 */
enum wndl_status wndl_fix_batch_fill(struct wndl_fix_batch *batch,
    struct wndl_fix *fix, struct wndl_bytes text) WNDL_MUST_USE;
void wndl_fix_batch_free(struct wndl_fix_batch *batch);

/* The number of frames that are inlined into the frame of the text. */
static inline size_t wndl_fix_inlined(const struct wndl_fix_frame *frame)
{
    return frame->answer.count == 0 ? 0 : frame->answer.count - 1;
}

/* Output of fixed text. The first failure stays in `status`. */
struct wndl_fix_output {
    const struct wndl_fix_sink *sink;
    struct wndl_buf buf;
    enum wndl_status status;
};

/* Starts an empty output to `sink`, which is borrowed. */
void wndl_fix_output_init(struct wndl_fix_output *output,
    const struct wndl_fix_sink *sink, struct wndl_mem *mem);

/* Between pieces of text: writes to the sink if there is enough. */
void wndl_fix_output_step(struct wndl_fix_output *output);

/* Writes the rest to the sink and frees. Returns the status. */
enum wndl_status wndl_fix_output_end(
    struct wndl_fix_output *output) WNDL_MUST_USE;

/* Appends the replacement for the bytes [start, end) of the frame. */
void wndl_fix_write_frame(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_frame *frame, struct wndl_buf *out);

/* The same for the inlined frame `index`; 0 is the innermost. */
void wndl_fix_write_inlined(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_frame *frame, size_t index, struct wndl_buf *out);

#endif
