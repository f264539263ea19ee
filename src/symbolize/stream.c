/* SPDX-License-Identifier: MIT */
/* Answers for a stream of addresses, which are looked up in blocks. */
#include "symbolize/core/symbolizer_impl.h"

/* Enough that sorting a block by units pays. */
enum { BLOCK = 4096 };

/*
 * Answers [at, count) have not been given yet; `order` has the job of each
 * place. `frames` are those of the block.
 */
struct wndl_symbol_stream {
    struct wndl_symbolizer *s;
    bool (*next)(void *context, uint64_t *rva);
    void *context;
    struct wndl_arena frames;
    size_t at;
    size_t count;
    bool has_ended;
    struct wndl_symbolize_job jobs[BLOCK];
    uint32_t order[BLOCK];
};

enum wndl_status wndl_symbol_stream_open(struct wndl_symbolizer *s,
    bool (*next)(void *context, uint64_t *rva), void *context,
    struct wndl_symbol_stream **out, struct wndl_error *err)
{
    *out = wndl_mem_zalloc(s->mem, sizeof **out);
    if (*out == NULL)
        return wndl_symbolizer_no_memory(err);
    (*out)->s = s;
    (*out)->next = next;
    (*out)->context = context;
    wndl_arena_init(&(*out)->frames, s->mem);
    return WNDL_OK;
}

static enum wndl_status fill_block(struct wndl_symbol_stream *stream)
{
    uint64_t rva;
    size_t count = 0;
    while (count < BLOCK && stream->next(stream->context, &rva)) {
        stream->jobs[count] =
            (struct wndl_symbolize_job){.rva = rva, .place = count};
        count++;
    }
    stream->at = 0;
    stream->count = count;
    stream->has_ended = count < BLOCK;
    wndl_arena_free(&stream->frames);
    wndl_symbolizer_lock(stream->s);
    enum wndl_status status =
        wndl_symbolize_jobs(stream->s, &stream->frames, stream->jobs, count);
    wndl_symbolizer_unlock(stream->s);
    for (size_t i = 0; i < count; i++)
        stream->order[stream->jobs[i].place] = (uint32_t)i;
    return status;
}

enum wndl_status wndl_symbol_stream_next(struct wndl_symbol_stream *stream,
    uint64_t *rva, struct wndl_symbols *answer, struct wndl_error *err)
{
    *rva = 0;
    *answer = (struct wndl_symbols){0};
    if (stream->at == stream->count && !stream->has_ended &&
        fill_block(stream) != WNDL_OK) {
        stream->at = stream->count = 0;
        stream->has_ended = true;
        return wndl_symbolizer_no_memory(err);
    }
    if (stream->at == stream->count) {
        wndl_symbolizer_forget(err);
        return wndl_fail(err, WNDL_NOT_FOUND, "no more addresses");
    }
    const struct wndl_symbolize_job *job =
        &stream->jobs[stream->order[stream->at++]];
    *rva = job->rva;
    *answer = job->answer;
    return WNDL_OK;
}

void wndl_symbol_stream_close(struct wndl_symbol_stream *stream)
{
    if (stream == NULL)
        return;
    wndl_arena_free(&stream->frames);
    wndl_mem_free(stream->s->mem, stream);
}
