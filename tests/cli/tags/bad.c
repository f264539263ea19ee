/* SPDX-License-Identifier: MIT */
/*
 * bad PLUGIN: tags that are wrong, too many, too deep, in signal handlers, in
 * destructors of threads, and of a library that is unloaded: each has a clear
 * answer, and blocks are counted all the time. Prints what is not as it should
 * be.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <windlass/memory.h>

static int wrong;

static void check(int is_right, const char *what)
{
    if (!is_right)
        printf("%s\n", what);
    wrong |= !is_right;
}

static int64_t blocks_of(const char *tag)
{
    struct wndl_memory_tag_amount is;
    check(wndl_memory_tagged(tag, &is), "nothing is counted");
    return is.blocks;
}

static void untags(void)
{
    struct wndl_memory_tag_misses misses;
    check(!wndl_memory_untag() && !wndl_memory_untag(), "untag without tag");
    check(wndl_memory_tag(NULL) == 0 && wndl_memory_tag("") == 0, "no name");
    check(wndl_memory_untag() && wndl_memory_untag(), "each tag has an untag");
    wndl_memory_tag_enter(16000);
    check(wndl_memory_tag_current() == 0 && wndl_memory_untag(), "no such tag");
    wndl_memory_tag_missed(&misses);
    check(misses.unopened == 2 && misses.refused == 3, "misses");
    free(malloc(10)); /* an allocator's first may change errno */
    errno = 77;
    wndl_memory_tag("first");
    free(malloc(10));
    wndl_memory_untag();
    check(errno == 77, "errno");
    check(blocks_of("never opened") == 0, "a tag that was never opened");
}

static void too_deep(void)
{
    struct wndl_memory_tag_misses misses;
    char name[32];
    void *block;
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "deep/%d", i);
        wndl_memory_tag(name);
    }
    block = malloc(100);
    check(blocks_of("deep/255") == 1, "the 256th tag stays");
    for (int i = 0; i < 300; i++)
        check(wndl_memory_untag(), "each has an untag");
    check(!wndl_memory_untag() && wndl_memory_tag_current() == 0, "all closed");
    wndl_memory_tag_missed(&misses);
    check(misses.too_deep == 44, "44 were too deep");
    free(block);
    check(blocks_of("deep/255") == 0, "the block is free");
}

static void many(void)
{
    static void *blocks[20001];
    struct wndl_memory_tag_misses before, after;
    char name[32];
    int refused = 0;
    wndl_memory_tag_missed(&before);
    wndl_memory_tag("outer");
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "many/%d", i);
        refused += wndl_memory_tag(name) == 0;
        blocks[i] = malloc(20);
        wndl_memory_untag();
    }
    wndl_memory_untag();
    for (int i = 0; i < 10000; i++) {
        snprintf(name, sizeof name, "many/%d", i);
        if (blocks_of(name) != 1) {
            check(0, "10,000 tags");
            break;
        }
    }
    wndl_memory_tag_missed(&after);
    check(refused > 3000 && refused < 4000, "16,383 names");
    check(after.refused == before.refused + (uint64_t)refused, "are refused");
    check(blocks_of("outer") == refused, "the outer tag has the others");
    for (int i = 0; i < 20000; i++)
        free(blocks[i]);
    check(blocks_of("outer") == 0 && blocks_of("many/7") == 0, "all are free");
}

static void *from_handler;

static void on_signal(int number)
{
    (void)number;
    wndl_memory_tag("handler");
    from_handler = malloc(50);
    wndl_memory_untag();
}

static void handlers(void)
{
    void *block;
    signal(SIGUSR1, on_signal);
    wndl_memory_tag("interrupted");
    raise(SIGUSR1);
    block = malloc(60);
    wndl_memory_untag();
    check(blocks_of("handler") == 1, "a handler's tag");
    check(blocks_of("interrupted") == 1, "the tag that it interrupted");
    free(block);
    free(from_handler);
    check(blocks_of("handler") == 0, "a handler's block is free");
}

static pthread_key_t key;

static void at_end(void *block)
{
    wndl_memory_tag("destructor");
    free(block);
    block = malloc(70);
    wndl_memory_untag();
    if (blocks_of("destructor") < 4)
        pthread_setspecific(key, block);
}

static void *run(void *context)
{
    check(wndl_memory_tag_current() != 0, "a thread has its creator's tag");
    pthread_setspecific(key, malloc(10));
    wndl_memory_tag("left open");
    free(malloc(1));
    return context;
}

static int run_c11(void *context)
{
    *(void **)context = malloc(10);
    return (int)wndl_memory_tag_current();
}

static void threads(void)
{
    pthread_t thread;
    thrd_t c11;
    void *block = NULL;
    int tag = 0;
    pthread_key_create(&key, at_end);
    wndl_memory_tag("creator");
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    wndl_memory_untag();
    check(blocks_of("destructor") == 1, "a destructor's tag");
    const uint32_t own = wndl_memory_tag("creator in C11");
    thrd_create(&c11, run_c11, &block);
    wndl_memory_untag();
    thrd_join(c11, &tag);
    check(own != 0 && (uint32_t)tag == own, "thrd_create()");
    check(blocks_of("creator in C11") >= 1, "its block");
    free(block);
}

static void unloaded(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *(*make)(void) =
        plugin == NULL ? NULL : (void *(*)(void))dlsym(plugin, "make");
    check(make != NULL, "the plugin");
    if (make == NULL)
        return;
    void *block = make();
    dlclose(plugin);
    check(blocks_of("a plugin's") == 1, "the tag of an unloaded library");
    free(block);
    check(blocks_of("a plugin's") == 0, "its block is free");
}

static void moves(void)
{
    struct wndl_memory_tag_amount is;
    wndl_memory_tag("moved");
    char *block = malloc(10);
    wndl_memory_untag();
    void *other = malloc(10);
    strcpy(block, "it");
    block = realloc(block, 1000000);
    check(strcmp(block, "it") == 0 && wndl_memory_tagged("moved", &is) &&
              is.bytes == (int64_t)malloc_usable_size(block),
        "realloc keeps the tag");
    char *grown = realloc(block, (size_t)1 << 60);
    check(grown == NULL && blocks_of("moved") == 1, "a block that cannot grow");
    block = grown == NULL ? block : grown;
    wndl_memory_tag("mover");
    other = realloc(other, 5000);
    wndl_memory_untag();
    check(blocks_of("mover") == 0, "a block without tag stays so");
    free(other);
    block = realloc(block, 1);
    check(blocks_of("moved") == 1, "a small block");
    free(block);
    check(blocks_of("moved") == 0, "a moved block is free");
}

/* All memory is locked, but not the room for marks; and not filled. */
static void locks(void)
{
    char line[200];
    unsigned long locked = 0;
    FILE *file;
    if (mlockall(MCL_CURRENT) != 0)
        return; /* few may */
    file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmLck: %lu", &locked);
    check(locked < 4000000, "gigabytes are locked");
    munlockall();
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    check(wndl_memory_tagging() == WNDL_MEMORY_TAGGING_COUNTED, "who tags");
    untags();
    too_deep();
    handlers();
    threads();
    moves();
    if (argc > 1)
        unloaded(argv[1]);
    locks();
    many();
    return wrong;
}
