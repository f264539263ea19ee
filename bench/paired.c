/* SPDX-License-Identifier: MIT */
/*
 * paired: runs several commands in turn, A B C A B C ...
 *
 *     paired ROUNDS 'name=command' 'name=command' ...
 *
 * It prints the CPU time (user + system, of the whole process tree that was
 * waited for) of each as median and range, and as median of the per-round
 * ratios to A; then the most memory that one of its processes had at a time
 * (VmHWM). On a machine that other work shares, trust the ratios inside a
 * round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_COMMANDS = 16, MAX_ROUNDS = 200 };

struct contender {
    const char *name;
    const char *command;
    double cpu[MAX_ROUNDS];
    double wall[MAX_ROUNDS];
    double ratio[MAX_ROUNDS];
    double peak; /* MiB, the largest of all rounds */
};

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run_once(struct contender *c, int round)
{
    double start = now();
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", c->command, (char *)NULL);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0 || status != 0) {
        fprintf(stderr, "paired: failed: %s\n", c->command);
        exit(1);
    }
    c->wall[round] = now() - start;
    c->cpu[round] = seconds(used.ru_utime) + seconds(used.ru_stime);
    double peak = (double)used.ru_maxrss / 1024;
    c->peak = peak > c->peak ? peak : c->peak;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of ascending values; of an even number of them, the mean of the middle two.
 */
static double median(const double *sorted, int count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void show(struct contender *c, int rounds)
{
    qsort(c->cpu, (size_t)rounds, sizeof(double), ascending);
    qsort(c->wall, (size_t)rounds, sizeof(double), ascending);
    qsort(c->ratio, (size_t)rounds, sizeof(double), ascending);
    printf("%-24s %7.3f [%.3f-%.3f] %7.3f %6.3fx [%.3f-%.3f] %6.0f\n", c->name,
        median(c->cpu, rounds), c->cpu[0], c->cpu[rounds - 1],
        median(c->wall, rounds), median(c->ratio, rounds), c->ratio[0],
        c->ratio[rounds - 1], c->peak);
}

static int parse_contenders(struct contender *c, char **argv)
{
    int count = 0;
    for (; argv[count] != NULL && count < MAX_COMMANDS; count++) {
        char *equals = strchr(argv[count], '=');
        if (equals == NULL)
            return 0;
        *equals = '\0';
        c[count].name = argv[count];
        c[count].command = equals + 1;
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct contender contenders[MAX_COMMANDS];
    int rounds = argc > 2 ? atoi(argv[1]) : 0;
    int count = argc > 2 ? parse_contenders(contenders, argv + 2) : 0;
    if (rounds < 1 || rounds > MAX_ROUNDS || count == 0) {
        fprintf(stderr, "usage: paired ROUNDS 'name=command' ...\n");
        return 2;
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++)
            run_once(&contenders[i], round);
        for (int i = 0; i < count; i++)
            contenders[i].ratio[round] =
                contenders[i].cpu[round] / contenders[0].cpu[round];
    }
    printf("%-24s %7s %15s %7s %7s %15s %6s  (%d rounds: median [min-max])\n",
        "", "cpu s", "", "wall s", "ratio", "", "MiB", rounds);
    for (int i = 0; i < count; i++)
        show(&contenders[i], rounds);
    return 0;
}
