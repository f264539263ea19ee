/* SPDX-License-Identifier: MIT */
/* firefox_heap: the curve of a heap, and its blocks by stack. */
#include "base/json.h"
#include "out/firefox/firefox.h"

/* ---- blocks */

/* Freed ones are two rows of one address: allocated, and freed again. */
struct block {
    int64_t weight;   /* bytes; negative: freed */
    uint32_t stack;   /* + 1 */
    uint64_t address; /* made up: connects a row with the one that frees it */
};

static bool add_block(struct wndl_vec *blocks, const struct block *block)
{
    struct block *slot = wndl_vec_push(blocks);
    if (slot != NULL)
        *slot = *block;
    return slot != NULL;
}

/*
 * A recording has a stack's live bytes, and all its bytes. Readers want events.
 * The live blocks become one that is never freed; the others become one that
 * is.
 */
static bool add_sum(const struct wndl_firefox *w, struct wndl_vec *blocks,
    const struct wndl_stack_sum *sum, bool freed)
{
    bool peak = w->e->set == WNDL_HEAP_SET_PEAK;
    int64_t live = (int64_t)wndl_exported_round(
        sum->bytes[peak ? WNDL_HEAP_SET_PEAK : WNDL_HEAP_SET_LIVE]);
    int64_t gone =
        (int64_t)wndl_exported_round(sum->bytes[WNDL_HEAP_SET_ALL]) - live;
    struct block block = {
        .stack = wndl_firefox_stack(w, sum->node, sum->label),
        .weight = freed ? -gone : live,
        .address = blocks->len + 1,
    };
    if (!freed && live > 0 && !add_block(blocks, &block))
        return false;
    if (peak || !w->e->has_freed || gone <= 0)
        return true;
    /*
     * Above all other addresses, so that both rows of a stack find the same
     * one.
     */
    block.address = (uint64_t)1 << 32 | block.stack;
    block.weight = freed ? -gone : gone;
    return add_block(blocks, &block);
}

static bool add_sums(const struct wndl_firefox *w, struct wndl_vec *blocks,
    const struct wndl_vec *sums)
{
    for (size_t i = 0; i < 2 * sums->len; i++) {
        bool freed = i >= sums->len;
        if (!add_sum(w, blocks, wndl_vec_at(sums, i % sums->len), freed))
            return false;
    }
    return true;
}

static void write_weights(struct wndl_firefox *w, const struct wndl_vec *blocks)
{
    struct wndl_firefox_column c = wndl_firefox_open(w, "weight");
    for (size_t i = 0; i < blocks->len; i++) {
        const struct block *block = wndl_vec_at(blocks, i);
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, block->weight);
        wndl_firefox_text(&c, text);
    }
    wndl_firefox_close(&c);
}

static void write_blocks(struct wndl_firefox *w, const struct wndl_vec *blocks,
    uint64_t time, uint32_t tid)
{
    wndl_buf_text(&w->sink.text, ",\n\"nativeAllocations\":{");
    struct wndl_firefox_column c = wndl_firefox_open(w, "time");
    for (size_t i = 0; i < blocks->len; i++)
        wndl_firefox_time(&c, time);
    wndl_firefox_close(&c);
    write_weights(w, blocks);
    c = wndl_firefox_open(w, "stack");
    for (size_t i = 0; i < blocks->len; i++) {
        const struct block *block = wndl_vec_at(blocks, i);
        wndl_firefox_number(&c, block->stack - 1);
    }
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "memoryAddress");
    for (size_t i = 0; i < blocks->len; i++) {
        const struct block *block = wndl_vec_at(blocks, i);
        wndl_firefox_number(&c, block->address);
    }
    wndl_firefox_close(&c);
    c = wndl_firefox_open(w, "threadId");
    for (size_t i = 0; i < blocks->len; i++)
        wndl_firefox_number(&c, tid);
    wndl_firefox_close(&c);
    wndl_buf_text(&w->sink.text, "\"weightType\":\"bytes\",");
    wndl_firefox_length(w, blocks->len);
}

void wndl_firefox_write_allocations(
    struct wndl_firefox *w, const struct wndl_process_heap *heap, uint32_t tid)
{
    struct wndl_vec sums, blocks;
    const struct wndl_heap_snapshot *kept = wndl_heap_kept(heap);
    wndl_vec_init(&blocks, &w->arena, sizeof(struct block));
    w->failed = w->failed || !wndl_exported_sum(&sums, heap, &w->arena) ||
                !add_sums(w, &blocks, &sums);
    if (w->failed || kept == NULL)
        return;
    uint64_t time = w->e->set == WNDL_HEAP_SET_PEAK
                        ? kept->totals[WNDL_HEAP_TOTAL_PEAK_TIME]
                        : kept->time;
    write_blocks(w, &blocks, time, tid);
}

/* ---- the curve */

