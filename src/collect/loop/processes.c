/* SPDX-License-Identifier: MIT */
/*
 * The processes that are being recorded: from their hello to their end.
 */
#include "collect/loop/collector_impl.h"
#include "collect/proc/proc.h"
#include "os/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct wndl_process_entry *wndl_processes_find(
    const struct wndl_collector *c, pid_t pid)
{
    struct wndl_process_entry *found = c->processes;
    while (found != NULL && (found->pid != pid || found->process == NULL))
        found = found->next;
    return found;
}

uint32_t wndl_processes_parent(const struct wndl_collector *c, pid_t pid)
{
    enum { GENERATIONS = 16 };
    struct wndl_proc_stat stat;
    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        if (!wndl_proc_stat(pid, &stat))
            return 0;
        pid = stat.parent;
        const struct wndl_process_entry *parent = wndl_processes_find(c, pid);
        if (parent != NULL)
            return parent->process->index + 1;
    }
    return 0;
}

/* ---- beginning */

static struct wndl_process_entry *add(
    struct wndl_collector *c, pid_t pid, int socket)
{
    struct wndl_process_entry *live =
        wndl_mem_zalloc(wndl_mem_libc(), sizeof *live);
    if (live == NULL)
        return NULL;
    *live = (struct wndl_process_entry){
        .next = c->processes,
        .pid = pid,
        .socket = socket,
        .engine = c->request.engine.engine,
        .on_socket = {WNDL_SOURCE_SOCKET, live},
        .on_end = {WNDL_SOURCE_END, live},
    };
    c->processes = live;
    return live;
}

/* A descriptor that a child of ours has too stays watched when it is closed. */
static void forget(struct wndl_collector *c, struct wndl_process_entry *live)
{
    struct wndl_process_entry **link = &c->processes;
    while (*link != live)
        link = &(*link)->next;
    *link = live->next;
    if (live->socket >= 0) {
        wndl_loop_unwatch(c, live->socket);
        close(live->socket);
    }
    if (live->process != NULL) {
        wndl_loop_unwatch(c, live->process->pid_fd);
        wndl_collector_process_free(live->process);
    }
    wndl_mem_free(wndl_mem_libc(), live);
}

/* No descriptor is left: who waits is let go with the one we have put by. */
static void turn_away(struct wndl_collector *c)
{
    pid_t pid;
    if (c->reserve < 0)
        return;
    close(c->reserve);
    int fd = wndl_session_accept(&c->session, &pid);
    if (fd >= 0) {
        close(fd);
        wndl_unrecorded_refused(c, pid, WNDL_UNRECORDED_DESCRIPTORS);
    }
    c->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void wndl_processes_accept(struct wndl_collector *c)
{
    pid_t pid;
    int fd = wndl_session_accept(&c->session, &pid);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            turn_away(c);
        return;
    }
    struct wndl_process_entry *live = add(c, pid, fd);
    if (live == NULL)
        close(fd);
    else if (!wndl_loop_watch(c, fd, &live->on_socket))
        forget(c, live);
}

/* The same pid again is the same process after exec. */
static struct wndl_recording_process origin_of(
    struct wndl_collector *c, pid_t pid)
{
    struct wndl_recording_process origin = {
        .pid = (uint32_t)pid,
        .time = wndl_clock_monotonic_ns(),
    };
    struct wndl_process_entry *before = wndl_processes_find(c, pid);
    if (before == NULL) {
        origin.parent = wndl_processes_parent(c, pid);
        return origin;
    }
    origin.generation = before->process->generation + 1;
    origin.parent = before->process->index + 1;
    if (!before->process->gone)
        wndl_collector_process_end(before->process, WNDL_ENDED_EXEC);
    forget(c, before);
    return origin;
}

/* Its end is waited for, and it is looked at from outside. */
static bool attend(struct wndl_collector *c, struct wndl_process_entry *live)
{
    struct wndl_collector_process *p = live->process;
    p->pid_fd = (int)syscall(SYS_pidfd_open, live->pid, 0);
    if (p->pid_fd < 0 || !wndl_loop_watch(c, p->pid_fd, &live->on_end))
        return false;
    if (c->offcpu == NULL || p->emulated)
        return true;
    p->offcpu = wndl_offcpu_new(live->pid, &p->threads, c->offcpu,
        p->shm == NULL ? NULL : &p->shm->jit);
    uint64_t now = wndl_clock_monotonic_ns();
    if (p->offcpu != NULL && c->paused)
        wndl_offcpu_pause(p->offcpu, true, now);
    live->look = now + c->request.offcpu_interval;
    return true;
}

