/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog_ring.h: the layout of a memory event log, which a program
 * writes by windlass/memlog.h and `windlass memlog` reads.
 *
 * A log is a file of four areas: struct wndl_memlog_ring, the types, the owners
 * of the blocks, and the blocks. All numbers have the byte order of the machine
 * that wrote them. docs/formats/ring.md is the specification.
 */
#ifndef WINDLASS_MEMLOG_RING_H
#define WINDLASS_MEMLOG_RING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WNDL_MEMLOG_MAGIC "WNDLMLOG"

enum {
    WNDL_MEMLOG_VERSION = 1,
    WNDL_MEMLOG_SLOT = 64,        /* bytes of a slot */
    WNDL_MEMLOG_BLOCK_SLOTS = 16, /* slots of a block */
    WNDL_MEMLOG_BLOCK = WNDL_MEMLOG_SLOT * WNDL_MEMLOG_BLOCK_SLOTS,
    WNDL_MEMLOG_FIRST_BYTES = 40,   /* of an event in its first slot */
    WNDL_MEMLOG_FURTHER_BYTES = 56, /* in each further slot */
    WNDL_MEMLOG_EVENT_SLOTS = 8,    /* most slots of an event */
    WNDL_MEMLOG_TYPES = 128,        /* most types of a process */
    WNDL_MEMLOG_TYPE_BYTES = 512,
    WNDL_MEMLOG_LANES = 128, /* room for lanes */
    WNDL_MEMLOG_OWNED = 64,  /* most lanes that have one thread */
    WNDL_MEMLOG_ANCHORS = 32,
    WNDL_MEMLOG_NUMBERS = 8,       /* most numbers of an event */
    WNDL_MEMLOG_TEXT = 200,        /* most bytes of its text */
    WNDL_MEMLOG_FRAMES = 16,       /* most frames of its stack */
    WNDL_MEMLOG_CONTROLLED = 500,  /* most processes turned on or off */
    WNDL_MEMLOG_LEAST = 64 * 1024, /* bytes of the blocks */
    WNDL_MEMLOG_MOST = 16 * 1024 * 1024,
    WNDL_MEMLOG_TYPES_AT = 16 * 1024, /* offset in the file */
    WNDL_MEMLOG_OWNERS_AT =
        WNDL_MEMLOG_TYPES_AT + WNDL_MEMLOG_TYPES * WNDL_MEMLOG_TYPE_BYTES
};

/* The number of a slot that does not begin an event has this bit, too. */
#define WNDL_MEMLOG_INNER (UINT64_C(1) << 63)

/* The unit of the times of events. */
enum wndl_memlog_clock {
    WNDL_MEMLOG_NANOSECONDS = 0, /* of CLOCK_MONOTONIC */
    WNDL_MEMLOG_TSC = 1          /* ticks of the processor */
};

/* Bits of `flags` of a slot. */
enum wndl_memlog_flag {
    WNDL_MEMLOG_BEGIN = 1,
    WNDL_MEMLOG_END = 2,
    WNDL_MEMLOG_LONG = 4 /* struct wndl_memlog_more follows the numbers */
};

/* One moment on three clocks. */
struct wndl_memlog_anchor {
    uint64_t ticks;
    uint64_t monotonic; /* ns of CLOCK_MONOTONIC */
    uint64_t real;      /* ns since 1970 */
    uint64_t check;     /* wndl_memlog_anchor_check; else it is not whole */
};

/* What `check` of a whole anchor is. Private: for writers and readers. */
static inline uint64_t wndl_memlog_anchor_check(
    const struct wndl_memlog_anchor *a)
{
    return (a->ticks * 3 + a->monotonic * 5 + a->real * 7) ^
           UINT64_C(0x9e3779b97f4a7c15);
}

/* A word on a cache line of its own. */
struct wndl_memlog_word {
    uint64_t value;
    uint64_t unused[7];
};

/*
 * The start of the file. Facts that never change are in the first page; the
 * rest changes with each event.
 *
 * A lane is a place where threads take slots: number of a block << 16 | slots
 * taken of it, which may be more than there are. Lanes below `owned` belong to
 * the thread in `threads`, which is known by its thread pointer; the `shared`
 * ones after them to all others.
 */
