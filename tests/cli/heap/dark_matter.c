/* SPDX-License-Identifier: MIT */
/*
 * 10,000 random structures, of which known parts are reported once, twice, at
 * their allocation, or never. Prints for each function that allocates, and each
 * number of reports, the blocks, requested and usable bytes.
 *
 *     dark_matter SEED [dump|polled|silent|fault|never]
 */
#include <windlass/heap.h>
#include <windlass/memory.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STRUCTURES = 10000, FUNCTIONS = 4, MOST = 8 };

enum mode {
    NEVER,
    ONCE,
    TWICE,
    THRICE,
    AT_ALLOCATION,
    BOTH, /* at its allocation, and measured */
    MODES
};

/* Its blocks, the first of which has the others' addresses. */
struct structure {
    struct structure **blocks;
    size_t requested[MOST + 1];
    enum mode mode;
    unsigned function;
    unsigned count;
};

static struct structure all[STRUCTURES];
static uint64_t random_state;

static unsigned next_random(unsigned below)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407;
    return (unsigned)(random_state >> 33) % below;
}

#define ALLOCATE(name)                                                         \
    static __attribute__((noinline)) void *name(size_t size, enum mode mode)   \
    {                                                                          \
        void *volatile block = malloc(size);                                   \
        if (mode == AT_ALLOCATION || mode == BOTH)                             \
            wndl_memory_report_on_alloc(block);                                \
        return block;                                                          \
    }
ALLOCATE(make_list)
ALLOCATE(make_tree)
ALLOCATE(make_string)
ALLOCATE(make_table)

static void *(*const functions[FUNCTIONS])(size_t, enum mode) = {
    make_list, make_tree, make_string, make_table};

static void make(struct structure *s)
{
    unsigned i;
    s->mode = (enum mode)next_random(MODES);
    s->function = next_random(FUNCTIONS);
    s->count = 1 + next_random(MOST);
    s->requested[0] = s->count * sizeof s->blocks[0];
    s->blocks = functions[s->function](s->requested[0], s->mode);
    for (i = 1; i < s->count; i++) {
        s->requested[i] = 1 + next_random(next_random(20) == 0 ? 20000 : 300);
        s->blocks[i] = functions[s->function](s->requested[i], s->mode);
    }
    s->blocks[0] = (void *)s->blocks;
}

static void end(struct structure *s)
{
    unsigned i;
    for (i = s->count; i-- > 0;)
        free(s->blocks[i]);
}

static size_t measure(const struct structure *s)
{
    size_t size = 0;
    unsigned i;
    for (i = 0; i < s->count; i++)
        size += wndl_memory_size_of(s->blocks[i]);
    return size;
}

static __attribute__((noinline)) size_t measure_owned(void)
{
    volatile size_t size = 0;
    unsigned i;
    for (i = 0; i < STRUCTURES; i++)
        if (all[i].mode != NEVER && all[i].mode != AT_ALLOCATION)
            size += measure(&all[i]);
    return size;
}

static __attribute__((noinline)) size_t measure_again(void)
{
    volatile size_t size = 0;
    unsigned i;
    for (i = 0; i < STRUCTURES; i++)
        if (all[i].mode == TWICE || all[i].mode == THRICE)
            size += measure(&all[i]);
    for (i = 0; i < STRUCTURES; i++)
        if (all[i].mode == THRICE)
            size += measure(&all[i]);
    return size;
}

static void report_owned(struct wndl_memory_sink *sink, void *data)
{
    (void)data;
    wndl_memory_yield_bytes(sink, "explicit/owned", WNDL_MEMORY_HEAP,
        (int64_t)measure_owned(), "Structures.");
}

/* Pointers that are none are answered with 0. */
static void report_wrong(struct wndl_memory_sink *sink, void *data)
{
    size_t wrong = wndl_memory_size_of(NULL);
    (void)sink;
    wrong += wndl_memory_size_of((char *)all[0].blocks + 1);
    wrong += wndl_memory_size_of((char *)all[1].blocks + 8);
    wrong += wndl_memory_size_of(&wrong);
    wrong += wndl_memory_size_of((void *)8);
    wrong += wndl_memory_size_of(data);
    if (wrong != 0)
        abort();
}

static void report_again(struct wndl_memory_sink *sink, void *data)
{
    (void)data;
    wndl_memory_yield_bytes(sink, "explicit/again", WNDL_MEMORY_HEAP,
        (int64_t)measure_again(), "Structures.");
}

static struct wndl_memory_reporter owned =
    WNDL_MEMORY_REPORTER("owned", report_owned, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter again =
    WNDL_MEMORY_REPORTER("again", report_again, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter wrong =
    WNDL_MEMORY_REPORTER("wrong", report_wrong, &all, WNDL_MEMORY_ANY_THREAD);

static void report_fault(struct wndl_memory_sink *sink, void *data)
{
    (void)sink;
    *(volatile int *)data = 1;
}

static void report_never(struct wndl_memory_sink *sink, void *data)
{
    (void)sink;
    (void)data;
    for (;;)
        pause();
}

static struct wndl_memory_reporter fault = WNDL_MEMORY_REPORTER(
    "the fault", report_fault, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter never = WNDL_MEMORY_REPORTER(
    "never ends", report_never, NULL, WNDL_MEMORY_ANY_THREAD);

static void tell(void)
{
    static const int reports[MODES] = {0, 1, 2, 2, 1, 2};
    static const char *const names[] = {
        "make_list", "make_tree", "make_string", "make_table"};
    static uint64_t sums[FUNCTIONS][3][3];
    unsigned i;
    unsigned k;
    for (i = 0; i < STRUCTURES; i++)
        for (k = 0; k < all[i].count; k++) {
            uint64_t *sum = sums[all[i].function][reports[all[i].mode]];
            sum[0]++;
            sum[1] += all[i].requested[k];
            sum[2] += malloc_usable_size(all[i].blocks[k]);
        }
    for (i = 0; i < FUNCTIONS; i++)
        for (k = 0; k < 3; k++)
            printf("%s %u %llu %llu %llu\n", names[i], k,
                (unsigned long long)sums[i][k][0],
                (unsigned long long)sums[i][k][1],
                (unsigned long long)sums[i][k][2]);
}

static void churn(void)
{
    unsigned i;
    for (i = 0; i < STRUCTURES; i += 1 + next_random(4)) {
        end(&all[i]);
        make(&all[i]);
    }
}

int main(int count, char **arguments)
{
    const char *how = count > 2 ? arguments[2] : "";
    unsigned i;
    random_state = strtoull(arguments[1], NULL, 10);
    for (i = 0; i < STRUCTURES; i++)
        make(&all[i]);
    if (strcmp(how, "polled") == 0 || strcmp(how, "silent") == 0)
        owned.where = WNDL_MEMORY_POLLED;
    wndl_memory_register(&owned);
    wndl_memory_register(&again);
    if (strcmp(how, "dump") == 0)
        wndl_memory_register(&wrong);
    if (strcmp(how, "dump") == 0)
        printf("dumped %d\n", wndl_heap_dump("before")); /* marks of a run */
    if (strcmp(how, "fault") == 0)
        wndl_memory_register(&fault);
    if (strcmp(how, "never") == 0)
        wndl_memory_register(&never);
    churn();
    tell();
    fflush(stdout);
    if (owned.where == WNDL_MEMORY_ANY_THREAD)
        return 0;
    for (;;) { /* until it is killed */
        if (strcmp(how, "polled") == 0)
            wndl_memory_poll();
        usleep(1000);
    }
}
