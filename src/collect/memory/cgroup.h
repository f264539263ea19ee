/* SPDX-License-Identifier: MIT */
/*
 * cgroup: the memory limit of a process's control group, of version 1 or 2
 * (cgroups(7)).
 */
#ifndef WNDL_COLLECT_MEMORY_CGROUP_H
#define WNDL_COLLECT_MEMORY_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct wndl_cgroup {
    char folder[PATH_MAX];
    bool is_second; /* of version 2 */
};

struct wndl_cgroup_state {
    uint64_t limit;   /* bytes; 0: none */
    uint64_t used;    /* bytes */
    uint64_t reached; /* how often the limit refused memory or reclaimed some */
    uint64_t killed;  /* processes, for want of memory */
};

/* False: it has none that is mounted here. */
bool wndl_cgroup_find(pid_t pid, struct wndl_cgroup *group);

/* The same from the texts of /proc/PID/cgroup and /proc/self/mountinfo. */
bool wndl_cgroup_parse(
    const char *groups, const char *mounts, struct wndl_cgroup *group);

void wndl_cgroup_read(
    const struct wndl_cgroup *group, struct wndl_cgroup_state *state);

#endif
