/* SPDX-License-Identifier: MIT */
#include "collect/loop/processes.h"

#include "collect/loop/attachment.h"
#include "collect/loop/kernel_stacks.h"
#include "collect/loop/settings.h"
#include "collect/proc/proc.h"
#include "os/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* When no descriptor is left: the spare one is used to accept and close. */
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

/* False if nobody could be accepted. */
static bool accept_one(struct wndl_processes *all, int listener)
{
    struct ucred peer;
    int fd = wndl_session_accept(listener, &peer);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            turn_away(all, listener);
        return false;
    }
    struct wndl_process_entry *entry =
        may_talk(all, &peer) ? add_entry(all, peer.pid, fd) : NULL;
    if (entry == NULL) {
        close(fd);
        return true;
    }
    entry->is_strange = peer.uid != geteuid() && peer.uid != 0;
    if (!wndl_loop_watch(&all->run->loop, fd, &entry->on_socket))
        forget(all, entry);
    else if (wndl_processes_said(fd))
        on_message(entry);
    return true;
}

static void accept_in_folder(void *owner)
{
    struct wndl_processes *all = owner;
    (void)accept_one(all, all->run->session.listener);
}

static void accept_nameless(void *owner)
{
    struct wndl_processes *all = owner;
    (void)accept_one(all, all->run->session.nameless);
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
    struct wndl_processes *all, pid_t pid, pid_t parent)
{
    struct wndl_recording_process origin = {
        .pid = (uint32_t)pid,
        .time = wndl_clock_monotonic_ns(),
    };
    struct wndl_process_entry *before = wndl_processes_find(all, pid);
    if (before == NULL) {
        origin.parent = wndl_processes_parent_named(all, pid, parent);
        return origin;
    }
    origin.cpu = wndl_collector_process_cpu_left(before->process);
    origin.generation = before->process->generation + 1;
    origin.parent = before->process->index + 1;
    if (!before->process->gone)
        wndl_collector_process_end(before->process, WNDL_ENDED_EXEC);
    forget(all, before);
    return origin;
}

/* Watches for its end. */
static bool attend(struct wndl_processes *all, struct wndl_process_entry *entry)
{
    struct wndl_collector_process *p = entry->process;
    p->pid_fd = (int)syscall(SYS_pidfd_open, entry->pid, 0);
    return p->pid_fd >= 0 &&
           wndl_loop_watch(&all->run->loop, p->pid_fd, &entry->on_end);
}

static void read_from_outside(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    struct wndl_collector_process *p = entry->process;
    if (all->offcpu == NULL || p->emulated)
        return;
    p->offcpu = wndl_offcpu_new(entry->pid, &p->threads, all->offcpu,
        p->shm == NULL ? NULL : &p->shm->jit);
    uint64_t now = wndl_clock_monotonic_ns();
    if (p->offcpu != NULL && all->run->paused)
        wndl_offcpu_pause(p->offcpu, true, now);
    entry->turn = now + all->run->request.offcpu_interval;
}

static bool send_go(struct wndl_processes *all,
    const struct wndl_process_entry *entry, int memfd)
{
    const struct wndl_collector_request *r = &all->run->request;
    struct wndl_settings settings;
    wndl_settings_fill(&settings, r);
    if (entry->engine != r->engine.engine)
        settings.go.fallback = WNDL_ENGINE_NONE;
    settings.go.engine = entry->engine;
    settings.go.heap_sites =
        entry->process->heap == NULL ? 0 : entry->heap_sites;
    settings.go.nodes = entry->process->tree.max_nodes;
    if (r->tables[0] != '\0')
        memcpy(entry->process->shm->tables, r->tables, sizeof r->tables);
    if (!wndl_plain_has(&all->plain, entry->process, all->run->binaries.made))
        wndl_processes_give_tables(all, entry->process);
    return wndl_session_go(entry->socket, &settings.go, memfd);
}

/*
 * Refuses a process: `why` is a lack of descriptors or memory, or it is gone.
 * One that has left us, but lives, did not wait for the answer.
 */
static void refuse(
    struct wndl_processes *all, struct wndl_process_entry *entry, int why)
{
    bool descriptors = why == EMFILE || why == ENFILE;
    bool gone = why == EPIPE || why == ECONNRESET || why == ESRCH;
    pid_t pid = entry->pid;
    enum wndl_unrecorded_reason reason =
        descriptors ? WNDL_UNRECORDED_DESCRIPTORS : WNDL_UNRECORDED_MEMORY;
    forget(all, entry);
    if (gone)
        reason = WNDL_UNRECORDED_LATE;
    if (!gone || wndl_proc_runs(pid))
        all->events.refused(all->events.owner, pid, reason);
}

