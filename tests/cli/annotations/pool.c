/* SPDX-License-Identifier: MIT */
/*
 *     pool clean|after|over|leak|unset|handed|unordered
 *
 * A pool of blocks within one block of malloc, annotated, and errors that only
 * its annotations show.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/annotate.h>

enum { BLOCK = 32, REDZONE = 16, BLOCKS = 8 };

static unsigned char *memory;
static int next;
static void *given_back;

static void *get(void)
{
    void *block = given_back;
    given_back = NULL;
    if (block == NULL)
        block = memory + REDZONE + next++ * (BLOCK + REDZONE);
    wndl_annotate_pool_alloc(&memory, block, BLOCK);
    return block;
}

static void give_back(void *block)
{
    wndl_annotate_pool_free(&memory, block);
    given_back = block;
}

static void start(void)
{
    memory = calloc(1, BLOCKS * (BLOCK + REDZONE) + REDZONE);
    wndl_annotate_no_access(memory, BLOCKS * (BLOCK + REDZONE) + REDZONE);
    wndl_annotate_pool_create(&memory, REDZONE, false);
}

static void finish(void)
{
    wndl_annotate_pool_destroy(&memory);
    free(memory);
}

/* A block of the pool goes from thread to thread; `when` says whose turn it is,
 * which no tool sees. */
static int when;
static bool says_nothing;

static void await(int wanted)
{
    while (__atomic_load_n(&when, __ATOMIC_RELAXED) != wanted)
        continue;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void *use_block(void *number)
{
    await((int)(uintptr_t)number);
    unsigned char *block =
        says_nothing ? memory + REDZONE : (unsigned char *)get();
    for (int i = 0; i < BLOCK; i++)
        block[i]++;
    if (!says_nothing)
        give_back(block);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&when, (int)(uintptr_t)number + 1, __ATOMIC_RELAXED);
    return NULL;
}

static int hand_over(void)
{
    pthread_t threads[2];
    wndl_annotate_shared(&when, sizeof when);
    wndl_annotate_benign_race(&given_back, sizeof given_back, "`when` guards");
    wndl_annotate_benign_race(&next, sizeof next, "`when` guards");
    pthread_create(&threads[0], NULL, use_block, (void *)0);
    pthread_create(&threads[1], NULL, use_block, (void *)1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    start();
    volatile unsigned char *block = get();
    block[0] = 1;
    if (strcmp(what, "after") == 0) {
        give_back((void *)block);
        return block[0];
    }
    if (strcmp(what, "over") == 0)
        block[BLOCK] = 1;
    if (strcmp(what, "unset") == 0 && block[1] != 0)
        puts("unset");
    if (strcmp(what, "leak") == 0)
        return 0;
    give_back((void *)block);
    says_nothing = strcmp(what, "unordered") == 0;
    if (strcmp(what, "handed") == 0 || says_nothing)
        hand_over();
    finish();
    return 0;
}
