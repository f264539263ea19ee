/* SPDX-License-Identifier: MIT */
/*
 * fix_write: a frame in its fixed form. Each form keeps the shape that its tool
 * gives to frames with names, if there is one.
 */
#include "analyze/fix/batch.h"
#include "base/json.h"
#include "in/frame_text/control.h"
#include "in/frame_text/members.h"

#include <string.h>

static void add_text(
    const struct wndl_fix *fix, const char *text, struct wndl_buf *out)
{
    struct wndl_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (fix->options.json)
        wndl_json_escaped(out, bytes);
    else
        wndl_buf_add(out, bytes.data, bytes.size);
}

static void add_bytes(struct wndl_buf *out, struct wndl_bytes bytes)
{
    wndl_buf_add(out, bytes.data, bytes.size);
}

/*
 * Writes a colon and a line or column. printf would take longer than all the
 * rest.
 */
static void add_number(struct wndl_buf *out, uint32_t line)
{
    enum { MOST_DIGITS = 10 };
    uint8_t text[1 + MOST_DIGITS];
    size_t at = sizeof text;
    for (; line >= 10; line /= 10)
        text[--at] = (uint8_t)('0' + line % 10);
    text[--at] = (uint8_t)('0' + line);
    text[--at] = ':';
    wndl_buf_add(out, text + at, sizeof text - at);
}

/* Code that the compiler made may have a file without a line. */
static bool has_file(const struct wndl_symbol_frame *symbol)
{
    return symbol->file[0] != '\0';
}

/* "in f file:line:column", as symbolizing sanitizers print it. */
static void write_asan(const struct wndl_fix *fix,
    const struct wndl_frame_text *text, const struct wndl_symbol_frame *symbol,
    struct wndl_buf *out)
{
    wndl_buf_text(out, "in ");
    add_text(fix, symbol->function, out);
    if (!has_file(symbol)) {
        wndl_buf_text(out, " (");
        add_bytes(out, text->path);
        wndl_buf_printf(out, "+0x%llx)", (unsigned long long)text->address);
        return;
    }
    wndl_buf_byte(out, ' ');
    add_text(fix, symbol->file, out);
    if (symbol->line != 0)
        add_number(out, symbol->line);
    if (symbol->line != 0 && symbol->column != 0)
        add_number(out, symbol->column);
}

/* Writes " (file:line)", " [file:line]", or the place that the text had. */
static void write_place(const struct wndl_fix *fix,
    const struct wndl_fix_frame *frame, const struct wndl_symbol_frame *symbol,
    struct wndl_buf *out)
{
    const struct wndl_frame_text *text = &frame->text;
    bool valgrinds = text->form == WNDL_FRAME_VALGRIND;
    /* As fix-stacks does with Breakpad's symbols. */
    bool square = fix->options.breakpad_dirs != NULL;
    uint8_t end = square ? ']' : ')';
    wndl_buf_text(out, square ? " [" : " (");
    if (symbol != NULL && has_file(symbol)) {
        add_text(fix, symbol->file, out);
        if (symbol->line != 0)
            add_number(out, symbol->line);
        wndl_buf_byte(out, end);
        return;
    }
    if (valgrinds)
        wndl_buf_text(out, "in ");
    add_bytes(out, text->path);
    if (!valgrinds)
        wndl_buf_printf(out, " + 0x%llx", (unsigned long long)frame->offset);
    wndl_buf_byte(out, end);
}

/* "#1 in " of an element that has a number. */
static void write_number(
    const struct wndl_frame_text *text, struct wndl_buf *out)
{
    if (text->name.size == 0)
        return;
    wndl_buf_byte(out, '#');
    add_bytes(out, text->name);
    wndl_buf_text(out, " in ");
}

/* Copies the members that do not name the function; false if one is cut. */
static bool copy_members(struct wndl_bytes inside, struct wndl_buf *out)
{
    struct wndl_frame_member member;
    while (wndl_frame_take_member(&inside, &member)) {
        if (wndl_bytes_is(member.key, "symbol") ||
            wndl_bytes_is(member.key, "symbolLocation"))
            continue;
        add_bytes(out, member.whole);
        wndl_buf_byte(out, ',');
    }
    return inside.size == 0;
}

/* The inside of an object of Apple's crash reports, with the members that they
 * have where Xcode named the function. */
