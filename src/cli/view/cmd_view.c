/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
/* windlass view: a recording, or how two differ, as a page for a browser. */
#include "analyze/annotate/source_text.h"
#include "analyze/time/report_fill.h"
#include "analyze/view/assembly.h"
#include "analyze/view/findings.h"
#include "analyze/view/held.h"
#include "analyze/view/sources.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/heap_report.h"
#include "cli/shared/newest.h"
#include "cli/shared/recording.h"
#include "cli/view/page.h"
#include "cli/view/reports.h"
#include "cli/view/server.h"
#include "out/report_text/heap.h"
#include "out/report_text/report_text.h"
#include "out/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct view_options {
    const char *out;
    uint64_t port;
    struct wndl_option_list maps; /* FROM=TO each */
    bool no_sources;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'o', "output", "OUT", NULL, NULL, NULL,
        "write the page to OUT, - for standard output, instead of serving it",
        WNDL_OPT_TEXT, offsetof(struct view_options, out)},
    {0, "port", "N", NULL, NULL, NULL,
        "serve the page on port N of 127.0.0.1 (default: any free port)",
        WNDL_OPT_COUNT, offsetof(struct view_options, port)},
    {0, "source-map", "FROM=TO", NULL, NULL, NULL,
        "read sources that were compiled in the folder FROM in the folder TO, "
        "even if they were changed since; may be repeated",
        WNDL_OPT_LIST, offsetof(struct view_options, maps)},
    {0, "no-sources", NULL, NULL, NULL, NULL,
        "leave out the text of source files", WNDL_OPT_FLAG,
        offsetof(struct view_options, no_sources)},
    WNDL_SYMBOL_OPTION_ROWS(struct view_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass view app.4711.cpu.wndl", "show a recording"},
    {"windlass view -o app.html app.4711.cpu.wndl",
        "write a page that can be sent to others"},
    {"windlass view -o app.html monday.cpu.wndl friday.cpu.wndl",
        "show which functions became slower and faster"},
    {"windlass view -o app.html monday.json.gz friday.json.gz",
        "show what memory reports have in common, and what grew"},
    {NULL, NULL},
};

/* The recordings that are shown. */
struct shown {
    struct wndl_cli_recording loaded[WNDL_MERGED_MAX];
    struct wndl_arena arena; /* of what follows */
    struct wndl_buf summaries[WNDL_MERGED_MAX];
    struct wndl_vec findings[WNDL_MERGED_MAX], sources[WNDL_MERGED_MAX];
    struct wndl_vec codes[WNDL_MERGED_MAX], held[WNDL_MERGED_MAX];
    struct wndl_view_reports reports;
    struct wndl_viewed view;
};

static bool sum_up_time(const struct wndl_symbolized *s, struct wndl_buf *lines)
{
    struct wndl_report report;
    bool filled = wndl_report_fill(
        &report, s, WNDL_BY_THREAD, WNDL_TIME_WALL, wndl_mem_libc());
    if (filled)
        wndl_report_text_figures(&report, lines);
    wndl_report_free(&report);
    return filled;
}

static bool sum_up_heaps(
    const struct wndl_cli_recording *loaded, bool alone, struct wndl_buf *lines)
{
    const struct wndl_heap_set_options usual = {0};
    struct wndl_heap_choice choice = wndl_heap_choose(&usual, loaded, 1);
    struct wndl_heap_report report;
    choice.without_findings = true;
    bool filled = wndl_heap_report_fill(
        &report, &loaded->symbolized, &choice, wndl_mem_libc());
    if (filled)
        wndl_report_text_heap_figures(&report, alone, lines);
    wndl_heap_report_free(&report);
    return filled;
}

/* Writes the heads of the reports on its time and its heaps. */
static bool sum_up(
    const struct wndl_cli_recording *loaded, struct wndl_buf *lines)
{
    const struct wndl_profile *p = &loaded->profile;
    bool heaps = p->heaps.len != 0;
    bool time = p->samples.len + p->blocks.len != 0 || !heaps;
    return (!time || sum_up_time(&loaded->symbolized, lines)) &&
           (!heaps || sum_up_heaps(loaded, !time, lines)) && !lines->failed;
}

static bool add_sources(struct wndl_vec *sources,
    const struct wndl_symbolized *s, const struct view_options *o,
    struct wndl_arena *arena)
{
    if (!o->no_sources)
        return wndl_view_sources(sources, s, o->maps.texts, arena);
    wndl_vec_init(sources, arena, sizeof(struct wndl_view_source));
    return true;
}

static bool add_code(struct wndl_vec *codes, struct wndl_symbolized *s,
    const struct view_options *o, struct wndl_arena *arena)
{
    struct wndl_debug_dirs dirs;
    struct wndl_symbolizer_cache cache;
    wndl_debug_dirs_init(&dirs, &o->symbols.debug_dirs);
    const struct wndl_symbol_sources sources = {.debug_dirs = dirs.list,
        .debuginfod = wndl_asks_debuginfod(&o->symbols),
        .cache = wndl_symbol_cache(&o->symbols, &cache)};
    const struct wndl_annotate_code how = {.sources = &sources};
    return wndl_view_assembly(codes, s, &how, arena);
}

