/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/offcpu.h"

#include "collect/offcpu/thread.h"
#include "rec/filter.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000 * 1000 };

static const uint64_t count_every = UINT64_C(100) * MS;
static const uint64_t list_every = UINT64_C(5000) * MS;
static const uint64_t write_every = UINT64_C(1000) * MS;
static const uint64_t name_every = UINT64_C(1000) * MS;
static const uint64_t name_first = UINT64_C(100) * MS;
static const uint64_t look_early = UINT64_C(3) * MS;
/*
 * A thread's ring should report its end, since it knows more; the ring is
 * drained more often than this.
 */
static const uint64_t ring_first = UINT64_C(500) * MS;
/* A block that lasts is written in pieces of an eighth of its length. */
static const uint64_t longest_piece = UINT64_C(10000) * MS;
/* Turns take at most one part of so many of the time. */
enum { COST_PARTS = 30 };

struct wndl_offcpu {
    struct wndl_offcpu_process process;
    struct wndl_collector_threads *known;
    struct wndl_arena arena;
    struct wndl_vec threads; /* struct wndl_offcpu_thread */
    struct wndl_map by_tid;  /* place in `threads` + 1, 0: none */
    size_t full;             /* no place in `threads` before it is free */
    size_t count;            /* number of threads, by the kernel's last list */
    uint64_t counted, listed, written;
    uint64_t random;
    bool is_paused;
};

struct wndl_offcpu *wndl_offcpu_new(pid_t pid,
    struct wndl_collector_threads *threads, struct wndl_offcpu_shared *shared,
    const _Atomic uint64_t *jit)
{
    struct wndl_offcpu *w = wndl_mem_zalloc(wndl_mem_libc(), sizeof *w);
    if (w == NULL)
        return NULL;
    w->known = threads;
    w->random = (uint64_t)pid;
    w->process.folder = wndl_offcpu_task_folder(pid);
    w->process.subject = (struct wndl_offcpu_subject){.pid = pid,
        .jit = jit,
        .shared = shared,
        .recording = threads->recording};
    wndl_offcpu_code_init(&w->process.subject.code, pid);
    wndl_offcpu_tree_init(&w->process.subject.tree, WNDL_CHUNK_OSTK);
    wndl_arena_init(&w->arena, wndl_mem_libc());
    wndl_vec_init(&w->threads, &w->arena, sizeof(struct wndl_offcpu_thread));
    wndl_map_init(&w->by_tid, &w->arena);
    return w;
}

static struct wndl_offcpu_thread *thread_at(
    const struct wndl_offcpu *w, size_t i)
{
    return wndl_vec_at(&w->threads, i);
}

/* The thread as the recording knows it; NULL if it is not announced yet. */
static struct wndl_collector_thread *known_of(
    const struct wndl_offcpu *w, const struct wndl_offcpu_thread *thread)
{
    if (thread->position == (size_t)WNDL_OFFCPU_UNKNOWN)
        return NULL;
    return wndl_vec_at(&w->known->all, thread->position);
}

/* ---- names */

/*
 * Announces the thread, at its start time if known. False when memory is out.
 */
static bool make_known(struct wndl_offcpu *w, struct wndl_offcpu_thread *thread)
{
    if (known_of(w, thread) != NULL)
        return true;
    const struct wndl_collector_thread *known = wndl_collector_thread_of(
        w->known, thread->task.tid, thread->reported.time);
    if (known == NULL)
        return false;
    const struct wndl_collector_thread *all = w->known->all.data;
    thread->position = (size_t)(known - all);
    return true;
}

static void leave_out(struct wndl_offcpu_thread *thread)
{
    thread->is_left_out = true;
    thread->is_blocked = false;
    thread->ran.time = 0;
}

/*
 * Reads the name: names change, and the user's choice of threads goes by name.
 * False when the thread is gone.
 */
static bool look_at_name(
    struct wndl_offcpu *w, struct wndl_offcpu_thread *thread, uint64_t now)
{
    const struct wndl_offcpu_subject *subject = &w->process.subject;
    char name[16];
    thread->was_active = false;
    thread->named = now;
    if (!wndl_offcpu_task_name(&thread->task, w->process.folder, name))
        return wndl_offcpu_task_is_there(errno);
    const struct wndl_filter_thread whom = {
        subject->pid, (int)thread->task.tid, name};
    if (!wndl_filter_has(subject->shared->wanted, &whom) ||
        !make_known(w, thread)) {
        leave_out(thread);
        return true;
    }
    wndl_collector_thread_name(w->known, known_of(w, thread), name, now);
    bool was_left_out = thread->is_left_out;
    thread->is_left_out = false;
    return !was_left_out || wndl_offcpu_thread_skip(thread, &w->process);
}

