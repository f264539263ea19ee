/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "cli/top/recorder.h"

#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static enum wndl_status make_folder(
    struct wndl_top_recorder *r, struct wndl_error *err)
{
    const char *temporary = getenv("TMPDIR");
    if (temporary == NULL || strlen(temporary) > WNDL_TOP_PATH_SIZE / 2)
        temporary = "/tmp";
    snprintf(r->folder, sizeof r->folder, "%s/windlass-top.XXXXXX", temporary);
    if (mkdtemp(r->folder) == NULL) {
        int number = errno;
        r->folder[0] = '\0';
        return wndl_fail_errno(
            err, number, "cannot make a folder in %s", temporary);
    }
    snprintf(r->path, sizeof r->path, "%.100s/top.wndl", r->folder);
    snprintf(r->said, sizeof r->said, "%.100s/said", r->folder);
    return WNDL_OK;
}

static bool add_word(struct wndl_vec *words, const char *word)
{
    const char **slot = wndl_vec_push(words);
    if (slot != NULL)
        *slot = word;
    return slot != NULL;
}

/* windlass record -o PATH ... -- COMMAND */
static bool make_words(struct wndl_vec *words, const char *path,
    const char *rate, const struct wndl_top_request *request)
{
    bool made = add_word(words, "windlass") && add_word(words, "record") &&
                add_word(words, "-o") && add_word(words, path) &&
                add_word(words, "-r") && add_word(words, rate);
    if (made && request->of_heap)
        made = add_word(words, "--heap") &&
               add_word(words, "--snapshot-every") && add_word(words, "1");
    if (made && request->pids != NULL)
        made = add_word(words, "-p") && add_word(words, request->pids);
    if (made && request->command.count != 0)
        made = add_word(words, "--");
    for (size_t i = 0; i < request->command.count && made; i++)
        made = add_word(words, request->command.texts[i]);
    return made && add_word(words, NULL);
}

/* The name that ps shows is that of the file. */
static const char *own_path(char path[PATH_MAX])
{
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[size < 0 ? 0 : size] = '\0';
    return access(path, X_OK) == 0 ? path : "/proc/self/exe";
}

/* It has no part in the keys of the terminal, nor in our blocked signals. */
static int spawn(struct wndl_top_recorder *r, char *const *words)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    char path[PATH_MAX];
    sigemptyset(&none);
    int number = posix_spawn_file_actions_init(&files);
    if (number != 0)
        return number;
    number = posix_spawnattr_init(&how);
    if (number == 0) {
        posix_spawn_file_actions_addopen(
            &files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(
            &files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, r->said,
            O_WRONLY | O_CREAT | O_APPEND, 0600);
        posix_spawnattr_setsigmask(&how, &none);
        posix_spawnattr_setpgroup(&how, 0);
        posix_spawnattr_setflags(
            &how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        number =
            posix_spawn(&r->pid, own_path(path), &files, &how, words, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return number;
}

enum wndl_status wndl_top_recorder_start(struct wndl_top_recorder *r,
    const struct wndl_top_request *request, struct wndl_error *err)
{
    *r = (struct wndl_top_recorder){0};
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    enum wndl_status status = make_folder(r, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_arena arena;
    struct wndl_vec words;
    char rate[32];
    snprintf(rate, sizeof rate, "%llu", (unsigned long long)request->rate);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&words, &arena, sizeof(const char *));
    if (!make_words(&words, r->path, rate, request)) {
        status = wndl_fail(err, WNDL_NOMEM, "out of memory");
    } else {
        int number = spawn(r, (char *const *)words.data);
        if (number != 0)
            status = wndl_fail_errno(err, number, "cannot start the recorder");
        r->group = r->pid;
    }
    wndl_arena_free(&arena);
    return status;
}

static bool runs_our_program(pid_t pid)
{
    char path[32];
    struct stat ours, its;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat("/proc/self/exe", &ours) == 0 && stat(path, &its) == 0 &&
           ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

/*
 * Where processes outlive COMMAND, the recorder leaves them to another process,
 * which becomes our child when the recorder ends. 0: there is none.
 */
static pid_t find_successor(void)
{
    char path[64];
    int pid;
    pid_t found = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "re");
    while (children != NULL && found == 0 && fscanf(children, "%d", &pid) == 1)
        found = runs_our_program(pid) ? pid : 0;
    if (children != NULL)
        (void)fclose(children);
    return found;
}

bool wndl_top_recorder_ended(struct wndl_top_recorder *r)
{
    pid_t ended;
    int status;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended != r->pid)
            continue;
        r->status = status;
        r->pid = 0;
    }
    return r->pid == 0 && find_successor() == 0;
}

/* It passes the first signal on to its command, which is in its group. */
void wndl_top_recorder_stop(struct wndl_top_recorder *r)
{
    static const struct timespec step = {.tv_nsec = 20000000};
    enum { STEPS = 250, AGAIN = 100 };
    for (int i = 0; i < STEPS && !wndl_top_recorder_ended(r); i++) {
        const pid_t recorder = r->pid != 0 ? r->pid : find_successor();
        if (i % AGAIN == 0 && recorder > 0)
            (void)kill(recorder, SIGTERM);
        nanosleep(&step, NULL);
    }
    if (r->pid == 0)
        return;
    (void)kill(-r->group, SIGKILL);
    (void)waitpid(r->pid, &r->status, 0);
    r->pid = 0;
}

void wndl_top_recorder_forget_words(const struct wndl_top_recorder *r)
{
    (void)!truncate(r->said, 0);
}

static bool copy_bytes(int from, int to)
{
    char part[1 << 16];
    ssize_t size;
    while ((size = read(from, part, sizeof part)) > 0) {
        for (ssize_t done = 0; done < size;) {
            ssize_t wrote = write(to, part + done, (size_t)(size - done));
            if (wrote < 0)
                return false;
            done += wrote;
        }
    }
    return size == 0;
}

enum wndl_status wndl_top_recorder_reserve(
    const char *to, struct wndl_error *err)
{
    int into = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (into >= 0) {
        close(into);
        return WNDL_OK;
    }
    wndl_error_set_file(err, to);
    return wndl_fail_errno(err, errno, "cannot write");
}

enum wndl_status wndl_top_recorder_copy(const struct wndl_top_recorder *r,
    const char *to, bool is_reserved, struct wndl_error *err)
{
    int from = open(r->path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return wndl_fail(err, WNDL_NOT_FOUND, "nothing is recorded yet");
    int into = open(
        to, O_WRONLY | O_CREAT | O_CLOEXEC | (is_reserved ? 0 : O_EXCL), 0600);
    bool copied = into >= 0 && copy_bytes(from, into);
    int number = errno;
    if (into >= 0)
        copied = close(into) == 0 && copied;
    close(from);
    wndl_error_set_file(err, to);
    return copied ? WNDL_OK : wndl_fail_errno(err, number, "cannot write");
}

void wndl_top_recorder_say(const struct wndl_top_recorder *r)
{
    int from = open(r->said, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return;
    (void)copy_bytes(from, STDERR_FILENO);
    close(from);
}

void wndl_top_recorder_remove(const struct wndl_top_recorder *r)
{
    if (r->folder[0] == '\0')
        return;
    (void)unlink(r->path);
    (void)unlink(r->said);
    (void)rmdir(r->folder);
}
