/* SPDX-License-Identifier: MIT */
#include "cli/check/session.h"

#include "cli/check/line.h"
#include "cli/check/results.h"
#include "cli/check/wrap.h"
#include "cli/core/command.h"
#include "cli/valgrind/launch.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHARDS_MAX = 256 };

const char *wndl_check_tool_name(enum wndl_check_tool tool)
{
    static const char *const names[] = {"memcheck", "helgrind", "drd"};
    return names[tool];
}

/* ---- signals to us */

static volatile sig_atomic_t ending;

static void note_signal(int number)
{
    ending = number;
}

/* SIGTERM and SIGHUP end the command, and what was found is shown. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    ending = 0;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* ---- processes */

static void begin_shard(
    const struct wndl_check_part *part, const struct wndl_check_options *o)
{
    char text[24];
    if (o->shards == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu64, o->shards);
    setenv("GTEST_TOTAL_SHARDS", text, 1);
    snprintf(text, sizeof text, "%" PRIu64, part->shard);
    setenv("GTEST_SHARD_INDEX", text, 1);
}

/* With a time limit the command is a process group, to be ended as a whole. */
static pid_t start(struct wndl_check_session *s,
    const struct wndl_check_part *part, const struct sigaction old[2])
{
    char **line = wndl_check_line(s, part);
    if (line == NULL) {
        wndl_cli_error("out of memory");
        return -1;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        if (s->options->timeout != 0)
            setpgid(0, 0);
        begin_shard(part, s->options);
        if (s->options->wrap.count != 0)
            _exit(wndl_check_wrap(s, part, line, old));
        wndl_valgrind_restore_terminal(old);
        execv(line[0], line);
        _exit(WNDL_VALGRIND_EXIT_START);
    }
    if (pid < 0)
        wndl_cli_error("cannot start a process: %s", strerror(errno));
    return pid;
}

static void end_process(
    const struct wndl_check_session *s, pid_t pid, int number)
{
    kill(s->options->timeout != 0 ? -pid : pid, number);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) +
           (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/*
 * Waits for the command. After the time limit, or when we are to end, it gets
 * SIGTERM, upon which Valgrind still writes what it knows; then SIGKILL.
 */
static int wait_for(struct wndl_check_session *s, pid_t pid)
{
    const double grace = 10;
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    struct timespec begun, asked = {0};
    bool is_asked = false;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (;;) {
        const pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid || (done < 0 && errno != EINTR))
            return wndl_valgrind_exit_code(status);
        const bool is_late = s->options->timeout != 0 &&
                             seconds_since(&begun) > s->options->timeout;
        if (!is_asked && (is_late || ending != 0)) {
            is_asked = true;
            s->is_ended |= ending != 0;
            clock_gettime(CLOCK_MONOTONIC, &asked);
            end_process(s, pid, SIGTERM);
            if (is_late)
                wndl_check_note(&s->notes,
                    "the command ran for more than %g s (--timeout) and was "
                    "ended; what was found until then is in the list",
                    s->options->timeout);
        } else if (is_asked && seconds_since(&asked) > grace) {
            end_process(s, pid, SIGKILL);
        }
        nanosleep(&pause, NULL);
    }
}

static void keep_exit_code(struct wndl_check_session *s, int exit_code)
{
    if (s->exit_code == 0)
        s->exit_code = exit_code;
}

/* ---- runs */

static bool run_again(struct wndl_check_session *s,
    const struct wndl_check_part *part, const struct sigaction old[2])
{
    struct wndl_check_part again = *part;
    again.origins = true;
    const pid_t pid = start(s, &again, old);
    if (pid < 0)
        return false;
    wait_for(s, pid);
    return wndl_check_read_results(s, &again);
}