/* ---- the list of threads */

/* A free place in the list, or a new one; NULL when memory is out. */
static struct wndl_offcpu_thread *make_room(struct wndl_offcpu *w)
{
    for (; w->full < w->threads.len; w->full++) {
        if (thread_at(w, w->full)->task.tid == 0)
            return thread_at(w, w->full);
    }
    return wndl_vec_push(&w->threads);
}

/* A thread that was not in the last list began after it. */
static void look_at_birth(
    struct wndl_offcpu *w, struct wndl_offcpu_thread *thread, uint64_t now)
{
    uint64_t used = thread->reported.run + thread->reported.wait;
    uint64_t born;
    if (w->listed == 0 || now <= w->listed + used ||
        !wndl_offcpu_task_birth(&thread->task, w->process.folder, &born))
        return;
    if (born > now - used)
        born = now - used;
    wndl_offcpu_thread_born(thread, born > w->listed ? born : w->listed);
}

/*
 * The kernel lists a thread for a moment after its ring has reported its end.
 */
static void add_thread(struct wndl_offcpu *w, uint32_t tid, uint64_t now)
{
    uint64_t *at = wndl_map_put(&w->by_tid, tid);
    if (at == NULL || *at != 0 ||
        wndl_collector_thread_ended_since(w->known, tid, now - ring_first))
        return;
    struct wndl_offcpu_thread *thread = make_room(w);
    if (thread == NULL ||
        !wndl_offcpu_thread_begin(thread, &w->process, tid, now))
        return;
    *at = (size_t)(thread - thread_at(w, 0)) + 1;
    look_at_birth(w, thread, now);
    (void)look_at_name(w, thread, now);
    /* Most threads are named when they have just begun. */
    thread->named = now - name_every + name_first;
    thread->was_active = true;
}

struct listing {
    struct wndl_offcpu *offcpu;
    uint64_t now;
};

static void take_tid(void *context, uint32_t tid)
{
    const struct listing *listing = context;
    add_thread(listing->offcpu, tid, listing->now);
}

static void update_list(struct wndl_offcpu *w, uint64_t now)
{
    size_t count = wndl_offcpu_task_count(w->process.folder);
    if (count != w->count || now >= w->listed + list_every) {
        struct listing listing = {w, now};
        if (wndl_offcpu_task_each(w->process.folder, take_tid, &listing))
            w->listed = now;
        w->count = count;
    }
    w->counted = now;
}

/* ---- ends of threads */

static void write_thread(
    struct wndl_offcpu *w, struct wndl_offcpu_thread *thread)
{
    struct wndl_recording *recording = w->process.subject.recording;
    const struct wndl_collector_thread *known = known_of(w, thread);
    if (known == NULL)
        return;
    wndl_offcpu_tree_write(
        &w->process.subject.tree, recording, w->known->process);
    wndl_offcpu_spans_write(&thread->spans, recording, known->index);
}

/* The thread ended between the last count and now. */
static void take_end(
    struct wndl_offcpu *w, struct wndl_offcpu_thread *thread, uint64_t now)
{
    uint64_t seen = thread->reported.time > w->counted && w->counted != 0
                        ? thread->reported.time
                        : w->counted;
    thread->gone = seen < now ? seen + (now - seen) / 2 : now;
    thread->due = now + ring_first;
    uint64_t *at = wndl_map_get(&w->by_tid, thread->task.tid);
    if (at != NULL)
        *at = 0;
    w->count = 0; /* another thread may have begun in its place */
}

/* CPU time that is in no sample; a runtime reports that itself. */
static uint64_t unsampled(const struct wndl_offcpu *w,
    const struct wndl_offcpu_thread *thread,
    const struct wndl_collector_thread *known)
{
    return w->process.subject.shared->is_alone && thread->run > known->sampled
               ? thread->run - known->sampled
               : 0;
}

static void forget(struct wndl_offcpu *w, struct wndl_offcpu_thread *thread)
{
    struct wndl_collector_thread *known = known_of(w, thread);
    if (known != NULL) {
        const uint64_t end = known->exit != 0 ? known->exit : thread->gone;
        wndl_offcpu_thread_ended(
            thread, &w->process, known->ended ? known->end : end);
        write_thread(w, thread);
        wndl_collector_thread_end(
            w->known, known, end, unsampled(w, thread, known));
    }
    wndl_offcpu_thread_free(thread, &w->process);
    const size_t place = (size_t)(thread - thread_at(w, 0));
    w->full = place < w->full ? place : w->full;
}

/* ---- turns */

