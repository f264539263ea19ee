/* SPDX-License-Identifier: MIT */
/*
 * heap_record: what becomes of each call of an allocation function. A call is
 * recorded between enter() and leave(), in which the allocator's own function
 * is called, too: what that calls in turn, and what signal handlers allocate
 * meanwhile, passes by.
 *
 *   enter, allocate, born, leave
 *   enter, end, free, leave
 *   enter, take, realloc, replaced, born, regrown, leave
 *   enter, take, realloc, keep, leave where that has failed
 */
#ifndef WNDL_RT_HEAP_RECORD_RECORD_H
#define WNDL_RT_HEAP_RECORD_RECORD_H

#include "rt/heap/count/blocks.h"
#include "rt/heap/count/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/unwind.h>

struct wndl_heap;
struct wndl_rt_heap_thread;

/* The functions behind the hooked ones. NULL for what there is not. */
struct wndl_rt_allocator {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    size_t (*usable)(void *);
    bool keeps_sizes; /* as wndl_rt_kept_size() reads them */
    void *(*reallocarray)(void *, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
};

/*
 * glibc has a word before each block: the size from there to the next block's
 * word, and three flags. False: it does not tell, for a mapping of its own.
 */
static inline bool wndl_rt_kept_size(const void *block, size_t *usable)
{
    enum { FLAGS = 7, IS_MAPPED = 2 };
    const size_t word = ((const size_t *)block)[-1];
    *usable = (word & ~(size_t)FLAGS) - sizeof word;
    return (word & IS_MAPPED) == 0;
}

/*
 * The bytes that a block has. The allocator's function for that is called last:
 * glibc's looks at the block behind this one, too, which may be in no cache.
 */
static inline size_t wndl_rt_usable(
    const struct wndl_rt_allocator *allocator, void *block)
{
    size_t kept;
    bool is_kept = WNDL_RT_LIKELY(allocator->keeps_sizes) &&
                   WNDL_RT_LIKELY(wndl_rt_kept_size(block, &kept));
    return is_kept ? kept : allocator->usable(block);
}

/* The calling thread's. `self` is NULL before its first call. */
struct wndl_rt_heap_here {
    struct wndl_rt_heap_thread *self;
    volatile bool busy;
};

extern __thread struct wndl_rt_heap_here wndl_rt_heap_here;

struct wndl_rt_heap_thread *wndl_rt_heap_enter_slowly(void);

/*
 * The calling thread's, which is at work until leave(). NULL: the call is not
 * to be recorded, and must be told to one of the passed functions.
 */
static inline struct wndl_rt_heap_thread *wndl_rt_heap_enter(void)
{
    struct wndl_rt_heap_here *here = &wndl_rt_heap_here;
    struct wndl_rt_heap_thread *self = here->self;
    if (!WNDL_RT_LIKELY(
            self != NULL && !here->busy && wndl_rt_heap->shared != NULL))
        return wndl_rt_heap_enter_slowly();
    here->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    return self;
}

static inline void wndl_rt_heap_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    wndl_rt_heap_here.busy = false;
}

struct wndl_rt_birth {
    void *block;
    size_t requested, usable;     /* bytes */
    const struct wndl_regs *regs; /* behind the call */
    bool is_told; /* by the program, of an allocator of its own */
};

/* Takes it or not. */
void wndl_rt_heap_born(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_birth *birth);

/* Takes it. */
void wndl_rt_heap_born_taken(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_birth *birth);

struct wndl_rt_death {
    enum {
        WNDL_RT_DEATH_IN_PAIR, /* `block` says */
        WNDL_RT_DEATH_IN_NONE, /* only totals know of it */
        WNDL_RT_DEATH_EARLY,   /* they do not either: it is from before */
        WNDL_RT_DEATH_UNKNOWN, /* nor does anybody */
    } kind;
    struct wndl_rt_block block;
    size_t usable; /* IN_NONE: bytes */
};

/* Before the block's memory is anybody else's. */
void wndl_rt_heap_take(const struct wndl_rt_allocator *real, void *block,
    struct wndl_rt_death *death);

/* It lives on. */
void wndl_rt_heap_keep(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_death *death);

/*
 * It is to be freed. If it is known to nobody, that is told; else it is looked
 * whether the thread has just made a larger copy of it.
 */
void wndl_rt_heap_freed(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_death *death, const struct wndl_regs *regs);

/* Takes it and tells that it is to be freed. As heap_untaken.h has it, but for
 * the blocks that there are most of. */
void wndl_rt_heap_end_any(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_allocator *real, void *block,
    const struct wndl_regs *regs);

/* It has been given to realloc(), which has made another one of it, or none. */
void wndl_rt_heap_replaced(struct wndl_rt_heap_thread *thread,
    const struct wndl_rt_death *death, const struct wndl_regs *regs);

/* The thread's last born block has taken a smaller one's place. */
void wndl_rt_heap_regrown(
    struct wndl_rt_heap_thread *thread, const struct wndl_rt_death *smaller);

/*
 * hook_heap.c: sees to it that the program's calls come here if it has an
 * allocator of its own, and whether it has. Those inside that do not come.
 */
bool wndl_rt_heap_lead_imports(void);

/*
 * hook_heap.c: the allocator tells how large its blocks are. If not, only what
 * is known of each block tells that when it is freed: then all are taken.
 */
bool wndl_rt_heap_knows_sizes(void);

/*
 * hook_heap.c: the allocator keeps sizes, and nothing has to be looked at
 * before it is called. After wndl_rt_heap_lead_imports().
 */
bool wndl_rt_heap_is_plain(void);

/*
 * hook_heap.c: what the allocator has made outside of enter() and leave(), or
 * NULL. Returns it.
 */
void *wndl_rt_heap_made(void *block, size_t size, const struct wndl_regs *regs);

/* A form of the allocator's realloc. */
struct wndl_rt_mover {
    void *(*move)(void *context, void *block, size_t size);
    void *context;
};

/* hook_heap.c: as the allocator's realloc, by `mover`. */
void *wndl_rt_heap_moved(const struct wndl_rt_mover *mover, void *block,
    size_t size, const struct wndl_regs *regs);

/*
 * hook_heap.c: the allocator is about to free it. Returns the thread if it is
 * at work now, until leave().
 */
struct wndl_rt_heap_thread *wndl_rt_heap_ended(
    void *block, const struct wndl_regs *regs);

/* heap_told.c: in a forked child, nobody asks for a snapshot. */
void wndl_rt_heap_told_after_fork(void);

/*
 * Blocks of other allocators than that behind the hooks are known by addresses
 * with these bits, which none of that one's has: what a program tells of may
 * begin where a block of that one does.
 */
enum wndl_rt_other { WNDL_RT_TOLD = 1, WNDL_RT_LIBCS = 3 };

static inline void *wndl_rt_other_key(
    const void *block, enum wndl_rt_other allocator)
{
    return (void *)((uintptr_t)block | allocator);
}

/*
 * The end of a block that was told of. What is the hooked allocator's is let
 * be, and that is told.
 */
void wndl_rt_heap_told_end(struct wndl_rt_heap_thread *thread,
    const void *block, const struct wndl_regs *regs);

/* NULL while nothing is recorded. */
struct wndl_heap *wndl_rt_heap_shared(void);

/* Calls that passed by. Any thread, any signal handler. */
void wndl_rt_heap_passed(void *block, size_t requested, size_t usable);
void wndl_rt_heap_passed_free(
    const struct wndl_rt_allocator *real, void *block);

#endif
