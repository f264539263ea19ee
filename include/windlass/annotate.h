/* SPDX-License-Identifier: MIT */
/*
 * windlass/annotate.h: what a program tells Helgrind, DRD, ThreadSanitizer and
 * Memcheck about synchronisation and allocators that it makes itself.
 *
 * These tools know the locks of the C library and the blocks of malloc. A spin
 * lock, a reference count or a queue of atomic instructions is reported as a
 * race unless it is annotated; a pool is one large block. This header is all
 * that is needed, in C and in C++: nothing is linked, and Valgrind need not be
 * installed where a program is compiled.
 *
 *     static void lock(struct lock *l)
 *     {
 *         while (atomic_exchange_explicit(&l->held, 1, memory_order_acquire))
 *             continue;
 *         wndl_annotate_lock_acquired(l, WNDL_LOCK_EXCLUSIVE);
 *     }
 *
 *     static void unlock(struct lock *l)
 *     {
 *         wndl_annotate_lock_releasing(l, WNDL_LOCK_EXCLUSIVE);
 *         atomic_store_explicit(&l->held, 0, memory_order_release);
 *     }
 *
 * Compiled with -fsanitize=thread, the functions call ThreadSanitizer. Else
 * they are five instructions for each request, which do nothing unless Valgrind
 * runs the program; with WNDL_ANNOTATE_NOTHING or NVALGRIND defined before,
 * they are nothing at all. Valgrind's tools need x86, or <valgrind/valgrind.h>
 * when the program is compiled. Any thread and any signal handler may call
 * them.
 *
 * Limits of the tools:
 *
 *   Helgrind  knows no atomic objects: of bytes that wndl_annotate_shared() or
 *             wndl_annotate_benign_race() names it reports no race at all.
 *   DRD       the same; and it checks no order of locks. It learns of a lock
 *             at its first use. After it has reported a lock that was taken
 *             twice, or given back by another thread, it may give up.
 *   TSan      knows atomic operations by itself, so that shared() says nothing
 *             to it, and an order is needed only where a program relies on
 *             fences or on assembler. It may report a race that
 *             wndl_annotate_benign_race() names if the accesses are of another
 *             size. Pools and memory states mean nothing to it, but that a
 *             block's next owner comes after its last one.
 *   Memcheck  pools, blocks and memory states only.
 */
#ifndef WINDLASS_ANNOTATE_H
#define WINDLASS_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define WNDL_ANNOTATE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WNDL_ANNOTATE_TSAN 1
#endif
#endif

#if !defined(WNDL_ANNOTATE_NOTHING) && !defined(NVALGRIND) &&                  \
    !defined(WNDL_ANNOTATE_TSAN)
#define WNDL_ANNOTATE_VALGRIND 1
#include <windlass/valgrind_request.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How a lock is held. */
enum wndl_lock_mode {
    WNDL_LOCK_SHARED = 0,   /* by a reader, with other readers */
    WNDL_LOCK_EXCLUSIVE = 1 /* by a writer, or the owner of a mutex */
};

/*
 * Requests, of which Helgrind and DRD share those of locks and of order: the
 * numbers are Valgrind's and do not change.
 */
enum wndl_annotate_request {
    WNDL_ASK_CLEAN_MEMORY = 0x48470000,
    WNDL_ASK_RWLOCK_CREATE = 0x4847010e,
    WNDL_ASK_RWLOCK_DESTROY = 0x4847010f,
    WNDL_ASK_RWLOCK_ACQUIRED = 0x48470111,
    WNDL_ASK_RWLOCK_RELEASED = 0x48470112,
    WNDL_ASK_HAPPENS_BEFORE = 0x48470121,
    WNDL_ASK_HAPPENS_AFTER = 0x48470122,
    WNDL_ASK_FORGET = 0x48470123,
    WNDL_ASK_HELGRIND_UNTRACKED = 0x48470127,
    WNDL_ASK_HELGRIND_TRACKED = 0x48470128,
    WNDL_ASK_DRD_SUPPRESSED = 0x44520002,
    WNDL_ASK_DRD_NOT_SUPPRESSED = 0x44520003,
    WNDL_ASK_NO_ACCESS = 0x4d430000,
    WNDL_ASK_UNDEFINED = 0x4d430001,
    WNDL_ASK_DEFINED = 0x4d430002,
    WNDL_ASK_BLOCK_ALLOC = 0x1301,
    WNDL_ASK_BLOCK_FREE = 0x1302,
    WNDL_ASK_POOL_CREATE = 0x1303,
    WNDL_ASK_POOL_DESTROY = 0x1304,
    WNDL_ASK_POOL_ALLOC = 0x1305,
    WNDL_ASK_POOL_FREE = 0x1306
};

#if defined(WNDL_ANNOTATE_TSAN)
/* Private: what gcc's and clang's runtimes of ThreadSanitizer have. */
void __tsan_acquire(void *at);
void __tsan_release(void *at);
void __tsan_mutex_create(void *at, unsigned flags);
void __tsan_mutex_destroy(void *at, unsigned flags);
void __tsan_mutex_pre_lock(void *at, unsigned flags);
void __tsan_mutex_post_lock(void *at, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *at, unsigned flags);
void __tsan_mutex_post_unlock(void *at, unsigned flags);
void AnnotateBenignRaceSized(const char *file, int line,
    const volatile void *start, size_t size, const char *reason);
