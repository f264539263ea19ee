/* SPDX-License-Identifier: MIT */
#include "out/report_text/annotated.h"

#include "out/report_text/report_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    COSTS = 30,  /* columns of costs, and the spaces after them */
    NUMBERS = 9, /* columns of a line's number, and the spaces after it */
    TAB = 8,
    /* lines shown before the first with code: where the function is declared */
    BEFORE = 3,
};

struct writing {
    const struct wndl_annotation *of;
    const struct wndl_annotated *a;
    const struct wndl_annotated_layout *layout;
    const struct wndl_text *t; /* for cells: without a report */
    struct wndl_buf *out;
    struct wndl_buf scratch;
};

static struct wndl_bytes text_of(const struct writing *w, uint32_t id)
{
    return wndl_intern_get(&w->of->symbolized->strings, id);
}

/* ---- cells */

static double share(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

static const char *put_amount(
    const struct writing *w, uint64_t value, char text[WNDL_NUMBER_SIZE])
{
    return w->of->of_heap ? wndl_text_number(value, text)
                          : wndl_text_time_cell(value, text);
}

static const char *unit_of(const struct writing *w)
{
    static const char *const times[] = {
        [WNDL_TIME_CPU] = "CPU",
        [WNDL_TIME_BLOCKED] = "blocked",
        [WNDL_TIME_WALL] = "wall",
    };
    return w->of->of_heap ? "bytes" : times[w->of->time];
}

static bool is_cost(const struct wndl_cost *cost)
{
    return cost->samples != 0 || cost->time != 0;
}

/* COSTS columns: self, as a share and an amount, and the share of total. */
static void put_costs(const struct writing *w, const struct wndl_cost *self,
    const struct wndl_cost *total)
{
    char amount[WNDL_NUMBER_SIZE];
    if (!is_cost(self) && (total == NULL || !is_cost(total))) {
        wndl_text_spaces(w->t, COSTS);
        return;
    }
    wndl_buf_printf(w->out, "%5.1f%% %13s  ",
        share(self->time, w->a->self.time), put_amount(w, self->time, amount));
    if (total == NULL)
        wndl_text_spaces(w->t, 8);
    else
        wndl_buf_printf(
            w->out, "%5.1f%%  ", share(total->time, w->a->total.time));
}

static void put_heading(const struct writing *w, const char *rest)
{
    char unit[WNDL_NUMBER_SIZE];
    snprintf(unit, sizeof unit, "(%s)", unit_of(w));
    wndl_buf_printf(w->out, "\n  self %13s   total  %s\n", unit, rest);
}

/* Appends a line of source: tabs are spaces. Cut after `used` columns. */
static void put_source(struct writing *w, struct wndl_bytes source, size_t used)
{
    size_t width = w->layout->width;
    size_t column = 0;
    wndl_buf_clear(&w->scratch);
    for (size_t i = 0; i < source.size; i++) {
        bool tab = source.data[i] == '\t';
        do {
            wndl_buf_byte(&w->scratch, tab ? ' ' : source.data[i]);
        } while (++column % TAB != 0 && tab);
    }
    wndl_text_cut(w->t, (struct wndl_bytes){w->scratch.data, w->scratch.size},
        width == 0               ? 0
        : width > used + 2 * TAB ? width - used
                                 : 2 * TAB);
}

static void end_line(const struct writing *w)
{
    while (w->out->size > 0 && w->out->data[w->out->size - 1] == ' ')
        w->out->size--;
    wndl_buf_byte(w->out, '\n');
}

static void put_name(struct writing *w, uint32_t id)
{
    struct wndl_buf spelled;
    wndl_buf_init(&spelled, w->out->mem);
    wndl_text_cut(w->t, wndl_text_name(w->t, text_of(w, id), 0, &spelled), 0);
    w->out->failed |= spelled.failed;
    wndl_buf_free(&spelled);
}

/* The last part of the path, and the line. */
static void put_place(struct writing *w, uint32_t file, uint32_t line)
{
    wndl_text_place(wndl_path_name(text_of(w, file)), line, &w->scratch);
    wndl_text_cut(
        w->t, (struct wndl_bytes){w->scratch.data, w->scratch.size}, 0);
}

static void put_module(const struct writing *w, uint32_t index)
{
    const struct wndl_module *module =
        wndl_vec_at(&w->of->symbolized->modules, index);
    wndl_text_module(w->t, text_of(w, module->name));
}

/* The name, where it is, and its module. */
static void put_function(struct writing *w, uint32_t name, uint32_t file,
    uint32_t line, uint32_t module)
{
    put_name(w, name);
    wndl_text_spaces(w->t, file == 0 ? 0 : 2);
    put_place(w, file, line);
    wndl_text_spaces(w->t, 2);
    put_module(w, module);
    end_line(w);
}

/* ---- the head */

static void put_sum(
    struct writing *w, const char *label, const struct wndl_cost *cost)
{
    char amount[WNDL_NUMBER_SIZE];
    const char *text = w->of->of_heap ? wndl_text_number(cost->time, amount)
                                      : wndl_text_time(cost->time, amount);
    wndl_text_label(w->t, label);
    wndl_buf_printf(w->out, "%s%s, %.1f%% of all %s%s\n", text,
        w->of->of_heap ? " bytes" : "", share(cost->time, w->of->all.time),
        unit_of(w), w->of->of_heap ? "" : " time");
}

static void put_head(struct writing *w)
{
    const struct wndl_function *f =
        wndl_vec_at(&w->of->symbolized->functions, w->a->function);
    wndl_text_label(w->t, "Function");
    put_function(w, f->name, f->file, f->line, f->module);
    put_sum(w, "Self", &w->a->self);
    put_sum(w, "Total", &w->a->total);
}

/* The hint is given once, for the first file that is missing. */
static void put_source_head(
    struct writing *w, const struct wndl_annotated_file *file, bool *hinted)
{
    wndl_text_label(w->t, "Source");
    wndl_text_cut(w->t,
        (struct wndl_bytes){(const uint8_t *)file->path, strlen(file->path)},
        0);
    if (file->problem != NULL)
        wndl_buf_printf(
            w->out, "%s%s", file->path[0] == '\0' ? "" : ": ", file->problem);
    else if (file->is_newer)
        wndl_buf_text(w->out, " (changed after the recording)");
    wndl_buf_byte(w->out, '\n');
    if (file->problem == NULL || file->path[0] == '\0' || *hinted)
        return;
    wndl_text_label(w->t, "");
    wndl_buf_text(w->out, "--source-map FROM=TO reads the sources of FROM "
                          "below TO\n");
    *hinted = true;
}

/* ---- lines */

/* Rows of a file: lines, and what was inlined at them. */
struct rows {
    const struct wndl_annotated_line *lines, *lines_end;
    const struct wndl_annotated_inlined *inlined, *inlined_end;
};

static struct rows rows_of(
    const struct writing *w, const struct wndl_annotated_file *file)
{
    struct rows rows = {
        .lines = w->a->lines.data,
        .inlined = w->a->inlined.data,
    };
    size_t lines = w->a->lines.len, inlined = w->a->inlined.len;
    for (; lines > 0 && rows.lines->file != file->file; lines--)
        rows.lines++;
    for (rows.lines_end = rows.lines;
         lines > 0 && rows.lines_end->file == file->file; lines--)
        rows.lines_end++;
    for (; inlined > 0 && rows.inlined->file != file->file; inlined--)
        rows.inlined++;
    for (rows.inlined_end = rows.inlined;
         inlined > 0 && rows.inlined_end->file == file->file; inlined--)
        rows.inlined_end++;
    return rows;
}

static void put_line(struct writing *w, const struct wndl_annotated_file *file,
    uint32_t number, const struct wndl_annotated_line *line)
{
    static const struct wndl_cost none;
    put_costs(w, line == NULL ? &none : &line->self,
        line == NULL ? &none : &line->total);
    if (number == 0)
        wndl_buf_printf(w->out, "%7s  ", "?");
    else
        wndl_buf_printf(w->out, "%7" PRIu32 "  ", number);
    put_source(w, wndl_annotated_source(file, number), COSTS + NUMBERS);
    end_line(w);
}

static void put_inlined(
    struct writing *w, const struct wndl_annotated_inlined *row)
{
    const struct wndl_symbolized *s = w->of->symbolized;
    const struct wndl_location *at = wndl_vec_at(&s->locations, row->location);
    const struct wndl_function *f = wndl_vec_at(&s->functions, at->function);
    put_costs(w, &row->self, NULL);
    size_t start = w->out->size;
    wndl_text_spaces(w->t, NUMBERS);
    wndl_buf_text(w->out, "| inlined ");
    put_name(w, f->name);
    wndl_text_spaces(w->t, 2);
    put_place(w, at->file, at->line);
    wndl_text_spaces(w->t, 2);
    size_t used = COSTS + w->out->size - start;
    const struct wndl_bytes source =
        wndl_annotated_source(wndl_annotated_file(w->a, at->file), at->line);
    size_t blank = 0;
    while (blank < source.size &&
           (source.data[blank] == ' ' || source.data[blank] == '\t'))
        blank++;
    put_source(w, wndl_bytes_slice(source, blank, source.size - blank), used);
    end_line(w);
}

/* The rows of one line, which are the next ones. */
static void put_rows(struct writing *w, const struct wndl_annotated_file *file,
    uint32_t number, struct rows *rows)
{
    const struct wndl_annotated_line *line = NULL;
    if (rows->lines < rows->lines_end && rows->lines->line == number)
        line = rows->lines++;
    put_line(w, file, number, line);
    while (rows->inlined < rows->inlined_end && rows->inlined->line == number)
        put_inlined(w, rows->inlined++);
}

/* Whether a line with a cost is near; `*next` is the first that may be. */
static bool is_near(const struct writing *w, uint32_t number,
    const struct rows *rows, const struct wndl_annotated_line **next)
{
    uint64_t around = w->layout->around;
    if (around == 0)
        return true;
    while (*next < rows->lines_end &&
           ((*next)->line + around < number ||
               (!is_cost(&(*next)->self) && !is_cost(&(*next)->total))))
        (*next)++;
    return *next < rows->lines_end && (*next)->line <= number + around;
}

static void put_text(struct writing *w, const struct wndl_annotated_file *file)
{
    struct rows rows = rows_of(w, file);
    const struct wndl_annotated_line *near = rows.lines;
    bool skipped = false;
    if (rows.lines < rows.lines_end && rows.lines->line == 0)
        put_rows(w, file, 0, &rows);
    uint32_t last =
        file->last < file->line_count ? file->last : file->line_count;
    uint32_t first =
        file->first > BEFORE ? file->first - BEFORE : file->first != 0;
    for (uint32_t i = first; i != 0 && i <= last; i++) {
        if (is_near(w, i, &rows, &near)) {
            if (skipped)
                wndl_buf_printf(w->out, "%*s\n", COSTS + NUMBERS - 2, "...");
            skipped = false;
            put_rows(w, file, i, &rows);
            continue;
        }
        skipped = true;
        if (rows.lines < rows.lines_end && rows.lines->line == i)
            rows.lines++;
    }
    /* Lines after the end of a file that was changed. */
    while (rows.lines < rows.lines_end)
        put_rows(w, file, rows.lines->line, &rows);
}

/* Without a text only the lines with a cost. */
static void put_numbers(
    struct writing *w, const struct wndl_annotated_file *file)
{
    struct rows rows = rows_of(w, file);
    while (rows.lines < rows.lines_end) {
        if (is_cost(&rows.lines->self) || is_cost(&rows.lines->total))
            put_rows(w, file, rows.lines->line, &rows);
        else
            rows.lines++;
    }
}

static void put_lines(struct writing *w, bool *hinted)
{
    const struct wndl_annotated_file *files = w->a->files.data;
    for (size_t i = 0; i < w->a->files.len; i++) {
        if (!files[i].is_own)
            continue;
        put_source_head(w, &files[i], hinted);
        put_heading(w, "   line  source");
        if (files[i].problem == NULL)
            put_text(w, &files[i]);
        else
            put_numbers(w, &files[i]);
    }
}

/* ---- instructions */

static bool is_same_line(
    const struct wndl_annotated_code *a, const struct wndl_annotated_code *b)
{
    return a->function == b->function && a->file == b->file &&
           a->line == b->line;
}

/* The line that the next instructions are of. */
static void put_code_line(
    struct writing *w, const struct wndl_annotated_code *code)
{
    size_t start = w->out->size;
    if (code->file == 0)
        return;
    wndl_text_spaces(w->t, COSTS);
    if (code->inlined) {
        wndl_buf_text(w->out, "| inlined ");
        put_name(w, code->function);
        wndl_text_spaces(w->t, 2);
    }
    put_place(w, code->file, code->line);
    wndl_text_spaces(w->t, 2);
    put_source(w,
        wndl_annotated_source(
            wndl_annotated_file(w->a, code->file), code->line),
        w->out->size - start);
    end_line(w);
}

static void put_code(struct writing *w)
{
    const struct wndl_annotated_code *code = w->a->code.data;
    struct wndl_cost shown = {0};
    if (w->a->code_problem != NULL) {
        wndl_text_label(w->t, "Code");
        wndl_buf_printf(w->out, "%s\n", w->a->code_problem);
    }
    put_heading(w, "address  instruction");
    for (size_t i = 0; i < w->a->code.len; i++) {
        if (i == 0 || !is_same_line(&code[i - 1], &code[i]))
            put_code_line(w, &code[i]);
        wndl_cost_add(&shown, code[i].self);
        put_costs(w, &code[i].self, &code[i].total);
        wndl_buf_printf(
            w->out, "%7" PRIx64 "  ", w->a->image_base + code[i].rva);
        put_source(w,
            (struct wndl_bytes){
                (const uint8_t *)code[i].text, strlen(code[i].text)},
            COSTS + NUMBERS);
        end_line(w);
    }
    const struct wndl_cost rest = {
        w->a->self.samples - shown.samples, w->a->self.time - shown.time};
    if (!is_cost(&rest))
        return;
    put_costs(w, &rest, NULL);
    wndl_buf_printf(w->out, "%7s  in none of these instructions\n", "?");
}

/* ---- callers */

static void put_caller(
    struct writing *w, const struct wndl_annotated_caller *caller)
{
    const struct wndl_symbolized *s = w->of->symbolized;
    char amount[WNDL_NUMBER_SIZE];
    wndl_buf_printf(w->out, "%5.1f%% %13s  ",
        share(caller->total.time, w->a->total.time),
        put_amount(w, caller->total.time, amount));
    if (caller->location == WNDL_NO_INDEX) {
        wndl_buf_text(w->out, "[no caller]\n");
        return;
    }
    const struct wndl_location *at =
        wndl_vec_at(&s->locations, caller->location);
    const struct wndl_function *f = wndl_vec_at(&s->functions, at->function);
    put_function(w, f->name, at->file, at->line, f->module);
}

static void put_callers(struct writing *w)
{
    const struct wndl_annotated_caller *callers = w->a->callers.data;
    char unit[WNDL_NUMBER_SIZE];
    snprintf(unit, sizeof unit, "(%s)", unit_of(w));
    wndl_buf_printf(w->out, "\n total %13s  caller\n", unit);
    for (size_t i = 0; i < w->a->callers.len; i++)
        put_caller(w, &callers[i]);
}

/* ---- the whole */

static void put_annotated(struct writing *w, bool *hinted)
{
    put_head(w);
    if (w->layout->code)
        put_code(w);
    else
        put_lines(w, hinted);
    if (w->layout->callers)
        put_callers(w);
}

void wndl_annotated_text(const struct wndl_annotation *of,
    const struct wndl_annotated_layout *layout, struct wndl_buf *out)
{
    const struct wndl_text_layout cells = {
        .width = layout->width, .full_names = layout->full_names};
    const struct wndl_text t = {.layout = &cells, .out = out};
    struct writing w = {.of = of, .layout = layout, .t = &t, .out = out};
    size_t count = of->functions.len;
    bool hinted = false;
    wndl_buf_init(&w.scratch, out->mem);
    for (size_t i = 0; i < count && i < layout->functions; i++) {
        wndl_buf_text(out, i == 0 ? "" : "\n");
        w.a = wndl_vec_at(&of->functions, i);
        put_annotated(&w, &hinted);
    }
    if (count > layout->functions)
        wndl_buf_printf(out, "\n%zu more function%s of this name: -n %zu\n",
            count - layout->functions,
            count - layout->functions == 1 ? "" : "s", count);
    out->failed |= w.scratch.failed;
    wndl_buf_free(&w.scratch);
}
