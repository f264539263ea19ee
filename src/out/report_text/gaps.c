/* SPDX-License-Identifier: MIT */
/* report_text_gaps: the gaps in a recording, and their reasons. */
#include "out/report_text/report_text.h"

#include <inttypes.h>

enum { MAX_LISTED = 10 };

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void put_damage(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    if (p->chunks_damaged != 0) {
        wndl_text_label(t, "Damaged");
        wndl_buf_printf(t->out,
            "%u chunk%s of the recording could not be used, %sat offset "
            "0x%" PRIx64 "\n",
            p->chunks_damaged, plural(p->chunks_damaged),
            p->chunks_damaged == 1 ? "" : "the first ", p->damaged_at);
    }
    if (p->chunks_unknown != 0) {
        wndl_text_label(t, "Newer");
        wndl_buf_printf(t->out, "%u chunk%s of a newer windlass left out\n",
            p->chunks_unknown, plural(p->chunks_unknown));
    }
    if (p->cut || !p->finished) {
        wndl_text_label(t, "Cut short");
        wndl_buf_text(
            t->out, p->cut ? "the recording ends in the middle of a chunk\n"
                           : "the recorder is still running, or was stopped "
                             "before its end\n");
    }
}

static void put_pauses(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    const struct wndl_pause *pauses = p->pauses.data;
    uint64_t paused = 0;
    char text[WNDL_NUMBER_SIZE], count[WNDL_NUMBER_SIZE];
    if (p->pauses.len == 0)
        return;
    for (size_t i = 0; i < p->pauses.len; i++)
        paused += pauses[i].end - pauses[i].start;
    wndl_text_label(t, "Paused");
    wndl_buf_printf(t->out, "%s time%s, for %s in all\n",
        wndl_text_number(p->pauses.len, count), plural(p->pauses.len),
        wndl_text_time(paused, text));
}

static void put_unwritten(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char text[WNDL_NUMBER_SIZE], count[WNDL_NUMBER_SIZE];
    if (p->unwritten.times == 0)
        return;
    wndl_text_label(t, "Not written");
    wndl_buf_printf(t->out, " %s time%s, for %s in all, ",
        wndl_text_number(p->unwritten.times, count), plural(p->unwritten.times),
        wndl_text_time(p->unwritten.duration, text));
    wndl_text_count(t->out, p->unwritten.samples, "sample");
    wndl_buf_text(t->out, ": the disk was full\n");
}

static void interrupted_calls(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char count[WNDL_NUMBER_SIZE];
    if (p->interrupted_calls == 0)
        return;
    wndl_text_label(t, "Disturbed");
    wndl_buf_printf(t->out,
        "%s blocked call%s returned EINTR because of the recorder\n",
        wndl_text_number(p->interrupted_calls, count),
        plural(p->interrupted_calls));
}

static void unfollowed_process(
    const struct wndl_text *t, const struct wndl_unrecorded_process *process)
{
    size_t before = t->out->size;
    wndl_buf_printf(t->out, "%11u  %s: ", process->pid,
        wndl_unrecorded_text(process->reason));
    wndl_text_command(t, process->command, process->executable,
        (unsigned)(t->out->size - before));
    wndl_buf_byte(t->out, '\n');
}

/* More may have been counted than are listed. */
static void put_unfollowed(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    const struct wndl_vec *named = &p->unrecorded_processes;
    size_t listed = named->len < MAX_LISTED ? named->len : MAX_LISTED;
    if (p->unrecorded == 0)
        return;
    wndl_text_label(t, "Not seen");
    wndl_buf_printf(t->out, "%u child process%s could not be recorded%s\n",
        p->unrecorded, p->unrecorded == 1 ? "" : "es", listed ? ":" : "");
    for (size_t i = 0; i < listed; i++)
        unfollowed_process(t, wndl_vec_at(named, i));
    if (listed != 0 && listed < p->unrecorded)
        wndl_buf_printf(
            t->out, "             and %zu more\n", p->unrecorded - listed);
}

static void damaged_modules(const struct wndl_text *t)
{
    const struct wndl_symbolized *s = t->r->symbolized;
    for (size_t i = 0; i < s->modules.len; i++) {
        const struct wndl_module *module = wndl_vec_at(&s->modules, i);
        if (module->units_damaged == 0)
            continue;
        wndl_text_label(t, "Damaged");
        wndl_buf_printf(t->out,
            "%u unit%s of debug information left out: ", module->units_damaged,
            plural(module->units_damaged));
        wndl_text_cut(t, wndl_intern_get(&s->strings, module->path), 0);
        wndl_buf_byte(t->out, '\n');
    }
}

void wndl_text_gaps(const struct wndl_text *t)
{
    put_damage(t);
    put_pauses(t);
    put_unwritten(t);
    interrupted_calls(t);
    put_unfollowed(t);
    damaged_modules(t);
}
