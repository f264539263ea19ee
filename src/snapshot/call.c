/* SPDX-License-Identifier: MIT */
#include "snapshot/call.h"

#include "os/process_memory.h"
#include "snapshot/call_names.h"

#include <elf.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Files of one poll() that are shown. */
enum { FILES_MAX = 8 };

const char *wndl_call_name(uint16_t machine, uint64_t number)
{
    if (machine == EM_X86_64)
        return wndl_call_name_x86_64(number);
    return machine == EM_386 ? wndl_call_name_i386(number) : NULL;
}

/* The meaning of the first arguments. */
enum kind {
    KIND_OTHER,
    KIND_FILE,       /* a descriptor */
    KIND_POLL,       /* a list of descriptors, and their number */
    KIND_PATH,       /* a path */
    KIND_PATH_BELOW, /* the descriptor of a folder, or AT_FDCWD, and a path */
};

static const struct {
    const char *names; /* with a blank before and after each */
    enum kind kind;
} kinds[] = {
    {" read write pread64 pwrite64 readv writev preadv pwritev preadv2 "
     "pwritev2 close fsync fdatasync ftruncate ftruncate64 fallocate flock "
     "ioctl fcntl fcntl64 lseek _llseek fstat fstat64 getdents getdents64 "
     "accept accept4 connect bind listen recvfrom recvmsg recvmmsg sendto "
     "sendmsg sendmmsg shutdown epoll_wait epoll_pwait epoll_pwait2 epoll_ctl "
     "sendfile sendfile64 splice tee vmsplice copy_file_range sync_file_range "
     "syncfs readahead io_uring_enter inotify_add_watch timerfd_settime "
     "signalfd4 ",
        KIND_FILE},
    {" poll ppoll ppoll_time64 ", KIND_POLL},
    {" open creat stat stat64 lstat lstat64 access mkdir rmdir unlink chdir "
     "truncate truncate64 execve statfs statfs64 readlink ",
        KIND_PATH},
    {" openat openat2 newfstatat fstatat64 statx mkdirat unlinkat readlinkat "
     "faccessat faccessat2 execveat ",
        KIND_PATH_BELOW},
};

static enum kind kind_of(const char *name)
{
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strstr(kinds[i].names, word) != NULL)
            return kinds[i].kind;
    }
    return KIND_OTHER;
}

struct work {
    struct wndl_snapshot *snapshot;
    const struct wndl_task *task;
    struct wndl_snapshot_call *call;
};

static void add_file(struct work *w, int descriptor)
{
    char link[64], path[PATH_MAX];
    struct wndl_snapshot_file *file = &w->call->files[w->call->file_count++];
    snprintf(
        link, sizeof link, "/proc/%d/fd/%d", (int)w->task->pid, descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = '\0';
    *file = (struct wndl_snapshot_file){.descriptor = descriptor,
        .path = size < 0 ? NULL : wndl_snapshot_text(w->snapshot, path)};
}

static void add_polled(struct work *w, uint64_t list, uint64_t count)
{
    struct pollfd polled[FILES_MAX];
    size_t shown = count < FILES_MAX ? (size_t)count : FILES_MAX;
    size_t size = shown * sizeof polled[0];
    if (wndl_process_read(w->task->pid, list, polled, size) != size)
        return;
    for (size_t i = 0; i < shown; i++)
        add_file(w, polled[i].fd);
    w->call->files_left_out = (size_t)count - shown;
}

static void read_path(struct work *w, uint64_t address)
{
    char path[PATH_MAX];
    size_t got =
        wndl_process_read(w->task->pid, address, path, sizeof path - 1);
    path[got] = '\0';
    if (got != 0 && strlen(path) < got)
        w->call->path = wndl_snapshot_text(w->snapshot, path);
}

void wndl_call_describe(struct wndl_snapshot *snapshot,
    const struct wndl_task *task, const struct wndl_task_call *from,
    struct wndl_snapshot_call *call)
{
    struct work w = {snapshot, task, call};
    *call = (struct wndl_snapshot_call){
        .is_known = from->is_call,
        .number = from->number,
        .name = wndl_call_name(snapshot->machine, from->number),
        .files =
            wndl_arena_calloc(&snapshot->arena, FILES_MAX, sizeof *call->files),
    };
    if (!call->is_known || call->name == NULL || call->files == NULL)
        return;
    enum kind kind = kind_of(call->name);
    if (kind == KIND_FILE)
        add_file(&w, (int)from->arguments[0]);
    else if (kind == KIND_POLL)
        add_polled(&w, from->arguments[0], from->arguments[1]);
    else if (kind == KIND_PATH)
        read_path(&w, from->arguments[0]);
    else if (kind == KIND_PATH_BELOW)
        read_path(&w, from->arguments[1]);
}
