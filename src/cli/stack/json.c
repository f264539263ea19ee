/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "cli/stack/show.h"
#include "cli/stack/signal.h"
#include "model/certainty.h"

#include <inttypes.h>

static void add_text(struct wndl_buf *out, const char *name, const char *text)
{
    wndl_buf_printf(out, "\"%s\":", name);
    wndl_json_text(out, text);
}

static void add_places(const struct wndl_stack_show *show,
    const struct wndl_snapshot_frame *frame, struct wndl_buf *out)
{
    size_t count = wndl_stack_place_count(show->names, frame);
    const char *head = "{";
    for (size_t i = 0; i < count; i++) {
        const struct wndl_stack_place place =
            wndl_stack_place(show->names, frame, i);
        if (place.function[0] == '\0' && place.file[0] == '\0')
            continue;
        wndl_buf_text(out, head);
        head = ",{";
        add_text(out, "function", place.function);
        if (place.file[0] != '\0') {
            wndl_buf_byte(out, ',');
            add_text(out, "file", place.file);
        }
        if (place.line != 0)
            wndl_buf_printf(out, ",\"line\":%" PRIu32, place.line);
        wndl_buf_printf(
            out, ",\"inlined\":%s}", place.inlined ? "true" : "false");
    }
}

static void add_frame(const struct wndl_stack_show *show,
    const struct wndl_snapshot_frame *frame, struct wndl_buf *out)
{
    const struct wndl_snapshot_image *image =
        wndl_stack_image(show->snapshot, frame);
    wndl_buf_printf(out, "{\"address\":\"0x%" PRIx64 "\"", frame->address);
    if (image != NULL) {
        wndl_buf_byte(out, ',');
        add_text(out, "module", image->path);
        wndl_buf_printf(out, ",\"offset\":\"0x%" PRIx64 "\"",
            wndl_stack_address(frame) - image->module.start);
    }
    wndl_buf_printf(out, ",\"interrupted\":%s,\"certainty\":\"%s\"",
        frame->interrupted ? "true" : "false",
        wndl_certainty_name(wndl_certainty_of_how(frame->how)));
    wndl_buf_text(out, ",\"functions\":[");
    add_places(show, frame, out);
    wndl_buf_text(out, "]}");
}

static void add_file(
    const struct wndl_snapshot_file *file, struct wndl_buf *out)
{
    wndl_buf_printf(out, "{\"descriptor\":%d", file->descriptor);
    if (file->path != NULL) {
        wndl_buf_byte(out, ',');
        add_text(out, "path", file->path);
    }
    wndl_buf_byte(out, '}');
}

static void add_call(
    const struct wndl_snapshot_call *call, struct wndl_buf *out)
{
    wndl_buf_printf(out, ",\"call\":{\"number\":%" PRIu64, call->number);
    if (call->name != NULL) {
        wndl_buf_byte(out, ',');
        add_text(out, "name", call->name);
    }
    if (call->path != NULL) {
        wndl_buf_byte(out, ',');
        add_text(out, "path", call->path);
    }
    wndl_buf_text(out, ",\"files\":[");
    for (size_t i = 0; i < call->file_count; i++) {
        wndl_buf_text(out, i == 0 ? "" : ",");
        add_file(&call->files[i], out);
    }
    wndl_buf_printf(out, "],\"files_left_out\":%zu}", call->files_left_out);
}

static void add_registers(
    const struct wndl_thread_regs *regs, struct wndl_buf *out)
{
    const char *name;
    wndl_buf_text(out, ",\"registers\":{");
    for (size_t i = 0; (name = wndl_regs_name(regs->machine, i)) != NULL; i++)
        wndl_buf_printf(out, "%s\"%s\":\"0x%" PRIx64 "\"", i == 0 ? "" : ",",
            name, regs->word[i]);
    wndl_buf_byte(out, '}');
}

