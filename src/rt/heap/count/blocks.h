/* SPDX-License-Identifier: MIT */
/*
 * blocks: the site of each block, in private memory of 16 bytes an entry. It is
 * divided into shards by address, so that threads seldom meet. A shard that is
 * locked for too long, as by a thread that has died, is given up: nobody waits
 * forever.
 *
 * A thread takes no lock if it is the only one of the process, or if no other
 * came here for long (owner.h). The blocks that it put last are then in a
 * separate 4 KiB: most of them are freed before others need their places.
 *
 * All functions: any thread that is not in one of them already; no signal
 * handler that may interrupt one.
 */
#ifndef WNDL_RT_HEAP_COUNT_BLOCKS_H
#define WNDL_RT_HEAP_COUNT_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct wndl_rt_block {
    uint64_t address; /* 48 bits */
    uint64_t time;    /* TSC >> 6, of which 47 bits are kept; in dark-matter
                       * mode its mark: measure/marks.h */
    uint32_t site;    /* 24 bits */
    uint8_t generation;
    bool grown; /* part of a chain: growth.h */
};

enum wndl_rt_found {
    WNDL_RT_BLOCK_FOUND,
    WNDL_RT_BLOCK_ABSENT,
    WNDL_RT_BLOCK_LOST, /* its shard was given up: not known */
};

/*
 * Sets `alone`, libc's __libc_single_threaded. It is not 0 while the process
 * has one thread, and only that thread can change it. Then nothing is locked,
 * and the block that was put last is found soonest. NULL: there is no such
 * variable. It is ignored after share(), which is for threads that libc does
 * not know.
 *
 * A thread that is alone may be within a call when such a thread calls share().
 * Until that call ends, nothing keeps the two apart: waiting for it would need
 * a flag that each call sets. Both cannot call the C library's malloc anyway,
 * which takes no lock either while it knows of one thread. What remains are
 * threads made by bare clone() with another allocator.
 */
void wndl_rt_blocks_follow(const char *alone);
void wndl_rt_blocks_share(void);

/*
 * Allows owners. From now on, a thread that was the only one to put blocks
 * here, `after` to 2 * `after` of them, may work without locks until others
 * come, if the system allows it (wndl_rt_owner_allow()). Call it again in a
 * forked child. forbid() ends that, because the call that ends an owner may
 * soon be forbidden.
 */
void wndl_rt_blocks_allow_owner(uint32_t after);
void wndl_rt_blocks_forbid_owner(void);

/* Prefetches the memory that put() or take() will read. */
void wndl_rt_blocks_expect(uint64_t address);

/*
 * Adds a block. FOUND: one was there under the same address, whose free was
 * missed; *before receives it. LOST: no memory, or the shard was given up.
 */
enum wndl_rt_found wndl_rt_blocks_put(
    const struct wndl_rt_block *block, struct wndl_rt_block *before);

/* Removes a block. */
enum wndl_rt_found wndl_rt_blocks_take(
    uint64_t address, struct wndl_rt_block *block);

/*
 * Finds the block at `address` and calls `look` with it, which may change
 * `grown` and `time`. No thread can take it meanwhile, so its memory can be
 * read.
 */
enum wndl_rt_found wndl_rt_blocks_hold(uint64_t address,
    void (*look)(void *context, struct wndl_rt_block *block), void *context);

/* Calls `visit` with each block, holding one shard at a time. */
void wndl_rt_blocks_each(
    void (*visit)(void *context, const struct wndl_rt_block *block),
    void *context);

/*
 * Moves the table into one mapping, whose pages may be large, unless most of it
 * is there already or it is small: for many look-ups that are to follow.
 */
void wndl_rt_blocks_gather(void);

/*
 * Brings the table to rest: a visit that follows, also in a copy of the
 * process, moves no memory of it, as long as no block is put.
 */
void wndl_rt_blocks_settle(void);

/*
 * Called around fork(), so that the child's table is consistent. The child has
 * no other thread that could hold a shard.
 */
void wndl_rt_blocks_hold_all(void);
void wndl_rt_blocks_leave_all(void);

#endif
