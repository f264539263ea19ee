/* SPDX-License-Identifier: MIT */
#include "cli/report/diff_table.h"

#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/core/terminal.h"
#include "cli/shared/heap_report.h"
#include "out/diff_svg.h"
#include "out/report_json/diff.h"
#include "out/report_text/diff.h"

#include <math.h>

enum { USUAL_ROWS = 30 };

bool wndl_diff_table_init(
    struct wndl_diff_table *table, const struct wndl_diff_options *o)
{
    *table = (struct wndl_diff_table){.o = o};
    if (!wndl_diff_init(&table->d, wndl_mem_libc())) {
        wndl_cli_error("out of memory");
        return false;
    }
    table->d.by = o->by == 0 ? WNDL_DIFF_BY_FUNCTION
                             : (enum wndl_diff_key_kind)(o->by - 1);
    return true;
}

void wndl_diff_table_free(struct wndl_diff_table *table)
{
    wndl_diff_free(&table->d);
}

/* ---- recordings */

static enum wndl_time time_of(const struct wndl_diff_table *table)
{
    return table->o->time == 0 ? WNDL_TIME_CPU
                               : (enum wndl_time)(table->o->time - 1);
}

/* Options that would have no effect. */
static const char *contradiction(const struct wndl_diff_table *table)
{
    const struct wndl_heap_options *heap = &table->o->heap;
    bool of_records =
        heap->max_frames != WNDL_HEAP_USUAL_FRAMES || heap->ignore_alloc_fns;
    if (table->of_heap) {
        if (table->o->time != 0)
            return "--time is for samples, not for heaps";
        if (table->d.by == WNDL_DIFF_BY_THREAD)
            return "--by thread is for samples, not for heaps";
        return of_records
                   ? "-f and -a are for records, of two heaps without --by"
                   : NULL;
    }
    if (of_records || heap->sort != WNDL_HEAP_BY_USABLE ||
        wndl_heap_set_given(&heap->of))
        return "--blocks, --snapshot, --process, -f, -s and -a are for heaps; "
               "this is on samples";
    return NULL;
}

/* The first recording decides the subject of the table. */
static int begin_table(
    struct wndl_diff_table *table, const struct wndl_cli_recording *loaded)
{
    enum wndl_diff_compare compare = table->o->compare;
    table->of_heap = wndl_heap_shown_of(&loaded->profile, table->o->of_heap);
    table->set = wndl_heap_choose(&table->o->heap.of, loaded, 1).set;
    table->d.subject =
        compare == WNDL_DIFF_COMPARE_AMOUNT ||
                (compare == WNDL_DIFF_COMPARE_AUTO && table->of_heap)
            ? WNDL_DIFF_AMOUNT
            : WNDL_DIFF_SHARE;
    const char *problem = contradiction(table);
    if (problem == NULL)
        return WNDL_EXIT_OK;
    wndl_cli_error("%s; see 'windlass diff --help'", problem);
    return WNDL_EXIT_USAGE;
}

static int no_time(const struct wndl_diff_table *table,
    const struct wndl_profile *p, const char *file)
{
    static const char *const times[] = {"CPU", "blocked", "wall"};
    enum wndl_time time = time_of(table);
    bool others = p->samples.len + p->blocks.len != 0;
    return wndl_cli_error("%s: the recording holds no %s time%s", file,
        times[time],
        !others                     ? ""
        : time == WNDL_TIME_BLOCKED ? "; try --time cpu"
                                    : "; try --time blocked");
}

/* Reports that either the first recording or `file` holds no freed blocks. */
static int says_less(const struct wndl_diff_table *table, const char *file)
{
    const char *first = wndl_diff_recording_at(&table->d, 0)->file;
    bool is_first = table->set == WNDL_HEAP_SET_LIVE;
    return wndl_cli_error("%s does not hold freed blocks, as %s does; --blocks "
                          "live compares only live blocks",
        is_first ? first : file, is_first ? file : first);
}

static int add_heap(struct wndl_diff_table *table,
    const struct wndl_cli_recording *loaded, const char *file)
{
    struct wndl_heap_choice choice =
        wndl_heap_choose(&table->o->heap.of, loaded, 1);
    choice.grouping.sort = table->o->heap.sort;
    if (loaded->profile.heaps.len == 0)
        return wndl_cli_error("%s: the recording holds no heap", file);
    if (!wndl_heap_has(&loaded->profile, &choice, file))
        return WNDL_EXIT_FAILURE;
    if (choice.set != table->set)
        return says_less(table, file);
    if (!wndl_diff_add_heap(&table->d, &loaded->symbolized, &choice))
        return wndl_cli_error("out of memory");
    return WNDL_EXIT_OK;
}

static int add_time(struct wndl_diff_table *table,
    const struct wndl_cli_recording *loaded, const char *file)
{
    struct wndl_cost_item item;
    size_t at = 0;
    enum wndl_time time = time_of(table);
    if (!wndl_costs_next(&loaded->profile, time, &at, &item))
        return no_time(table, &loaded->profile, file);
    if (!wndl_diff_add_time(&table->d, &loaded->symbolized, time))
        return wndl_cli_error("out of memory");
    return WNDL_EXIT_OK;
}

int wndl_diff_table_add(struct wndl_diff_table *table,
    const struct wndl_cli_recording *loaded, const char *file, uint32_t group)
{
    const struct wndl_profile *p = &loaded->profile;
    if (table->d.recordings.len == 0) {
        int exit_code = begin_table(table, loaded);
        if (exit_code != WNDL_EXIT_OK)
            return exit_code;
    }
    struct wndl_diff_recording *recording =
        wndl_diff_recording(&table->d, file, group);
    /* The sum of everything exists even if nothing is added. */
    if (recording == NULL || wndl_diff_sum(recording, 0) == NULL)
        return wndl_cli_error("out of memory");
    recording->whole = p->finished && !p->cut && p->chunks_damaged == 0;
    return table->of_heap ? add_heap(table, loaded, file)
                          : add_time(table, loaded, file);
}

