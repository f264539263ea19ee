/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
/* windlass top: where the time of a running program goes, again and again. */
#include "cli/core/command.h"
#include "cli/top/lines.h"
#include "cli/top/recorder.h"
#include "cli/top/screen.h"
#include "os/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_SECOND 1e9

struct top_options {
    const char *pids;
    uint64_t rate;
    bool of_heap;
    struct wndl_option_choice time; /* enum wndl_time */
    double interval;                /* seconds */
    uint64_t count;                 /* of refreshes; 0: until it ends */
    uint64_t rows;
    const char *out;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'p', "pid", "PID[,PID]", NULL, NULL, NULL,
        "show these processes, which run already, instead of COMMAND",
        WNDL_OPT_TEXT, offsetof(struct top_options, pids)},
    {'r', "rate", "HZ", NULL, "1000", NULL,
        "take HZ samples per second of CPU time", WNDL_OPT_COUNT,
        offsetof(struct top_options, rate)},
    {0, "heap", NULL, NULL, NULL, NULL,
        "record the heap of COMMAND, too, and show first who holds its memory",
        WNDL_OPT_FLAG, offsetof(struct top_options, of_heap)},
    {0, "time", "KIND", "cpu|blocked|wall", "cpu", NULL,
        "which time to show first; the key t shows the next", WNDL_OPT_CHOSEN,
        offsetof(struct top_options, time)},
    {0, "interval", "SEC", NULL, "1", NULL, "refresh every SEC seconds",
        WNDL_OPT_REAL, offsetof(struct top_options, interval)},
    {'n', "count", "N", NULL, NULL, NULL, "end after N refreshes",
        WNDL_OPT_COUNT, offsetof(struct top_options, count)},
    {0, "rows", "N", NULL, "20", NULL,
        "print N functions where the output is no terminal", WNDL_OPT_COUNT,
        offsetof(struct top_options, rows)},
    {'o', "output", "OUT", NULL, NULL, NULL,
        "write the recording to OUT at the end", WNDL_OPT_TEXT,
        offsetof(struct top_options, out)},
    WNDL_SYMBOL_OPTION_ROWS(struct top_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass top ./server --port 8080",
        "show where a program's CPU time goes while it runs"},
    {"windlass top -p 4711", "show a process that runs already"},
    {"windlass top --heap ./server", "show who holds its memory"},
    {"windlass top -n 5 --interval 2 -o app.wndl ./app | cat",
        "print five tables, and keep the recording"},
    {NULL, NULL},
};

struct top {
    const struct top_options *o;
    struct wndl_top_recorder recorder;
    struct wndl_top_live live;
    struct wndl_top_screen *screen; /* NULL: plain text */
    struct wndl_top_view view;
    char filter[WNDL_TOP_FILTER_SIZE];
    char note[WNDL_TOP_LINE_SIZE];
    size_t first, marked; /* lines */
    uint64_t refreshes, copies;
    bool is_frozen, is_over, has_ended, is_written;
    int signals;
};

/* ---- showing */

static void print_plain(const struct top *top, const struct wndl_top_lines *l)
{
    if (top->has_ended && top->live.profile.threads.len == 0)
        return; /* the recorder says why */
    printf("%s%s\n%s\n", l->head, top->has_ended ? ", ended" : "", l->columns);
    for (size_t i = 0; i < l->lines.len && i < top->o->rows; i++) {
        const struct wndl_top_line *line = wndl_vec_at(&l->lines, i);
        puts(line->text);
    }
    putchar('\n');
    (void)fflush(stdout);
}

static void make_note(struct top *top)
{
    static const char *const times[] = {
        "CPU time", "blocked time", "wall-clock time", "live heap"};
    if (top->note[0] != '\0')
        return;
    snprintf(top->note, sizeof top->note, "%s%s%s%s%s", times[top->view.time],
        top->is_frozen ? ", frozen" : "", top->has_ended ? ", ended" : "",
        top->filter[0] != '\0' ? ", /" : "", top->filter);
}

