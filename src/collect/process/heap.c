/* SPDX-License-Identifier: MIT */
#include "collect/process/heap.h"

#include "collect/process/heap_impl.h"
#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of the header: up to the tables, which are read. */
static const size_t mapped = 4096;

_Static_assert(offsetof(struct wndl_heap, growths) <= 4096,
    "what is looked at often is in the page that is mapped");

/* ---- beginning and end */

struct wndl_collector_heap *wndl_collector_heap_new(
    const struct wndl_collector_heap_request *request, int memfd)
{
    struct wndl_collector_heap *heap =
        wndl_mem_zalloc(wndl_mem_libc(), sizeof *heap);
    if (heap == NULL)
        return NULL;
    heap->request = *request;
    heap->layout = wndl_heap_layout(request->pairs);
    heap->next = wndl_clock_monotonic_ns() + request->every;
    heap->fd = fcntl(memfd, F_DUPFD_CLOEXEC, 0);
    void *head = heap->fd < 0
                     ? MAP_FAILED
                     : mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED,
                           memfd, (off_t)wndl_heap_offset(request->nodes));
    heap->head = head == MAP_FAILED ? NULL : head;
    if (heap->head == NULL) {
        int why = errno;
        wndl_collector_heap_free(heap);
        errno = why;
        return NULL;
    }
    heap->head->pairs = request->pairs;
    heap->head->lanes = WNDL_HEAP_LANES;
    heap->head->flags = request->flags;
    heap->head->sample_below = request->sample_below;
    return heap;
}

void wndl_collector_heap_free(struct wndl_collector_heap *heap)
{
    if (heap == NULL)
        return;
    if (heap->head != NULL)
        munmap(heap->head, mapped);
    if (heap->fd >= 0)
        close(heap->fd);
    wndl_mem_free(wndl_mem_libc(), heap);
}

void wndl_heap_read(const struct wndl_collector_heap *heap, size_t offset,
    void *to, size_t size)
{
    uint8_t *bytes = to;
    off_t at = (off_t)(wndl_heap_offset(heap->request.nodes) + offset);
    size_t done = 0;
    while (done < size) {
        ssize_t n =
            pread(heap->fd, bytes + done, size - done, at + (off_t)done);
        if (n <= 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    memset(bytes + done, 0, size - done);
}

/* Megabytes, of which most are used in large heaps only: they are not zeroed,
 * so that what is not used costs nothing, ten times a second. */
static struct wndl_heap_part *new_part(void)
{
    struct wndl_mem *mem = wndl_mem_libc();
    struct wndl_heap_part *part = mem->resize(mem, NULL, sizeof *part);
    if (part != NULL)
        part->first = part->count = 0;
    return part;
}

static void free_part(struct wndl_heap_part *part)
{
    wndl_mem_free(wndl_mem_libc(), part);
}

static uint64_t file_time(const struct wndl_recording *r, uint64_t time)
{
    return time > r->time_base ? time - r->time_base : 0;
}

/* Of a large heap not all of a snapshot is to be in memory at once. */
static void write_out(struct wndl_recording *r)
{
    enum { MUCH = 1024 * 1024 };
    if (r->out.size > MUCH)
        wndl_recording_flush(r);
}

/* ---- HEAP */

/* A process whose heap is not recorded after all never starts its clock. */
static bool has_begun(struct wndl_collector_process *p)
{
    const struct wndl_collector_heap *heap = p->heap;
    struct wndl_recording *r = p->recording;
    if (heap->announced || heap->head->start_time == 0)
        return heap->announced;
    struct wndl_chunk_writer chunk;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HEAP);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, heap->request.flags >> 1);
    wndl_buf_uleb(&r->out,
        heap->head->sample_below == 0 ? 0 : heap->request.sample_below);
    wndl_recording_finish(r, &chunk);
    p->heap->announced = true;
    return true;
}

/* ---- HPAR */

static void put_pair(
    struct wndl_collector_process *p, const struct wndl_heap_pair *pair)
{
    struct wndl_buf *out = &p->recording->out;
    uint64_t usable = pair->usable == 0 ? 0 : pair->usable - 1;
    uint64_t slop = usable > pair->requested ? usable - pair->requested : 0;
    wndl_buf_uleb(out, pair->node <= p->nodes ? pair->node : 0);
    wndl_buf_uleb(out, pair->end % WNDL_WALK_END_COUNT);
    wndl_buf_uleb(out, pair->requested);
    wndl_buf_uleb(out, slop);
}

