/* SPDX-License-Identifier: MIT */
/*
 * A program whose calls for memory are known, and which does not know the log.
 *
 *     calls            each kind of call once
 *     calls grow       64 MiB by malloc() between two bytes of standard input
 *     calls leak       80 MiB in ten mappings
 *     calls kill N     ends by a signal
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1024 * 1024 };

extern char **environ;

static void *map(size_t size, int protection)
{
    return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *say_thread(void *context)
{
    return context;
}

static void make_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 3 * MIB);
    if (pthread_create(&thread, &attributes, say_thread, NULL) != 0)
        _exit(90);
    pthread_join(thread, NULL);
}

static void start_others(void)
{
    char name[] = "true";
    char *arguments[] = {name, NULL};
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    if (posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) == 0)
        waitpid(pid, NULL, 0);
}

static void call_all(void)
{
    char *memory = map(8 * MIB, PROT_READ | PROT_WRITE);
    memset(memory, 1, 8 * MIB);
    madvise(memory, 4 * MIB, MADV_DONTNEED);
    memory = mremap(memory, 8 * MIB, 12 * MIB, MREMAP_MAYMOVE);
    memory = mremap(memory, 12 * MIB, 10 * MIB, MREMAP_MAYMOVE);
    munmap(memory, 10 * MIB);
    map(5 * MIB, PROT_READ | PROT_WRITE | PROT_EXEC);
    map(100 * MIB, PROT_NONE);
    map(4096, PROT_READ | PROT_WRITE);
    for (int i = 0; i < 16; i++)
        if (sbrk(MIB / 16) == (void *)-1)
            _exit(91);
    malloc_trim(0);
    make_thread();
    start_others();
}

static int grow(void)
{
    const int first = getchar();
    char *memory = malloc(64 * MIB);
    memset(memory, first, 64 * MIB);
    const int second = getchar();
    free(memory);
    return first + second == EOF;
}

static int leak(void)
{
    for (int i = 0; i < 10; i++)
        memset(map(8 * MIB, PROT_READ | PROT_WRITE), 1, 8 * MIB);
    return 0;
}

int main(int count, char **arguments)
{
    if (count == 1)
        call_all();
    if (count == 2)
        return arguments[1][0] == 'l' ? leak() : grow();
    if (count == 3)
        raise(atoi(arguments[2]));
    return 7;
}