/* Keeps the mark on a line, and the line on the screen. */
static void place_mark(struct top *top, size_t count)
{
    size_t rows = wndl_top_screen_rows(top->screen);
    if (top->marked >= count)
        top->marked = count == 0 ? 0 : count - 1;
    if (top->marked < top->first)
        top->first = top->marked;
    if (top->marked >= top->first + rows)
        top->first = top->marked + 1 - rows;
}

static bool show(struct top *top)
{
    struct wndl_top_lines lines;
    bool made = wndl_top_lines_make(&lines, &top->live, &top->view);
    if (made && top->screen != NULL) {
        make_note(top);
        place_mark(top, lines.lines.len);
        wndl_top_screen_draw(
            top->screen, &lines, top->first, top->marked, top->note);
        top->note[0] = '\0';
    } else if (made) {
        print_plain(top, &lines);
    }
    wndl_top_lines_free(&lines);
    return made;
}

/* ---- a refresh */

/* Functions get new numbers with each naming: the name and module stay. */
struct expanded {
    char name[256];
    uint32_t module;
};

static void name_of(
    const struct wndl_symbolized *s, uint32_t function, struct expanded *e)
{
    const struct wndl_function *f = wndl_vec_at(&s->functions, function);
    const struct wndl_bytes name = wndl_intern_get(&s->strings, f->name);
    snprintf(e->name, sizeof e->name, "%.*s", (int)name.size,
        (const char *)name.data);
    e->module = f->module;
}

static uint32_t find_function(
    const struct wndl_symbolized *s, const struct expanded *wanted)
{
    struct expanded e;
    for (uint32_t i = 0; i < s->functions.len; i++) {
        name_of(s, i, &e);
        if (e.module == wanted->module && strcmp(e.name, wanted->name) == 0)
            return i;
    }
    return WNDL_NO_INDEX;
}

static enum wndl_status read_top(struct top *top, struct wndl_error *err)
{
    const uint64_t named_at = top->live.named_at;
    const bool is_expanded = top->view.expanded != WNDL_NO_INDEX;
    struct expanded e;
    if (is_expanded)
        name_of(&top->live.symbolized, top->view.expanded, &e);
    const enum wndl_status status =
        wndl_top_live_read(&top->live, top->recorder.path, top->has_ended, err);
    if (is_expanded && status == WNDL_OK && top->live.named_at != named_at)
        top->view.expanded = find_function(&top->live.symbolized, &e);
    return status;
}

static enum wndl_status refresh_top(struct top *top, struct wndl_error *err)
{
    top->has_ended = wndl_top_recorder_ended(&top->recorder);
    enum wndl_status status = read_top(top, err);
    top->refreshes++;
    /* Its words matter only if it cannot record; COMMAND's are among them. */
    if (top->live.profile.threads.len != 0)
        wndl_top_recorder_forget_words(&top->recorder);
    if (status == WNDL_OK && !show(top))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    return status;
}

/* ---- keys */

static void toggle_callers(struct top *top)
{
    struct wndl_top_lines lines;
    if (wndl_top_lines_make(&lines, &top->live, &top->view) &&
        top->marked < lines.lines.len) {
        const struct wndl_top_line *line =
            wndl_vec_at(&lines.lines, top->marked);
        if (!line->is_caller)
            top->view.expanded = top->view.expanded == line->function
                                     ? WNDL_NO_INDEX
                                     : line->function;
    }
    wndl_top_lines_free(&lines);
}

static void write_copy(struct top *top)
{
    struct wndl_error err = {0};
    char name[64], text[128];
    snprintf(name, sizeof name, "windlass-top.%d-%llu.wndl", (int)getpid(),
        (unsigned long long)++top->copies);
    if (wndl_top_recorder_copy(&top->recorder, name, false, &err) == WNDL_OK)
        snprintf(top->note, sizeof top->note, "wrote %s", name);
    else
        snprintf(top->note, sizeof top->note, "%s",
            wndl_error_text(&err, text, sizeof text));
}

static void move_mark(struct top *top, long by)
{
    if (by < 0 && (size_t)-by > top->marked)
        top->marked = 0;
    else
        top->marked += (size_t)by;
}

static void choose_time(struct top *top, enum wndl_time time)
{
    top->view.time = time;
    wndl_top_live_show(&top->live, time == WNDL_TIME_BYTES);
}

