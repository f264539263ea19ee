/* SPDX-License-Identifier: MIT */
/*
 * addresses: picks addresses of code for bench/symbolize, the same each time.
 *
 *     nm -S --defined-only FILE | addresses COUNT
 *     nm -S --defined-only FILE | addresses each
 *     addresses frames PATH BASE
 *
 * The first form picks COUNT random bytes of functions, each function as often
 * as it is long. The second picks the middle byte of each function. The third
 * reads addresses and prints them as stack frames in PATH, which is linked to
 * BASE.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct function {
    uint64_t start;
    uint64_t size;
    uint64_t upto; /* bytes of this one and all before it */
};

static struct function *functions;
static size_t count;

static void add(uint64_t start, uint64_t size)
{
    if ((count & (count - 1)) == 0) {
        size_t room = count == 0 ? 1 : 2 * count;
        functions = realloc(functions, room * sizeof *functions);
    }
    if (functions == NULL)
        exit(1);
    functions[count++] = (struct function){start, size, 0};
}

static void read_symbols(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        uint64_t start, size;
        char type;
        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c", &start, &size, &type) ==
                3 &&
            strchr("tTwW", type) != NULL && size != 0)
            add(start, size);
    }
    free(line);
}

static int ascending(const void *a, const void *b)
{
    const struct function *x = a;
    const struct function *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* One function of each start; its place among the bytes of all. */
static void lay_out(void)
{
    size_t kept = 0;
    qsort(functions, count, sizeof *functions, ascending);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || functions[kept - 1].start != functions[i].start)
            functions[kept++] = functions[i];
    count = kept;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        functions[i].upto = total += functions[i].size;
}

static uint64_t pick(uint64_t at)
{
    size_t low = 0;
    size_t high = count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (functions[middle].upto <= at)
            low = middle + 1;
        else
            high = middle;
    }
    const struct function *f = &functions[low];
    return f->start + at - (f->upto - f->size);
}

static int make_frames(const char *path, uint64_t base)
{
    uint64_t address;
    while (scanf("%" SCNx64, &address) == 1)
        printf("#01: ???[%s +0x%" PRIx64 "]\n", path, address - base);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "frames") == 0)
        return make_frames(argv[2], strtoull(argv[3], NULL, 16));
    read_symbols();
    if (argc != 2 || count == 0) {
        fputs("usage: nm -S FILE | addresses COUNT|each\n", stderr);
        return 2;
    }
    lay_out();
    uint64_t random = 20240607;
    for (long i = strtol(argv[1], NULL, 10); i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t total = functions[count - 1].upto;
        printf("0x%" PRIx64 "\n", pick((random >> 16) % total));
    }
    for (size_t i = 0; i < count && strcmp(argv[1], "each") == 0; i++)
        printf("0x%" PRIx64 "\n", functions[i].start + functions[i].size / 2);
    free(functions);
    return 0;
}
