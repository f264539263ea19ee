/* SPDX-License-Identifier: MIT */
#include "cli/stack/show.h"
#include "cli/stack/signal.h"
#include "model/certainty.h"

#include <elf.h>
#include <inttypes.h>

const char *wndl_stack_state(enum wndl_thread_state state)
{
    static const char *const names[] = {
        [WNDL_THREAD_RUNNING] = "running",
        [WNDL_THREAD_BLOCKED] = "blocked",
        [WNDL_THREAD_STOPPED] = "stopped",
        [WNDL_THREAD_ENDED] = "ended",
    };
    return names[state];
}

uint64_t wndl_stack_address(const struct wndl_snapshot_frame *frame)
{
    return frame->address - (!frame->interrupted && frame->address != 0);
}

const struct wndl_snapshot_image *wndl_stack_image(
    const struct wndl_snapshot *snapshot,
    const struct wndl_snapshot_frame *frame)
{
    return frame->image == 0 ? NULL
                             : wndl_vec_at(&snapshot->images, frame->image - 1);
}

/* A name from elsewhere must not begin a line of its own. */
static void add_name(struct wndl_buf *out, const char *name)
{
    for (; *name != '\0'; name++) {
        if (*name == '\n')
            wndl_buf_text(out, "\\x0a");
        else
            wndl_buf_byte(out, (uint8_t)*name);
    }
}

/* ---- the call */

static void add_file(
    const struct wndl_snapshot_file *file, bool is_first, struct wndl_buf *out)
{
    wndl_buf_printf(out, "%s%d", is_first ? "" : ", ", file->descriptor);
    if (file->path == NULL)
        return;
    wndl_buf_byte(out, '<');
    add_name(out, file->path);
    wndl_buf_byte(out, '>');
}

static void add_call(
    const struct wndl_snapshot_call *call, struct wndl_buf *out)
{
    if (call->name == NULL)
        wndl_buf_printf(out, "system call %" PRIu64, call->number);
    else
        wndl_buf_text(out, call->name);
    if (call->path == NULL && call->file_count == 0)
        return;
    wndl_buf_byte(out, '(');
    for (size_t i = 0; i < call->file_count; i++)
        add_file(&call->files[i], i == 0, out);
    if (call->files_left_out != 0)
        wndl_buf_printf(out, ", %zu more", call->files_left_out);
    if (call->path != NULL) {
        wndl_buf_byte(out, '"');
        add_name(out, call->path);
        wndl_buf_byte(out, '"');
    }
    wndl_buf_byte(out, ')');
}

static void add_state(
    const struct wndl_snapshot_thread *thread, struct wndl_buf *out)
{
    wndl_buf_text(out, wndl_stack_state(thread->state));
    if (thread->call.is_known) {
        wndl_buf_text(out, " in ");
        add_call(&thread->call, out);
    }
    if (thread->is_uninterruptible)
        wndl_buf_text(out, ", not interruptible");
}

/* The signal follows the state of the thread that got it. */
static void add_signal(const struct wndl_stack_show *show,
    const struct wndl_snapshot_thread *thread, struct wndl_buf *out)
{
    char name[WNDL_SIGNAL_NAME];
    const int32_t number = show->snapshot->signal.number;
    if (thread->is_first && number != 0)
        wndl_buf_printf(out, ", got %s", wndl_signal_name(number, name));
}

static void add_registers(
    const struct wndl_thread_regs *regs, struct wndl_buf *out)
{
    enum { IN_A_LINE = 3, WIDE = 16, NARROW = 8 };
    const bool is_narrow = regs->machine == EM_386 || regs->machine == EM_ARM;
    const char *name = wndl_regs_name(regs->machine, 0);
    for (size_t i = 0; name != NULL; i++) {
        wndl_buf_printf(out, "%s%-8s 0x%0*" PRIx64,
            i % IN_A_LINE == 0 ? "    " : "  ", name, is_narrow ? NARROW : WIDE,
            regs->word[i]);
        name = wndl_regs_name(regs->machine, i + 1);
        if (name == NULL || (i + 1) % IN_A_LINE == 0)
            wndl_buf_byte(out, '\n');
    }
}

/* ---- frames */

static void add_where(const struct wndl_stack_show *show,
    const struct wndl_snapshot_frame *frame, struct wndl_buf *out)
{
    const struct wndl_snapshot_image *image =
        wndl_stack_image(show->snapshot, frame);
    uint64_t address = wndl_stack_address(frame);
    if (image == NULL) {
        wndl_buf_printf(out, " (0x%" PRIx64 ")", address);
        return;
    }
    wndl_buf_text(out, show->names == NULL ? "[" : " [");
    add_name(out, image->path);
    wndl_buf_printf(out, " +0x%" PRIx64 "]", address - image->module.start);
}

static void add_place(
    const struct wndl_stack_place *place, struct wndl_buf *out)
{
    add_name(out, place->function[0] == '\0' ? "???" : place->function);
    if (place->file[0] == '\0')
        return;
    wndl_buf_text(out, " (");
    add_name(out, place->file);
    if (place->line != 0)
        wndl_buf_printf(out, ":%" PRIu32, place->line);
    wndl_buf_byte(out, ')');
}

