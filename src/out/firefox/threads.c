/* SPDX-License-Identifier: MIT */
/* firefox_threads: threads with their samples and marks. */
#include "base/json.h"
#include "model/timeline.h"
#include "out/firefox/firefox.h"

/* A row of a thread's samples. */
struct row {
    uint64_t time;
    uint64_t weight; /* ns of the time that is shown */
    uint64_t cpu;    /* ns since the row before */
    uint32_t stack;  /* + 1; 0: none */
};

/* Lists of things by their owner, linked by `first` and `next`. */
struct lists {
    uint32_t *first, *next; /* + 1; 0: the end */
};

struct threads {
    struct wndl_firefox *w;
    struct wndl_timeline line;
    struct wndl_vec rows;    /* struct row, of one thread */
    struct lists of_process; /* threads */
    struct lists marks;      /* by thread */
    struct lists heaps;      /* by process */
    size_t *main_threads;    /* by process: in the file */
    size_t count;            /* written so far */
};

static bool make_lists(
    struct lists *lists, struct wndl_arena *arena, size_t owners, size_t things)
{
    lists->first = wndl_arena_calloc(arena, owners + 1, sizeof(uint32_t));
    lists->next = wndl_arena_calloc(arena, things + 1, sizeof(uint32_t));
    return lists->first != NULL && lists->next != NULL;
}

/* Adds a thing at the front of its owner's list. */
static void add_to_list(struct lists *lists, uint32_t owner, size_t thing)
{
    lists->next[thing] = lists->first[owner];
    lists->first[owner] = (uint32_t)thing + 1;
}

/* ---- samples */

static void add_row(struct threads *t, const struct row *row)
{
    struct row *slot = wndl_vec_push(&t->rows);
    t->w->failed = t->w->failed || slot == NULL;
    if (slot != NULL)
        *slot = *row;
}

static bool is_shown(const struct wndl_firefox *w, const struct wndl_moment *m)
{
    switch (w->e->time) {
    case WNDL_TIME_CPU:
        return m->ran;
    case WNDL_TIME_BLOCKED:
        return !m->ran && m->label != WNDL_LABEL_WAITING;
    case WNDL_TIME_WALL:
    case WNDL_TIME_BYTES:
        break;
    }
    return true;
}

/*
 * A block has a row at its start, with all of its weight, and one at its end,
 * so that readers see that no CPU was used in between. Rows are in order of
 * time.
 */
static void add_moment(
    struct threads *t, const struct wndl_moment *m, uint64_t next)
{
    bool shown = is_shown(t->w, m);
    struct row row = {
        .time = m->time,
        .weight = shown ? m->spent : 0,
        .cpu = m->ran ? m->spent : 0,
        .stack = shown ? wndl_firefox_stack(t->w, m->node, m->label) : 0,
    };
    add_row(t, &row);
    if (m->ran || next - m->time < m->spent)
        return;
    row.time += m->spent;
    row.weight = 0;
    add_row(t, &row);
}

/* Readers ignore the CPU of the first row, so that is the thread's start. */
static void add_moments(struct threads *t, uint32_t index)
{
    const struct wndl_thread *thread = wndl_vec_at(&t->w->p->threads, index);
    const struct wndl_moment *moments = t->line.moments;
    size_t end = t->line.starts[index + 1];
    size_t first = t->line.starts[index];
    const struct row start = {.time = thread->start};
    t->rows.len = 0;
    if (first < end && moments[first].time >= thread->start)
        add_row(t, &start);
    for (size_t i = first; i < end; i++)
        add_moment(
            t, &moments[i], i + 1 < end ? moments[i + 1].time : UINT64_MAX);
}

static void write_samples(struct threads *t)
{
    struct wndl_firefox *w = t->w;
    const struct row *rows = t->rows.data;
    size_t count = t->rows.len;
    uint64_t last = 0;
    wndl_buf_text(&w->sink.text, ",\n\"samples\":{");
    struct wndl_firefox_column c = wndl_firefox_open(w, "stack");
    for (size_t i = 0; i < count; i++) {
        if (rows[i].stack == 0)
            wndl_firefox_text(&c, "null");
        else
            wndl_firefox_number(&c, rows[i].stack - 1);
    }
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "timeDeltas");
    for (size_t i = 0; i < count; i++) {
        wndl_firefox_time(&c, rows[i].time - last);
        last = rows[i].time;
    }
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "weight");
    for (size_t i = 0; i < count; i++)
        wndl_firefox_time(&c, rows[i].weight);
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "threadCPUDelta");
    for (size_t i = 0; i < count; i++)
        wndl_firefox_number(&c, rows[i].cpu);
    wndl_firefox_close(&c);
    wndl_buf_text(&w->sink.text, "\"weightType\":\"tracing-ms\",");
    wndl_firefox_length(w, count);
}

