/* SPDX-License-Identifier: MIT */
/* crash KIND: ends with a core, in functions of known names. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int sink;
static int pipes[2];
static atomic_int sleeping; /* the number of a thread that is about to */

__attribute__((noinline)) static void poke(int *address)
{
    *address = 1;
    sink++;
}

static inline __attribute__((always_inline)) void poke_field(int *record)
{
    poke(record + 4);
}

static int is_blocked(int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = tid == 0 ? NULL : fopen(path, "r");
    if (file == NULL)
        return 0;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'S';
}

/* The main thread waits for this one before it crashes. */
static void *worker(void *record)
{
    while (!is_blocked(getpid()))
        usleep(1000);
    poke_field(record);
    sink++;
    return NULL;
}

static void *sleeper(void *unused)
{
    char byte;
    atomic_store(&sleeping, (int)syscall(SYS_gettid));
    if (read(pipes[0], &byte, 1) < 0)
        abort();
    return unused;
}

static int by_null(void)
{
    pthread_t threads[2];
    if (pipe(pipes) != 0 ||
        pthread_create(&threads[0], NULL, sleeper, NULL) != 0)
        return 1;
    while (!is_blocked(atomic_load(&sleeping)))
        usleep(1000);
    return pthread_create(&threads[1], NULL, worker, NULL) != 0 ||
           pthread_join(threads[1], NULL) != 0;
}

__attribute__((noinline)) static void call_it(void (*function)(void))
{
    function();
    sink++;
}

/* Code that was never there. */
static int by_jump(void)
{
    void (*volatile nowhere)(void) = (void (*)(void))0x123456789aUL;
    call_it(nowhere);
    return sink;
}

__attribute__((noinline)) static int dive(int depth)
{
    volatile char room[1000];
    room[depth % 1000] = (char)depth;
    return dive(depth + 1) + room[depth % 1000];
}

/* The return address, and those of callers, become letters. */
__attribute__((noinline, noclone)) static void smash(size_t size)
{
    volatile char room[16];
    for (size_t i = 0; i < size; i++)
        room[i] = 'A';
    sink++;
}

__attribute__((noinline)) static int divide(int by)
{
    return 7 / by;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    volatile int zero = 0;
    if (strcmp(kind, "null") == 0)
        return by_null();
    if (strcmp(kind, "jump") == 0)
        return by_jump();
    if (strcmp(kind, "overflow") == 0)
        return dive(0);
    if (strcmp(kind, "smash") == 0)
        smash(200);
    if (strcmp(kind, "divide") == 0)
        return divide(zero);
    if (strcmp(kind, "abort") == 0)
        abort();
    return sink;
}