/* The heap comes after the times, where it is recorded. */
static int kinds_of_cost(const struct top *top)
{
    return top->o->of_heap ? WNDL_TIME_BYTES + 1 : WNDL_TIME_BYTES;
}

static void act(struct top *top, enum wndl_top_key key)
{
    const long page = (long)wndl_top_screen_rows(top->screen);
    switch (key) {
    case WNDL_TOP_KEY_QUIT:
        top->is_over = true;
        break;
    case WNDL_TOP_KEY_UP:
    case WNDL_TOP_KEY_DOWN:
        move_mark(top, key == WNDL_TOP_KEY_UP ? -1 : 1);
        break;
    case WNDL_TOP_KEY_PAGE_UP:
    case WNDL_TOP_KEY_PAGE_DOWN:
        move_mark(top, key == WNDL_TOP_KEY_PAGE_UP ? -page : page);
        break;
    case WNDL_TOP_KEY_EXPAND:
        toggle_callers(top);
        break;
    case WNDL_TOP_KEY_SORT:
        top->view.sort = (top->view.sort + 1) % (WNDL_TOP_BY_NAME + 1);
        break;
    case WNDL_TOP_KEY_TIME:
        choose_time(top, (top->view.time + 1) % kinds_of_cost(top));
        break;
    case WNDL_TOP_KEY_FREEZE:
        top->is_frozen = !top->is_frozen;
        break;
    case WNDL_TOP_KEY_WRITE:
        write_copy(top);
        break;
    case WNDL_TOP_KEY_NONE:
    case WNDL_TOP_KEY_FILTER:
    case WNDL_TOP_KEY_RESIZE:
        break;
    }
}

/* False when memory is out. */
static bool take_keys(struct top *top)
{
    enum wndl_top_key key;
    bool any = false;
    while (!top->is_over && (key = wndl_top_screen_key(top->screen,
                                 top->filter)) != WNDL_TOP_KEY_NONE) {
        act(top, key);
        any = true;
    }
    return !any || top->is_over || show(top);
}

/* ---- the loop */

/* Waits for the time, a key or a signal. */
static enum wndl_status await_next(
    struct top *top, uint64_t until, struct wndl_error *err)
{
    struct pollfd files[] = {{.fd = top->signals, .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN}};
    for (;;) {
        uint64_t now = wndl_clock_monotonic_ns();
        if (top->is_over || now >= until)
            return WNDL_OK;
        int ms = (int)((until - now) / 1000000) + 1;
        int ready = poll(files, top->screen == NULL ? 1 : 2, ms);
        if (ready < 0 && errno != EINTR)
            return wndl_fail_errno(err, errno, "poll");
        if (ready > 0 && files[0].revents != 0)
            top->is_over = true;
        else if (ready > 0 && (files[1].revents & (POLLHUP | POLLERR)) != 0)
            top->is_over = true;
        else if (top->screen != NULL && !take_keys(top))
            return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
}

/* On a terminal, the last picture stays. */
static bool is_done(const struct top *top)
{
    return top->is_over ||
           (top->o->count != 0 && top->refreshes >= top->o->count) ||
           (top->has_ended && (top->screen == NULL || top->o->count != 0 ||
                                  top->live.profile.threads.len == 0));
}

static enum wndl_status run_loop(struct top *top, struct wndl_error *err)
{
    const uint64_t interval = (uint64_t)(top->o->interval * NS_PER_SECOND);
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK && !is_done(top)) {
        status = await_next(top, wndl_clock_monotonic_ns() + interval, err);
        if (status == WNDL_OK && !top->is_over && !top->is_frozen &&
            !(top->screen != NULL && top->has_ended))
            status = refresh_top(top, err);
    }
    return status;
}

static int await_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    sigaddset(&signals, SIGPIPE);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
        return -1;
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

/* ---- the end */

/* A recorder that could not record says why. */
static bool has_failed(const struct wndl_top_recorder *r)
{
    enum { CANNOT_START = 125, NOT_FOUND = 127 };
    if (!WIFEXITED(r->status))
        return false;
    int code = WEXITSTATUS(r->status);
    return code == WNDL_EXIT_FAILURE || code == WNDL_EXIT_USAGE ||
           (code >= CANNOT_START && code <= NOT_FOUND);
}