static bool send_go(
    struct wndl_collector *c, const struct wndl_process_entry *live, int memfd)
{
    const struct wndl_collector_request *r = &c->request;
    bool as_asked = live->engine == r->engine.engine;
    struct wndl_go go = {
        .version = WNDL_SHM_VERSION,
        .engine = live->engine,
        .fallback = as_asked ? r->engine.fallback : WNDL_ENGINE_NONE,
        .sample_kernel = !as_asked || r->engine.sample_kernel,
        .interval = r->interval,
        .max_frames = r->max_frames,
        .unwind = r->unwind,
        .heap = r->heap.flags,
        .heap_pairs = live->process->heap == NULL ? 0 : live->heap_pairs,
        .heap_sample_below = r->heap.sample_below,
        .nodes = live->process->tree.max_nodes,
    };
    memcpy(go.threads, r->threads, sizeof go.threads);
    if (r->tables[0] != '\0')
        memcpy(live->process->shm->tables, r->tables, sizeof r->tables);
    return wndl_session_go(live->socket, &go, memfd);
}

/* For want of a descriptor or of memory, as `why` says, or it is gone. */
static void refuse(
    struct wndl_collector *c, struct wndl_process_entry *live, int why)
{
    bool descriptors = why == EMFILE || why == ENFILE;
    bool gone = why == EPIPE || why == ECONNRESET || why == ESRCH;
    pid_t pid = live->pid;
    forget(c, live);
    if (!gone)
        wndl_unrecorded_refused(c, pid,
            descriptors ? WNDL_UNRECORDED_DESCRIPTORS : WNDL_UNRECORDED_MEMORY);
}

/* One of another processor is run by an emulator, which is what is seen. */
static bool is_emulated(const struct wndl_process_entry *live, uint32_t machine)
{
    uint16_t executable = wndl_proc_machine(live->pid);
    return executable != 0 && executable != machine;
}

/* The block is mapped here, too, where a limit is the same for all of them. */
static uint32_t nodes_for(pid_t pid, uint32_t heap_pairs)
{
    struct rlimit limit = {.rlim_cur = 0};
    bool is_limited = prlimit(pid, RLIMIT_AS, NULL, &limit) != 0 ||
                      limit.rlim_cur != RLIM_INFINITY;
    return heap_pairs == WNDL_HEAP_PAIRS && !is_limited ? WNDL_SHM_NODES_HEAP
                                                        : WNDL_SHM_NODES;
}

static void begin(
    struct wndl_collector *c, struct wndl_process_entry *live, uint32_t machine)
{
    const struct wndl_recording_process origin = origin_of(c, live->pid);
    struct wndl_collector_heap_request heap = c->request.heap;
    int memfd;
    heap.pairs = live->heap_pairs;
    heap.nodes = nodes_for(live->pid, live->heap_pairs);
    live->process = wndl_collector_process_new(
        &c->recording, &c->totals, &origin, &heap, &memfd);
    if (live->process == NULL) {
        refuse(c, live, errno);
        return;
    }
    wndl_unrecorded_greeted(c, live->pid);
    live->process->emulated = is_emulated(live, machine);
    wndl_collector_process_pause(live->process, c->paused);
    bool begun = attend(c, live) && send_go(c, live, memfd);
    int why = errno;
    close(memfd);
    if (begun)
        return;
    wndl_collector_process_end(live->process, WNDL_ENDED_UNKNOWN);
    refuse(c, live, why);
}

void wndl_processes_add_silent(struct wndl_collector *c, pid_t pid)
{
    const struct wndl_recording_process origin = origin_of(c, pid);
    struct wndl_process_entry *live = add(c, pid, -1);
    if (live == NULL)
        return;
    live->process = wndl_collector_process_new(
        &c->recording, &c->totals, &origin, &c->request.heap, NULL);
    if (live->process == NULL)
        forget(c, live);
    else if (!attend(c, live))
        wndl_processes_end(c, live, WNDL_ENDED_UNKNOWN);
}

/* ---- talking */

static void take_ready(
    struct wndl_collector *c, struct wndl_process_entry *live)
{
    struct wndl_ready ready;
    if (wndl_session_ready(live->socket, &ready, &live->process->event_fd))
        c->other_engine += ready.engine != live->engine;
    /* The program's own module is there; what it is to know of it, now. */
    wndl_collector_process_take_stacks(live->process, false);
    if (c->paused)
        wndl_collector_process_pause(live->process, true);
    wndl_loop_unwatch(c, live->socket);
    close(live->socket);
    live->socket = -1;
}