static void put_pairs(struct wndl_collector_process *p,
    const struct wndl_heap_pair *pairs, uint32_t count)
{
    struct wndl_recording *r = p->recording;
    struct wndl_chunk_writer chunk;
    if (count == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HPAR);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, p->heap->written);
    wndl_buf_uleb(&r->out, count);
    for (uint32_t i = 0; i < count; i++)
        put_pair(p, &pairs[i]);
    wndl_recording_finish(r, &chunk);
    p->heap->written += count;
}

/* Published, with a stack that is in the file or never will be. */
static bool is_ready(
    const struct wndl_collector_process *p, const struct wndl_heap_pair *pair)
{
    return pair->usable != 0 &&
           (pair->node <= p->nodes || pair->node > p->tree.max_nodes);
}

/* How many of the part can be written: up to the first that is not ready. */
static uint32_t ready_pairs(
    const struct wndl_collector_process *p, const struct wndl_heap_part *part)
{
    uint32_t count = 0;
    while (count < part->count && is_ready(p, &part->pairs[count]))
        count++;
    return count;
}

/* At the end: up to the last one. A gap is one that its thread did not live
 * to finish. */
static uint32_t last_pairs(const struct wndl_heap_part *part, bool is_last)
{
    uint32_t count = part->count;
    while (count > 0 && part->pairs[count - 1].usable == 0)
        count--;
    return is_last || count == 0 ? count : part->count;
}

static uint32_t pair_count(const struct wndl_collector_heap *heap)
{
    uint32_t count = atomic_load(&heap->head->pair_count);
    return count < heap->request.pairs ? count : heap->request.pairs;
}

/* What a pair refers to is there before it is. */
static bool take_part(struct wndl_collector_process *p,
    struct wndl_heap_part *part, uint32_t end, bool last)
{
    struct wndl_collector_heap *heap = p->heap;
    uint32_t left = end - heap->written;
    part->count = left < WNDL_HEAP_AT_ONCE ? left : WNDL_HEAP_AT_ONCE;
    wndl_heap_read(heap,
        heap->layout.pairs + (size_t)heap->written * sizeof part->pairs[0],
        part->pairs, (size_t)part->count * sizeof part->pairs[0]);
    wndl_collector_process_take_stacks(p, last);
    uint32_t count =
        last ? last_pairs(part, left <= part->count) : ready_pairs(p, part);
    put_pairs(p, part->pairs, count);
    write_out(p->recording);
    return count == part->count;
}

static void take_pairs(struct wndl_collector_process *p, bool last)
{
    uint32_t end = pair_count(p->heap);
    if (end <= p->heap->written)
        return;
    struct wndl_heap_part *part = new_part();
    while (
        part != NULL && p->heap->written < end && take_part(p, part, end, last))
        continue;
    free_part(part);
}

/* ---- HSNP and HCNT */

/* In the order of the format's description. */
static void put_totals(
    struct wndl_recording *r, const struct wndl_heap_sum *sum)
{
    const struct wndl_heap_lane *l = &sum->lanes;
    const uint64_t totals[] = {
        l->allocs,
        l->frees < l->allocs ? l->frees : l->allocs,
        l->requested,
        l->usable,
        l->usable_freed < l->usable ? l->usable_freed : l->usable,
        l->reallocs,
        l->temporary,
        (uint64_t)sum->peak_bytes,
        file_time(r, sum->peak_time),
        sum->inherited,
        sum->own_allocator,
        sum->unsure,
    };
    size_t count = sizeof totals / sizeof totals[0];
    wndl_buf_uleb(&r->out, count);
    for (size_t i = 0; i < count; i++)
        wndl_buf_uleb(&r->out, totals[i]);
}

static void put_snapshot(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, enum wndl_snapshot_trigger why)
{
    struct wndl_recording *r = p->recording;
    struct wndl_chunk_writer chunk;
    char text[WNDL_HEAP_TEXT] = "";
    if (why == WNDL_SNAPSHOT_PROGRAM)
        memcpy(text, p->heap->head->text, sizeof text);
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HSNP);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, p->heap->snapshots++);
    wndl_buf_uleb(&r->out, file_time(r, wndl_clock_monotonic_ns()));
    wndl_buf_uleb(&r->out, why);
    wndl_chunk_str(&r->out,
        (struct wndl_bytes){(const uint8_t *)text, strnlen(text, sizeof text)});
    put_totals(r, sum);
    wndl_buf_uleb(&r->out, WNDL_HEAP_MISSES);
    for (size_t i = 0; i < WNDL_HEAP_MISSES; i++)
        wndl_buf_uleb(&r->out, sum->lanes.missed[i]);
    wndl_recording_finish(r, &chunk);
}

