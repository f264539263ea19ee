/* SPDX-License-Identifier: MIT */
#include "cli/memlog/keep.h"

#include "base/text.h"
#include "cli/core/command.h"
#include "cli/memlog/folders.h"
#include "cli/memlog/rings.h"
#include "in/memlog.h"
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- a copy */

static bool has_bytes(const uint8_t *page, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (page[i] != 0)
            return true;
    }
    return false;
}

/* Writes a part, but for pages of zeros. */
static bool write_pages(int to, struct wndl_bytes bytes, size_t at, size_t end)
{
    enum { PAGE = 4096 };
    for (; at < end; at += PAGE) {
        const size_t size = end - at < PAGE ? end - at : PAGE;
        if (has_bytes(bytes.data + at, size) &&
            pwrite(to, bytes.data + at, size, (off_t)at) != (ssize_t)size)
            return false;
    }
    return true;
}

/*
 * Writes the bytes of `from`, whose holes stay holes. They are not even read:
 * most logs have few events.
 */
static bool write_sparse(int to, int from, struct wndl_bytes bytes)
{
    off_t at = lseek(from, 0, SEEK_DATA);
    /* ENXIO: there are only holes. Some file systems do not know them. */
    if (at < 0 && errno != ENXIO && !write_pages(to, bytes, 0, bytes.size))
        return false;
    while (at >= 0 && (uint64_t)at < bytes.size) {
        const off_t hole = lseek(from, at, SEEK_HOLE);
        const size_t end =
            hole < 0 || (uint64_t)hole > bytes.size ? bytes.size : (size_t)hole;
        if (!write_pages(to, bytes, (size_t)at, end))
            return false;
        at = lseek(from, (off_t)end, SEEK_DATA);
    }
    return ftruncate(to, (off_t)bytes.size) == 0;
}

/* The log's last anchor is of now: its clock will not be known later. */
static bool write_anchor(int fd, const struct wndl_memlog_ring *ring)
{
    struct wndl_memlog_anchor now;
    const size_t at = offsetof(struct wndl_memlog_ring, anchors) +
                      (WNDL_MEMLOG_ANCHORS - 1) * sizeof now;
    return !wndl_folders_anchor(ring, &now) ||
           pwrite(fd, &now, sizeof now, (off_t)at) == (ssize_t)sizeof now;
}

struct dead {
    int fd;
    struct wndl_bytes bytes; /* of it */
    const struct wndl_memlog_ring *ring;
};

static bool copy_ring(int kept, const char *name, const struct dead *dead)
{
    char beside[300];
    snprintf(beside, sizeof beside, ".%s.new", name);
    (void)unlinkat(kept, beside, 0);
    const int fd = openat(
        kept, beside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool done =
        write_sparse(fd, dead->fd, dead->bytes) && write_anchor(fd, dead->ring);
    const int problem = errno;
    close(fd);
    done = done && renameat(kept, beside, kept, name) == 0;
    if (!done) {
        (void)unlinkat(kept, beside, 0);
        errno = problem;
    }
    return done;
}

/* ---- what is moved */

/* Whether the process of a log has ended; `ring` is the log's head. */
static bool is_dead(struct wndl_bytes bytes, struct wndl_memlog_ring *ring)
{
    if (bytes.size < sizeof *ring || !wndl_memlog_is_ring(bytes))
        return false;
    memcpy(ring, bytes.data, sizeof *ring);
    return !wndl_ring_is_alive(ring);
}

static void move_if_dead(int from, int kept, const char *name)
{
    struct wndl_file file;
    const char *problem;
    const int fd = wndl_folders_open_ring(from, name, O_RDONLY, &problem);
    struct wndl_memlog_ring *ring = malloc(sizeof *ring);
    if (fd >= 0 && ring != NULL &&
        wndl_file_of_descriptor(fd, &file, NULL) == WNDL_OK) {
        if (is_dead(file.bytes, ring)) {
            const struct dead dead = {fd, file.bytes, ring};
            if (copy_ring(kept, name, &dead))
                (void)unlinkat(from, name, 0);
            else
                wndl_cli_note("cannot keep %s: %s", name, strerror(errno));
        }
        wndl_file_close(&file);
    }
    free(ring);
    if (fd >= 0)
        close(fd);
}

/* Calls `each` with the logs of a folder, which is closed. */
static void visit(int folder, void (*each)(int, int, const char *), int kept)
{
    DIR *dir = fdopendir(folder);
    const struct dirent *entry;
    if (dir == NULL) {
        close(folder);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (wndl_text_ends_with(entry->d_name, ".ring") &&
            entry->d_name[0] != '.')
            each(folder, kept, entry->d_name);
    }
    closedir(dir);
}

/* ---- what is deleted */

struct kept_file {
    char name[256];
    time_t time;
    uint64_t bytes; /* on the disk */
};

struct kept_files {
    struct kept_file *files;
    size_t count;
};

static int compare_newest(const void *a, const void *b)
{
    const struct kept_file *x = a;
    const struct kept_file *y = b;
    return x->time > y->time ? -1 : x->time < y->time;
}

static void add_file(struct kept_files *all, int folder, const char *name)
{
    struct stat st;
    struct kept_file *more =
        realloc(all->files, (all->count + 1) * sizeof *more);
    if (more == NULL || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        all->files = more == NULL ? all->files : more;
        return;
    }
    all->files = more;
    more[all->count] = (struct kept_file){
        .time = st.st_mtime, .bytes = (uint64_t)st.st_blocks * 512};
    snprintf(more[all->count++].name, sizeof more->name, "%s", name);
}

static void delete_old(int folder, struct kept_files *all, uint64_t days)
{
    const time_t now = time(NULL);
    uint64_t bytes = 0;
    if (all->count != 0)
        qsort(all->files, all->count, sizeof *all->files, compare_newest);
    for (size_t i = 0; i < all->count; i++) {
        const struct kept_file *file = &all->files[i];
        bytes += file->bytes;
        if (bytes > WNDL_KEEP_BYTES ||
            (now > file->time && (uint64_t)(now - file->time) / 86400 >= days))
            (void)unlinkat(folder, file->name, 0);
    }
}

static void prune(uint64_t days)
{
    char path[PATH_MAX];
    const int folder = wndl_folders_open(WNDL_FOLDERS_KEPT, path, true);
    DIR *dir = folder < 0 ? NULL : fdopendir(folder);
    const struct dirent *entry;
    struct kept_files all = {0};
    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        if (wndl_text_ends_with(entry->d_name, ".ring"))
            add_file(&all, folder, entry->d_name);
    }
    delete_old(folder, &all, days);
    free(all.files);
    closedir(dir);
}

void wndl_keep_dead(uint64_t days)
{
    char path[PATH_MAX];
    const int kept = wndl_folders_make(WNDL_FOLDERS_KEPT, path);
    if (kept < 0)
        return;
    for (unsigned i = 0; i < WNDL_FOLDERS_KEPT; i++) {
        const int folder = wndl_folders_open(i, path, true);
        if (folder >= 0)
            visit(folder, move_if_dead, kept);
    }
    close(kept);
    prune(days);
}
