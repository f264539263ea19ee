/* SPDX-License-Identifier: MIT */
#include "rt/tags/amounts.h"

#include "os/raw.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* A thread's. They are never given back. */
struct wndl_rt_amounts {
    struct wndl_rt_amounts *next;
    _Atomic bool is_taken;
    _Alignas(64) struct wndl_rt_amount amounts[WNDL_TAGS];
};

__thread struct wndl_rt_amount *wndl_rt_amounts_here;

static __thread struct wndl_rt_amounts *own;
static __thread bool has_ended;

static _Atomic(struct wndl_rt_amounts *) first;
static struct wndl_rt_amount common[WNDL_TAGS]; /* of threads without own */
static pthread_key_t end_key; /* the value is a number of rounds */
static _Atomic bool has_end_key;

static struct wndl_rt_amounts *make(void)
{
    struct wndl_rt_amounts *made =
        wndl_raw_map(sizeof *made, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (made == NULL)
        return NULL;
    atomic_init(&made->is_taken, true);
    made->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &made->next, made))
        ;
    return made;
}

static struct wndl_rt_amounts *take(void)
{
    for (struct wndl_rt_amounts *a = atomic_load(&first); a != NULL;
         a = a->next) {
        if (!atomic_load_explicit(&a->is_taken, memory_order_relaxed) &&
            !atomic_exchange(&a->is_taken, true))
            return a;
    }
    return make();
}

/*
 * Destructors are called in rounds, as long as a value is set: the last round
 * is ours.
 */
static void on_end(void *round)
{
    const uintptr_t number = (uintptr_t)round;
    if (number < PTHREAD_DESTRUCTOR_ITERATIONS) {
        (void)pthread_setspecific(end_key, (void *)(number + 1));
        return;
    }
    struct wndl_rt_amounts *mine = own;
    has_ended = true;
    own = NULL;
    wndl_rt_amounts_here = NULL;
    if (mine != NULL)
        atomic_store_explicit(&mine->is_taken, false, memory_order_release);
}

/* Setting the key may allocate a tagged block, which comes here again. */
static bool take_own(void)
{
    if (has_ended || !atomic_load(&has_end_key))
        return false;
    has_ended = true;
    own = take();
    if (own != NULL && pthread_setspecific(end_key, (void *)1) != 0) {
        atomic_store(&own->is_taken, false);
        own = NULL;
    }
    has_ended = own == NULL;
    wndl_rt_amounts_here = own == NULL ? NULL : own->amounts;
    return own != NULL;
}

void wndl_rt_amounts_add_first(uint32_t tag, struct wndl_rt_amount amount)
{
    if (take_own()) {
        wndl_rt_amounts_add(tag, amount);
        return;
    }
    __atomic_fetch_add(&common[tag].bytes, amount.bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&common[tag].blocks, amount.blocks, __ATOMIC_RELAXED);
}

static void sum(struct wndl_rt_amount *to, const struct wndl_rt_amount *from)
{
    to->bytes += __atomic_load_n(&from->bytes, __ATOMIC_RELAXED);
    to->blocks += __atomic_load_n(&from->blocks, __ATOMIC_RELAXED);
}

struct wndl_rt_amount wndl_rt_amounts_of(uint32_t tag)
{
    struct wndl_rt_amount all = {0, 0};
    sum(&all, &common[tag]);
    for (const struct wndl_rt_amounts *a = atomic_load(&first); a != NULL;
         a = a->next)
        sum(&all, &a->amounts[tag]);
    return all;
}

void wndl_rt_amounts_start(void)
{
    atomic_store(&has_end_key, pthread_key_create(&end_key, on_end) == 0);
}

void wndl_rt_amounts_after_fork(void)
{
    for (struct wndl_rt_amounts *a = atomic_load(&first); a != NULL;
         a = a->next)
        atomic_store(&a->is_taken, a == own);
}
