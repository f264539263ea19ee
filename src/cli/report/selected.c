/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "cli/report/selected.h"

#include "analyze/time/collapsed.h"
#include "analyze/time/selection.h"
#include "analyze/time/turned.h"
#include "cli/core/command.h"
#include "cli/core/suggest.h"
#include "model/heap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND 1e9

bool wndl_selected_given(const struct wndl_selected_options *o)
{
    return o->threads != NULL || o->from != NULL || o->to != NULL ||
           o->around != NULL || o->before != NULL || o->module != NULL ||
           o->function != NULL || o->ignored != NULL || o->focus != NULL ||
           o->collapsed || wndl_selected_turns(o);
}

/* ---- times */

static double unit_of(const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text, units[i].name) == 0)
            return units[i].ns;
    }
    return 0;
}

/* False, with a message, if it is none. */
static bool read_time(const char *option, const char *text, uint64_t *ns)
{
    enum { MOST_SECONDS = 1000000000 };
    char *end;
    double value = strtod(text, &end);
    double unit = unit_of(end);
    if (end == text || unit == 0 || !(value >= 0) ||
        value * unit > MOST_SECONDS * NS_PER_SECOND) {
        wndl_cli_error("%s %s: not a time; write 1.5 (seconds), 200ms or 30us",
            option, text);
        return false;
    }
    *ns = (uint64_t)llround(value * unit);
    return true;
}

