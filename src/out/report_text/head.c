/* SPDX-License-Identifier: MIT */
/* report_text_head: the recording, its engine, and its quality. */
#include "out/report_text/report_text.h"

#include "base/signal_names.h"
#include "model/remedy.h"

#include <string.h>
#include <time.h>

enum { MAX_LISTED = 10, BEFORE_COMMAND = 28, NS_PER_SECOND = 1000000000 };

static void put_words(
    const struct wndl_text *t, const struct wndl_bytes *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            wndl_buf_byte(t->out, ' ');
        wndl_text_cut(t, texts[i], 0);
    }
}

static void put_command(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    wndl_text_label(t, "Command");
    if (p->arguments.len == 0)
        wndl_buf_text(t->out, "not known");
    put_words(t, p->arguments.data, p->arguments.len);
    wndl_buf_byte(t->out, '\n');
}

static void put_killed(const struct wndl_text *t, uint32_t number)
{
    const char *name = wndl_signal_abbreviation((int)number);
    wndl_buf_printf(t->out, ", killed by signal %u", number);
    if (name != NULL)
        wndl_buf_printf(t->out, " (SIG%s)", name);
}

static void end_of_command(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    if (!p->finished)
        wndl_buf_text(t->out, ", no end recorded");
    else if (p->status >= WNDL_STATUS_RUNNING)
        wndl_buf_text(t->out, ", exit status not known");
    else if (p->status >= WNDL_STATUS_SIGNALED)
        put_killed(t, p->status - WNDL_STATUS_SIGNALED);
    else
        wndl_buf_printf(t->out, ", exit status %u", p->status);
}

static void put_date(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char text[WNDL_NUMBER_SIZE];
    time_t seconds = (time_t)(p->realtime / NS_PER_SECOND);
    struct tm utc;
    wndl_text_label(t, "Recorded");
    if (gmtime_r(&seconds, &utc) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc) != 0)
        wndl_buf_text(t->out, text);
    if (p->host.size != 0) {
        wndl_buf_text(t->out, " on ");
        wndl_text_cut(t, p->host, 0);
    }
    wndl_buf_printf(t->out, ", %s", wndl_text_time(p->duration, text));
    end_of_command(t);
    wndl_buf_byte(t->out, '\n');
}

static void put_count_of(const struct wndl_text *t, uint64_t instructions)
{
    char text[WNDL_NUMBER_SIZE];
    wndl_buf_printf(t->out,
        "every %s instructions, counted under Valgrind: one counts as 1 ns\n",
        wndl_text_number(instructions, text));
}

static void put_sampling(const struct wndl_text *t)
{
    static const char *const engines[WNDL_SAMPLERS] = {
        [WNDL_SAMPLER_UNKNOWN] = "engine not known",
        [WNDL_SAMPLER_PERF] = "perf task clock",
        [WNDL_SAMPLER_CPU_TIMERS] = "thread CPU timers",
        [WNDL_SAMPLER_TIMERS] = "thread timers",
        [WNDL_SAMPLER_COPIES] = "perf task clock from outside",
        [WNDL_SAMPLER_STOPS] = "by stopping threads for a moment",
    };
    const struct wndl_profile *p = t->r->symbolized->profile;
    char text[WNDL_NUMBER_SIZE];
    wndl_text_label(t, "Sampled");
    if (p->engine == WNDL_SAMPLER_OUTSIDE) {
        wndl_buf_text(t->out, "from outside: only blocked threads\n");
        return;
    }
    if (p->engine == WNDL_SAMPLER_COUNTED) {
        put_count_of(t, p->interval);
        return;
    }
    wndl_buf_printf(t->out, "every %s of CPU time, %s, %s\n",
        wndl_text_time(p->interval, text),
        engines[p->engine < WNDL_SAMPLERS ? p->engine : 0],
        p->kernel_stacks    ? "the kernel at clock ticks, with its functions"
        : p->by_ticks       ? "the kernel at clock ticks"
        : p->kernel_sampled ? "kernel time included"
                            : "user code only");
}

static void time_shown(const struct wndl_text *t)
{
    if (t->r->time == WNDL_TIME_CPU)
        return;
    wndl_text_label(t, "Shares");
    wndl_buf_text(t->out,
        t->r->time == WNDL_TIME_BLOCKED ? "of blocked time\n"
        : wndl_text_has_blocks(t)
            ? "of wall time: using the CPU, blocked, waiting for a CPU\n"
            : "of CPU time: blocked threads were not sampled\n");
}

/* ---- quality */

