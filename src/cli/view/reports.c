/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "cli/view/reports.h"

#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/shared/known_file.h"
#include "in/memory_reports.h"
#include "out/view/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe cannot be read again: the reader of recordings says why it fails. */
static bool is_plain_file(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 &&
           S_ISREG(about.st_mode) && access(path, R_OK) == 0;
}

bool wndl_view_is_reports(const char *path)
{
    struct wndl_input input;
    if (!is_plain_file(path) || !wndl_input_open(&input, path))
        return false;
    const bool is = wndl_known_file_is_memory(&input);
    wndl_input_close(&input);
    return is;
}

static bool show_from(
    struct wndl_view_reports *reports, size_t first, const char *file)
{
    struct wndl_memory_reports **all = reports->read.data;
    for (size_t i = first; i < reports->read.len; i++) {
        struct wndl_view_report *shown = wndl_vec_push(&reports->shown);
        if (shown == NULL)
            return false;
        *shown = (struct wndl_view_report){.file = file, .reports = all[i]};
    }
    return true;
}

/* A series that is cut short, as of a process that ended, is shown. */
static bool read_file(struct wndl_view_reports *reports, const char *path)
{
    struct wndl_input input;
    struct wndl_error err = {0};
    const size_t first = reports->read.len;
    if (!wndl_input_open(&input, path))
        return false;
    enum wndl_status status = wndl_memory_series_read(
        &reports->read, &reports->arena, input.bytes, &err);
    if (status != WNDL_OK)
        wndl_input_error(&input, &err);
    if (status == WNDL_TRUNCATED && reports->read.len > first + 1) {
        struct wndl_memory_reports **last =
            wndl_vec_at(&reports->read, --reports->read.len);
        wndl_memory_reports_free(*last);
        wndl_cli_note("the reports before are shown");
        status = WNDL_OK;
    }
    wndl_input_close(&input);
    if (status == WNDL_OK && !show_from(reports, first, path)) {
        wndl_cli_error("out of memory");
        status = WNDL_NOMEM;
    }
    return status == WNDL_OK;
}

static int compare_times(const void *a, const void *b)
{
    const struct wndl_view_report *x = a, *y = b;
    const uint64_t s = x->reports->time, t = y->reports->time;
    return s < t ? -1 : s > t;
}

/* The times of all are known, or the order stays. */
static void sort_by_time(struct wndl_vec *shown)
{
    const struct wndl_view_report *all = shown->data;
    bool are_known = shown->len > 1, are_ordered = true;
    for (size_t i = 0; i < shown->len; i++) {
        are_known &= all[i].reports->time != 0;
        are_ordered &=
            i == 0 || all[i - 1].reports->time <= all[i].reports->time;
    }
    if (are_known && !are_ordered)
        qsort(shown->data, shown->len, shown->element, compare_times);
}

bool wndl_view_reports_load(
    struct wndl_view_reports *reports, struct wndl_operands files)
{
    wndl_arena_init(&reports->arena, wndl_mem_libc());
    wndl_vec_init(
        &reports->read, &reports->arena, sizeof(struct wndl_memory_reports *));
    wndl_vec_init(
        &reports->shown, &reports->arena, sizeof(struct wndl_view_report));
    for (size_t i = 0; i < files.count; i++) {
        if (!read_file(reports, files.texts[i]))
            return false;
    }
    sort_by_time(&reports->shown);
    return true;
}

void wndl_view_reports_free(struct wndl_view_reports *reports)
{
    wndl_memory_series_free(&reports->read);
    wndl_arena_free(&reports->arena);
}
