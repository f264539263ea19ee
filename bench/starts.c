/* SPDX-License-Identifier: MIT */
/*
 * starts: starts a program again and again, each time after the last has ended.
 *
 *     starts COUNT PROGRAM [ARGUMENT...]
 *
 * It prints, for a process, the tenth percentile of wall time in us, and the
 * mean CPU time in us and number of page faults.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double micros(struct timeval t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

/* Returns its wall time in us, or a negative number. */
static double start_one(char **command)
{
    pid_t child;
    int status;
    double begin = now();
    if (posix_spawnp(&child, command[0], NULL, NULL, command, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0)
        return -1;
    return now() - begin;
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    double *times = count > 0 ? calloc((size_t)count, sizeof *times) : NULL;
    if (times == NULL) {
        fprintf(stderr, "usage: starts COUNT PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    for (long i = 0; i < count; i++) {
        times[i] = start_one(argv + 2);
        if (times[i] < 0)
            return 1;
    }
    qsort(times, (size_t)count, sizeof *times, ascending);
    struct rusage all;
    getrusage(RUSAGE_CHILDREN, &all);
    printf("%.1f %.1f %.1f\n", times[count / 10],
        (micros(all.ru_utime) + micros(all.ru_stime)) / (double)count,
        (double)all.ru_minflt / (double)count);
    free(times);
    return 0;
}
