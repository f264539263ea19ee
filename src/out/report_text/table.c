/* SPDX-License-Identifier: MIT */
/* report_text_table: rows of self and total cost under their headings. */
#include "out/report_text/report_text.h"

#include "model/frame_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    GAP = 2,
    /* names are aligned up to this width, longer ones stick out */
    MAX_NAME = 60,
    MAX_PLACE = 26,
    LEAST_NAME = 16,
    LEAST_ROOM = 24,
    GOOD_ROOM = 64,
};

/*
 * The cells to the right of a row's numbers. Borrowed, also from the bufs,
 * which the next row overwrites.
 */
struct cells {
    struct wndl_bytes first;
    struct wndl_bytes second;
    struct wndl_bytes module;
    struct wndl_buf name, place;
};

/* Widths of a table. */
struct columns {
    size_t numbers;       /* columns to the left of the name */
    size_t first, second; /* to fill up to */
    size_t module;
    bool narrow; /* nothing may be wider */
};

static const struct wndl_function *function_at(
    const struct wndl_text *t, uint32_t index)
{
    return wndl_vec_at(&t->r->symbolized->functions, index);
}

static struct wndl_bytes text_of(const struct wndl_text *t, uint32_t id)
{
    return wndl_intern_get(&t->r->symbolized->strings, id);
}

static struct wndl_bytes bytes_of(const struct wndl_buf *buf)
{
    return (struct wndl_bytes){buf->data, buf->size};
}

static void function_cells(const struct wndl_text *t,
    const struct wndl_row *row, const struct columns *c, struct cells *cells)
{
    const struct wndl_function *function = function_at(t, row->key);
    wndl_text_place(wndl_path_name(text_of(t, function->file)), function->line,
        &cells->place);
    cells->first = wndl_text_name(
        t, text_of(t, function->name), c->narrow ? c->first : 0, &cells->name);
    cells->second = bytes_of(&cells->place);
    cells->module = wndl_text_module_name(t, function->module);
}

static void line_cells(const struct wndl_text *t, const struct wndl_row *row,
    const struct columns *c, struct cells *cells)
{
    const struct wndl_location *location =
        wndl_vec_at(&t->r->symbolized->locations, row->key);
    const struct wndl_function *function = function_at(t, location->function);
    struct wndl_bytes file = text_of(t, location->file);
    if (t->layout->width != 0) /* the line is at the end, and must be seen */
        file = wndl_path_name(file);
    wndl_text_place(file, location->line, &cells->place);
    if (cells->place.size == 0)
        wndl_buf_text(&cells->place, "?");
    cells->first = bytes_of(&cells->place);
    cells->second = wndl_text_name(
        t, text_of(t, function->name), c->narrow ? c->second : 0, &cells->name);
    cells->module = wndl_text_module_name(t, function->module);
}

/* Code without line information has no file. */
static void file_cells(const struct wndl_text *t, const struct wndl_row *row,
    const struct columns *c, struct cells *cells)
{
    static const char unknown[] = "[file not known]";
    (void)c;
    cells->first = row->key == 0 ? (struct wndl_bytes){(const uint8_t *)unknown,
                                       sizeof unknown - 1}
                                 : text_of(t, row->key);
    cells->second = (struct wndl_bytes){0};
    cells->module = (struct wndl_bytes){0};
}

/* "program+0x1139", by the frame's innermost function. */
static void address_cells(const struct wndl_text *t, const struct wndl_row *row,
    const struct columns *c, struct cells *cells)
{
    const struct wndl_symbolized *s = t->r->symbolized;
    const struct wndl_frame_key *key =
        wndl_vec_at(&s->profile->frames, row->key);
    const struct wndl_span *span = wndl_vec_at(&s->spans, row->key);
    const struct wndl_function *function =
        function_at(t, wndl_symbolized_location(s, span, 0)->function);
    struct wndl_bytes module = wndl_text_module_name(t, function->module);
    wndl_buf_clear(&cells->place);
    if (key->image != WNDL_NO_INDEX) {
        wndl_buf_add(&cells->place, module.data, module.size);
        wndl_buf_byte(&cells->place, '+');
    }
    wndl_buf_printf(&cells->place, "0x%" PRIx64, wndl_frame_key_byte(key));
    cells->first = bytes_of(&cells->place);
    cells->second = wndl_text_name(
        t, text_of(t, function->name), c->narrow ? c->second : 0, &cells->name);
    cells->module = module;
}

static void module_cells(const struct wndl_text *t, const struct wndl_row *row,
    const struct columns *c, struct cells *cells)
{
    (void)c;
    const struct wndl_module *module =
        wndl_vec_at(&t->r->symbolized->modules, row->key);
    wndl_buf_clear(&cells->place);
    wndl_buf_text(&cells->place, wndl_symbols_state_text(module->state));
    cells->first = text_of(t, module->path);
    cells->second = bytes_of(&cells->place);
}

