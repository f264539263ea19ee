/* SPDX-License-Identifier: MIT */
/* windlass ls: lists the recordings of a folder. */
#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/core/shell_word.h"
#include "cli/core/terminal.h"
#include "cli/shared/newest.h"
#include "model/heap.h"
#include "out/report_text/report_text.h"
#include "wndl/read.h"

#include <inttypes.h>
#include <string.h>

struct ls_options {
    uint64_t rows; /* 0: all */
    bool no_pager;
};

static const struct wndl_option option_table[] = {
    {'n', "rows", "N", NULL, NULL, NULL, "list the N newest recordings only",
        WNDL_OPT_COUNT, offsetof(struct ls_options, rows)},
    {0, "no-pager", NULL, NULL, NULL, NULL,
        "write directly to the terminal, not through $PAGER", WNDL_OPT_FLAG,
        offsetof(struct ls_options, no_pager)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass ls", "list the recordings in this folder, the newest first"},
    {NULL, NULL},
};

/* ---- a row */

enum {
    CONTENT_SIZE = 96,
    DATE_SIZE = 32,
    COMMAND_WIDTH = 48, /* columns */
    LEAST_WORD = 4,     /* columns of a word that is cut */
};

/* In UTC, as in reports. */
static void put_date(struct wndl_buf *out, uint64_t realtime)
{
    const time_t seconds = (time_t)(realtime / 1000000000);
    char text[DATE_SIZE];
    struct tm date;
    if (realtime == 0 || gmtime_r(&seconds, &date) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M", &date) == 0)
        snprintf(text, sizeof text, "-");
    wndl_buf_printf(out, "%-16s", text);
}

static uint64_t highest_peak(const struct wndl_profile *p)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    uint64_t highest = 0;
    for (size_t i = 0; i < p->heaps.len; i++) {
        const struct wndl_heap_snapshot *s = wndl_heap_kept(&heaps[i]);
        const uint64_t peak =
            s == NULL ? 0 : s->totals[WNDL_HEAP_TOTAL_PEAK_BYTES];
        highest = peak > highest ? peak : highest;
    }
    return highest;
}

static void put_contents(struct wndl_buf *out, const struct wndl_profile *p)
{
    char number[WNDL_NUMBER_SIZE];
    char text[CONTENT_SIZE] = "";
    int used = 0;
    if (p->samples.len != 0 || p->heaps.len == 0)
        used = snprintf(text, sizeof text, "%s sample%s",
            wndl_text_number(p->samples.len, number),
            p->samples.len == 1 ? "" : "s");
    if (p->heaps.len != 0)
        snprintf(text + used, sizeof text - (size_t)used, "%s%s bytes at peak",
            used == 0 ? "" : ", ", wndl_text_number(highest_peak(p), number));
    wndl_buf_printf(out, "%-24s", text);
}

/* The start of the command as it was typed. */
static void put_command(struct wndl_buf *out, const struct wndl_profile *p)
{
    const struct wndl_text_layout layout = {0};
    const struct wndl_text t = {.layout = &layout, .out = out};
    const struct wndl_bytes *words = p->arguments.data;
    size_t room = COMMAND_WIDTH;
    for (size_t i = 0; i < p->arguments.len && room > LEAST_WORD; i++) {
        if (i != 0)
            wndl_buf_byte(out, ' ');
        room -= wndl_text_cut(&t, words[i], room - 1) + 1;
        room = room > COMMAND_WIDTH ? 0 : room;
    }
}

static bool is_whole(const struct wndl_profile *p)
{
    return p->finished && !p->cut && p->chunks_damaged == 0;
}

static void put_profile(struct wndl_buf *out, const struct wndl_profile *p)
{
    char lasted[WNDL_NUMBER_SIZE];
    put_date(out, p->realtime);
    wndl_buf_printf(out, "  %9s  ", wndl_text_time_cell(p->duration, lasted));
    put_contents(out, p);
    wndl_buf_text(out, is_whole(p) ? "" : "(not whole) ");
    put_command(out, p);
}

static void put_problem(struct wndl_buf *out, const struct wndl_error *err)
{
    char text[600];
    wndl_buf_printf(out, "%-16s  %9s  %s", "-", "-",
        wndl_error_text(err, text, sizeof text));
}

/* A list under way. */
struct list {
    struct wndl_buf out;
    bool lacks_some; /* files that could not be opened */
};

/* A file that cannot be read is a row, too. */
static bool put_file(struct list *list, const char *path, int width)
{
    struct wndl_buf *out = &list->out;
    struct wndl_profile profile;
    struct wndl_file file;
    struct wndl_error err = {0};
    wndl_buf_printf(out, "%-*s  ", width, path);
    if (!wndl_profile_init(&profile, wndl_mem_libc()))
        return false;
    enum wndl_status status = wndl_file_open(path, &file, &err);
    if (status == WNDL_OK) {
        status = wndl_reader_read_file(&profile, &file, &err);
        wndl_file_close(&file);
    } else {
        list->lacks_some = true;
    }
    if (status == WNDL_OK)
        put_profile(out, &profile);
    else
        put_problem(out, &err);
    wndl_buf_byte(out, '\n');
    wndl_profile_free(&profile);
    return status != WNDL_NOMEM && !out->failed;
}

/* ---- the list */

static size_t shown_rows(
    const struct wndl_listing *listing, const struct ls_options *o)
{
    const size_t all = listing->files.len;
    return o->rows != 0 && o->rows < all ? (size_t)o->rows : all;
}

static int widest_path(const struct wndl_listing *listing, size_t count)
{
    const struct wndl_listed *files = listing->files.data;
    size_t widest = strlen("file");
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(files[i].path);
        widest = size > widest ? size : widest;
    }
    return (int)widest;
}