static int compare_intervals(const void *a, const void *b)
{
    const struct wndl_interval *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Joins those that touch. */
static void join_intervals(struct wndl_vec *times)
{
    struct wndl_interval *all = times->data;
    size_t kept = 0;
    if (times->len == 0)
        return;
    qsort(all, times->len, sizeof *all, compare_intervals);
    for (size_t i = 1; i < times->len; i++) {
        if (all[i].start > all[kept].end)
            all[++kept] = all[i];
        else if (all[i].end > all[kept].end)
            all[kept].end = all[i].end;
    }
    times->len = kept + 1;
}

static bool add_interval(struct wndl_vec *times,
    const struct wndl_interval *bounds, struct wndl_interval interval)
{
    if (interval.start < bounds->start)
        interval.start = bounds->start;
    if (interval.end > bounds->end)
        interval.end = bounds->end;
    if (interval.start >= interval.end)
        return true;
    struct wndl_interval *slot = wndl_vec_push(times);
    if (slot != NULL)
        *slot = interval;
    return slot != NULL;
}

/* The text whose marks choose the time, or NULL. */
static const char *text_of_marks(const struct wndl_selected_options *o)
{
    return o->before != NULL ? o->before : o->around;
}

/* Also a mark that is a moment has a time: the margin, and 1 ns. */
static struct wndl_interval time_of_mark(const struct wndl_mark *mark,
    const struct wndl_selected_options *o, uint64_t margin)
{
    return (struct wndl_interval){
        .start = mark->time > margin ? mark->time - margin : 0,
        .end = o->before != NULL ? mark->time
                                 : mark->time + mark->duration + margin + 1,
    };
}

static bool add_marks(struct wndl_vec *times, const struct wndl_profile *p,
    const struct wndl_selected_options *o, uint64_t margin,
    const struct wndl_interval *bounds)
{
    const char *text = text_of_marks(o);
    for (size_t i = 0; i < p->marks.len; i++) {
        const struct wndl_mark *mark = wndl_vec_at(&p->marks, i);
        if (memmem(mark->text.data, mark->text.size, text, strlen(text)) ==
            NULL)
            continue;
        if (!add_interval(times, bounds, time_of_mark(mark, o, margin)))
            return false;
    }
    join_intervals(times);
    return true;
}

static bool out_of_memory(void)
{
    wndl_cli_error("out of memory");
    return false;
}

/* False, with a message, if no time is left. */
static bool find_times(const struct wndl_selected_options *o,
    const struct wndl_profile *p, struct wndl_vec *times)
{
    struct wndl_interval bounds = {0, UINT64_MAX};
    uint64_t margin;
    const char *text = text_of_marks(o);
    if (o->from == NULL && o->to == NULL && text == NULL)
        return true;
    if ((o->from != NULL && !read_time("--from", o->from, &bounds.start)) ||
        (o->to != NULL && !read_time("--to", o->to, &bounds.end)) ||
        !read_time("--margin", o->margin == NULL ? "40ms" : o->margin, &margin))
        return false;
    if (!(text == NULL ? add_interval(times, &bounds, bounds)
                       : add_marks(times, p, o, margin, &bounds)))
        return out_of_memory();
    if (times->len == 0 && text != NULL)
        wndl_cli_error("no mark has '%s' in that time; 'windlass report "
                       "--marks' lists the marks",
            text);
    else if (times->len == 0)
        wndl_cli_error("--from is not before --to");
    else if (bounds.start > p->duration)
        wndl_cli_error("--from %s: the recording ended after %.3f s", o->from,
            (double)p->duration / NS_PER_SECOND);
    return times->len != 0 && bounds.start <= p->duration;
}

/* ---- functions */

static struct wndl_bytes name_at(const struct wndl_symbolized *s, size_t i)
{
    const struct wndl_function *f = wndl_vec_at(&s->functions, i);
    return wndl_intern_get(&s->strings, f->name);
}

static struct wndl_bytes module_at(const struct wndl_symbolized *s, size_t i)
{
    const struct wndl_module *module = wndl_vec_at(&s->modules, i);
    return wndl_intern_get(&s->strings, module->name);
}

/* The names among which one is looked for. */
struct names {
    const struct wndl_symbolized *s;
    struct wndl_bytes (*at)(const struct wndl_symbolized *s, size_t i);
    size_t count;
};

/* The name that is spelled nearly so. */
static size_t add_nearest(
    const struct names *names, const char *name, struct wndl_buf *similar)
{
    struct wndl_suggestion nearest = wndl_suggest(name, strlen(name));
    for (size_t i = 0; i < names->count; i++) {
        struct wndl_bytes full = names->at(names->s, i);
        wndl_suggest_try(&nearest, (const char *)full.data, full.size);
    }
    if (nearest.best == NULL)
        return 0;
    wndl_buf_text(similar, "; did you mean ");
    wndl_buf_add(similar, nearest.best, nearest.best_size);
    return 1;
}

/*
 * Up to three names that have the text, whichever case it is in; else the
 * nearest.
 */
static void add_similar(
    const struct names *names, const char *name, struct wndl_buf *similar)
{
    enum { MOST = 3 };
    size_t found = 0;
    size_t count = *name == '\0' ? 0 : names->count; /* all names have "" */
    for (size_t i = 0; i < count && found < MOST; i++) {
        struct wndl_bytes full = names->at(names->s, i);
        if (strcasestr((const char *)full.data, name) == NULL)
            continue;
        wndl_buf_text(similar, found++ == 0 ? "; did you mean " : ", ");
        wndl_buf_add(similar, full.data, full.size);
    }
    if (found == 0)
        found = add_nearest(names, name, similar);
    wndl_buf_text(similar, found == 0 ? "" : "?");
    wndl_buf_byte(similar, '\0');
}

/* Says that nothing of this `kind` has the name, and which is similar. */
static bool say_unknown(const struct names *names, const char *kind,
    const char *option, const char *name)
{
    struct wndl_buf similar;
    wndl_buf_init(&similar, wndl_mem_libc());
    add_similar(names, name, &similar);
    wndl_cli_error("%s %s: no %s of the stacks has this name%s", option, name,
        kind, similar.failed ? "" : (const char *)similar.data);
    wndl_buf_free(&similar);
    return false;
}

bool wndl_selected_is_function(
    const struct wndl_symbolized *s, const char *option, const char *name)
{
    if (name == NULL)
        return true;
    for (size_t i = 0; i < s->functions.len; i++) {
        if (wndl_function_is_named(name_at(s, i), name))
            return true;
    }
    const struct names names = {s, name_at, s->functions.len};
    return say_unknown(&names, "function", option, name);
}

static bool is_module(const struct wndl_symbolized *s, const char *name)
{
    for (size_t i = 0; i < s->modules.len && name != NULL; i++) {
        if (wndl_module_is_named(s, wndl_vec_at(&s->modules, i), name))
            return true;
    }
    const struct names names = {s, module_at, s->modules.len};
    return name == NULL || say_unknown(&names, "binary", "--module", name);
}

/* An empty text would be in all names. */
static bool are_texts(const char *const *filters)
{
    for (size_t i = 0; filters[i] != NULL; i++) {
        if (*wndl_selection_text(filters[i]) != '\0')
            continue;
        wndl_cli_error("--filter '%s': give a part of a name", filters[i]);
        return false;
    }
    return true;
}

static bool are_names(
    const struct wndl_selected_options *o, const struct wndl_symbolized *s)
{
    if ((o->focus != NULL) + (o->callees != NULL) + (o->callers != NULL) +
            o->inverted >
        1) {
        wndl_cli_error("--focus, --callees, --callers and --invert do not go "
                       "together");
        return false;
    }
    return wndl_selected_is_function(s, "--function", o->function) &&
           wndl_selected_is_function(s, "--ignore", o->ignored) &&
           wndl_selected_is_function(s, "--focus", o->focus) &&
           wndl_selected_is_function(s, "--callees", o->callees) &&
           wndl_selected_is_function(s, "--callers", o->callers) &&
           is_module(s, o->module);
}

/* ---- the whole */

/* The function whose stacks alone are of interest, or NULL. */
static const char *turned_at(const struct wndl_selected_options *o)
{
    return o->focus != NULL     ? o->focus
           : o->callees != NULL ? o->callees
                                : o->callers;
}

static bool turn(
    const struct wndl_selected_options *o, struct wndl_cli_recording *recording)
{
    if (o->collapsed &&
        !wndl_collapse_recursion(&recording->profile, &recording->symbolized))
        return out_of_memory();
    if (o->focus == NULL && !wndl_selected_turns(o))
        return true;
    return wndl_turn_stacks(&recording->profile, &recording->symbolized,
               o->callers != NULL ? WNDL_TURN_CALLERS
               : o->inverted      ? WNDL_TURN_INVERTED
                                  : WNDL_TURN_CALLEES,
               turned_at(o)) ||
           out_of_memory();
}

static size_t count_sites(const struct wndl_profile *p)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    size_t sites = 0;
    for (size_t i = 0; i < p->heaps.len; i++)
        sites += heaps[i].counts.len;
    return sites;
}

