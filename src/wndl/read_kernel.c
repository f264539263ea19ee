/* SPDX-License-Identifier: MIT */
/*
 * read_kernel: samples of the kernel, and their stacks on those of the program.
 *
 * The kernel is sampled by itself, at each interval of CPU time. The program's
 * sample that stands for time in the kernel comes after it, and says how much
 * that was, and which call it was. So the last samples of the kernel before it,
 * as many as there are intervals in its time, share its time, and their stacks
 * go on top of its stack.
 */
#include "wndl/fields.h"
#include "wndl/reader.h"

#include <string.h>

enum wndl_status wndl_read_ksmp(struct wndl_reader *r, struct wndl_cursor *c)
{
    const struct wndl_fields_ksmp head = wndl_get_ksmp(c);
    const uint64_t count = wndl_get_list(c, WNDL_LEAST_KERNEL);
    const size_t kept = r->kernel_samples.len;
    uint64_t time = head.time;
    for (uint64_t i = 0; i < count && !c->failed; i++) {
        const struct wndl_fields_kernel fields = wndl_get_kernel(c);
        const uint32_t node = wndl_reader_known(&r->kernel_nodes, fields.node);
        if (__builtin_add_overflow(time, fields.time, &time))
            wndl_cursor_fail(c);
        if (node == WNDL_NO_INDEX || node == 0)
            continue;
        struct wndl_kernel_sample *slot = wndl_vec_push(&r->kernel_samples);
        if (slot == NULL)
            return WNDL_NOMEM;
        *slot = (struct wndl_kernel_sample){
            time, wndl_reader_narrow(fields.tid), node};
    }
    if (!c->failed)
        return WNDL_OK;
    r->kernel_samples.len = kept;
    return WNDL_MALFORMED;
}

/* The last chunk has all names, sorted, as lookups need them. */
enum wndl_status wndl_read_ksym(struct wndl_reader *r, struct wndl_cursor *c)
{
    struct wndl_vec *names = &r->p->kernel_names;
    const struct wndl_fields_ksym head = wndl_get_ksym(c);
    const uint32_t image = wndl_reader_known(&r->images, head.image);
    const uint64_t count = wndl_get_list(c, WNDL_LEAST_KERNEL_NAME);
    if (c->failed || image == WNDL_NO_INDEX)
        return WNDL_MALFORMED;
    names->len = 0;
    uint64_t address = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct wndl_fields_kernel_name name = wndl_get_kernel_name(c);
        if (c->failed || __builtin_add_overflow(address, name.gap, &address)) {
            names->len = 0;
            return WNDL_MALFORMED;
        }
        struct wndl_kernel_name *slot = wndl_vec_push(names);
        if (slot == NULL || !wndl_profile_text(r->p, name.name, &slot->name))
            return WNDL_NOMEM;
        slot->address = address;
        slot->image = image;
    }
    return WNDL_OK;
}

/* ---- joining */

/* The samples of the kernel by thread: [starts[t], starts[t + 1]) of `all`. */
struct joining {
    struct wndl_reader *r;
    struct wndl_map newest; /* tid -> its newest thread + 1 */
    uint32_t *older;        /* by thread: the older one of its tid + 1 */
    uint32_t *thread_of;    /* by sample of the kernel; WNDL_NO_INDEX */
    size_t *starts;
    size_t *next; /* by thread: its first one that no sample has taken */
    const struct wndl_kernel_sample **all;
    struct wndl_vec samples; /* struct wndl_sample: those of the profile */
};

static bool list_threads(struct joining *j)
{
    const struct wndl_profile *p = j->r->p;
    const struct wndl_thread *threads = p->threads.data;
    wndl_map_init(&j->newest, &j->r->scratch);
    for (uint32_t i = 0; i < p->threads.len; i++) {
        uint64_t *newest = wndl_map_put(&j->newest, threads[i].tid);
        if (newest == NULL)
            return false;
        j->older[i] = (uint32_t)*newest;
        *newest = i + 1;
    }
    return true;
}

/* A thread is announced at its first event: earlier time is the first one's. */
static uint32_t find_thread(
    const struct joining *j, const struct wndl_kernel_sample *sample)
{
    const struct wndl_thread *threads = j->r->p->threads.data;
    const uint64_t *newest = wndl_map_get(&j->newest, sample->tid);
    if (newest == NULL)
        return WNDL_NO_INDEX;
    uint32_t at = (uint32_t)*newest - 1;
    while (threads[at].start > sample->time && j->older[at] != 0)
        at = j->older[at] - 1;
    return at;
}

