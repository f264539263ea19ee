/* SPDX-License-Identifier: MIT */
#include "collect/memory/cgroup.h"

#include "collect/memory/usage.h"
#include "collect/proc/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOUNTS = 64 * 1024 };

/* A stretch of a text. */
struct part {
    const char *at;
    size_t size;
};

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end == NULL ? line + strlen(line) : end + 1;
}

/* Whether a list like "cpu,memory" has the word. */
static bool has_word(struct part list, const char *word)
{
    const size_t size = strlen(word);
    while (list.size != 0) {
        const char *comma = memchr(list.at, ',', list.size);
        const size_t length =
            comma == NULL ? list.size : (size_t)(comma - list.at);
        if (length == size && memcmp(list.at, word, size) == 0)
            return true;
        const size_t used = comma == NULL ? list.size : length + 1;
        list.at += used;
        list.size -= used;
    }
    return false;
}

/* ---- /proc/PID/cgroup: "4:memory:/a/b", "0::/a/b" */

static bool find_group(const char *groups, bool is_second, struct part *path)
{
    for (; *groups != '\0'; groups = next_line(groups)) {
        const size_t size = strcspn(groups, "\n");
        const char *list = memchr(groups, ':', size);
        if (list == NULL)
            continue;
        list++;
        const char *end = memchr(list, ':', size - (size_t)(list - groups));
        if (end == NULL)
            continue;
        const struct part names = {list, (size_t)(end - list)};
        if (is_second ? names.size != 0 || groups[0] != '0'
                      : !has_word(names, "memory"))
            continue;
        *path = (struct part){end + 1, size - (size_t)(end + 1 - groups)};
        return true;
    }
    return false;
}

/* ---- /proc/self/mountinfo: "35 31 0:32 ROOT POINT ... - TYPE NAME OPTIONS" */

static struct part field_at(const char *line, size_t size, unsigned number)
{
    const char *end = line + size;
    while (number-- > 0) {
        line = memchr(line, ' ', (size_t)(end - line));
        if (line == NULL)
            return (struct part){end, 0};
        line++;
    }
    const char *space = memchr(line, ' ', (size_t)(end - line));
    return (struct part){line, (size_t)((space == NULL ? end : space) - line)};
}

static bool is_text(struct part part, const char *text)
{
    return part.size == strlen(text) && memcmp(part.at, text, part.size) == 0;
}

static bool is_mount(const char *line, size_t size, bool is_second)
{
    const char *dash = memmem(line, size, " - ", 3);
    if (dash == NULL)
        return false;
    const char *after = dash + 3;
    const size_t left = size - (size_t)(after - line);
    if (is_second)
        return is_text(field_at(after, left, 0), "cgroup2");
    return is_text(field_at(after, left, 0), "cgroup") &&
           has_word(field_at(after, left, 2), "memory");
}

/* The folder of a group is its path below what is mounted. */
static bool join(struct wndl_cgroup *group, struct part root, struct part point,
    struct part path)
{
    if (path.size >= root.size && memcmp(path.at, root.at, root.size) == 0 &&
        root.size > 1) {
        path.at += root.size;
        path.size -= root.size;
    } else if (root.size > 1) {
        path.size = 0;
    }
    const int size = snprintf(group->folder, sizeof group->folder, "%.*s%.*s",
        (int)point.size, point.at, (int)path.size, path.at);
    return size > 0 && (size_t)size < sizeof group->folder;
}

static bool find_mount(
    const char *mounts, struct part path, struct wndl_cgroup *group)
{
    for (; *mounts != '\0'; mounts = next_line(mounts)) {
        const size_t size = strcspn(mounts, "\n");
        if (is_mount(mounts, size, group->is_second))
            return join(group, field_at(mounts, size, 3),
                field_at(mounts, size, 4), path);
    }
    return false;
}

bool wndl_cgroup_parse(
    const char *groups, const char *mounts, struct wndl_cgroup *group)
{
    struct part path;
    group->is_second = false;
    if (find_group(groups, false, &path) && find_mount(mounts, path, group))
        return true;
    group->is_second = true;
    return find_group(groups, true, &path) && find_mount(mounts, path, group);
}

bool wndl_cgroup_find(pid_t pid, struct wndl_cgroup *group)
{
    char groups[4096];
    char *mounts = malloc(MOUNTS);
    if (mounts == NULL)
        return false;
    groups[wndl_proc_read(pid, "cgroup", groups, sizeof groups - 1)] = '\0';
    mounts[wndl_proc_read(getpid(), "mountinfo", mounts, MOUNTS - 1)] = '\0';
    const bool is_found = wndl_cgroup_parse(groups, mounts, group);
    free(mounts);
    return is_found;
}

/* ---- its files */

static const char *read_text(
    const struct wndl_cgroup *group, const char *name, char text[1024])
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", group->folder, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, text, 1023);
    if (fd >= 0)
        close(fd);
    text[got < 0 ? 0 : got] = '\0';
    return text;
}

/* "max", and what no machine has, is no limit. */
static uint64_t read_size(const struct wndl_cgroup *group, const char *name)
{
    char text[1024];
    const uint64_t size = strtoull(read_text(group, name, text), NULL, 10);
    return size >= UINT64_C(1) << 60 ? 0 : size;
}

void wndl_cgroup_read(
    const struct wndl_cgroup *group, struct wndl_cgroup_state *state)
{
    char text[1024];
    *state = (struct wndl_cgroup_state){0};
    if (group->is_second) {
        state->limit = read_size(group, "memory.max");
        state->used = read_size(group, "memory.current");
        read_text(group, "memory.events", text);
        state->reached = wndl_usage_number(text, "max");
    } else {
        state->limit = read_size(group, "memory.limit_in_bytes");
        state->used = read_size(group, "memory.usage_in_bytes");
        state->reached = read_size(group, "memory.failcnt");
        read_text(group, "memory.oom_control", text);
    }
    state->killed = wndl_usage_number(text, "oom_kill");
}
