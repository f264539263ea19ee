/* SPDX-License-Identifier: MIT */
#include "collect/loop/attachment.h"

#include "collect/attach/descendants.h"
#include "collect/loop/attach_rights.h"
#include "collect/loop/stopping.h"
#include "collect/proc/proc.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALL_PROCESSES = 0 };

/* ---- the beginning */

/* The list grows with those that are found later. */
static bool list_processes(struct wndl_attachment *a)
{
    const struct wndl_collector_request *r = &a->run->request;
    wndl_arena_init(&a->arena, wndl_mem_libc());
    wndl_vec_init(&a->pids, &a->arena, sizeof(pid_t));
    for (size_t i = 0; i < r->pid_count; i++) {
        pid_t *pid = wndl_vec_push(&a->pids);
        if (pid == NULL)
            return false;
        *pid = r->pids[i];
    }
    return true;
}

static void on_ring(void *owner)
{
    wndl_attachment_take(owner, false);
}

/* Descriptors that we need for ourselves must be left. */
static bool has_descriptors_left(void)
{
    enum { OUR_OWN = 24 };
    int spare[OUR_OWN];
    size_t count = 0;
    while (count < OUR_OWN &&
           (spare[count] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    for (size_t i = 0; i < count; i++)
        close(spare[i]);
    return count == OUR_OWN;
}

/*
 * Children that began before their parent had an event have none: the list is
 * read until it has no new ones. One that ends meanwhile does no harm.
 */
static enum wndl_status open_descendants(
    struct wndl_attachment *a, struct wndl_error *err)
{
    enum { ROUNDS = 8 };
    size_t done = a->pids.len;
    for (int i = 0; i < ROUNDS; i++) {
        if (!wndl_attach_descendants(&a->pids))
            return wndl_fail_errno(err, errno, "cannot list processes");
        if (done == a->pids.len)
            break;
        for (; done < a->pids.len; done++) {
            const pid_t pid = *(const pid_t *)wndl_vec_at(&a->pids, done);
            const int why = wndl_attach_add(&a->attach, pid);
            if (why != 0 && why != ESRCH)
                return wndl_attach_lack(a->attach.ring_count, pid, why, err);
        }
    }
    return WNDL_OK;
}

/* Without perf events: children that run already are known by /proc alone. */
static enum wndl_status open_without_events(
    struct wndl_attachment *a, struct wndl_error *err)
{
    const struct wndl_collector_request *r = &a->run->request;
    if (!r->only_first && !wndl_attach_descendants(&a->pids))
        return wndl_fail_errno(err, errno, "cannot list processes");
    if (r->engine.engine != WNDL_ENGINE_STOP)
        return WNDL_OK;
    a->stopping = wndl_stopping_new(a->run, a->processes);
    return a->stopping == NULL ? wndl_fail(err, WNDL_NOMEM, "out of memory")
                               : WNDL_OK;
}

enum wndl_status wndl_attachment_open(
    struct wndl_attachment *a, struct wndl_error *err)
{
    const struct wndl_collector_request *r = &a->run->request;
    const struct wndl_attach_event event = {
        .interval = r->interval,
        .stack_size = r->stack_size,
        .has_children = !r->only_first,
    };
    if (!list_processes(a))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (r->engine.engine != WNDL_ENGINE_COPIES)
        return open_without_events(a, err);
    int why = wndl_attach_open(&a->attach, &event);
    if (why != 0)
        return wndl_attach_lack(a->attach.ring_count, ALL_PROCESSES, why, err);
    a->is_open = true;
    for (size_t i = 0; i < r->pid_count; i++) {
        why = wndl_attach_add(&a->attach, r->pids[i]);
        if (why != 0)
            return wndl_attach_lack(a->attach.ring_count, r->pids[i], why, err);
    }
    const enum wndl_status status =
        r->only_first ? WNDL_OK : open_descendants(a, err);
    if (status != WNDL_OK || has_descriptors_left())
        return status;
    return wndl_attach_lack(a->attach.ring_count, r->pids[0], EMFILE, err);
}

static bool watch_rings(struct wndl_attachment *a)
{
    a->on_ring = (struct wndl_source){on_ring, a};
    for (size_t i = 0; i < a->attach.ring_count; i++) {
        if (!wndl_loop_watch(&a->run->loop, a->attach.rings[i].fd, &a->on_ring))
            return false;
    }
    return true;
}

/* False without memory. */
static bool prepare_walks(struct wndl_attachment *a)
{
    const struct wndl_collector_request *r = &a->run->request;
    a->settings = (struct wndl_attached_settings){
        .walks =
            wndl_attach_shared_new(&a->run->binaries, r->max_frames, r->unwind),
        .wanted = r->threads,
        .interval = r->interval,
    };
    if (a->settings.walks == NULL || !a->run->has_binaries)
        return false;
    a->settings.walks->frames_by = a->run->totals.frames_by;
    return true;
}

enum wndl_status wndl_attachment_begin(
    struct wndl_attachment *a, struct wndl_error *err)
{
    const struct wndl_collector_request *r = &a->run->request;
    if (!prepare_walks(a))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (a->is_open && !watch_rings(a))
        return wndl_fail_errno(err, errno, "cannot wait for samples");
    for (size_t i = 0; i < a->pids.len; i++)
        wndl_processes_add_silent(
            a->processes, *(const pid_t *)wndl_vec_at(&a->pids, i));
    if (a->is_open && r->delay == 0)
        wndl_attach_switch(&a->attach, true);
    return WNDL_OK;
}

void wndl_attachment_add(
    struct wndl_attachment *a, struct wndl_collector_process *p)
{
    if (a != NULL && (a->is_open || a->stopping != NULL) &&
        wndl_collector_process_attach(p, &a->settings))
        wndl_processes_keep_lost(a->processes, p);
}

/* ---- programs that cannot be recorded from inside */

/* Opens the rings when the first such program comes. */
static bool open_for_adopted(struct wndl_attachment *a)
{
    const struct wndl_collector_request *r = &a->run->request;
    const struct wndl_attach_event event = {
        .interval = r->interval, .stack_size = r->stack_size};
    if (a->is_open || a->is_refused)
        return a->is_open;
    a->is_refused = true;
    if (wndl_attach_open(&a->attach, &event) != 0)
        return false;
    a->is_open = true;
    if (prepare_walks(a) && watch_rings(a)) {
        wndl_attach_switch(&a->attach, !a->run->paused);
        return true;
    }
    wndl_attachment_close(a);
    return false;
}

static bool is_adoptable(enum wndl_unrecorded_reason reason)
{
    return reason == WNDL_UNRECORDED_STATIC || reason == WNDL_UNRECORDED_LIBC ||
           reason == WNDL_UNRECORDED_GO || reason == WNDL_UNRECORDED_SETUID;
}

static bool is_attached(const struct wndl_attachment *a, pid_t pid)
{
    const struct wndl_process_entry *entry =
        wndl_processes_find(a->processes, pid);
    return entry != NULL && !entry->process->gone &&
           entry->process->attached != NULL;
}

bool wndl_attachment_adopt(
    struct wndl_attachment *a, pid_t pid, enum wndl_unrecorded_reason reason)
{
    if (is_attached(a, pid))
        return true;
    if (a->run->request.engine.engine != WNDL_ENGINE_PERF ||
        !is_adoptable(reason) || !open_for_adopted(a) ||
        wndl_attach_add(&a->attach, pid) != 0)
        return false;
    wndl_processes_add_silent(a->processes, pid);
    const struct wndl_process_entry *entry =
        wndl_processes_find(a->processes, pid);
    if (entry != NULL) /* it may be gone by its first sample */
        wndl_collector_process_read_code(
            entry->process, wndl_clock_monotonic_ns());
    a->processes->other_engine++;
    return true;
}

void wndl_attachment_release(struct wndl_attachment *a, pid_t pid)
{
    if (a != NULL && a->is_open && !a->attach.targets.event.has_children)
        wndl_attach_targets_release(&a->attach.targets, pid);
}

/*
 * The events that hold the rings end with our parent, and would be ready for
 * ever. The rings are still read with each drain.
 */
void wndl_attachment_take_over(struct wndl_attachment *a)
{
    for (size_t i = 0; a->is_open && i < a->attach.ring_count; i++)
        wndl_loop_unwatch(&a->run->loop, a->attach.rings[i].fd);
    if (a->is_open && !wndl_attach_remap(&a->attach))
        wndl_attachment_close(a);
}

/* ---- while they run */

/* An image that was announced after this exec is the new one. */
static void take_exec(struct wndl_attachment *a,
    const struct wndl_process_entry *entry,
    const struct wndl_attach_record *record)
{
    if (a->run->request.pid_count != 0 && record->time > entry->begun)
        wndl_processes_add_sampled(a->processes, entry->pid, entry->pid);
}

/* The kernel says which process runs when there is room again. */
static void count_dropped(struct wndl_run *run,
    const struct wndl_process_entry *entry, uint64_t count)
{
    run->totals.lost[WNDL_LOSS_RING_FULL] += count;
    if (entry != NULL)
        entry->process->dropped += count;
}

static void take_record(void *context, const struct wndl_attach_record *record)
{
    struct wndl_attachment *a = context;
    struct wndl_run *run = a->run;
    const pid_t pid = (pid_t)record->pid;
    struct wndl_process_entry *entry = wndl_processes_find(a->processes, pid);
    const bool begins =
        record->kind == WNDL_ATTACH_FORK || record->kind == WNDL_ATTACH_SAMPLE;
    if (entry == NULL && begins && a->attach.targets.event.has_children) {
        wndl_processes_add_sampled(a->processes, pid, (pid_t)record->parent);
        entry = wndl_processes_find(a->processes, pid);
    }
    if (record->kind == WNDL_ATTACH_LOST)
        count_dropped(run, entry, record->count);
    if (entry == NULL)
        return;
    if (record->kind == WNDL_ATTACH_EXEC)
        take_exec(a, entry, record);
    else
        wndl_collector_process_record(entry->process, record);
}

static bool is_sampled(const struct wndl_process_entry *entry)
{
    return entry->process != NULL && !entry->process->gone &&
           entry->process->attached != NULL;
}

/* Their numbers may be others' by now. */
static void forget_ended(struct wndl_attachment *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->pids.len; i++) {
        const pid_t pid = *(const pid_t *)wndl_vec_at(&a->pids, i);
        if (wndl_processes_find(a->processes, pid) != NULL)
            *(pid_t *)wndl_vec_at(&a->pids, kept++) = pid;
    }
    a->pids.len = kept;
}

/* All processes get new events: the size of a copy is one's for good. */
static void open_anew(struct wndl_attachment *a)
{
    struct wndl_error err = {0};
    struct wndl_attach_targets *t = &a->attach.targets;
    const struct wndl_process_entry *first = a->processes->first;
    for (const struct wndl_process_entry *l = first; l != NULL; l = l->next) {
        if (is_sampled(l))
            wndl_attach_targets_release(t, l->pid);
    }
    t->anew = wndl_clock_monotonic_ns();
    for (const struct wndl_process_entry *l = first; l != NULL; l = l->next) {
        if (!is_sampled(l))
            continue;
        (void)wndl_attach_add(&a->attach, l->pid);
        /* Nobody has reported new code meanwhile. */
        wndl_collector_process_forget_code(l->process);
    }
    if (!t->event.has_children)
        return;
    forget_ended(a);
    (void)open_descendants(a, &err);
}

/* Each thread needs an event of its own then, on each CPU. */
static bool has_room_for_all(const struct wndl_attachment *a)
{
    enum { OUR_OWN = 64 };
    struct rlimit limit;
    size_t threads = 0;
    for (const struct wndl_process_entry *l = a->processes->first; l != NULL;
         l = l->next)
        threads += is_sampled(l) ? wndl_attach_count_threads(l->pid) : 0;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
           threads * a->attach.ring_count + OUR_OWN < limit.rlim_cur / 2;
}

/* Doubles what samples copy, if that has been too little some times. */
static void grow_copies(struct wndl_attachment *a)
{
    enum { OFTEN = 8 };
    struct wndl_attach_event *event = &a->attach.targets.event;
    const uint64_t cut = a->settings.walks->cut;
    if (!a->is_open || !a->run->request.stack_grows || cut < a->cut + OFTEN ||
        event->stack_size >= WNDL_ATTACH_STACK_MAX || !has_room_for_all(a))
        return;
    a->cut = cut;
    event->stack_size = event->stack_size > WNDL_ATTACH_STACK_MAX / 2
                            ? WNDL_ATTACH_STACK_MAX
                            : 2 * event->stack_size;
    open_anew(a);
}

uint64_t wndl_attachment_turn(struct wndl_attachment *a, uint64_t now)
{
    const struct wndl_stopping_sink sink = {take_record, a};
    return a->stopping == NULL ? UINT64_MAX
                               : wndl_stopping_turn(a->stopping, now, sink,
                                     &a->run->totals.stops);
}

void wndl_attachment_take(struct wndl_attachment *a, bool last)
{
    if (a == NULL || a->settings.walks == NULL)
        return;
    if (last)
        wndl_stopping_release(a->stopping);
    if (a->is_open)
        wndl_attach_take(&a->attach, last, take_record, a);
    a->run->totals.cut = a->settings.walks->cut;
    if (!last)
        grow_copies(a);
    for (struct wndl_process_entry *l = a->processes->first; l != NULL;
         l = l->next) {
        if (l->process != NULL)
            wndl_collector_process_put_samples(l->process);
    }
}

/* While events are disabled, they do not report new code. */
void wndl_attachment_pause(struct wndl_attachment *a, bool paused)
{
    if (a == NULL || !a->is_open)
        return;
    wndl_attach_switch(&a->attach, !paused);
    wndl_attachment_take(a, true);
    for (struct wndl_process_entry *l = a->processes->first; l != NULL;
         l = l->next) {
        if (l->process != NULL)
            wndl_collector_process_forget_code(l->process);
    }
}

void wndl_attachment_close(struct wndl_attachment *a)
{
    wndl_attach_close(&a->attach);
    wndl_stopping_free(a->stopping);
    a->stopping = NULL;
    wndl_attach_shared_free(a->settings.walks);
    if (a->run->request.pid_count != 0)
        wndl_arena_free(&a->arena);
    a->settings.walks = NULL;
    a->is_open = false;
}