static int finish(
    struct top *top, enum wndl_status status, const struct wndl_error *reason)
{
    struct wndl_error err = *reason;
    const bool ended_itself = top->has_ended;
    wndl_top_screen_close(top->screen);
    wndl_top_recorder_stop(&top->recorder);
    if (status != WNDL_OK)
        wndl_cli_fail(&err);
    if (ended_itself && has_failed(&top->recorder) &&
        top->live.profile.threads.len == 0) {
        wndl_top_recorder_say(&top->recorder);
        return WEXITSTATUS(top->recorder.status);
    }
    if (top->o->out != NULL && wndl_top_recorder_copy(&top->recorder,
                                   top->o->out, true, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    top->is_written = true;
    if (top->o->out != NULL)
        wndl_cli_note(
            "wrote %s; see: windlass report %s", top->o->out, top->o->out);
    return status == WNDL_OK ? WNDL_EXIT_OK : WNDL_EXIT_FAILURE;
}

static int show_top(struct top *top)
{
    struct wndl_error err = {0};
    enum wndl_status status = WNDL_OK;
    if (!wndl_top_live_init(&top->live, &top->o->symbols))
        status = wndl_fail(&err, WNDL_NOMEM, "out of memory");
    if (status == WNDL_OK && top->signals < 0)
        status = wndl_fail_errno(&err, errno, "signalfd");
    if (status == WNDL_OK)
        top->screen = wndl_top_screen_open();
    choose_time(top, top->o->of_heap && !top->o->time.given
                         ? WNDL_TIME_BYTES
                         : (enum wndl_time)top->o->time.index);
    if (status == WNDL_OK)
        status = run_loop(top, &err);
    int exit_code = finish(top, status, &err);
    wndl_top_live_free(&top->live);
    if (top->signals >= 0)
        close(top->signals);
    return exit_code;
}

static int run_top(const void *options, struct wndl_operands operands)
{
    const struct top_options *o = options;
    struct wndl_error err = {0};
    const struct wndl_top_request request = {
        .command = operands,
        .pids = o->pids,
        .rate = o->rate,
        .of_heap = o->of_heap,
    };
    if ((operands.count == 0) == (o->pids == NULL)) {
        wndl_cli_error("name a command, or a process with -p; see 'windlass "
                       "top --help'");
        return WNDL_EXIT_USAGE;
    }
    if (o->of_heap && o->pids != NULL) {
        wndl_cli_error(
            "--heap is for a command, not with -p; see 'windlass top --help'");
        return WNDL_EXIT_USAGE;
    }
    struct top top = {
        .o = o, .signals = -1, .view = {.expanded = WNDL_NO_INDEX}};
    top.view.filter = top.filter;
    if (o->out != NULL && wndl_top_recorder_reserve(o->out, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    /* No signal may end us once there is a recorder. */
    top.signals = await_signals();
    int exit_code =
        wndl_top_recorder_start(&top.recorder, &request, &err) == WNDL_OK
            ? show_top(&top)
            : wndl_cli_fail(&err);
    if (o->out != NULL && !top.is_written)
        (void)unlink(o->out);
    wndl_top_recorder_remove(&top.recorder);
    return exit_code;
}

const struct wndl_command wndl_cmd_top = {
    .name = "top",
    .group = WNDL_GROUP_LOOK,
    .summary = "show where a program's time or memory goes, while it runs",
    .operands = "[--] COMMAND [ARG...]",
    .description =
        "Records COMMAND, or processes that run already, and shows each second "
        "which functions the time went to so far, and with --heap which hold "
        "the memory.\n\n"
        "On a terminal, s sorts by self cost, total cost or name, t switches "
        "between CPU, blocked and wall-clock time, with --heap also the live "
        "heap, / keeps the functions with "
        "a text in their names, Enter shows the callers of a function, p "
        "freezes the picture, w writes the recording so far to a file, and q "
        "ends top and with it COMMAND. Elsewhere, the table is printed each "
        "time.\n\n"
        "COMMAND reads nothing from the terminal, and what it prints is not "
        "shown.",
    .options = option_table,
    .options_size = sizeof(struct top_options),
    .examples = examples,
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run_top,
};
