/* SPDX-License-Identifier: MIT */
/* report_text_marks: the marks of the program, in order of time. */
#include "out/report_text/report_text.h"

#include <stdio.h>

enum { NUMBER_COLUMNS = 47, LEAST_TEXT = 20, NS_PER_US = 1000 };

static void write_mark(const struct wndl_text *t, const struct wndl_mark *mark)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, mark->thread);
    char duration[WNDL_NUMBER_SIZE] = "";
    if (mark->duration != 0 || mark->missed_deadline)
        wndl_text_time_cell(mark->duration, duration);
    wndl_buf_printf(t->out, "%12.6f  %4s %8s  ",
        (double)(mark->time / NS_PER_US) / 1e6,
        mark->missed_deadline ? "late" : "", duration);
    enum { NAME = 16, GAP = 2 };
    size_t used = wndl_text_cut(t, thread->name, NAME);
    wndl_text_spaces(t, (used < NAME ? NAME - used : 0) + GAP);
    unsigned width = t->layout->width;
    wndl_text_cut(t, mark->text,
        width == 0                            ? 0
        : width > NUMBER_COLUMNS + LEAST_TEXT ? width - NUMBER_COLUMNS
                                              : LEAST_TEXT);
    wndl_buf_byte(t->out, '\n');
}

void wndl_text_marks(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    size_t max = t->layout->max_rows;
    size_t shown = t->r->marks.len < max ? t->r->marks.len : max;
    if (t->r->marks.len == 0) {
        wndl_buf_text(
            t->out, "No marks: the program set none (windlass/profile.h).\n");
        return;
    }
    wndl_buf_text(
        t->out, "    time (s)       duration  thread            mark\n");
    for (size_t i = 0; i < shown; i++) {
        const uint32_t *mark = wndl_vec_at(&t->r->marks, i);
        write_mark(t, wndl_vec_at(&p->marks, *mark));
    }
    size_t rest = t->r->marks.len - shown;
    if (rest != 0)
        wndl_buf_printf(t->out, "%zu more mark%s: -n %zu\n", rest,
            rest == 1 ? "" : "s", t->r->marks.len);
}