static bool prepare_recording(struct shown *shown, size_t i, const char *path,
    const struct view_options *o)
{
    struct wndl_symbolized *s = &shown->loaded[i].symbolized;
    struct wndl_buf *summary = &shown->summaries[i];
    bool prepared = sum_up(&shown->loaded[i], summary) &&
                    wndl_view_findings(&shown->findings[i], s, &shown->arena) &&
                    add_sources(&shown->sources[i], s, o, &shown->arena) &&
                    add_code(&shown->codes[i], s, o, &shown->arena) &&
                    wndl_view_held(&shown->held[i], s, &shown->arena);
    shown->view.recordings[i] = (struct wndl_view_recording){
        .file = path,
        .symbolized = s,
        .summary = {summary->data, summary->size},
        .findings = &shown->findings[i],
        .sources = &shown->sources[i],
        .codes = &shown->codes[i],
        .held = &shown->held[i],
    };
    return prepared;
}

static bool load_recording(
    struct shown *shown, const char *path, const struct view_options *o)
{
    size_t i = shown->view.count;
    struct wndl_input input;
    if (!wndl_input_open(&input, path))
        return false;
    bool is_loaded =
        wndl_cli_recording_open_lived(&shown->loaded[i], &input, &o->symbols);
    wndl_input_close(&input);
    if (!is_loaded)
        return false;
    wndl_buf_init(&shown->summaries[i], wndl_mem_libc());
    shown->view.count++;
    wndl_cli_recording_note_whole(&shown->loaded[i], path, "shown");
    return prepare_recording(shown, i, path, o) ||
           (wndl_cli_error("out of memory"), false);
}

static void unload_recordings(struct shown *shown)
{
    for (size_t i = 0; i < shown->view.count; i++) {
        wndl_buf_free(&shown->summaries[i]);
        wndl_view_held_free(&shown->held[i]);
        wndl_cli_recording_close(&shown->loaded[i]);
    }
    wndl_arena_free(&shown->arena);
}

static bool write_page(FILE *out, void *context)
{
    const struct shown *shown = context;
    return wndl_view_write(out, &shown->view, wndl_mem_libc());
}

static int write_file(const struct view_options *o, struct shown *shown)
{
    const struct wndl_output output = {
        .path = o->out,
        .write = write_page,
        .context = shown,
        .open_with = "a web browser",
    };
    return wndl_output_write(&output);
}

/* ---- serving */

/* A descriptor from which Ctrl-C and kill can be read; -1: none. */
static int await_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0)
        return -1;
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

static bool has_desktop(void)
{
    return isatty(STDOUT_FILENO) &&
           (getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL);
}

/* Without xdg-open the printed address is there to click on. The browser must
 * not end with windlass, nor windlass wait for the browser. */