static bool is_wide(uint32_t machine)
{
    return machine == EM_X86_64 || machine == EM_AARCH64;
}

static void set_up(struct wndl_processes *all, struct wndl_process_entry *entry)
{
    entry->process->machine = (uint16_t)entry->machine;
    entry->process->binaries =
        all->run->has_binaries ? &all->run->binaries : NULL;
    entry->process->emulated =
        wndl_proc_is_emulated(entry->pid, (uint16_t)entry->machine);
    wndl_collector_process_pause(entry->process, all->run->paused);
}

/* Forgets a process that has not been announced. */
static void drop_process(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    wndl_loop_unwatch(&all->run->loop, entry->process->pid_fd);
    wndl_collector_process_free(entry->process);
    entry->process = NULL;
}

/* Lets a process begin with its block. False, with errno, on failure. */
static bool begin_with(
    struct wndl_processes *all, struct wndl_process_entry *entry, int memfd)
{
    set_up(all, entry);
    return attend(all, entry) && send_go(all, entry, memfd);
}

/* Answers a hello. Returns 0, or errno. */
static int answer(struct wndl_processes *all, struct wndl_process_entry *entry,
    const struct wndl_recording_process *origin)
{
    struct wndl_collector_heap_request heap = all->run->request.heap;
    wndl_settings_choose_room(&heap, entry->pid, is_wide(entry->machine));
    entry->heap_sites = heap.sites;
    entry->process = wndl_collector_process_new(
        &all->run->recording, &all->run->totals, origin, &heap, NULL);
    if (entry->process == NULL)
        return errno;
    const int memfd = wndl_processes_give_block(all, entry->process, &heap);
    bool begun = memfd >= 0 && begin_with(all, entry, memfd);
    int why = errno;
    if (memfd >= 0)
        close(memfd);
    if (!begun) {
        drop_process(all, entry);
        return why;
    }
    wndl_collector_process_announce(entry->process, origin);
    read_from_outside(all, entry);
    return 0;
}

static void take_ready(
    struct wndl_processes *all, struct wndl_process_entry *entry);
static void end_entry(
    struct wndl_process_entry *entry, enum wndl_process_end how);

/* The vDSO of a process that an emulator runs is not the one that is seen. */
static bool is_replaced(const struct wndl_process_entry *entry, uint64_t vdso)
{
    uint64_t now = wndl_proc_vdso(entry->pid, is_wide(entry->machine));
    return entry->process->executable[0] == '\0' ||
           (!entry->process->emulated && now != 0 && now != vdso);
}

/* A process that began alone may have ended, or become another image. */
static void announce_late(struct wndl_processes *all,
    struct wndl_process_entry *entry, struct wndl_recording_process origin,
    const struct wndl_late *late)
{
    const struct wndl_process_entry *parent =
        wndl_processes_find(all, (pid_t)late->parent);
    set_up(all, entry);
    if (is_replaced(entry, late->vdso))
        wndl_collector_process_was(entry->process);
    if (origin.parent == 0 && parent != NULL && parent != entry)
        origin.parent = parent->process->index + 1;
    wndl_collector_process_announce(entry->process, &origin);
    if (attend(all, entry)) {
        read_from_outside(all, entry);
        wndl_processes_give_tables(all, entry->process);
        return;
    }
    take_ready(all, entry);
    end_entry(entry, WNDL_ENDED_EXIT);
}

static bool is_possible(const struct wndl_late *late)
{
    return late->heap_sites <= WNDL_HEAP_SITES &&
           (late->nodes == WNDL_SHM_NODES ||
               late->nodes == WNDL_SHM_NODES_HEAP);
}

/* The process got no answer in time. Returns 0, or errno. */
static int adopt(struct wndl_processes *all, struct wndl_process_entry *entry,
    const struct wndl_recording_process *origin,
    const struct wndl_session_message *message)
{
    struct wndl_collector_heap_request heap = all->run->request.heap;
    heap.sites = message->late.heap_sites;
    heap.nodes = message->late.nodes;
    errno = EINVAL;
    if (message->fd >= 0 && is_possible(&message->late))
        entry->process = wndl_collector_process_adopt(&all->run->recording,
            &all->run->totals, origin, &heap, message->fd);
    if (entry->process == NULL)
        return errno;
    announce_late(all, entry, *origin, &message->late);
    return 0;
}

