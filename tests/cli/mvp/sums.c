/* SPDX-License-Identifier: MIT */
/* sums: adds up a million numbers that are 0 or 1, twice. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { COUNT = 1000000 };
    int *bits = malloc(COUNT * sizeof *bits);
    long sum = 0;
    if (bits == NULL)
        return 1;
    for (int i = 0; i < COUNT; i++)
        bits[i] = i & 1;
    for (int i = 0; i < COUNT; i++)
        sum += bits[i]; /* first */
    for (int i = 0; i < COUNT; i++)
        sum -= 2L * bits[i]; /* second */
    printf("%ld\n", sum);
    free(bits);
    return 0;
}
