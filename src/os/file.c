/* SPDX-License-Identifier: MIT */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum wndl_status map_descriptor(int fd, struct wndl_file *file,
    struct wndl_file_facts *facts, struct wndl_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return wndl_fail_errno(err, errno, "cannot examine the file");
    facts->owner = st.st_uid;
    facts->is_open = (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    facts->modified =
        st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    if (S_ISDIR(st.st_mode))
        return wndl_fail(err, WNDL_UNSUPPORTED, "a folder, not a file");
    if (!S_ISREG(st.st_mode))
        return wndl_fail(err, WNDL_UNSUPPORTED, "not a regular file");
    if (st.st_size == 0)
        return wndl_fail(err, WNDL_TRUNCATED, "the file is empty");
    if ((uint64_t)st.st_size > SIZE_MAX)
        return wndl_fail(err, WNDL_LIMIT, "too large for this address space");
    size_t size = (size_t)st.st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return wndl_fail_errno(err, errno, "cannot map the file");
    /* With huge pages, reading one byte would count as 2 MiB of memory. */
    (void)madvise(map, size, MADV_NOHUGEPAGE);
    file->bytes = (struct wndl_bytes){map, size};
    return WNDL_OK;
}

static enum wndl_status open_with(const char *path, int flags,
    struct wndl_file *file, struct wndl_file_facts *facts,
    struct wndl_error *err)
{
    struct stat st;
    file->bytes = (struct wndl_bytes){0};
    wndl_error_set_file(err, path);
    /* Checks first: merely opening a device may activate it, and some paths
     * come from files. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return wndl_fail(err, WNDL_UNSUPPORTED, "not a regular file");
    /* O_NONBLOCK: opening a FIFO without a writer would wait for one. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
    if (fd < 0)
        return wndl_fail_errno(err, errno, "cannot open the file");
    enum wndl_status status = map_descriptor(fd, file, facts, err);
    close(fd);
    return status;
}

enum wndl_status wndl_file_open(
    const char *path, struct wndl_file *file, struct wndl_error *err)
{
    struct wndl_file_facts facts;
    return open_with(path, 0, file, &facts, err);
}

enum wndl_status wndl_file_of_descriptor(
    int fd, struct wndl_file *file, struct wndl_error *err)
{
    struct wndl_file_facts facts;
    file->bytes = (struct wndl_bytes){0};
    return map_descriptor(fd, file, &facts, err);
}

enum wndl_status wndl_file_open_facts(const char *path, struct wndl_file *file,
    struct wndl_file_facts *facts, struct wndl_error *err)
{
    return open_with(path, 0, file, facts, err);
}

enum wndl_status wndl_file_open_itself(const char *path, struct wndl_file *file,
    struct wndl_file_facts *facts, struct wndl_error *err)
{
    return open_with(path, O_NOFOLLOW, file, facts, err);
}

void wndl_file_give_up(const struct wndl_file *file)
{
    if (file->bytes.size != 0)
        (void)madvise(
            (void *)file->bytes.data, file->bytes.size, MADV_DONTNEED);
}

void wndl_file_close(struct wndl_file *file)
{
    if (file->bytes.size != 0)
        munmap((void *)file->bytes.data, file->bytes.size);
    file->bytes = (struct wndl_bytes){0};
}

bool wndl_file_real_folder(const char *path, char *folder, size_t size)
{
    char real[PATH_MAX];
    if (realpath(path, real) == NULL)
        return false;
    size_t length = (size_t)(strrchr(real, '/') - real);
    if (length >= size)
        return false;
    memcpy(folder, real, length);
    folder[length] = '\0';
    return true;
}