static uint64_t ns_of(uint64_t lifetime, double tick)
{
    enum { TICKS = 64 };
    double ns = (double)lifetime * TICKS * tick;
    return ns < 9e18 ? (uint64_t)ns : INT64_MAX;
}

static bool has_any(const struct wndl_heap_pair_sum *s)
{
    return s->allocs != 0;
}

static void put_count(struct wndl_recording *r, uint32_t gap,
    const struct wndl_heap_pair_sum *s, double tick)
{
    wndl_buf_uleb(&r->out, gap);
    wndl_buf_uleb(&r->out, s->allocs);
    wndl_buf_uleb(&r->out, s->frees);
    wndl_buf_uleb(&r->out, (uint64_t)s->at_peak);
    wndl_buf_uleb(&r->out, s->temporary);
    wndl_buf_uleb(&r->out, ns_of(s->lifetime, tick));
}

static void put_counts(struct wndl_collector_process *p,
    const struct wndl_heap_part *part, double tick)
{
    struct wndl_recording *r = p->recording;
    struct wndl_chunk_writer chunk;
    uint32_t count = 0;
    uint32_t previous = 0;
    for (uint32_t i = 0; i < part->count; i++)
        count += has_any(&part->sums[i]);
    if (count == 0)
        return;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HCNT);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, p->heap->snapshots - 1);
    wndl_buf_uleb(&r->out, count);
    for (uint32_t i = 0; i < part->count; i++) {
        if (!has_any(&part->sums[i]))
            continue;
        uint32_t pair = part->first + i;
        put_count(r, pair - previous, &part->sums[i], tick);
        previous = pair;
    }
    wndl_recording_finish(r, &chunk);
}

/* For the summary: allocations by how complete their stacks are. */
static void count_ends(
    struct wndl_collector_process *p, struct wndl_heap_part *part)
{
    struct wndl_collector_heap_totals *t = &p->totals->heap;
    wndl_heap_read(p->heap,
        p->heap->layout.pairs + (size_t)part->first * sizeof part->pairs[0],
        part->pairs, (size_t)part->count * sizeof part->pairs[0]);
    for (uint32_t i = 0; i < part->count; i++) {
        const struct wndl_heap_pair *pair = &part->pairs[i];
        if (pair->node == 0 || pair->node > p->nodes)
            t->without += part->sums[i].allocs;
        else
            t->ends[pair->end % WNDL_WALK_END_COUNT] += part->sums[i].allocs;
    }
}

static void take_snapshot(struct wndl_collector_process *p,
    const struct wndl_heap_sum *sum, enum wndl_snapshot_trigger why,
    struct wndl_heap_part *part)
{
    put_snapshot(p, sum, why);
    for (uint32_t first = 0; wndl_heap_next_part(p->heap, first, part);
         first += part->count) {
        wndl_heap_sum_part(p, sum, part);
        put_counts(p, part, sum->tick);
        write_out(p->recording);
        if (why == WNDL_SNAPSHOT_END || why == WNDL_SNAPSHOT_STOP)
            count_ends(p, part);
    }
}

/* ---- HTIM */

static void put_live(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    struct wndl_collector_heap *heap = p->heap;
    struct wndl_recording *r = p->recording;
    struct wndl_chunk_writer chunk;
    heap->bytes = sum->live_bytes;
    heap->blocks = sum->live_blocks;
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_HTIM);
    wndl_buf_uleb(&r->out, p->index);
    wndl_buf_uleb(&r->out, file_time(r, wndl_clock_monotonic_ns()));
    wndl_buf_uleb(&r->out, 1);
    wndl_buf_uleb(&r->out, 0);
    wndl_buf_uleb(&r->out, (uint64_t)sum->live_bytes);
    wndl_buf_uleb(&r->out, (uint64_t)sum->live_blocks);
    wndl_recording_finish(r, &chunk);
}

/* ---- a snapshot while it runs */

/* What follows the counts tells who reads the file meanwhile that they are all
 * there. */
