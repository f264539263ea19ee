/* SPDX-License-Identifier: MIT */
#include "collect/loop/stopping.h"

#include "collect/loop/run.h"
#include "collect/offcpu/task.h"
#include "collect/proc/proc.h"
#include "collect/stop/stop.h"
#include "os/clock.h"
#include "os/process_memory.h"

#include <errno.h>
#include <unistd.h>

/*
 * A thread on a CPU stops within microseconds, one that waits for a CPU later.
 * One that is late stands still until we look again, which is soon.
 */
static const uint64_t at_once = 40 * UINT64_C(1000); /* ns */
static const uint64_t patience =
    2 * UINT64_C(1000000);                         /* ns, for all of them */
static const uint64_t soon = 500 * UINT64_C(1000); /* ns */
enum { POLL_US = 20, COST_PARTS = 10 };

struct thread {
    struct thread *next_unused;
    struct wndl_offcpu_task task;
    pid_t pid;
    uint16_t machine; /* EM_*, of its process when it was last read */
    bool is_late;     /* it has been told to stop, and has not yet */
    struct wndl_stop stop;
    uint64_t run;     /* ns of CPU time, as far as it has been read */
    uint64_t pending; /* ns of that in no sample */
    uint64_t turn;    /* the last in which it was there */
};

struct wndl_stopping {
    const struct wndl_run *run;
    const struct wndl_processes *processes;
    uint64_t due, turns;
    size_t late; /* threads */
    size_t descriptors;
    uint8_t *stack; /* request.stack_size bytes */
    struct wndl_arena arena;
    struct wndl_map by_tid;  /* struct thread *, as a number */
    struct wndl_vec threads; /* struct thread * */
    struct thread *unused;
    /* of the turn that runs */
    struct wndl_stopping_sink sink;
    struct wndl_collector_stops *totals;
};

struct wndl_stopping *wndl_stopping_new(
    const struct wndl_run *run, const struct wndl_processes *processes)
{
    enum { DESCRIPTORS = 256 };
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_stopping *s = wndl_mem_zalloc(mem, sizeof *s);
    uint8_t *stack = wndl_mem_zalloc(mem, run->request.stack_size);
    if (s == NULL || stack == NULL) {
        wndl_mem_free(mem, s);
        wndl_mem_free(mem, stack);
        return NULL;
    }
    *s = (struct wndl_stopping){.run = run,
        .processes = processes,
        .stack = stack,
        .descriptors = DESCRIPTORS};
    wndl_arena_init(&s->arena, mem);
    wndl_map_init(&s->by_tid, &s->arena);
    wndl_vec_init(&s->threads, &s->arena, sizeof(struct thread *));
    return s;
}

static struct thread *thread_at(const struct wndl_stopping *s, size_t i)
{
    return *(struct thread **)wndl_vec_at(&s->threads, i);
}

static void close_files(struct wndl_stopping *s, struct thread *t)
{
    for (int i = 0; i < WNDL_OFFCPU_FILES; i++)
        wndl_offcpu_task_close(&t->task, i, &s->descriptors);
}

void wndl_stopping_free(struct wndl_stopping *s)
{
    if (s == NULL)
        return;
    wndl_stopping_release(s);
    for (size_t i = 0; i < s->threads.len; i++)
        close_files(s, thread_at(s, i));
    wndl_arena_free(&s->arena);
    wndl_mem_free(wndl_mem_libc(), s->stack);
    wndl_mem_free(wndl_mem_libc(), s);
}

/* ---- threads */

static struct thread *make_thread(struct wndl_stopping *s)
{
    struct thread *t = s->unused;
    if (t == NULL)
        return wndl_arena_calloc(&s->arena, 1, sizeof *t);
    s->unused = t->next_unused;
    return t;
}

/* NULL without memory. */
static struct thread *add_thread(
    struct wndl_stopping *s, pid_t pid, uint32_t tid)
{
    struct thread *t = make_thread(s);
    uint64_t *known = t == NULL ? NULL : wndl_map_put(&s->by_tid, tid);
    struct thread **place = known == NULL ? NULL : wndl_vec_push(&s->threads);
    if (place == NULL)
        return NULL;
    *t = (struct thread){.pid = pid, .machine = wndl_proc_machine(pid)};
    wndl_offcpu_task_init(&t->task, tid);
    *place = t;
    *known = (uintptr_t)t;
    return t;
}

static void set_late(
    struct wndl_stopping *s, struct thread *t, enum wndl_stop_result result)
{
    const bool is_late = result == WNDL_STOP_LATE;
    s->late += is_late;
    s->late -= t->is_late;
    t->is_late = is_late;
}

/* Lets a late thread go on without a sample. False: it has not stopped yet. */
static bool let_go(struct wndl_stopping *s, struct thread *t)
{
    const enum wndl_stop_result result = wndl_stop_again(&t->stop);
    if (result == WNDL_STOP_DONE)
        (void)wndl_stop_end(&t->stop);
    set_late(s, t, result);
    return !t->is_late;
}

static void drop_thread(struct wndl_stopping *s, struct thread *t)
{
    uint64_t *known = wndl_map_get(&s->by_tid, t->task.tid);
    if (known != NULL)
        *known = 0;
    close_files(s, t);
    t->next_unused = s->unused;
    s->unused = t;
}

/* One that has not stopped yet is kept: nobody else would let it go on. */
static void drop_gone(struct wndl_stopping *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->threads.len; i++) {
        struct thread *t = thread_at(s, i);
        if (t->turn != s->turns && (!t->is_late || let_go(s, t)))
            drop_thread(s, t);
        else
            *(struct thread **)wndl_vec_at(&s->threads, kept++) = t;
    }
    s->threads.len = kept;
}

