/* SPDX-License-Identifier: MIT */
/*
 * shm: the memory and the messages between a recorded process and the
 * collector. They share one block of memory per process image, and exchange
 * three messages over a SOCK_SEQPACKET socket.
 *
 *   process -> collector   hello
 *   collector -> process   go      with the block's memfd, sized and zeroed
 *   process -> collector   ready   with the perf event's descriptor if any
 *
 * A collector that is stopped or busy must not delay the program. A process
 * that gets no go in time makes a block itself, by the settings in the
 * session's folder, and sends it before its ready:
 *
 *   process -> collector   late    with the block's memfd, or a refusal
 *
 * It then shuts its end of the socket for reading and looks for a go once more:
 * either the go is there, and the late message is void, or the collector's go
 * fails from then on, and the late message is there. Processes that start later
 * do not wait until the collector has heard of it (WNDL_LATE_FILE).
 *
 * The process then closes all three descriptors: it holds none while its
 * program runs. A hello with a refusal gets no answer. The collector holds the
 * event, so sampling ends with the collector. It treats the block as foreign
 * bytes.
 */
#ifndef WNDL_REC_SHM_H
#define WNDL_REC_SHM_H

#include "base/stacktree.h"
#include "rec/ring.h"

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable with the socket's path, for recorded processes. */
#define WNDL_SESSION_ENV "WINDLASS_SESSION"

enum {
    WNDL_SHM_VERSION = 17,
    WNDL_SHM_THREADS = 2048, /* at a time; rings of ended ones are reused */
    WNDL_SHM_MODULES = 3 * 1024,
    WNDL_SHM_STRINGS = 512 * 1024,
    WNDL_SHM_NODES = 700 * 1000, /* of the stack tree */
    /* The same, if a heap is recorded and address space is not scarce. */
    WNDL_SHM_NODES_HEAP = WNDL_STACKTREE_MAX,
    WNDL_SHM_BUILD_ID = 32,
    WNDL_SHM_PATTERNS = 256,
    WNDL_SHM_STARTS = 16,
    WNDL_SHM_DESCRIPTORS = 4,
    WNDL_SHM_TABLES = 4096,
    WNDL_SHM_PATH = 4096,
    WNDL_SHM_MADE = 128, /* unwind tables that the collector makes */
    WNDL_SHM_MADE_BYTES = 4 * 1024 * 1024, /* of all; only used pages exist */
    WNDL_SHM_COPIES = 256, /* of lost stacks; only used pages exist */
    WNDL_SHM_COPY_REGS = 17,
    WNDL_SHM_COPY_BYTES = 64 * 1024 - 18 * 8,
    WNDL_FRAMES_RESUMED = 7,     /* compared with the last walk's, not walked */
    WNDL_FRAMES_MAX = 32 * 1024, /* maximum of --max-frames */
};

#define WNDL_SHM_MAGIC UINT32_C(0x4d485357)

/* Reasons for which a sample is missing: docs/formats/wndl.md, PEND. */
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

/*
 * The way in which a running thread is interrupted. Also META's `engine`.
 *
 * PERF  one perf task-clock event per process, synchronous SIGTRAP; it
 *       interrupts no blocked call, but the timer of a thread's first sample
 *       may, and then makes the call go on. It leaves out the kernel: TICK
 *       timers run beside it and stand for the time spent there.
 * TICK  CPU-time timers of each thread, SIGPROF: never interrupt a blocked
 *       call, come at the kernel's tick (250 Hz on Debian) at most.
 * TIMER CLOCK_MONOTONIC timers of each thread, SIGPROF: any rate. A timer is
 *       parked while its thread is blocked, and the handler makes the call
 *       that it interrupted go on.
 * OUTSIDE  nothing in the process: the collector reads the stacks of blocked
 *       threads and only counts running ones.
 */
enum wndl_engine {
    WNDL_ENGINE_NONE = 0,
    WNDL_ENGINE_PERF = 1,
    WNDL_ENGINE_TICK = 2,
    WNDL_ENGINE_TIMER = 3,
    WNDL_ENGINE_OUTSIDE = 4,
    WNDL_ENGINE_COUNTED = 5, /* vmprof's: nothing of rt runs */
    WNDL_ENGINE_COPIES = 6,  /* perf events with copies of stacks, which the
                              * collector walks: nothing of rt runs */
    WNDL_ENGINE_STOP = 7,    /* the collector stops each running thread */
};

