/* SPDX-License-Identifier: MIT */
#include "snapshot/live_thread.h"

#include "base/search.h"
#include "collect/stop/stop.h"
#include "snapshot/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A thread that blocks and runs again all the time is tried so often. */
enum { TRIES = 20, RED_ZONE = 128 };

/* ---- memory */

uint64_t wndl_live_mapped_end(
    const struct wndl_live_reading *r, uint64_t address)
{
    const struct wndl_live_range *all = r->ranges.data;
    if (r->ranges.len == 0)
        return 0;
    size_t count =
        wndl_search_up_to(&all->start, sizeof *all, r->ranges.len, address);
    return count != 0 && address < all[count - 1].end ? all[count - 1].end : 0;
}

/* Copies the stack from SP's red zone to its end, as far as there is room. */
static void copy_stack(struct wndl_live_reading *r, uint64_t sp)
{
    uint64_t end = wndl_live_mapped_end(r, sp);
    r->low = sp - RED_ZONE;
    if (end != 0 && wndl_live_mapped_end(r, r->low) != end)
        r->low = sp;
    uint64_t size = end == 0 ? 0 : end - r->low;
    if (size > WNDL_LIVE_COPY)
        size = WNDL_LIVE_COPY;
    r->copied =
        size == 0 ? 0 : wndl_process_read(r->pid, r->low, r->copy, size);
}

static bool read_for_walk(
    void *context, uint64_t address, void *to, size_t size)
{
    struct wndl_live_reading *r = context;
    uint64_t offset = address - r->low;
    if (offset < r->copied && size <= r->copied - offset) {
        memcpy(to, r->copy + offset, size);
        return true;
    }
    if (wndl_snapshot_image_at(r->snapshot, address) == NULL)
        r->went_beyond = true;
    return wndl_offcpu_memory_read(
        &r->memory, r->pid, address, (struct wndl_bytes){to, size});
}

/* ---- the walk */

static struct wndl_walk walk_from(
    struct wndl_live_reading *r, const struct wndl_regs *regs)
{
    const struct wndl_remote remote = {
        .read = read_for_walk,
        .context = r,
        .modules = r->modules,
        .module_count = r->snapshot->images.len,
        .machine = r->snapshot->machine,
        .find_fp = regs->gregs == NULL,
    };
    struct wndl_walk walk = {.frames = r->frames, .max_frames = r->max_frames};
    r->went_beyond = false;
    r->memory.look++;
    wndl_unwind_remote(&remote, regs, &walk);
    return walk;
}

static void keep(struct wndl_live_reading *r,
    struct wndl_snapshot_thread *thread, struct wndl_walk *walk)
{
    thread->trouble = NULL;
    if (!wndl_snapshot_keep(r->snapshot, thread, walk))
        r->out_of_memory = true;
}

/* ---- a running thread */

static const char *why_refused(
    struct wndl_live_reading *r, const struct wndl_task *task, int error)
{
    char text[160];
    pid_t tracer = wndl_task_tracer(task);
    if (tracer != 0)
        snprintf(text, sizeof text,
            "it runs, and could not be stopped: process %d traces it",
            (int)tracer);
    else
        snprintf(text, sizeof text,
            "it runs, and could not be stopped: ptrace: %s", strerror(error));
    return wndl_snapshot_text(r->snapshot, text);
}

/* Walks while the thread stands: for stacks that the copy does not hold. */
static void walk_standing(struct wndl_live_reading *r,
    const struct wndl_task *task, struct wndl_snapshot_thread *thread)
{
    struct wndl_stop stop;
    if (wndl_stop_begin(&stop, task->tid, r->wait_ns) != WNDL_STOP_DONE) {
        thread->trouble = "it runs on several stacks, and did not stop again "
                          "in time: --wait";
        return;
    }
    if (wndl_stop_regs(&stop, r->snapshot->machine, &thread->regs)) {
        const struct wndl_regs regs = wndl_regs_start(&thread->regs);
        r->copied = 0;
        struct wndl_walk walk = walk_from(r, &regs);
        keep(r, thread, &walk);
    }
    thread->stopped_ns += wndl_stop_end(&stop);
}

static void walk_copied(struct wndl_live_reading *r,
    const struct wndl_task *task, struct wndl_snapshot_thread *thread)
{
    const struct wndl_regs regs = wndl_regs_start(&thread->regs);
    struct wndl_walk walk = walk_from(r, &regs);
    keep(r, thread, &walk);
    if (r->went_beyond)
        walk_standing(r, task, thread);
}

