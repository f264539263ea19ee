/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/thread.h"

#include "os/clock.h"

#include <errno.h>

enum { MS = 1000 * 1000 };

static const uint64_t longest = UINT64_C(1000) * MS;
static const uint64_t together = UINT64_C(64) * MS;
static const uint64_t steady = UINT64_C(250) * MS;
static const uint64_t state_kept = UINT64_C(100) * MS; /* between looks */
/*
 * The kernel updates a running thread's time at its ticks, mostly 250 a second
 * or more.
 */
static const int64_t lag = 4 * MS;

static bool read_times(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, struct wndl_offcpu_times *times)
{
    return wndl_offcpu_task_times(&thread->task, process->folder,
        &process->subject.shared->descriptors, times);
}

bool wndl_offcpu_thread_begin(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, uint32_t tid, uint64_t now)
{
    *thread = (struct wndl_offcpu_thread){
        .due = now, .position = (size_t)WNDL_OFFCPU_UNKNOWN};
    wndl_offcpu_task_init(&thread->task, tid);
    wndl_offcpu_stack_init(&thread->stack);
    wndl_offcpu_spans_init(&thread->spans);
    if (read_times(thread, process, &thread->reported))
        return true;
    wndl_offcpu_thread_free(thread, process);
    return false;
}

void wndl_offcpu_thread_born(struct wndl_offcpu_thread *thread, uint64_t born)
{
    thread->reported = (struct wndl_offcpu_times){.time = born};
}

void wndl_offcpu_thread_free(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process)
{
    for (int i = 0; i < WNDL_OFFCPU_FILES; i++)
        wndl_offcpu_task_close(
            &thread->task, i, &process->subject.shared->descriptors);
    wndl_offcpu_stack_free(&thread->stack);
    wndl_offcpu_spans_free(&thread->spans);
    thread->task.tid = 0;
}

/* ---- times */

/* The place of a thread: a node of the tree, and the end of its walk. */
struct place {
    uint32_t node, ended;
};

static const struct place nowhere = {0, WNDL_END_NO_RULE};

static struct place place_of(const struct wndl_offcpu_thread *thread)
{
    if (!thread->is_blocked)
        return nowhere;
    if (!thread->stack.last.is_walked)
        return (struct place){0, WNDL_END_BAD_READ};
    return (struct place){thread->stack.last.node, thread->stack.last.ended};
}

static void add_span(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_totals *totals, const struct wndl_offcpu_span *span)
{
    wndl_offcpu_spans_add(&thread->spans, span);
    if (span->kind == WNDL_SPAN_BLOCKED)
        totals->blocked += span->end - span->start;
    else
        totals->waiting += span->end - span->start;
}

/* The parts of the time since `reported`. */
struct passed {
    uint64_t start, end;
    uint64_t waited, blocked;
};

/*
 * Moves `reported` to `now`. `keep`: blocked ns that may yet prove to be run
 * time.
 */
static struct passed pass(struct wndl_offcpu_thread *thread,
    const struct wndl_offcpu_times *now, int64_t keep)
{
    struct passed p = {.start = thread->reported.time, .end = now->time};
    int64_t wall = (int64_t)(p.end - p.start);
    int64_t waited = (int64_t)(now->wait - thread->reported.wait);
    int64_t run = (int64_t)(now->run - thread->reported.run);
    int64_t owed = thread->owed + wall - run - waited;
    int64_t blocked = owed - (owed < keep ? owed : keep);
    if (waited > wall)
        waited = wall;
    if (blocked > wall - waited)
        blocked = wall - waited;
    p.waited = waited < 0 ? 0 : (uint64_t)waited;
    p.blocked = blocked < 0 ? 0 : (uint64_t)blocked;
    thread->owed = owed - (int64_t)p.blocked;
    thread->reported = *now;
    thread->run += run > 0 ? (uint64_t)run : 0;
    uint64_t unseen = p.blocked < thread->unseen ? p.blocked : thread->unseen;
    p.waited += unseen;
    p.blocked -= unseen;
    thread->unseen = 0;
    return p;
}

/*
 * The place of at most half of the blocked time is in doubt. It is split
 * between the first place and the last place of the thread; in between it ran,
 * and waited to run.
 */
static void report_passed(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_totals *totals, const struct passed *p,
    struct place before, struct place after)
{
    uint64_t last = p->blocked;
    if (before.node != 0)
        last -= p->blocked / 2;
    const struct wndl_offcpu_span spans[] = {
        {.start = p->start,
            .end = p->start + p->blocked - last,
            .kind = WNDL_SPAN_BLOCKED,
            .node = before.node,
            .ended = before.ended},
        {.start = p->end - last - p->waited,
            .end = p->end - last,
            .kind = WNDL_SPAN_WAITING},
        {.start = p->end - last,
            .end = p->end,
            .kind = WNDL_SPAN_BLOCKED,
            .node = after.node,
            .ended = after.ended},
    };
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        add_span(thread, totals, &spans[i]);
    thread->since = p->end - last;
}

