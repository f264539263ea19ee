/* SPDX-License-Identifier: MIT */
#include "out/core/json_put.h"

#include "model/heap.h"

#include <inttypes.h>
#include <string.h>

/* ---- punctuation */

void wndl_json_put_element(struct wndl_json *j)
{
    if (!j->first)
        wndl_buf_byte(j->out, ',');
    j->first = false;
}

void wndl_json_put_key(struct wndl_json *j, const char *name)
{
    wndl_json_put_element(j);
    wndl_buf_byte(j->out, '"');
    wndl_buf_text(j->out, name);
    wndl_buf_text(j->out, "\":");
}

void wndl_json_put_open(struct wndl_json *j, char bracket)
{
    wndl_buf_byte(j->out, (uint8_t)bracket);
    j->first = true;
}

void wndl_json_put_close(struct wndl_json *j, char bracket)
{
    wndl_buf_byte(j->out, (uint8_t)bracket);
    j->first = false;
}

void wndl_json_put_open_line(struct wndl_json *j)
{
    wndl_json_put_element(j);
    wndl_buf_byte(j->out, '\n');
    wndl_json_put_open(j, '{');
}

void wndl_json_put_number(struct wndl_json *j, const char *name, uint64_t value)
{
    wndl_json_put_key(j, name);
    wndl_buf_decimal(j->out, value);
}

void wndl_json_put_signed(struct wndl_json *j, const char *name, int64_t value)
{
    wndl_json_put_key(j, name);
    wndl_buf_printf(j->out, "%" PRId64, value);
}

void wndl_json_put_truth(struct wndl_json *j, const char *name, bool value)
{
    wndl_json_put_key(j, name);
    wndl_buf_text(j->out, value ? "true" : "false");
}

void wndl_json_put_text(
    struct wndl_json *j, const char *name, const char *value)
{
    wndl_json_put_key(j, name);
    wndl_json_text(j->out, value);
}

void wndl_json_put_string(
    struct wndl_json *j, const char *name, struct wndl_bytes value)
{
    wndl_json_put_key(j, name);
    wndl_json_string(j->out, value);
}

void wndl_json_put_id(struct wndl_json *j, const char *name, uint32_t id)
{
    wndl_json_put_string(j, name, wndl_intern_get(&j->s->strings, id));
}

void wndl_json_put_strings(
    struct wndl_json *j, const char *name, const struct wndl_vec *list)
{
    wndl_json_put_key(j, name);
    wndl_json_put_open(j, '[');
    const struct wndl_bytes *texts = list->data;
    for (size_t i = 0; i < list->len; i++) {
        wndl_json_put_element(j);
        wndl_json_string(j->out, texts[i]);
    }
    wndl_json_put_close(j, ']');
}

/* ---- the recording */

const char *wndl_json_engine(uint32_t engine)
{
    static const char *const names[WNDL_SAMPLERS] = {
        [WNDL_SAMPLER_UNKNOWN] = "unknown",
        [WNDL_SAMPLER_PERF] = "perf-task-clock",
        [WNDL_SAMPLER_CPU_TIMERS] = "thread-cpu-timers",
        [WNDL_SAMPLER_TIMERS] = "thread-timers",
        [WNDL_SAMPLER_OUTSIDE] = "outside",
        [WNDL_SAMPLER_COUNTED] = "instructions-counted",
        [WNDL_SAMPLER_COPIES] = "perf-stack-copies",
        [WNDL_SAMPLER_STOPS] = "stops",
    };
    return names[engine < WNDL_SAMPLERS ? engine : 0];
}

static void engine_fields(struct wndl_json *j, const struct wndl_profile *p)
{
    wndl_json_put_number(j, "interval_ns", p->interval);
    wndl_json_put_text(j, "engine", wndl_json_engine(p->engine));
    wndl_json_put_truth(j, "kernel_sampled", p->kernel_sampled);
    wndl_json_put_truth(j, "kernel_by_ticks", p->by_ticks);
    if (p->kernel_stacks)
        wndl_json_put_truth(j, "kernel_stacks", true);
    if (p->blocked_interval != 0)
        wndl_json_put_number(j, "blocked_interval_ns", p->blocked_interval);
    if (p->max_frames != 0)
        wndl_json_put_number(j, "max_frames", p->max_frames);
}

