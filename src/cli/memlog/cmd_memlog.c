/* SPDX-License-Identifier: MIT */
/* windlass memlog: reads the memory event logs of processes. */
#include "cli/core/command.h"
#include "cli/memlog/dump.h"
#include "cli/memlog/keep.h"
#include "cli/memlog/rings.h"
#include "cli/memlog/run.h"
#include "cli/memlog/turn.h"
#include "cli/memlog/watch.h"
#include "in/memlog.h"
#include "os/clock.h"
#include "out/event_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct memlog_options {
    const char *type;
    const char *process;
    const char *output;
    const char *with;
    struct wndl_option_choice role;
    double last; /* seconds; 0: all */
    uint64_t keep;
    uint64_t above;
    double interval; /* seconds */
    bool json;
    bool all;
};

static const struct wndl_option option_table[] = {
    {0, "json", NULL, NULL, NULL, NULL, "write a JSON object a line",
        WNDL_OPT_FLAG, offsetof(struct memlog_options, json)},
    {0, "type", "NAME", NULL, NULL, NULL, "show events of this type only",
        WNDL_OPT_TEXT, offsetof(struct memlog_options, type)},
    {0, "role", "ROLE",
        "other|collection|mapped|unmapped|code|discarded|loaded|action|idle|"
        "report",
        NULL, NULL, "show events of this role only", WNDL_OPT_CHOSEN,
        offsetof(struct memlog_options, role)},
    {0, "process", "NAME", NULL, NULL, NULL,
        "show events of processes of this name only", WNDL_OPT_TEXT,
        offsetof(struct memlog_options, process)},
    {0, "last", "SECONDS", NULL, NULL, NULL,
        "show events of the last SECONDS only", WNDL_OPT_REAL,
        offsetof(struct memlog_options, last)},
    {0, "keep", "DAYS", NULL, "7", NULL,
        "keep logs of processes that have ended for DAYS", WNDL_OPT_COUNT,
        offsetof(struct memlog_options, keep)},
    {'o', "output", "OUT", NULL, NULL, NULL,
        "of dump: write the recording to OUT", WNDL_OPT_TEXT,
        offsetof(struct memlog_options, output)},
    {0, "with", "RECORDING", NULL, NULL, NULL,
        "of dump: add the logs to a copy of this recording", WNDL_OPT_TEXT,
        offsetof(struct memlog_options, with)},
    {0, "above", "SIZE", NULL, "256k", NULL,
        "of run and watch: log mappings of at least SIZE", WNDL_OPT_SIZE,
        offsetof(struct memlog_options, above)},
    {0, "interval", "SECONDS", NULL, "0.1", NULL,
        "of run and watch: read processes every SECONDS, or as seldom as "
        "0.25 % or 1 % of a CPU allows",
        WNDL_OPT_REAL, offsetof(struct memlog_options, interval)},
    {0, "all", NULL, NULL, NULL, NULL, "watch all processes that one can see",
        WNDL_OPT_FLAG, offsetof(struct memlog_options, all)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass memlog list", "list the logs of this user's processes"},
    {"windlass memlog show --last 600", "show the events of ten minutes"},
    {"windlass memlog summary 4711", "say what made a process grow"},
    {"windlass memlog run -- ./server --port 8080",
        "log the calls for memory of a program that does not log"},
    {"windlass memlog enable",
        "print the line that lets a session's programs log their calls"},
    {NULL, NULL},
};

/* ---- which events */

/* Reads what the operands after the action name; all, if there are none. */
static bool read_rings(struct wndl_rings *rings, struct wndl_operands operands)
{
    bool is_whole = true;
    if (operands.count == 1)
        wndl_rings_read_all(rings, 0);
    for (size_t i = 1; i < operands.count; i++) {
        const char *text = operands.texts[i];
        const size_t before = rings->log.processes.len;
        if (strspn(text, "0123456789") != strlen(text)) {
            is_whole &= wndl_rings_read_file(rings, text);
            continue;
        }
        wndl_rings_read_all(rings, (uint32_t)strtoul(text, NULL, 10));
        if (rings->log.processes.len == before) {
            wndl_cli_error("process %s has no memory event log", text);
            is_whole = false;
        }
    }
    wndl_memlog_sort(&rings->log);
    return is_whole && !rings->failed;
}

static bool is_selected(const struct wndl_event_log *log,
    const struct wndl_event *event, const struct memlog_options *o)
{
    const struct wndl_event_type *type = wndl_event_type_of(log, event);
    const char *name = wndl_event_process_of(log, event)->name;
    return (o->type == NULL || strcmp(o->type, type->name) == 0) &&
           (o->process == NULL || strcmp(o->process, name) == 0) &&
           (!o->role.given || o->role.index == type->role);
}

/* ns since 1970 */
static uint64_t first_wanted(const struct memlog_options *o)
{
    const uint64_t now = wndl_clock_realtime_ns();
    const double span = o->last * 1e9;
    return o->last == 0 || span >= (double)now ? 0 : now - (uint64_t)span;
}

/* Leaves the events that the options select. */
static void keep_events(
    struct wndl_event_log *log, const struct memlog_options *o)
{
    struct wndl_event *events = log->events.data;
    const uint64_t first = first_wanted(o);
    size_t kept = 0;
    for (size_t i = 0; i < log->events.len; i++) {
        if (events[i].real >= first && is_selected(log, &events[i], o))
            events[kept++] = events[i];
    }
    log->events.len = kept;
}

/* Leaves the logs of processes of this name; events of others are gone. */
static bool keep_processes(struct wndl_event_log *log, const char *name)
{
    struct wndl_event_process *processes = log->processes.data;
    struct wndl_event *events = log->events.data;
    uint32_t kept = 0;
    uint32_t *index =
        wndl_arena_calloc(&log->arena, log->processes.len + 1, sizeof *index);
    if (index == NULL) {
        wndl_cli_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < log->processes.len; i++) {
        index[i] = kept;
        if (strcmp(processes[i].name, name) == 0)
            processes[kept++] = processes[i];
    }
    for (size_t i = 0; i < log->events.len; i++)
        events[i].process = index[events[i].process];
    log->processes.len = kept;
    return true;
}

/* Reads what the operands name, and leaves what the options select. */
static bool read_selected(struct wndl_rings *rings,
    const struct memlog_options *o, struct wndl_operands operands)
{
    const bool is_whole = read_rings(rings, operands);
    keep_events(&rings->log, o);
    return (o->process == NULL || keep_processes(&rings->log, o->process)) &&
           is_whole;
}

/* ---- list */

static void put_process(const struct wndl_event_process *p, bool json)
{
    struct wndl_buf line;
    char time[WNDL_EVENT_TIME_SIZE];
    wndl_buf_init(&line, wndl_mem_libc());
    if (json) {
        wndl_buf_printf(&line,
            "{\"pid\":%" PRIu32 ",\"alive\":%s,\"watcher\":%" PRIu32,
            p->process, p->is_alive ? "true" : "false", p->watcher);
        wndl_buf_printf(&line,
            ",\"size\":%" PRIu64 ",\"listed\":%" PRIu64
            ",\"overwritten\":%" PRIu64 ",\"dropped\":%" PRIu64
            ",\"given_up\":%" PRIu64 ",\"unfinished\":%" PRIu64
            ",\"damaged\":%" PRIu64 "}\n",
            p->size, p->listed, p->overwritten, p->dropped, p->given_up,
            p->unfinished, p->damaged);
    } else {
        wndl_buf_printf(&line,
            "%-8" PRIu32 " %-8s %-12s %9" PRIu64 " %11" PRIu64 " %8" PRIu64
            "  ",
            p->process, p->is_alive ? "runs" : "ended",
            wndl_event_time(p->first, false, time), p->listed, p->overwritten,
            p->dropped);
        wndl_event_put_tame(&line,
            (struct wndl_bytes){(const uint8_t *)p->name, strlen(p->name)});
        if (p->watcher != 0)
            wndl_buf_printf(&line, " (seen by %" PRIu32 ")", p->watcher);
        wndl_buf_byte(&line, '\n');
    }
    if (line.data != NULL)
        fwrite(line.data, 1, line.size, stdout);
    wndl_buf_free(&line);
}

static void show_list(
    const struct wndl_rings *rings, const struct memlog_options *o)
{
    if (!o->json)
        printf("%-8s %-8s %-12s %9s %11s %8s  %s\n", "pid", "state",
            "since (UTC)", "events", "overwritten", "dropped", "process");
    for (size_t i = 0; i < rings->log.processes.len; i++)
        put_process(wndl_vec_at(&rings->log.processes, i), o->json);
}

/* ---- show, follow */

static void write_line(
    const struct wndl_event_log *log, const struct wndl_event *event, bool json)
{
    struct wndl_buf line;
    wndl_buf_init(&line, wndl_mem_libc());
    if (json)
        wndl_event_put_json(&line, log, event);
    else
        wndl_event_put_line(&line, log, event);
    if (line.data != NULL && !line.failed)
        fwrite(line.data, 1, line.size, stdout);
    wndl_buf_free(&line);
}

/* Says for each process what its log lacks. */
static void note_losses(const struct wndl_event_process *p)
{
    if (p->damaged != 0)
        wndl_cli_note("%s[%" PRIu32 "]: %" PRIu64 " slots are damaged", p->name,
            p->process, p->damaged);
    if (p->dropped != 0)
        wndl_cli_note("%s[%" PRIu32 "]: %" PRIu64 " events found no slot",
            p->name, p->process, p->dropped);
    if (!p->has_rate)
        wndl_cli_note("%s[%" PRIu32 "]: the rate of its clock is not known; "
                      "the order of its events is",
            p->name, p->process);
    if (p->set_back != 0)
        wndl_cli_note("%s[%" PRIu32 "]: the clock was set back by %.1f s "
                      "meanwhile; events from before and after it are mixed",
            p->name, p->process, (double)p->set_back / 1e9);
    for (size_t i = 0; i < p->types.len; i++) {
        const struct wndl_event_type *type = wndl_vec_at(&p->types, i);
        if (type->kept_back != 0)
            wndl_cli_note("%s[%" PRIu32 "]: %" PRIu64
                          " events of %s were kept back, above %" PRIu32
                          " a second",
                p->name, p->process, type->kept_back, type->name, type->limit);
    }
}

static void show_events(
    const struct wndl_rings *rings, const struct memlog_options *o)
{
    const struct wndl_event *events = rings->log.events.data;
    for (size_t i = 0; i < rings->log.events.len; i++)
        write_line(&rings->log, &events[i], o->json);
    for (size_t i = 0; i < rings->log.processes.len; i++)
        note_losses(wndl_vec_at(&rings->log.processes, i));
}

/* A process's summary, by its log in `log`. */
struct summed {
    size_t index;
    struct wndl_event_summary summary;
};

static uint64_t growth_of(const struct summed *s)
{
    return s->summary.high - s->summary.low;
}

/* The largest growth comes first. */
static int compare_growth(const void *a, const void *b)
{
    const struct summed *x = a;
    const struct summed *y = b;
    if (growth_of(x) != growth_of(y))
        return growth_of(x) > growth_of(y) ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Whether another log of the process, which is of `count`, stands for it. */
static bool is_summed(const struct wndl_event_log *log,
    const struct summed *all, size_t count, const struct wndl_event_process *p)
{
    while (count-- > 0) {
        if (wndl_event_is_same_process(
                wndl_vec_at(&log->processes, all[count].index), p))
            return true;
    }
    return false;
}

/* Adds summaries of processes, by their own logs or by those of watchers. */
static size_t sum_up(const struct wndl_event_log *log, bool is_watched,
    struct summed *all, size_t count)
{
    for (size_t i = 0; i < log->processes.len; i++) {
        const struct wndl_event_process *p = wndl_vec_at(&log->processes, i);
        if ((p->watcher != 0) != is_watched || is_summed(log, all, count, p))
            continue;
        all[count].index = i;
        wndl_event_summarize(log, (uint32_t)i, &all[count++].summary);
    }
    return count;
}

static void show_summary(const struct wndl_event_process *p,
    const struct wndl_event_summary *summary, bool json)
{
    struct wndl_buf line;
    wndl_buf_init(&line, wndl_mem_libc());
    if (json)
        wndl_event_put_summary_json(&line, p, summary);
    else
        wndl_event_put_summary(&line, p, summary);
    if (line.data != NULL && !line.failed)
        fwrite(line.data, 1, line.size, stdout);
    wndl_buf_free(&line);
}

static void show_summaries(
    const struct wndl_rings *rings, const struct memlog_options *o)
{
    struct summed *all = calloc(rings->log.processes.len + 1, sizeof *all);
    if (all == NULL) {
        wndl_cli_error("out of memory");
        wndl_cli_incomplete();
        return;
    }
    size_t count = sum_up(&rings->log, false, all, 0);
    count = sum_up(&rings->log, true, all, count);
    qsort(all, count, sizeof *all, compare_growth);
    for (size_t i = 0; i < count; i++)
        show_summary(wndl_vec_at(&rings->log.processes, all[i].index),
            &all[i].summary, o->json);
    free(all);
}

/*
 * An event that was shown: an event's place in its ring is used once. A process
 * has a ring of its own, one from before it executed another program, and those
 * of watchers.
 */
struct shown {
    uint64_t start; /* of the process */
    uint64_t first; /* of the ring */
    uint64_t number;
    uint32_t process;
    uint32_t watcher;
};

static int compare_shown(const void *a, const void *b)
{
    const struct shown *x = a;
    const struct shown *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->watcher != y->watcher)
        return x->watcher < y->watcher ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

struct followed {
    struct shown *all;
    size_t count;
};

static struct shown key_of(
    const struct wndl_event_log *log, const struct wndl_event *event)
{
    const struct wndl_event_process *p = wndl_event_process_of(log, event);
    return (struct shown){
        p->start, p->first, event->number, p->process, p->watcher};
}

static void show_new(const struct wndl_rings *rings,
    const struct memlog_options *o, const struct followed *before,
    bool is_first)
{
    const struct wndl_event *events = rings->log.events.data;
    for (size_t i = 0; i < rings->log.events.len && !is_first; i++) {
        const struct shown key = key_of(&rings->log, &events[i]);
        if (is_selected(&rings->log, &events[i], o) &&
            (before->count == 0 || bsearch(&key, before->all, before->count,
                                       sizeof key, compare_shown) == NULL))
            write_line(&rings->log, &events[i], o->json);
    }
}

static bool remember(const struct wndl_rings *rings, struct followed *shown)
{
    const struct wndl_event *events = rings->log.events.data;
    const size_t count = rings->log.events.len;
    free(shown->all);
    *shown = (struct followed){malloc((count + 1) * sizeof *shown->all), count};
    if (shown->all == NULL) {
        wndl_cli_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        shown->all[i] = key_of(&rings->log, &events[i]);
    qsort(shown->all, count, sizeof *shown->all, compare_shown);
    return true;
}

/* Until standard output is closed, or the user interrupts. */
static int follow(const struct memlog_options *o, struct wndl_operands operands)
{
    const struct timespec pause = {.tv_nsec = 250 * 1000 * 1000};
    struct followed shown = {0};
    bool is_first = true;
    bool goes_on = true;
    while (goes_on) {
        struct wndl_rings rings;
        wndl_rings_init(&rings);
        rings.is_quiet = !is_first;
        goes_on = read_rings(&rings, operands);
        show_new(&rings, o, &shown, is_first);
        goes_on &= fflush(stdout) == 0 && remember(&rings, &shown);
        wndl_rings_free(&rings);
        is_first = false;
        if (goes_on)
            nanosleep(&pause, NULL);
    }
    free(shown.all);
    return WNDL_EXIT_FAILURE;
}

/* ---- dump */

static int dump(const struct memlog_options *o, struct wndl_operands operands)
{
    struct wndl_rings rings;
    if (o->output == NULL) {
        wndl_cli_error("dump needs -o OUT; see 'windlass memlog --help'");
        return WNDL_EXIT_USAGE;
    }
    wndl_rings_init(&rings);
    const bool is_whole = read_selected(&rings, o, operands);
    const int exit_code = wndl_memlog_dump(&rings.log, o->output, o->with);
    wndl_rings_free(&rings);
    return is_whole ? exit_code : WNDL_EXIT_FAILURE;
}

/* ---- the command */

static int read_and_show(const struct memlog_options *o,
    struct wndl_operands operands,
    void (*show)(const struct wndl_rings *, const struct memlog_options *))
{
    struct wndl_rings rings;
    wndl_rings_init(&rings);
    const bool is_whole = read_selected(&rings, o, operands);
    show(&rings, o);
    wndl_rings_free(&rings);
    return is_whole ? WNDL_EXIT_OK : WNDL_EXIT_FAILURE;
}

static struct wndl_watch_request watch_request(
    const struct memlog_options *o, struct wndl_operands pids)
{
    return (struct wndl_watch_request){.is_all = o->all,
        .pids = pids,
        .interval = o->interval,
        .above = o->above,
        .keep = o->keep};
}

static int run_command(
    const struct memlog_options *o, struct wndl_operands operands)
{
    struct wndl_watch_request request =
        watch_request(o, (struct wndl_operands){0});
    return wndl_memlog_run(operands.texts + 1, &request);
}

static int watch_processes(
    const struct memlog_options *o, struct wndl_operands operands)
{
    const struct wndl_watch_request request = watch_request(
        o, (struct wndl_operands){operands.texts + 1, operands.count - 1});
    return wndl_watch_run(&request);
}

static int run_memlog(const void *parsed, struct wndl_operands operands)
{
    const struct memlog_options *o = parsed;
    const char *action = operands.texts[0];
    wndl_keep_dead(o->keep);
    if (strcmp(action, "list") == 0)
        return read_and_show(o, operands, show_list);
    if (strcmp(action, "show") == 0)
        return read_and_show(o, operands, show_events);
    if (strcmp(action, "summary") == 0)
        return read_and_show(o, operands, show_summaries);
    if (strcmp(action, "follow") == 0)
        return follow(o, operands);
    if (strcmp(action, "on") == 0 || strcmp(action, "off") == 0)
        return wndl_turn(operands, action[1] == 'n');
    if (strcmp(action, "dump") == 0)
        return dump(o, operands);
    if (strcmp(action, "run") == 0)
        return run_command(o, operands);
    if (strcmp(action, "watch") == 0)
        return watch_processes(o, operands);
    if (strcmp(action, "enable") == 0)
        return wndl_memlog_enable();
    wndl_cli_error(
        "'%s' is not an action; see 'windlass memlog --help'", action);
    return WNDL_EXIT_USAGE;
}

const struct wndl_command wndl_cmd_memlog = {
    .name = "memlog",
    .group = WNDL_GROUP_LOOK,
    .summary = "show what happened to the memory of processes",
    .operands = "ACTION [PID|FILE...|-- COMMAND [ARG...]]",
    .description =
        "Reads the memory event logs that programs with windlass/memlog.h, "
        "'run' and 'watch' write: of all processes of this user, or of those "
        "that PID or FILE "
        "name. Logs of processes that have ended are kept. ACTION is one of:"
        "\n\n"
        "list: list the logs, with what each has and what it lost.\n\n"
        "show: show the events of all processes in the order of time (UTC), a "
        "line an event.\n\n"
        "summary: say for each process how it grew, and what the events say "
        "about the cause.\n\n"
        "follow: show new events as they come, until interrupted.\n\n"
        "dump: write the logs as a recording, for 'windlass view' and "
        "'windlass "
        "export -f firefox': events are marks of their threads, and the sizes "
        "of a process are a "
        "curve. With --with they stand under the profile that RECORDING is.\n\n"
        "on, off: let the running processes PID begin or stop to log. It holds "
        "until they end.\n\n"
        "run: run a COMMAND that does not log by itself. Its calls of mmap, "
        "munmap, mremap, brk, madvise and malloc_trim, its threads, forks and "
        "programs that it starts are logged by an object that is preloaded; "
        "their sizes and the steps of their mappings from outside, until "
        "COMMAND ends. windlass exits with its exit status.\n\n"
        "watch: log from outside how the processes PID, or all, grow and "
        "shrink: RSS, PSS, swap, page faults, steps of mappings, limits of "
        "their control groups, and the pressure on memory.\n\n"
        "enable: print the line that lets the programs of a shell or session "
        "log their calls.",
    .options = option_table,
    .options_size = sizeof(struct memlog_options),
    .examples = examples,
    .actions = "list|show|summary|follow|dump|on|off|run|watch|enable",
    .action_at = 0,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run_memlog,
};
