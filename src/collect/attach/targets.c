/* SPDX-License-Identifier: MIT */
#include "collect/attach/targets.h"

#include "collect/offcpu/task.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

void wndl_attach_targets_init(struct wndl_attach_targets *t,
    const struct wndl_attach_ring *rings, size_t ring_count)
{
    *t = (struct wndl_attach_targets){.rings = rings, .ring_count = ring_count};
    wndl_arena_init(&t->arena, wndl_mem_libc());
    wndl_vec_init(&t->fds, &t->arena, sizeof(struct wndl_attach_fd));
    wndl_map_init(&t->by_tid, &t->arena);
    wndl_map_init(&t->by_id, &t->arena);
    wndl_map_init(&t->places, &t->arena);
    wndl_vec_init(&t->owners, &t->arena, sizeof(struct wndl_attach_owner));
}

static struct wndl_attach_fd *fd_at(
    const struct wndl_attach_targets *t, size_t i)
{
    return wndl_vec_at(&t->fds, i);
}

static void close_one(struct wndl_attach_fd *one)
{
    if (one->fd >= 0)
        close(one->fd);
    one->fd = -1;
}

void wndl_attach_targets_free(struct wndl_attach_targets *t)
{
    for (size_t i = 0; i < t->fds.len; i++)
        close_one(fd_at(t, i));
    wndl_arena_free(&t->arena);
}

/* ---- opening */

