/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "wndl/put_aside.h"

#include "rec/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_SIZE = 8 };

static bool begins_as_recording(int fd)
{
    uint8_t bytes[WNDL_FILE_HEADER_SIZE];
    struct wndl_chunk_reader reader;
    struct wndl_error err = {0};
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    const ssize_t size = pread(fd, bytes, sizeof bytes, 0);
    if (size < MAGIC_SIZE)
        return false;
    const enum wndl_status status = wndl_chunk_reader_init(
        &reader, (struct wndl_bytes){bytes, (size_t)size}, &err);
    /* Damage outside of any section means that the magic number is wrong. */
    return status != WNDL_MALFORMED || err.section[0] != '\0';
}

static int open_to_look(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool wndl_recording_is_at(const char *path)
{
    const int fd = open_to_look(path);
    if (fd < 0)
        return false;
    const bool is_one = begins_as_recording(fd);
    close(fd);
    errno = 0;
    return is_one;
}

void wndl_put_aside_hold(int fd)
{
    (void)flock(fd, LOCK_EX | LOCK_NB); /* some file systems have no locks */
}

static bool is_held(const char *path)
{
    const int fd = open_to_look(path);
    if (fd < 0)
        return false;
    const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* False: it does not fit. */
static bool name_aside(const char *path, char aside[PATH_MAX])
{
    const int size =
        snprintf(aside, PATH_MAX, "%s" WNDL_PUT_ASIDE_SUFFIX, path);
    return size > 0 && size < PATH_MAX;
}

/*
 * Removes an empty file that nobody writes to: a recorder that came to an end
 * at its start leaves one. There is nothing to keep of it.
 */
static bool remove_empty(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 &&
           !is_held(path) && unlink(path) == 0;
}

/* Whether the file `path` may be renamed or replaced; `what` it is to do. */
static enum wndl_status check_file(const char *path,
    bool (*is_ours)(const char *), const char *what, struct wndl_error *err)
{
    wndl_error_set_file(err, path);
    if (!is_ours(path))
        return wndl_fail(
            err, WNDL_IO, "%s: it is there, and it is no recording", what);
    if (is_held(path))
        return wndl_fail(
            err, WNDL_IO, "%s: another recorder is writing it", what);
    return WNDL_OK;
}

enum wndl_status wndl_put_aside(const char *path, bool (*is_ours)(const char *),
    bool *moved, struct wndl_error *err)
{
    char aside[PATH_MAX];
    *moved = false;
    if (!is_there(path) || remove_empty(path))
        return WNDL_OK;
    enum wndl_status status =
        check_file(path, is_ours, "cannot create the file", err);
    if (status == WNDL_OK && !name_aside(path, aside))
        status = wndl_fail_errno(err, ENAMETOOLONG, "cannot keep the old file");
    if (status == WNDL_OK && is_there(aside))
        status = check_file(aside, is_ours, "cannot keep an older file", err);
    if (status != WNDL_OK)
        return status;
    if (rename(path, aside) != 0)
        return wndl_fail_errno(err, errno, "cannot keep the old recording");
    *moved = true;
    return WNDL_OK;
}

void wndl_put_back(const char *path)
{
    char aside[PATH_MAX];
    if (name_aside(path, aside))
        (void)renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_NOREPLACE);
}
