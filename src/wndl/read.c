/* SPDX-License-Identifier: MIT */
#include "wndl/read.h"

#include "rec/chunk.h"
#include "wndl/fields.h"
#include "wndl/reader.h"

enum wndl_status wndl_reader_chunk(
    struct wndl_reader *r, const struct wndl_chunk *chunk)
{
    static const struct {
        uint32_t type;
        enum wndl_status (*read)(struct wndl_reader *r, struct wndl_cursor *c);
    } readers[] = {
        {WNDL_CHUNK_SAMP, wndl_read_samp},
        {WNDL_CHUNK_STAK, wndl_read_stak},
        {WNDL_CHUNK_META, wndl_read_meta},
        {WNDL_CHUNK_PROC, wndl_read_proc},
        {WNDL_CHUNK_TITL, wndl_read_titl},
        {WNDL_CHUNK_PCPU, wndl_read_pcpu},
        {WNDL_CHUNK_PEND, wndl_read_pend},
        {WNDL_CHUNK_THRD, wndl_read_thrd},
        {WNDL_CHUNK_IMAG, wndl_read_imag},
        {WNDL_CHUNK_MMAP, wndl_read_mmap},
        {WNDL_CHUNK_OSTK, wndl_read_ostk},
        {WNDL_CHUNK_BLOK, wndl_read_blok},
        {WNDL_CHUNK_MARK, wndl_read_mark},
        {WNDL_CHUNK_SIZE, wndl_read_size},
        {WNDL_CHUNK_TEND, wndl_read_tend},
        {WNDL_CHUNK_UNFO, wndl_read_unfo},
        {WNDL_CHUNK_PAUS, wndl_read_paus},
        {WNDL_CHUNK_UNWR, wndl_read_unwr},
        {WNDL_CHUNK_DONE, wndl_read_done},
        {WNDL_CHUNK_HEAP, wndl_read_heap},
        {WNDL_CHUNK_HPAR, wndl_read_hpar},
        {WNDL_CHUNK_HTAG, wndl_read_htag},
        {WNDL_CHUNK_HOWN, wndl_read_hown},
        {WNDL_CHUNK_HLIB, wndl_read_hlib},
        {WNDL_CHUNK_HSNP, wndl_read_hsnp},
        {WNDL_CHUNK_HCNT, wndl_read_hcnt},
        {WNDL_CHUNK_HTIM, wndl_read_htim},
        {WNDL_CHUNK_HLEK, wndl_read_hlek},
        {WNDL_CHUNK_HGRO, wndl_read_hgro},
        {WNDL_CHUNK_HWRO, wndl_read_hwro},
        {WNDL_CHUNK_HMIX, wndl_read_hmix},
        {WNDL_CHUNK_HTOG, wndl_read_htog},
        {WNDL_CHUNK_HSCN, wndl_read_hscn},
        {WNDL_CHUNK_HCON, wndl_read_hcon},
        {WNDL_CHUNK_HREP, wndl_read_hrep},
        {WNDL_CHUNK_HFAL, wndl_read_hfal},
        {WNDL_CHUNK_HMEM, wndl_read_hmem},
        {WNDL_CHUNK_HWHO, wndl_read_hwho},
        {WNDL_CHUNK_KSTK, wndl_read_kstk},
        {WNDL_CHUNK_KSMP, wndl_read_ksmp},
        {WNDL_CHUNK_KSYM, wndl_read_ksym},
    };
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (readers[i].type != chunk->type)
            continue;
        struct wndl_cursor c = wndl_cursor_at(chunk->payload, 0, false);
        if (chunk->type != WNDL_CHUNK_HSNP && chunk->type != WNDL_CHUNK_HCNT)
            r->counting = WNDL_NO_INDEX;
        return readers[i].read(r, &c);
    }
    r->p->chunks_unknown++;
    return WNDL_OK;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Counts the ends of walks; returns the time of the last event. */
static uint64_t count_ends(struct wndl_profile *p)
{
    uint64_t last = 0;
    const struct wndl_sample *samples = p->samples.data;
    for (size_t i = 0; i < p->samples.len; i++) {
        p->ends[samples[i].end]++;
        last = later(last, samples[i].time);
    }
    const struct wndl_block *blocks = p->blocks.data;
    for (size_t i = 0; i < p->blocks.len; i++) {
        bool walked = blocks[i].node != 0 && !blocks[i].waiting;
        p->block_ends[blocks[i].end] += walked;
        last = later(last, blocks[i].start + blocks[i].duration);
    }
    const struct wndl_process *processes = p->processes.data;
    for (size_t i = 0; i < p->processes.len; i++)
        last = later(last, processes[i].end);
    return later(last, wndl_reader_last_of_heaps(p));
}

