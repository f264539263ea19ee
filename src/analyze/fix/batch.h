/* SPDX-License-Identifier: MIT */
/*
 * fix_batch: the frames of a piece of text, with what is known of each, and
 * how one is written. The parts of analyze/fix share it.
 */
#ifndef WNDL_ANALYZE_FIX_BATCH_H
#define WNDL_ANALYZE_FIX_BATCH_H

#include "analyze/fix/modules.h"
#include "base/buf.h"

/* `module` 0: the frame stays as it is. `answer` is empty if not known. */
struct wndl_fix_frame {
    struct wndl_frame_text text;
    uint32_t module;
    uint64_t offset; /* from the image base, as in the text */
    uint64_t rva;    /* of the byte to be looked up */
    struct wndl_symbols answer;
};

/* A wndl_fix from the inside. */
struct wndl_fix {
    struct wndl_mem *mem;
    struct wndl_fix_options options;
    struct wndl_fix_listener listener;
    struct wndl_fix_modules modules;
    struct wndl_buf path; /* one without escapes */
    bool interrupted;     /* by a signal: what the next glibc frame was */
};

/* Frames in the order of the text. */
struct wndl_fix_batch {
    struct wndl_arena arena;
    struct wndl_vec frames; /* struct wndl_fix_frame */
};

static inline struct wndl_fix_frame *wndl_fix_frame_at(
    const struct wndl_fix_batch *batch, size_t index)
{
    return wndl_vec_at(&batch->frames, index);
}

/* Finds the frames of `text` and looks them up. NOMEM; free in any case. */
enum wndl_status wndl_fix_batch_fill(struct wndl_fix_batch *batch,
    struct wndl_fix *fix, struct wndl_bytes text) WNDL_MUST_USE;
void wndl_fix_batch_free(struct wndl_fix_batch *batch);

/* How many frames were inlined into the one of the text. */
static inline size_t wndl_fix_inlined(const struct wndl_fix_frame *frame)
{
    return frame->answer.count == 0 ? 0 : frame->answer.count - 1;
}

/* Fixed text on its way. The first failure stays in `status`. */
struct wndl_fix_output {
    const struct wndl_fix_sink *sink;
    struct wndl_buf buf;
    enum wndl_status status;
};

void wndl_fix_output_init(struct wndl_fix_output *output,
    const struct wndl_fix_sink *sink, struct wndl_mem *mem);

/* Between pieces of text: hands on what is enough to be. */
void wndl_fix_output_step(struct wndl_fix_output *output);

/* Hands on the rest and frees. */
enum wndl_status wndl_fix_output_end(
    struct wndl_fix_output *output) WNDL_MUST_USE;

/* What stands for the bytes [start, end) of the frame. */
void wndl_fix_write_frame(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_frame *frame, struct wndl_buf *out);

/* The same for the inlined frame `index`, 0 the innermost. */
void wndl_fix_write_inlined(const struct wndl_fix *fix,
    const struct wndl_fix_frame *frame, size_t index, struct wndl_buf *out);

#endif
