/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/task.h"

#include "os/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 256, NAME = 48, LIST = 16 * 1024, STAT = 1024 };

/* ---- the list */

int wndl_offcpu_task_folder(pid_t pid)
{
    char path[NAME];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

size_t wndl_offcpu_task_count(int folder)
{
    struct stat s;
    if (fstat(folder, &s) != 0 || s.st_nlink < 2)
        return 0;
    return s.st_nlink - 2;
}

static void hand_out(const char *list, size_t size,
    void (*visit)(void *context, uint32_t tid), void *context)
{
    for (size_t at = 0; at < size;) {
        const struct dirent64 *entry = (const void *)(list + at);
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid != 0)
            visit(context, tid);
        at += entry->d_reclen;
    }
}

bool wndl_offcpu_task_each(
    int folder, void (*visit)(void *context, uint32_t tid), void *context)
{
    _Alignas(struct dirent64) char list[LIST];
    if (lseek(folder, 0, SEEK_SET) != 0)
        return false;
    for (;;) {
        long got = syscall(SYS_getdents64, folder, list, sizeof list);
        if (got <= 0)
            return got == 0;
        hand_out(list, (size_t)got, visit, context);
    }
}

/* ---- files of one thread */

void wndl_offcpu_task_init(struct wndl_offcpu_task *task, uint32_t tid)
{
    task->tid = tid;
    for (int i = 0; i < WNDL_OFFCPU_FILES; i++)
        task->files[i] = -1;
}

void wndl_offcpu_task_close(
    struct wndl_offcpu_task *task, int file, size_t *left)
{
    if (task->files[file] < 0)
        return;
    close(task->files[file]);
    task->files[file] = -1;
    ++*left;
}

static int open_file(
    const struct wndl_offcpu_task *task, int folder, const char *name)
{
    char path[NAME];
    snprintf(path, sizeof path, "%" PRIu32 "/%s", task->tid, name);
    return openat(folder, path, O_RDONLY | O_CLOEXEC);
}

/* NUL-terminated. False with errno. */
static bool read_text(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);
    text[got < 0 ? 0 : got] = '\0';
    return got >= 0;
}

static bool read_file(struct wndl_offcpu_task *task, int which, int folder,
    size_t *left, char text[TEXT])
{
    static const char *const names[] = {"schedstat", "syscall"};
    if (task->files[which] >= 0)
        return read_text(task->files[which], text, TEXT);
    int fd = open_file(task, folder, names[which]);
    if (fd < 0)
        return false;
    bool is_read = read_text(fd, text, TEXT);
    int why = errno;
    if (is_read && *left > 0) {
        task->files[which] = fd;
        --*left;
    } else {
        close(fd);
    }
    errno = why;
    return is_read;
}

bool wndl_offcpu_task_is_there(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

bool wndl_offcpu_task_times(struct wndl_offcpu_task *task, int folder,
    size_t *left, struct wndl_offcpu_times *times)
{
    char text[TEXT];
    char *at = text;
    if (!read_file(task, WNDL_OFFCPU_SCHEDSTAT, folder, left, text))
        return false;
    times->time = wndl_clock_monotonic_ns();
    times->run = strtoull(at, &at, 10);
    times->wait = strtoull(at, &at, 10);
    times->slices = strtoull(at, &at, 10);
    return at != text;
}

/* proc_pid_stat(5): the second field may hold anything. */
static bool starttime(const char *text, uint64_t *ticks)
{
    enum { AFTER_NAME = 20 };
    const char *at = strrchr(text, ')');
    for (int i = 0; at != NULL && i < AFTER_NAME; i++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return false;
    *ticks = strtoull(at, NULL, 10);
    return true;
}

bool wndl_offcpu_task_birth(
    const struct wndl_offcpu_task *task, int folder, uint64_t *birth)
{
    const uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    char text[STAT];
    uint64_t ticks;
    struct timespec boot;
    int fd = open_file(task, folder, "stat");
    if (fd < 0)
        return false;
    bool is_read = read_text(fd, text, sizeof text) && starttime(text, &ticks);
    close(fd);
    if (!is_read || clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
        return false;
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t age = (uint64_t)boot.tv_sec * UINT64_C(1000000000) +
                   (uint64_t)boot.tv_nsec - ticks * tick - tick / 2;
    *birth = now - age;
    return true;
}

/* "running", or words of which the last two are SP and PC. */
static bool last_two(const char *text, uint64_t *sp, uint64_t *pc)
{
    unsigned words = 0;
    if (strncmp(text, "running", 7) == 0)
        return false;
    for (const char *at = strchr(text, ' '); at != NULL;
         at = strchr(at + 1, ' ')) {
        *sp = *pc;
        *pc = strtoull(at, NULL, 16);
        words++;
    }
    return words >= 2 && *sp != 0;
}

enum wndl_offcpu_state wndl_offcpu_task_state(struct wndl_offcpu_task *task,
    int folder, size_t *left, uint64_t *pc, uint64_t *sp)
{
    char text[TEXT];
    *pc = 0;
    if (!read_file(task, WNDL_OFFCPU_SYSCALL, folder, left, text))
        return WNDL_OFFCPU_HIDDEN;
    return last_two(text, sp, pc) ? WNDL_OFFCPU_BLOCKED : WNDL_OFFCPU_RUNS;
}

bool wndl_offcpu_task_name(
    const struct wndl_offcpu_task *task, int folder, char name[16])
{
    char text[TEXT];
    int fd = open_file(task, folder, "comm");
    if (fd < 0)
        return false;
    bool is_read = read_text(fd, text, TEXT);
    int why = is_read ? 0 : errno;
    close(fd);
    errno = why;
    text[strcspn(text, "\n")] = '\0';
    snprintf(name, 16, "%.15s", text);
    return is_read && name[0] != '\0';
}
