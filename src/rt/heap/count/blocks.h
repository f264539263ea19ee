/* SPDX-License-Identifier: MIT */
/*
 * blocks: which block is of which site, in private memory of 16 bytes an
 * entry. It is made of shards, by where a block is, so that threads seldom
 * meet. A shard that is locked for too long, as by a thread that is no more,
 * is given up: nobody waits for ever. The thread of a process that has one
 * locks nothing, nor does the one that is here alone for long (owner.h),
 * and the blocks that it has just put are in 4 KiB of their own: most of them
 * are taken again before others need their places.
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
    uint64_t time;    /* TSC >> 6, of which 47 bits are kept */
    uint32_t site;    /* 24 bits */
    uint8_t generation;
    bool grown; /* it is of a chain: growth.h */
};

enum wndl_rt_found {
    WNDL_RT_BLOCK_FOUND,
    WNDL_RT_BLOCK_ABSENT,
    WNDL_RT_BLOCK_LOST, /* its shard is: it cannot be told */
};

/*
 * `alone` is not 0 while the process has one thread, which alone can change
 * that, as the libc's __libc_single_threaded says: then nothing is locked, and
 * what was put last is where it is found soonest. NULL: nobody tells. It does
 * not count after share(), which is for threads that the libc knows nothing of.
 *
 * Who is alone may be in the midst of a call when such a thread calls share().
 * Until that call ends, the two are not kept apart: to wait for it would need
 * a flag that each call sets. The C library's malloc, which takes no lock
 * either while it knows of one thread, cannot be called by both at all: what
 * is left are threads made by bare clone() beside another allocator.
 */
void wndl_rt_blocks_follow(const char *alone);
void wndl_rt_blocks_share(void);

/*
 * From now on, a thread that was the only one to put blocks here, `after` to
 * 2 * `after` of them, may be here without locks until others come, if that is
 * possible (wndl_rt_owner_allow()). Again in a forked child. forbid(): from now
 * on none may, for what ends it may soon not be allowed.
 */
void wndl_rt_blocks_allow_owner(uint32_t after);
void wndl_rt_blocks_forbid_owner(void);

/* Gets the memory that put() or take() will look at into the caches. */
void wndl_rt_blocks_expect(uint64_t address);

/*
 * Adds a block. FOUND: one was there under the same address, whose end must
 * have been missed: it is put into *before. LOST: no memory or a lost shard.
 */
enum wndl_rt_found wndl_rt_blocks_put(
    const struct wndl_rt_block *block, struct wndl_rt_block *before);

/* Removes a block. */
enum wndl_rt_found wndl_rt_blocks_take(
    uint64_t address, struct wndl_rt_block *block);

/*
 * Finds the block at `address` and calls `look` with it, which may change
 * `grown`, while no thread can take it: its memory can be read.
 */
enum wndl_rt_found wndl_rt_blocks_hold(uint64_t address,
    void (*look)(void *context, struct wndl_rt_block *block), void *context);

/* Calls `visit` with each block, one shard's at a time. */
void wndl_rt_blocks_each(
    void (*visit)(void *context, const struct wndl_rt_block *block),
    void *context);

/*
 * Around fork(): what the child has is whole. In the child no other thread is
 * left that could hold a shard.
 */
void wndl_rt_blocks_hold_all(void);
void wndl_rt_blocks_leave_all(void);

#endif