static void reason_text(
    const struct wndl_text *t, bool *first, const char *name, uint64_t count)
{
    char text[WNDL_NUMBER_SIZE];
    if (count == 0)
        return;
    wndl_buf_printf(t->out, "%s%s (%s)", *first ? "" : ", ",
        wndl_text_number(count, text), name);
    *first = false;
}

static void dropped_reasons(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    bool first = true;
    if (t->r->quality.dropped == 0)
        return;
    wndl_text_label(t, "");
    wndl_buf_text(t->out, "dropped: ");
    for (unsigned i = 0; i < WNDL_LOST_REASONS; i++) {
        if (i != WNDL_LOST_OVERRUN)
            reason_text(t, &first, wndl_loss_name(i), p->lost[i]);
    }
    wndl_buf_byte(t->out, '\n');
}

/* The stacks that were lost, by reason; the rest had no stack. */
static void lost_reasons(const struct wndl_text *t,
    const struct wndl_quality *q, const uint64_t *ends)
{
    bool first = true;
    uint64_t rest = q->lost;
    if (q->lost == 0)
        return;
    wndl_text_label(t, "");
    wndl_buf_text(t->out, "lost: ");
    for (unsigned i = 0; i < WNDL_WALK_ENDS; i++) {
        if (i == WNDL_WALK_COMPLETE || i == WNDL_WALK_TRUNCATED ||
            i == WNDL_WALK_FP_ROOT)
            continue;
        reason_text(t, &first, wndl_walk_end_text(i), ends[i]);
        rest -= ends[i];
    }
    reason_text(t, &first, "no stack", rest);
    wndl_buf_byte(t->out, '\n');
}

/* Where lost stacks end, and what helps if the walk had no rule there. */
static void lost_places(const struct wndl_text *t, const uint64_t *ends)
{
    const struct wndl_symbolized *s = t->r->symbolized;
    const struct wndl_lost_in *in = &t->r->lost_in;
    enum { MAX_NAME = 60 };
    if (in->count == 0)
        return;
    wndl_text_label(t, "");
    wndl_buf_text(t->out, "lost in: ");
    for (size_t i = 0; i < in->count; i++) {
        const struct wndl_function *f =
            wndl_vec_at(&s->functions, in->places[i].function);
        char count[WNDL_NUMBER_SIZE];
        wndl_buf_text(t->out, i == 0 ? "" : ", ");
        wndl_text_cut(t, wndl_intern_get(&s->strings, f->name), MAX_NAME);
        wndl_buf_byte(t->out, ' ');
        wndl_text_module(t, wndl_text_module_name(t, f->module));
        wndl_buf_printf(
            t->out, " (%s)", wndl_text_number(in->places[i].count, count));
    }
    wndl_buf_byte(t->out, '\n');
    if (ends[WNDL_WALK_NO_RULE] == 0)
        return;
    wndl_text_label(t, "");
    wndl_buf_printf(
        t->out, "remedy: %s\n", wndl_remedy_of(t->r, &in->places[0]));
}

static void guessed_and_truncated(
    const struct wndl_text *t, const struct wndl_quality *q)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char text[WNDL_NUMBER_SIZE];
    if (q->guessed != 0) {
        wndl_text_label(t, "");
        wndl_buf_printf(t->out,
            "guessed: %s (a frame without rules was not checked)\n",
            wndl_text_number(q->guessed, text));
    }
    if (q->truncated != 0 && p->max_frames != 0) {
        wndl_text_label(t, "");
        wndl_buf_printf(t->out, "truncated: %s (deeper than %u frames%s)\n",
            wndl_text_number(q->truncated, text), p->max_frames,
            p->engine == WNDL_SAMPLER_COPIES ? ", or than --stack-size" : "");
    }
}

/* Rounds down, so that 100.0 means all of them. */
static void complete_share(
    const struct wndl_text *t, const struct wndl_quality *q)
{
    if (q->kept != 0)
        wndl_buf_printf(t->out, "; stacks %.1f%% complete",
            (double)(q->complete * 1000 / q->kept) / 10);
    wndl_buf_byte(t->out, '\n');
}

static void put_selection(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char some[WNDL_NUMBER_SIZE], all[WNDL_NUMBER_SIZE];
    if (!p->is_selected)
        return;
    wndl_text_label(t, "Selected");
    if (t->r->time == WNDL_TIME_BYTES) {
        wndl_buf_printf(t->out, "%s of %s sites\n",
            wndl_text_number(p->blocks.len, some),
            wndl_text_number(p->unselected.blocks, all));
        return;
    }
    wndl_buf_printf(t->out, "%s of %s samples",
        wndl_text_number(p->samples.len, some),
        wndl_text_number(p->unselected.samples, all));
    if (p->unselected.blocks != 0)
        wndl_buf_printf(t->out, ", %s of %s times without a CPU",
            wndl_text_number(p->unselected.kept_blocks, some),
            wndl_text_number(p->unselected.blocks, all));
    wndl_buf_byte(t->out, '\n');
}

