/* SPDX-License-Identifier: MIT */
#include "cli/record/target.h"

#include "cli/shared/target_check.h"
#include "collect/attach/event.h"
#include "collect/proc/proc.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARGUMENTS_MAX = 64 * 1024,
    ARGUMENTS = 1024,
    STACK_MIN = 1024,
    STOP_INTERVAL_NS = 5 * 1000 * 1000, /* the shortest between stops */
};

char **wndl_record_command_of(pid_t pid)
{
    static char text[ARGUMENTS_MAX + 1];
    static char *list[ARGUMENTS + 1];
    size_t size = wndl_proc_command(pid, text, ARGUMENTS_MAX);
    size_t count = 0;
    text[size] = '\0';
    for (size_t at = 0; at < size && count < ARGUMENTS;
         at += strlen(text + at) + 1)
        list[count++] = text + at;
    if (count == 0)
        list[count++] = text;
    list[count] = NULL;
    return list;
}

bool wndl_record_has_targets(const struct wndl_record_options *o)
{
    return o->pids.count + o->trees.count != 0;
}

/* ---- numbers */

/* Adds the number up to the next comma or the end. NULL: it is none. */
static const char *read_one(
    struct wndl_record_targets *targets, const char *text)
{
    char *end;
    const long number = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || number < 1 || number > INT_MAX ||
        (*end != ',' && *end != '\0') || targets->count == WNDL_TARGETS_MAX)
        return NULL;
    for (size_t i = 0; i < targets->count; i++) {
        if (targets->pids[i] == (pid_t)number)
            return end;
    }
    targets->pids[targets->count++] = (pid_t)number;
    return end;
}

static bool read_list(struct wndl_record_targets *targets, const char *option,
    const char *text, char *problem)
{
    const char *at = text;
    while ((at = read_one(targets, at)) != NULL && *at == ',')
        at++;
    if (at != NULL)
        return true;
    snprintf(problem, WNDL_PROBLEM_SIZE,
        "--%s takes numbers of processes, at most %d in all, separated by "
        "commas: '%s'",
        option, WNDL_TARGETS_MAX, text);
    return false;
}

static bool read_lists(struct wndl_record_targets *targets, const char *option,
    const struct wndl_option_list *list, char *problem)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!read_list(targets, option, list->texts[i], problem))
            return false;
    }
    return true;
}

/* ---- options */

static bool check(const struct wndl_record_options *o, char *problem)
{
    const bool fits = o->engine == WNDL_ENGINE_NONE ||
                      o->engine == WNDL_ENGINE_OUTSIDE || wndl_record_stops(o);
    const char *what = NULL;
    if (o->pids.count != 0 && o->trees.count != 0)
        what = "choose one of --pid and --tree";
    else if (o->heap)
        what = "the heap of a process that runs already cannot be recorded: "
               "leave out --heap";
    else if (!fits)
        what = "a process that runs already can be sampled with --engine "
               "auto, outside or stop only";
    else if (o->no_children)
        what = "--no-children is of no use with --pid and --tree";
    else if (o->stack_size != 0 && (o->stack_size < STACK_MIN ||
                                       o->stack_size > WNDL_ATTACH_STACK_MAX))
        what = "--stack-size takes 1024 to 65016 bytes";
    if (what != NULL)
        snprintf(problem, WNDL_PROBLEM_SIZE, "%s", what);
    return what == NULL;
}

bool wndl_record_targets_read(struct wndl_record_targets *targets,
    const struct wndl_record_options *o, char problem[WNDL_PROBLEM_SIZE])
{
    targets->count = 0;
    return check(o, problem) && read_lists(targets, "pid", &o->pids, problem) &&
           read_lists(targets, "tree", &o->trees, problem);
}

/* ---- the request */

enum wndl_status wndl_record_targets_apply(
    const struct wndl_record_targets *targets,
    const struct wndl_record_options *o, struct wndl_operands operands,
    struct wndl_collector_request *request, struct wndl_error *err)
{
    const bool has_events = o->engine == WNDL_ENGINE_NONE;
    for (size_t i = 0; i < targets->count; i++) {
        const enum wndl_status status =
            wndl_target_check(targets->pids[i], has_events, err);
        if (status != WNDL_OK)
            return status;
    }
    request->pid = targets->pids[0];
    request->pids = targets->pids;
    request->pid_count = targets->count;
    request->command = wndl_record_command_of(request->pid);
    request->meanwhile = operands.count == 0 ? NULL : operands.texts;
    request->only_first = o->trees.count == 0;
    if (wndl_record_stops(o)) {
        /* The thread stands still: its whole stack may be copied. */
        if (request->stack_grows)
            request->stack_size = WNDL_ATTACH_STACK_MAX;
        if (request->interval < STOP_INTERVAL_NS)
            request->interval = STOP_INTERVAL_NS;
    }
    request->engine.engine = has_events             ? WNDL_ENGINE_COPIES
                             : wndl_record_stops(o) ? WNDL_ENGINE_STOP
                                                    : WNDL_ENGINE_OUTSIDE;
    return WNDL_OK;
}
