/* SPDX-License-Identifier: MIT */
#include "cli/record_summary.h"

#include "cli/command.h"
#include "cli/shell_word.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <windlass/unwind.h>

static const char *const loss_names[WNDL_LOSS_REASONS] = {
    [WNDL_LOSS_RING_FULL] = "the buffer was full",
    [WNDL_LOSS_TREE_FULL] = "too many different stacks",
    [WNDL_LOSS_THREADS_FULL] = "too many threads",
    [WNDL_LOSS_MODULES_FULL] = "too many modules",
    [WNDL_LOSS_BUSY] = "a sample was being taken",
    [WNDL_LOSS_NO_STACK] = "the stack was not found",
};

static const char *const end_names[WNDL_WALK_END_COUNT] = {
    [WNDL_END_TRUNCATED] = "deeper than 32,768 frames",
    [WNDL_END_NO_RULE] = "no unwind information",
    [WNDL_END_BAD_READ] = "left the stack",
    [WNDL_END_NO_PROGRESS] = "went in circles",
    [WNDL_END_BAD_CFI] = "damaged unwind information",
    [WNDL_END_BAD_PC] = "returned into no code",
    [WNDL_END_FP_ROOT] = "by frame pointer only",
};

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void say_timers(const struct wndl_collector_engine *engine)
{
    char setting[80] = "";
    if (engine->paranoid != -2)
        snprintf(setting, sizeof setting,
            "; the setting kernel.perf_event_paranoid is %d", engine->paranoid);
    wndl_cli_note("the kernel refuses perf events (%s%s); using CPU-time "
                  "timers, which fire no faster than its tick, often 250 Hz",
        strerror(engine->refusal), setting);
}

void wndl_record_say_engine(const struct wndl_collector_engine *engine)
{
    if (engine->engine == WNDL_ENGINE_TIMER)
        say_timers(engine);
    else if (!engine->sample_kernel)
        wndl_cli_note("time in the kernel is not sampled, because the setting "
                      "kernel.perf_event_paranoid is %d; 1 would allow it",
            engine->paranoid);
}

/* "REASON 3, REASON 1" for the rows that are not 0. */
static void list_reasons(
    char *text, size_t size, const uint64_t *counts, const char *const names[8])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 8; i++) {
        if (names[i] == NULL || counts[i] == 0 || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %" PRIu64,
            used == 0 ? "" : ", ", names[i], counts[i]);
    }
}

static void say_stacks(const struct wndl_collector_totals *t)
{
    char reasons[400];
    if (t->samples == 0)
        return;
    list_reasons(reasons, sizeof reasons, t->ends, end_names);
    /* In hundredths, rounded down: 100.00 % is said of all of them only. */
    uint64_t share = t->ends[WNDL_END_COMPLETE] * 10000 / t->samples;
    wndl_cli_note("%" PRIu64 ".%02" PRIu64
                  " %% of the stacks are complete%s%s%s",
        share / 100, share % 100,
        reasons[0] == '\0' ? "" : " (others: ", reasons,
        reasons[0] == '\0' ? "" : ")");
}

/*
 * What is not in samples: starting up, threads that lived for less than an
 * interval, what could not be followed.
 */
static void say_cpu(const struct wndl_collector_result *result)
{
    double all = (double)result->cpu / 1e9;
    double sampled = (double)result->totals.cpu / 1e9;
    if (all > 0)
        wndl_cli_note("%.2f s of the command's %.2f s of CPU time are in "
                      "samples",
            sampled < all ? sampled : all, all);
}

/* Samples that are not in the recording, as report counts them. */
static uint64_t dropped(const struct wndl_collector_totals *t)
{
    uint64_t count = 0;
    for (size_t i = 0; i < WNDL_LOSS_REASONS; i++)
        count += loss_names[i] == NULL ? 0 : t->lost[i];
    return count;
}

static void say_losses(const struct wndl_collector_totals *t)
{
    char reasons[400];
    list_reasons(reasons, sizeof reasons, t->lost, loss_names);
    if (reasons[0] != '\0')
        wndl_cli_note("dropped: %s", reasons);
    if (t->lost[WNDL_LOSS_OVERRUN] != 0)
        wndl_cli_note("%" PRIu64 " timer ticks came too fast to be samples of "
                      "their own; CPU times take account of them",
            t->lost[WNDL_LOSS_OVERRUN]);
    if (t->damaged != 0)
        wndl_cli_note("%" PRIu64 " time%s the program had overwritten the "
                      "recorder's memory; what stood there is lost",
            t->damaged, plural(t->damaged));
}

static void say_processes(const struct wndl_collector_request *request,
    const struct wndl_collector_result *result)
{
    const struct wndl_collector_totals *t = &result->totals;
    if (t->processes == 0)
        wndl_cli_note("'%s' never loaded the recorder: is it statically "
                      "linked, set-user-ID, or made for another libc?",
            request->command[0]);
    if (t->unfollowed != 0)
        wndl_cli_note("%" PRIu32 " process%s could not be followed: "
                      "statically linked, set-user-ID, made for another libc, "
                      "or started without the environment",
            t->unfollowed, t->unfollowed == 1 ? "" : "es");
    if (result->left != 0)
        wndl_cli_note("%" PRIu32 " process%s still running, no longer recorded",
            result->left, result->left == 1 ? " is" : "es are");
    if (result->other_engine != 0)
        wndl_cli_note("%" PRIu32 " process%s sampled in another way than the "
                      "first, or not at all",
            result->other_engine, result->other_engine == 1 ? "" : "es");
}

/* The last line is there to be copied. */
static void say_next(const char *path)
{
    struct wndl_buf word;
    wndl_buf_init(&word, wndl_mem_libc());
    wndl_shell_word(&word, path);
    wndl_buf_byte(&word, '\0');
    if (!word.failed)
        wndl_cli_note(
            "next:\n\n    windlass report %s", (const char *)word.data);
    wndl_buf_free(&word);
}

void wndl_record_say_summary(const struct wndl_collector_request *request,
    const struct wndl_collector_result *result)
{
    const struct wndl_collector_totals *t = &result->totals;
    wndl_cli_note("%" PRIu64 " sample%s kept, %" PRIu64
                  " dropped, in %.2f s, of %" PRIu32 " thread%s; %" PRIu32
                  " process%s seen",
        t->samples, plural(t->samples), dropped(t),
        (double)result->duration / 1e9, t->threads, plural(t->threads),
        t->processes, t->processes == 1 ? "" : "es");
    say_cpu(result);
    say_stacks(t);
    say_losses(t);
    say_processes(request, result);
    wndl_cli_note(
        "wrote %s (%.1f kB)", result->path, (double)result->bytes / 1e3);
    say_next(result->path);
}