/* ---- a look */

/* Reads of long blocks are aligned, so that the recorder wakes up less. */
static void go_on(struct wndl_offcpu_thread *thread,
    const struct wndl_offcpu_process *process, uint64_t now)
{
    uint64_t pause = (now - thread->since) / 16;
    if (pause <= process->interval)
        thread->due = now + process->interval;
    else if (pause < longest)
        thread->due = now + pause;
    else
        thread->due = now + longest;
    if (pause > 2 * together)
        thread->due -= thread->due % together;
}

/* Continues the block of a thread that has not run since the last read. */
static void look_again(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, const struct wndl_offcpu_times *now)
{
    struct place place = place_of(thread);
    struct passed p = pass(thread, now, 0);
    uint64_t since = thread->since;
    report_passed(thread, &process->subject.shared->totals, &p, nowhere, place);
    thread->since = since;
    go_on(thread, process, now->time);
    if (thread->due - now->time > state_kept)
        wndl_offcpu_task_close(&thread->task, WNDL_OFFCPU_SYSCALL,
            &process->subject.shared->descriptors);
}

/*
 * The kernel counts the wait for a thread's first CPU only after the thread got
 * one, and its start is known only to a tick.
 */
static void note_unseen(
    struct wndl_offcpu_thread *thread, const struct wndl_offcpu_times *now)
{
    uint64_t wall = now->time - thread->reported.time;
    uint64_t known = now->run + now->wait;
    thread->unseen = wall > known ? wall - known : 0;
}

/*
 * Notes that it runs, and whether it makes progress or waits to run. It may
 * have waited since the read before the one that saw progress.
 */
static void note_running(
    struct wndl_offcpu_thread *thread, const struct wndl_offcpu_times *now)
{
    if (thread->ran.time == 0) {
        thread->moved = thread->reported.time;
        thread->came = now->time;
    } else if (thread->ran.run != now->run ||
               thread->ran.slices != now->slices) {
        thread->moved = thread->ran.time;
    }
    thread->ran = *now;
}

/*
 * Where perf events are switched with the threads, the kernel does not count
 * all of their waiting. A thread that ran or waited at several reads in a row
 * was not blocked between the first and the last of them.
 */
static void believe_looks(
    const struct wndl_offcpu_thread *thread, struct passed *p)
{
    if (thread->ran.time == 0 || thread->ran.time - thread->came < steady)
        return;
    uint64_t most = p->end - thread->ran.time;
    if (thread->came > p->start)
        most += thread->came - p->start;
    if (p->blocked <= most)
        return;
    p->waited += p->blocked - most;
    p->blocked = most;
}

/*
 * Adds spans up to the last read that saw it run. The kernel counts a wait for
 * a CPU only when it ends.
 */
static void report_running(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process)
{
    const struct wndl_offcpu_times *now = &thread->ran;
    struct place before = place_of(thread);
    struct passed p =
        pass(thread, now, lag + (int64_t)(now->time - thread->moved));
    believe_looks(thread, &p);
    report_passed(thread, &process->subject.shared->totals, &p, before, before);
    thread->is_blocked = false;
}

/*
 * It runs, or runs again and again. Its blocks since the last read are written
 * with the next one, unless that takes too long.
 */
static void look_at_running(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, const struct wndl_offcpu_times *now)
{
    thread->due = now->time + process->interval;
    if (thread->reported.slices == 0 && thread->ran.time == 0)
        note_unseen(thread, now);
    note_running(thread, now);
    if (now->time - thread->reported.time >= longest)
        report_running(thread, process);
}

static void look_at_blocked(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, const struct wndl_offcpu_times *now,
    struct place before)
{
    struct passed p = pass(thread, now, 0);
    believe_looks(thread, &p);
    thread->is_blocked = true;
    thread->ran.time = 0;
    report_passed(
        thread, &process->subject.shared->totals, &p, before, place_of(thread));
    go_on(thread, process, now->time);
}

/* The kernel hides where it is blocked: its times are written anyway. */
static void look_at_hidden(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, const struct wndl_offcpu_times *now)
{
    struct wndl_offcpu_totals *totals = &process->subject.shared->totals;
    if (process->hidden == 0) {
        process->hidden = errno;
        totals->refused++;
        totals->refused_errno = process->hidden;
    }
    thread->stack.last.is_walked = false;
    look_at_blocked(thread, process, now, nowhere);
}

enum seen {
    SEEN_RUNNING,
    SEEN_BLOCKED,
    SEEN_HIDDEN,
    SEEN_MOVING,
    SEEN_NOTHING, /* there was no memory for the read */
    SEEN_GONE,
};

static bool is_refusal(int error)
{
    return error == EPERM || error == EACCES || error == ENOSYS;
}

