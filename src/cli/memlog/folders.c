/* SPDX-License-Identifier: MIT */
#include "cli/memlog/folders.h"

#include "cli/core/command.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PRIVATE = 0700, OTHERS = 077 };

/* The path of a folder. False: it has none. */
static bool name_folder(unsigned which, char path[PATH_MAX])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int size = -1;
    if (which == 0 && runtime != NULL && runtime[0] == '/')
        size = snprintf(path, PATH_MAX, "%s/windlass", runtime);
    else if (which == 1)
        size = snprintf(
            path, PATH_MAX, "/dev/shm/windlass-%u", (unsigned)geteuid());
    else if (which == WNDL_FOLDERS_KEPT && state != NULL && state[0] == '/')
        size = snprintf(path, PATH_MAX, "%s/windlass/memlog", state);
    else if (which == WNDL_FOLDERS_KEPT && home != NULL && home[0] == '/')
        size =
            snprintf(path, PATH_MAX, "%s/.local/state/windlass/memlog", home);
    return size > 0 && size < PATH_MAX;
}

int wndl_folders_open(unsigned which, char path[PATH_MAX], bool is_quiet)
{
    struct stat st;
    if (!name_folder(which, path))
        return -1;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        (st.st_mode & OTHERS) == 0)
        return fd;
    if (!is_quiet)
        wndl_cli_note("left out the folder %s: it is not yours alone", path);
    close(fd);
    return -1;
}

/* Makes a folder and those above it. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, PRIVATE);
        *slash = '/';
    }
    (void)mkdir(path, PRIVATE);
}

int wndl_folders_make(unsigned which, char path[PATH_MAX])
{
    if (!name_folder(which, path))
        return -1;
    make_folders(path);
    return wndl_folders_open(which, path, false);
}

int wndl_folders_open_ring(
    int folder, const char *name, int flags, const char **problem)
{
    struct stat st;
    const int fd =
        openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *problem = fd < 0 && errno == ELOOP    ? "it is a symbolic link"
               : fd < 0 && errno != ENOENT ? strerror(errno)
                                           : NULL;
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        *problem = "it is not a regular file";
    else if (st.st_uid != geteuid())
        *problem = "it is another user's";
    else if ((st.st_mode & OTHERS) != 0)
        *problem = "others may read or write it";
    else if (st.st_nlink > 1)
        *problem = "it has another name, too";
    if (*problem == NULL)
        return fd;
    close(fd);
    return -1;
}

bool wndl_folders_is_this_boot(const struct wndl_memlog_ring *ring)
{
    char boot[sizeof ring->boot] = "";
    const int fd =
        open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, boot, sizeof boot - 4);
    if (fd >= 0)
        close(fd);
    return got == (ssize_t)(sizeof boot - 4) &&
           strncmp(boot, ring->boot, (size_t)got) == 0;
}

bool wndl_folders_anchor(
    const struct wndl_memlog_ring *ring, struct wndl_memlog_anchor *now)
{
    if (!wndl_folders_is_this_boot(ring))
        return false;
    now->monotonic = wndl_clock_monotonic_ns();
    now->ticks = now->monotonic;
#if defined(__x86_64__)
    if (ring->clock == WNDL_MEMLOG_TSC)
        now->ticks = __builtin_ia32_rdtsc();
#else
    if (ring->clock == WNDL_MEMLOG_TSC)
        return false;
#endif
    now->real = wndl_clock_realtime_ns();
    now->check = wndl_memlog_anchor_check(now);
    return true;
}
