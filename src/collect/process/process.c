/* SPDX-License-Identifier: MIT */
#include "collect/process/process.h"

#include "base/hash.h"
#include "collect/proc/proc.h"
#include "collect/process/attached.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer titles are cut. Longer commands are compared up to there. */
enum { COMMAND_MAX = 64 * 1024, TITLE_MAX = 4 * 1024 };

static bool stat_executable(pid_t pid, struct stat *st)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat(path, st) == 0;
}

static void look_at_executable(struct wndl_collector_process *p)
{
    struct stat st;
    (void)wndl_proc_link(p->pid, "exe", p->executable);
    if (!stat_executable(p->pid, &st))
        return;
    p->device = st.st_dev;
    p->inode = st.st_ino;
    p->modified =
        (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

/* The file may have got another name while it runs. */
bool wndl_collector_process_replaced(const struct wndl_collector_process *p)
{
    char now[PATH_MAX];
    struct stat st;
    if (!wndl_proc_link(p->pid, "exe", now) || strcmp(now, p->executable) == 0)
        return false;
    return !stat_executable(p->pid, &st) || st.st_dev != p->device ||
           st.st_ino != p->inode;
}

/* Programs overwrite their arguments, and fill up with NULs. */
static struct wndl_bytes title_of(const char *command, size_t size)
{
    if (size > TITLE_MAX)
        size = TITLE_MAX;
    while (size > 0 && command[size - 1] == '\0')
        size--;
    return (struct wndl_bytes){(const uint8_t *)command, size};
}

/*
 * Reads the command line as the process was started: once it has its answer,
 * the program may write over it.
 */
static void read_command(struct wndl_collector_process *p)
{
    struct wndl_mem *mem = wndl_mem_libc();
    p->command = mem->resize(mem, NULL, COMMAND_MAX);
    if (p->command != NULL)
        p->command_size = wndl_proc_command(p->pid, p->command, COMMAND_MAX);
}

void wndl_collector_process_announce(struct wndl_collector_process *p,
    const struct wndl_recording_process *origin)
{
    struct wndl_recording_process announced = *origin;
    announced.index = p->index;
    announced.executable = p->executable;
    announced.command =
        (struct wndl_bytes){(const uint8_t *)p->command, p->command_size};
    wndl_recording_process(p->recording, &announced);
    p->totals->processes++;
    const struct wndl_bytes title = title_of(p->command, p->command_size);
    p->title = wndl_hash_bytes(title.data, title.size);
    wndl_mem_free(wndl_mem_libc(), p->command);
    p->command = NULL;
}

/*
 * A title that is there twice is recorded: the first time it may be that of
 * another image, which has not said hello yet.
 */
void wndl_collector_process_take_title(
    struct wndl_collector_process *p, uint64_t now)
{
    enum { EVERY = 250 * 1000 * 1000 /* ns */ };
    char text[TITLE_MAX];
    if (now < p->titled + EVERY)
        return;
    p->titled = now;
    const size_t size = wndl_proc_command(p->pid, text, sizeof text);
    const struct wndl_bytes title = title_of(text, size);
    const uint64_t hash = wndl_hash_bytes(title.data, title.size);
    if (title.size != 0 && hash == p->next_title && hash != p->title) {
        p->title = hash;
        wndl_recording_title(p->recording, p->index, now, title);
    }
    p->next_title = hash;
}

void wndl_collector_process_free(struct wndl_collector_process *p)
{
    struct wndl_mem *mem = wndl_mem_libc();
    if (p->pid_fd >= 0)
        close(p->pid_fd);
    if (p->event_fd >= 0)
        close(p->event_fd);
    if (p->shm != NULL)
        munmap(p->shm, p->shm_size);
    wndl_lost_free(p->lost);
    wndl_collector_heap_free(p->heap);
    wndl_collector_threads_free(&p->threads);
    wndl_unlisted_code_free(&p->unlisted);
    wndl_buf_free(&p->guessed);
    wndl_collector_process_detach(p);
    wndl_mem_free(mem, p->executable);
    wndl_mem_free(mem, p->directory);
    wndl_mem_free(mem, p->command);
    wndl_mem_free(mem, p);
}

/* Frees it, without a change of errno. Returns NULL. */
static struct wndl_collector_process *free_failed(
    struct wndl_collector_process *p)
{
    int why = errno;
    wndl_collector_process_free(p);
    errno = why;
    return NULL;
}

/* Without a block. */
static struct wndl_collector_process *new_process(
    struct wndl_recording *recording, struct wndl_collector_totals *totals,
    const struct wndl_recording_process *origin)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_collector_process *p = wndl_mem_zalloc(mem, sizeof *p);
    if (p == NULL)
        return NULL;
    p->recording = recording;
    p->totals = totals;
    p->pid = (pid_t)origin->pid;
    p->generation = origin->generation;
    p->cpu_before = origin->cpu;
    p->index = totals->processes;
    p->pid_fd = -1;
    p->event_fd = -1;
    p->executable = wndl_mem_zalloc(mem, PATH_MAX);
    p->directory = wndl_mem_zalloc(mem, PATH_MAX);
    wndl_collector_threads_init(
        &p->threads, recording, p->index, &totals->threads);
    wndl_unlisted_code_init(&p->unlisted, recording, p->index, p->pid);
    wndl_buf_init(&p->guessed, mem);
    if (p->executable == NULL || p->directory == NULL)
        return free_failed(p);
    look_at_executable(p);
    read_command(p);
    wndl_collector_process_look(p);
    return p;
}

void wndl_collector_process_take_block(
    struct wndl_collector_process *p, struct wndl_collector_block *block)
{
    p->shm = block->shm;
    p->shm_size = block->size;
    p->tree = wndl_stackreader_init((void *)p->shm->tree, block->nodes);
    p->heap = block->heap;
    block->shm = NULL;
    block->heap = NULL;
}

struct wndl_collector_process *wndl_collector_process_new(
    struct wndl_recording *recording, struct wndl_collector_totals *totals,
    const struct wndl_recording_process *origin,
    const struct wndl_collector_heap_request *heap, int *memfd)
{
    struct wndl_collector_process *p = new_process(recording, totals, origin);
    struct wndl_collector_block block;
    if (p == NULL || memfd == NULL)
        return p;
    if (!wndl_collector_block_make(&block, heap))
        return free_failed(p);
    *memfd = block.memfd;
    wndl_collector_process_take_block(p, &block);
    return p;
}

struct wndl_collector_process *wndl_collector_process_adopt(
    struct wndl_recording *recording, struct wndl_collector_totals *totals,
    const struct wndl_recording_process *origin,
    const struct wndl_collector_heap_request *heap, int memfd)
{
    struct wndl_collector_process *p = new_process(recording, totals, origin);
    struct wndl_collector_block block;
    if (p == NULL)
        return NULL;
    if (!wndl_collector_block_adopt(&block, heap, memfd))
        return free_failed(p);
    wndl_collector_process_take_block(p, &block);
    return p;
}

void wndl_collector_process_was(struct wndl_collector_process *p)
{
    memcpy(p->executable, p->shm->executable, PATH_MAX - 1);
    p->is_past = true;
    p->device = 0;
    p->inode = 0;
}

static void switch_event(const struct wndl_collector_process *p)
{
    bool on = !p->paused && !p->debugged;
    if (p->event_fd >= 0)
        (void)ioctl(p->event_fd,
            on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void wndl_collector_process_pause(struct wndl_collector_process *p, bool paused)
{
    p->paused = paused;
    if (p->shm != NULL)
        atomic_store(&p->shm->paused, paused);
    switch_event(p);
}

void wndl_collector_process_debugged(
    struct wndl_collector_process *p, bool debugged)
{
    p->debugged = debugged;
    switch_event(p);
}

/* The counter; 0 if it is impossibly large: then it was overwritten. */
static uint64_t counted(
    struct wndl_collector_process *p, const _Atomic uint64_t *counter)
{
    enum { BITS = 48 };
    uint64_t count = atomic_load(counter);
    if (count >> BITS == 0)
        return count;
    p->totals->damaged++;
    return 0;
}

/* Adds the block's counts to the sums, and fills in `lost`. */
static void sum_up(
    struct wndl_collector_process *p, uint64_t lost[WNDL_LOSS_REASONS])
{
    struct wndl_collector_totals *t = p->totals;
    for (size_t i = 0; i < WNDL_LOSS_REASONS; i++) {
        lost[i] = counted(p, &p->shm->lost[i]);
        t->lost[i] += lost[i];
    }
    for (size_t i = 0; i < WNDL_FRAMES_BY; i++)
        t->frames_by[i] += counted(p, &p->shm->frames_by[i]);
    t->interrupted_calls += counted(p, &p->shm->interrupted_calls);
}

uint64_t wndl_collector_process_cpu_left(const struct wndl_collector_process *p)
{
    const uint64_t left = p->shm == NULL ? 0 : atomic_load(&p->shm->cpu_left);
    return left == 0 ? WNDL_CPU_UNKNOWN : left;
}

/* Numbers that are not in order are not a runtime's: they are left out. */
static void put_cpu_before(const struct wndl_collector_process *p)
{
    const uint64_t loaded = atomic_load(&p->shm->cpu_loaded);
    const uint64_t begun = atomic_load(&p->shm->cpu_begun);
    const uint64_t since = loaded > p->cpu_before ? loaded : p->cpu_before;
    if (begun != 0 && p->cpu_before != WNDL_CPU_UNKNOWN && since <= begun &&
        begun < WNDL_CPU_UNKNOWN / 2)
        wndl_recording_process_cpu(
            p->recording, p->index, since - p->cpu_before, begun - since);
}

void wndl_collector_process_end(
    struct wndl_collector_process *p, enum wndl_process_end how)
{
    uint64_t lost[WNDL_LOSS_REASONS] = {[WNDL_LOSS_RING_FULL] = p->dropped};
    if (p->lost != NULL && how != WNDL_ENDED_UNKNOWN)
        wndl_lost_leave(p->lost);
    if (p->heap != NULL && how == WNDL_ENDED_UNKNOWN)
        wndl_collector_heap_run_reporters(p);
    if (p->shm != NULL) {
        atomic_store(&p->shm->stop, 1);
        wndl_collector_process_drain(p, true);
        put_cpu_before(p);
        if (p->heap != NULL)
            wndl_collector_heap_end(p, how == WNDL_ENDED_UNKNOWN
                                           ? WNDL_SNAPSHOT_STOP
                                           : WNDL_SNAPSHOT_END);
        sum_up(p, lost);
    }
    wndl_collector_process_put_samples(p);
    if (p->lost != NULL)
        wndl_lost_end(
            p->lost, p->nodes + wndl_collector_process_attached_nodes(p));
    p->lost = NULL;
    if (p->offcpu != NULL)
        wndl_offcpu_end(p->offcpu, wndl_clock_monotonic_ns());
    p->offcpu = NULL;
    wndl_recording_end(p->recording, p->index, how, lost);
}
