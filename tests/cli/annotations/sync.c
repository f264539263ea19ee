/* SPDX-License-Identifier: MIT */
/*
 *     sync OMITTED spin|ref|rwlock|queue...
 *
 * Synchronisation of atomics and fences, which none of Helgrind, DRD and
 * ThreadSanitizer sees, annotated. OMITTED is the number of an annotation
 * to leave out (1, 2, ...), 0 for none, or "planted" for a race that nothing
 * orders.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/annotate.h>

enum { THREADS = 3, ROUNDS = 100, SLOTS = 8 };

static int omitted; /* -1: none is, but there is a race */
static volatile int planted;

#define SAY(number, annotation)                                                \
    do {                                                                       \
        if (omitted != (number))                                               \
            annotation;                                                        \
    } while (0)

static void acquire_fence(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void release_fence(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void race(void)
{
    if (omitted == -1)
        planted = planted + 1;
}

static void run(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- a spin lock */

static int held, guarded;

static void *use_spin(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (__atomic_exchange_n(&held, 1, __ATOMIC_RELAXED))
            sched_yield();
        acquire_fence();
        SAY(2, wndl_annotate_lock_acquired(&held, WNDL_LOCK_EXCLUSIVE));
        guarded++;
        SAY(3, wndl_annotate_lock_releasing(&held, WNDL_LOCK_EXCLUSIVE));
        release_fence();
        __atomic_store_n(&held, 0, __ATOMIC_RELAXED);
        race();
    }
    return unused;
}

static int spin(void)
{
    SAY(1, wndl_annotate_lock_create(&held, sizeof held));
    run(use_spin);
    wndl_annotate_lock_destroy(&held, sizeof held);
    return guarded != THREADS * ROUNDS;
}

/* ---- a reference count */

static struct counted {
    int refs;
    int parts[THREADS];
    int sum;
} * counted;
static int sum_of_last;

static void *use_ref(void *number)
{
    struct counted *c = counted;
    c->parts[(uintptr_t)number] = 1;
    race();
    SAY(1, wndl_annotate_ref_dropping(&c->refs));
    if (__atomic_fetch_sub(&c->refs, 1, __ATOMIC_RELEASE) == 1) {
        acquire_fence();
        SAY(2, wndl_annotate_ref_last(&c->refs));
        for (int i = 0; i < THREADS; i++)
            c->sum += c->parts[i];
        sum_of_last = c->sum;
        free(c);
    }
    return NULL;
}

static int ref(void)
{
    counted = calloc(1, sizeof *counted);
    counted->refs = THREADS;
    run(use_ref);
    return sum_of_last != THREADS;
}

/* ---- a reader-writer lock: -1 is a writer, else the number of readers */

static int users, value;

static void *use_rwlock(void *number)
{
    int seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const bool writes = (i + (int)(uintptr_t)number) % THREADS == 0;
        int now = 0;
        while (writes ? now = 0, !__atomic_compare_exchange_n(&users, &now, -1,
                                     false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
                      : now < 0 ||
                            !__atomic_compare_exchange_n(&users, &now, now + 1,
                                false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            sched_yield();
            now = __atomic_load_n(&users, __ATOMIC_RELAXED);
        }
        acquire_fence();
        if (writes) {
            SAY(2, wndl_annotate_lock_acquired(&users, WNDL_LOCK_EXCLUSIVE));
            value++;
            SAY(3, wndl_annotate_lock_releasing(&users, WNDL_LOCK_EXCLUSIVE));
        } else {
            SAY(4, wndl_annotate_lock_acquired(&users, WNDL_LOCK_SHARED));
            seen += value;
            SAY(5, wndl_annotate_lock_releasing(&users, WNDL_LOCK_SHARED));
        }
        release_fence();
        if (writes)
            __atomic_store_n(&users, 0, __ATOMIC_RELAXED);
        else
            __atomic_fetch_sub(&users, 1, __ATOMIC_RELAXED);
        race();
    }
    return seen < 0 ? number : NULL;
}

static int rwlock(void)
{
    SAY(1, wndl_annotate_lock_create(&users, sizeof users));
    run(use_rwlock);
    wndl_annotate_lock_destroy(&users, sizeof users);
    return value != ROUNDS;
}

/* ---- a queue of one producer and one consumer */

static struct {
    unsigned written, read;
    int slots[SLOTS];
} queue;
static int received;

static void *produce(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        while (i - __atomic_load_n(&queue.read, __ATOMIC_RELAXED) == SLOTS)
            sched_yield();
        acquire_fence();
        SAY(4, wndl_annotate_happens_after(&queue.read));
        queue.slots[i % SLOTS] = 1;
        SAY(2, wndl_annotate_happens_before(&queue.written));
        release_fence();
        __atomic_store_n(&queue.written, i + 1, __ATOMIC_RELAXED);
        race();
    }
    return unused;
}

static void *consume(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&queue.written, __ATOMIC_RELAXED) == i)
            sched_yield();
        acquire_fence();
        SAY(3, wndl_annotate_happens_after(&queue.written));
        received += queue.slots[i % SLOTS];
        SAY(5, wndl_annotate_happens_before(&queue.read));
        release_fence();
        __atomic_store_n(&queue.read, i + 1, __ATOMIC_RELAXED);
        race();
    }
    return unused;
}

static int pass(void)
{
    pthread_t threads[2];
    SAY(1, wndl_annotate_shared(&queue.written, 2 * sizeof queue.written));
    pthread_create(&threads[0], NULL, produce, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return received != ROUNDS;
}

static int use(const char *what)
{
    return strcmp(what, "spin") == 0     ? spin()
           : strcmp(what, "ref") == 0    ? ref()
           : strcmp(what, "rwlock") == 0 ? rwlock()
           : strcmp(what, "queue") == 0  ? pass()
                                         : 2;
}

int main(int argc, char **argv)
{
    int status = argc < 3 ? 2 : 0;
    if (argc > 1)
        omitted = strcmp(argv[1], "planted") == 0 ? -1 : atoi(argv[1]);
    for (int i = 2; i < argc && status == 0; i++)
        status = use(argv[i]);
    return status;
}
