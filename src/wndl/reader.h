/* SPDX-License-Identifier: MIT */
/* reader: a recording being read; what the files of read share. */
#ifndef WNDL_WNDL_READER_H
#define WNDL_WNDL_READER_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/profile.h"

/*
 * The file's numbers and ours differ once a chunk is lost: maps[n] is our
 * number, or WNDL_NO_INDEX for what was lost.
 */
struct wndl_reader {
    struct wndl_profile *p;
    struct wndl_arena scratch;
    struct wndl_vec processes, threads, images; /* uint32_t */
    struct wndl_vec nodes;        /* struct wndl_vec of uint32_t, by process */
    struct wndl_vec outside;      /* the same for its second tree */
    struct wndl_vec heaps;        /* struct wndl_heap_reader, by process */
    struct wndl_intern image_ids; /* keys: build-ids, paths of what has none */
    struct wndl_vec image_of_id;  /* uint32_t */
    uint64_t gap_budget; /* lost numbers that the file can account for */
    bool has_meta;
    bool paused;       /* the last of p->pauses has no end yet */
    uint32_t counting; /* process whose snapshot may go on, or WNDL_NO_INDEX */
};

/* The heap of a process. */
struct wndl_heap_reader {
    uint32_t heap;         /* of p->heaps, or WNDL_NO_INDEX */
    struct wndl_vec sites; /* uint32_t */
};

/* ---- numbers of the file */

uint32_t wndl_reader_known(const struct wndl_vec *map, uint64_t number);

/*
 * Leaves the numbers up to `number` as lost. A small file cannot make us take
 * much memory: what was lost had its size too. MALFORMED, NOMEM.
 */
enum wndl_status wndl_reader_skip(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number);

/* Makes `ours` known as `number`, and what was before it as lost. */
enum wndl_status wndl_reader_announce(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number, size_t ours);

/* The number, or the largest one that there is room for. */
uint32_t wndl_reader_narrow(uint64_t value);

/* An enum wndl_walk_end. */
uint8_t wndl_reader_walk_end(uint64_t end);

/* ---- chunks: OK, MALFORMED (the chunk is lost), NOMEM */

/* ---- read_processes */

enum wndl_status wndl_read_meta(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_proc(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_pend(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_thrd(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_imag(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_mmap(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_mark(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_tend(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_unfo(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_paus(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_done(struct wndl_reader *r, struct wndl_cursor *c);

/* ---- read_stacks */

enum wndl_status wndl_read_stak(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_ostk(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_samp(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_blok(struct wndl_reader *r, struct wndl_cursor *c);

/* ---- read_heap */

enum wndl_status wndl_read_heap(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hpar(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hsnp(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hcnt(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_htim(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hlek(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hgro(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hwro(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_htog(struct wndl_reader *r, struct wndl_cursor *c);

/* A process has been announced: it has no heap yet. OK, NOMEM. */
enum wndl_status wndl_reader_no_heap(struct wndl_reader *r);

/* When the file has been read: what may be missing at its end. */
void wndl_reader_conclude_heaps(struct wndl_reader *r);

/* The last time that a heap was looked at. */
uint64_t wndl_reader_last_of_heaps(const struct wndl_profile *p);

#endif
