/* SPDX-License-Identifier: MIT */
/* windlass stack: the stacks of a process now, or of a core file. */
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/symbol_options.h"
#include "cli/stack/show.h"
#include "rec/filter.h"
#include "snapshot/core.h"
#include "snapshot/live.h"
#include "symbolize/files/debuginfod.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FRAMES = 1000 * 1000 };

struct stack_options {
    const char *core; /* NULL: a process that runs */
    struct wndl_option_list threads;
    bool json, raw;
    double wait;  /* seconds */
    double every; /* seconds; 0: once */
    uint64_t max_frames;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {0, "core", "CORE", NULL, NULL, NULL,
        "show the stacks in this core file instead, or in the last one that "
        "coredumpctl has of the process of that number",
        WNDL_OPT_TEXT, offsetof(struct stack_options, core)},
    {'t', "thread", "THREAD", NULL, NULL, NULL,
        "show the threads with this number, or with this text in their name "
        "('main' is the first one); may be repeated",
        WNDL_OPT_LIST, offsetof(struct stack_options, threads)},
    {0, "every", "SECONDS", NULL, NULL, NULL,
        "repeat until the process ends or Ctrl-C, and show the threads that "
        "have changed",
        WNDL_OPT_REAL, offsetof(struct stack_options, every)},
    {0, "wait", "SECONDS", NULL, "1", NULL,
        "wait so long for a running thread to stop", WNDL_OPT_REAL,
        offsetof(struct stack_options, wait)},
    {0, "max-frames", "N", NULL, "1000", NULL,
        "cut stacks that are deeper, at the outer end", WNDL_OPT_COUNT,
        offsetof(struct stack_options, max_frames)},
    {0, "raw", NULL, NULL, NULL, NULL,
        "print addresses alone, as lines that 'windlass fix' names",
        WNDL_OPT_FLAG, offsetof(struct stack_options, raw)},
    {0, "json", NULL, NULL, NULL, NULL, "print JSON for programs",
        WNDL_OPT_FLAG, offsetof(struct stack_options, json)},
    WNDL_SYMBOL_OPTION_ROWS(struct stack_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass stack $(pidof server)", "show what a server does now"},
    {"windlass stack --thread worker --every 1 $(pidof server)",
        "watch the threads that have 'worker' in their name"},
    {"windlass stack --core core.4711 ./server",
        "show where a server has crashed"},
    {NULL, NULL},
};

/* ---- which threads */

struct wanted {
    const struct wndl_option_list *patterns;
    pid_t pid;
    size_t seen;
};

static bool is_number(const char *text, uint32_t number)
{
    char *end;
    return text[0] >= '0' && text[0] <= '9' &&
           strtoul(text, &end, 10) == number && *end == '\0';
}

static bool is_wanted(void *context, uint32_t tid, const char *name)
{
    struct wanted *wanted = context;
    const struct wndl_filter_thread thread = {(int)wanted->pid, (int)tid, name};
    bool found = wanted->patterns->count == 0;
    for (size_t i = 0; i < wanted->patterns->count && !found; i++)
        found = is_number(wanted->patterns->texts[i], tid) ||
                wndl_filter_has(wanted->patterns->texts[i], &thread);
    wanted->seen += found;
    return found;
}

/* ---- one look */

struct run {
    const struct stack_options *options;
    struct wndl_symbol_sources sources;
    struct wndl_kept_symbols kept; /* of --every */
    struct wanted wanted;
    struct wndl_live live;
    struct wndl_snapshot now, before; /* `before`: of the last look */
    bool has_before;
};

static bool is_same_stack(
    const struct wndl_snapshot_thread *a, const struct wndl_snapshot_thread *b)
{
    if (a->tid != b->tid || a->state != b->state ||
        a->frame_count != b->frame_count || strcmp(a->name, b->name) != 0)
        return false;
    for (size_t i = 0; i < a->frame_count; i++) {
        if (a->frames[i].address != b->frames[i].address)
            return false;
    }
    return (a->trouble == NULL) == (b->trouble == NULL);
}

static bool has_changed(
    const struct run *run, const struct wndl_snapshot_thread *thread)
{
    for (size_t i = 0; run->has_before && i < run->before.threads.len; i++) {
        if (is_same_stack(wndl_vec_at(&run->before.threads, i), thread))
            return false;
    }
    return true;
}

static bool *find_changed(struct run *run)
{
    size_t count = run->now.threads.len;
    bool *changed = wndl_arena_calloc(&run->now.arena, count + 1, 1);
    for (size_t i = 0; changed != NULL && i < count; i++)
        changed[i] = has_changed(run, wndl_vec_at(&run->now.threads, i));
    return changed;
}

static void mark_incomplete(const struct wndl_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->threads.len; i++) {
        const struct wndl_snapshot_thread *thread =
            wndl_vec_at(&snapshot->threads, i);
        if (thread->trouble != NULL)
            wndl_cli_incomplete();
    }
}