static enum seen not_seen(void)
{
    return wndl_offcpu_task_is_there(errno) ? SEEN_NOTHING : SEEN_GONE;
}

/* Postpones the next read. False when it is gone. */
static bool put_off(struct wndl_offcpu_thread *thread,
    const struct wndl_offcpu_process *process)
{
    thread->due = wndl_clock_monotonic_ns() + process->interval;
    return wndl_offcpu_task_is_there(errno);
}

/*
 * Reads the stack, for which *now is valid too: the thread got no CPU from
 * before the request until after the read.
 */
static enum seen see(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, struct wndl_offcpu_times *now)
{
    uint64_t pc, sp, slices = now->slices;
    bool is_readable = false;
    switch (wndl_offcpu_task_state(&thread->task, process->folder,
        &process->subject.shared->descriptors, &pc, &sp)) {
    case WNDL_OFFCPU_RUNS:
        return SEEN_RUNNING;
    case WNDL_OFFCPU_HIDDEN:
        return is_refusal(errno) ? SEEN_HIDDEN : not_seen();
    case WNDL_OFFCPU_BLOCKED:
        is_readable = wndl_offcpu_stack_take(
            &process->subject, &thread->stack, pc, sp, now->time);
        break;
    }
    if (!is_readable && is_refusal(errno))
        return SEEN_HIDDEN;
    if (!read_times(thread, process, now))
        return not_seen();
    wndl_offcpu_stack_judge(
        process->subject.shared, &thread->stack, now->slices == slices);
    return now->slices == slices ? SEEN_BLOCKED : SEEN_MOVING;
}

/* A thread that moves is seen once more. */
static enum seen see_again(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, struct wndl_offcpu_times *now)
{
    enum seen seen = SEEN_HIDDEN;
    errno = process->hidden;
    for (int i = 0; i < 2 && process->hidden == 0; i++) {
        seen = see(thread, process, now);
        if (seen != SEEN_MOVING)
            break;
    }
    return seen;
}

static bool has_stayed(const struct wndl_offcpu_thread *thread,
    const struct wndl_offcpu_times *now)
{
    return thread->is_blocked && now->slices == thread->reported.slices;
}

/* One that has not run since was there all the time. */
static void look_at_place(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, const struct wndl_offcpu_times *now,
    struct place before)
{
    const struct place after = place_of(thread);
    const uint64_t since = thread->since;
    const bool stayed = has_stayed(thread, now);
    if (stayed && after.node != 0) {
        wndl_offcpu_spans_amend(
            &thread->spans, thread->reported.time, after.node, after.ended);
        before = after;
    }
    look_at_blocked(thread, process, now, before);
    if (stayed)
        thread->since = since;
}

bool wndl_offcpu_thread_look(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process)
{
    struct wndl_offcpu_times now;
    if (!read_times(thread, process, &now))
        return put_off(thread, process);
    if (has_stayed(thread, &now) &&
        !wndl_offcpu_stack_may_be_found(&process->subject, &thread->stack)) {
        look_again(thread, process, &now);
        return true;
    }
    thread->was_active |= !has_stayed(thread, &now);
    const struct place before = place_of(thread);
    const enum seen seen = see_again(thread, process, &now);
    if (seen == SEEN_NOTHING)
        return put_off(thread, process);
    if (seen == SEEN_RUNNING || seen == SEEN_MOVING)
        look_at_running(thread, process, &now);
    else if (seen == SEEN_HIDDEN)
        look_at_hidden(thread, process, &now);
    else
        look_at_place(thread, process, &now, before);
    return seen != SEEN_GONE;
}

void wndl_offcpu_thread_ended(struct wndl_offcpu_thread *thread,
    struct wndl_offcpu_process *process, uint64_t time)
{
    struct wndl_offcpu_times then = thread->reported;
    if (thread->ran.time != 0) {
        report_running(thread, process);
        return;
    }
    if (!thread->is_blocked || time <= then.time)
        return;
    then.time = time;
    look_again(thread, process, &then);
}

bool wndl_offcpu_thread_settle(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process)
{
    struct wndl_offcpu_times now;
    if (!wndl_offcpu_thread_look(thread, process))
        return false;
    if (!read_times(thread, process, &now))
        return put_off(thread, process);
    if (thread->is_blocked && now.slices == thread->reported.slices)
        return true;
    note_running(thread, &now);
    report_running(thread, process);
    return true;
}

bool wndl_offcpu_thread_skip(
    struct wndl_offcpu_thread *thread, struct wndl_offcpu_process *process)
{
    uint64_t slices = thread->reported.slices;
    if (!read_times(thread, process, &thread->reported))
        return put_off(thread, process);
    thread->owed = 0;
    thread->unseen = 0;
    thread->ran.time = 0;
    thread->is_blocked =
        thread->is_blocked && slices == thread->reported.slices;
    thread->due = thread->reported.time;
    return true;
}
