/* SPDX-License-Identifier: MIT */
#include "collect/loop/output.h"

#include "wndl/put_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

static void expand_one(
    struct wndl_buf *path, char letter, pid_t pid, const char *command)
{
    const char *slash = strrchr(command, '/');
    struct utsname host;
    if (letter == 'p')
        wndl_buf_printf(path, "%d", (int)pid);
    else if (letter == 'n')
        wndl_buf_text(path, slash == NULL ? command : slash + 1);
    else if (letter == 'h')
        wndl_buf_text(path, uname(&host) == 0 ? host.nodename : "host");
    else
        wndl_buf_byte(path, (uint8_t)letter);
}

static void expand(
    struct wndl_buf *path, const char *pattern, pid_t pid, const char *command)
{
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '%' || c[1] == '\0') {
            wndl_buf_byte(path, (uint8_t)*c);
            continue;
        }
        c++;
        expand_one(path, *c, pid, command);
    }
    wndl_buf_byte(path, '\0');
}

static const char *name_option(const struct wndl_run *run)
{
    const bool is_by_environment =
        run->request.pid != 0 && run->request.pid_count == 0;
    return is_by_environment ? "output=" : "-o";
}

static enum wndl_status cannot_create(
    const struct wndl_run *run, struct wndl_error *err)
{
    const int number = errno;
    wndl_error_set_file(err, run->path);
    return wndl_fail_errno(err, number,
        "cannot create the file; name another file with %s", name_option(run));
}

/* An earlier recording of this name is kept; other files are in the way. */
static enum wndl_status make_room(struct wndl_run *run, struct wndl_error *err)
{
    struct wndl_error why = {0};
    const enum wndl_status status =
        wndl_put_aside(run->path, wndl_recording_is_at, &run->kept_old, &why);
    if (status == WNDL_OK)
        return WNDL_OK;
    wndl_error_set_file(err, why.file);
    if (why.sys_errno != 0)
        return wndl_fail_errno(err, why.sys_errno, "%s", why.what);
    return wndl_fail(err, status, "%s; name another file with %s", why.what,
        name_option(run));
}

static enum wndl_status open_file(struct wndl_run *run, struct wndl_error *err)
{
    const enum wndl_status status = make_room(run, err);
    if (status != WNDL_OK)
        return status;
    run->file = open(run->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (run->file >= 0) {
        wndl_put_aside_hold(run->file);
        return WNDL_OK;
    }
    (void)cannot_create(run, err);
    if (run->kept_old)
        wndl_put_back(run->path);
    return WNDL_IO;
}

enum wndl_status wndl_output_open(struct wndl_run *run, struct wndl_error *err)
{
    struct wndl_buf path;
    wndl_buf_init(&path, wndl_mem_libc());
    const pid_t pid =
        run->request.pid_count != 0 ? run->request.pid : run->spawn.pid;
    expand(&path, run->request.file, pid, run->request.command[0]);
    if (path.failed) {
        wndl_buf_free(&path);
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    run->path = (char *)path.data;
    return open_file(run, err);
}

void wndl_output_flush(const struct wndl_processes *processes)
{
    struct wndl_run *run = processes->run;
    wndl_recording_flush(&run->recording);
    if (run->recording.status != WNDL_OK)
        wndl_processes_give_up(processes);
    else if (run->recording.tail.bytes == NULL &&
             run->recording.write_error == 0)
        run->safe = run->totals;
}
