/* SPDX-License-Identifier: MIT */
#include "cli/record/run.h"

#include "cli/core/command.h"
#include "cli/record/summary.h"
#include "cli/record/target.h"
#include "cli/record/unwind_tables.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/kept_tables.h"
#include "cli/shared/runtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int say_error(const struct wndl_error *err)
{
    wndl_cli_fail(err);
    return WNDL_EXIT_START;
}

/* Records the processes that the command left running, without a terminal. */
static _Noreturn void go_on_alone(struct wndl_collector *c)
{
    wndl_collector_run_rest(c);
    bool whole = wndl_collector_finish(c, NULL) == WNDL_OK;
    wndl_collector_free(c);
    _exit(whole ? WNDL_EXIT_OK : WNDL_EXIT_FAILURE);
}

/* Ends the recording, or hands it to another process and returns its pid. */
static pid_t finish_recording(
    struct wndl_collector *c, enum wndl_collector_stage stage)
{
    struct wndl_error err = {0};
    pid_t other = -1;
    if (stage == WNDL_COLLECTOR_LEFT)
        other = wndl_collector_detach(c);
    if (other == 0)
        go_on_alone(c);
    if (other < 0 && wndl_collector_finish(c, &err) != WNDL_OK)
        say_error(&err);
    return other;
}

/* Says at once what else nobody would see before the end. */
static void say_writing(const struct wndl_collector_writing *w)
{
    if (w->error == 0)
        wndl_cli_note("%s can be written again; %" PRIu64
                      " sample%s lost meanwhile",
            w->path, w->lost, w->lost == 1 ? " was" : "s were");
    else
        wndl_cli_note("cannot write %s: %s; samples are lost until it can be "
                      "written again",
            w->path, strerror(w->error));
}

static int record_to_the_end(
    const struct wndl_record_options *o, struct wndl_collector *c)
{
    struct wndl_collector_result result;
    struct wndl_record_progress progress = {0};
    if (o->verbose)
        wndl_collector_set_progress(c, wndl_record_say_progress, &progress);
    wndl_collector_warn(c, say_writing);
    enum wndl_collector_stage stage = wndl_collector_run(c);
    wndl_collector_set_progress(c, NULL, NULL);
    wndl_record_end_progress(&progress);
    pid_t other = finish_recording(c, stage);
    wndl_collector_result(c, &result);
    if (!o->quiet && stage == WNDL_COLLECTOR_STOPPED)
        wndl_cli_note("the recording has ended; the command keeps running, and "
                      "windlass waits for it");
    if (!o->quiet)
        wndl_record_say_summary(o, &result, other);
    if (stage == WNDL_COLLECTOR_STOPPED)
        return wndl_collector_wait(c);
    return result.exit_code;
}

static int record_command(
    const struct wndl_record_options *o, struct wndl_collector_request *request)
{
    struct wndl_collector *c = NULL;
    struct wndl_error err = {0};
    int exit_code;
    if (!o->no_samples && request->pid_count == 0 &&
        wndl_collector_choose(&request->engine, o->engine, &err) != WNDL_OK)
        return say_error(&err);
    if (!o->quiet && !o->no_samples)
        wndl_record_say_engine(&request->engine);
    if (wndl_collector_start(request, &c, &exit_code, &err) != WNDL_OK)
        say_error(&err);
    else
        exit_code = record_to_the_end(o, c);
    wndl_collector_free(c);
    return exit_code;
}

/* Nothing is loaded into processes that run already. */
static int record_targets(const struct wndl_record_options *o,
    const struct wndl_record_targets *targets, struct wndl_operands operands,
    struct wndl_collector_request *request)
{
    struct wndl_error err = {0};
    struct wndl_debug_dirs dirs;
    wndl_debug_dirs_init(&dirs, NULL);
    request->debug_dirs = dirs.list;
    if (wndl_record_targets_apply(targets, o, operands, request, &err) !=
        WNDL_OK)
        return say_error(&err);
    return record_command(o, request);
}

static int refuse(const char *problem, const char *command)
{
    wndl_cli_error("%s; see 'windlass %s --help'", problem, command);
    return WNDL_EXIT_USAGE;
}

int wndl_record_run(const struct wndl_record_options *o,
    struct wndl_operands operands, const char *command)
{
    struct wndl_collector_request request = {.command = operands.texts};
    struct wndl_record_targets targets;
    char problem[WNDL_PROBLEM_SIZE];
    const bool is_attached = wndl_record_has_targets(o);
    if (operands.count == 0 && !is_attached)
        return refuse("COMMAND is missing", command);
    if (!wndl_record_options_apply(o, &request, problem) ||
        (is_attached && !wndl_record_targets_read(&targets, o, problem)))
        return refuse(problem, command);
    if (!wndl_record_tables_attach(&o->tables, &request))
        return WNDL_EXIT_START;
    if (is_attached)
        return record_targets(o, &targets, operands, &request);
    char text[200];
    struct wndl_error err = {0};
    char *runtime = wndl_runtime_find(wndl_runtime_name(o->heap), &err);
    int exit_code = WNDL_EXIT_START;
    request.runtime = runtime;
    struct wndl_debug_dirs dirs;
    char kept_tables[PATH_MAX];
    wndl_debug_dirs_init(&dirs, NULL);
    request.debug_dirs = dirs.list;
    request.kept_tables = wndl_kept_tables_folder(kept_tables);
    if (runtime == NULL)
        wndl_cli_error("%s", wndl_error_text(&err, text, sizeof text));
    else if (!wndl_runtime_can_be_preloaded(runtime))
        wndl_cli_error("cannot preload '%s': the loader splits its list at "
                       "spaces and colons; install windlass in another folder",
            runtime);
    else
        exit_code = record_command(o, &request);
    free(runtime);
    return exit_code;
}