#endif

/* Private: a request to Valgrind's tools, of which each takes its own. */
static inline void wndl_annotate_ask(enum wndl_annotate_request request,
    const volatile void *at, uintptr_t second, uintptr_t third,
    uintptr_t fourth)
{
#if defined(WNDL_ANNOTATE_VALGRIND)
    wndl_valgrind_ask((uintptr_t)request, (uintptr_t)at, second, third, fourth);
#else
    (void)request;
    (void)at;
    (void)second;
    (void)third;
    (void)fourth;
#endif
}

/* ---- order */

/*
 * All that this thread has done so far happens before all that any thread does
 * after a later wndl_annotate_happens_after() of the same address: to be called
 * before a message is handed over. `at` is any address that both sides know,
 * such as that of a slot of a queue; it is never read. Several calls add up.
 */
static inline void wndl_annotate_happens_before(const volatile void *at)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_release((void *)(uintptr_t)at);
#endif
    wndl_annotate_ask(WNDL_ASK_HAPPENS_BEFORE, at, 0, 0, 0);
}

/*
 * What this thread does from now on happens after all
 * wndl_annotate_happens_before() of this address so far: to be called after a
 * message has been received. Without one before, it says nothing.
 */
static inline void wndl_annotate_happens_after(const volatile void *at)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_acquire((void *)(uintptr_t)at);
#endif
    wndl_annotate_ask(WNDL_ASK_HAPPENS_AFTER, at, 0, 0, 0);
}

/*
 * Forgets what was said of this address, so that Helgrind's memory does not
 * grow with each address that a program used once. DRD and ThreadSanitizer
 * cannot forget; nothing is wrong there, only kept.
 */
static inline void wndl_annotate_happens_forget(const volatile void *at)
{
    wndl_annotate_ask(WNDL_ASK_FORGET, at, 0, 0, 0);
}

/* ---- bytes that threads share */

/*
 * The `size` bytes at `start` are accessed by atomic instructions only: the
 * word of a lock, a counter, the head of a queue. To be called before threads
 * share them. It holds until they are freed, or wndl_annotate_unshared().
 */
static inline void wndl_annotate_shared(const volatile void *start, size_t size)
{
    wndl_annotate_ask(WNDL_ASK_HELGRIND_UNTRACKED, start, size, 0, 0);
    wndl_annotate_ask(WNDL_ASK_DRD_SUPPRESSED, start, size, 0, 0);
}

/* Ends wndl_annotate_shared() or wndl_annotate_benign_race() of these bytes. */
static inline void wndl_annotate_unshared(
    const volatile void *start, size_t size)
{
    wndl_annotate_ask(WNDL_ASK_HELGRIND_TRACKED, start, size, 0, 0);
    wndl_annotate_ask(WNDL_ASK_DRD_NOT_SUPPRESSED, start, size, 0, 0);
}

/*
 * Races for the `size` bytes at `start` are meant and do no harm. `reason` says
 * why, for readers of the source; a static string, not NULL. The standards of C
 * and C++ know no benign races: an atomic object with relaxed accesses is
 * better where it is possible.
 */
static inline void wndl_annotate_benign_race(
    const volatile void *start, size_t size, const char *reason)
{
#if defined(WNDL_ANNOTATE_TSAN)
    AnnotateBenignRaceSized(__FILE__, __LINE__, start, size, reason);
#else
    (void)reason;
#endif
    wndl_annotate_shared(start, size);
}

/* ---- locks: mutexes, spin locks and reader-writer locks */

/*
 * A lock that the program makes itself begins its life. `lock` is its address,
 * of `size` bytes that are accessed by atomic instructions only; what the lock
 * guards is not in them. To be called before threads share it.
 */
static inline void wndl_annotate_lock_create(
    const volatile void *lock, size_t size)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_mutex_create((void *)(uintptr_t)lock, 0);
#endif
    wndl_annotate_shared(lock, size);
    wndl_annotate_ask(WNDL_ASK_RWLOCK_CREATE, lock, 0, 0, 0);
}

/* A lock ends its life, while nobody holds it. */
static inline void wndl_annotate_lock_destroy(
    const volatile void *lock, size_t size)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_mutex_destroy((void *)(uintptr_t)lock, 0);
#endif
    wndl_annotate_ask(WNDL_ASK_RWLOCK_DESTROY, lock, 0, 0, 0);
    wndl_annotate_unshared(lock, size);
}

/*
 * This thread has just got the lock, after waiting or by a try that succeeded.
 * From then on it happens after each release in a mode that excludes this one.
 * A lock that one thread takes several times is annotated the first time only.
 */