static void look_at_thread(
    struct wndl_offcpu *w, struct wndl_offcpu_thread *thread, uint64_t now)
{
    if (thread->gone != 0) {
        forget(w, thread);
        return;
    }
    bool is_there =
        thread->is_left_out || wndl_offcpu_thread_look(thread, &w->process);
    if (is_there && now >= thread->named + name_every &&
        (thread->was_active || thread->is_left_out))
        is_there = look_at_name(w, thread, now);
    if (thread->is_left_out)
        thread->due = thread->named + name_every;
    if (!is_there)
        take_end(w, thread, now);
}

static void write_some(struct wndl_offcpu *w, uint64_t now)
{
    w->written = now;
    for (size_t i = 0; i < w->threads.len; i++) {
        struct wndl_offcpu_thread *thread = thread_at(w, i);
        const struct wndl_offcpu_span *last = &thread->spans.last;
        if (thread->task.tid == 0)
            continue;
        uint64_t block = now > thread->since ? now - thread->since : 0;
        uint64_t piece = block / 8 < longest_piece ? block / 8 : longest_piece;
        if (thread->spans.count != 0 || last->end - last->start >= piece)
            write_thread(w, thread);
    }
}

/*
 * Between 3/4 and 5/4 of the interval, so that reads do not stay in phase with
 * a timer of the program.
 */
static uint64_t next_interval(struct wndl_offcpu *w)
{
    w->random = wndl_hash_u64(w->random + 1);
    return WNDL_OFFCPU_INTERVAL_NS * UINT64_C(3) / 4 +
           w->random % (WNDL_OFFCPU_INTERVAL_NS / 2);
}

static uint64_t cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* `cpu`: this thread's CPU time when this turn began. */
static uint64_t next_turn(
    const struct wndl_offcpu *w, uint64_t now, uint64_t cpu)
{
    uint64_t next = w->counted + count_every;
    for (size_t i = 0; i < w->threads.len; i++) {
        const struct wndl_offcpu_thread *thread = thread_at(w, i);
        if (thread->task.tid != 0 && thread->due < next)
            next = thread->due;
    }
    uint64_t rest = now + (cpu_time() - cpu) * COST_PARTS;
    return next > rest ? next : rest;
}

uint64_t wndl_offcpu_turn(struct wndl_offcpu *w, uint64_t now)
{
    if (w->process.folder < 0 || w->is_paused)
        return now + count_every;
    uint64_t cpu = cpu_time();
    update_list(w, now);
    w->process.interval = next_interval(w);
    for (size_t i = 0; i < w->threads.len; i++) {
        struct wndl_offcpu_thread *thread = thread_at(w, i);
        if (thread->task.tid != 0 && thread->due <= now + look_early)
            look_at_thread(w, thread, now);
    }
    if (now >= w->written + write_every)
        write_some(w, now);
    return next_turn(w, now, cpu);
}

void wndl_offcpu_modules_changed(struct wndl_offcpu *w)
{
    w->process.subject.code.is_stale = true;
}

void wndl_offcpu_pause(struct wndl_offcpu *w, bool paused, uint64_t now)
{
    if (paused == w->is_paused)
        return;
    if (!paused) {
        /* threads that began meanwhile count as old as the others */
        w->listed = 0;
        update_list(w, now);
    }
    for (size_t i = 0; i < w->threads.len; i++) {
        struct wndl_offcpu_thread *thread = thread_at(w, i);
        if (thread->task.tid == 0 || thread->gone != 0 || thread->is_left_out)
            continue;
        bool is_there = paused ? wndl_offcpu_thread_settle(thread, &w->process)
                               : wndl_offcpu_thread_skip(thread, &w->process);
        if (!is_there)
            take_end(w, thread, now);
        write_thread(w, thread);
    }
    w->is_paused = paused;
}

void wndl_offcpu_settle(struct wndl_offcpu *w, uint64_t now)
{
    if (w->is_paused)
        return;
    wndl_offcpu_pause(w, true, now);
    wndl_offcpu_pause(w, false, now);
}

void wndl_offcpu_end(struct wndl_offcpu *w, uint64_t now)
{
    for (size_t i = 0; i < w->threads.len; i++) {
        struct wndl_offcpu_thread *thread = thread_at(w, i);
        if (thread->task.tid == 0)
            continue;
        if (thread->gone == 0)
            thread->gone = w->is_paused ? thread->reported.time : now;
        forget(w, thread);
    }
    if (w->process.folder >= 0)
        close(w->process.folder);
    wndl_offcpu_code_free(&w->process.subject.code);
    wndl_offcpu_tree_free(&w->process.subject.tree);
    wndl_arena_free(&w->arena);
    wndl_mem_free(wndl_mem_libc(), w);
}