static void thread_cells(const struct wndl_text *t, const struct wndl_row *row,
    const struct columns *c, struct cells *cells)
{
    (void)c;
    const struct wndl_profile *p = t->r->symbolized->profile;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, row->key);
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, thread->process);
    wndl_buf_clear(&cells->place);
    wndl_buf_printf(&cells->place, "%u/%u", process->pid, thread->tid);
    cells->first = thread->name;
    cells->second = bytes_of(&cells->place);
    cells->module = wndl_path_name(process->executable);
}

/* ---- numbers */

/* Fills the columns of numbers, or those of their headings for NULL. */
static size_t put_costs(const struct wndl_text *t, const struct wndl_row *row)
{
    char self[WNDL_NUMBER_SIZE], total[WNDL_NUMBER_SIZE];
    size_t before = t->out->size;
    if (row != NULL) {
        wndl_buf_printf(t->out, "%5.1f%% %9s  %5.1f%% %9s  ",
            wndl_text_percent(t, row->self.time),
            wndl_text_cost_cell(t, row->self.time, self),
            wndl_text_percent(t, row->total.time),
            wndl_text_cost_cell(t, row->total.time, total));
    } else {
        snprintf(self, sizeof self, "self (%s)", wndl_text_time_kind(t));
        snprintf(total, sizeof total, "total (%s)", wndl_text_time_kind(t));
        wndl_buf_printf(t->out, "%16s  %16s  ", self, total);
    }
    return t->out->size - before;
}

/* All times of a thread; its share is of the time shown. */
static size_t put_times(const struct wndl_text *t, const struct wndl_row *row)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char cpu[WNDL_NUMBER_SIZE] = "CPU", blocked[WNDL_NUMBER_SIZE] = "blocked";
    char waiting[WNDL_NUMBER_SIZE] = "waiting",
         lived[WNDL_NUMBER_SIZE] = "lived";
    size_t before = t->out->size;
    if (row == NULL) {
        wndl_buf_text(t->out, " share");
    } else {
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, row->key);
        const struct wndl_times *times = &t->r->times_of_thread[row->key];
        wndl_buf_printf(
            t->out, "%5.1f%%", wndl_text_percent(t, row->self.time));
        wndl_text_time_cell(times->sampled_cpu + times->unsampled_cpu, cpu);
        wndl_text_time_cell(times->blocked, blocked);
        wndl_text_time_cell(times->waiting, waiting);
        wndl_text_time_cell(
            thread->end > thread->start ? thread->end - thread->start : 0,
            lived);
    }
    wndl_buf_printf(t->out, " %8s ", cpu);
    if (wndl_text_has_blocks(t))
        wndl_buf_printf(t->out, "%8s %8s ", blocked, waiting);
    wndl_buf_printf(t->out, "%8s  ", lived);
    return t->out->size - before;
}

/* The views, in the order of enum wndl_view. */
static const struct {
    const char *name, *second, *module;
    size_t (*numbers)(const struct wndl_text *t, const struct wndl_row *row);
    void (*cells)(const struct wndl_text *t, const struct wndl_row *row,
        const struct columns *c, struct cells *cells);
} views[] = {
    [WNDL_BY_FUNCTION] = {"function", "starts at", "module", put_costs,
        function_cells},
    [WNDL_BY_LINE] = {"line", "function", "module", put_costs, line_cells},
    [WNDL_BY_MODULE] = {"module", "symbols", "module", put_costs, module_cells},
    [WNDL_BY_THREAD] = {"thread", "pid/tid", "program", put_times,
        thread_cells},
    [WNDL_BY_FILE] = {"file", "", "", put_costs, file_cells},
    [WNDL_BY_ADDRESS] = {"address", "function", "module", put_costs,
        address_cells},
};

/* A row without a stack has only its label. */
static void fill_cells(const struct wndl_text *t, const struct wndl_row *row,
    const struct columns *c, struct cells *cells)
{
    const char *label = wndl_label_text(row->label);
    if (label == NULL) {
        views[t->r->view].cells(t, row, c, cells);
        return;
    }
    cells->first = (struct wndl_bytes){(const uint8_t *)label, strlen(label)};
    cells->second = (struct wndl_bytes){0};
    cells->module = (struct wndl_bytes){0};
}

static size_t shown_rows(const struct wndl_text *t)
{
    size_t max = t->layout->max_rows;
    return t->r->rows.len < max ? t->r->rows.len : max;
}

