/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "cli/top/lines.h"

#include "analyze/time/report_fill.h"
#include "os/clock.h"
#include "out/report_text/report_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLERS = 8 };
#define NS_PER_SECOND 1e9

struct making {
    const struct wndl_top_live *live;
    const struct wndl_top_view *view;
    struct wndl_report report;
    struct wndl_text text; /* for cells */
    struct wndl_top_lines *to;
};

static const struct wndl_function *function_at(
    const struct wndl_top_live *live, uint32_t function)
{
    return wndl_vec_at(&live->symbolized.functions, function);
}

static struct wndl_bytes name_of(
    const struct wndl_top_live *live, uint32_t function)
{
    return wndl_intern_get(
        &live->symbolized.strings, function_at(live, function)->name);
}

/* Names have any bytes. */
static void add_plain(char text[WNDL_TOP_LINE_SIZE], struct wndl_bytes name)
{
    size_t at = strlen(text);
    for (size_t i = 0; i < name.size && at + 1 < WNDL_TOP_LINE_SIZE; i++) {
        uint8_t c = name.data[i];
        text[at++] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    text[at] = '\0';
}

static void add_name(const struct making *m, struct wndl_top_line *line)
{
    const struct wndl_symbolized *s = &m->live->symbolized;
    const struct wndl_function *f = function_at(m->live, line->function);
    const struct wndl_module *module = wndl_vec_at(&s->modules, f->module);
    static const uint8_t open[] = "  [", close[] = "]";
    add_plain(line->text, name_of(m->live, line->function));
    add_plain(line->text, (struct wndl_bytes){open, sizeof open - 1});
    add_plain(line->text, wndl_intern_get(&s->strings, module->name));
    add_plain(line->text, (struct wndl_bytes){close, sizeof close - 1});
}

static struct wndl_top_line *add_line(
    const struct making *m, uint32_t function, bool is_caller)
{
    struct wndl_top_line *line = wndl_vec_push(&m->to->lines);
    if (line != NULL)
        *line = (struct wndl_top_line){
            .function = function, .is_caller = is_caller};
    return line;
}

static bool add_callers(const struct making *m, uint32_t function)
{
    struct wndl_vec callers;
    wndl_vec_init(&callers, &m->to->arena, sizeof(struct wndl_top_live_caller));
    if (!wndl_top_live_callers(m->live, m->view->time, function, &callers))
        return false;
    for (size_t i = 0; i < callers.len && i < MOST_CALLERS; i++) {
        const struct wndl_top_live_caller *caller = wndl_vec_at(&callers, i);
        struct wndl_top_line *line = add_line(m, caller->function, true);
        char cost[WNDL_NUMBER_SIZE];
        if (line == NULL)
            return false;
        snprintf(line->text, sizeof line->text, "%18s%5.1f%% %9s    < ", "",
            wndl_text_percent(&m->text, caller->cost),
            wndl_text_cost_cell(&m->text, caller->cost, cost));
        add_name(m, line);
    }
    return true;
}

static bool add_row(const struct making *m, const struct wndl_row *row)
{
    char self[WNDL_NUMBER_SIZE], total[WNDL_NUMBER_SIZE];
    struct wndl_top_line *line = add_line(m, row->key, false);
    if (line == NULL)
        return false;
    snprintf(line->text, sizeof line->text, "%5.1f%% %9s  %5.1f%% %9s  ",
        wndl_text_percent(&m->text, row->self.time),
        wndl_text_cost_cell(&m->text, row->self.time, self),
        wndl_text_percent(&m->text, row->total.time),
        wndl_text_cost_cell(&m->text, row->total.time, total));
    add_name(m, line);
    return m->view->expanded != row->key || add_callers(m, row->key);
}

static bool is_shown(const struct making *m, const struct wndl_row *row)
{
    const char *filter = m->view->filter;
    if (row->label != WNDL_LABEL_NONE || row->total.time == 0)
        return false;
    struct wndl_bytes name = name_of(m->live, row->key);
    return memmem(name.data, name.size, filter, strlen(filter)) != NULL;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct making *m = context;
    const struct wndl_row *x = a, *y = b;
    if (m->view->sort == WNDL_TOP_BY_NAME && x->label == y->label) {
        struct wndl_bytes s = name_of(m->live, x->key);
        struct wndl_bytes t = name_of(m->live, y->key);
        int order = memcmp(s.data, t.data, s.size < t.size ? s.size : t.size);
        return order != 0 ? order : (s.size > t.size) - (s.size < t.size);
    }
    return (x->total.time < y->total.time) - (x->total.time > y->total.time);
}

/* The report's rows are by self. */
static void sort_rows(struct making *m)
{
    struct wndl_vec *rows = &m->report.rows;
    size_t kept = 0;
    for (size_t i = 0; i < rows->len; i++) {
        const struct wndl_row row = *(struct wndl_row *)wndl_vec_at(rows, i);
        if (is_shown(m, &row))
            *(struct wndl_row *)wndl_vec_at(rows, kept++) = row;
    }
    rows->len = kept;
    if (m->view->sort != WNDL_TOP_BY_SELF && kept != 0)
        qsort_r(rows->data, kept, sizeof(struct wndl_row), compare_rows, m);
}

static void make_head(const struct making *m)
{
    static const char *const sorts[] = {"self", "total", "name"};
    const struct wndl_times *times = &m->report.times;
    double seconds =
        (double)(wndl_clock_monotonic_ns() - m->live->started) / NS_PER_SECOND;
    char all[WNDL_NUMBER_SIZE];
    char cpu[WNDL_NUMBER_SIZE] = "", off[WNDL_NUMBER_SIZE] = "";
    if (m->view->time == WNDL_TIME_BYTES)
        snprintf(m->to->head, sizeof m->to->head, "%.1f s, live heap %s bytes",
            seconds, wndl_text_number(m->report.all.time, all));
    else
        snprintf(m->to->head, sizeof m->to->head,
            "%.1f s, %zu threads, CPU %s, blocked %s", seconds,
            m->live->profile.threads.len,
            wndl_text_time(times->sampled_cpu, cpu),
            wndl_text_time(times->blocked, off));
    snprintf(m->to->columns, sizeof m->to->columns,
        "%16s  %16s  function (by %s)", "self", "total", sorts[m->view->sort]);
}

static bool make_lines(struct making *m)
{
    const struct wndl_symbolized *s = &m->live->symbolized;
    if (!wndl_report_fill(
            &m->report, s, WNDL_BY_FUNCTION, m->view->time, wndl_mem_libc()))
        return false;
    sort_rows(m);
    make_head(m);
    for (size_t i = 0; i < m->report.rows.len; i++) {
        if (!add_row(m, wndl_vec_at(&m->report.rows, i)))
            return false;
    }
    return true;
}

bool wndl_top_lines_make(struct wndl_top_lines *lines,
    const struct wndl_top_live *live, const struct wndl_top_view *view)
{
    static const struct wndl_text_layout layout = {0};
    struct making m = {.live = live, .view = view, .to = lines};
    m.text = (struct wndl_text){&m.report, &layout, NULL};
    *lines = (struct wndl_top_lines){0};
    wndl_arena_init(&lines->arena, wndl_mem_libc());
    wndl_vec_init(&lines->lines, &lines->arena, sizeof(struct wndl_top_line));
    /* A key may come before the first names. */
    bool made = !live->is_named || make_lines(&m);
    if (live->is_named)
        wndl_report_free(&m.report);
    return made;
}

void wndl_top_lines_free(struct wndl_top_lines *lines)
{
    wndl_arena_free(&lines->arena);
}