/* Readers want each value as the difference from the previous one. */
static void write_counts(
    struct wndl_firefox *w, const struct wndl_process_heap *heap)
{
    struct wndl_firefox_column c = wndl_firefox_open(w, "count");
    uint64_t last = 0;
    for (size_t i = 0; i < heap->moments.len; i++) {
        const struct wndl_heap_moment *m = wndl_vec_at(&heap->moments, i);
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, (int64_t)(m->bytes - last));
        wndl_firefox_text(&c, text);
        last = m->bytes;
    }
    wndl_firefox_close(&c);
}

/* The way to draw it: as readers draw the memory of Firefox. */
static const char display[] =
    "\"display\":{\"graphType\":\"line-accumulated\",\"unit\":\"bytes\","
    "\"color\":\"orange\",\"label\":\"Memory\",\n"
    "\"markerSchemaLocation\":\"timeline-memory\",\"sortWeight\":20,\n"
    "\"tooltipRows\":[{\"type\":\"value\",\"source\":\"accumulated\","
    "\"format\":{\"unit\":\"bytes\"},\"label\":\"heap at this time\"},\n"
    "{\"type\":\"value\",\"source\":\"count-range\","
    "\"format\":{\"unit\":\"bytes\"},\"label\":\"range in the graph\"}]},\n";

void wndl_firefox_write_counter(struct wndl_firefox *w,
    const struct wndl_process_heap *heap, size_t main_thread)
{
    uint64_t last = 0;
    wndl_buf_text(&w->sink.text,
        "{\"name\":\"malloc\",\"category\":\"Memory\","
        "\"description\":\"Bytes that live in the heap\",\"pid\":");
    wndl_firefox_put_pid(w, heap->process);
    wndl_buf_printf(&w->sink.text, ",\"mainThreadIndex\":%zu,\n", main_thread);
    wndl_buf_text(&w->sink.text, display);
    wndl_buf_text(&w->sink.text, "\"samples\":{");
    struct wndl_firefox_column c = wndl_firefox_open(w, "timeDeltas");
    for (size_t i = 0; i < heap->moments.len; i++) {
        const struct wndl_heap_moment *m = wndl_vec_at(&heap->moments, i);
        wndl_firefox_time(&c, m->time - last);
        last = m->time;
    }
    wndl_firefox_close(&c);
    write_counts(w, heap);
    wndl_firefox_length(w, heap->moments.len);
    wndl_buf_byte(&w->sink.text, '}');
}

/* ---- the size of a process */

static const char display_of_sizes[] =
    "\"display\":{\"graphType\":\"line-accumulated\",\"unit\":\"bytes\","
    "\"color\":\"blue\",\"label\":\"RSS\",\n"
    "\"markerSchemaLocation\":\"timeline-memory\",\"sortWeight\":10,\n"
    "\"tooltipRows\":[{\"type\":\"value\",\"source\":\"accumulated\","
    "\"format\":{\"unit\":\"bytes\"},\"label\":\"resident at this time\"},\n"
    "{\"type\":\"value\",\"source\":\"count-range\","
    "\"format\":{\"unit\":\"bytes\"},\"label\":\"range in the graph\"}]},\n";

static size_t count_sizes(const struct wndl_firefox *w, uint32_t process)
{
    const struct wndl_size *sizes = w->p->sizes.data;
    size_t count = 0;
    for (size_t i = 0; i < w->p->sizes.len; i++)
        count += sizes[i].process == process;
    return count;
}

static void write_size_columns(struct wndl_firefox *w, uint32_t process)
{
    const struct wndl_size *sizes = w->p->sizes.data;
    uint64_t last = 0;
    struct wndl_firefox_column c = wndl_firefox_open(w, "timeDeltas");
    for (size_t i = 0; i < w->p->sizes.len; i++) {
        if (sizes[i].process != process)
            continue;
        wndl_firefox_time(&c, sizes[i].time - last);
        last = sizes[i].time;
    }
    wndl_firefox_close(&c);
    last = 0;
    c = wndl_firefox_open(w, "count");
    for (size_t i = 0; i < w->p->sizes.len; i++) {
        char text[24];
        if (sizes[i].process != process)
            continue;
        snprintf(
            text, sizeof text, "%" PRId64, (int64_t)(sizes[i].resident - last));
        wndl_firefox_text(&c, text);
        last = sizes[i].resident;
    }
    wndl_firefox_close(&c);
}

void wndl_firefox_write_sizes(
    struct wndl_firefox *w, uint32_t process, size_t main_thread, bool *first)
{
    const size_t count = count_sizes(w, process);
    if (count == 0)
        return;
    wndl_buf_text(&w->sink.text, *first ? "\n" : ",\n");
    *first = false;
    wndl_buf_text(&w->sink.text,
        "{\"name\":\"RSS\",\"category\":\"Memory\","
        "\"description\":\"Bytes that are resident\",\"pid\":");
    wndl_firefox_put_pid(w, process);
    wndl_buf_printf(&w->sink.text, ",\"mainThreadIndex\":%zu,\n", main_thread);
    wndl_buf_text(&w->sink.text, display_of_sizes);
    wndl_buf_text(&w->sink.text, "\"samples\":{");
    write_size_columns(w, process);
    wndl_firefox_length(w, count);
    wndl_buf_byte(&w->sink.text, '}');
}