static void put_pauses(struct wndl_json *j, const struct wndl_profile *p)
{
    const struct wndl_pause *pauses = p->pauses.data;
    wndl_json_put_key(j, "pauses");
    wndl_json_put_open(j, '[');
    for (size_t i = 0; i < p->pauses.len; i++) {
        wndl_json_put_element(j);
        wndl_json_put_open(j, '{');
        wndl_json_put_number(j, "start_ns", pauses[i].start);
        wndl_json_put_number(j, "end_ns", pauses[i].end);
        wndl_json_put_close(j, '}');
    }
    wndl_json_put_close(j, ']');
}

static void command_status(struct wndl_json *j, uint32_t status)
{
    if (status >= WNDL_STATUS_RUNNING)
        wndl_json_put_truth(j, "still_running", true);
    else if (status >= WNDL_STATUS_SIGNALED)
        wndl_json_put_number(j, "signal", status - WNDL_STATUS_SIGNALED);
    else
        wndl_json_put_number(j, "exit_code", status);
}

void wndl_json_recording(struct wndl_json *j)
{
    const struct wndl_profile *p = j->s->profile;
    wndl_json_put_key(j, "recording");
    wndl_json_put_open(j, '{');
    wndl_json_put_strings(j, "command", &p->arguments);
    wndl_json_put_string(j, "cwd", p->cwd);
    wndl_json_put_string(j, "host", p->host);
    wndl_json_put_string(j, "recorder_version", p->recorder_version);
    wndl_json_put_number(j, "realtime_ns", p->realtime);
    wndl_json_put_number(j, "duration_ns", p->duration);
    engine_fields(j, p);
    wndl_json_put_truth(j, "finished", p->finished);
    if (p->finished)
        command_status(j, p->status);
    wndl_json_put_number(j, "unfollowed_processes", p->unrecorded);
    wndl_json_put_number(j, "interrupted_calls", p->interrupted_calls);
    put_pauses(j, p);
    wndl_json_put_truth(j, "cut", p->cut);
    wndl_json_put_number(j, "chunks_damaged", p->chunks_damaged);
    wndl_json_put_number(j, "chunks_unknown", p->chunks_unknown);
    wndl_json_put_close(j, '}');
}

/* NUL-separated arguments as an array. */
void wndl_json_command(struct wndl_json *j, struct wndl_bytes command)
{
    wndl_json_put_key(j, "command");
    wndl_json_put_open(j, '[');
    for (size_t start = 0; start < command.size;) {
        const uint8_t *end =
            memchr(command.data + start, 0, command.size - start);
        size_t size = end == NULL ? command.size - start
                                  : (size_t)(end - command.data) - start;
        wndl_json_put_element(j);
        wndl_json_string(j->out, wndl_bytes_slice(command, start, size));
        start += size + 1;
    }
    wndl_json_put_close(j, ']');
}

void wndl_json_heap_totals(
    struct wndl_json *j, const uint64_t *totals, const uint64_t *missed)
{
    static const char *const names[WNDL_HEAP_TOTALS] = {"allocs", "frees",
        "requested", "usable", "usable_freed", "reallocs", "temporary",
        "peak_bytes", "peak_time_ns", "inherited_frees", "own_allocators",
        "wrong_frees_unknown"};
    static const char *const reasons[WNDL_HEAP_MISSED_REASONS] = {
        "nested", "pairs-full", "tree-full", "memory", "threads-full", "other"};
    for (size_t i = 0; i < WNDL_HEAP_TOTALS; i++)
        wndl_json_put_number(j, names[i], totals[i]);
    wndl_json_put_key(j, "missed");
    wndl_json_put_open(j, '{');
    for (size_t i = 0; i < WNDL_HEAP_MISSED_REASONS; i++) {
        if (missed[i] != 0)
            wndl_json_put_number(j, reasons[i], missed[i]);
    }
    wndl_json_put_close(j, '}');
}