static inline void wndl_annotate_lock_acquired(
    const volatile void *lock, enum wndl_lock_mode mode)
{
#if defined(WNDL_ANNOTATE_TSAN)
    const unsigned flags = mode == WNDL_LOCK_SHARED ? 8u : 0u;
    __tsan_mutex_pre_lock((void *)(uintptr_t)lock, flags);
    __tsan_mutex_post_lock((void *)(uintptr_t)lock, flags, 0);
#endif
    wndl_annotate_ask(WNDL_ASK_RWLOCK_ACQUIRED, lock, (uintptr_t)mode, 0, 0);
}

/* This thread, which holds the lock in this mode, is about to give it back. */
static inline void wndl_annotate_lock_releasing(
    const volatile void *lock, enum wndl_lock_mode mode)
{
#if defined(WNDL_ANNOTATE_TSAN)
    const unsigned flags = mode == WNDL_LOCK_SHARED ? 8u : 0u;
    (void)__tsan_mutex_pre_unlock((void *)(uintptr_t)lock, flags);
    __tsan_mutex_post_unlock((void *)(uintptr_t)lock, flags);
#endif
    wndl_annotate_ask(WNDL_ASK_RWLOCK_RELEASED, lock, (uintptr_t)mode, 0, 0);
}

/* ---- reference counts */

/*
 * This thread is about to give up a reference: before it subtracts one. `count`
 * is the address of the count, which only atomic additions and subtractions
 * change; one with plain stores is to be named by wndl_annotate_shared(), too.
 */
static inline void wndl_annotate_ref_dropping(const volatile void *count)
{
    wndl_annotate_happens_before(count);
}

/*
 * This thread gave up the last reference: after the subtraction to zero, and
 * before it frees what was counted.
 */
static inline void wndl_annotate_ref_last(const volatile void *count)
{
    wndl_annotate_happens_after(count);
    wndl_annotate_happens_forget(count);
}

/* ---- allocators: Memcheck's pools, blocks and states of memory */

/*
 * A pool begins: `pool` is any address that stands for it. `redzone` bytes
 * before and after each block belong to nobody. Blocks are zero if `is_zeroed`.
 * The memory of the pool itself is to be made wndl_annotate_no_access().
 */
static inline void wndl_annotate_pool_create(
    const volatile void *pool, size_t redzone, bool is_zeroed)
{
    wndl_annotate_ask(
        WNDL_ASK_POOL_CREATE, pool, redzone, (uintptr_t)is_zeroed, 0);
}

/* A pool ends, with all its blocks. */
static inline void wndl_annotate_pool_destroy(const volatile void *pool)
{
    wndl_annotate_ask(WNDL_ASK_POOL_DESTROY, pool, 0, 0, 0);
}

/*
 * The pool gives out the `size` bytes at `block`: before the caller gets them.
 * Helgrind and DRD forget who used these bytes before.
 */
static inline void wndl_annotate_pool_alloc(
    const volatile void *pool, const volatile void *block, size_t size)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_acquire((void *)(uintptr_t)block);
#endif
    wndl_annotate_ask(WNDL_ASK_CLEAN_MEMORY, block, size, 0, 0);
    wndl_annotate_ask(WNDL_ASK_POOL_ALLOC, pool, (uintptr_t)block, size, 0);
}

/* The pool takes back a block, which nobody may access from now on. */
static inline void wndl_annotate_pool_free(
    const volatile void *pool, const volatile void *block)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_release((void *)(uintptr_t)block);
#endif
    wndl_annotate_ask(WNDL_ASK_POOL_FREE, pool, (uintptr_t)block, 0, 0);
}

/*
 * An allocator beside malloc gives out the `size` bytes at `block`, which are
 * checked for leaks like malloc's. `redzone` and `is_zeroed` as for a pool.
 */
static inline void wndl_annotate_block_alloc(
    const volatile void *block, size_t size, size_t redzone, bool is_zeroed)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_acquire((void *)(uintptr_t)block);
#endif
    wndl_annotate_ask(WNDL_ASK_CLEAN_MEMORY, block, size, 0, 0);
    wndl_annotate_ask(
        WNDL_ASK_BLOCK_ALLOC, block, size, redzone, (uintptr_t)is_zeroed);
}

/* It takes back a block, which had this `redzone`. */
static inline void wndl_annotate_block_free(
    const volatile void *block, size_t redzone)
{
#if defined(WNDL_ANNOTATE_TSAN)
    __tsan_release((void *)(uintptr_t)block);
#endif
    wndl_annotate_ask(WNDL_ASK_BLOCK_FREE, block, redzone, 0, 0);
}

/* Nobody may access these bytes. */
static inline void wndl_annotate_no_access(
    const volatile void *start, size_t size)
{
    wndl_annotate_ask(WNDL_ASK_NO_ACCESS, start, size, 0, 0);
}

/* These bytes may be accessed; their values are not defined. */
static inline void wndl_annotate_undefined(
    const volatile void *start, size_t size)
{
    wndl_annotate_ask(WNDL_ASK_UNDEFINED, start, size, 0, 0);
}

/* These bytes have values, such as those that a device has written. */
static inline void wndl_annotate_defined(
    const volatile void *start, size_t size)
{
    wndl_annotate_ask(WNDL_ASK_DEFINED, start, size, 0, 0);
}

#ifdef __cplusplus
}
#endif

#endif