static void write_object(const struct wndl_fix *fix, struct wndl_bytes inside,
    const struct wndl_symbol_frame *symbol, bool inlined, struct wndl_buf *out)
{
    size_t before = out->size;
    if (!copy_members(inside, out)) {
        out->size = before;
        add_bytes(out, inside);
        return;
    }
    wndl_buf_text(out, "\"symbol\":\"");
    add_text(fix, symbol->function, out);
    wndl_buf_byte(out, '"');
    if (has_file(symbol)) {
        wndl_buf_text(out, ",\"sourceFile\":\"");
        add_text(fix, symbol->file, out);
        wndl_buf_byte(out, '"');
        if (symbol->line != 0)
            wndl_buf_printf(out, ",\"sourceLine\":%u", symbol->line);
    }
    if (inlined)
        wndl_buf_text(out, ",\"inline\":true");
}

static void write_symbol(const struct wndl_fix *fix,
    const struct wndl_fix_frame *frame, const struct wndl_symbol_frame *symbol,
    struct wndl_buf *out)
{
    if (frame->text.form == WNDL_FRAME_ASAN) {
        write_asan(fix, &frame->text, symbol, out);
        return;
    }
    if (frame->text.form == WNDL_FRAME_MARKUP)
        write_number(&frame->text, out);
    add_text(fix, symbol->function, out);
    write_place(fix, frame, symbol, out);
}

/* Lines without a function name nothing. */
static bool is_known(const struct wndl_fix_frame *frame)
{
    size_t count = frame->answer.count;
    return count != 0 && frame->answer.frames[count - 1].function[0] != '\0';
}

static struct wndl_bytes bytes_of(
    struct wndl_bytes text, const struct wndl_frame_text *frame)
{
    return (struct wndl_bytes){
        text.data + frame->start, frame->end - frame->start};
}

/* A colour that began within the frame goes on after it. */
static void keep_controls(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_frame_text *frame, struct wndl_buf *out)
{
    wndl_frame_copy_controls(bytes_of(text, frame), fix->options.json, out);
}

void wndl_fix_write_frame(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_frame *frame, struct wndl_buf *out)
{
    const struct wndl_frame_text *t = &frame->text;
    if (is_known(frame) && t->form == WNDL_FRAME_IPS) {
        write_object(fix, bytes_of(text, t),
            &frame->answer.frames[frame->answer.count - 1], false, out);
    } else if (is_known(frame)) {
        write_symbol(
            fix, frame, &frame->answer.frames[frame->answer.count - 1], out);
        keep_controls(fix, text, t, out);
    } else if (t->form == WNDL_FRAME_BRACKETED && frame->module != 0) {
        add_bytes(out, t->name);
        write_place(fix, frame, NULL, out);
        keep_controls(fix, text, t, out);
    } else {
        wndl_buf_add(out, text.data + t->start, t->end - t->start);
    }
}

void wndl_fix_write_inlined(const struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_frame *frame, size_t index, struct wndl_buf *out)
{
    if (frame->text.form == WNDL_FRAME_IPS) {
        write_object(fix, bytes_of(text, &frame->text),
            &frame->answer.frames[index], true, out);
        return;
    }
    write_symbol(fix, frame, &frame->answer.frames[index], out);
    wndl_buf_text(out, " [inlined]");
}

enum { ENOUGH_TO_WRITE = 256 << 10 };

void wndl_fix_output_init(struct wndl_fix_output *output,
    const struct wndl_fix_sink *sink, struct wndl_mem *mem)
{
    *output = (struct wndl_fix_output){.sink = sink};
    wndl_buf_init(&output->buf, mem);
}

static void hand_on(struct wndl_fix_output *output)
{
    struct wndl_bytes piece = {output->buf.data, output->buf.size};
    if (output->status == WNDL_OK && output->buf.failed)
        output->status = WNDL_NOMEM;
    if (output->status == WNDL_OK && piece.size != 0 &&
        !output->sink->write(output->sink->context, piece))
        output->status = WNDL_IO;
    wndl_buf_clear(&output->buf);
}

void wndl_fix_output_step(struct wndl_fix_output *output)
{
    if (output->buf.size >= ENOUGH_TO_WRITE)
        hand_on(output);
}

enum wndl_status wndl_fix_output_end(struct wndl_fix_output *output)
{
    hand_on(output);
    wndl_buf_free(&output->buf);
    return output->status;
}