/* ---- a sample */

static void count_stop(struct wndl_collector_stops *totals, uint64_t stood)
{
    totals->count++;
    totals->ns += stood;
    totals->longest = stood > totals->longest ? stood : totals->longest;
}

/* The thread stands still: its registers and its stack are of one moment. */
static void take(struct wndl_stopping *s, struct thread *t)
{
    struct wndl_thread_regs regs = {0};
    const bool is_read = wndl_stop_regs(&t->stop, t->machine, &regs);
    const struct wndl_regs start = wndl_regs_start(&regs);
    const size_t size = is_read ? wndl_process_read(t->pid, start.sp, s->stack,
                                      s->run->request.stack_size)
                                : 0;
    count_stop(s->totals, wndl_stop_end(&t->stop));
    if (!is_read) /* it may run another program by now */
        t->machine = wndl_proc_machine(t->pid);
    const struct wndl_attach_record record = {
        .kind = WNDL_ATTACH_SAMPLE,
        .pid = (uint32_t)t->pid,
        .tid = t->task.tid,
        .time = wndl_clock_monotonic_ns(),
        .start = is_read ? &start : NULL,
        .stack = {s->stack, size},
        .cpu = t->pending,
    };
    t->pending = 0;
    s->sink.take(s->sink.context, &record);
}

static void see(
    struct wndl_stopping *s, struct thread *t, enum wndl_stop_result result)
{
    set_late(s, t, result);
    if (result == WNDL_STOP_DONE)
        take(s, t);
    if (result != WNDL_STOP_REFUSED)
        return;
    s->totals->refused++;
    s->totals->refused_errno = errno;
}

/* Looks once at each thread that is late. */
static void see_late(struct wndl_stopping *s)
{
    for (size_t i = 0; i < s->threads.len && s->late != 0; i++) {
        struct thread *t = thread_at(s, i);
        if (t->is_late && s->run->paused)
            (void)let_go(s, t);
        else if (t->is_late)
            see(s, t, wndl_stop_again(&t->stop));
    }
}

static void await_late(struct wndl_stopping *s)
{
    const uint64_t until = wndl_clock_monotonic_ns() + patience;
    see_late(s);
    while (s->late != 0 && wndl_clock_monotonic_ns() < until) {
        usleep(POLL_US);
        see_late(s);
    }
}

/* ---- a turn */

struct looking {
    struct wndl_stopping *s;
    pid_t pid;
    int folder;
};

static struct thread *thread_of(const struct looking *l, uint32_t tid)
{
    const uint64_t *known = wndl_map_get(&l->s->by_tid, tid);
    return known != NULL && *known != 0 ? (struct thread *)(uintptr_t)*known
                                        : add_thread(l->s, l->pid, tid);
}

/* CPU time of turns that were left out belongs to no sample. */
static void note_times(struct wndl_stopping *s, struct thread *t, uint64_t run)
{
    const bool was_there = t->turn != 0 && t->turn + 1 == s->turns;
    t->pending = was_there ? t->pending + (run - t->run) : 0;
    t->run = run;
    t->turn = s->turns;
}

/* A blocked thread is not stopped: that would interrupt its system call. */
static void look_at(void *context, uint32_t tid)
{
    const struct looking *l = context;
    struct wndl_stopping *s = l->s;
    struct thread *t = thread_of(l, tid);
    struct wndl_offcpu_times times;
    uint64_t pc, sp;
    if (t == NULL ||
        !wndl_offcpu_task_times(&t->task, l->folder, &s->descriptors, &times))
        return;
    note_times(s, t, times.run);
    if (!t->is_late && t->pending != 0 &&
        wndl_offcpu_task_state(
            &t->task, l->folder, &s->descriptors, &pc, &sp) == WNDL_OFFCPU_RUNS)
        see(s, t, wndl_stop_begin(&t->stop, (pid_t)tid, at_once));
}

static void look_at_process(struct wndl_stopping *s, pid_t pid)
{
    struct looking l = {s, pid, wndl_offcpu_task_folder(pid)};
    if (l.folder < 0)
        return;
    (void)wndl_offcpu_task_each(l.folder, look_at, &l);
    close(l.folder);
}

static void look_at_all(struct wndl_stopping *s)
{
    for (const struct wndl_process_entry *l = s->processes->first; l != NULL;
         l = l->next) {
        if (l->process != NULL && !l->process->gone &&
            l->process->attached != NULL)
            look_at_process(s, l->pid);
    }
    await_late(s);
    drop_gone(s);
}

uint64_t wndl_stopping_turn(struct wndl_stopping *s, uint64_t now,
    struct wndl_stopping_sink sink, struct wndl_collector_stops *totals)
{
    const uint64_t cpu = wndl_clock_thread_cpu_ns();
    s->sink = sink;
    s->totals = totals;
    if (now < s->due) {
        see_late(s);
    } else {
        s->turns++;
        if (s->run->paused)
            see_late(s);
        else
            look_at_all(s);
        const uint64_t used = wndl_clock_thread_cpu_ns() - cpu;
        const uint64_t interval = s->run->request.interval;
        s->due =
            now + (used * COST_PARTS > interval ? used * COST_PARTS : interval);
    }
    return s->late != 0 && now + soon < s->due ? now + soon : s->due;
}

void wndl_stopping_release(struct wndl_stopping *s)
{
    enum { MOMENTS = 1000 };
    for (int turn = 0; s != NULL && s->late != 0 && turn < MOMENTS; turn++) {
        for (size_t i = 0; i < s->threads.len; i++) {
            if (thread_at(s, i)->is_late)
                (void)let_go(s, thread_at(s, i));
        }
        if (s->late != 0)
            usleep(POLL_US);
    }
}