static void refuse_as(struct wndl_processes *all,
    struct wndl_process_entry *entry, enum wndl_unrecorded_reason reason)
{
    pid_t pid = entry->pid;
    forget(all, entry);
    all->events.refused(all->events.owner, pid, reason);
}

static void begin_process(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    const struct wndl_recording_process origin =
        origin_of(all, entry->pid, entry->parent);
    struct wndl_session_message next;
    int why = EPIPE;
    all->events.greeted(all->events.owner, entry->pid);
    wndl_session_next(entry->socket, &next);
    if (next.kind == WNDL_SESSION_NOTHING) {
        why = answer(all, entry, &origin);
        if (why == 0)
            return;
        wndl_session_next(entry->socket, &next);
    }
    bool is_late = next.kind == WNDL_SESSION_LATE;
    if (is_late)
        wndl_session_be_patient(&all->run->session);
    if (is_late && next.late.refusal != WNDL_UNRECORDED_NONE)
        refuse_as(all, entry, next.late.refusal);
    else if (!is_late || (why = adopt(all, entry, &origin, &next)) != 0)
        refuse(all, entry, why);
    if (next.fd >= 0)
        close(next.fd);
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
    wndl_attachment_release(entry->all->attachment, entry->pid);
    forget(entry->all, entry);
}

/* Hears one process that has said what we have not heard. */
static bool hear_one(struct wndl_processes *all)
{
    struct wndl_process_entry *l = all->first;
    while (l != NULL && (l->socket < 0 || !wndl_processes_said(l->socket)))
        l = l->next;
    if (l != NULL)
        on_message(l);
    return l != NULL;
}

static void accept_all(struct wndl_processes *all, int listener)
{
    while (wndl_processes_said(listener) && accept_one(all, listener))
        continue;
}

static void hear_all(struct wndl_processes *all)
{
    do {
        accept_all(all, all->run->session.listener);
        accept_all(all, all->run->session.nameless);
    } while (hear_one(all));
}

/*
 * Processes that it started, and images that replaced it, may have said hello
 * while we were stopped: they are its children only while it is here. Its last
 * samples may be those of another image.
 */
static void on_end(void *owner)
{
    struct wndl_process_entry *entry = owner;
    struct wndl_processes *all = entry->all;
    const pid_t pid = entry->pid;
    hear_all(all);
    wndl_attachment_take(all->attachment, true);
    const struct wndl_process_entry *l = all->first;
    while (l != NULL && l != entry)
        l = l->next;
    if (l != NULL && l->pid == pid && l->process != NULL)
        end_entry(entry, WNDL_ENDED_EXIT);
}

/* It may have run for long, and have written the names of its code. */
static void find_age(struct wndl_recording_process *origin)
{
    struct wndl_proc_stat stat;
    if (origin->generation == 0 && wndl_proc_stat((pid_t)origin->pid, &stat))
        origin->age = wndl_proc_age(stat.start);
}

/* A process without a runtime. NULL without memory. */
static struct wndl_process_entry *add_bare(
    struct wndl_processes *all, struct wndl_recording_process *origin)
{
    struct wndl_process_entry *entry = add_entry(all, (pid_t)origin->pid, -1);
    if (entry == NULL)
        return NULL;
    entry->begun = origin->time;
    find_age(origin);
    entry->process = wndl_collector_process_new(&all->run->recording,
        &all->run->totals, origin, &all->run->request.heap, NULL);
    if (entry->process == NULL) {
        forget(all, entry);
        return NULL;
    }
    wndl_attachment_add(all->attachment, entry->process);
    return entry;
}

void wndl_processes_add_silent(struct wndl_processes *all, pid_t pid)
{
    struct wndl_recording_process origin = origin_of(all, pid, 0);
    struct wndl_process_entry *entry = add_bare(all, &origin);
    if (entry == NULL)
        return;
    wndl_collector_process_announce(entry->process, &origin);
    if (attend(all, entry))
        read_from_outside(all, entry);
    else
        end_entry(entry, WNDL_ENDED_UNKNOWN);
}

void wndl_processes_add_sampled(
    struct wndl_processes *all, pid_t pid, pid_t parent)
{
    const struct wndl_process_entry *before = wndl_processes_find(all, parent);
    const bool is_exec = pid == parent;
    struct wndl_recording_process origin = {
        .pid = (uint32_t)pid, .time = wndl_clock_monotonic_ns()};
    if (is_exec || before == NULL)
        origin = origin_of(all, pid, 0);
    else
        origin.parent = before->process->index + 1;
    struct wndl_process_entry *entry = add_bare(all, &origin);
    if (entry == NULL)
        return;
    if (!is_exec && before != NULL)
        wndl_collector_process_inherit(entry->process, before->process);
    wndl_collector_process_announce(entry->process, &origin);
    entry->is_gone = !attend(all, entry);
    if (!entry->is_gone)
        read_from_outside(all, entry);
}

