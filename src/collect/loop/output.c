/* SPDX-License-Identifier: MIT */
#include "collect/loop/output.h"

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

enum wndl_status wndl_output_open(struct wndl_run *run, struct wndl_error *err)
{
    struct wndl_buf path;
    wndl_buf_init(&path, wndl_mem_libc());
    expand(&path, run->request.file, run->spawn.pid, run->request.command[0]);
    if (path.failed) {
        wndl_buf_free(&path);
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    run->path = (char *)path.data;
    run->file = open(run->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (run->file >= 0)
        return WNDL_OK;
    wndl_error_set_file(err, run->path);
    if (run->request.pid != 0)
        return wndl_fail_errno(err, errno,
            "cannot create the file; name another file with output=");
    return wndl_fail_errno(
        err, errno, "cannot create the file; name another file with -o");
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
