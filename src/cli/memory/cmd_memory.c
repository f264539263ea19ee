/* SPDX-License-Identifier: MIT */
/* windlass memory: what processes report of their memory. */
#include "base/text.h"
#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/core/output.h"
#include "cli/memory/ask.h"
#include "cli/memory/show.h"
#include "in/memory_reports.h"
#include "out/memory_json.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct memory_options {
    const char *output;
    double timeout; /* seconds */
    double every;   /* seconds; 0: once */
    bool flat;
    bool verbose;
    bool json;
    bool anonymize;
    bool in_copy;
    bool no_pager;
};

static const struct wndl_option option_table[] = {
    {0, "flat", NULL, NULL, NULL, NULL,
        "print a line for each path, with processes side by side",
        WNDL_OPT_FLAG, offsetof(struct memory_options, flat)},
    {'v', "verbose", NULL, NULL, NULL, NULL,
        "print bytes and descriptions, and sum up nothing", WNDL_OPT_FLAG,
        offsetof(struct memory_options, verbose)},
    {0, "json", NULL, NULL, NULL, NULL,
        "write JSON in the layout of Firefox's memory reports", WNDL_OPT_FLAG,
        offsetof(struct memory_options, json)},
    {'o', "output", "OUT", NULL, NULL, NULL,
        "write that JSON to OUT, compressed if its name ends in .gz",
        WNDL_OPT_TEXT, offsetof(struct memory_options, output)},
    {0, "anonymize", NULL, NULL, NULL, NULL,
        "replace what reporters mark as private", WNDL_OPT_FLAG,
        offsetof(struct memory_options, anonymize)},
    {0, "timeout", "SECONDS", NULL, "5", NULL,
        "wait for the answer of a process for SECONDS at most", WNDL_OPT_REAL,
        offsetof(struct memory_options, timeout)},
    {0, "in-copy", NULL, NULL, NULL, NULL,
        "run the reporters in a copy of the process, which may crash or hang",
        WNDL_OPT_FLAG, offsetof(struct memory_options, in_copy)},
    {0, "every", "SECONDS", NULL, NULL, NULL,
        "ask again every SECONDS, until a process has ended", WNDL_OPT_REAL,
        offsetof(struct memory_options, every)},
    {0, "no-pager", NULL, NULL, NULL, NULL,
        "write directly to the terminal, not through $PAGER", WNDL_OPT_FLAG,
        offsetof(struct memory_options, no_pager)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass memory 4711", "print what a process says about its memory"},
    {"windlass memory --flat 4711 4712",
        "print two processes side by side, and their sum"},
    {"windlass memory --anonymize -o report.json.gz 4711",
        "write a file to be sent to the makers of the program"},
    {"windlass memory report.json.gz", "print such a file, or Firefox's"},
    {"windlass diff before.json.gz after.json.gz", "print what changed"},
    {NULL, NULL},
};

/* ---- where reports come from */

/* 0: the operand names a file. */
static pid_t pid_of(const char *text)
{
    if (strspn(text, "0123456789") != strlen(text))
        return 0;
    const unsigned long number = strtoul(text, NULL, 10);
    return number > INT_MAX ? INT_MAX : (pid_t)number;
}

static bool read_file(
    struct wndl_memory_reports *reports, const char *path, bool is_alone)
{
    struct wndl_input input;
    struct wndl_error err = {0};
    struct wndl_buf suffix;
    const size_t before = reports->rows.len;
    if (!wndl_input_open(&input, path))
        return false;
    wndl_buf_init(&suffix, wndl_mem_libc());
    if (!is_alone) {
        wndl_buf_text(&suffix, " in ");
        wndl_buf_text(&suffix, input.name);
    }
    wndl_buf_byte(&suffix, '\0');
    bool fine = !suffix.failed;
    if (!fine)
        wndl_cli_error("out of memory");
    else if (wndl_memory_reports_read(reports, (const char *)suffix.data,
                 input.bytes, &err) != WNDL_OK) {
        wndl_input_error(&input, &err);
        reports->rows.len = before; /* nothing of it is right alone */
        fine = false;
    }
    wndl_buf_free(&suffix);
    wndl_input_close(&input);
    return fine;
}

static void note_missing(const struct wndl_memory_reports *reports)
{
    for (size_t i = 0; i < reports->missing.len; i++) {
        const struct wndl_unreported *m = wndl_vec_at(&reports->missing, i);
        wndl_cli_error("what the reporter '%s' knows is missing: %s",
            (const char *)m->reporter.data, (const char *)m->why.data);
        wndl_cli_incomplete();
    }
}

static void note_time(struct wndl_memory_reports *reports)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) == 0)
        reports->time =
            (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Reads all operands. What is missing of them is said. */
static bool read_all(struct wndl_memory_reports *reports,
    const struct memory_options *o, struct wndl_operands operands)
{
    bool fine = true;
    for (size_t i = 0; i < operands.count; i++) {
        const char *text = operands.texts[i];
        const pid_t pid = pid_of(text);
        if (pid != 0)
            note_time(reports);
        fine &= *text != '\0' && pid != 0
                    ? wndl_memory_ask(reports, pid, o->timeout, o->in_copy)
                    : read_file(reports, text, operands.count == 1);
    }
    note_missing(reports);
    return fine;
}

/* ---- where they go */

static bool write_plain(FILE *out, void *context)
{
    return wndl_memory_json_write(out, context, false);
}

static bool write_zipped(FILE *out, void *context)
{
    return wndl_memory_json_write(out, context, true);
}

static int write_json(
    struct wndl_memory_reports *reports, const struct memory_options *o)
{
    const char *path = o->output == NULL ? "-" : o->output;
    const bool is_zipped = wndl_text_ends_with(path, ".gz");
    const struct wndl_output output = {
        .path = path,
        .write = is_zipped ? write_zipped : write_plain,
        .context = reports,
        .open_with = "'windlass memory' and about:memory of Firefox",
    };
    return wndl_output_write(&output);
}

static int give_out(
    struct wndl_memory_reports *reports, const struct memory_options *o)
{
    if (o->anonymize && !wndl_memory_reports_anonymize(reports))
        return wndl_cli_error("out of memory");
    if (o->json || o->output != NULL)
        return write_json(reports, o);
    const struct wndl_memory_show how = {
        .flat = o->flat,
        .verbose = o->verbose,
        .paged = !o->no_pager && o->every == 0,
    };
    return wndl_memory_show(reports, &how);
}

/* Shows the processes that answered even if others did not. */
static int show_once(
    const struct memory_options *o, struct wndl_operands operands)
{
    struct wndl_memory_reports reports;
    int exit_code = WNDL_EXIT_FAILURE;
    if (!wndl_memory_reports_init(&reports, wndl_mem_libc())) {
        wndl_cli_error("out of memory");
    } else {
        const bool fine = read_all(&reports, o, operands);
        if (fine || reports.rows.len != 0)
            exit_code = give_out(&reports, o);
        if (!fine)
            exit_code = WNDL_EXIT_FAILURE;
    }
    wndl_memory_reports_free(&reports);
    return exit_code;
}

static void print_time(void)
{
    char text[64];
    struct tm parts;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &parts) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) != 0)
        printf("%s\n\n", text);
}