void wndl_collector_heap_snapshot(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why)
{
    struct wndl_heap_sum sum;
    if (!has_begun(p))
        return;
    take_pairs(p, false);
    struct wndl_heap_part *part = new_part();
    if (part == NULL)
        return;
    wndl_heap_sum_up(p->heap, &sum);
    take_snapshot(p, &sum, why, part);
    put_live(p, &sum);
    free_part(part);
}

/* ---- while it runs */

/* If anything has changed. */
static void tell_live(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    if (sum->live_bytes != p->heap->bytes ||
        sum->live_blocks != p->heap->blocks)
        put_live(p, sum);
}

static void see_to_program(struct wndl_collector_process *p)
{
    struct wndl_heap *head = p->heap->head;
    uint32_t asked = atomic_load(&head->asked);
    if (asked == atomic_load(&head->done))
        return;
    wndl_collector_heap_snapshot(p, WNDL_SNAPSHOT_PROGRAM);
    atomic_store(&head->done, asked);
}

static void see_to_clock(struct wndl_collector_process *p)
{
    struct wndl_collector_heap *heap = p->heap;
    uint64_t now = wndl_clock_monotonic_ns();
    if (heap->request.every == 0 || now < heap->next)
        return;
    wndl_collector_heap_snapshot(p, WNDL_SNAPSHOT_TIME);
    heap->next = now + heap->request.every;
}

/* Growth by 5 % or more is worth one. */
static void see_to_peak(
    struct wndl_collector_process *p, const struct wndl_heap_sum *sum)
{
    enum { PARTS = 20 };
    struct wndl_collector_heap *heap = p->heap;
    if (!heap->request.at_peaks || sum->peak_bytes == 0 ||
        sum->peak_bytes < heap->peak + heap->peak / PARTS ||
        sum->peak_bytes == heap->peak)
        return;
    wndl_collector_heap_snapshot(p, WNDL_SNAPSHOT_PEAK);
    heap->peak = sum->peak_bytes;
}

void wndl_collector_heap_drain(struct wndl_collector_process *p)
{
    struct wndl_heap_sum sum;
    if (!has_begun(p))
        return;
    take_pairs(p, false);
    wndl_heap_sum_up(p->heap, &sum);
    tell_live(p, &sum);
    see_to_program(p);
    see_to_clock(p);
    see_to_peak(p, &sum);
}

/* ---- at the end */

static void add_sum(
    const struct wndl_heap_sum *sum, struct wndl_collector_heap_totals *totals)
{
    const struct wndl_heap_lane *l = &sum->lanes;
    uint64_t peak = (uint64_t)sum->peak_bytes;
    totals->heaps++;
    totals->own_allocators += sum->own_allocator;
    totals->allocs += l->allocs;
    totals->frees += l->frees;
    totals->reallocs += l->reallocs;
    totals->requested += l->requested;
    totals->frames += l->frames;
    totals->frames_resumed += l->frames_resumed;
    totals->live_bytes += (uint64_t)sum->live_bytes;
    totals->live_blocks += (uint64_t)sum->live_blocks;
    totals->peak = peak > totals->peak ? peak : totals->peak;
    for (size_t i = 0; i < WNDL_HEAP_MISSES; i++)
        totals->missed[i] += l->missed[i];
}

void wndl_collector_heap_add(const struct wndl_collector_process *p,
    struct wndl_collector_heap_totals *totals)
{
    struct wndl_heap_sum sum;
    if (!p->heap->announced)
        return;
    wndl_heap_sum_up(p->heap, &sum);
    add_sum(&sum, totals);
}

void wndl_collector_heap_end(
    struct wndl_collector_process *p, enum wndl_snapshot_trigger why)
{
    struct wndl_heap_sum sum;
    if (!has_begun(p)) {
        p->totals->heap.sanitized +=
            atomic_load(&p->heap->head->sanitized) != 0;
        return;
    }
    wndl_collector_process_take_stacks(p, true);
    take_pairs(p, true);
    see_to_program(p);
    wndl_heap_sum_up(p->heap, &sum);
    tell_live(p, &sum);
    add_sum(&sum, &p->totals->heap);
    struct wndl_heap_part *part = new_part();
    if (part == NULL)
        return;
    take_snapshot(p, &sum, why, part);
    wndl_heap_put_findings(p, &sum, part);
    free_part(part);
}