static void open_browser(const char *url)
{
    char name[] = "xdg-open";
    char *const argv[] = {name, (char *)url, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&how) == 0) {
        posix_spawn_file_actions_addopen(
            &files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
        posix_spawnattr_setsigmask(&how, &none);
        posix_spawnattr_setpgroup(&how, 0);
        posix_spawnattr_setflags(
            &how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        (void)posix_spawnp(&pid, argv[0], &files, &how, argv, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
}

static int serve_at(
    struct wndl_server *server, struct wndl_bytes page, struct wndl_error *err)
{
    int signals = await_signals();
    if (signals < 0)
        return wndl_cli_error("signalfd: %s", strerror(errno));
    printf("%s\n", server->url);
    bool is_printed = fflush(stdout) == 0;
    wndl_cli_note("serving the page at this address until Ctrl-C");
    if (is_printed && has_desktop())
        open_browser(server->url);
    enum wndl_status status =
        is_printed ? wndl_server_run(server, page, signals, err) : WNDL_OK;
    close(signals);
    return status == WNDL_OK ? WNDL_EXIT_OK : wndl_cli_fail(err);
}

static int serve_page(uint16_t port, struct wndl_bytes page)
{
    struct wndl_server server;
    struct wndl_error err = {0};
    if (wndl_server_open(&server, port, &err) != WNDL_OK)
        return wndl_cli_fail(&err);
    int exit_code = serve_at(&server, page, &err);
    wndl_server_close(&server);
    return exit_code;
}

/* Writes the page to memory, so that the recordings can be freed. */
static int write_memory(struct shown *shown, char **page, size_t *size)
{
    FILE *out = open_memstream(page, size);
    if (out == NULL)
        return wndl_cli_error("out of memory");
    bool whole = write_page(out, shown) && !ferror(out);
    whole = fclose(out) == 0 && whole;
    return whole ? WNDL_EXIT_OK : wndl_cli_error("out of memory");
}

/* ---- the command */

/* As diff: heaps are compared if one recording holds nothing else. */
static bool are_comparable(const struct shown *shown)
{
    const struct wndl_heap_set_options usual = {0};
    bool of_heap = false, have = true;
    for (size_t i = 0; i < shown->view.count; i++)
        of_heap |= wndl_heap_shown_of(&shown->loaded[i].profile, false);
    for (size_t i = 0; i < shown->view.count && of_heap && have; i++) {
        const struct wndl_heap_choice choice =
            wndl_heap_choose(&usual, &shown->loaded[i], 1);
        have = wndl_heap_has(
            &shown->loaded[i].profile, &choice, shown->view.recordings[i].file);
    }
    return have;
}

static int usage_error(const char *what)
{
    wndl_cli_error("%s; see 'windlass view --help'", what);
    return WNDL_EXIT_USAGE;
}

static bool load_recordings(struct shown *shown, const struct view_options *o,
    struct wndl_operands operands)
{
    for (size_t i = 0; i < operands.count; i++) {
        if (!load_recording(shown, operands.texts[i], o))
            return false;
    }
    return shown->view.count < WNDL_MERGED_MAX || are_comparable(shown);
}

static bool load(struct shown *shown, const struct view_options *o,
    struct wndl_operands operands, bool are_reports)
{
    if (!are_reports)
        return load_recordings(shown, o, operands);
    shown->view.memory = &shown->reports.shown;
    return wndl_view_reports_load(&shown->reports, operands);
}

static int make_page(const struct view_options *o,
    struct wndl_operands operands, char **page, size_t *size)
{
    struct shown shown = {.view = {.page = wndl_view_page()}};
    const bool are_reports = wndl_view_is_reports(operands.texts[0]);
    int exit_code = WNDL_EXIT_FAILURE;
    if (!are_reports && operands.count > WNDL_MERGED_MAX)
        return usage_error("view takes two recordings at most");
    wndl_arena_init(&shown.arena, wndl_mem_libc());
    if (load(&shown, o, operands, are_reports))
        exit_code = o->out != NULL ? write_file(o, &shown)
                                   : write_memory(&shown, page, size);
    if (are_reports)
        wndl_view_reports_free(&shown.reports);
    unload_recordings(&shown);
    return exit_code;
}

static bool are_maps(const struct view_options *o)
{
    for (size_t i = 0; i < o->maps.count; i++) {
        if (wndl_source_map_is_valid(o->maps.texts[i]))
            continue;
        wndl_cli_error("--source-map %s: write FROM=TO, two folders; see "
                       "'windlass view --help'",
            o->maps.texts[i]);
        return false;
    }
    return true;
}

static int show_files(const void *options, struct wndl_operands operands)
{
    const struct view_options *o = options;
    char *page = NULL;
    size_t size = 0;
    if (o->port > UINT16_MAX)
        return usage_error("--port takes at most 65535");
    if (o->port != 0 && o->out != NULL)
        return usage_error("use either --port or -o");
    if (!are_maps(o))
        return WNDL_EXIT_USAGE;
    if (o->no_sources && o->maps.count != 0)
        return usage_error("use either --source-map or --no-sources");
    if (wndl_view_page().size == 0)
        return wndl_cli_error(
            "this windlass was built without the viewer (%s); './run build' "
            "builds it, and 'windlass export --help' lists other viewers",
            wndl_view_problem());
    int exit_code = make_page(o, operands, &page, &size);
    if (exit_code == WNDL_EXIT_OK && o->out == NULL)
        exit_code = serve_page((uint16_t)o->port,
            (struct wndl_bytes){(const uint8_t *)page, size});
    free(page);
    return exit_code;
}

static int run_view(const void *options, struct wndl_operands operands)
{
    struct wndl_newest newest;
    int exit_code = WNDL_EXIT_USAGE;
    if (wndl_newest_fill(&newest, &operands, 1))
        exit_code = show_files(options, operands);
    wndl_newest_free(&newest);
    return exit_code;
}

const struct wndl_command wndl_cmd_view = {
    .name = "view",
    .group = WNDL_GROUP_LOOK,
    .summary = "show a recording in a web browser",
    .operands = "[FILE [LATER]]|[REPORT...]",
    .description =
        "Shows a recording of time, of heaps or of both, or how LATER differs "
        "from FILE, as one self-contained page, with the source of the hottest "
        "functions if it is available and unchanged. Without FILE, it is the "
        "newest recording in this folder that is yours. The page makes no "
        "network requests.\n\n"
        "REPORTs are memory reports, of 'windlass memory -o' or of a series "
        "that 'windlass memory --every --json' wrote: as a tree and as areas, "
        "over time.\n\n"
        "Without -o, windlass serves the page to browsers on this machine "
        "until Ctrl-C. It prints the address, which nobody can guess, and "
        "opens it with xdg-open if there is a desktop; while xdg-open runs, "
        "other users can see the address.",
    .options = option_table,
    .options_size = sizeof(struct view_options),
    .examples = examples,
    .takes_recordings = true,
    .max_operands = SIZE_MAX,
    .run = run_view,
};