/* ---- the threshold */

/* Whether the change exceeds the threshold, in percent of the first group. */
static bool is_above(
    const struct wndl_diff_table *table, const struct wndl_diff_change *c)
{
    const struct wndl_diff_place all = {WNDL_DIFF_AMOUNT, WNDL_DIFF_TOTAL, 0};
    double percent = c->change;
    if (table->d.subject == WNDL_DIFF_AMOUNT) {
        double before = wndl_diff_value(&table->d, all, 0).mean;
        percent = before > 0 ? 100 * c->change / before : INFINITY;
    }
    return c->beyond && c->change > 0 && percent > table->o->threshold;
}

static int judge_growth(const struct wndl_diff_table *table)
{
    const struct wndl_diff_place all = {WNDL_DIFF_AMOUNT, WNDL_DIFF_TOTAL, 0};
    struct wndl_diff_change change = wndl_diff_change(&table->d, all);
    const struct wndl_diff_row *rows = table->d.rows.data;
    size_t grown = 0;
    for (size_t i = 0; i < table->d.rows.len; i++)
        grown += is_above(table, &rows[i].change[WNDL_DIFF_SELF]) ||
                 is_above(table, &rows[i].change[WNDL_DIFF_TOTAL]);
    bool all_grown =
        table->d.subject == WNDL_DIFF_AMOUNT && is_above(table, &change);
    if (grown == 0 && !all_grown)
        return WNDL_EXIT_OK;
    wndl_cli_note("%zu row%s grew by more than %g %% of all%s", grown,
        grown == 1 ? "" : "s", table->o->threshold,
        all_grown ? ", and so did the whole" : "");
    return WNDL_EXIT_FAILURE;
}

/* ---- what cannot be compared */

/* Percent of what the first group spent that the last one spent on the same
 * things, whatever the filters. Of nothing it is all. */
static double percent_in_both(const struct wndl_diff *d)
{
    const struct wndl_diff_place all = {WNDL_DIFF_AMOUNT, WNDL_DIFF_TOTAL, 0};
    double sum = 0;
    if (wndl_diff_value(d, all, 0).mean <= 0 ||
        wndl_diff_value(d, all, d->groups - 1).mean <= 0)
        return 100;
    for (uint32_t key = 1; key < wndl_intern_count(&d->keys); key++) {
        const struct wndl_diff_place place = {
            WNDL_DIFF_SHARE, WNDL_DIFF_SELF, key};
        sum += fmin(wndl_diff_value(d, place, 0).mean,
            wndl_diff_value(d, place, d->groups - 1).mean);
    }
    return sum;
}

/* A renamed function is a different one. */
static void note_strangers(const struct wndl_diff_table *table)
{
    const struct wndl_diff_recording *first =
        wndl_diff_recording_at(&table->d, 0);
    const struct wndl_diff_recording *last =
        wndl_diff_recording_at(&table->d, table->d.recordings.len - 1);
    if (percent_in_both(&table->d) < 1)
        wndl_cli_note("%s and %s have almost nothing in common: things are "
                      "matched by their own name and the name of their module",
            first->file, last->file);
}

/* ---- output */

static void write_text(
    const struct wndl_diff_table *table, struct wndl_buf *out)
{
    const struct wndl_diff_options *o = table->o;
    const struct wndl_text_layout layout = {
        .width = o->full_names ? 0 : wndl_terminal_width(),
        .full_names = o->full_names,
        .utf8 = wndl_terminal_utf8(),
        .max_rows = o->rows != 0 ? o->rows : USUAL_ROWS,
    };
    wndl_report_text_diff(&table->d, &layout, out);
}

static bool write_plot(FILE *out, void *context)
{
    const struct wndl_diff_table *table = context;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    wndl_diff_svg(&table->d, &text);
    bool made = !text.failed;
    if (made)
        (void)fwrite(text.data, 1, text.size, out);
    wndl_buf_free(&text);
    return made;
}

/* A picture without rows would look as if nothing had changed. */
static int plot(struct wndl_diff_table *table)
{
    const struct wndl_output output = {.path = table->o->plot,
        .write = write_plot,
        .context = table,
        .open_with = "a browser"};
    if (table->o->plot == NULL)
        return WNDL_EXIT_OK;
    if (table->d.rows.len != 0)
        return wndl_output_write(&output);
    wndl_cli_note("did not write %s: there are no rows", table->o->plot);
    return WNDL_EXIT_OK;
}

int wndl_diff_table_show(struct wndl_diff_table *table)
{
    const struct wndl_diff_options *o = table->o;
    if (!wndl_diff_finish(&table->d, o->heap.filters.texts))
        return wndl_cli_error("out of memory");
    if (table->d.rows.len == 0 && o->heap.filters.count != 0)
        wndl_cli_note("nothing matches --filter");
    note_strangers(table);
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    if (o->json)
        wndl_report_json_diff(
            &table->d, o->rows == 0 ? SIZE_MAX : o->rows, &text);
    else
        write_text(table, &text);
    int exit_code = wndl_pager_show(&text, !o->no_pager && !o->json);
    wndl_buf_free(&text);
    if (exit_code == WNDL_EXIT_OK)
        exit_code = plot(table);
    if (exit_code == WNDL_EXIT_OK && o->threshold > 0)
        exit_code = judge_growth(table);
    return exit_code;
}