static void add_signal(
    const struct wndl_snapshot_signal *signal, struct wndl_buf *out)
{
    char name[WNDL_SIGNAL_NAME];
    wndl_buf_printf(
        out, ",\"signal\":{\"number\":%" PRId32 ",", signal->number);
    add_text(out, "name", wndl_signal_name(signal->number, name));
    wndl_buf_printf(out, ",\"code\":%" PRId32, signal->code);
    if (signal->has_address)
        wndl_buf_printf(out, ",\"address\":\"0x%" PRIx64 "\"", signal->address);
    if (signal->has_sender)
        wndl_buf_printf(out, ",\"sender\":%" PRIu32 ",\"user\":%" PRIu32,
            signal->sender, signal->user);
    wndl_buf_byte(out, '}');
}

static void add_missing(const struct wndl_snapshot *s, struct wndl_buf *out)
{
    const char *head = "";
    wndl_buf_text(out, ",\"not_used\":[");
    for (size_t i = 0; i < s->images.len; i++) {
        const struct wndl_snapshot_image *image = wndl_vec_at(&s->images, i);
        if (image->trouble == NULL || !wndl_stack_has_frames(s, i))
            continue;
        wndl_buf_printf(out, "%s{", head);
        add_text(out, "path", image->path);
        wndl_buf_byte(out, ',');
        add_text(out, "why", image->trouble);
        wndl_buf_byte(out, '}');
        head = ",";
    }
    wndl_buf_byte(out, ']');
}

/* The members that a core file alone has. */
static void add_core(const struct wndl_snapshot *s, struct wndl_buf *out)
{
    char text[600];
    if (s->core == NULL)
        return;
    wndl_buf_byte(out, ',');
    add_text(out, "core", s->core);
    if (s->signal.number != 0)
        add_signal(&s->signal, out);
    if (s->damage.status != WNDL_OK) {
        wndl_buf_byte(out, ',');
        add_text(out, "damage", wndl_error_text(&s->damage, text, sizeof text));
    }
    add_missing(s, out);
}

static void add_thread(const struct wndl_stack_show *show,
    const struct wndl_snapshot_thread *thread, struct wndl_buf *out)
{
    wndl_buf_printf(out, "\n{\"tid\":%" PRIu32 ",", thread->tid);
    add_text(out, "name", thread->name);
    wndl_buf_printf(out, ",\"state\":\"%s\"", wndl_stack_state(thread->state));
    if (thread->call.is_known)
        add_call(&thread->call, out);
    if (thread->stopped_ns != 0)
        wndl_buf_printf(out, ",\"stopped_ns\":%" PRIu64, thread->stopped_ns);
    if (thread->trouble != NULL) {
        wndl_buf_byte(out, ',');
        add_text(out, "trouble", thread->trouble);
    } else if (thread->state != WNDL_THREAD_ENDED) {
        wndl_buf_byte(out, ',');
        add_text(out, "end", wndl_walk_end_text(thread->end));
    }
    if (thread->unread != 0)
        wndl_buf_printf(out, ",\"unread\":\"0x%" PRIx64 "\"", thread->unread);
    if (thread->is_first)
        add_registers(&thread->regs, out);
    wndl_buf_text(out, ",\"frames\":[");
    for (size_t i = 0; i < thread->frame_count; i++) {
        wndl_buf_text(out, i == 0 ? "\n" : ",\n");
        add_frame(show, &thread->frames[i], out);
    }
    wndl_buf_text(out, "]}");
}

void wndl_stack_json(const struct wndl_stack_show *show, struct wndl_buf *out)
{
    const struct wndl_snapshot *s = show->snapshot;
    wndl_buf_printf(out,
        "{\"format\":\"windlass-stack\",\"version\":1,\"pid\":%" PRIu32 ",",
        s->pid);
    add_text(out, "executable", s->executable);
    wndl_buf_byte(out, ',');
    add_text(out, "command", s->command);
    add_core(s, out);
    wndl_buf_printf(out, ",\"ended_meanwhile\":%" PRIu32 ",\"threads\":[",
        s->ended_meanwhile);
    for (size_t i = 0; i < s->threads.len; i++) {
        wndl_buf_text(out, i == 0 ? "" : ",");
        add_thread(show, wndl_vec_at(&s->threads, i), out);
    }
    wndl_buf_text(out, "]}\n");
}