struct wndl_memlog_ring {
    char magic[8]; /* written last */
    uint32_t version;
    uint32_t block_slots;
    uint64_t blocks; /* a power of two */
    uint32_t owned;  /* a power of two */
    uint32_t shared; /* a power of two */
    uint32_t clock;  /* enum wndl_memlog_clock */
    uint32_t user;
    uint32_t process;
    uint32_t parent;
    uint64_t start; /* clock ticks since boot, as in /proc/PID/stat */
    uint64_t image; /* differs after execve() */
    char boot[40];  /* /proc/sys/kernel/random/boot_id */
    char name[16];
    uint32_t command_size;
    char command[1020]; /* arguments, each with its NUL */
    uint32_t watcher;   /* a process that writes this log; 0: its own */
    uint8_t unused1[2048 - 1148];
    struct wndl_memlog_anchor anchors[WNDL_MEMLOG_ANCHORS];
    uint8_t unused2[4096 - 3072];

    struct wndl_memlog_word head;        /* the next number of a block */
    struct wndl_memlog_word given_up;    /* numbers of blocks without a block */
    struct wndl_memlog_word overwritten; /* events */
    struct wndl_memlog_word dropped;     /* events that found no slot */
    struct wndl_memlog_word types;       /* numbers of types that were taken */
    struct wndl_memlog_word populated;   /* blocks that have memory */
    struct wndl_memlog_word anchored;    /* numbers of anchors taken */
    struct wndl_memlog_word anchor_due;  /* ticks of the last anchor */
    uint64_t threads[WNDL_MEMLOG_OWNED];
    uint8_t unused3[4096 - 8 * 64 - WNDL_MEMLOG_OWNED * 8];
    struct wndl_memlog_word lanes[WNDL_MEMLOG_LANES];
};

/* A field of a type. Texts end with a NUL. */
struct wndl_memlog_stored_field {
    char name[24];
    char unit[16];
};

/* A type, WNDL_MEMLOG_TYPE_BYTES of the file. Type 1 is the first. */
struct wndl_memlog_stored_type {
    uint64_t whole; /* 1: all of it is written */
    uint64_t kept_back;
    uint32_t role;
    uint32_t limit;  /* events a second; 0: none */
    uint32_t fields; /* with those of its role */
    uint32_t unused;
    char name[48];
    struct wndl_memlog_stored_field field[WNDL_MEMLOG_NUMBERS];
};

/*
 * The first slot of an event. It is whole if `number` is that of its place: the
 * owner of its block * block_slots + its index in the block.
 */
struct wndl_memlog_slot {
    uint64_t number; /* written last */
    uint64_t time;
    uint32_t thread;
    uint16_t type; /* 0: no event */
    uint8_t numbers;
    uint8_t flags;
    uint8_t bytes[WNDL_MEMLOG_FIRST_BYTES];
};

/* A further slot of an event: its `number` has the bit WNDL_MEMLOG_INNER. */
struct wndl_memlog_further {
    uint64_t number;
    uint8_t bytes[WNDL_MEMLOG_FURTHER_BYTES];
};

/* After the numbers of an event: frames, 8 bytes each, and text follow. */
struct wndl_memlog_more {
    uint16_t text_size;
    uint16_t frames;
    uint32_t unused;
};

/* `control` of the folder: which processes log, whatever they would do. */
struct wndl_memlog_control {
    uint32_t turn; /* counts changes; never 0xffffffff */
    uint32_t count;
    struct {
        uint32_t process;
        uint32_t is_on;
    } processes[WNDL_MEMLOG_CONTROLLED];
};

/* Private: the magic as one number, which is written at once. */
static inline uint64_t wndl_memlog_magic(void)
{
    uint64_t value;
    __builtin_memcpy(&value, WNDL_MEMLOG_MAGIC, sizeof value);
    return value;
}

/* Private: the stored type `id` of a ring in memory. */
static inline struct wndl_memlog_stored_type *wndl_memlog_type_at(
    struct wndl_memlog_ring *ring, uint32_t id)
{
    return (
        struct wndl_memlog_stored_type *)(void *)((uint8_t *)ring +
                                                  WNDL_MEMLOG_TYPES_AT +
                                                  (uint64_t)(id - 1) *
                                                      WNDL_MEMLOG_TYPE_BYTES);
}

/* The offset of the first block in a file of `blocks` blocks. */
static inline uint64_t wndl_memlog_blocks_at(uint64_t blocks)
{
    return (WNDL_MEMLOG_OWNERS_AT + blocks * 8 + 4095) & ~UINT64_C(4095);
}

#ifdef __cplusplus
}
#endif

#endif