static void widen_column(size_t *width, struct wndl_bytes text, size_t limit)
{
    size_t needed = wndl_text_columns(text);
    if (needed > limit)
        needed = limit;
    if (needed > *width)
        *width = needed;
}

/*
 * On a narrow terminal the second column keeps a third of the room; a
 * function's place is left out if that leaves too little for its name.
 */
static void fit_columns(const struct wndl_text *t, struct columns *c)
{
    size_t width = t->layout->width;
    size_t fixed = c->numbers + GAP + GAP + c->module + 2; /* brackets */
    size_t room = width > fixed + LEAST_ROOM ? width - fixed : LEAST_ROOM;
    c->narrow = width != 0;
    if (!c->narrow)
        return;
    if (c->first + c->second > room && t->r->view == WNDL_BY_THREAD) {
        room += c->module + 2 + GAP; /* the pid stands for the program too */
        c->module = 0;
    }
    if (c->first + c->second <= room)
        return;
    if (t->r->view == WNDL_BY_FUNCTION && room < GOOD_ROOM) {
        c->second = 0;
        c->first = room;
        return;
    }
    size_t spare = room > c->first ? room - c->first : 0;
    size_t least = room / 3 > spare ? room / 3 : spare;
    c->second = c->second < least ? c->second : least;
    c->first = room - c->second;
}

static struct columns measure_row(
    const struct wndl_text *t, struct cells *cells)
{
    const char *second = views[t->r->view].second;
    struct columns c = {.first = LEAST_NAME};
    size_t before = t->out->size;
    c.numbers = views[t->r->view].numbers(t, NULL);
    t->out->size = before;
    for (size_t i = 0; i < shown_rows(t); i++) {
        fill_cells(t, wndl_vec_at(&t->r->rows, i), &c, cells);
        widen_column(&c.first, cells->first, MAX_NAME);
        widen_column(&c.second, cells->second, MAX_PLACE);
        widen_column(&c.module, cells->module, MAX_PLACE);
    }
    if (c.second != 0)
        widen_column(&c.second,
            (struct wndl_bytes){(const uint8_t *)second, strlen(second)},
            MAX_PLACE);
    fit_columns(t, &c);
    return c;
}

/*
 * Fills a column of `width`. `*over` is the excess of earlier columns, which is
 * made up for here; the excess of this one is added.
 */
static void put_cell(const struct wndl_text *t, struct wndl_bytes text,
    size_t width, const struct columns *c, size_t *over)
{
    size_t used = wndl_text_cut(t, text, c->narrow ? width : 0) + *over;
    *over = used > width ? used - width : 0;
    wndl_text_spaces(t, width > used ? width - used : 0);
}

static void line_end(const struct wndl_text *t)
{
    struct wndl_buf *out = t->out;
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->size--;
    wndl_buf_byte(out, '\n');
}

static void write_row(const struct wndl_text *t, const struct wndl_row *row,
    const struct columns *c, struct cells *cells)
{
    fill_cells(t, row, c, cells);
    (void)views[t->r->view].numbers(t, row);
    size_t over = 0;
    put_cell(t, cells->first, c->first, c, &over);
    wndl_text_spaces(t, GAP);
    if (c->second != 0) {
        put_cell(t, cells->second, c->second, c, &over);
        wndl_text_spaces(t, GAP);
    }
    if (cells->module.size != 0 && c->module != 0)
        wndl_text_module(t, cells->module);
    line_end(t);
}

/* A column that is empty in all rows has no heading. */
static void put_heading(const struct wndl_text *t, const struct columns *c)
{
    (void)views[t->r->view].numbers(t, NULL);
    wndl_buf_printf(t->out, "%-*s  ", (int)c->first, views[t->r->view].name);
    if (c->second != 0)
        wndl_buf_printf(
            t->out, "%-*s  ", (int)c->second, views[t->r->view].second);
    wndl_buf_text(t->out, c->module == 0 ? "" : views[t->r->view].module);
    line_end(t);
}

void wndl_text_table(const struct wndl_text *t)
{
    struct cells cells = {0};
    wndl_buf_init(&cells.name, t->out->mem);
    wndl_buf_init(&cells.place, t->out->mem);
    struct columns c = measure_row(t, &cells);
    put_heading(t, &c);
    for (size_t i = 0; i < shown_rows(t); i++)
        write_row(t, wndl_vec_at(&t->r->rows, i), &c, &cells);
    size_t rest = t->r->rows.len - shown_rows(t);
    if (rest != 0)
        wndl_buf_printf(t->out, "%zu more row%s: -n %zu\n", rest,
            rest == 1 ? "" : "s", t->r->rows.len);
    t->out->failed |= cells.place.failed || cells.name.failed;
    wndl_buf_free(&cells.name);
    wndl_buf_free(&cells.place);
}