static void put_quality(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    const struct wndl_quality *q = &t->r->quality;
    char kept[WNDL_NUMBER_SIZE], dropped[WNDL_NUMBER_SIZE];
    char truncated[WNDL_NUMBER_SIZE], lost[WNDL_NUMBER_SIZE];
    wndl_text_label(t, "Samples");
    wndl_buf_printf(t->out, "%s kept, %s dropped, %s truncated, %s lost",
        wndl_text_number(q->kept, kept), wndl_text_number(q->dropped, dropped),
        wndl_text_number(q->truncated, truncated),
        wndl_text_number(q->lost, lost));
    complete_share(t, q);
    dropped_reasons(t);
    lost_reasons(t, q, p->ends);
    lost_places(t, p->ends);
    guessed_and_truncated(t, q);
    if (p->discarded == 0)
        return;
    wndl_text_label(t, "");
    wndl_buf_printf(t->out, "discarded: %s (made room for later ones)\n",
        wndl_text_number(p->discarded, kept));
}

/* Parts of the time in none of the samples, each in a row of its own. */
static void time_before(const struct wndl_text *t)
{
    const struct wndl_times *times = &t->r->times;
    char text[WNDL_NUMBER_SIZE];
    if (times->loading_cpu != 0) {
        wndl_text_label(t, "");
        wndl_buf_printf(t->out, "%s of it in exec and dynamic linking\n",
            wndl_text_time(times->loading_cpu, text));
    }
    if (times->starting_cpu != 0) {
        wndl_text_label(t, "");
        wndl_buf_printf(t->out, "%s of it before recording began\n",
            wndl_text_time(times->starting_cpu, text));
    }
}

static void cpu_time(const struct wndl_text *t)
{
    const struct wndl_times *times = &t->r->times;
    char text[WNDL_NUMBER_SIZE];
    wndl_text_label(t, "CPU time");
    wndl_buf_text(t->out, wndl_text_time(times->sampled_cpu, text));
    if (t->r->quality.overruns != 0)
        wndl_buf_printf(t->out,
            "; %s timer ticks came too fast to be separate samples",
            wndl_text_number(t->r->quality.overruns, text));
    wndl_buf_byte(t->out, '\n');
    if (times->unsampled_cpu == 0)
        return;
    wndl_text_label(t, "");
    wndl_buf_printf(t->out, "%s more is in none of the samples\n",
        wndl_text_time(times->unsampled_cpu, text));
    time_before(t);
}

static void blocked_time(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    const struct wndl_quality *q = &t->r->blocked;
    char time[WNDL_NUMBER_SIZE], count[WNDL_NUMBER_SIZE];
    if (q->kept != 0 || q->dropped != 0) {
        wndl_text_label(t, "Blocked");
        wndl_buf_printf(t->out, "%s in %s block%s",
            wndl_text_time(t->r->times.blocked, time),
            wndl_text_number(q->kept, count), q->kept == 1 ? "" : "s");
        if (q->dropped != 0)
            wndl_buf_printf(t->out, ", %s dropped (damaged)",
                wndl_text_number(q->dropped, count));
        complete_share(t, q);
        lost_reasons(t, q, p->block_ends);
        guessed_and_truncated(t, q);
    }
    if (t->r->times.waiting != 0) {
        wndl_text_label(t, "Waiting");
        wndl_buf_printf(t->out, "%s for a CPU\n",
            wndl_text_time(t->r->times.waiting, time));
    }
}

static void put_marks(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    const struct wndl_mark *marks = p->marks.data;
    char count[WNDL_NUMBER_SIZE];
    uint64_t missed = 0;
    if (p->marks.len == 0)
        return;
    for (size_t i = 0; i < p->marks.len; i++)
        missed += marks[i].missed_deadline;
    wndl_text_label(t, "Marks");
    wndl_buf_text(t->out, wndl_text_number(p->marks.len, count));
    if (missed != 0)
        wndl_buf_printf(t->out, ", %s missed deadline%s",
            wndl_text_number(missed, count), missed == 1 ? "" : "s");
    wndl_buf_text(t->out, t->layout->marks ? "\n" : ": --marks\n");
}