/* The output lacks what the core has lost. */
static void say_damage(const struct wndl_snapshot *snapshot)
{
    if (snapshot->damage.status == WNDL_OK)
        return;
    wndl_cli_fail(&snapshot->damage);
    wndl_cli_incomplete();
}

static int print(struct run *run, const struct wndl_stack_names *names)
{
    struct wndl_buf out;
    const struct wndl_stack_show show = {.snapshot = &run->now,
        .names = names,
        .is_changed = run->has_before ? find_changed(run) : NULL};
    wndl_buf_init(&out, wndl_mem_libc());
    if (run->options->json)
        wndl_stack_json(&show, &out);
    else
        wndl_stack_text(&show, &out);
    bool failed = out.failed;
    if (!failed && run->options->json)
        fwrite(out.data, 1, out.size, stdout);
    else if (!failed) {
        wndl_buf_byte(&out, '\0');
        if (!out.failed)
            wndl_cli_put_tame(stdout, (const char *)out.data);
    }
    wndl_buf_free(&out);
    mark_incomplete(&run->now);
    say_damage(&run->now);
    return failed ? wndl_cli_error("out of memory") : wndl_cli_flush();
}

static int show_now(struct run *run)
{
    struct wndl_stack_names *names;
    struct wndl_error err = {0};
    if (run->options->raw)
        return print(run, NULL);
    names = malloc(sizeof *names);
    if (names == NULL)
        return wndl_cli_error("out of memory");
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_stack_names_find(names, &run->now, &run->sources, &err) !=
        WNDL_OK) {
        wndl_cli_fail(&err);
    } else {
        if (names->symbolized.lack.status != WNDL_OK) {
            wndl_cli_fail(&names->symbolized.lack);
            wndl_cli_incomplete();
        }
        exit_code = print(run, names);
        wndl_stack_names_free(names);
    }
    free(names);
    return exit_code;
}

/* ---- again and again */

