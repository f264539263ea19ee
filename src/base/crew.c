/* SPDX-License-Identifier: MIT */
#include "base/crew.h"

#include <sched.h>
#include <signal.h>

enum { MOST = 64 };

unsigned wndl_crew_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

struct member {
    void (*work)(void *context, unsigned member);
    void *context;
    unsigned number;
    pthread_t thread;
};

static void *start(void *context)
{
    struct member *member = context;
    member->work(member->context, member->number);
    return NULL;
}

void wndl_crew_run(unsigned wanted,
    void (*work)(void *context, unsigned member), void *context)
{
    struct member members[MOST];
    unsigned count = 1;
    sigset_t all, before;
    if (wanted > MOST)
        wanted = MOST;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; count < wanted; count++) {
        struct member *member = &members[count];
        *member = (struct member){work, context, count, 0};
        if (pthread_create(&member->thread, NULL, start, member) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(context, 0);
    for (unsigned i = 1; i < count; i++)
        pthread_join(members[i].thread, NULL);
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