/* ---- marks */

typedef void mark_writer(
    struct wndl_firefox_column *column, const struct wndl_mark *mark);

static void write_name(
    struct wndl_firefox_column *column, const struct wndl_mark *mark)
{
    wndl_firefox_number(column, wndl_firefox_string(column->w, mark->text));
}

static void write_start(
    struct wndl_firefox_column *column, const struct wndl_mark *mark)
{
    wndl_firefox_time(column, mark->time);
}

static void write_end(
    struct wndl_firefox_column *column, const struct wndl_mark *mark)
{
    if (mark->duration == 0)
        wndl_firefox_text(column, "null");
    else
        wndl_firefox_time(column, mark->time + mark->duration);
}

static void write_phase(
    struct wndl_firefox_column *column, const struct wndl_mark *mark)
{
    enum { INSTANT = 0, INTERVAL = 1 };
    wndl_firefox_number(column, mark->duration == 0 ? INSTANT : INTERVAL);
}

static void write_category(
    struct wndl_firefox_column *column, const struct wndl_mark *mark)
{
    (void)mark;
    wndl_firefox_number(column, 0);
}

static void write_data(
    struct wndl_firefox_column *column, const struct wndl_mark *mark)
{
    wndl_firefox_text(column, mark->missed_deadline
                                  ? "{\"type\":\"MissedDeadline\"}"
                                  : "{\"type\":\"Mark\"}");
}

/* `first` as in struct lists; 0: there are none. */
static void write_marks(struct threads *t, uint32_t first)
{
    static const struct {
        const char *name;
        mark_writer *write;
    } columns[] = {
        {"name", write_name},
        {"startTime", write_start},
        {"endTime", write_end},
        {"phase", write_phase},
        {"category", write_category},
        {"data", write_data},
    };
    size_t count = 0;
    wndl_buf_text(&t->w->sink.text, ",\n\"markers\":{");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        struct wndl_firefox_column c = wndl_firefox_open(t->w, columns[i].name);
        count = 0;
        for (uint32_t at = first; at != 0; at = t->marks.next[at - 1]) {
            columns[i].write(&c, wndl_vec_at(&t->w->p->marks, at - 1));
            count++;
        }
        wndl_firefox_close(&c);
    }
    wndl_firefox_length(t->w, count);
}

/* ---- threads */

static void put_time(
    struct wndl_firefox *w, const char *name, uint64_t time, bool known)
{
    wndl_buf_printf(&w->sink.text, ",\"%s\":", name);
    if (known)
        wndl_firefox_put_ms(&w->sink.text, time);
    else
        wndl_buf_text(&w->sink.text, "null");
}

static void write_pauses(struct wndl_firefox *w)
{
    wndl_buf_text(&w->sink.text, ",\"pausedRanges\":[");
    for (size_t i = 0; i < w->p->pauses.len; i++) {
        const struct wndl_pause *pause = wndl_vec_at(&w->p->pauses, i);
        wndl_buf_text(
            &w->sink.text, i == 0 ? "{\"startTime\":" : ",{\"startTime\":");
        wndl_firefox_put_ms(&w->sink.text, pause->start);
        wndl_buf_text(&w->sink.text, ",\"endTime\":");
        wndl_firefox_put_ms(&w->sink.text, pause->end);
        wndl_buf_text(&w->sink.text, ",\"reason\":\"profiler-paused\"}");
    }
    wndl_buf_byte(&w->sink.text, ']');
}

static void write_head(struct threads *t, const struct wndl_thread *thread)
{
    struct wndl_firefox *w = t->w;
    struct wndl_buf *to = &w->sink.text;
    const struct wndl_process *process =
        wndl_vec_at(&w->p->processes, thread->process);
    bool ended = process->how_ended != 0;
    wndl_buf_text(to, t->count++ == 0 ? "\n{\"name\":" : ",\n{\"name\":");
    wndl_json_string(to, thread->name);
    wndl_buf_printf(to,
        ",\"tid\":%" PRIu32 ",\"isMainThread\":%s,"
        "\"processType\":\"default\",\"processName\":",
        thread->tid, thread->tid == process->pid ? "true" : "false");
    wndl_json_string(to, wndl_exported_program(w->p, thread->process));
    wndl_buf_text(to, ",\"pid\":");
    wndl_firefox_put_pid(w, thread->process);
    put_time(w, "processStartupTime", process->start, true);
    put_time(w, "processShutdownTime", process->end, ended);
    put_time(w, "registerTime", thread->start, true);
    put_time(w, "unregisterTime", thread->end, thread->ended || ended);
    write_pauses(w);
}

