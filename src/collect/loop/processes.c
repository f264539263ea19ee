/* SPDX-License-Identifier: MIT */
#include "collect/loop/processes.h"

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
    const struct wndl_processes *all, pid_t pid)
{
    struct wndl_process_entry *found = all->first;
    while (found != NULL && (found->pid != pid || found->process == NULL))
        found = found->next;
    return found;
}

uint32_t wndl_processes_parent(const struct wndl_processes *all, pid_t pid)
{
    enum { GENERATIONS = 16 };
    struct wndl_proc_stat stat;
    for (int i = 0; i < GENERATIONS && pid > 1; i++) {
        if (!wndl_proc_stat(pid, &stat))
            return 0;
        pid = stat.parent;
        const struct wndl_process_entry *parent = wndl_processes_find(all, pid);
        if (parent != NULL)
            return parent->process->index + 1;
    }
    return 0;
}

/* ---- beginning */

static void on_message(void *owner);
static void on_end(void *owner);

static struct wndl_process_entry *add_entry(
    struct wndl_processes *all, pid_t pid, int socket)
{
    struct wndl_process_entry *entry =
        wndl_mem_zalloc(wndl_mem_libc(), sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = (struct wndl_process_entry){
        .next = all->first,
        .all = all,
        .pid = pid,
        .socket = socket,
        .engine = all->run->request.engine.engine,
        .on_socket = {on_message, entry},
        .on_end = {on_end, entry},
    };
    all->first = entry;
    return entry;
}

/*
 * A closed descriptor stays watched if a child of ours has it too, so it is
 * removed first.
 */
static void forget(struct wndl_processes *all, struct wndl_process_entry *entry)
{
    struct wndl_process_entry **link = &all->first;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    if (entry->socket >= 0) {
        wndl_loop_unwatch(&all->run->loop, entry->socket);
        close(entry->socket);
    }
    if (entry->process != NULL) {
        wndl_loop_unwatch(&all->run->loop, entry->process->pid_fd);
        wndl_collector_process_free(entry->process);
    }
    wndl_mem_free(wndl_mem_libc(), entry);
}

/*
 * Refuses a process when no descriptor is left: the spare one is used to accept
 * it and close.
 */
static void turn_away(struct wndl_processes *all, int listener)
{
    struct ucred peer;
    if (all->reserve < 0)
        return;
    close(all->reserve);
    int fd = wndl_session_accept(listener, &peer);
    if (fd >= 0) {
        close(fd);
        all->events.refused(
            all->events.owner, peer.pid, WNDL_UNRECORDED_DESCRIPTORS);
    }
    all->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/*
 * Whether a process may talk to us: ours, root's, or one that has become
 * another user since a recorded process started it, or was recorded itself.
 */
static bool may_talk(const struct wndl_processes *all, const struct ucred *peer)
{
    return peer->uid == geteuid() || peer->uid == 0 ||
           wndl_processes_find(all, peer->pid) != NULL ||
           wndl_processes_parent(all, peer->pid) != 0;
}

static void accept_one(struct wndl_processes *all, int listener)
{
    struct ucred peer;
    int fd = wndl_session_accept(listener, &peer);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            turn_away(all, listener);
        return;
    }
    struct wndl_process_entry *entry =
        may_talk(all, &peer) ? add_entry(all, peer.pid, fd) : NULL;
    if (entry == NULL) {
        close(fd);
        return;
    }
    entry->is_strange = peer.uid != geteuid() && peer.uid != 0;
    if (!wndl_loop_watch(&all->run->loop, fd, &entry->on_socket))
        forget(all, entry);
}

static void accept_in_folder(void *owner)
{
    struct wndl_processes *all = owner;
    accept_one(all, all->run->session.listener);
}

static void accept_nameless(void *owner)
{
    struct wndl_processes *all = owner;
    accept_one(all, all->run->session.nameless);
}

bool wndl_processes_listen(struct wndl_processes *all)
{
    all->on_listener = (struct wndl_source){accept_in_folder, all};
    all->on_nameless = (struct wndl_source){accept_nameless, all};
    return wndl_loop_watch(&all->run->loop, all->run->session.listener,
               &all->on_listener) &&
           wndl_loop_watch(
               &all->run->loop, all->run->session.nameless, &all->on_nameless);
}

/* A known pid is the same process after exec(). */
static struct wndl_recording_process origin_of(
    struct wndl_processes *all, pid_t pid)
{
    struct wndl_recording_process origin = {
        .pid = (uint32_t)pid,
        .time = wndl_clock_monotonic_ns(),
    };
    struct wndl_process_entry *before = wndl_processes_find(all, pid);
    if (before == NULL) {
        origin.parent = wndl_processes_parent(all, pid);
        return origin;
    }
    origin.generation = before->process->generation + 1;
    origin.parent = before->process->index + 1;
    if (!before->process->gone)
        wndl_collector_process_end(before->process, WNDL_ENDED_EXEC);
    forget(all, before);
    return origin;
}

/* Watches for its end, and starts to read it from outside. */
static bool attend(struct wndl_processes *all, struct wndl_process_entry *entry)
{
    struct wndl_collector_process *p = entry->process;
    p->pid_fd = (int)syscall(SYS_pidfd_open, entry->pid, 0);
    if (p->pid_fd < 0 ||
        !wndl_loop_watch(&all->run->loop, p->pid_fd, &entry->on_end))
        return false;
    if (all->offcpu == NULL || p->emulated)
        return true;
    p->offcpu = wndl_offcpu_new(entry->pid, &p->threads, all->offcpu,
        p->shm == NULL ? NULL : &p->shm->jit);
    uint64_t now = wndl_clock_monotonic_ns();
    if (p->offcpu != NULL && all->run->paused)
        wndl_offcpu_pause(p->offcpu, true, now);
    entry->turn = now + all->run->request.offcpu_interval;
    return true;
}

/* Gives a process the rules that its runtime cannot read. */
static void give_tables(
    struct wndl_processes *all, struct wndl_collector_process *p)
{
    const struct wndl_binaries_user user = {p->pid, p->machine};
    p->modules_given = p->module_count;
    p->made_given = all->run->binaries.made;
    if (all->run->has_binaries && !p->emulated)
        wndl_made_tables_give(&p->made, p->shm, &all->run->binaries, &user);
}

/* A process waits for rules from code that take little time. */
static void give_first_tables(
    struct wndl_processes *all, struct wndl_collector_process *p)
{
    enum { LONGEST = 500 * 1000 * 1000 /* ns */ };
    give_tables(all, p);
    if (!all->run->has_binaries || p->emulated)
        return;
    wndl_binaries_wait(&all->run->binaries, LONGEST);
    if (p->made_given != all->run->binaries.made)
        give_tables(all, p);
}

static bool has_new_tables(
    const struct wndl_processes *all, const struct wndl_collector_process *p)
{
    return p->shm != NULL && (p->module_count > p->modules_given ||
                                 p->made_given != all->run->binaries.made);
}

static bool send_go(struct wndl_processes *all,
    const struct wndl_process_entry *entry, int memfd)
{
    const struct wndl_collector_request *r = &all->run->request;
    bool as_asked = entry->engine == r->engine.engine;
    struct wndl_go go = {
        .version = WNDL_SHM_VERSION,
        .engine = entry->engine,
        .fallback = as_asked ? r->engine.fallback : WNDL_ENGINE_NONE,
        .interval = r->interval,
        .max_frames = r->max_frames,
        .unwind = r->unwind,
        .heap = r->heap.flags,
        .heap_sites = entry->process->heap == NULL ? 0 : entry->heap_sites,
        .heap_sample_below = r->heap.sample_below,
        .nodes = entry->process->tree.max_nodes,
    };
    memcpy(go.threads, r->threads, sizeof go.threads);
    if (r->tables[0] != '\0')
        memcpy(entry->process->shm->tables, r->tables, sizeof r->tables);
    give_first_tables(all, entry->process);
    return wndl_session_go(entry->socket, &go, memfd);
}

/*
 * Refuses a process: `why` is a lack of descriptors or memory, or the process
 * is gone.
 */
static void refuse(
    struct wndl_processes *all, struct wndl_process_entry *entry, int why)
{
    bool descriptors = why == EMFILE || why == ENFILE;
    bool gone = why == EPIPE || why == ECONNRESET || why == ESRCH;
    pid_t pid = entry->pid;
    forget(all, entry);
    if (!gone)
        all->events.refused(all->events.owner, pid,
            descriptors ? WNDL_UNRECORDED_DESCRIPTORS : WNDL_UNRECORDED_MEMORY);
}

/*
 * A process of another processor runs in an emulator, whose executable the
 * kernel shows.
 */
static bool is_emulated(
    const struct wndl_process_entry *entry, uint32_t machine)
{
    uint16_t executable = wndl_proc_machine(entry->pid);
    return executable != 0 && executable != machine;
}

/*
 * The memory is mapped here too, where one limit holds for all processes
 * together.
 */
static uint32_t nodes_for(pid_t pid, uint32_t heap_sites)
{
    struct rlimit limit = {.rlim_cur = 0};
    bool is_limited = prlimit(pid, RLIMIT_AS, NULL, &limit) != 0 ||
                      limit.rlim_cur != RLIM_INFINITY;
    return heap_sites == WNDL_HEAP_SITES && !is_limited ? WNDL_SHM_NODES_HEAP
                                                        : WNDL_SHM_NODES;
}

static void begin_process(struct wndl_processes *all,
    struct wndl_process_entry *entry, uint32_t machine)
{
    const struct wndl_recording_process origin = origin_of(all, entry->pid);
    struct wndl_collector_heap_request heap = all->run->request.heap;
    int memfd;
    heap.sites = entry->heap_sites;
    heap.nodes = nodes_for(entry->pid, entry->heap_sites);
    entry->process = wndl_collector_process_new(
        &all->run->recording, &all->run->totals, &origin, &heap, &memfd);
    if (entry->process == NULL) {
        refuse(all, entry, errno);
        return;
    }
    all->events.greeted(all->events.owner, entry->pid);
    entry->process->machine = (uint16_t)machine;
    entry->process->emulated = is_emulated(entry, machine);
    wndl_collector_process_pause(entry->process, all->run->paused);
    bool begun = attend(all, entry) && send_go(all, entry, memfd);
    int why = errno;
    close(memfd);
    if (begun)
        return;
    wndl_collector_process_end(entry->process, WNDL_ENDED_UNKNOWN);
    refuse(all, entry, why);
}

/* A process that silenced itself has no event to stop any more. */
static void look_for_silence(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    struct wndl_collector_process *p = entry->process;
    if (p->shm == NULL || p->silent || atomic_load(&p->shm->silent) == 0)
        return;
    p->silent = true;
    if (p->event_fd >= 0)
        close(p->event_fd);
    p->event_fd = -1;
    all->events.refused(all->events.owner, entry->pid, WNDL_UNRECORDED_SANDBOX);
}

/* Ends the entry: its process has ended, or we stop recording it. */
static void end_entry(
    struct wndl_process_entry *entry, enum wndl_process_end how)
{
    look_for_silence(entry->all, entry);
    if (!entry->process->gone)
        wndl_collector_process_end(entry->process, how);
    forget(entry->all, entry);
}

static void on_end(void *owner)
{
    end_entry(owner, WNDL_ENDED_EXIT);
}

void wndl_processes_add_silent(struct wndl_processes *all, pid_t pid)
{
    const struct wndl_recording_process origin = origin_of(all, pid);
    struct wndl_process_entry *entry = add_entry(all, pid, -1);
    if (entry == NULL)
        return;
    entry->process = wndl_collector_process_new(&all->run->recording,
        &all->run->totals, &origin, &all->run->request.heap, NULL);
    if (entry->process == NULL)
        forget(all, entry);
    else if (!attend(all, entry))
        end_entry(entry, WNDL_ENDED_UNKNOWN);
}

/* ---- talking */

/*
 * A perf event would stop a process under a debugger: debuggers stop at a
 * SIGTRAP.
 */
static void look_for_debugger(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    if (entry->process->event_fd < 0)
        return;
    bool debugged = wndl_proc_tracer(entry->pid) != 0;
    if (debugged == entry->process->debugged)
        return;
    all->traced += debugged;
    wndl_collector_process_debugged(entry->process, debugged);
}

static void take_ready(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    struct wndl_ready ready;
    if (wndl_session_ready(entry->socket, &ready, &entry->process->event_fd))
        all->other_engine +=
            ready.engine != entry->engine && wndl_proc_tracer(entry->pid) == 0;
    look_for_debugger(all, entry);
    /* The program's own module is listed; announce it now. */
    wndl_collector_process_take_stacks(entry->process, false);
    if (all->run->paused)
        wndl_collector_process_pause(entry->process, true);
    wndl_loop_unwatch(&all->run->loop, entry->socket);
    close(entry->socket);
    entry->socket = -1;
}

/* Address space is scarce for 32-bit processes, and where it is limited. */
static uint32_t sites_for(pid_t pid, uint32_t machine)
{
    enum { LEAST = 1024, SHARE = 4 };
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    uint32_t sites = machine == EM_X86_64 || machine == EM_AARCH64
                         ? WNDL_HEAP_SITES
                         : WNDL_HEAP_SITES_32;
    (void)prlimit(pid, RLIMIT_AS, NULL, &limit);
    while (
        sites > LEAST && wndl_heap_layout(sites).size > limit.rlim_cur / SHARE)
        sites /= 2;
    return sites;
}

/* A debugger keeps SIGTRAP to itself. */
static void take_hello(struct wndl_processes *all,
    struct wndl_process_entry *entry, const struct wndl_hello *hello)
{
    pid_t pid = entry->pid;
    if (all->run->request.only_first && pid != all->run->spawn.pid) {
        forget(all, entry);
    } else if (entry->engine == WNDL_ENGINE_OUTSIDE) {
        forget(all, entry);
        if (wndl_processes_find(all, pid) == NULL)
            wndl_processes_add_silent(all, pid);
    } else if (hello->refusal != WNDL_UNRECORDED_NONE) {
        all->events.refused(all->events.owner, entry->pid, hello->refusal);
        forget(all, entry);
    } else {
        if (hello->traced != 0 && entry->engine == WNDL_ENGINE_PERF)
            entry->engine = WNDL_ENGINE_TIMER;
        entry->heap_sites = sites_for(pid, hello->machine);
        begin_process(all, entry, hello->machine);
    }
}

static void take_question(struct wndl_processes *all,
    struct wndl_process_entry *entry, const struct wndl_control *control)
{
    wndl_loop_unwatch(&all->run->loop, entry->socket);
    entry->socket =
        all->events.asked(all->events.owner, entry->socket, control);
    forget(all, entry);
}

static void on_message(void *owner)
{
    struct wndl_process_entry *entry = owner;
    struct wndl_processes *all = entry->all;
    union wndl_session_first first;
    if (entry->process != NULL) {
        take_ready(all, entry);
        return;
    }
    switch (wndl_session_hear(entry->socket, &first)) {
    case WNDL_SESSION_PROCESS:
        take_hello(all, entry, &first.hello);
        break;
    case WNDL_SESSION_CONTROL:
        if (entry->is_strange)
            forget(all, entry);
        else
            take_question(all, entry, &first.control);
        break;
    case WNDL_SESSION_NOBODY:
        forget(all, entry);
        break;
    }
}

/* ---- while they run */

/* A pause by the program itself does not pause its blocked threads. */
static void look_for_hold(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    const struct wndl_collector_process *p = entry->process;
    if (p->shm == NULL || p->offcpu == NULL)
        return;
    bool held = atomic_load(&p->shm->held) % 2 != 0;
    wndl_offcpu_pause(
        p->offcpu, all->run->paused || held, wndl_clock_monotonic_ns());
}

static void look_for_changes(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    look_for_debugger(all, entry);
    if (!wndl_collector_process_replaced(entry->process)) {
        wndl_collector_process_take_title(
            entry->process, wndl_clock_monotonic_ns());
        return;
    }
    if (entry->process->shm == NULL) {
        wndl_processes_add_silent(all, entry->pid);
        return;
    }
    wndl_collector_process_end(entry->process, WNDL_ENDED_EXEC);
    entry->process->gone = true;
    all->events.replaced(all->events.owner, entry);
}

/* With many processes, each drain asks only some of them. */
static bool has_its_turn(
    const struct wndl_processes *all, const struct wndl_process_entry *entry)
{
    enum { AT_ONCE = 64 };
    uint32_t parts = 1 + all->drained / AT_ONCE;
    return entry->socket < 0 &&
           entry->process->index % parts == all->drains % parts;
}

void wndl_processes_drain(struct wndl_processes *all)
{
    struct wndl_process_entry *next;
    uint32_t count = 0;
    if (all->run->has_binaries)
        wndl_binaries_take_made(&all->run->binaries);
    for (struct wndl_process_entry *l = all->first; l != NULL; l = next) {
        next = l->next;
        if (l->process == NULL || l->process->gone)
            continue;
        count++;
        wndl_collector_process_drain(l->process, false);
        if (has_new_tables(all, l->process))
            give_tables(all, l->process);
        look_for_hold(all, l);
        look_for_silence(all, l);
        if (has_its_turn(all, l))
            look_for_changes(all, l);
    }
    all->drained = count;
    all->drains++;
}

void wndl_processes_settle(const struct wndl_processes *all)
{
    uint64_t now = wndl_clock_monotonic_ns();
    for (struct wndl_process_entry *l = all->first; l != NULL; l = l->next) {
        if (l->process != NULL && !l->process->gone &&
            l->process->offcpu != NULL)
            wndl_offcpu_settle(l->process->offcpu, now);
    }
}

void wndl_processes_pause(
    const struct wndl_processes *all, bool paused, uint64_t now)
{
    for (struct wndl_process_entry *l = all->first; l != NULL; l = l->next) {
        if (l->process == NULL || l->process->gone)
            continue;
        wndl_collector_process_pause(l->process, paused);
        if (l->process->offcpu != NULL)
            wndl_offcpu_pause(l->process->offcpu, paused, now);
        l->turn = now;
    }
}

void wndl_processes_give_up(const struct wndl_processes *all)
{
    for (struct wndl_process_entry *l = all->first; l != NULL; l = l->next) {
        if (l->process != NULL && l->process->shm != NULL)
            atomic_store(&l->process->shm->stop, 1);
    }
}

/* Each process limits its own cost; this limits the cost of many. */
uint64_t wndl_processes_turn(struct wndl_processes *all, uint64_t now)
{
    enum { COST_PARTS = 10 };
    uint64_t next = UINT64_MAX;
    if (now < all->turn)
        return all->turn;
    uint64_t cpu = wndl_clock_thread_cpu_ns();
    for (struct wndl_process_entry *l = all->first; l != NULL; l = l->next) {
        if (l->process == NULL || l->process->offcpu == NULL)
            continue;
        if (l->turn <= now)
            l->turn = wndl_offcpu_turn(l->process->offcpu, now);
        next = l->turn < next ? l->turn : next;
    }
    all->turn = now + (wndl_clock_thread_cpu_ns() - cpu) * COST_PARTS;
    return next > all->turn ? next : all->turn;
}

/* ---- ending */

static bool runs(const struct wndl_process_entry *entry)
{
    struct pollfd end = {.fd = entry->process->pid_fd, .events = POLLIN};
    return entry->process->pid_fd >= 0 && poll(&end, 1, 0) == 0;
}

uint32_t wndl_processes_running(const struct wndl_processes *all)
{
    uint32_t count = 0;
    for (const struct wndl_process_entry *l = all->first; l != NULL;
         l = l->next)
        count += l->process != NULL && !l->process->gone && runs(l);
    return count;
}

void wndl_processes_add_frames(
    const struct wndl_processes *all, uint64_t frames_by[WNDL_FRAMES_BY])
{
    for (const struct wndl_process_entry *l = all->first; l != NULL;
         l = l->next) {
        if (l->process == NULL || l->process->gone || l->process->shm == NULL)
            continue;
        for (size_t i = 0; i < WNDL_FRAMES_BY; i++)
            frames_by[i] += atomic_load(&l->process->shm->frames_by[i]);
    }
}

void wndl_processes_add_heaps(
    const struct wndl_processes *all, struct wndl_collector_heap_totals *totals)
{
    for (const struct wndl_process_entry *l = all->first; l != NULL;
         l = l->next) {
        if (l->process != NULL && !l->process->gone && l->process->heap != NULL)
            wndl_collector_heap_add(l->process, totals);
    }
}

void wndl_processes_snapshot(const struct wndl_processes *all)
{
    for (struct wndl_process_entry *l = all->first; l != NULL; l = l->next) {
        if (l->process != NULL && !l->process->gone && l->process->heap != NULL)
            wndl_collector_heap_snapshot(l->process, WNDL_SNAPSHOT_CONTROL);
    }
}

void wndl_processes_leave_all(struct wndl_processes *all)
{
    while (all->first != NULL) {
        struct wndl_process_entry *entry = all->first;
        all->first = entry->next;
        if (entry->process != NULL && entry->process->offcpu != NULL)
            wndl_offcpu_end(entry->process->offcpu, wndl_clock_monotonic_ns());
        if (entry->process != NULL)
            wndl_collector_process_free(entry->process);
        wndl_mem_free(wndl_mem_libc(), entry);
    }
}

void wndl_processes_end_all(struct wndl_processes *all)
{
    while (all->first != NULL) {
        struct wndl_process_entry *entry = all->first;
        if (entry->process == NULL)
            forget(all, entry);
        else
            end_entry(
                entry, runs(entry) ? WNDL_ENDED_UNKNOWN : WNDL_ENDED_EXIT);
    }
}
