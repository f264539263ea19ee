/* SPDX-License-Identifier: MIT */
/*
 * exact THREADS STEPS: threads allocate, tag, nest, move, free each other's
 * blocks and create threads inside tags, and keep their own count of what
 * belongs to each tag. Compares it with the library's, and again in a child of
 * fork(). Prints what differs; the status is 1 then.
 */
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <windlass/memory_tag.h>

enum { TAGS = 40, DEPTH = 6, SHELVES = 4096, OWN = 64, MOST_THREADS = 64 };

static const size_t stack_size = 256 * 1024;
static long steps;
static char names[TAGS + 1][24];
static int64_t bytes[TAGS + 1], blocks[TAGS + 1]; /* 0: no tag */

enum kind { PLAIN, NEW, NEW_ALIGNED };
struct block {
    void *at;
    int tag;
    enum kind kind;
};
/* Blocks that any thread may take: a block, or nothing. */
static struct shelf {
    pthread_mutex_t lock;
    struct block block;
} shelves[SHELVES];

struct thread {
    uint64_t random;
    int depth;           /* of tags */
    int tags[DEPTH + 1]; /* the innermost is the last */
    int generation;
    struct block own[OWN];
};

static unsigned draw(struct thread *t, unsigned below)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(t->random >> 33) % below;
}

static void count(int tag, void *at, int by)
{
    __atomic_fetch_add(
        &bytes[tag], by * (int64_t)malloc_usable_size(at), __ATOMIC_RELAXED);
    __atomic_fetch_add(&blocks[tag], by, __ATOMIC_RELAXED);
}

static size_t draw_size(struct thread *t)
{
    static const unsigned below[] = {9, 33, 257, 5000, 300000};
    const unsigned which = draw(t, 40);
    return draw(t, below[which == 0 ? 4 : which < 4 ? 3 : which % 3]);
}

static struct block make(struct thread *t)
{
    const size_t size = draw_size(t);
    struct block b = {NULL, t->tags[t->depth], PLAIN};
    switch (draw(t, 9)) {
    case 0:
        b.at = calloc(size / 8 + 1, 8);
        break;
    case 1:
        b.at = aligned_alloc(64, (size + 63) & ~(size_t)63);
        break;
    case 2:
        if (posix_memalign(&b.at, 8u << draw(t, 4), size) != 0)
            abort();
        break;
    case 3:
        b.at = memalign(32, size);
        break;
    case 4:
        b.at = reallocarray(NULL, size + 1, 1);
        break;
    case 5:
        b.at = ::operator new(size);
        b.kind = NEW;
        break;
    case 6:
        b.at = ::operator new(size, std::align_val_t(64));
        b.kind = NEW_ALIGNED;
        break;
    default:
        b.at = malloc(size);
        break;
    }
    if (b.at != NULL)
        count(b.tag, b.at, 1);
    return b;
}

static void end(struct block *b)
{
    if (b->at == NULL)
        return;
    count(b->tag, b->at, -1);
    if (b->kind == NEW)
        ::operator delete(b->at);
    else if (b->kind == NEW_ALIGNED)
        ::operator delete(b->at, std::align_val_t(64));
    else
        free(b->at);
    b->at = NULL;
}

static void move(struct thread *t, struct block *b)
{
    if (b->at == NULL || b->kind != PLAIN)
        return;
    count(b->tag, b->at, -1);
    void *at = realloc(b->at, draw_size(t) + 1);
    if (at == NULL)
        abort();
    b->at = at;
    count(b->tag, b->at, 1);
}

static void swap(struct thread *t, struct block *b)
{
    struct shelf *s = &shelves[draw(t, SHELVES)];
    pthread_mutex_lock(&s->lock);
    const struct block there = s->block;
    s->block = *b;
    pthread_mutex_unlock(&s->lock);
    *b = there;
}

static void open_tag(struct thread *t)
{
    if (t->depth == DEPTH)
        return;
    const int tag = (int)draw(t, TAGS + 1);
    if (tag == 0)
        wndl_memory_tag_enter(0);
    else
        wndl_memory_tag(names[tag]);
    t->tags[++t->depth] = tag;
}

static void close_tag(struct thread *t)
{
    if (t->depth == 0)
        return;
    if (!wndl_memory_untag())
        abort();
    t->depth--;
}

static void work(struct thread *t, long n);