/* Computes what the chunks leave implicit. */
static void conclude(struct wndl_reader *r)
{
    struct wndl_profile *p = r->p;
    uint64_t last = count_ends(p);
    if (!p->finished)
        p->duration = last;
    struct wndl_process *processes = p->processes.data;
    for (size_t i = 0; i < p->processes.len; i++) {
        if (processes[i].end == 0)
            processes[i].end = p->duration;
    }
    struct wndl_thread *threads = p->threads.data;
    for (size_t i = 0; i < p->threads.len; i++) {
        if (!threads[i].ended)
            threads[i].end = processes[threads[i].process].end;
    }
    if (r->paused) {
        struct wndl_pause *open = wndl_vec_at(&p->pauses, p->pauses.len - 1);
        open->end = later(open->start, p->duration);
    }
    p->unrecorded = p->unrecorded > p->unrecorded_processes.len
                        ? p->unrecorded
                        : wndl_reader_narrow(p->unrecorded_processes.len);
}

/*
 * Releases the pages that have been read, whole pages up to the end of `chunk`.
 */
static void give_up(struct wndl_bytes *mapped, const struct wndl_chunk *chunk)
{
    enum { PART = 4 * 1024 * 1024 };
    const uint8_t *end = chunk->payload.data + chunk->payload.size;
    while (mapped->size != 0 && end - mapped->data >= PART) {
        const struct wndl_file part = {.bytes = {mapped->data, PART}};
        wndl_file_give_up(&part);
        mapped->data += PART;
        mapped->size -= PART;
    }
}

static void note_damage(
    struct wndl_profile *p, uint32_t chunks, uint64_t offset)
{
    if (chunks == 0)
        return;
    if (p->chunks_damaged == 0 || offset < p->damaged_at)
        p->damaged_at = offset;
    p->chunks_damaged += chunks;
}

/* `mapped` is all of the file if it is, else empty. */
static enum wndl_status read_chunks(struct wndl_reader *r,
    struct wndl_chunk_reader *chunks, struct wndl_bytes mapped)
{
    struct wndl_chunk chunk;
    while (wndl_chunk_next(chunks, &chunk)) {
        enum wndl_status status = wndl_reader_chunk(r, &chunk);
        give_up(&mapped, &chunk);
        if (status == WNDL_NOMEM)
            return status;
        if (status != WNDL_OK)
            note_damage(r->p, 1, chunk.offset);
    }
    note_damage(r->p, chunks->damaged, chunks->damaged_at);
    r->p->cut = chunks->cut;
    if (!wndl_reader_join_kernel(r))
        return WNDL_NOMEM;
    wndl_reader_conclude_heaps(r);
    conclude(r);
    return WNDL_OK;
}

bool wndl_reader_init(struct wndl_reader *r, struct wndl_profile *p)
{
    *r = (struct wndl_reader){.p = p, .counting = WNDL_NO_INDEX};
    wndl_arena_init(&r->scratch, p->arena.mem);
    wndl_vec_init(&r->processes, &r->scratch, sizeof(uint32_t));
    wndl_vec_init(&r->threads, &r->scratch, sizeof(uint32_t));
    wndl_vec_init(&r->images, &r->scratch, sizeof(uint32_t));
    wndl_vec_init(&r->image_of_id, &r->scratch, sizeof(uint32_t));
    wndl_vec_init(&r->nodes, &r->scratch, sizeof(struct wndl_vec));
    wndl_vec_init(&r->outside, &r->scratch, sizeof(struct wndl_vec));
    wndl_vec_init(&r->kernel_nodes, &r->scratch, sizeof(uint32_t));
    wndl_vec_init(
        &r->kernel_samples, &r->scratch, sizeof(struct wndl_kernel_sample));
    wndl_vec_init(&r->in_kernel, &r->scratch, sizeof(uint32_t));
    wndl_vec_init(&r->heaps, &r->scratch, sizeof(struct wndl_heap_reader));
    return wndl_intern_init(&r->image_ids, &r->scratch);
}

void wndl_reader_free(struct wndl_reader *r)
{
    wndl_arena_free(&r->scratch);
}

void wndl_reader_allow(struct wndl_reader *r, uint64_t before, uint64_t size)
{
    r->gap_budget += size / WNDL_LEAST_NODE - before / WNDL_LEAST_NODE;
}

static enum wndl_status read_all(struct wndl_profile *p, struct wndl_bytes file,
    struct wndl_bytes mapped, struct wndl_error *err)
{
    struct wndl_chunk_reader chunks;
    enum wndl_status status = wndl_chunk_reader_init(&chunks, file, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_reader r;
    status = WNDL_NOMEM;
    if (wndl_reader_init(&r, p)) {
        wndl_reader_allow(&r, 0, file.size);
        status = read_chunks(&r, &chunks, mapped);
    }
    wndl_reader_free(&r);
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "out of memory");
    return status;
}

enum wndl_status wndl_reader_read(
    struct wndl_profile *p, struct wndl_bytes file, struct wndl_error *err)
{
    return read_all(p, file, (struct wndl_bytes){0}, err);
}

enum wndl_status wndl_reader_read_file(struct wndl_profile *p,
    const struct wndl_file *file, struct wndl_error *err)
{
    return read_all(p, file->bytes, file->bytes, err);
}
