/* SPDX-License-Identifier: MIT */
/* busy [SECONDS]: uses the CPU and holds memory, so long. */
#include <stdlib.h>
#include <time.h>

static volatile long sum;
static void *volatile held;

static __attribute__((noinline)) void turn(void)
{
    for (long i = 0; i < 1000000; i++)
        sum += i;
}

static __attribute__((noinline)) void work(void)
{
    turn();
}

static __attribute__((noinline)) void hold(void)
{
    held = malloc(123456);
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 60);
    hold();
    while (time(NULL) < end)
        work();
    return 0;
}