static void add_frame(const struct wndl_stack_show *show, size_t number,
    const struct wndl_snapshot_frame *frame, struct wndl_buf *out)
{
    size_t count = wndl_stack_place_count(show->names, frame);
    for (size_t i = 0; i < count; i++) {
        const struct wndl_stack_place place =
            wndl_stack_place(show->names, frame, i);
        wndl_buf_printf(out, "    #%02zu: ", number);
        add_place(&place, out);
        if (i + 1 < count)
            wndl_buf_text(out, " [inlined]");
        else
            add_where(show, frame, out);
        if (i + 1 == count && wndl_certainty_of_how(frame->how) == WNDL_GUESSED)
            wndl_buf_text(out, " guessed");
        wndl_buf_byte(out, '\n');
    }
}

/* Why the stack does not reach its start. */
static void add_reason(
    const struct wndl_snapshot_thread *thread, struct wndl_buf *out)
{
    wndl_buf_printf(
        out, "    (not complete: %s", wndl_walk_end_text(thread->end));
    if (thread->unread != 0)
        wndl_buf_printf(
            out, ", the core has no memory at 0x%" PRIx64, thread->unread);
    wndl_buf_text(out, ")\n");
}

static void add_end(
    const struct wndl_snapshot_thread *thread, struct wndl_buf *out)
{
    if (thread->end == WNDL_END_TRUNCATED)
        wndl_buf_printf(out,
            "    (there are more than %zu frames: "
            "--max-frames)\n",
            thread->frame_count);
    else if (thread->end == WNDL_END_FP_ROOT)
        wndl_buf_text(out, "    (no rules confirm that this is all)\n");
    else if (thread->end != WNDL_END_COMPLETE)
        add_reason(thread, out);
}

void wndl_stack_text_thread(const struct wndl_stack_show *show,
    const struct wndl_snapshot_thread *thread, struct wndl_buf *out)
{
    wndl_buf_printf(out, "\nThread %" PRIu32 " \"", thread->tid);
    add_name(out, thread->name);
    wndl_buf_text(out, "\": ");
    add_state(thread, out);
    add_signal(show, thread, out);
    wndl_buf_byte(out, '\n');
    for (size_t i = 0; i < thread->frame_count; i++)
        add_frame(show, i + 1, &thread->frames[i], out);
    if (thread->trouble != NULL)
        wndl_buf_printf(out, "    (no stack: %s)\n", thread->trouble);
    else if (thread->state != WNDL_THREAD_ENDED)
        add_end(thread, out);
    if (thread->is_first)
        add_registers(&thread->regs, out);
}

/* ---- all of it */

bool wndl_stack_has_frames(const struct wndl_snapshot *snapshot, size_t image)
{
    for (size_t i = 0; i < snapshot->threads.len; i++) {
        const struct wndl_snapshot_thread *thread =
            wndl_vec_at(&snapshot->threads, i);
        for (size_t k = 0; k < thread->frame_count; k++) {
            if (thread->frames[k].image == image + 1)
                return true;
        }
    }
    return false;
}

void wndl_stack_troubles(const struct wndl_snapshot *snapshot, const char *head,
    struct wndl_buf *out)
{
    for (size_t i = 0; i < snapshot->images.len; i++) {
        const struct wndl_snapshot_image *image =
            wndl_vec_at(&snapshot->images, i);
        if (image->trouble == NULL || !wndl_stack_has_frames(snapshot, i))
            continue;
        wndl_buf_text(out, head);
        add_name(out, image->path);
        wndl_buf_printf(out, " is not used: %s\n", image->trouble);
    }
}

static void add_core(const struct wndl_snapshot *s, struct wndl_buf *out)
{
    if (s->core != NULL) {
        wndl_buf_text(out, "Core: ");
        add_name(out, s->core);
        wndl_buf_byte(out, '\n');
    }
    if (s->signal.number != 0) {
        wndl_buf_text(out, "Signal: ");
        wndl_signal_text(&s->signal, s->pid, out);
        wndl_buf_byte(out, '\n');
    }
    wndl_stack_troubles(s, "Binary: ", out);
}

static void add_head(const struct wndl_stack_show *show, struct wndl_buf *out)
{
    const struct wndl_snapshot *s = show->snapshot;
    wndl_buf_printf(out, "Process %" PRIu32 ": ", s->pid);
    add_name(out, s->command[0] == '\0' ? s->executable : s->command);
    wndl_buf_printf(out, ", %zu thread%s\n", s->threads.len,
        s->threads.len == 1 ? "" : "s");
    if (s->ended_meanwhile != 0)
        wndl_buf_printf(out, "Ended meanwhile: %" PRIu32 " thread%s\n",
            s->ended_meanwhile, s->ended_meanwhile == 1 ? "" : "s");
    add_core(s, out);
}

void wndl_stack_text(const struct wndl_stack_show *show, struct wndl_buf *out)
{
    add_head(show, out);
    for (size_t i = 0; i < show->snapshot->threads.len; i++) {
        if (show->is_changed == NULL || show->is_changed[i])
            wndl_stack_text_thread(
                show, wndl_vec_at(&show->snapshot->threads, i), out);
    }
}