static void put_heap(const struct wndl_text *t)
{
    if (t->r->symbolized->profile->heaps.len == 0)
        return;
    wndl_text_label(t, "Heap");
    wndl_buf_text(t->out, "recorded too: --heap\n");
    if (t->r->own.time == 0)
        return;
    wndl_text_label(t, "");
    wndl_buf_printf(t->out,
        "which took %.1f%% of the time: the samples in libwindlass-heap.so\n",
        wndl_text_percent(t, t->r->own.time));
}

/* ---- lists */

/*
 * The number of rows, in order of `cost`, that do not show as 0.0%; ten at
 * most.
 */
static size_t worth_listing(const struct wndl_text *t,
    const struct wndl_vec *rows, uint64_t (*cost)(const struct wndl_row *row))
{
    size_t count = 0;
    while (count < rows->len && count < MAX_LISTED &&
           wndl_text_percent(t, cost(wndl_vec_at(rows, count))) >= 0.05)
        count++;
    return count;
}

static uint64_t self_time(const struct wndl_row *row)
{
    return row->self.time;
}

static uint64_t total_time(const struct wndl_row *row)
{
    return row->total.time;
}

static void and_more(
    const struct wndl_text *t, size_t listed, size_t count, const char *what)
{
    if (listed != 0 && listed < count)
        wndl_buf_printf(t->out, "  and %zu more%s\n", count - listed, what);
}

static void row_start(const struct wndl_text *t, const struct wndl_row *row)
{
    char time[WNDL_NUMBER_SIZE];
    wndl_buf_printf(t->out, "  %5.1f%%  %9s  ",
        wndl_text_percent(t, row->self.time),
        wndl_text_cost_cell(t, row->self.time, time));
}

static void put_processes(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    size_t count = t->r->processes.len;
    if (count < 2)
        return;
    size_t listed = worth_listing(t, &t->r->processes, self_time);
    wndl_buf_printf(t->out, "\nProcesses: %zu\n", count);
    for (size_t i = 0; i < listed; i++) {
        const struct wndl_row *row = wndl_vec_at(&t->r->processes, i);
        const struct wndl_process *process =
            wndl_vec_at(&p->processes, row->key);
        row_start(t, row);
        wndl_buf_printf(t->out, "%7u  ", process->pid);
        wndl_text_command(
            t, process->command, process->executable, BEFORE_COMMAND);
        wndl_buf_byte(t->out, '\n');
    }
    and_more(t, listed, count, "");
}

static void put_threads(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    size_t count = t->r->threads.len;
    if (count <= t->r->processes.len || t->r->view == WNDL_BY_THREAD)
        return;
    size_t listed = worth_listing(t, &t->r->threads, self_time);
    wndl_buf_printf(t->out, "\nThreads: %zu\n", count);
    for (size_t i = 0; i < listed; i++) {
        const struct wndl_row *row = wndl_vec_at(&t->r->threads, i);
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, row->key);
        row_start(t, row);
        wndl_buf_printf(t->out, "%7u  ", thread->tid);
        wndl_text_cut(t, thread->name, 0);
        wndl_buf_byte(t->out, '\n');
    }
    and_more(t, listed, count, ": --by thread");
}

static const char *why_unnamed(enum wndl_symbols_state state)
{
    bool has_table = state == WNDL_SYMBOLS_LINES || state == WNDL_SYMBOLS_NAMES;
    return has_table                       ? "some of its code has no name"
           : state == WNDL_SYMBOLS_NOWHERE ? "generated code"
                                           : wndl_symbols_state_text(state);
}

static void unnamed_module(
    const struct wndl_text *t, const struct wndl_row *row)
{
    const struct wndl_symbolized *s = t->r->symbolized;
    const struct wndl_module *module = wndl_vec_at(&s->modules, row->key);
    wndl_buf_printf(t->out, "  %6.1f%%    %6.1f%%  ",
        wndl_text_percent(t, row->self.time),
        wndl_text_percent(t, row->total.time));
    wndl_text_cut(t, wndl_intern_get(&s->strings, module->path), 0);
    wndl_buf_printf(t->out, ": %s\n", why_unnamed(module->state));
}

/*
 * The self time of the modules from `first` on; each sample is in one place
 * only.
 */
static uint64_t unnamed_time(const struct wndl_text *t, size_t first)
{
    uint64_t time = 0;
    for (size_t i = first; i < t->r->unnamed.len; i++)
        time += self_time(wndl_vec_at(&t->r->unnamed, i));
    return time;
}

static bool debug_files_would_help(const struct wndl_text *t)
{
    const struct wndl_symbolized *s = t->r->symbolized;
    for (size_t i = 0; i < t->r->unnamed.len; i++) {
        const struct wndl_row *row = wndl_vec_at(&t->r->unnamed, i);
        const struct wndl_module *module = wndl_vec_at(&s->modules, row->key);
        if (module->state == WNDL_SYMBOLS_EXPORTED)
            return true;
    }
    return false;
}

