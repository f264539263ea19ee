/* SPDX-License-Identifier: MIT */
#include "cli/collector_process.h"

#include "os/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROC_PATH = 64, COMMAND_MAX = 64 * 1024 };

static const char *proc_path(char to[PROC_PATH], pid_t pid, const char *name)
{
    snprintf(to, PROC_PATH, "/proc/%d/%s", (int)pid, name);
    return to;
}

/* Up to `size` bytes of a file whose size is not known before. */
static size_t read_proc(pid_t pid, const char *name, char *to, size_t size)
{
    char path[PROC_PATH];
    int fd = open(proc_path(path, pid, name), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t used = 0;
    ssize_t got;
    while (used < size && (got = read(fd, to + used, size - used)) > 0)
        used += (size_t)got;
    close(fd);
    return used;
}

/* proc_pid_stat(5): the fourth field; the second may hold anything. */
pid_t wndl_collector_parent_of(pid_t pid)
{
    char text[512];
    size_t size = read_proc(pid, "stat", text, sizeof text - 1);
    text[size] = '\0';
    const char *end_of_name = strrchr(text, ')');
    int parent = 0;
    if (end_of_name == NULL || sscanf(end_of_name, ") %*c %d", &parent) != 1)
        return 0;
    return parent;
}

static bool read_link(pid_t pid, const char *name, char to[PATH_MAX])
{
    static const char deleted[] = " (deleted)";
    char path[PROC_PATH];
    ssize_t size = readlink(proc_path(path, pid, name), to, PATH_MAX - 1);
    if (size < 0)
        return false;
    to[size] = '\0';
    size_t cut = sizeof deleted - 1;
    if ((size_t)size > cut && strcmp(to + size - cut, deleted) == 0)
        to[(size_t)size - cut] = '\0';
    return true;
}

void wndl_collector_process_look(struct wndl_collector_process *p)
{
    char now[PATH_MAX];
    if (read_link(p->pid, "cwd", now))
        memcpy(p->directory, now, sizeof now);
}

bool wndl_collector_process_replaced(const struct wndl_collector_process *p)
{
    char now[PATH_MAX];
    return read_link(p->pid, "exe", now) && strcmp(now, p->executable) != 0;
}

/* The target cannot shrink the block under our feet. */
static int make_memfd(void)
{
    int fd = memfd_create("windlass", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)wndl_shm_size()) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool map_block(struct wndl_collector_process *p, int *memfd)
{
    *memfd = make_memfd();
    if (*memfd < 0)
        return false;
    void *block = mmap(
        NULL, wndl_shm_size(), PROT_READ | PROT_WRITE, MAP_SHARED, *memfd, 0);
    if (block == MAP_FAILED) {
        close(*memfd);
        return false;
    }
    p->shm = block;
    p->shm->magic = WNDL_SHM_MAGIC;
    p->shm->version = WNDL_SHM_VERSION;
    p->tree = wndl_stackreader_init(
        wndl_stacktree_init(p->shm->tree, WNDL_SHM_NODES), WNDL_SHM_NODES);
    return true;
}

static void announce(struct wndl_collector_process *p,
    const struct wndl_recording_process *origin)
{
    char *command = wndl_mem_zalloc(wndl_mem_libc(), COMMAND_MAX);
    size_t size = command == NULL
                      ? 0
                      : read_proc(p->pid, "cmdline", command, COMMAND_MAX);
    struct wndl_recording_process announced = *origin;
    announced.index = p->index;
    announced.executable = p->executable;
    announced.command = (struct wndl_bytes){(const uint8_t *)command, size};
    if (size > 0 && command[size - 1] == '\0')
        announced.command.size--;
    wndl_recording_process(p->recording, &announced);
    wndl_mem_free(wndl_mem_libc(), command);
}

struct wndl_collector_process *wndl_collector_process_new(
    struct wndl_recording *recording, struct wndl_collector_totals *totals,
    const struct wndl_recording_process *origin, int *memfd)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_collector_process *p = wndl_mem_zalloc(mem, sizeof *p);
    if (p == NULL)
        return NULL;
    p->recording = recording;
    p->totals = totals;
    p->pid = (pid_t)origin->pid;
    p->generation = origin->generation;
    p->index = totals->processes;
    p->pid_fd = -1;
    p->event_fd = -1;
    p->executable = wndl_mem_zalloc(mem, PATH_MAX);
    p->directory = wndl_mem_zalloc(mem, PATH_MAX);
    if (p->executable == NULL || p->directory == NULL || !map_block(p, memfd)) {
        wndl_collector_process_free(p);
        return NULL;
    }
    (void)read_link(p->pid, "exe", p->executable);
    wndl_collector_process_look(p);
    totals->processes++;
    announce(p, origin);
    return p;
}

void wndl_collector_process_free(struct wndl_collector_process *p)
{
    struct wndl_mem *mem = wndl_mem_libc();
    if (p->pid_fd >= 0)
        close(p->pid_fd);
    if (p->event_fd >= 0)
        close(p->event_fd);
    if (p->shm != NULL)
        munmap(p->shm, wndl_shm_size());
    wndl_mem_free(mem, p->executable);
    wndl_mem_free(mem, p->directory);
    wndl_mem_free(mem, p);
}

void wndl_collector_process_end(
    struct wndl_collector_process *p, enum wndl_recording_how how)
{
    uint64_t lost[WNDL_LOSS_REASONS];
    atomic_store(&p->shm->stop, 1);
    wndl_collector_process_drain(p, true);
    for (size_t i = 0; i < WNDL_LOSS_REASONS; i++) {
        lost[i] = atomic_load(&p->shm->lost[i]);
        p->totals->lost[i] += lost[i];
    }
    wndl_recording_end(p->recording, p->index, how, lost);
}
