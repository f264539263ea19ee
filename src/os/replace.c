/* SPDX-License-Identifier: MIT */
#include "os/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Makes a file that no other process writes: O_EXCL, under one of many names.
 */
static int make_file(const char *path, char made[PATH_MAX])
{
    enum { TRIES = 16 };
    int fd = -1;
    errno = ENAMETOOLONG;
    for (unsigned i = 0; i < TRIES && fd < 0; i++) {
        if (snprintf(made, PATH_MAX, "%s.%ld.%u.new", path, (long)getpid(),
                i) >= PATH_MAX)
            return -1;
        fd = open(
            made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static enum wndl_status write_all(
    int fd, struct wndl_bytes bytes, struct wndl_error *err)
{
    size_t done = 0;
    while (done < bytes.size) {
        ssize_t n = write(fd, bytes.data + done, bytes.size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return wndl_fail_errno(
                err, n == 0 ? ENOSPC : errno, "cannot write to this folder");
        done += (size_t)n;
    }
    return WNDL_OK;
}

enum wndl_status wndl_file_replace(
    const char *path, struct wndl_bytes bytes, struct wndl_error *err)
{
    char made[PATH_MAX];
    int fd = make_file(path, made);
    if (fd < 0)
        return wndl_fail_errno(
            err, errno, "cannot create a file in this folder");
    enum wndl_status status = write_all(fd, bytes, err);
    close(fd);
    if (status == WNDL_OK && rename(made, path) != 0)
        status =
            wndl_fail_errno(err, errno, "cannot replace a file in this folder");
    if (status != WNDL_OK)
        unlink(made);
    return status;
}