/* All shards at the same time; each of them again that has such values. */
static bool run_once(
    struct wndl_check_session *s, uint32_t run, const struct sigaction old[2])
{
    pid_t pids[SHARDS_MAX];
    const uint64_t shards = s->options->shards == 0 ? 1 : s->options->shards;
    struct wndl_check_part part = {.run = run};
    for (part.shard = 0; part.shard < shards; part.shard++)
        pids[part.shard] = start(s, &part, old);
    bool fine = true;
    for (part.shard = 0; part.shard < shards; part.shard++) {
        if (pids[part.shard] > 0)
            keep_exit_code(s, wait_for(s, pids[part.shard]));
        fine &= pids[part.shard] > 0;
    }
    s->runs++;
    for (part.shard = 0; fine && part.shard < shards; part.shard++) {
        const size_t before = s->check.errors.len;
        fine = wndl_check_read_results(s, &part);
        if (fine && !s->is_ended && wndl_check_needs_origins(s, before))
            fine = run_again(s, &part, old);
    }
    return fine;
}

static bool make_folder(struct wndl_check_session *s)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(s->folder, sizeof s->folder, "%s/windlass-check-XXXXXX",
        temporary == NULL || *temporary == '\0' ? "/tmp" : temporary);
    if (strchr(s->folder, '%') == NULL && mkdtemp(s->folder) != NULL)
        return true;
    wndl_cli_error("cannot make a folder for results: %s: %s", s->folder,
        strchr(s->folder, '%') == NULL ? strerror(errno)
                                       : "a per cent sign is in its name");
    s->folder[0] = '\0';
    return false;
}

static bool prepare(struct wndl_check_session *s)
{
    char version[64] = "";
    s->exit_code = WNDL_VALGRIND_EXIT_START;
    if (!wndl_valgrind_find(s->valgrind) ||
        !wndl_check_examine(&s->program, s->command[0], &s->notes) ||
        !make_folder(s))
        return false;
    if (s->options->wrap.count != 0)
        s->notes.len = 0; /* of a test runner, which is not checked */
    if (!wndl_valgrind_version(s->valgrind, version, sizeof version)) {
        wndl_cli_error("%s --version gives no answer", s->valgrind);
        return false;
    }
    if (strcmp(version, "valgrind-3.19.0") != 0)
        wndl_check_note(&s->notes,
            "%s is %s; this windlass knows the files of valgrind-3.19.0",
            s->valgrind, version);
    wndl_check_find_suppressions(s);
    s->exit_code = 0;
    return true;
}

bool wndl_check_session_run(struct wndl_check_session *session,
    const struct wndl_check_options *options, enum wndl_check_tool tool,
    char **command)
{
    struct sigaction old[2];
    const uint64_t runs = options->runs == 0 ? 1 : options->runs;
    *session = (struct wndl_check_session){
        .options = options, .tool = tool, .command = command};
    wndl_arena_init(&session->arena, wndl_mem_libc());
    wndl_vec_init(&session->notes, &session->arena, sizeof(const char *));
    if (!wndl_check_init(&session->check, wndl_mem_libc())) {
        session->exit_code = wndl_cli_error("out of memory");
        return false;
    }
    if (!prepare(session))
        return false;
    catch_signals();
    wndl_valgrind_ignore_terminal(old);
    bool fine = true;
    for (uint32_t run = 0; fine && run < runs && !session->is_ended; run++)
        fine = run_once(session, run, old);
    wndl_valgrind_restore_terminal(old);
    if (!fine && session->exit_code == 0)
        session->exit_code = WNDL_EXIT_FAILURE;
    return fine;
}

/* ---- the end */

static void remove_folder(const char *folder)
{
    DIR *entries = folder[0] == '\0' ? NULL : opendir(folder);
    struct dirent *entry;
    if (entries == NULL)
        return;
    while ((entry = readdir(entries)) != NULL)
        unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    rmdir(folder);
}

void wndl_check_session_close(struct wndl_check_session *session)
{
    remove_folder(session->folder);
    wndl_check_free(&session->check);
    wndl_arena_free(&session->arena);
}