static void sort_by_thread(struct joining *j)
{
    const struct wndl_reader *r = j->r;
    const struct wndl_kernel_sample *samples = r->kernel_samples.data;
    const size_t threads = r->p->threads.len, count = r->kernel_samples.len;
    for (size_t i = 0; i < count; i++) {
        j->thread_of[i] = find_thread(j, &samples[i]);
        if (j->thread_of[i] != WNDL_NO_INDEX)
            j->starts[j->thread_of[i]]++;
    }
    size_t end = 0;
    for (size_t t = 0; t <= threads; t++) {
        end += j->starts[t];
        j->starts[t] = end;
    }
    /* From the back, each start moves from its thread's end to its start. */
    for (size_t i = count; i-- > 0;) {
        if (j->thread_of[i] != WNDL_NO_INDEX)
            j->all[--j->starts[j->thread_of[i]]] = &samples[i];
    }
}

/* Puts the frames of a stack of the kernel on `*node`. */
static bool put_on(struct wndl_profile *p, uint32_t kernel, uint32_t *node)
{
    enum { DEEPEST = 128 };
    uint32_t frames[DEEPEST];
    size_t count = 0;
    for (; kernel != 0 && count < DEEPEST; count++) {
        const struct wndl_node *of = wndl_vec_at(&p->nodes, kernel);
        frames[count] = of->frame;
        kernel = of->parent;
    }
    while (count-- > 0) {
        if (!wndl_profile_node(p, *node, frames[count], node))
            return false;
    }
    return true;
}

static bool push(struct joining *j, const struct wndl_sample *sample)
{
    struct wndl_sample *slot = wndl_vec_push(&j->samples);
    if (slot != NULL)
        *slot = *sample;
    return slot != NULL;
}

/* The sample becomes `count` ones that share its time. */
static bool share(struct joining *j, const struct wndl_sample *sample,
    const struct wndl_kernel_sample **last, uint32_t count)
{
    uint32_t left = sample->cpu;
    for (uint32_t i = 0; i < count; i++) {
        struct wndl_sample part = *sample;
        part.cpu = left / (count - i);
        left -= part.cpu;
        if (!put_on(j->r->p, last[i]->node, &part.node) || !push(j, &part))
            return false;
    }
    return true;
}

static uint32_t intervals_in(
    const struct wndl_profile *p, const struct wndl_sample *sample)
{
    const uint64_t count =
        p->interval == 0 ? 1 : (sample->cpu + p->interval / 2) / p->interval;
    return count == 0 ? 1 : wndl_reader_narrow(count);
}

static bool join_sample(struct joining *j, const struct wndl_sample *sample)
{
    const size_t end = j->starts[sample->thread + 1];
    size_t *next = &j->next[sample->thread];
    const size_t first = *next;
    while (*next < end && j->all[*next]->time <= sample->time)
        ++*next;
    const uint32_t most = intervals_in(j->r->p, sample);
    const size_t met = *next - first;
    const uint32_t count = met < most ? (uint32_t)met : most;
    return count == 0 ? push(j, sample)
                      : share(j, sample, j->all + *next - count, count);
}

static bool join_all(struct joining *j)
{
    const struct wndl_reader *r = j->r;
    const uint32_t *in_kernel = r->in_kernel.data;
    const struct wndl_sample *samples = r->p->samples.data;
    size_t next = 0;
    for (size_t i = 0; i < r->p->samples.len; i++) {
        const bool joins = next < r->in_kernel.len && in_kernel[next] == i;
        next += joins;
        if (!(joins ? join_sample(j, &samples[i]) : push(j, &samples[i])))
            return false;
    }
    return true;
}

bool wndl_reader_join_kernel(struct wndl_reader *r)
{
    struct wndl_profile *p = r->p;
    const size_t threads = p->threads.len, count = r->kernel_samples.len;
    if (count == 0 || r->in_kernel.len == 0)
        return true;
    struct joining j = {
        .r = r,
        .older = wndl_arena_calloc(&r->scratch, threads + 1, sizeof *j.older),
        .thread_of = wndl_arena_calloc(&r->scratch, count, sizeof *j.thread_of),
        .starts = wndl_arena_calloc(&r->scratch, threads + 1, sizeof *j.starts),
        .next = wndl_arena_calloc(&r->scratch, threads + 1, sizeof *j.next),
        .all = wndl_arena_calloc(&r->scratch, count, sizeof(void *)),
    };
    wndl_vec_init(&j.samples, &p->arena, sizeof(struct wndl_sample));
    if (j.older == NULL || j.thread_of == NULL || j.starts == NULL ||
        j.next == NULL || j.all == NULL || !list_threads(&j))
        return false;
    sort_by_thread(&j);
    memcpy(j.next, j.starts, threads * sizeof *j.next);
    if (!join_all(&j))
        return false;
    p->parts = j.samples.len - p->samples.len;
    p->samples = j.samples;
    return true;
}
