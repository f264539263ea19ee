/* SPDX-License-Identifier: MIT */
/*
 * cmd_collect: `windlass collect`, which the runtime starts if only the
 * environment asks for a recording. It records a process that already runs, and
 * prints only errors, before the recording begins.
 */
#include "cli/core/command.h"
#include "cli/core/help.h"
#include "cli/record/options.h"
#include "cli/record/target.h"
#include "cli/record/unwind_tables.h"
#include "cli/shared/runtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct collect_options {
    struct wndl_record_options record; /* by WINDLASS_OPTIONS */
    uint64_t pid, notify;
    bool help_options;
};

static const struct wndl_option options[] = {
    {0, "pid", "PID", NULL, NULL, NULL, "the process to record", WNDL_OPT_COUNT,
        offsetof(struct collect_options, pid)},
    {0, "notify", "FD", NULL, NULL, NULL,
        "the descriptor to write the path of the socket to", WNDL_OPT_COUNT,
        offsetof(struct collect_options, notify)},
    {0, "help-options", NULL, NULL, NULL, NULL,
        "list the options for WINDLASS_OPTIONS on stderr", WNDL_OPT_FLAG,
        offsetof(struct collect_options, help_options)},
    {0},
};

static bool notify_starter(int fd, const char *socket)
{
    size_t size = strlen(socket);
    bool sent = write(fd, socket, size) == (ssize_t)size;
    close(fd);
    return sent;
}

/* Readers of the program's stderr must not wait for the collector. */
static void leave_errors(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0)
        (void)dup2(null, STDERR_FILENO);
}

static int collect(
    const struct collect_options *o, struct wndl_collector_request *request)
{
    struct wndl_collector *c = NULL;
    struct wndl_error err = {0};
    int exit_code;
    if (wndl_collector_choose(&request->engine, o->record.engine, &err) !=
            WNDL_OK ||
        wndl_collector_start(request, &c, &exit_code, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    bool whole = notify_starter((int)o->notify, wndl_collector_socket(c));
    leave_errors();
    wndl_collector_run_rest(c);
    whole &= wndl_collector_finish(c, &err) == WNDL_OK;
    wndl_collector_free(c);
    return whole ? WNDL_EXIT_OK : WNDL_EXIT_FAILURE;
}

static int run(const void *parsed, struct wndl_operands operands)
{
    (void)operands;
    const struct collect_options *o = parsed;
    char problem[WNDL_PROBLEM_SIZE];
    if (o->help_options) {
        wndl_help_env_options(stderr, wndl_record_option_rows);
        return WNDL_EXIT_OK;
    }
    if (o->pid == 0 || o->notify == 0)
        return wndl_cli_error("'windlass collect' is for internal use; see "
                              "'windlass record --help'");
    struct wndl_collector_request request = {
        .command = wndl_record_command_of((pid_t)o->pid), .pid = (pid_t)o->pid};
    if (wndl_record_has_targets(&o->record))
        return wndl_cli_error(
            WNDL_OPTIONS_ENV ": pid and tree are for the "
                             "command line, see 'windlass record --help'");
    if (!wndl_record_options_apply(&o->record, &request, problem))
        return wndl_cli_error(
            WNDL_OPTIONS_ENV ": %s; see " WNDL_OPTIONS_ENV "=help", problem);
    if (!wndl_record_tables_attach(&o->record.tables, &request))
        return WNDL_EXIT_FAILURE;
    char *runtime = wndl_runtime_find(wndl_runtime_name(o->record.heap), NULL);
    request.runtime = runtime;
    (void)fcntl((int)o->notify, F_SETFD, FD_CLOEXEC);
    int exit_code = collect(o, &request);
    free(runtime);
    return exit_code;
}

const struct wndl_command wndl_cmd_collect = {
    .name = "collect",
    .summary = "record a program that asks for it",
    .operands = "",
    .description = "A program starts this for itself when libwindlass-rt.so is "
                   "preloaded and WINDLASS_OPTIONS is set.",
    .options = options,
    .options_size = sizeof(struct collect_options),
    .env_options = wndl_record_option_rows,
    .min_operands = 0,
    .max_operands = 0,
    .run = run,
};