/* False, with a message, if it selects nothing of what there is. */
static bool is_some_left(const struct wndl_profile *p, size_t sites)
{
    bool had_costs = p->unselected.samples + p->unselected.blocks != 0;
    if (p->samples.len + p->blocks.len != 0 ||
        (!had_costs && (sites == 0 || count_sites(p) != 0)))
        return true;
    wndl_cli_error("the recording holds nothing of what was selected");
    return false;
}

static bool selects(const struct wndl_selection *selection)
{
    return selection->process != 0 || selection->threads != NULL ||
           selection->time_count != 0 || selection->texts[0] != NULL ||
           selection->function != NULL || selection->module != NULL ||
           selection->ignored != NULL;
}

/* False, with a message that names the recorded ones, if there is none. */
static bool is_process(const struct wndl_profile *p, uint64_t pid)
{
    enum { NAMED = 5 };
    const struct wndl_process *processes = p->processes.data;
    struct wndl_buf text;
    for (size_t i = 0; i < p->processes.len; i++) {
        if (pid == 0 || processes[i].pid == pid)
            return true;
    }
    wndl_buf_init(&text, wndl_mem_libc());
    for (size_t i = 0; i < p->processes.len && i < NAMED; i++)
        wndl_buf_printf(&text, "%s%u", i == 0 ? ": " : ", ", processes[i].pid);
    wndl_cli_error("--process %" PRIu64 ": no such process in the recording; "
                   "it has %zu%.*s%s",
        pid, p->processes.len, (int)text.size, (const char *)text.data,
        p->processes.len > NAMED ? ", ..." : "");
    wndl_buf_free(&text);
    return false;
}

static int apply(const struct wndl_selected_options *o,
    struct wndl_selection *selection, struct wndl_cli_recording *recording,
    struct wndl_vec *times)
{
    if (!are_texts(selection->texts) ||
        !is_process(&recording->profile, selection->process) ||
        !are_names(o, &recording->symbolized) ||
        !find_times(o, &recording->profile, times))
        return WNDL_EXIT_USAGE;
    const size_t sites = count_sites(&recording->profile);
    selection->times = times->data;
    selection->time_count = times->len;
    if (selects(selection) &&
        !wndl_select(&recording->profile, &recording->symbolized, selection))
        return out_of_memory() ? 0 : WNDL_EXIT_FAILURE;
    return turn(o, recording) && is_some_left(&recording->profile, sites)
               ? 0
               : WNDL_EXIT_FAILURE;
}

int wndl_selected_apply(const struct wndl_selected_options *o, uint64_t pid,
    const char *const *filters, struct wndl_cli_recording *recording)
{
    struct wndl_selection selection = {
        .process = pid,
        .threads = o->threads,
        .texts = filters,
        .function = o->function != NULL ? o->function : turned_at(o),
        .module = o->module,
        .ignored = o->ignored,
    };
    if (o->around != NULL && o->before != NULL) {
        wndl_cli_error("--around and --before do not go together");
        return WNDL_EXIT_USAGE;
    }
    if (o->margin != NULL && text_of_marks(o) == NULL) {
        wndl_cli_error("--margin TIME is for --around TEXT or --before TEXT");
        return WNDL_EXIT_USAGE;
    }
    if (pid == 0 && filters[0] == NULL && !wndl_selected_given(o))
        return 0;
    struct wndl_arena arena;
    struct wndl_vec times;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&times, &arena, sizeof(struct wndl_interval));
    int exit_code = apply(o, &selection, recording, &times);
    wndl_arena_free(&arena);
    return exit_code;
}