/* Readers know the length of a recording from samples alone. */
static void add_lifetime(struct threads *t, const struct wndl_process *process)
{
    const struct row start = {.time = process->start};
    const struct row end = {.time = process->end};
    add_row(t, &start);
    if (end.time > start.time)
        add_row(t, &end);
}

/* A process that has no main thread in the recording gets an empty one. */
static void write_main_thread(struct threads *t, uint32_t process)
{
    const struct wndl_profile *p = t->w->p;
    const struct wndl_process *of = wndl_vec_at(&p->processes, process);
    const struct wndl_thread *thread = NULL;
    const struct wndl_thread made = {
        .process = process,
        .tid = of->pid,
        .start = of->start,
        .end = of->end,
        .name = wndl_exported_program(p, process),
    };
    uint32_t index = 0;
    for (uint32_t at = t->of_process.first[process]; at != 0;
         at = t->of_process.next[at - 1]) {
        const struct wndl_thread *candidate = wndl_vec_at(&p->threads, at - 1);
        if (candidate->tid == of->pid) {
            thread = candidate;
            index = at - 1;
        }
    }
    t->main_threads[process] = t->count;
    write_head(t, thread != NULL ? thread : &made);
    t->rows.len = 0;
    if (thread != NULL)
        add_moments(t, index);
    if (t->rows.len == 0)
        add_lifetime(t, of);
    write_samples(t);
    write_marks(t, thread != NULL ? t->marks.first[index] : 0);
    if (t->heaps.first[process] != 0)
        wndl_firefox_write_allocations(
            t->w, wndl_vec_at(&p->heaps, t->heaps.first[process] - 1), of->pid);
    wndl_buf_byte(&t->w->sink.text, '}');
}

static void write_thread(struct threads *t, uint32_t index)
{
    const struct wndl_profile *p = t->w->p;
    const struct wndl_thread *thread = wndl_vec_at(&p->threads, index);
    const struct wndl_process *process =
        wndl_vec_at(&p->processes, thread->process);
    if (thread->tid == process->pid)
        return;
    write_head(t, thread);
    add_moments(t, index);
    write_samples(t);
    write_marks(t, t->marks.first[index]);
    wndl_buf_byte(&t->w->sink.text, '}');
}

static bool prepare_threads(struct threads *t)
{
    const struct wndl_profile *p = t->w->p;
    struct wndl_arena *arena = &t->w->arena;
    size_t processes = p->processes.len, threads = p->threads.len;
    wndl_vec_init(&t->rows, arena, sizeof(struct row));
    t->main_threads =
        wndl_arena_calloc(arena, processes + 1, sizeof *t->main_threads);
    if (t->main_threads == NULL ||
        !make_lists(&t->of_process, arena, processes, threads) ||
        !make_lists(&t->marks, arena, threads, p->marks.len) ||
        !make_lists(&t->heaps, arena, processes, p->heaps.len) ||
        !wndl_timeline_make(&t->line, p, WNDL_TIME_WALL, arena))
        return false;
    for (size_t i = threads; i-- > 0;) {
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, i);
        add_to_list(&t->of_process, thread->process, i);
    }
    for (size_t i = p->marks.len; i-- > 0;) {
        const struct wndl_mark *mark = wndl_vec_at(&p->marks, i);
        add_to_list(&t->marks, mark->thread, i);
    }
    for (size_t i = p->heaps.len; i-- > 0;) {
        const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, i);
        if (wndl_exported_has(t->w->e, heap))
            add_to_list(&t->heaps, heap->process, i);
    }
    return true;
}

void wndl_firefox_write_threads(struct wndl_firefox *w)
{
    struct threads t = {.w = w};
    if (!prepare_threads(&t)) {
        w->failed = true;
        return;
    }
    wndl_buf_text(&w->sink.text, "\"threads\":[");
    for (uint32_t i = 0; i < w->p->processes.len && !w->failed; i++) {
        write_main_thread(&t, i);
        for (uint32_t at = t.of_process.first[i]; at != 0;
             at = t.of_process.next[at - 1])
            write_thread(&t, at - 1);
    }
    wndl_buf_text(&w->sink.text, "],\n\"counters\":[");
    bool first = true;
    for (size_t i = 0; i < w->p->heaps.len && !w->failed; i++) {
        const struct wndl_process_heap *heap = wndl_vec_at(&w->p->heaps, i);
        if (!wndl_exported_has(w->e, heap) || heap->moments.len == 0)
            continue;
        wndl_buf_text(&w->sink.text, first ? "\n" : ",\n");
        first = false;
        wndl_firefox_write_counter(w, heap, t.main_threads[heap->process]);
    }
    for (uint32_t i = 0; i < w->p->processes.len && w->p->sizes.len != 0; i++)
        wndl_firefox_write_sizes(w, i, t.main_threads[i], &first);
    wndl_buf_text(&w->sink.text, "],\n");
}
