/* SPDX-License-Identifier: MIT */
/*
 * attach_threads THREADS: that many threads, each some calls deep. Two of them
 * run, the others wait. It prints "ready PID", and ends when its standard input
 * does.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH = 20, RUNNING = 2, HEAP = 64 * 1024 * 1024 };

static atomic_int arrived;
static volatile unsigned long sink;
static int pipes[2];
static uint32_t *volatile kept;

__attribute__((noinline)) static void wait_or_run(intptr_t number)
{
    char byte;
    atomic_fetch_add(&arrived, 1);
    while (number < RUNNING)
        sink++;
    if (read(pipes[0], &byte, 1) < 0)
        abort();
    sink++;
}

__attribute__((noinline)) static void descend(int depth, intptr_t number)
{
    volatile char room[200];
    room[depth] = 1;
    if (depth == 0)
        wait_or_run(number);
    else
        descend(depth - 1, number);
    sink += (unsigned long)room[depth];
}

static void *body(void *number)
{
    descend(DEPTH, (intptr_t)number);
    return NULL;
}

/* Memory that does not become nothing when it is compressed. */
static void fill(void)
{
    uint32_t *heap = malloc(HEAP), value = 1;
    for (size_t i = 0; heap != NULL && i < HEAP / sizeof *heap; i++) {
        value = value * 1664525 + 1013904223;
        heap[i] = value >> 24;
    }
    kept = heap;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 1;
    if (pipe(pipes) != 0)
        return 1;
    fill();
    for (intptr_t i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, body, (void *)i) != 0)
            return 1;
    }
    while (atomic_load(&arrived) < count)
        usleep(1000);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
