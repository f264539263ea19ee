/* SPDX-License-Identifier: MIT */
#include "analyze/fix/fix.h"

#include "analyze/fix/batch.h"
#include "in/frame_text/control.h"

#include <string.h>

enum wndl_status wndl_fix_open(struct wndl_mem *mem,
    const struct wndl_fix_options *options,
    const struct wndl_fix_listener *listener, struct wndl_fix **out)
{
    *out = NULL;
    struct wndl_fix *fix = wndl_mem_zalloc(mem, sizeof *fix);
    if (fix == NULL)
        return WNDL_NOMEM;
    fix->mem = mem;
    fix->options = *options;
    fix->listener = *listener;
    wndl_buf_init(&fix->path, mem);
    wndl_buf_init(&fix->plain, mem);
    wndl_frame_images_init(&fix->images, mem);
    if (!wndl_fix_modules_init(&fix->modules, &fix->options, mem)) {
        wndl_fix_close(fix);
        return WNDL_NOMEM;
    }
    *out = fix;
    return WNDL_OK;
}

void wndl_fix_close(struct wndl_fix *fix)
{
    if (fix == NULL)
        return;
    wndl_fix_modules_free(&fix->modules);
    wndl_frame_images_free(&fix->images);
    wndl_buf_free(&fix->path);
    wndl_buf_free(&fix->plain);
    wndl_mem_free(fix->mem, fix);
}

void wndl_fix_report_lost(const struct wndl_fix *fix)
{
    for (uint32_t i = 1; i < fix->modules.list.len; i++) {
        const struct wndl_fix_module *module =
            wndl_fix_module_at(&fix->modules, i);
        struct wndl_fix_lost lost = wndl_fix_module_lost(module);
        if (module->lack.status != WNDL_OK && !module->complained)
            fix->listener.failed(
                fix->listener.context, module->opened, &module->lack);
        if (lost.first.status != WNDL_OK)
            fix->listener.lost(
                fix->listener.context, module->opened, lost.count, &lost.first);
    }
}

static void copy_text(
    struct wndl_buf *out, struct wndl_bytes text, size_t from, size_t to)
{
    wndl_buf_add(out, text.data + from, to - from);
}

/*
 * A JSON string cannot have another line: inlined frames come before their
 * frame, each ended by an escaped line end. Objects of Apple's are a list.
 */
static void write_escaped_inlines(const struct wndl_fix *fix,
    struct wndl_bytes text, const struct wndl_fix_frame *frame,
    struct wndl_buf *out)
{
    size_t start = frame->text.start;
    size_t number = start;
    while (frame->text.form == WNDL_FRAME_BRACKETED && text.data[number] != '#')
        number--;
    for (size_t i = 0; i < wndl_fix_inlined(frame); i++) {
        wndl_fix_write_inlined(fix, text, frame, i, out);
        wndl_buf_text(out, frame->text.form == WNDL_FRAME_IPS ? "},{" : "\\n");
        copy_text(out, text, number, start);
    }
}

/* Frames [first, last) are those of the line [start, end). */
struct line {
    size_t start;
    size_t end;
    size_t first;
    size_t last;
};

/* The lines of inlined frames repeat the text around the frame. */
static void write_inlined_lines(const struct wndl_fix *fix,
    struct wndl_bytes text, const struct wndl_fix_batch *batch,
    const struct line *line, struct wndl_buf *out)
{
    size_t from = line->start;
    for (size_t k = line->first; k < line->last; k++) {
        const struct wndl_fix_frame *frame = wndl_fix_frame_at(batch, k);
        size_t to = k + 1 == line->last
                        ? line->end
                        : wndl_fix_frame_at(batch, k + 1)->text.start;
        for (size_t i = 0; i < wndl_fix_inlined(frame); i++) {
            copy_text(out, text, from, frame->text.start);
            wndl_fix_write_inlined(fix, text, frame, i, out);
            copy_text(out, text, frame->text.end, to);
            if (to == frame->text.end || text.data[to - 1] != '\n')
                wndl_buf_byte(out, '\n');
        }
        from = frame->text.end;
    }
}

static void write_line(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_batch *batch, const struct line *line,
    struct wndl_buf *out)
{
    bool inlines = fix->options.inlines;
    if (inlines && !fix->options.json)
        write_inlined_lines(fix, text, batch, line, out);
    size_t done = line->start;
    for (size_t k = line->first; k < line->last; k++) {
        const struct wndl_fix_frame *frame = wndl_fix_frame_at(batch, k);
        copy_text(out, text, done, frame->text.start);
        if (inlines && fix->options.json)
            write_escaped_inlines(fix, text, frame, out);
        wndl_fix_write_frame(fix, text, frame, out);
        done = frame->text.end;
    }
    copy_text(out, text, done, line->end);
}

/* The line of frame `first`, which is after `done`. */
static struct line line_of(struct wndl_bytes text,
    const struct wndl_fix_batch *batch, size_t first, size_t done)
{
    const struct wndl_frame_text *frame =
        &wndl_fix_frame_at(batch, first)->text;
    const uint8_t *before =
        memrchr(text.data + done, '\n', frame->start - done);
    const uint8_t *after =
        memchr(text.data + frame->end, '\n', text.size - frame->end);
    struct line line = {done, text.size, first, first + 1};
    if (before != NULL)
        line.start = (size_t)(before - text.data) + 1;
    if (after != NULL)
        line.end = (size_t)(after - text.data) + 1;
    while (line.last < batch->frames.len &&
           wndl_fix_frame_at(batch, line.last)->text.start < line.end)
        line.last++;
    return line;
}

static void write_text(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_batch *batch, struct wndl_fix_output *output)
{
    size_t done = 0;
    for (size_t i = 0; i < batch->frames.len && output->status == WNDL_OK;) {
        struct line line = line_of(text, batch, i, done);
        copy_text(&output->buf, text, done, line.start);
        write_line(fix, text, batch, &line, &output->buf);
        wndl_fix_output_step(output);
        done = line.end;
        i = line.last;
    }
    copy_text(&output->buf, text, done, text.size);
}

/* Whether there are frames, or tables of markup, in text without controls. */
static bool has_plain_frames(
    const struct wndl_fix *fix, struct wndl_bytes plain)
{
    struct wndl_frame_scan scan;
    struct wndl_frame_text frame;
    wndl_fix_scan_init(fix, &scan, plain);
    return wndl_frame_scan_next(&scan, &frame) || wndl_frame_has_markup(plain);
}

bool wndl_fix_has_frames(struct wndl_fix *fix, struct wndl_bytes text)
{
    bool json = fix->options.json;
    bool complete;
    if (!wndl_frame_has_controls(text, json))
        return has_plain_frames(fix, text);
    wndl_buf_clear(&fix->plain);
    uint8_t *copy = wndl_buf_reserve(&fix->plain, text.size);
    if (copy == NULL)
        return true;
    size_t size = wndl_frame_strip_controls(text, json, copy, NULL, &complete);
    return has_plain_frames(fix, (struct wndl_bytes){copy, size});
}

enum wndl_status wndl_fix_text(struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_sink *sink)
{
    struct wndl_fix_batch batch;
    struct wndl_fix_output output;
    wndl_fix_output_init(&output, sink, fix->mem);
    output.status = wndl_fix_batch_fill(&batch, fix, text);
    if (output.status == WNDL_OK)
        write_text(fix, text, &batch, &output);
    wndl_fix_batch_free(&batch);
    return wndl_fix_output_end(&output);
}