/* The ways in which a walk may find a caller. */
enum wndl_unwind_policy {
    WNDL_UNWIND_AUTO = 0, /* CFI, and frame pointers where there is none */
    WNDL_UNWIND_CFI = 1,
    WNDL_UNWIND_FP = 2,
    WNDL_UNWIND_SCAN = 3, /* AUTO, and a scan of the stack where neither
                           * helps */
};

/*
 * Reasons for which a process is not recorded: hello, and UNFO in
 * docs/formats/wndl.md. The runtime reports those that it knows; the collector
 * finds the others.
 */
enum wndl_unrecorded_reason {
    WNDL_UNRECORDED_NONE = 0, /* in UNFO: not known */
    WNDL_UNRECORDED_STATIC = 1,
    WNDL_UNRECORDED_SETUID = 2,      /* or with file capabilities */
    WNDL_UNRECORDED_LIBC = 3,        /* not glibc, or too old a glibc */
    WNDL_UNRECORDED_GO = 4,          /* its runtime owns all signals */
    WNDL_UNRECORDED_EMULATED = 5,    /* Valgrind, qemu */
    WNDL_UNRECORDED_ENVIRONMENT = 6, /* started without our variables */
    WNDL_UNRECORDED_MACHINE = 7, /* no runtime for its word size or processor */
    WNDL_UNRECORDED_DESCRIPTORS = 8, /* no free one, not even for a moment */
    WNDL_UNRECORDED_MEMORY = 9,      /* the block could not be mapped */
    WNDL_UNRECORDED_SANDBOX = 10,
    WNDL_UNRECORDED_CLONE = 11, /* made by a clone() that avoided our hooks */
    /* its runtime is of another version than the collector */
    WNDL_UNRECORDED_VERSION = 12,
    WNDL_UNRECORDED_LATE = 13, /* no go in time, and none could be replaced */
    /* A child of vfork() that never started a program: it has its parent's
     * memory, which is its parent's to record. */
    WNDL_UNRECORDED_VFORK = 14,
    WNDL_UNRECORDED_REASONS = 15,
};

/*
 * A module that is in a sampled stack. Readable once `ready`. One that was
 * unloaded and comes again to the same place is mapped again in the same row.
 */
struct wndl_shm_module {
    uint64_t start, end; /* avma */
    uint64_t bias;
    uint64_t time;                   /* CLOCK_MONOTONIC ns */
    uint32_t path_offset, path_size; /* in strings; size 0: the executable */
    uint8_t build_id[WNDL_SHM_BUILD_ID];
    uint32_t build_id_size;
    _Atomic uint32_t mapped;
    _Atomic uint32_t ready;
    uint32_t unused;
};

_Static_assert(sizeof(struct wndl_shm_module) == 88,
    "a 32-bit process has rows of another size");

/*
 * An unwind table that the collector has made for a module, because a part of
 * its code has rules in a .debug_frame only, or none.
 */
struct wndl_shm_made {
    _Alignas(8) uint64_t start; /* avma of the module's image: [start, end) */
    uint64_t end;
    uint64_t bias;         /* avma - svma */
    uint32_t offset, size; /* in made_bytes */
};

/*
 * The stack of a walk that ended in code without rules. The collector walks it
 * again when it has made rules for that code.
 */
struct wndl_shm_copy {
    _Alignas(8) uint64_t gregs[WNDL_SHM_COPY_REGS]; /* as in struct wndl_regs */
    uint32_t below; /* bytes of the copy that are below the stack pointer */
    uint32_t size;  /* in bytes */
    uint8_t bytes[WNDL_SHM_COPY_BYTES];
};

/* The states of a copy, by who may touch it. */
enum wndl_shm_copy_state {
    WNDL_COPY_FREE = 0,    /* the process, which takes it to write */
    WNDL_COPY_WRITTEN = 1, /* the thread that took it */
    WNDL_COPY_WHOLE = 2,   /* the collector, which frees it */
};

/*
 * The block. Invariant: used counters only grow. They may exceed the limit, but
 * no more than the limit is stored.
 */
