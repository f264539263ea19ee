/* SPDX-License-Identifier: MIT */
#include "out/report_text/report_text.h"

/* The reason why there is no CPU time. */
static const char *why_no_cpu_time(const struct wndl_profile *p)
{
    if (p->engine == WNDL_SAMPLER_OUTSIDE)
        return "time on the CPU is not sampled from outside";
    return "no thread used the CPU for a whole sampling interval";
}

static void no_samples(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    bool whole = p->finished && !p->cut && p->chunks_damaged == 0;
    if (!whole || t->r->quality.dropped != 0)
        wndl_buf_text(t->out,
            "No samples: this part of the recording holds none.\n\n"
            "Next: windlass record COMMAND\n");
    else if (p->processes.len == 0)
        wndl_buf_text(t->out,
            "No samples: the command could not be recorded. Is it statically "
            "linked,\nset-user-ID, or built for another libc?\n\n"
            "Next: windlass record --help\n");
    else
        wndl_buf_printf(t->out,
            "No samples: %s.\n\n"
            "Next: windlass record%s COMMAND\n",
            why_no_cpu_time(p),
            p->engine == WNDL_SAMPLER_OUTSIDE ? "" : " -r 10000");
}

/* There is nothing of the requested time; there may be of another. */
static void nothing_to_show(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    char text[WNDL_NUMBER_SIZE];
    if (t->r->time == WNDL_TIME_BYTES)
        wndl_buf_text(t->out, "No blocks: none of them is in the heap.\n");
    else if (p->is_selected)
        wndl_buf_printf(t->out,
            "Nothing that was selected %s; --time wall shows the rest of it.\n",
            t->r->time == WNDL_TIME_CPU ? "used the CPU" : "was blocked");
    else if (t->r->time == WNDL_TIME_CPU && t->r->times.blocked != 0)
        wndl_buf_printf(t->out,
            "No samples: %s.\nThreads were blocked for %s.\n",
            why_no_cpu_time(p), wndl_text_time(t->r->times.blocked, text));
    else if (t->r->time == WNDL_TIME_BLOCKED && p->samples.len != 0)
        wndl_buf_printf(t->out, "No blocked time: %s.\n",
            p->blocked_interval == 0 ? "blocked threads were not sampled"
                                     : "no thread was blocked when sampled");
    else
        no_samples(t);
}

bool wndl_report_has_rows(const struct wndl_report *r)
{
    return r->all.samples != 0;
}

/* Threads without a sample are shown when any of their times is known. */
static bool has_times(const struct wndl_report *r)
{
    const struct wndl_times *t = &r->times;
    return t->sampled_cpu + t->unsampled_cpu + t->blocked + t->waiting != 0;
}

/* Whether `next` continues from this report, or shows more. */
static bool has_next(const struct wndl_report *r)
{
    const struct wndl_profile *p = r->symbolized->profile;
    return p->samples.len + p->blocks.len != 0;
}

void wndl_report_text(const struct wndl_report *r,
    const struct wndl_text_layout *layout, struct wndl_buf *out)
{
    struct wndl_text t = {r, layout, out};
    bool by_thread = r->view == WNDL_BY_THREAD && has_times(r);
    wndl_text_head(&t);
    if (layout->marks)
        wndl_text_marks(&t);
    else if (!wndl_report_has_rows(r) && !by_thread)
        nothing_to_show(&t);
    else if (r->tree.nodes.len != 0)
        wndl_text_tree(&t);
    else
        wndl_text_table(&t);
    if (layout->next != NULL && has_next(r))
        wndl_buf_printf(out, "\nNext: %s\n", layout->next);
}
