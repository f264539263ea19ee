/* SPDX-License-Identifier: MIT */
#include "cli/record/summary.h"

#include "cli/core/command.h"
#include "cli/core/shell_word.h"
#include "cli/record/modules.h"
#include "cli/record/text.h"
#include "cli/record/unwind_tables.h"
#include "cli/view/page.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <windlass/unwind.h>

static const char *const loss_names[WNDL_LOSS_REASONS] = {
    [WNDL_LOSS_RING_FULL] = "the buffer was full",
    [WNDL_LOSS_TREE_FULL] = "too many different stacks",
    [WNDL_LOSS_THREADS_FULL] = "too many threads",
    [WNDL_LOSS_MODULES_FULL] = "too many modules",
    [WNDL_LOSS_BUSY] = "another sample was in progress",
    [WNDL_LOSS_NO_STACK] = "the stack was not found",
};

static const char *const refusal_names[WNDL_UNRECORDED_REASONS] = {
    [WNDL_UNRECORDED_NONE] = "it never loaded the recorder",
    [WNDL_UNRECORDED_STATIC] = "it is statically linked",
    [WNDL_UNRECORDED_SETUID] = "it runs with other rights (set-user-ID)",
    [WNDL_UNRECORDED_LIBC] =
        "it is made for another libc than glibc 2.31 or newer",
    [WNDL_UNRECORDED_GO] = "it is written in Go",
    [WNDL_UNRECORDED_EMULATED] = "it is run by an emulator",
    [WNDL_UNRECORDED_ENVIRONMENT] = "it was started with another environment",
    [WNDL_UNRECORDED_MACHINE] = "it is made for another processor or word size",
    [WNDL_UNRECORDED_DESCRIPTORS] = "no descriptor was free (ulimit -n)",
    [WNDL_UNRECORDED_MEMORY] = "there was no memory for it (ulimit -v, -f)",
    [WNDL_UNRECORDED_SANDBOX] = "its sandbox forbids it",
    [WNDL_UNRECORDED_CLONE] = "it was made by a bare clone()",
    [WNDL_UNRECORDED_VERSION] =
        "it loaded the recorder of another version of windlass",
    [WNDL_UNRECORDED_LATE] = "windlass did not answer in time",
    [WNDL_UNRECORDED_VFORK] =
        "it is a child of vfork() that started no program",
};

static void say_timers(const struct wndl_collector_engine *engine)
{
    char setting[80] = "";
    if (engine->paranoid != -2)
        snprintf(setting, sizeof setting,
            "; the setting kernel.perf_event_paranoid is %d", engine->paranoid);
    wndl_cli_note("the kernel refuses perf events (%s%s); using timers",
        strerror(engine->refusal), setting);
}

void wndl_record_say_engine(const struct wndl_collector_engine *engine)
{
    if (engine->engine == WNDL_ENGINE_TIMER && engine->refusal != 0)
        say_timers(engine);
    else if (engine->engine == WNDL_ENGINE_TICK)
        wndl_cli_note("engine tick: timers fire no faster than the kernel's "
                      "tick, often 250 Hz");
}

static void say_frames(const struct wndl_collector_totals *t)
{
    char text[400];
    wndl_record_list_frames(text, sizeof text, t);
    if (text[0] != '\0')
        wndl_cli_note("frames: %s", text);
}

/*
 * CPU time that is in no sample: of the start, of threads that lived for less
 * than an interval, of processes that could not be followed.
 */
static void say_cpu(const struct wndl_collector_result *result)
{
    double all = (double)result->cpu / 1e9;
    double sampled = (double)result->totals.cpu / 1e9;
    if (all < 0.005)
        return;
    if (result->totals.samples == 0)
        wndl_cli_note(
            "none of the command's %.2f s of CPU time are in samples", all);
    else if (result->discarded == 0 && sampled <= all + 0.005)
        wndl_cli_note("%.2f s of the command's %.2f s of CPU time are in "
                      "samples",
            sampled < all ? sampled : all, all);
    else if (result->discarded == 0)
        /* Processes that nobody waited for are in no account. */
        wndl_cli_note("%.2f s of CPU time are in samples, of which the "
                      "command accounts for %.2f s",
            sampled, all);
}