static void advise_debug_files(const struct wndl_text *t)
{
    const char *packages = t->layout->packages;
    wndl_buf_printf(t->out,
        "  Such code is shown as module+0xaddress. To name it, install\n"
        "  %s,\n"
        "  or ask a server (--debuginfod), or name the folder of the debug "
        "files:\n"
        "  --debug-dir DIR\n",
        packages == NULL ? "the -dbgsym or -dbg packages" : packages);
    if (packages != NULL && strstr(packages, "-dbgsym") != NULL)
        wndl_buf_text(t->out,
            "  (-dbgsym packages are in Debian's archive debian-debug)\n");
}

static void unnamed_modules(const struct wndl_text *t)
{
    size_t count = t->r->unnamed.len;
    size_t listed = worth_listing(t, &t->r->unnamed, total_time);
    if (count == 0)
        return;
    if (listed == 0) {
        wndl_text_label(t, "Symbols");
        wndl_buf_printf(t->out, "missing for less than 0.1%% of the %s\n",
            t->r->time == WNDL_TIME_BYTES ? "bytes" : "time");
        return;
    }
    wndl_buf_printf(t->out,
        "\nWithout symbols: %.1f%% of the %s%s in code without a name\n"
        "     self   on stack  module\n",
        wndl_text_percent(t, unnamed_time(t, 0)), wndl_text_time_kind(t),
        t->r->time == WNDL_TIME_BYTES ? " come from calls" : " time was");
    for (size_t i = 0; i < listed; i++)
        unnamed_module(t, wndl_vec_at(&t->r->unnamed, i));
    if (listed < count)
        wndl_buf_printf(t->out, "  %6.1f%%             in %zu more\n",
            wndl_text_percent(t, unnamed_time(t, listed)), count - listed);
    if (debug_files_would_help(t))
        advise_debug_files(t);
}

void wndl_text_recorded(const struct wndl_text *t)
{
    put_command(t);
    put_date(t);
}

static void put_figures(const struct wndl_text *t)
{
    wndl_text_recorded(t);
    put_sampling(t);
    put_selection(t);
    put_quality(t);
    cpu_time(t);
    blocked_time(t);
}

void wndl_report_text_figures(const struct wndl_report *r, struct wndl_buf *out)
{
    const struct wndl_text_layout layout = {0};
    const struct wndl_text t = {r, &layout, out};
    put_figures(&t);
}

static bool is_estimate(const struct wndl_profile *p)
{
    const struct wndl_process_heap *heaps = p->heaps.data;
    for (size_t i = 0; i < p->heaps.len; i++) {
        if (heaps[i].sample_below != 0)
            return true;
    }
    return false;
}

static void put_heap_figures(const struct wndl_text *t)
{
    static const char *const sets[WNDL_HEAP_SETS] = {
        [WNDL_HEAP_SET_LIVE] = "live blocks",
        [WNDL_HEAP_SET_PEAK] = "the blocks that lived at the peak",
        [WNDL_HEAP_SET_ALL] = "all blocks that were allocated",
        [WNDL_HEAP_SET_TEMPORARY] = "temporary blocks",
    };
    char bytes[WNDL_NUMBER_SIZE];
    wndl_text_recorded(t);
    wndl_text_label(t, "Heap");
    const struct wndl_profile *p = t->r->symbolized->profile;
    wndl_buf_printf(t->out, "%s%s bytes of %s",
        is_estimate(p) ? "estimated from samples: ~" : "",
        wndl_text_number(t->r->all.time, bytes), sets[t->r->set]);
    complete_share(t, &t->r->blocked);
    lost_reasons(t, &t->r->blocked, p->block_ends);
    guessed_and_truncated(t, &t->r->blocked);
    put_selection(t);
}

/* Its threads have no part in it: a heap belongs to the process. */
static void put_heap_head(const struct wndl_text *t)
{
    put_heap_figures(t);
    wndl_text_gaps(t);
    unnamed_modules(t);
    put_processes(t);
    wndl_buf_byte(t->out, '\n');
}

void wndl_text_head(const struct wndl_text *t)
{
    if (t->r->time == WNDL_TIME_BYTES) {
        put_heap_head(t);
        return;
    }
    put_figures(t);
    time_shown(t);
    put_marks(t);
    put_heap(t);
    wndl_text_gaps(t);
    unnamed_modules(t);
    put_processes(t);
    put_threads(t);
    wndl_buf_byte(t->out, '\n');
}
