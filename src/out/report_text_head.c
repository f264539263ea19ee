/* SPDX-License-Identifier: MIT */
/* report_text_head: what was recorded, how, and how good it is. */
#include "out/report_text.h"

#include <string.h>
#include <time.h>

enum { LABEL_COLUMNS = 11, MAX_LISTED = 10, NS_PER_SECOND = 1000000000 };

static void label(const struct wndl_text *t, const char *text)
{
    wndl_buf_printf(t->out, "%-*s", LABEL_COLUMNS, text);
}

static void words(
    const struct wndl_text *t, const struct wndl_bytes *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            wndl_buf_byte(t->out, ' ');
        wndl_text_cut(t, texts[i], 0);
    }
}

static void command(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    label(t, "Command");
    if (p->arguments.len == 0)
        wndl_buf_text(t->out, "not known");
    words(t, p->arguments.data, p->arguments.len);
    wndl_buf_byte(t->out, '\n');
}

static void killed(const struct wndl_text *t, uint32_t number)
{
    const char *name = sigabbrev_np((int)number);
    wndl_buf_printf(t->out, ", killed by signal %u", number);
    if (name != NULL)
        wndl_buf_printf(t->out, " (SIG%s)", name);
}

static void end_of_command(const struct wndl_text *t)
{
    enum { SIGNALED = 256 };
    const struct wndl_profile *p = t->r->symbolized->profile;
    if (!p->finished)
        wndl_buf_text(t->out, ", no end recorded");
    else if (p->status >= SIGNALED)
        killed(t, p->status - SIGNALED);
    else
        wndl_buf_printf(t->out, ", exit status %u", p->status);
}

