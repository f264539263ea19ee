/* SPDX-License-Identifier: MIT */
#include "collect/attach/descendants.h"

#include "base/map.h"
#include "collect/proc/proc.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

struct child {
    pid_t pid, parent;
};

/*
 * We are left out, and so is what we started: the command in whose time we
 * record is no part of what is recorded.
 */
static bool list_all(struct wndl_vec *all)
{
    DIR *proc = opendir("/proc");
    bool is_whole = proc != NULL;
    if (proc == NULL)
        return false;
    for (const struct dirent *e; is_whole && (e = readdir(proc)) != NULL;) {
        struct wndl_proc_stat stat;
        const pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid() || !wndl_proc_stat(pid, &stat) ||
            stat.state == 'Z')
            continue;
        struct child *child = wndl_vec_push(all);
        is_whole = child != NULL;
        if (is_whole)
            *child = (struct child){pid, stat.parent};
    }
    closedir(proc);
    return is_whole;
}

static bool append(struct wndl_vec *pids, struct wndl_map *known, pid_t pid)
{
    uint64_t *is_known = wndl_map_put(known, (uint64_t)pid);
    pid_t *slot = is_known == NULL ? NULL : wndl_vec_push(pids);
    if (slot == NULL)
        return false;
    *is_known = 1;
    *slot = pid;
    return true;
}

static bool is_in(const struct wndl_map *known, pid_t pid)
{
    return wndl_map_get(known, (uint64_t)pid) != NULL;
}

/* A child may be listed before its parent: repeated until none is new. */
static bool add_all(
    struct wndl_vec *pids, struct wndl_map *known, const struct wndl_vec *all)
{
    size_t before;
    do {
        before = pids->len;
        for (size_t i = 0; i < all->len; i++) {
            const struct child *c = wndl_vec_at(all, i);
            if (is_in(known, c->parent) && !is_in(known, c->pid) &&
                !append(pids, known, c->pid))
                return false;
        }
    } while (pids->len != before);
    return true;
}

bool wndl_attach_descendants(struct wndl_vec *pids)
{
    struct wndl_arena arena;
    struct wndl_vec all;
    struct wndl_map known;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&all, &arena, sizeof(struct child));
    wndl_map_init(&known, &arena);
    bool is_whole = list_all(&all);
    for (size_t i = 0; is_whole && i < pids->len; i++) {
        uint64_t *place = wndl_map_put(
            &known, (uint64_t) * (const pid_t *)wndl_vec_at(pids, i));
        is_whole = place != NULL;
    }
    is_whole = is_whole && add_all(pids, &known, &all);
    wndl_arena_free(&arena);
    return is_whole;
}
