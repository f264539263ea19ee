/* SPDX-License-Identifier: MIT */
/*
 * Many addresses at once, and those that were looked up before. New ones are
 * sorted by units, so that units are read once, by several threads, and their
 * addresses are looked up one after the other.
 */
#include "symbolize/core/symbolizer_impl.h"

#include <stdlib.h>

static const struct wndl_symbols *remembered(
    const struct wndl_symbolizer *s, uint64_t rva)
{
    const uint64_t *known = wndl_map_get(&s->answers, rva);
    return known == NULL ? NULL
                         : (const struct wndl_symbols *)(uintptr_t)*known;
}

/* The copy that is kept, or NULL when memory is out. */
static const struct wndl_symbols *remember(
    struct wndl_symbolizer *s, uint64_t rva, struct wndl_symbols answer)
{
    struct wndl_symbols *kept = wndl_arena_alloc(&s->arena, sizeof *kept);
    uint64_t *slot = kept == NULL ? NULL : wndl_map_put(&s->answers, rva);
    if (slot == NULL)
        return NULL;
    *kept = answer;
    *slot = (uintptr_t)kept;
    return kept;
}

static const struct wndl_symbols *answer_of(
    struct wndl_symbolizer *s, uint64_t rva)
{
    struct wndl_symbols answer;
    const struct wndl_symbols *known = remembered(s, rva);
    if (known != NULL)
        return known;
    if (wndl_symbolizer_resolve(s, &s->arena, rva, &answer) != WNDL_OK)
        return NULL;
    return remember(s, rva, answer);
}

enum wndl_status wndl_symbolizer_lookup(struct wndl_symbolizer *s, uint64_t rva,
    struct wndl_symbols *answer, struct wndl_error *err)
{
    *answer = (struct wndl_symbols){0};
    wndl_symbolizer_lock(s);
    const struct wndl_symbols *found = answer_of(s, rva);
    wndl_symbolizer_unlock(s);
    if (found == NULL)
        return wndl_symbolizer_no_memory(err);
    if (found->count == 0) {
        wndl_symbolizer_forget(err);
        return wndl_fail(err, WNDL_NOT_FOUND,
            "no symbol or debug information covers the address");
    }
    *answer = *found;
    return WNDL_OK;
}

static int compare_jobs(const void *left, const void *right)
{
    const struct wndl_symbolize_job *a = left;
    const struct wndl_symbolize_job *b = right;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return (a->rva > b->rva) - (a->rva < b->rva);
}

/* DWARF is not touched when all are known without. */
static enum wndl_status prepare(struct wndl_symbolizer *s,
    const struct wndl_symbolize_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!wndl_symbolizer_is_cached(s, jobs[i].rva))
            return wndl_symbolizer_need_open(s);
    return WNDL_OK;
}

static void sort_jobs(
    struct wndl_symbolizer *s, struct wndl_symbolize_job *jobs, size_t count)
{
    const struct wndl_name_source *best = s->sources[0];
    for (size_t i = 0; i < count && best->unit_of != NULL; i++)
        jobs[i].unit = best->unit_of(s, jobs[i].rva);
    if (count > 1)
        qsort(jobs, count, sizeof *jobs, compare_jobs);
}

/* `before` is the job before it, or NULL. */
static enum wndl_status do_job(struct wndl_symbolizer *s,
    struct wndl_arena *arena, struct wndl_symbolize_job *job,
    const struct wndl_symbolize_job *before)
{
    const struct wndl_symbols *known = remembered(s, job->rva);
    if (before != NULL && job->rva == before->rva)
        job->answer = before->answer;
    else if (known != NULL)
        job->answer = *known;
    else
        return wndl_symbolizer_resolve(s, arena, job->rva, &job->answer);
    return WNDL_OK;
}

static bool needs_dwarf(
    const struct wndl_symbolizer *s, const struct wndl_symbolize_job *job)
{
    return s->dwarf != NULL && remembered(s, job->rva) == NULL &&
           !wndl_symbolizer_is_cached(s, job->rva);
}

/* `addrs` are those of the jobs that need DWARF. */
struct needed {
    wndl_svma *addrs;
    size_t count;
    size_t ahead; /* the units were read of so many */
    size_t done;
};

