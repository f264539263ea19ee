/* SPDX-License-Identifier: MIT */
#include "collect/loop/stopping.h"

#include "collect/loop/run.h"
#include "collect/offcpu/task.h"
#include "collect/proc/proc.h"
#include "collect/stop/stop.h"
#include "os/clock.h"
#include "os/process_memory.h"

#include <unistd.h>

static const uint64_t least_interval = 5 * UINT64_C(1000000); /* ns */
/*
 * A thread on a CPU stops within microseconds, one that waits for a CPU later.
 * One that is late stands still until we look again, which is soon.
 */
static const uint64_t at_once = 40 * UINT64_C(1000);    /* ns */
static const uint64_t patience = 2 * UINT64_C(1000000); /* ns */
static const uint64_t soon = 500 * UINT64_C(1000);      /* ns */

struct thread {
    struct wndl_offcpu_task task;
    uint16_t machine; /* EM_*, of its process when it was met */
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
    bool has_late; /* a thread has not stopped yet */
    size_t descriptors;
    uint8_t *stack; /* request.stack_size bytes */
    struct wndl_arena arena;
    struct wndl_map by_tid;  /* struct thread *, as a number */
    struct wndl_vec threads; /* struct thread * */
    struct thread *unused;
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
    for (size_t i = 0; i < s->threads.len; i++)
        close_files(s, thread_at(s, i));
    wndl_arena_free(&s->arena);
    wndl_mem_free(wndl_mem_libc(), s->stack);
    wndl_mem_free(wndl_mem_libc(), s);
}

/* ---- threads */

/* NULL without memory. */
static struct thread *add_thread(
    struct wndl_stopping *s, pid_t pid, uint32_t tid)
{
    struct thread **place = wndl_vec_push(&s->threads);
    struct thread *t = s->unused != NULL
                           ? s->unused
                           : wndl_arena_calloc(&s->arena, 1, sizeof *t);
    uint64_t *known = wndl_map_put(&s->by_tid, tid);
    if (place != NULL && t == NULL)
        s->threads.len--;
    if (place == NULL || t == NULL || known == NULL)
        return NULL;
    s->unused = NULL;
    *t = (struct thread){.machine = wndl_proc_machine(pid)};
    wndl_offcpu_task_init(&t->task, tid);
    *place = t;
    *known = (uintptr_t)t;
    return t;
}

static void drop_gone(struct wndl_stopping *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->threads.len; i++) {
        struct thread *t = thread_at(s, i);
        if (t->turn == s->turns) {
            *(struct thread **)wndl_vec_at(&s->threads, kept++) = t;
            continue;
        }
        uint64_t *known = wndl_map_get(&s->by_tid, t->task.tid);
        if (known != NULL)
            *known = 0;
        close_files(s, t);
        s->unused = t;
    }
    s->threads.len = kept;
}

/* ---- a sample */

struct looking {
    struct wndl_stopping *s;
    const struct wndl_process_entry *entry;
    int folder;
    struct wndl_stopping_sink sink;
    struct wndl_collector_stops *totals;
};

/* The thread stands still: its registers and its stack are of one moment. */
static void take(const struct looking *l, struct thread *t)
{
    struct wndl_thread_regs regs;
    const struct wndl_run *run = l->s->run;
    const bool is_read = wndl_stop_regs(&t->stop, t->machine, &regs);
    const struct wndl_regs start = wndl_regs_start(&regs);
    const size_t size = is_read ? wndl_process_read(l->entry->pid, start.sp,
                                      l->s->stack, run->request.stack_size)
                                : 0;
    const uint64_t stood = wndl_stop_end(&t->stop);
    l->totals->count++;
    l->totals->ns += stood;
    l->totals->longest =
        stood > l->totals->longest ? stood : l->totals->longest;
    const struct wndl_attach_record record = {
        .kind = WNDL_ATTACH_SAMPLE,
        .pid = (uint32_t)l->entry->pid,
        .tid = t->task.tid,
        .time = t->stop.since,
        .start = is_read ? &start : NULL,
        .stack = {l->s->stack, size},
        .cpu = t->pending,
    };
    t->pending = 0;
    l->sink.take(l->sink.context, &record);
}

static void try_stop(const struct looking *l, struct thread *t)
{
    enum { POLL_US = 20 };
    enum wndl_stop_result result =
        t->is_late ? wndl_stop_again(&t->stop)
                   : wndl_stop_begin(&t->stop, (pid_t)t->task.tid, at_once);
    const uint64_t until = wndl_clock_monotonic_ns() + patience;
    while (result == WNDL_STOP_LATE && wndl_clock_monotonic_ns() < until) {
        usleep(POLL_US);
        result = wndl_stop_again(&t->stop);
    }
    t->is_late = result == WNDL_STOP_LATE;
    l->s->has_late |= t->is_late;
    if (result == WNDL_STOP_DONE)
        take(l, t);
}

static struct thread *thread_of(const struct looking *l, uint32_t tid)
{
    const uint64_t *known = wndl_map_get(&l->s->by_tid, tid);
    return known != NULL && *known != 0 ? (struct thread *)(uintptr_t)*known
                                        : add_thread(l->s, l->entry->pid, tid);
}

/* A blocked thread is not stopped: that would interrupt its system call. */
static void look_at(void *context, uint32_t tid)
{
    const struct looking *l = context;
    struct thread *t = thread_of(l, tid);
    struct wndl_offcpu_times times;
    uint64_t pc, sp;
    if (t == NULL || !wndl_offcpu_task_times(
                         &t->task, l->folder, &l->s->descriptors, &times))
        return;
    if (t->turn != 0)
        t->pending += times.run - t->run;
    t->run = times.run;
    t->turn = l->s->turns;
    if (t->is_late || (t->pending != 0 && wndl_offcpu_task_state(&t->task,
                                              l->folder, &l->s->descriptors,
                                              &pc, &sp) == WNDL_OFFCPU_RUNS))
        try_stop(l, t);
}

static void look_at_process(struct looking *l)
{
    l->folder = wndl_offcpu_task_folder(l->entry->pid);
    if (l->folder < 0)
        return;
    (void)wndl_offcpu_task_each(l->folder, look_at, l);
    close(l->folder);
}

uint64_t wndl_stopping_turn(struct wndl_stopping *s, uint64_t now,
    struct wndl_stopping_sink sink, struct wndl_collector_stops *totals)
{
    const uint64_t interval = s->run->request.interval;
    if (now < s->due)
        return s->due;
    s->due = now + (interval < least_interval ? least_interval : interval);
    if (s->run->paused)
        return s->due;
    s->turns++;
    s->has_late = false;
    struct looking l = {.s = s, .sink = sink, .totals = totals};
    for (l.entry = s->processes->first; l.entry != NULL;
         l.entry = l.entry->next) {
        if (l.entry->process != NULL && !l.entry->process->gone &&
            l.entry->process->attached != NULL)
            look_at_process(&l);
    }
    drop_gone(s);
    if (s->has_late)
        s->due = now + soon;
    return s->due;
}