static void sleep_for(double seconds)
{
    struct timespec left = {
        (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static void take_over(struct run *run)
{
    if (run->has_before)
        wndl_snapshot_free(&run->before);
    run->before = run->now;
    run->before.threads.arena = &run->before.arena;
    run->before.images.arena = &run->before.arena;
    run->has_before = true;
}

/* The first look must succeed; later ones end with the process. */
static int look(struct run *run, bool *is_over)
{
    struct wndl_error err = {0};
    wndl_snapshot_init(&run->now);
    enum wndl_status status = wndl_live_read(&run->live, &run->now, &err);
    *is_over = status != WNDL_OK;
    int exit_code = WNDL_EXIT_OK;
    if (status == WNDL_NOT_FOUND && run->has_before)
        wndl_cli_note("%s", err.what);
    else if (status != WNDL_OK)
        exit_code = wndl_cli_fail(&err);
    else if (run->wanted.seen == 0)
        exit_code = wndl_cli_error(
            "process %d has no such thread", (int)run->wanted.pid);
    else
        exit_code = show_now(run);
    if (exit_code != WNDL_EXIT_OK || *is_over)
        wndl_snapshot_free(&run->now);
    else
        take_over(run);
    *is_over = *is_over || exit_code != WNDL_EXIT_OK;
    return exit_code;
}

static int look_on(struct run *run)
{
    bool is_over = false;
    int exit_code = look(run, &is_over);
    while (!is_over && run->options->every > 0) {
        sleep_for(run->options->every);
        if (!run->options->json)
            putchar('\n');
        exit_code = look(run, &is_over);
    }
    if (run->has_before)
        wndl_snapshot_free(&run->before);
    return exit_code;
}

/* ---- the command */

static bool read_pid(const char *text, pid_t *pid)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    *pid = (pid_t)number;
    return text[0] >= '1' && text[0] <= '9' && *end == '\0' && errno == 0 &&
           number == *pid;
}

static size_t max_frames(const struct stack_options *o)
{
    return o->max_frames < MOST_FRAMES ? (size_t)o->max_frames : MOST_FRAMES;
}

static int run_live(struct run *run)
{
    const struct stack_options *o = run->options;
    struct wndl_error err = {0};
    const struct wndl_live_request request = {
        .pid = run->wanted.pid,
        .wait_ns = (uint64_t)(o->wait * 1e9),
        .max_frames = max_frames(o),
        .debug_dirs = run->sources.debug_dirs,
        .is_wanted = is_wanted,
        .context = &run->wanted,
    };
    if (wndl_live_open(&run->live, &request, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    if (o->every > 0) {
        wndl_kept_symbols_init(&run->kept);
        run->sources.kept = &run->kept;
    }
    int exit_code = look_on(run);
    if (o->every > 0)
        wndl_kept_symbols_close(&run->kept);
    wndl_live_close(&run->live);
    return exit_code;
}

/* ---- a core */

static int show_core(struct run *run, struct wndl_core *core)
{
    struct wndl_error err = {0};
    wndl_snapshot_init(&run->now);
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_core_read(core, &run->now, &err) != WNDL_OK)
        wndl_cli_fail(&err);
    else if (run->wanted.seen == 0)
        wndl_cli_error("%s has no such thread", run->options->core);
    else
        exit_code = show_now(run);
    wndl_snapshot_free(&run->now);
    return exit_code;
}

static bool fetch_binary(struct wndl_bytes build_id, char *path, size_t size)
{
    return wndl_debuginfod_fetch_binary(build_id, path, size, NULL) == WNDL_OK;
}

static int run_core(struct run *run, const char *program)
{
    struct wndl_core core;
    struct wndl_error err = {0};
    const struct wndl_core_request request = {
        .path = run->options->core,
        .program = program,
        .max_frames = max_frames(run->options),
        .debug_dirs = run->sources.debug_dirs,
        .fetch = run->sources.debuginfod ? fetch_binary : NULL,
        .is_wanted = is_wanted,
        .context = &run->wanted,
    };
    if (wndl_core_open(&core, &request, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    run->wanted.pid = (pid_t)core.notes.pid;
    int exit_code = show_core(run, &core);
    wndl_core_close(&core);
    return exit_code;
}

/* ---- */

static int refuse_operand(const char *text)
{
    const bool is_file = access(text, F_OK) == 0;
    wndl_cli_error("'%s' is not the number of a process%s; see 'windlass "
                   "stack --help'",
        text, is_file ? " (--core reads a core file)" : "");
    return WNDL_EXIT_USAGE;
}

static int run_stack(const void *options, struct wndl_operands operands)
{
    const struct stack_options *o = options;
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    struct run run = {.options = o, .wanted = {.patterns = &o->threads}};
    const char *operand = operands.count == 0 ? NULL : operands.texts[0];
    if (o->core == NULL && operand == NULL) {
        wndl_cli_error("PID is missing; see 'windlass stack --help'");
        return WNDL_EXIT_USAGE;
    }
    if (o->core != NULL && o->every > 0) {
        wndl_cli_error("--every is of no use with --core; see 'windlass stack "
                       "--help'");
        return WNDL_EXIT_USAGE;
    }
    if (o->core == NULL && !read_pid(operand, &run.wanted.pid))
        return refuse_operand(operand);
    wndl_debug_dirs_init(&dirs, &o->symbols.debug_dirs);
    run.sources = (struct wndl_symbol_sources){
        .debug_dirs = dirs.list,
        .debuginfod = wndl_asks_debuginfod(&o->symbols),
        .cache = wndl_symbol_cache(&o->symbols, &cache),
    };
    return o->core == NULL ? run_live(&run) : run_core(&run, operand);
}

const struct wndl_command wndl_cmd_stack = {
    .name = "stack",
    .group = WNDL_GROUP_RECORD,
    .summary = "show the stacks of a process now, or of a core file",
    .operands = "[PID | --core CORE [PROGRAM]]",
    .description =
        "Shows the stack of each thread of a process, with inlined functions; "
        "whether it runs, or the system call in which it is blocked, and the "
        "files of that call.\n\n"
        "Blocked threads are not stopped: calls such as epoll_wait() would end "
        "early. Their stacks are copied, and the copy counts if the thread has "
        "not run meanwhile. A running thread stops for the tens of "
        "microseconds in which its registers and its stack are copied. No "
        "signal is sent to it, and nothing is loaded into the process.\n\n"
        "A frame that no unwind information confirms is marked 'guessed'. "
        "After a stack that does not reach its start, a line says why. If a "
        "thread has no stack, a line says why, and the exit status is 1.\n\n"
        "The rights are those of a debugger (ptrace(2)): the process must be "
        "the user's own, or the user root.\n\n"
        "With --core it reads a core file, which gzip, zstd, lz4 or xz may "
        "have compressed: the signal and its address, the thread that got it "
        "first, with its registers. Binaries are used if they have the "
        "build-ids that the core has. Their names come from debug files as "
        "always; PROGRAM is for a program that is elsewhere by now.",
    .options = option_table,
    .options_size = sizeof(struct stack_options),
    .examples = examples,
    .max_operands = 1,
    .run = run_stack,
};