void wndl_processes_end_gone(struct wndl_processes *all)
{
    struct wndl_process_entry *next;
    for (struct wndl_process_entry *l = all->first; l != NULL; l = next) {
        next = l->next;
        if (l->is_gone && l->was_gone)
            end_entry(l, WNDL_ENDED_EXIT);
        else
            l->was_gone = l->is_gone;
    }
}

/* ---- talking */

/*
 * A late message that crossed our answer is void, unless the process could not
 * go on with it.
 */
static void take_void(struct wndl_processes *all,
    struct wndl_process_entry *entry, const struct wndl_session_message *late)
{
    if (late->fd >= 0)
        close(late->fd);
    if (late->late.refusal == WNDL_UNRECORDED_NONE)
        return;
    wndl_collector_process_end(entry->process, WNDL_ENDED_UNKNOWN);
    refuse_as(all, entry, late->late.refusal);
}

static void take_ready(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    struct wndl_session_message next;
    wndl_session_next(entry->socket, &next);
    if (next.kind == WNDL_SESSION_LATE) {
        wndl_session_be_patient(&all->run->session);
        take_void(all, entry, &next);
        return;
    }
    if (next.kind == WNDL_SESSION_READY)
        wndl_processes_count_engine(all, entry, &next.ready);
    entry->process->event_fd = next.fd;
    /* The program's own module is listed; announce it now. */
    wndl_collector_process_take_stacks(entry->process, false);
    wndl_processes_look_for_debugger(all, entry);
    wndl_processes_keep_lost(all, entry->process);
    if (all->run->paused)
        wndl_collector_process_pause(entry->process, true);
    wndl_loop_unwatch(&all->run->loop, entry->socket);
    close(entry->socket);
    entry->socket = -1;
    wndl_processes_make_spare(all, entry);
}

static void take_hello(struct wndl_processes *all,
    struct wndl_process_entry *entry, const struct wndl_hello *hello)
{
    pid_t pid = entry->pid;
    if (all->run->request.only_first && pid != all->run->spawn.pid) {
        forget(all, entry);
    } else if (entry->engine == WNDL_ENGINE_OUTSIDE ||
               entry->engine == WNDL_ENGINE_STOP) {
        forget(all, entry);
        if (wndl_processes_find(all, pid) == NULL)
            wndl_processes_add_silent(all, pid);
    } else if (hello->refusal != WNDL_UNRECORDED_NONE) {
        refuse_as(all, entry, hello->refusal);
    } else {
        entry->machine = hello->machine;
        if (hello->pid == (uint32_t)pid) /* not in another PID namespace */
            entry->parent = (pid_t)hello->parent;
        begin_process(all, entry);
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

static void look_for_changes(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    wndl_processes_look_for_debugger(all, entry);
    if (!wndl_collector_process_replaced(entry->process)) {
        wndl_collector_process_take_title(
            entry->process, wndl_clock_monotonic_ns());
        return;
    }
    if (entry->process->shm == NULL &&
        (entry->engine == WNDL_ENGINE_OUTSIDE ||
            entry->engine == WNDL_ENGINE_COPIES ||
            entry->engine == WNDL_ENGINE_STOP)) {
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
    wndl_attachment_take(all->attachment, false);
    wndl_kernel_stacks_take(all->kernel, false);
    wndl_processes_end_gone(all);
    if (all->run->has_binaries) {
        wndl_binaries_take_made(&all->run->binaries);
        wndl_lost_take_tables(&all->run->lost);
    }
    for (struct wndl_process_entry *l = all->first; l != NULL; l = next) {
        next = l->next;
        if (l->process == NULL || l->process->gone)
            continue;
        count++;
        wndl_collector_process_drain(l->process, false);
        wndl_processes_renew_tables(all, l->process);
        wndl_processes_look_for_hold(all, l);
        look_for_silence(all, l);
        if (has_its_turn(all, l))
            look_for_changes(all, l);
    }
    all->drained = count;
    all->drains++;
}

/* ---- ending */

void wndl_processes_end_all(struct wndl_processes *all)
{
    while (all->first != NULL) {
        struct wndl_process_entry *entry = all->first;
        if (entry->process == NULL)
            forget(all, entry);
        else
            end_entry(entry, wndl_process_entry_runs(entry) ? WNDL_ENDED_UNKNOWN
                                                            : WNDL_ENDED_EXIT);
    }
}
