/* SPDX-License-Identifier: MIT */
/*
 * shm: what a recorded process and the collector share: one block of memory
 * per process image, and three messages over a SOCK_SEQPACKET socket.
 *
 *   process -> collector   hello
 *   collector -> process   go      with the block's memfd, sized and zeroed
 *   process -> collector   ready   with the perf event's descriptor if any
 *
 * The process then closes all three descriptors: it holds none while its
 * program runs. The collector holds the event, so sampling ends with it. It
 * treats the block as foreign bytes.
 */
#ifndef WNDL_REC_SHM_H
#define WNDL_REC_SHM_H

#include "base/stacktree.h"
#include "rec/ring.h"

#include <stdatomic.h>
#include <stdint.h>

/* Names the socket for the recorded processes. */
#define WNDL_SESSION_ENV "WINDLASS_SESSION"

enum {
    WNDL_SHM_VERSION = 1,
    WNDL_SHM_THREADS = 512,
    WNDL_SHM_MODULES = 1024,
    WNDL_SHM_STRINGS = 512 * 1024,
    WNDL_SHM_NODES = 700 * 1000,
    WNDL_SHM_BUILD_ID = 32,
    WNDL_SHM_EPOCHS = 255, /* the last one stays for good */
};

#define WNDL_SHM_MAGIC UINT32_C(0x4d485357)

/* Reasons for which a sample is not there: docs/formats/wndl.md, PEND. */
enum wndl_loss {
    WNDL_LOSS_NONE = 0,
    WNDL_LOSS_RING_FULL = 1,
    WNDL_LOSS_TREE_FULL = 2,
    WNDL_LOSS_THREADS_FULL = 3,
    WNDL_LOSS_MODULES_FULL = 4,
    WNDL_LOSS_BUSY = 5,
    WNDL_LOSS_NO_STACK = 6,
    WNDL_LOSS_OVERRUN = 7,
    WNDL_LOSS_REASONS = 8,
};

enum wndl_engine {
    WNDL_ENGINE_NONE = 0,
    WNDL_ENGINE_PERF = 1,  /* perf task-clock events, SIGTRAP */
    WNDL_ENGINE_TIMER = 2, /* CPU-time timers of each thread, SIGPROF */
};

/*
 * A module a sampled stack touched. Readable once `ready`. It was mapped
 * while the unload epoch was in [first_epoch, last_epoch].
 */
struct wndl_shm_module {
    uint64_t start, end; /* avma */
    uint64_t bias;
    uint64_t time;                   /* CLOCK_MONOTONIC ns */
    uint32_t path_offset, path_size; /* in strings; size 0: the executable */
    uint8_t build_id[WNDL_SHM_BUILD_ID];
    uint32_t build_id_size;
    uint32_t first_epoch;
    _Atomic uint32_t last_epoch;
    _Atomic uint32_t ready;
};

/* Invariant: used counters only grow; they may pass the limit, never more
 * than the limit is stored. */
struct wndl_shm {
    uint32_t magic, version;
    _Atomic uint32_t stop; /* set by the collector: no more samples */
    _Atomic uint32_t module_count;
    _Atomic uint32_t string_bytes;
    _Atomic uint64_t lost[WNDL_LOSS_REASONS];
    _Atomic uint64_t ring_used[WNDL_SHM_THREADS / 64]; /* a bit each */
    struct wndl_shm_module modules[WNDL_SHM_MODULES];
    uint8_t strings[WNDL_SHM_STRINGS];
    _Alignas(4096) struct wndl_ring rings[WNDL_SHM_THREADS];
    _Alignas(4096) uint8_t tree[]; /* struct wndl_stacktree */
};

static inline size_t wndl_shm_size(void)
{
    return sizeof(struct wndl_shm) + wndl_stacktree_size(WNDL_SHM_NODES);
}

/*
 * A stack tree key: address (48 bits), then struct wndl_frame's interrupted
 * (1) and how (3), then the unload epoch in the top 8 bits.
 */
enum {
    WNDL_KEY_INTERRUPTED_SHIFT = 48,
    WNDL_KEY_HOW_SHIFT = 49,
    WNDL_KEY_EPOCH_SHIFT = 56,
};

struct wndl_hello {
    uint32_t version;
};

struct wndl_go {
    uint32_t version;
    uint32_t engine;        /* enum wndl_engine to try first */
    uint32_t sample_kernel; /* do not ask for exclude_kernel */
    uint32_t reserved;
    uint64_t interval; /* ns */
};

struct wndl_ready {
    uint32_t engine; /* that runs; WNDL_ENGINE_NONE when none could start */
    uint32_t sys_errno;
};

#endif