/* Address space is scarce in 32 bits, and where it is limited. */
static uint32_t pairs_for(pid_t pid, uint32_t machine)
{
    enum { LEAST = 1024, SHARE = 4 };
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    uint32_t pairs = machine == EM_X86_64 || machine == EM_AARCH64
                         ? WNDL_HEAP_PAIRS
                         : WNDL_HEAP_PAIRS_32;
    (void)prlimit(pid, RLIMIT_AS, NULL, &limit);
    while (
        pairs > LEAST && wndl_heap_layout(pairs).size > limit.rlim_cur / SHARE)
        pairs /= 2;
    return pairs;
}

/* A debugger keeps SIGTRAP to itself. */
static void take_hello(struct wndl_collector *c,
    struct wndl_process_entry *live, const struct wndl_hello *hello)
{
    pid_t pid = live->pid;
    if (c->request.only_first && pid != c->spawn.pid) {
        forget(c, live);
    } else if (live->engine == WNDL_ENGINE_OUTSIDE) {
        forget(c, live);
        if (wndl_processes_find(c, pid) == NULL)
            wndl_processes_add_silent(c, pid);
    } else if (hello->refusal != WNDL_UNRECORDED_NONE) {
        wndl_unrecorded_refused(c, live->pid, hello->refusal);
        forget(c, live);
    } else {
        if (hello->traced != 0 && live->engine == WNDL_ENGINE_PERF)
            live->engine = WNDL_ENGINE_TIMER;
        live->heap_pairs = pairs_for(pid, hello->machine);
        begin(c, live, hello->machine);
    }
}

static void take_question(struct wndl_collector *c,
    struct wndl_process_entry *live, const struct wndl_control *control)
{
    wndl_loop_unwatch(c, live->socket);
    live->socket = wndl_control_take(c, live->socket, control);
    forget(c, live);
}

void wndl_processes_on_message(
    struct wndl_collector *c, struct wndl_process_entry *live)
{
    union wndl_session_first first;
    if (live->process != NULL) {
        take_ready(c, live);
        return;
    }
    switch (wndl_session_hear(live->socket, &first)) {
    case WNDL_SESSION_PROCESS:
        take_hello(c, live, &first.hello);
        break;
    case WNDL_SESSION_CONTROL:
        take_question(c, live, &first.control);
        break;
    case WNDL_SESSION_NOBODY:
        forget(c, live);
        break;
    }
}

/* ---- while they run */

/*
 * A perf event of a process that is being debugged would stop it: that is
 * what debuggers do at a SIGTRAP.
 */
static void look_for_debugger(
    struct wndl_collector *c, struct wndl_process_entry *live)
{
    if (live->process->event_fd < 0)
        return;
    bool debugged = wndl_proc_tracer(live->pid) != 0;
    if (debugged == live->process->debugged)
        return;
    c->traced += debugged;
    wndl_collector_process_debugged(live->process, debugged);
}

/* A pause of the program's own is none of blocked threads. */
static void look_for_hold(
    struct wndl_collector *c, struct wndl_process_entry *live)
{
    const struct wndl_collector_process *p = live->process;
    if (p->shm == NULL || p->offcpu == NULL)
        return;
    bool held = atomic_load(&p->shm->held) % 2 != 0;
    wndl_offcpu_pause(p->offcpu, c->paused || held, wndl_clock_monotonic_ns());
}

static void look_for_changes(
    struct wndl_collector *c, struct wndl_process_entry *live)
{
    look_for_debugger(c, live);
    if (!wndl_collector_process_replaced(live->process))
        return;
    if (live->process->shm == NULL) {
        wndl_processes_add_silent(c, live->pid);
        return;
    }
    wndl_collector_process_end(live->process, WNDL_ENDED_EXEC);
    live->process->gone = true;
    wndl_unrecorded_replaced(c, live);
}

/* Of many processes not all are asked about each time. */
static bool has_its_turn(
    const struct wndl_collector *c, const struct wndl_process_entry *live)
{
    enum { AT_ONCE = 64 };
    uint32_t parts = 1 + c->drained / AT_ONCE;
    return live->socket < 0 &&
           live->process->index % parts == c->drains % parts;
}

void wndl_processes_drain(struct wndl_collector *c)
{
    struct wndl_process_entry *next;
    uint32_t count = 0;
    for (struct wndl_process_entry *l = c->processes; l != NULL; l = next) {
        next = l->next;
        if (l->process == NULL || l->process->gone)
            continue;
        count++;
        wndl_collector_process_drain(l->process, false);
        look_for_hold(c, l);
        if (has_its_turn(c, l))
            look_for_changes(c, l);
    }
    c->drained = count;
    c->drains++;
}