struct wndl_shm {
    uint32_t magic, version;
    _Atomic uint32_t stop; /* set by the collector: sampling has ended */
    /* Odd while paused: the collector adds 1 at each change. Sampling then
     * costs next to nothing, and CPU time counts for no sample. */
    _Atomic uint32_t paused;
    /* Odd while the program itself pauses sampling: windlass/profile.h. */
    _Atomic uint32_t held;
    /* Set by the program: it entered a sandbox that forbids our calls, and
     * nothing is recorded any more. */
    _Atomic uint32_t silent;
    /* Frames of walks, counted by the process for `record -v`: by enum
     * wndl_frame_how, and once more in FRAMES_RESUMED. */
    _Atomic uint64_t frames_by[8];
    /* Blocked calls that returned EINTR because of us. */
    _Atomic uint64_t interrupted_calls;
    /* CPU ns that the first thread had used when the runtime was loaded and
     * when the recording began, and that the calling one has used when it calls
     * exec(). 0: not known, or at once after a fork. */
    _Atomic uint64_t cpu_loaded, cpu_begun, cpu_left;
    /* The avma of the process's registry of generated code (windlass/jit.h); 0:
     * none. */
    _Atomic uint64_t jit;
    /* The avma of __jit_debug_descriptor of modules that report generated code
     * to debuggers, found by the collector; 0: the end. */
    _Atomic uint64_t descriptors[WNDL_SHM_DESCRIPTORS];
    /* The last processes that this one started as another program, in turn.
     * Those that such a process started before it had a block of its own count,
     * too. Not all of them say hello. */
    _Atomic uint32_t starts;
    _Atomic uint32_t started[WNDL_SHM_STARTS];
    _Atomic uint32_t module_count;
    /* Times that a module came: a new row, or one that is mapped again. */
    _Atomic uint32_t modules_come;
    _Atomic uint32_t string_bytes;
    _Atomic uint64_t lost[WNDL_LOSS_REASONS];
    _Atomic uint64_t ring_used[WNDL_SHM_THREADS / 64]; /* a bit each */
    struct wndl_shm_module modules[WNDL_SHM_MODULES];
    uint8_t strings[WNDL_SHM_STRINGS];
    /* The paths of unwind tables that are attached to modules
     * (unwind/table/named.h). The collector sets them before it hands out the
     * block. */
    char tables[WNDL_SHM_TABLES];
    /* The path of the executable, if the process made the block. */
    char executable[WNDL_SHM_PATH];
    /* Written by the collector only, at any time: rows below made_count stay
     * as they are. */
    _Atomic uint32_t made_count;
    struct wndl_shm_made made[WNDL_SHM_MADE];
    _Alignas(4096) uint8_t made_bytes[WNDL_SHM_MADE_BYTES];
    /* Set by the collector: lost stacks are to be copied. */
    _Atomic uint32_t wants_copies;
    _Atomic uint32_t copy_states[WNDL_SHM_COPIES]; /* wndl_shm_copy_state */
    _Alignas(4096) struct wndl_ring rings[WNDL_SHM_THREADS];
    _Alignas(4096) uint8_t tree[]; /* struct wndl_stacktree */
};

/* The size of a block whose tree has room for `nodes`. */
static inline size_t wndl_shm_size(uint32_t nodes)
{
    return sizeof(struct wndl_shm) + wndl_stacktree_size(nodes);
}

/*
 * The offset of struct wndl_shm_copy[WNDL_SHM_COPIES], behind the tree. A
 * recording of a heap has none: address space may be scarce.
 */
static inline size_t wndl_shm_copies_offset(uint32_t nodes)
{
    return (wndl_shm_size(nodes) + 4095) & ~(size_t)4095;
}

/* The size of a block with copies. */
static inline size_t wndl_shm_whole_size(uint32_t nodes)
{
    return wndl_shm_copies_offset(nodes) +
           WNDL_SHM_COPIES * sizeof(struct wndl_shm_copy);
}

/*
 * A key of the stack tree. From the lowest bit on it has: the address (48
 * bits), struct wndl_frame's interrupted (1) and how (3), and an owner (12).
 * That is the number of the module's row, plus one. Code of another module is
 * thus never attributed to a row. An owner above all rows stands for none, and
 * is another one after each unloading.
 */
enum {
    WNDL_KEY_INTERRUPTED_SHIFT = 48,
    WNDL_KEY_HOW_SHIFT = 49,
    WNDL_KEY_OWNER_SHIFT = 52,
    WNDL_KEY_OWNERS = 1 << 12,
    WNDL_KEY_NO_ROW = WNDL_SHM_MODULES + 1, /* the first of these */
};