static void put_next(struct wndl_buf *out, const char *path)
{
    wndl_buf_text(out, "\nNext: windlass report ");
    wndl_shell_word(out, path);
    wndl_buf_byte(out, '\n');
}

static bool put_list(struct list *list, const struct wndl_listing *listing,
    const struct ls_options *o)
{
    struct wndl_buf *out = &list->out;
    const struct wndl_listed *files = listing->files.data;
    const size_t count = shown_rows(listing, o);
    const int width = widest_path(listing, count);
    wndl_buf_printf(out, "%-*s  %-16s  %9s  %-24s%s\n", width, "file",
        "recorded (UTC)", "lasted", "contents", "command");
    for (size_t i = 0; i < count; i++) {
        if (!put_file(list, files[i].path, width))
            return false;
    }
    if (count < listing->files.len)
        wndl_buf_printf(out, "%zu more recordings: -n %zu\n",
            listing->files.len - count, listing->files.len);
    put_next(out, files[0].path);
    return true;
}

static int show_list(const struct wndl_listing *listing, const char *folder,
    const struct ls_options *o)
{
    struct list list = {0};
    if (listing->files.len == 0) {
        wndl_cli_note("no recordings in %s; make one with 'windlass record -- "
                      "COMMAND'",
            strcmp(folder, ".") == 0 ? "this folder" : folder);
        return WNDL_EXIT_OK;
    }
    wndl_buf_init(&list.out, wndl_mem_libc());
    const int exit_code = put_list(&list, listing, o)
                              ? wndl_pager_show(&list.out, !o->no_pager)
                              : wndl_cli_error("out of memory");
    wndl_buf_free(&list.out);
    if (exit_code == WNDL_EXIT_OK && list.lacks_some)
        return wndl_cli_error("some of the files cannot be opened");
    return exit_code;
}

static int run_ls(const void *options, struct wndl_operands operands)
{
    const char *folder = operands.count == 0 ? "." : operands.texts[0];
    struct wndl_listing listing;
    const int exit_code = wndl_listing_make(&listing, folder)
                              ? show_list(&listing, folder, options)
                              : WNDL_EXIT_FAILURE;
    wndl_listing_free(&listing);
    return exit_code;
}

const struct wndl_command wndl_cmd_ls = {
    .name = "ls",
    .group = WNDL_GROUP_LOOK,
    .summary = "list recordings",
    .operands = "[FOLDER]",
    .description =
        "Lists the recordings in FOLDER, or in this folder: what was recorded "
        "when and for how long, and the number of samples or the highest peak "
        "of a heap. The newest is first; 'windlass report', 'view', 'export' "
        "and 'merge' take the newest of yours in this folder if they are given "
        "no FILE, and 'windlass diff' the last two.",
    .options = option_table,
    .options_size = sizeof(struct ls_options),
    .examples = examples,
    .max_operands = 1,
    .run = run_ls,
};