void wndl_processes_settle(struct wndl_collector *c)
{
    uint64_t now = wndl_clock_monotonic_ns();
    for (struct wndl_process_entry *l = c->processes; l != NULL; l = l->next) {
        if (l->process != NULL && !l->process->gone &&
            l->process->offcpu != NULL)
            wndl_offcpu_settle(l->process->offcpu, now);
    }
}

void wndl_processes_pause(struct wndl_collector *c, bool paused, uint64_t now)
{
    for (struct wndl_process_entry *l = c->processes; l != NULL; l = l->next) {
        if (l->process == NULL || l->process->gone)
            continue;
        wndl_collector_process_pause(l->process, paused);
        if (l->process->offcpu != NULL)
            wndl_offcpu_pause(l->process->offcpu, paused, now);
        l->look = now;
    }
}

void wndl_processes_give_up(struct wndl_collector *c)
{
    for (struct wndl_process_entry *l = c->processes; l != NULL; l = l->next) {
        if (l->process != NULL && l->process->shm != NULL)
            atomic_store(&l->process->shm->stop, 1);
    }
}

/* A watch bounds what it takes; this is for many of them. */
uint64_t wndl_processes_turn(struct wndl_collector *c, uint64_t now)
{
    enum { COST_PARTS = 10 };
    uint64_t next = UINT64_MAX;
    if (now < c->look)
        return c->look;
    uint64_t cpu = wndl_clock_thread_cpu_ns();
    for (struct wndl_process_entry *l = c->processes; l != NULL; l = l->next) {
        if (l->process == NULL || l->process->offcpu == NULL)
            continue;
        if (l->look <= now)
            l->look = wndl_offcpu_turn(l->process->offcpu, now);
        next = l->look < next ? l->look : next;
    }
    c->look = now + (wndl_clock_thread_cpu_ns() - cpu) * COST_PARTS;
    return next > c->look ? next : c->look;
}

/* ---- ending */

void wndl_processes_end(struct wndl_collector *c,
    struct wndl_process_entry *live, enum wndl_process_end how)
{
    if (!live->process->gone)
        wndl_collector_process_end(live->process, how);
    forget(c, live);
}

static bool runs(const struct wndl_process_entry *live)
{
    struct pollfd end = {.fd = live->process->pid_fd, .events = POLLIN};
    return live->process->pid_fd >= 0 && poll(&end, 1, 0) == 0;
}

uint32_t wndl_processes_running(const struct wndl_collector *c)
{
    uint32_t count = 0;
    for (const struct wndl_process_entry *l = c->processes; l != NULL;
         l = l->next)
        count += l->process != NULL && !l->process->gone && runs(l);
    return count;
}

void wndl_processes_add_frames(
    const struct wndl_collector *c, uint64_t frames_by[WNDL_FRAMES_BY])
{
    for (const struct wndl_process_entry *l = c->processes; l != NULL;
         l = l->next) {
        if (l->process == NULL || l->process->gone || l->process->shm == NULL)
            continue;
        for (size_t i = 0; i < WNDL_FRAMES_BY; i++)
            frames_by[i] += atomic_load(&l->process->shm->frames_by[i]);
    }
}

void wndl_processes_add_heaps(
    const struct wndl_collector *c, struct wndl_collector_heap_totals *totals)
{
    for (const struct wndl_process_entry *l = c->processes; l != NULL;
         l = l->next) {
        if (l->process != NULL && !l->process->gone && l->process->heap != NULL)
            wndl_collector_heap_add(l->process, totals);
    }
}

void wndl_processes_snapshot(struct wndl_collector *c)
{
    for (struct wndl_process_entry *l = c->processes; l != NULL; l = l->next) {
        if (l->process != NULL && !l->process->gone && l->process->heap != NULL)
            wndl_collector_heap_snapshot(l->process, WNDL_SNAPSHOT_CONTROL);
    }
}

void wndl_processes_leave_all(struct wndl_collector *c)
{
    while (c->processes != NULL) {
        struct wndl_process_entry *live = c->processes;
        c->processes = live->next;
        if (live->process != NULL && live->process->offcpu != NULL)
            wndl_offcpu_end(live->process->offcpu, wndl_clock_monotonic_ns());
        if (live->process != NULL)
            wndl_collector_process_free(live->process);
        wndl_mem_free(wndl_mem_libc(), live);
    }
}

void wndl_processes_end_all(struct wndl_collector *c)
{
    while (c->processes != NULL) {
        struct wndl_process_entry *live = c->processes;
        if (live->process == NULL)
            forget(c, live);
        else
            wndl_processes_end(
                c, live, runs(live) ? WNDL_ENDED_UNKNOWN : WNDL_ENDED_EXIT);
    }
}