_Static_assert(WNDL_KEY_NO_ROW + 512 < WNDL_KEY_OWNERS,
    "a key has no room for the owners");

/* The owner of code in no row, after so many unloadings. */
static inline uint32_t wndl_key_no_row(uint32_t unloadings)
{
    return WNDL_KEY_NO_ROW + unloadings % (WNDL_KEY_OWNERS - WNDL_KEY_NO_ROW);
}

struct wndl_hello {
    uint32_t version;     /* first in every version's */
    uint32_t machine;     /* EM_X86_64, EM_386, EM_AARCH64 */
    uint32_t refusal;     /* enum wndl_unrecorded_reason; not 0: no answer */
    uint32_t pid, parent; /* as the process sees both */
};

/* The same bytes on every machine: no padding depends on alignment. */
struct wndl_go {
    uint32_t version;
    uint32_t engine;            /* enum wndl_engine to try first */
    uint32_t fallback;          /* enum wndl_engine to try next, or NONE */
    uint32_t max_frames;        /* 1 to WNDL_FRAMES_MAX */
    uint64_t interval;          /* ns */
    uint32_t unwind;            /* enum wndl_unwind_policy */
    uint32_t heap;              /* enum wndl_heap_flag, or-ed: rec/heap.h */
    uint32_t heap_sites;        /* capacity, if WNDL_HEAP_ON */
    uint32_t nodes;             /* capacity of the tree */
    uint64_t heap_sample_below; /* bytes, 2^32 at most; 0: every block */
    uint64_t heap_pointer_tags; /* bits of words that are no part of an
                                 * address: --pointer-mask */
    /* The sampled threads: patterns separated by commas, none for all. A
     * pattern is "main", "pid:N", "*", or a part of the name in any case. */
    char threads[WNDL_SHM_PATTERNS];
};

/* The name of the settings' file beside the socket. */
#define WNDL_SETTINGS_FILE "go"

/*
 * The name of an empty file beside the socket. The first process that waited in
 * vain makes it if the collector is stopped, and that removes it at each late
 * message. While it is there, no process waits: a command may start a thousand
 * others.
 */
#define WNDL_LATE_FILE "late"

/*
 * The file's content: the go of a process that has no limits of its own, and
 * the block's `paused`, at the start of the recording, and `tables`.
 */
struct wndl_settings {
    struct wndl_go go;
    uint32_t paused, reserved;
    char tables[WNDL_SHM_TABLES];
};

struct wndl_late {
    uint32_t refusal;    /* enum wndl_unrecorded_reason; else a memfd comes */
    uint32_t heap_sites; /* capacities of the block, as in wndl_go */
    uint32_t nodes;
    uint32_t parent; /* pid */
    uint64_t vdso;   /* its avma, which differs in each image; 0: none */
};

struct wndl_ready {
    uint32_t engine; /* the running one; NONE if none could start */
    uint32_t sys_errno;
};

/*
 * 64-bit collectors serve 32-bit programs: no field's offset may depend on the
 * word size.
 */
_Static_assert(
    sizeof(struct wndl_stacknode) == 16 &&
        sizeof(struct wndl_ring) == WNDL_RING_BYTES + 128 &&
        sizeof(struct wndl_shm_module) == 88 &&
        sizeof(struct wndl_shm_made) == 32 &&
        sizeof(struct wndl_shm_copy) == 64 * 1024 &&
        offsetof(struct wndl_shm, made) % 8 == 0 &&
        offsetof(struct wndl_shm, made_bytes) % 4096 == 0 &&
        offsetof(struct wndl_shm, frames_by) == 24 &&
        offsetof(struct wndl_shm, lost) % 8 == 0 &&
        offsetof(struct wndl_shm, modules) ==
            offsetof(struct wndl_shm, ring_used) + WNDL_SHM_THREADS / 8 &&
        offsetof(struct wndl_shm, rings) % 4096 == 0 &&
        sizeof(struct wndl_hello) == 20 &&
        sizeof(struct wndl_go) == 56 + WNDL_SHM_PATTERNS &&
        sizeof(struct wndl_settings) ==
            sizeof(struct wndl_go) + 8 + WNDL_SHM_TABLES &&
        sizeof(struct wndl_late) == 24 && sizeof(struct wndl_ready) == 8,
    "the block and the messages are the same on every machine");

#endif