static void date(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char text[WNDL_NUMBER_SIZE];
    time_t seconds = (time_t)(p->realtime / NS_PER_SECOND);
    struct tm utc;
    label(t, "Recorded");
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

static void sampling(const struct wndl_text *t)
{
    static const char *const engines[] = {
        "engine not known", "perf task clock", "thread CPU timers"};
    const struct wndl_profile *p = t->r->symbolized->profile;
    char text[WNDL_NUMBER_SIZE];
    bool named = p->engine < sizeof engines / sizeof engines[0];
    label(t, "Sampled");
    wndl_buf_printf(t->out, "every %s of CPU time, %s, %s\n",
        wndl_text_time(p->interval, text), engines[named ? p->engine : 0],
        p->kernel_sampled ? "kernel time included" : "user code only");
}

/* ---- quality */

static void reason(
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
    label(t, "");
    wndl_buf_text(t->out, "dropped: ");
    for (unsigned i = 0; i < WNDL_LOST_REASONS; i++) {
        if (i != WNDL_LOST_OVERRUN)
            reason(t, &first, wndl_loss_name(i), p->lost[i]);
    }
    wndl_buf_byte(t->out, '\n');
}

static void lost_reasons(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    bool first = true;
    if (t->r->quality.lost == 0)
        return;
    label(t, "");
    wndl_buf_text(t->out, "lost: ");
    for (unsigned i = 0; i < WNDL_WALK_ENDS; i++) {
        if (i != WNDL_WALK_COMPLETE && i != WNDL_WALK_TRUNCATED &&
            i != WNDL_WALK_FP_ROOT)
            reason(t, &first, wndl_walk_end_text(i), p->ends[i]);
    }
    wndl_buf_byte(t->out, '\n');
}

/* Rounded down: 100.0 is for all of them only. */
static double complete_percent(const struct wndl_quality *q)
{
    return (double)(q->complete * 1000 / q->kept) / 10;
}

static void quality(const struct wndl_text *t)
{
    const struct wndl_quality *q = &t->r->quality;
    char kept[WNDL_NUMBER_SIZE], dropped[WNDL_NUMBER_SIZE];
    char truncated[WNDL_NUMBER_SIZE], lost[WNDL_NUMBER_SIZE];
    label(t, "Samples");
    wndl_buf_printf(t->out, "%s kept, %s dropped, %s truncated, %s lost",
        wndl_text_number(q->kept, kept), wndl_text_number(q->dropped, dropped),
        wndl_text_number(q->truncated, truncated),
        wndl_text_number(q->lost, lost));
    if (q->kept != 0)
        wndl_buf_printf(
            t->out, "; stacks %.1f%% complete", complete_percent(q));
    wndl_buf_byte(t->out, '\n');
    dropped_reasons(t);
    lost_reasons(t);
    if (q->guessed != 0) {
        label(t, "");
        wndl_buf_printf(t->out, "guessed: %s (by frame pointer only)\n",
            wndl_text_number(q->guessed, kept));
    }
    label(t, "CPU time");
    wndl_buf_text(t->out, wndl_text_time(t->r->all.cpu, kept));
    if (q->overruns != 0)
        wndl_buf_printf(t->out,
            "; %s timer ticks came too fast to be samples of their own",
            wndl_text_number(q->overruns, kept));
    wndl_buf_byte(t->out, '\n');
}

static void damage(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    if (p->chunks_damaged != 0) {
        label(t, "Damaged");
        wndl_buf_printf(t->out,
            "%u chunk%s of the recording could not be used\n",
            p->chunks_damaged, p->chunks_damaged == 1 ? "" : "s");
    }
    if (p->chunks_unknown != 0) {
        label(t, "Newer");
        wndl_buf_printf(t->out, "%u chunk%s for a later windlass left out\n",
            p->chunks_unknown, p->chunks_unknown == 1 ? "" : "s");
    }
    if (p->cut || !p->finished) {
        label(t, "Cut short");
        wndl_buf_text(
            t->out, p->cut ? "the recording ends in the middle of a chunk\n"
                           : "the recorder was stopped before its end\n");
    }
    if (p->unfollowed != 0) {
        label(t, "Not seen");
        wndl_buf_printf(t->out, "%u child process%s could not be recorded\n",
            p->unfollowed, p->unfollowed == 1 ? "" : "es");
    }
}

/* ---- lists */

/* Rows that do not show as 0.0%, of rows that come by `cost`: ten at most. */
static size_t worth_listing(const struct wndl_text *t,
    const struct wndl_vec *rows, uint64_t (*cost)(const struct wndl_row *row))
{
    size_t count = 0;
    while (count < rows->len && count < MAX_LISTED &&
           wndl_text_percent(t, cost(wndl_vec_at(rows, count))) >= 0.05)
        count++;
    return count;
}

static uint64_t self_samples(const struct wndl_row *row)
{
    return row->self.samples;
}

static uint64_t total_samples(const struct wndl_row *row)
{
    return row->total.samples;
}

static void and_more(
    const struct wndl_text *t, size_t listed, size_t count, const char *what)
{
    if (listed != 0 && listed < count)
        wndl_buf_printf(t->out, "  and %zu more%s\n", count - listed, what);
}

static void row_start(const struct wndl_text *t, const struct wndl_row *row)
{
    char samples[WNDL_NUMBER_SIZE];
    wndl_buf_printf(t->out, "  %5.1f%%  %9s  ",
        wndl_text_percent(t, row->self.samples),
        wndl_text_number(row->self.samples, samples));
}

/* argv as it was, NULs as spaces. */
static void process_command(
    const struct wndl_text *t, const struct wndl_process *process)
{
    struct wndl_bytes rest = process->command;
    size_t end = rest.size;
    while (end > 0 && rest.data[end - 1] == 0)
        end--;
    if (end == 0) {
        wndl_text_cut(t, process->executable, 0);
        return;
    }
    struct wndl_buf line;
    wndl_buf_init(&line, t->out->mem);
    wndl_buf_add(&line, rest.data, end);
    for (size_t i = 0; i < line.size; i++)
        line.data[i] = line.data[i] == 0 ? ' ' : line.data[i];
    enum { BEFORE = 28, LEAST = 20 };
    unsigned width = t->layout->width;
    wndl_text_cut(t, (struct wndl_bytes){line.data, line.size},
        width == 0               ? 0
        : width > BEFORE + LEAST ? width - BEFORE
                                 : LEAST);
    t->out->failed |= line.failed;
    wndl_buf_free(&line);
}

static void processes(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    size_t count = t->r->processes.len;
    if (count < 2)
        return;
    size_t listed = worth_listing(t, &t->r->processes, self_samples);
    wndl_buf_printf(t->out, "\nProcesses: %zu\n", count);
    for (size_t i = 0; i < listed; i++) {
        const struct wndl_row *row = wndl_vec_at(&t->r->processes, i);
        const struct wndl_process *process =
            wndl_vec_at(&p->processes, row->key);
        row_start(t, row);
        wndl_buf_printf(t->out, "%7u  ", process->pid);
        process_command(t, process);
        wndl_buf_byte(t->out, '\n');
    }
    and_more(t, listed, count, "");
}

static void threads(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    size_t count = t->r->threads.len;
    if (count <= t->r->processes.len || t->r->view == WNDL_BY_THREAD)
        return;
    size_t listed = worth_listing(t, &t->r->threads, self_samples);
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
        wndl_text_percent(t, row->self.samples),
        wndl_text_percent(t, row->total.samples));
    wndl_text_cut(t, wndl_intern_get(&s->strings, module->path), 0);
    wndl_buf_printf(t->out, ": %s\n", why_unnamed(module->state));
}

