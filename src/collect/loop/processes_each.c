/* SPDX-License-Identifier: MIT */
/* processes_each: what is done to, or asked of, each process of the list. */
#include "collect/loop/attachment.h"
#include "collect/loop/kernel_stacks.h"
#include "collect/loop/processes.h"
#include "collect/offcpu/code.h"
#include "collect/proc/proc.h"
#include "os/clock.h"

#include <poll.h>

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

uint32_t wndl_processes_parent_named(
    const struct wndl_processes *all, pid_t pid, pid_t parent)
{
    const struct wndl_process_entry *entry =
        parent > 0 && parent != pid ? wndl_processes_find(all, parent) : NULL;
    return entry != NULL ? entry->process->index + 1
                         : wndl_processes_parent(all, pid);
}

bool wndl_processes_said(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return poll(&wanted, 1, 0) == 1;
}

bool wndl_processes_wait(const struct wndl_processes *all)
{
    const struct wndl_process_entry *l = all->first;
    while (l != NULL && (l->socket < 0 || !wndl_processes_said(l->socket)))
        l = l->next;
    return l != NULL || wndl_processes_said(all->run->session.listener) ||
           wndl_processes_said(all->run->session.nameless);
}

void wndl_processes_count_engine(struct wndl_processes *all,
    const struct wndl_process_entry *entry, const struct wndl_ready *ready)
{
    struct wndl_collector_unsampled *u = &all->unsampled;
    if (ready->engine == entry->engine)
        return;
    if (ready->engine != WNDL_ENGINE_NONE)
        all->other_engine += wndl_proc_tracer(entry->pid) == 0;
    else if (u->count++ == 0) {
        u->pid = (uint32_t)entry->pid;
        u->sys_errno = ready->sys_errno;
    }
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
    wndl_attachment_pause(all->attachment, paused);
    wndl_kernel_stacks_pause(all->kernel, paused);
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

bool wndl_process_entry_runs(const struct wndl_process_entry *entry)
{
    struct pollfd end = {.fd = entry->process->pid_fd, .events = POLLIN};
    return entry->process->pid_fd >= 0 && poll(&end, 1, 0) == 0;
}

uint32_t wndl_processes_running(const struct wndl_processes *all)
{
    uint32_t count = 0;
    for (const struct wndl_process_entry *l = all->first; l != NULL;
         l = l->next)
        count += l->process != NULL && !l->process->gone &&
                 wndl_process_entry_runs(l);
    return count;
}

static struct wndl_lost *new_lost(
    struct wndl_processes *all, const struct wndl_collector_process *p)
{
    uint8_t *block = (uint8_t *)p->shm;
    const struct wndl_lost_owner owner = {
        .process = p->index,
        .pid = p->pid,
        .shm = p->shm,
        .copies =
            p->shm == NULL || p->heap != NULL
                ? NULL
                : (void *)(block + wndl_shm_copies_offset(p->tree.max_nodes)),
    };
    return wndl_lost_new(&all->run->lost, &owner);
}

void wndl_processes_keep_lost(
    struct wndl_processes *all, struct wndl_collector_process *p)
{
    const bool is_sampled = p->shm != NULL || p->attached != NULL;
    if (p->lost == NULL && is_sampled && p->heap == NULL && !p->emulated &&
        !p->is_past && all->run->has_binaries)
        p->lost = new_lost(all, p);
}

/* A perf event would stop a process under a debugger, by its SIGTRAP. */
void wndl_processes_look_for_debugger(
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

/* A pause by the program itself does not pause its blocked threads. */
void wndl_processes_look_for_hold(
    struct wndl_processes *all, struct wndl_process_entry *entry)
{
    const struct wndl_collector_process *p = entry->process;
    if (p->shm == NULL || p->offcpu == NULL)
        return;
    bool held = atomic_load(&p->shm->held) % 2 != 0;
    wndl_offcpu_pause(
        p->offcpu, all->run->paused || held, wndl_clock_monotonic_ns());
}

int wndl_processes_give_block(struct wndl_processes *all,
    struct wndl_collector_process *p,
    const struct wndl_collector_heap_request *heap)
{
    struct wndl_collector_block block = all->spare;
    if (wndl_collector_block_fits(&block, heap))
        all->spare.memfd = -1;
    else if (!wndl_collector_block_make(&block, heap))
        return -1;
    wndl_collector_process_take_block(p, &block);
    return block.memfd;
}

void wndl_processes_make_spare(
    struct wndl_processes *all, const struct wndl_process_entry *entry)
{
    struct wndl_collector_heap_request heap = all->run->request.heap;
    heap.sites = entry->heap_sites;
    heap.nodes = entry->process->tree.max_nodes;
    if (all->spare.memfd < 0)
        (void)wndl_collector_block_make(&all->spare, &heap);
}

/* The process's modules; NULL if they are not known. */
static const struct wndl_offcpu_code *look_at_code(
    struct wndl_processes *all, struct wndl_collector_process *p)
{
    const bool is_new = p->lost == NULL;
    const bool has_changed = is_new || p->module_count > p->modules_given;
    if (is_new)
        p->lost = new_lost(all, p);
    return p->lost == NULL ? NULL : wndl_lost_look(p->lost, has_changed);
}

void wndl_processes_give_tables(
    struct wndl_processes *all, struct wndl_collector_process *p)
{
    const struct wndl_offcpu_code *code =
        p->emulated || p->is_past || !all->run->has_binaries
            ? NULL
            : look_at_code(all, p);
    p->modules_given = p->module_count;
    p->made_given = all->run->binaries.made;
    if (code == NULL)
        return;
    const struct wndl_made_for given = {
        code->modules, code->binaries, code->count};
    wndl_made_tables_give(&p->made, p->shm, &given);
    wndl_plain_learn(&all->plain, p, all->run->binaries.made);
}

void wndl_processes_renew_tables(
    struct wndl_processes *all, struct wndl_collector_process *p)
{
    if (p->shm != NULL && (p->module_count > p->modules_given ||
                              p->made_given != all->run->binaries.made))
        wndl_processes_give_tables(all, p);
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
