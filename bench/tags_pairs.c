/* SPDX-License-Identifier: MIT */
/*
 * tags_pairs PAIRS THREADS [TAG]: makes pairs of malloc and free in each
 * thread, of blocks of 16 to 256 bytes that are in the cache. With TAG each
 * thread opens it. Prints ns per pair, of the CPU time of all threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <windlass/memory_tag.h>

enum { LIVE = 64, MOST_THREADS = 64 };

static unsigned long pairs;
static const char *tag;

/* A block lives until LIVE others are made. */
static void *work(void *context)
{
    void *live[LIVE] = {NULL};
    if (tag != NULL)
        wndl_memory_tag(tag);
    for (unsigned long i = 0; i < pairs; i++) {
        void **at = &live[i % LIVE];
        free(*at);
        *at = malloc(16 + i * 48 % 240);
    }
    for (int i = 0; i < LIVE; i++)
        free(live[i]);
    if (tag != NULL)
        wndl_memory_untag();
    return context;
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **arguments)
{
    pthread_t threads[MOST_THREADS];
    if (count < 3)
        return 2;
    pairs = strtoul(arguments[1], NULL, 10);
    unsigned long n = strtoul(arguments[2], NULL, 10);
    n = n < MOST_THREADS ? n : MOST_THREADS;
    tag = count > 3 ? arguments[3] : NULL;
    const double start = cpu_ns();
    for (unsigned long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (unsigned long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%.2f\n", (cpu_ns() - start) / (double)(pairs * n));
    return 0;
}
