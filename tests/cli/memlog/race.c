/* SPDX-License-Identifier: MIT */
/*
 *     race
 *
 * Four threads log; with -DPLANTED they race for a variable of the program.
 */
#include <pthread.h>
#include <stdint.h>
#include <windlass/memlog.h>

enum { THREADS = 4, EVENTS = 300 };

static struct wndl_memlog_type collected = {
    "gc", WNDL_MEMLOG_COLLECTION, 0, {{"generation", ""}}, {0, 0}};
static struct wndl_memlog_type few = {
    "few", WNDL_MEMLOG_OTHER, 10, {{NULL, NULL}}, {0, 0}};

#ifdef PLANTED
static volatile int64_t planted;
#endif

static void *work(void *unused)
{
    (void)unused;
    for (int64_t i = 0; i < EVENTS; i++) {
        int64_t numbers[4] = {i, i / 2, 3, 4};
#ifdef PLANTED
        numbers[0] = planted++;
#endif
        wndl_memlog_append(&collected, numbers, 4);
        wndl_memlog_append_text(&collected, numbers, 4, "a further slot");
        wndl_memlog_append_text(&few, numbers, 0, "at most 10 a second");
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return !wndl_memlog_active();
}