static int show_again(
    const struct memory_options *o, struct wndl_operands operands)
{
    const double longest = 1e6;
    const double every = o->every > longest ? longest : o->every;
    const struct timespec pause = {.tv_sec = (time_t)every,
        .tv_nsec = (long)((every - (double)(time_t)every) * 1e9)};
    int exit_code = WNDL_EXIT_OK;
    for (;;) {
        if (!o->json)
            print_time();
        exit_code = show_once(o, operands);
        if (exit_code != WNDL_EXIT_OK || fflush(stdout) != 0)
            return exit_code;
        nanosleep(&pause, NULL);
        if (!o->json)
            putchar('\n');
    }
}

static int run_memory(const void *options, struct wndl_operands operands)
{
    const struct memory_options *o = options;
    if (o->every != 0 && o->output != NULL) {
        wndl_cli_error("--every writes to standard output, not with -o");
        return WNDL_EXIT_USAGE;
    }
    if (o->flat && (o->json || o->output != NULL)) {
        wndl_cli_error("--flat is for text, not with --json or -o");
        return WNDL_EXIT_USAGE;
    }
    return o->every != 0 ? show_again(o, operands) : show_once(o, operands);
}

const struct wndl_command wndl_cmd_memory = {
    .name = "memory",
    .group = WNDL_GROUP_LOOK,
    .summary = "show what processes report of their memory",
    .operands = "PID|FILE...",
    .description =
        "Asks running programs that use windlass/memory.h what their memory is "
        "used for, and prints their reports as trees, with the part of the "
        "heap that no report accounts for (heap-unclassified). A program need "
        "not be started by windlass for that. It answers its own user and "
        "root.\n\n"
        "FILE is such a report that was written with -o or by the program "
        "itself, or a memory report of Firefox; plain or compressed by "
        "gzip.\n\n"
        "Numbers with a ~ are estimates; (?!) marks an amount below zero, "
        "which "
        "means that something was reported twice. Parts of less than 1 % of a "
        "tree are summed up.\n\n"
        "The exit status is 1 if a process or one of its reporters did not "
        "answer; what did answer is shown.",
    .options = option_table,
    .options_size = sizeof(struct memory_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .run = run_memory,
};
