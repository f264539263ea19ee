/* SPDX-License-Identifier: MIT */
/*
 * ring: the ring of one CPU, into which the kernel writes records, and where we
 * read them. One thread.
 */
#ifndef WNDL_COLLECT_ATTACH_RING_H
#define WNDL_COLLECT_ATTACH_RING_H

#include "base/bytes.h"

/* The size of a record is 16 bits. */
enum { WNDL_ATTACH_RECORD_MAX = 65536 };

struct wndl_attach_ring {
    int cpu;
    int fd;         /* of the event that holds it */
    uint8_t *map;   /* a page of positions, then the data */
    uint64_t size;  /* of the data, a power of 2 */
    uint64_t tail;  /* position of the next record */
    uint64_t head;  /* position after the last one, as of the last look */
    uint8_t *whole; /* room for a record that goes round the end */
    uint32_t damaged;
};

/*
 * Opens the ring of a CPU with `size` bytes of data, a power of 2. False, with
 * errno; ENODEV: there is no such CPU, or it is off; ENOBUFS: the limit of
 * locked memory does not suffice (perf_event_mlock_kb, RLIMIT_MEMLOCK).
 */
bool wndl_attach_ring_open(
    struct wndl_attach_ring *ring, int cpu, uint64_t size);
void wndl_attach_ring_close(struct wndl_attach_ring *ring);

/* Maps it in a child of ours. False, with errno. */
bool wndl_attach_ring_remap(struct wndl_attach_ring *ring);

/* Reads how far the kernel has written. */
void wndl_attach_ring_look(struct wndl_attach_ring *ring);

/*
 * The next record that was there at the last look, valid until
 * wndl_attach_ring_pass; empty: there is none.
 */
struct wndl_bytes wndl_attach_ring_next(struct wndl_attach_ring *ring);

/* Gives the room of the next record, of that many bytes, to the kernel. */
void wndl_attach_ring_pass(struct wndl_attach_ring *ring, size_t size);

#endif