/* Addresses for which memory is missing are not read ahead. */
static void list_needed(const struct wndl_symbolizer *s,
    const struct wndl_symbolize_job *jobs, size_t count,
    struct wndl_arena *scratch, struct needed *needed)
{
    wndl_svma *addrs = wndl_arena_calloc(scratch, count, sizeof *addrs);
    *needed = (struct needed){.addrs = addrs};
    for (size_t i = 0; i < count && addrs != NULL; i++)
        if (needs_dwarf(s, &jobs[i]))
            addrs[needed->count++] = wndl_symbolizer_svma(s, jobs[i].rva);
}

static void read_ahead(struct wndl_symbolizer *s, struct needed *needed)
{
    if (needed->done == needed->ahead)
        needed->ahead +=
            wndl_dwarf_read_ahead(s->dwarf, needed->addrs + needed->done,
                needed->count - needed->done, &s->workers);
    needed->done++;
}

static enum wndl_status do_jobs(struct wndl_symbolizer *s,
    struct wndl_arena *arena, struct wndl_symbolize_job *jobs, size_t count)
{
    struct wndl_arena scratch;
    struct needed needed;
    enum wndl_status status = WNDL_OK;
    wndl_arena_init(&scratch, s->mem);
    list_needed(s, jobs, count, &scratch, &needed);
    for (size_t i = 0; i < count && status == WNDL_OK; i++) {
        if (needed.count > 1 && needs_dwarf(s, &jobs[i]))
            read_ahead(s, &needed);
        status = do_job(s, arena, &jobs[i], i == 0 ? NULL : &jobs[i - 1]);
    }
    wndl_arena_free(&scratch);
    return status;
}

enum wndl_status wndl_symbolize_jobs(struct wndl_symbolizer *s,
    struct wndl_arena *arena, struct wndl_symbolize_job *jobs, size_t count)
{
    enum wndl_status status = prepare(s, jobs, count);
    if (status != WNDL_OK)
        return status;
    sort_jobs(s, jobs, count);
    return do_jobs(s, arena, jobs, count);
}

/*
 * Lists the addresses that are not remembered, as jobs. False when memory is
 * out.
 */
static bool collect(const struct wndl_symbolizer *s, const uint64_t *rvas,
    size_t count, struct wndl_vec *jobs)
{
    for (size_t i = 0; i < count; i++) {
        if (remembered(s, rvas[i]) != NULL)
            continue;
        struct wndl_symbolize_job *job = wndl_vec_push(jobs);
        if (job == NULL)
            return false;
        job->rva = rvas[i];
    }
    return true;
}

static enum wndl_status learn(struct wndl_symbolizer *s, struct wndl_vec *jobs)
{
    struct wndl_symbolize_job *job = jobs->data;
    enum wndl_status status =
        wndl_symbolize_jobs(s, &s->arena, jobs->data, jobs->len);
    for (size_t i = 0; i < jobs->len && status == WNDL_OK; i++, job++)
        if (i == 0 || job->rva != job[-1].rva)
            if (remember(s, job->rva, job->answer) == NULL)
                status = WNDL_NOMEM;
    return status;
}

static enum wndl_status look_up_all(struct wndl_symbolizer *s,
    const uint64_t *rvas, size_t count, struct wndl_symbols *answers)
{
    struct wndl_arena scratch;
    struct wndl_vec jobs;
    wndl_arena_init(&scratch, s->mem);
    wndl_vec_init(&jobs, &scratch, sizeof(struct wndl_symbolize_job));
    enum wndl_status status = WNDL_NOMEM;
    if (collect(s, rvas, count, &jobs))
        status = learn(s, &jobs);
    wndl_arena_free(&scratch);
    for (size_t i = 0; i < count && status == WNDL_OK; i++)
        answers[i] = *remembered(s, rvas[i]);
    return status;
}

enum wndl_status wndl_symbolizer_lookup_batch(struct wndl_symbolizer *s,
    const uint64_t *rvas, size_t count, struct wndl_symbols *answers,
    struct wndl_error *err)
{
    for (size_t i = 0; i < count; i++)
        answers[i] = (struct wndl_symbols){0};
    wndl_symbolizer_lock(s);
    enum wndl_status status = look_up_all(s, rvas, count, answers);
    wndl_symbolizer_unlock(s);
    return status == WNDL_OK ? status : wndl_symbolizer_no_memory(err);
}