static void switch_one(int fd, bool enabled)
{
    (void)ioctl(
        fd, enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* Keeps a descriptor; closes it without memory. */
static bool keep(struct wndl_attach_targets *t,
    const struct wndl_attach_thread *thread, int fd, uint64_t id)
{
    uint64_t *of_id = wndl_map_put(&t->by_id, id);
    struct wndl_attach_fd *one = of_id == NULL ? NULL : wndl_vec_push(&t->fds);
    if (one == NULL) {
        t->out_of_memory = true;
        close(fd);
        errno = ENOMEM;
        return false;
    }
    *of_id = t->count;
    *one = (struct wndl_attach_fd){fd, t->count, *thread};
    return true;
}

/* The event of a thread on one CPU. False with errno. */
static bool open_on(struct wndl_attach_targets *t,
    const struct wndl_attach_thread *thread,
    const struct wndl_attach_ring *ring, bool enabled)
{
    uint64_t id;
    int fd = wndl_attach_event_open(&t->event, (pid_t)thread->tid, ring->cpu);
    if (fd < 0)
        return false;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0 ||
        ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0) {
        const int why = errno;
        close(fd);
        errno = why;
        return false;
    }
    if (!keep(t, thread, fd, id))
        return false;
    if (enabled)
        switch_one(fd, true);
    return true;
}

/* Closes the events from `first` on. */
static void take_back(struct wndl_attach_targets *t, size_t first)
{
    const int why = errno;
    for (size_t i = first; i < t->fds.len; i++)
        close_one(fd_at(t, i));
    t->fds.len = first;
    errno = why;
}

/* Opens the events of one thread on all CPUs, or none. False with errno. */
static bool open_thread(struct wndl_attach_targets *t,
    const struct wndl_attach_thread *thread, bool enabled)
{
    const size_t first = t->fds.len;
    for (size_t i = 0; i < t->ring_count; i++) {
        if (!open_on(t, thread, &t->rings[i], enabled)) {
            take_back(t, first);
            return false;
        }
    }
    return true;
}

int wndl_attach_targets_add_all(struct wndl_attach_targets *t, bool enabled)
{
    static const struct wndl_attach_thread all = {.tid = WNDL_ATTACH_ALL};
    t->count++;
    return open_thread(t, &all, enabled) ? 0 : errno;
}

struct opening {
    struct wndl_attach_targets *targets;
    pid_t pid;
    bool enabled;
    uint32_t before; /* targets that there were */
    uint32_t known, opened, refused;
    int why;
};

/* A thread that has ended meanwhile needs no event. */
static void open_new(void *context, uint32_t tid)
{
    struct opening *o = context;
    struct wndl_attach_targets *t = o->targets;
    uint64_t *target = wndl_map_put(&t->by_tid, tid);
    if (target == NULL) {
        t->out_of_memory = true;
        return;
    }
    o->known += *target != 0 && *target <= o->before;
    if (*target != 0)
        return;
    *target = ++t->count;
    const struct wndl_attach_thread thread = {o->pid, tid};
    if (open_thread(t, &thread, o->enabled)) {
        o->opened++;
    } else if (errno != ESRCH) {
        o->refused++;
        o->why = errno;
    }
}

static void forget_target(void *context, uint32_t tid)
{
    wndl_attach_targets_ended(context, tid);
}

/* None of them has an event: the next attempt begins anew. */
static void forget_all(struct wndl_attach_targets *t, pid_t pid, int folder)
{
    wndl_attach_targets_release(t, pid);
    (void)wndl_offcpu_task_each(folder, forget_target, t);
}

/* Why the process cannot be sampled at all; 0: it can. */
static int reason_of(const struct opening *o)
{
    if (o->targets->out_of_memory)
        return ENOMEM;
    if (o->refused != 0 && (o->why == EMFILE || o->why == ENFILE))
        return o->why;
    if (o->opened + o->known != 0)
        return 0;
    return o->refused == 0 ? ESRCH : o->why;
}

/*
 * Threads that began before their parent had an event have none: the list is
 * read until it has no new ones.
 */
int wndl_attach_targets_add(
    struct wndl_attach_targets *t, pid_t pid, bool enabled)
{
    enum { ROUNDS = 8 };
    struct opening o = {
        .targets = t, .pid = pid, .enabled = enabled, .before = t->count};
    const int folder = wndl_offcpu_task_folder(pid);
    if (folder < 0)
        return errno == EMFILE || errno == ENFILE ? errno : ESRCH;
    uint32_t before = UINT32_MAX;
    for (int i = 0; i < ROUNDS && before != t->count; i++) {
        before = t->count;
        if (!wndl_offcpu_task_each(folder, open_new, &o))
            break;
    }
    const int why = reason_of(&o);
    if (why != 0 && o.known == 0)
        forget_all(t, pid, folder);
    close(folder);
    if (why != 0)
        return why;
    t->refused += o.refused;
    if (o.refused != 0)
        t->refused_errno = o.why;
    return 0;
}

void wndl_attach_targets_switch(
    const struct wndl_attach_targets *t, bool enabled)
{
    for (size_t i = 0; i < t->fds.len; i++) {
        if (fd_at(t, i)->fd >= 0)
            switch_one(fd_at(t, i)->fd, enabled);
    }
}

/* ---- samples */

static void close_target(struct wndl_attach_targets *t, uint64_t target)
{
    for (size_t i = 0; i < t->fds.len; i++) {
        if (fd_at(t, i)->target == target)
            close_one(fd_at(t, i));
    }
}

/* NULL without memory. */
static struct wndl_attach_owner *owner_of(
    struct wndl_attach_targets *t, uint32_t tid)
{
    uint64_t *place = wndl_map_put(&t->places, tid);
    if (place == NULL)
        return NULL;
    if (*place == 0 && wndl_vec_push(&t->owners) != NULL)
        *place = t->owners.len;
    return *place == 0 ? NULL : wndl_vec_at(&t->owners, *place - 1);
}

/*
 * Of two events that sample a thread side by side, that of the thread counts
 * which was attached first. One that has not sampled for long was of another
 * thread of this number, whose end was lost.
 */
bool wndl_attach_targets_counts(
    struct wndl_attach_targets *t, const struct wndl_attach_record *sample)
{
    enum { TOGETHER = 4 };
    const uint64_t *target = wndl_map_get(&t->by_id, sample->id);
    struct wndl_attach_owner *owner =
        target == NULL ? NULL : owner_of(t, sample->tid);
    if (owner == NULL)
        return target == NULL;
    const struct wndl_attach_owner old = *owner;
    const bool are_two = old.target != 0 && old.target != *target &&
                         old.time > t->anew &&
                         sample->time < old.time + TOGETHER * t->event.interval;
    if (are_two)
        close_target(t, old.target < *target ? *target : old.target);
    if (are_two && old.target < *target)
        return false;
    *owner = (struct wndl_attach_owner){*target, sample->time};
    return true;
}

/* Its number may have become another thread's, which has another target. */
static void forget_thread(
    struct wndl_attach_targets *t, const struct wndl_attach_fd *one)
{
    const uint64_t *target = wndl_map_get(&t->by_tid, one->thread.tid);
    if (target != NULL && *target == one->target)
        wndl_attach_targets_ended(t, one->thread.tid);
}

void wndl_attach_targets_release(struct wndl_attach_targets *t, pid_t pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->fds.len; i++) {
        struct wndl_attach_fd *one = fd_at(t, i);
        if (one->thread.pid == pid) {
            close_one(one);
            forget_thread(t, one);
        } else {
            *fd_at(t, kept++) = *one;
        }
    }
    t->fds.len = kept;
}

void wndl_attach_targets_ended(struct wndl_attach_targets *t, uint32_t tid)
{
    const uint64_t *place = wndl_map_get(&t->places, tid);
    uint64_t *target = wndl_map_get(&t->by_tid, tid);
    if (place != NULL && *place != 0)
        *(struct wndl_attach_owner *)wndl_vec_at(&t->owners, *place - 1) =
            (struct wndl_attach_owner){0};
    if (target != NULL)
        *target = 0;
}
