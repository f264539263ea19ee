/* SPDX-License-Identifier: MIT */
#include "collect/memory/usage.h"

#include "collect/proc/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1024 };

/* proc_pid_stat(5): the second field may hold anything. */
static bool read_stat(pid_t pid, struct wndl_usage *usage)
{
    char text[1024];
    text[wndl_proc_read(pid, "stat", text, sizeof text - 1)] = '\0';
    const char *end_of_name = strrchr(text, ')');
    const char *name = strchr(text, '(');
    int parent = 0;
    if (end_of_name == NULL || name == NULL || name > end_of_name ||
        sscanf(end_of_name,
            ") %c %d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64
            " %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
            &usage->state, &parent, &usage->minor, &usage->major,
            &usage->start) != 5)
        return false;
    usage->parent = parent;
    snprintf(usage->name, sizeof usage->name, "%.*s",
        (int)(end_of_name - name - 1), name + 1);
    return true;
}

bool wndl_usage_read(pid_t pid, struct wndl_usage *usage)
{
    char text[128];
    uint64_t mapped = 0;
    uint64_t resident = 0;
    *usage = (struct wndl_usage){0};
    text[wndl_proc_read(pid, "statm", text, sizeof text - 1)] = '\0';
    if (sscanf(text, "%" SCNu64 " %" SCNu64, &mapped, &resident) != 2 ||
        !read_stat(pid, usage))
        return false;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    usage->mapped = mapped * page;
    usage->resident = resident * page;
    return true;
}

uint64_t wndl_usage_number(const char *text, const char *name)
{
    const size_t size = strlen(name);
    for (const char *line = text; line != NULL && *line != '\0';
         line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, size) == 0 &&
            (line[size] == ' ' || line[size] == '\t'))
            return strtoull(line + size, NULL, 10);
    }
    return 0;
}

static uint64_t read_number(pid_t pid, const char *file, const char *name)
{
    char text[4096];
    text[wndl_proc_read(pid, file, text, sizeof text - 1)] = '\0';
    return wndl_usage_number(text, name);
}

uint64_t wndl_usage_swapped(pid_t pid)
{
    return read_number(pid, "status", "VmSwap:") * KIB;
}

uint64_t wndl_usage_proportional(pid_t pid)
{
    return read_number(pid, "smaps_rollup", "Pss:") * KIB;
}

uint64_t wndl_usage_stalled(void)
{
    char text[256];
    const int fd = open("/proc/pressure/memory", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got < 0 ? 0 : got] = '\0';
    const char *total = strstr(text, "total=");
    return total == NULL ? 0 : strtoull(total + 6, NULL, 10) * 1000;
}