/* Self of the modules from `first` on; each sample ran in one place only. */
static uint64_t unnamed_samples(const struct wndl_text *t, size_t first)
{
    uint64_t samples = 0;
    for (size_t i = first; i < t->r->unnamed.len; i++)
        samples += self_samples(wndl_vec_at(&t->r->unnamed, i));
    return samples;
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

static void unnamed_modules(const struct wndl_text *t)
{
    size_t count = t->r->unnamed.len;
    size_t listed = worth_listing(t, &t->r->unnamed, total_samples);
    if (count == 0)
        return;
    if (listed == 0) {
        label(t, "Symbols");
        wndl_buf_text(t->out, "missing for less than 0.1% of the samples\n");
        return;
    }
    wndl_buf_printf(t->out,
        "\nWithout symbols: %.1f%% of the samples ran in code without a name\n"
        "     self   on stack  module\n",
        wndl_text_percent(t, unnamed_samples(t, 0)));
    for (size_t i = 0; i < listed; i++)
        unnamed_module(t, wndl_vec_at(&t->r->unnamed, i));
    if (listed < count)
        wndl_buf_printf(t->out, "  %6.1f%%             in %zu more\n",
            wndl_text_percent(t, unnamed_samples(t, listed)), count - listed);
    if (debug_files_would_help(t))
        wndl_buf_text(t->out,
            "  Such code is shown as module+0xaddress. Debug files have its "
            "names: install\n  the -dbgsym or -dbg packages, or say where such "
            "files are: --debug-dir DIR\n");
}

static void damaged_modules(const struct wndl_text *t)
{
    const struct wndl_symbolized *s = t->r->symbolized;
    for (size_t i = 0; i < s->modules.len; i++) {
        const struct wndl_module *module = wndl_vec_at(&s->modules, i);
        if (module->units_damaged == 0)
            continue;
        label(t, "Damaged");
        wndl_buf_printf(t->out,
            "%u unit%s of debug information left out: ", module->units_damaged,
            module->units_damaged == 1 ? "" : "s");
        wndl_text_cut(t, wndl_intern_get(&s->strings, module->path), 0);
        wndl_buf_byte(t->out, '\n');
    }
}

void wndl_text_head(const struct wndl_text *t)
{
    command(t);
    date(t);
    sampling(t);
    quality(t);
    damage(t);
    damaged_modules(t);
    unnamed_modules(t);
    processes(t);
    threads(t);
    wndl_buf_byte(t->out, '\n');
}
