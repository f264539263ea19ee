/* SPDX-License-Identifier: MIT */
/*
 * reader: the state of a recording that is being read, shared by the files of
 * read.
 */
#ifndef WNDL_WNDL_READER_H
#define WNDL_WNDL_READER_H

#include "base/bytes.h"
#include "base/status.h"
#include "model/profile.h"
#include "rec/chunk.h"

/*
 * The state. The file's numbers and ours differ after a chunk is lost: maps[n]
 * is our number for the file's n, or WNDL_NO_INDEX if n was lost.
 */
struct wndl_reader {
    struct wndl_profile *p;
    struct wndl_arena scratch;
    struct wndl_vec processes, threads, images; /* uint32_t */
    struct wndl_vec nodes;   /* struct wndl_vec of uint32_t, by process */
    struct wndl_vec outside; /* the same for the process's second tree (OSTK) */
    struct wndl_vec kernel_nodes;   /* uint32_t: stacks of the kernel */
    struct wndl_vec kernel_samples; /* struct wndl_kernel_sample */
    /* uint32_t: the samples whose time was spent in the kernel */
    struct wndl_vec in_kernel;
    struct wndl_vec heaps; /* struct wndl_heap_reader, by process */
    /* keys: build-ids; paths of images without one */
    struct wndl_intern image_ids;
    struct wndl_vec image_of_id; /* uint32_t: our number, by id of the key */
    uint64_t gap_budget; /* lost numbers for which the file's size allows */
    bool has_meta;
    bool paused; /* the last of p->pauses has no end yet */
    /* process whose snapshot may continue, or WNDL_NO_INDEX */
    uint32_t counting;
};

/* Where a thread was in the kernel. */
struct wndl_kernel_sample {
    uint64_t time; /* ns since the recording's start */
    uint32_t tid;
    uint32_t node; /* of the profile */
};

/* The heap of a process. */
struct wndl_heap_reader {
    uint32_t heap;         /* index in p->heaps, or WNDL_NO_INDEX */
    struct wndl_vec sites; /* uint32_t: our number of a site, by the file's */
};

/* An empty state for `p`; its scratch memory ends with wndl_reader_free. False
 * when memory is out, also then. */
bool wndl_reader_init(struct wndl_reader *r, struct wndl_profile *p);
void wndl_reader_free(struct wndl_reader *r);

/* Allows for the lost numbers of a file that grew from `before` to `size`
 * bytes. */
void wndl_reader_allow(struct wndl_reader *r, uint64_t before, uint64_t size);

/* Reads one chunk: OK; MALFORMED, after which it counts as lost; NOMEM. */
enum wndl_status wndl_reader_chunk(
    struct wndl_reader *r, const struct wndl_chunk *chunk);

/* ---- the file's numbers */

/*
 * Our number for the file's `number`, or WNDL_NO_INDEX if it is unknown or
 * lost.
 */
uint32_t wndl_reader_known(const struct wndl_vec *map, uint64_t number);

/*
 * Marks the numbers below `number` that are not known as lost. A small file
 * cannot make us use much memory, since lost chunks took space in the file too.
 * MALFORMED if `number` is known already or too large; NOMEM.
 */
enum wndl_status wndl_reader_skip(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number);

/*
 * Maps the file's `number` to `ours`, and marks unknown numbers before it as
 * lost. MALFORMED, NOMEM.
 */
enum wndl_status wndl_reader_announce(
    struct wndl_reader *r, struct wndl_vec *map, uint64_t number, size_t ours);

/* The value, or UINT32_MAX if it is larger. */
uint32_t wndl_reader_narrow(uint64_t value);

/* The enum wndl_walk_end for the file's number. */
uint8_t wndl_reader_walk_end(uint64_t end);

/* ---- chunks: OK; MALFORMED, after which the chunk counts as lost; NOMEM */

/* ---- read_processes */

enum wndl_status wndl_read_meta(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_proc(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_titl(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_pcpu(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_pend(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_thrd(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_imag(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_mmap(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_mark(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_size(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_tend(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_unfo(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_paus(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_unwr(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_done(struct wndl_reader *r, struct wndl_cursor *c);

/* ---- read_stacks */

enum wndl_status wndl_read_stak(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_ostk(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_samp(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_blok(struct wndl_reader *r, struct wndl_cursor *c);

enum wndl_status wndl_read_kstk(struct wndl_reader *r, struct wndl_cursor *c);

/* ---- read_kernel */

enum wndl_status wndl_read_ksmp(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_ksym(struct wndl_reader *r, struct wndl_cursor *c);

/*
 * At the end of the file: puts stacks of the kernel on those of the samples
 * whose time was spent there. False without memory.
 */
bool wndl_reader_join_kernel(struct wndl_reader *r);

/* ---- read_heap */

enum wndl_status wndl_read_heap(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hpar(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_htag(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hown(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hlib(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hsnp(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hcnt(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_htim(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hlek(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hgro(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hwro(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hmix(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_htog(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hscn(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hcon(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hrep(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hfal(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hmem(struct wndl_reader *r, struct wndl_cursor *c);
enum wndl_status wndl_read_hwho(struct wndl_reader *r, struct wndl_cursor *c);

/* Notes that a process has been announced and has no heap yet. OK, NOMEM. */
enum wndl_status wndl_reader_no_heap(struct wndl_reader *r);

/* At the end of the file: marks the counts that may be missing. */
void wndl_reader_conclude_heaps(struct wndl_reader *r);

/*
 * The latest time of a snapshot or moment of any heap, ns since the recording's
 * start.
 */
uint64_t wndl_reader_last_of_heaps(const struct wndl_profile *p);

#endif
