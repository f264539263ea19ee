/* SPDX-License-Identifier: MIT */
#include "cli/memlog/rings.h"

#include "base/text.h"
#include "cli/core/command.h"
#include "cli/memlog/folders.h"
#include "collect/proc/proc.h"
#include "in/memlog.h"
#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void wndl_rings_init(struct wndl_rings *rings)
{
    *rings = (struct wndl_rings){0};
    wndl_event_log_init(&rings->log, wndl_mem_libc());
}

void wndl_rings_free(struct wndl_rings *rings)
{
    wndl_event_log_free(&rings->log);
}

/* A process whose first thread alone has ended lives. */
bool wndl_ring_is_alive(const struct wndl_memlog_ring *ring)
{
    struct wndl_proc_stat stat;
    return wndl_folders_is_this_boot(ring) && ring->process <= INT_MAX &&
           wndl_proc_stat((pid_t)ring->process, &stat) &&
           stat.start == ring->start &&
           (stat.state != 'Z' || wndl_proc_threads((pid_t)ring->process) > 1);
}

/* ---- one log */

static void read_bytes(struct wndl_rings *rings, struct wndl_bytes bytes,
    const char *path, struct wndl_error *err)
{
    struct wndl_memlog_anchor now;
    struct wndl_memlog_ring *head = NULL;
    bool is_here = false;
    if (bytes.size >= sizeof *head && (head = malloc(sizeof *head)) != NULL) {
        memcpy(head, bytes.data, sizeof *head);
        is_here = wndl_folders_anchor(head, &now);
    }
    const size_t before = rings->log.processes.len;
    err->status =
        wndl_memlog_read_ring(&rings->log, bytes, is_here ? &now : NULL, err);
    rings->failed |= err->status == WNDL_NOMEM;
    if (err->status != WNDL_OK)
        wndl_error_set_file(err, path);
    else if (rings->log.processes.len > before)
        ((struct wndl_event_process *)wndl_vec_at(
             &rings->log.processes, before))
            ->is_alive = wndl_ring_is_alive(head);
    free(head);
}

bool wndl_rings_read_file(struct wndl_rings *rings, const char *path)
{
    struct wndl_file file;
    struct wndl_error err = {0};
    if (wndl_file_open(path, &file, &err) == WNDL_OK) {
        read_bytes(rings, file.bytes, path, &err);
        wndl_file_close(&file);
    }
    if (err.status != WNDL_OK)
        wndl_cli_fail(&err);
    return err.status == WNDL_OK;
}

/* A log in a folder. What may have ended meanwhile is no news. */
static void read_entry(
    struct wndl_rings *rings, int folder, const char *path, const char *name)
{
    struct wndl_file file;
    struct wndl_error err = {0};
    char whole[PATH_MAX + 256];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    const char *problem = NULL;
    const int fd = wndl_folders_open_ring(folder, name, O_RDONLY, &problem);
    if (fd < 0) {
        if (problem != NULL && !rings->is_quiet)
            wndl_cli_note("left out %s: %s", whole, problem);
        return;
    }
    if (wndl_file_of_descriptor(fd, &file, &err) == WNDL_OK) {
        read_bytes(rings, file.bytes, whole, &err);
        wndl_file_close(&file);
    }
    close(fd);
    if (err.status == WNDL_OK || rings->is_quiet)
        return;
    char text[600];
    wndl_cli_note("left out %s", wndl_error_text(&err, text, sizeof text));
}

static int compare_pids(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool is_wanted(
    const struct wndl_rings *rings, const char *name, uint32_t pid)
{
    const uint32_t of = (uint32_t)strtoul(name, NULL, 10);
    return wndl_text_ends_with(name, ".ring") && (pid == 0 || of == pid) &&
           (rings->only == NULL || bsearch(&of, rings->only, rings->only_count,
                                       sizeof of, compare_pids) != NULL);
}

bool wndl_rings_exist(void)
{
    char path[PATH_MAX];
    bool found = false;
    for (unsigned i = 0; i < WNDL_RINGS_FOLDERS && !found; i++) {
        const int folder = wndl_folders_open(i, path, true);
        DIR *dir = folder < 0 ? NULL : fdopendir(folder);
        const struct dirent *entry;
        while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
            found = wndl_text_ends_with(entry->d_name, ".ring");
        if (dir != NULL)
            closedir(dir);
    }
    return found;
}

void wndl_rings_read_all(struct wndl_rings *rings, uint32_t pid)
{
    char path[PATH_MAX];
    for (unsigned i = 0; i < WNDL_RINGS_FOLDERS; i++) {
        const int folder = wndl_folders_open(i, path, rings->is_quiet);
        DIR *dir = folder < 0 ? NULL : fdopendir(folder);
        const struct dirent *entry;
        if (dir == NULL)
            continue;
        while (!rings->failed && (entry = readdir(dir)) != NULL) {
            if (is_wanted(rings, entry->d_name, pid))
                read_entry(rings, folder, path, entry->d_name);
        }
        closedir(dir);
    }
    if (rings->failed)
        wndl_cli_error("out of memory");
}
