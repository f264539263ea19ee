/* SPDX-License-Identifier: MIT */
#include "cli/memlog/turn.h"

#include "cli/core/command.h"
#include "cli/memlog/folders.h"
#include "collect/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CONTROL_SIZE = 4096 };

/* Maps the `control` of a folder; the lock ends with the descriptor. */
static struct wndl_memlog_control *map_control(int folder, int *fd)
{
    *fd = openat(
        folder, "control", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0 || flock(*fd, LOCK_EX) != 0 ||
        ftruncate(*fd, CONTROL_SIZE) != 0)
        return NULL;
    void *at =
        mmap(NULL, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Removes processes that have ended. */
static void forget_dead(struct wndl_memlog_control *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->count && i < WNDL_MEMLOG_CONTROLLED; i++) {
        if (wndl_proc_is_process((pid_t)c->processes[i].process))
            c->processes[kept++] = c->processes[i];
    }
    c->count = kept;
}

static bool set_process(
    struct wndl_memlog_control *c, uint32_t process, bool is_on)
{
    uint32_t i = 0;
    while (i < c->count && c->processes[i].process != process)
        i++;
    if (i == WNDL_MEMLOG_CONTROLLED)
        return false;
    c->processes[i].process = process;
    c->processes[i].is_on = is_on;
    if (i == c->count)
        __atomic_store_n(&c->count, i + 1, __ATOMIC_RELEASE);
    return true;
}

/* UINT32_MAX is no turn: at that nothing is off. */
static void announce(struct wndl_memlog_control *c)
{
    const uint32_t next = c->turn + 1 == UINT32_MAX ? 0 : c->turn + 1;
    __atomic_store_n(&c->turn, next, __ATOMIC_RELEASE);
}

static int turn_process(
    struct wndl_memlog_control *c, const char *text, bool is_on)
{
    const unsigned long process = strspn(text, "0123456789") == strlen(text)
                                      ? strtoul(text, NULL, 10)
                                      : 0;
    if (process == 0 || process > INT_MAX ||
        !wndl_proc_is_process((pid_t)process))
        return wndl_cli_error("'%s' is not a running process", text);
    if (!set_process(c, (uint32_t)process, is_on))
        return wndl_cli_error("more than %d processes are turned on or off",
            WNDL_MEMLOG_CONTROLLED);
    return WNDL_EXIT_OK;
}

static int turn_in(int folder, struct wndl_operands operands, bool is_on)
{
    int fd = -1;
    int exit_code = WNDL_EXIT_OK;
    struct wndl_memlog_control *control = map_control(folder, &fd);
    if (control == NULL)
        exit_code = wndl_cli_error("cannot write 'control' in the folder of "
                                   "memory event logs: %s",
            strerror(errno));
    else
        forget_dead(control);
    for (size_t i = 1; i < operands.count && exit_code == WNDL_EXIT_OK; i++)
        exit_code = turn_process(control, operands.texts[i], is_on);
    if (control != NULL) {
        announce(control);
        munmap(control, CONTROL_SIZE);
    }
    if (fd >= 0)
        close(fd);
    return exit_code;
}

int wndl_turn(struct wndl_operands operands, bool is_on)
{
    char path[PATH_MAX];
    int exit_code = WNDL_EXIT_OK;
    bool is_done = false;
    if (operands.count == 1) {
        wndl_cli_error("name the processes; see 'windlass memlog --help'");
        return WNDL_EXIT_USAGE;
    }
    for (unsigned i = 0; i < WNDL_FOLDERS_KEPT; i++) {
        const int folder = wndl_folders_make(i, path);
        if (folder < 0)
            continue;
        is_done = true;
        if (exit_code == WNDL_EXIT_OK)
            exit_code = turn_in(folder, operands, is_on);
        close(folder);
    }
    return is_done ? exit_code
                   : wndl_cli_error("there is no folder for memory event logs: "
                                    "set XDG_RUNTIME_DIR");
}
