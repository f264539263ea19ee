/* SPDX-License-Identifier: MIT */
#include "os/own_threads.h"

#include "os/raw.h"

#include <sys/stat.h>

/* A folder has a link for each folder in it, and two more. */
uint32_t wndl_own_threads_count(void)
{
    struct statx status = {0};
    const long a[] = {AT_FDCWD, (long)"/proc/self/task", 0, STATX_NLINK};
    (void)wndl_raw6(SYS_statx, a, (long)&status, 0);
    return status.stx_nlink > 2 ? status.stx_nlink - 2 : 0;
}

/* The kernel's form. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

static int number_of(const char *name)
{
    int number = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        number = 10 * number + (*name - '0');
    return number;
}

void wndl_own_threads_each(uint8_t *room, size_t size,
    void (*visit)(void *context, int tid), void *context)
{
    long got;
    const int fd =
        wndl_raw_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    while ((got = wndl_raw3(SYS_getdents64, fd, (long)room, (long)size)) > 0) {
        for (long at = 0; at < got;) {
            const struct entry *e = (const struct entry *)(void *)(room + at);
            const int tid = number_of(e->name);
            if (tid > 0)
                visit(context, tid);
            at += e->size;
        }
    }
    wndl_raw_close(fd);
}