static void say_blocked(const struct wndl_offcpu_totals *w)
{
    if (w->blocked + w->waiting != 0)
        wndl_cli_note("%.2f s of threads' time were spent blocked, %.2f s "
                      "waiting for a CPU",
            (double)w->blocked / 1e9, (double)w->waiting / 1e9);
    if (w->refused != 0)
        wndl_cli_note("blocked threads of %" PRIu32
                      " process%s could not be sampled: %s",
            w->refused, w->refused == 1 ? "" : "es",
            strerror(w->refused_errno));
}

static void say_stops(const struct wndl_collector_stops *s)
{
    if (s->count != 0)
        wndl_cli_note("threads were stopped %" PRIu64
                      " times, for %.0f us each on average and %.1f ms at most",
            s->count, (double)s->ns / 1e3 / (double)s->count,
            (double)s->longest / 1e6);
    if (s->refused != 0)
        wndl_cli_note("%" PRIu64 " stop%s refused: %s", s->refused,
            s->refused == 1 ? " was" : "s were", strerror(s->refused_errno));
}

/* The number of samples that are not in the recording, as report counts. */
static uint64_t dropped(const struct wndl_collector_totals *t)
{
    uint64_t count = 0;
    for (size_t i = 0; i < WNDL_LOSS_REASONS; i++)
        count += loss_names[i] == NULL ? 0 : t->lost[i];
    return count;
}

static void say_cut(uint64_t count)
{
    if (count != 0)
        wndl_cli_note(
            "%" PRIu64
            " stack%s truncated: %s longer than what a sample copied; "
            "ask for more with --stack-size, up to 65016",
            count, count == 1 ? " is" : "s are",
            count == 1 ? "it is" : "they are");
}

static void say_discarded(uint64_t count)
{
    if (count != 0)
        wndl_cli_note("%" PRIu64
                      " sample%s made room for later ones (--buffer)",
            count, wndl_record_plural(count));
}

static void say_losses(const struct wndl_collector_totals *t)
{
    char reasons[400];
    wndl_record_list_reasons(reasons, sizeof reasons, t->lost, loss_names);
    if (reasons[0] != '\0')
        wndl_cli_note("dropped: %s", reasons);
    if (t->lost[WNDL_LOSS_OVERRUN] != 0)
        wndl_cli_note("%" PRIu64 " timer ticks came too fast to be separate "
                      "samples; CPU times include them",
            t->lost[WNDL_LOSS_OVERRUN]);
    if (t->interrupted_calls != 0)
        wndl_cli_note("%" PRIu64 " blocking call%s of the program returned "
                      "EINTR because of the sampling",
            t->interrupted_calls, wndl_record_plural(t->interrupted_calls));
    if (t->damaged != 0)
        wndl_cli_note("the program overwrote the recorder's memory %" PRIu64
                      " time%s; the data there is lost",
            t->damaged, wndl_record_plural(t->damaged));
}

/*
 * Ends that the recorder may have to do with, where the program makes system
 * calls that no hook sees.
 */
static void say_end(const struct wndl_collector_result *result)
{
    enum { BY_SIGNAL = 128 };
    const int number = result->exit_code - BY_SIGNAL;
    if (number == SIGSYS)
        wndl_cli_note("the command was ended by SIGSYS: its sandbox may have "
                      "refused a call of the recorder, if the filter came by a "
                      "bare system call; --engine outside makes none");
    else if (number == SIGTRAP || number == SIGPROF)
        wndl_cli_note("the command was ended by %s, which the recorder uses: "
                      "it may have set its action by a bare system call; "
                      "--engine outside uses no signal",
            number == SIGTRAP ? "SIGTRAP" : "SIGPROF");
}

static void say_left(const struct wndl_collector_result *result, pid_t other)
{
    uint32_t n = result->left;
    if (other > 0)
        wndl_cli_note("%" PRIu32 " process%s still run%s and %s recorded until "
                      "%s, or until 'windlass ctl %d stop'",
            n, n == 1 ? "" : "es", n == 1 ? "s" : "", n == 1 ? "is" : "are",
            n == 1 ? "it ends" : "they end", (int)other);
    else if (n != 0)
        wndl_cli_note("%" PRIu32 " process%s still running, no longer recorded",
            n, n == 1 ? " is" : "es are");
}

/* A process that ended too early has no name. */
static void say_one_unfollowed(const struct wndl_collector_unrecorded *u)
{
    const char *reason = refusal_names[u->reason % WNDL_UNRECORDED_REASONS];
    if (u->name[0] == '\0')
        wndl_cli_note(
            "process %" PRIu32 " could not be recorded: %s", u->pid, reason);
    else
        wndl_cli_note("'%s' (process %" PRIu32 ") could not be recorded: %s",
            u->name, u->pid, reason);
}

