/* SPDX-License-Identifier: MIT */
#include "base/workers.h"

#include <sched.h>
#include <signal.h>

enum { MOST = 64 };

unsigned wndl_workers_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

struct worker {
    void (*work)(void *context, unsigned index);
    void *context;
    unsigned index;
    pthread_t thread;
};

static void *start(void *context)
{
    struct worker *worker = context;
    worker->work(worker->context, worker->index);
    return NULL;
}

void wndl_workers_run(
    unsigned wanted, void (*work)(void *context, unsigned index), void *context)
{
    struct worker workers[MOST];
    unsigned count = 1;
    sigset_t all, before;
    if (wanted > MOST)
        wanted = MOST;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; count < wanted; count++) {
        struct worker *worker = &workers[count];
        *worker = (struct worker){work, context, count, 0};
        if (pthread_create(&worker->thread, NULL, start, worker) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(context, 0);
    for (unsigned i = 1; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

static void *resize(struct wndl_mem *mem, void *old, size_t size)
{
    struct wndl_shared_mem *shared = (struct wndl_shared_mem *)mem;
    pthread_mutex_lock(&shared->lock);
    void *p = shared->real->resize(shared->real, old, size);
    pthread_mutex_unlock(&shared->lock);
    return p;
}

void wndl_shared_mem_init(struct wndl_shared_mem *shared, struct wndl_mem *real)
{
    shared->mem.resize = resize;
    shared->real = real;
    pthread_mutex_init(&shared->lock, NULL);
}
