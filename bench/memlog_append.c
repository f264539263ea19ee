/* SPDX-License-Identifier: MIT */
/*
 *     memlog_append KIND THREADS EVENTS
 *
 * Prints the CPU time of an event in ns, over all threads and with their system
 * calls. KIND is one of
 *
 *     clock     only reads the processor's clock
 *     append    an event of four numbers in the memory event log
 *     text      the same with a text of 22 bytes
 *     off       append, where WINDLASS_MEMLOG=off
 *     write     the same numbers as a line, written to the file `written`
 *     syslog    the same line to syslog()
 *     lttng     a tracepoint of LTTng-UST with four numbers (with -DLTTNG)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <windlass/memlog.h>
#ifdef LTTNG
#include "memlog_lttng.h"
#endif

enum { MOST_THREADS = 64 };

static struct wndl_memlog_type collected = {
    "gc", WNDL_MEMLOG_COLLECTION, 0, {{"generation", ""}}, {0, 0}};

static uint64_t events;
static int file;
static volatile uint64_t sink;

static void read_clock(void)
{
    uint64_t sum = 0;
    const uint32_t clock = wndl_memlog_choose_clock();
    for (uint64_t i = 0; i < events; i++)
        sum += wndl_memlog_clock_ticks(clock);
    sink = sum;
}

static void append(void)
{
    for (uint64_t i = 0; i < events; i++) {
        const int64_t numbers[] = {(int64_t)i, (int64_t)i / 2, 38, 2};
        wndl_memlog_append(&collected, numbers, 4);
    }
}

static void append_text(void)
{
    for (uint64_t i = 0; i < events; i++) {
        const int64_t numbers[] = {(int64_t)i, (int64_t)i / 2, 38, 2};
        wndl_memlog_append_text(
            &collected, numbers, 4, "extension Xyzzy loaded");
    }
}

static int print_line(char line[100], uint64_t i)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return snprintf(line, 100, "%ld.%09ld gc %" PRIu64 " %" PRIu64 " 38 2\n",
        (long)now.tv_sec, now.tv_nsec, i, i / 2);
}

static void write_lines(void)
{
    char line[100];
    for (uint64_t i = 0; i < events; i++) {
        const int size = print_line(line, i);
        if (write(file, line, (size_t)size) != size)
            abort();
    }
}

static void log_lines(void)
{
    for (uint64_t i = 0; i < events; i++)
        syslog(LOG_DEBUG, "gc %" PRIu64 " %" PRIu64 " 38 2", i, i / 2);
}

#ifdef LTTNG
static void trace(void)
{
    for (uint64_t i = 0; i < events; i++)
        lttng_ust_tracepoint(memlog, gc, (int64_t)i, (int64_t)i / 2, 38, 2);
}
#endif

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    {"clock", read_clock},
    {"append", append},
    {"text", append_text},
    {"off", append},
    {"write", write_lines},
    {"syslog", log_lines},
#ifdef LTTNG
    {"lttng", trace},
#endif
};

static void *run_thread(void *context)
{
    const size_t *kind = context;
    kinds[*kind].run();
    return NULL;
}

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure(size_t kind, int threads)
{
    pthread_t all[MOST_THREADS];
    const double before = cpu_ns();
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&all[i], NULL, run_thread, &kind) != 0)
            abort();
    }
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    return (cpu_ns() - before) / (double)events / threads;
}

int main(int count, char **words)
{
    size_t kind = 0;
    const size_t all = sizeof kinds / sizeof *kinds;
    while (count == 4 && kind < all && strcmp(kinds[kind].name, words[1]) != 0)
        kind++;
    const int threads = count == 4 ? atoi(words[2]) : 0;
    if (count != 4 || kind == all || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: memlog_append KIND THREADS EVENTS\n");
        return 2;
    }
    if (strcmp(words[1], "off") == 0)
        setenv("WINDLASS_MEMLOG", "off", 1);
    file = open("written", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    events = 1;
    (void)measure(kind, 1); /* opens what has to be */
    events = strtoull(words[3], NULL, 10);
    printf("%.2f\n", measure(kind, threads));
    unlink("written");
    return 0;
}