static void say_unfollowed(const struct wndl_collector_result *result)
{
    uint32_t count = result->totals.unrecorded;
    for (uint32_t i = 0; i < count && i < WNDL_COLLECTOR_NAMED; i++)
        say_one_unfollowed(&result->unrecorded[i]);
    if (count > WNDL_COLLECTOR_NAMED)
        wndl_cli_note("%" PRIu32 " more could not be recorded",
            count - WNDL_COLLECTOR_NAMED);
}

static void say_engines(const struct wndl_collector_result *result)
{
    const struct wndl_collector_unsampled *u = &result->unsampled;
    if (result->other_engine != 0)
        wndl_cli_note("%" PRIu32 " process%s sampled with another engine than "
                      "the first",
            result->other_engine, result->other_engine == 1 ? "" : "es");
    if (u->count != 0)
        wndl_cli_note("process %" PRIu32 " was not sampled: no engine could "
                      "start in it: %s",
            u->pid, strerror((int)u->sys_errno));
    if (u->count > 1)
        wndl_cli_note("%" PRIu32 " more were not sampled for such a reason",
            u->count - 1);
    if (result->traced != 0)
        wndl_cli_note("%" PRIu32 " process%s not sampled while a debugger was "
                      "attached",
            result->traced, result->traced == 1 ? " was" : "es were");
}

/* The last line is meant to be copied. */
static void say_next(const char *path)
{
    struct wndl_buf word;
    wndl_buf_init(&word, wndl_mem_libc());
    wndl_shell_word(&word, path);
    wndl_buf_byte(&word, '\0');
    if (!word.failed && wndl_view_page().size != 0)
        wndl_cli_note("next, in the terminal or in a browser:\n\n    windlass "
                      "report %s\n    windlass view %s",
            (const char *)word.data, (const char *)word.data);
    else if (!word.failed)
        wndl_cli_note(
            "next:\n\n    windlass report %s", (const char *)word.data);
    wndl_buf_free(&word);
}

static void say_samples(const struct wndl_collector_result *result)
{
    const struct wndl_collector_totals *t = &result->totals;
    wndl_cli_note("%" PRIu64 " sample%s kept, %" PRIu64
                  " dropped, in %.2f s, of %" PRIu32 " thread%s; %" PRIu32
                  " process%s seen",
        result->kept, wndl_record_plural(result->kept), dropped(t),
        (double)result->duration / 1e9, t->threads,
        wndl_record_plural(t->threads), t->processes,
        t->processes == 1 ? "" : "es");
    say_cpu(result);
    say_blocked(&result->offcpu);
    wndl_record_say_complete("stacks are", t->ends, t->samples);
    say_frames(t);
}

static void say_kept_tables(const struct wndl_error *trouble)
{
    char text[600];
    if (trouble != NULL)
        wndl_cli_note("rules made from code are not kept: %s",
            wndl_error_text(trouble, text, sizeof text));
}

void wndl_record_say_summary(const struct wndl_record_options *options,
    const struct wndl_collector_result *result, pid_t other)
{
    const struct wndl_collector_totals *t = &result->totals;
    if (!options->no_samples)
        say_samples(result);
    if (options->heap)
        wndl_heap_say_summary(result);
    say_stops(&t->stops);
    say_cut(t->cut);
    wndl_record_say_modules(result, options->verbose);
    wndl_record_tables_say(result, other <= 0 && result->left == 0);
    say_kept_tables(result->trouble_with_kept);
    say_discarded(result->discarded);
    if (result->unwritten != 0)
        wndl_cli_note("%" PRIu64
                      " sample%s lost while the file could not be written",
            result->unwritten, result->unwritten == 1 ? " was" : "s were");
    say_losses(t);
    say_unfollowed(result);
    if (!options->no_samples)
        say_engines(result);
    say_end(result);
    say_left(result, other);
    if (options->heap && t->heap.heaps != 0 && other <= 0)
        wndl_heap_say_top(result->path);
    if (result->kept_old)
        wndl_cli_note(
            "the recording that was there is now %s.old", result->path);
    wndl_cli_note(
        "wrote %s (%.1f kB)", result->path, (double)result->bytes / 1e3);
    say_next(result->path);
}