static __thread int outlives; /* tag of a block that a destructor makes */
static pthread_key_t last;

static void at_end(void *kept)
{
    wndl_memory_tag(names[outlives]);
    void *at = malloc(100);
    wndl_memory_untag();
    count(outlives, at, 1);
    struct block b = {at, outlives, PLAIN};
    struct thread t = {(uint64_t)(uintptr_t)kept, 0, {0}, 0, {}};
    swap(&t, &b);
    end(&b);
}

static void *run(void *context)
{
    struct thread *t = (struct thread *)context;
    work(t, t->generation == 0 ? steps : 200);
    for (int i = 0; i < OWN; i++)
        swap(t, &t->own[i]);
    for (int i = 0; i < OWN; i++)
        end(&t->own[i]);
    outlives = 1 + (int)draw(t, TAGS);
    pthread_setspecific(last, (void *)(uintptr_t)(t->random | 1));
    return NULL;
}

static pthread_t start(struct thread *t)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    if (pthread_create(&thread, &attributes, run, t) != 0)
        abort();
    return thread;
}

/* A thread whose outermost tag is the one that is open here. */
static void have_child(struct thread *t)
{
    struct thread child = {
        t->random * 3 + 1, 0, {t->tags[t->depth]}, t->generation + 1, {}};
    pthread_join(start(&child), NULL);
}

static void work(struct thread *t, long n)
{
    for (long i = 0; i < n; i++) {
        struct block *b = &t->own[draw(t, OWN)];
        const unsigned what = draw(t, 64);
        if (what < 6)
            open_tag(t);
        else if (what < 12)
            close_tag(t);
        else if (what < 24)
            move(t, b);
        else if (what < 34)
            swap(t, b);
        else if (what == 34 && t->generation < 2 && draw(t, 20) == 0)
            have_child(t);
        else {
            end(b);
            *b = make(t);
        }
    }
    while (t->depth != 0)
        close_tag(t);
}

/* ---- */

static int differ(const char *when)
{
    int wrong = 0;
    for (int tag = 1; tag <= TAGS; tag++) {
        struct wndl_memory_tag_amount is;
        const int known = wndl_memory_tagged(names[tag], &is);
        if (known && is.bytes == bytes[tag] && is.blocks == blocks[tag])
            continue;
        printf("%s: %s: %lld bytes in %lld blocks, counted %lld in %lld\n",
            when, names[tag], (long long)is.bytes, (long long)is.blocks,
            (long long)bytes[tag], (long long)blocks[tag]);
        wrong = 1;
    }
    return wrong;
}

static void end_all(int every)
{
    for (int i = 0; i < SHELVES; i += every)
        end(&shelves[i].block);
}

/* The libc keeps stacks: then it allocates nothing more for a thread. */
static pthread_barrier_t all_there;

static void *wait_for_all(void *context)
{
    pthread_barrier_wait(&all_there);
    return context;
}

static void keep_stacks(unsigned count)
{
    pthread_t threads[3 * MOST_THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    pthread_barrier_init(&all_there, NULL, count);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attributes, wait_for_all, NULL) != 0)
            abort();
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    static struct thread threads[MOST_THREADS];
    pthread_t ids[MOST_THREADS];
    const int n = argc > 1 ? atoi(argv[1]) : 16;
    int status;
    steps = argc > 2 ? atol(argv[2]) : 20000;
    for (int i = 0; i < SHELVES; i++)
        pthread_mutex_init(&shelves[i].lock, NULL);
    for (int i = 1; i <= TAGS; i++)
        snprintf(names[i], sizeof names[i], "driver/%d", i);
    keep_stacks(3 * (unsigned)n);
    pthread_key_create(&last, at_end);
    for (int i = 0; i < n; i++) {
        threads[i].random = (uint64_t)i * 77 + 5;
        ids[i] = start(&threads[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    int wrong = differ("after the threads");
    const pid_t child = fork();
    if (child == 0) {
        wrong = differ("in the child");
        end_all(2);
        wrong |= differ("in the child, half of them");
        fflush(stdout);
        _exit(wrong);
    }
    waitpid(child, &status, 0);
    wrong |= status != 0;
    wrong |= differ("after the child");
    end_all(1);
    wrong |= differ("at the end");
    for (int tag = 1; tag <= TAGS; tag++)
        wrong |= blocks[tag] != 0;
    return wrong;
}