/* Copies the stopped thread's registers and stack, and lets it go. */
static bool copy_stopped(struct wndl_live_reading *r,
    const struct wndl_stop *stop, struct wndl_snapshot_thread *thread)
{
    bool has_regs = wndl_stop_regs(stop, r->snapshot->machine, &thread->regs);
    if (has_regs)
        copy_stack(r, wndl_regs_start(&thread->regs).sp);
    thread->stopped_ns = wndl_stop_end(stop);
    return has_regs;
}

static bool read_running(struct wndl_live_reading *r,
    const struct wndl_task *task, struct wndl_snapshot_thread *thread)
{
    struct wndl_stop stop;
    switch (wndl_stop_begin(&stop, task->tid, r->wait_ns)) {
    case WNDL_STOP_GONE:
        return false;
    case WNDL_STOP_REFUSED:
        thread->trouble = why_refused(r, task, errno);
        return true;
    case WNDL_STOP_LATE:
        thread->trouble = "it runs, and did not stop in time: --wait";
        return true;
    case WNDL_STOP_DONE:
        break;
    }
    if (copy_stopped(r, &stop, thread))
        walk_copied(r, task, thread);
    else
        thread->trouble = "its registers cannot be read";
    return true;
}

/* ---- a blocked thread */

/* The state of a thread, and whether it has run: two equal ones say no. */
struct look {
    char state;
    char call[WNDL_TASK_TEXT], times[WNDL_TASK_TEXT];
};

static bool look_at(const struct wndl_task *task, struct look *look)
{
    char stat[WNDL_TASK_TEXT];
    if (!wndl_task_read(task, "stat", stat) ||
        !wndl_task_read(task, "syscall", look->call) ||
        !wndl_task_read(task, "schedstat", look->times))
        return false;
    look->state = wndl_task_state_parse(stat);
    return true;
}

static bool has_moved(const struct wndl_task *task, const struct look *before)
{
    struct look now;
    return !look_at(task, &now) || strcmp(now.call, before->call) != 0 ||
           strcmp(now.times, before->times) != 0;
}

/* Walks the stack at the place of `call`. False: it has moved meanwhile. */
static bool walk_blocked(struct wndl_live_reading *r,
    const struct wndl_task *task, const struct look *look,
    struct wndl_snapshot_thread *thread)
{
    struct wndl_task_call call;
    if (!wndl_task_call_parse(look->call, &call))
        return false;
    const struct wndl_regs regs = {
        .ip = call.pc, .sp = call.sp, .valid = WNDL_REG_IP | WNDL_REG_SP};
    copy_stack(r, call.sp);
    wndl_call_describe(r->snapshot, task, &call, &thread->call);
    if (has_moved(task, look))
        return false;
    struct wndl_walk walk = walk_from(r, &regs);
    if (r->went_beyond && has_moved(task, look))
        return false;
    keep(r, thread, &walk);
    return true;
}

static void set_state(struct wndl_snapshot_thread *thread, char state)
{
    thread->is_uninterruptible = state == 'D';
    thread->state = state == 'Z' || state == 'X'   ? WNDL_THREAD_ENDED
                    : state == 'T' || state == 't' ? WNDL_THREAD_STOPPED
                                                   : WNDL_THREAD_BLOCKED;
}

/*
 * A thread that was stopped in its own code has all registers to be read: that
 * it is stopped once more shows nowhere.
 */
static bool needs_stop(
    const struct look *look, const struct wndl_snapshot_thread *thread)
{
    return strcmp(look->call, "running") == 0 ||
           (look->state == 'T' && strncmp(look->call, "-1 ", 3) == 0 &&
               thread->state == WNDL_THREAD_STOPPED);
}

/* False if the thread has ended. */
static bool note_unread(
    struct wndl_live_reading *r, struct wndl_snapshot_thread *thread)
{
    char text[96];
    if (errno == ENOENT || errno == ESRCH)
        return false;
    snprintf(text, sizeof text, "it cannot be read: %s", strerror(errno));
    thread->trouble = wndl_snapshot_text(r->snapshot, text);
    return true;
}

bool wndl_live_thread_read(struct wndl_live_reading *r,
    const struct wndl_task *task, struct wndl_snapshot_thread *thread)
{
    struct look look;
    for (int i = 0; i < TRIES; i++) {
        if (!look_at(task, &look))
            return note_unread(r, thread);
        set_state(thread, look.state);
        thread->call = (struct wndl_snapshot_call){0};
        if (thread->state == WNDL_THREAD_ENDED)
            return true;
        if (needs_stop(&look, thread)) {
            if (thread->state == WNDL_THREAD_BLOCKED)
                thread->state = WNDL_THREAD_RUNNING;
            return read_running(r, task, thread);
        }
        if (walk_blocked(r, task, &look, thread))
            return true;
    }
    thread->trouble = "it runs and blocks too often to be read";
    return true;
}
