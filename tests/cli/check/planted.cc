// SPDX-License-Identifier: MIT
//
//     planted NUMBER
//
// Errors of a program in and beside the functions that our suppressions name;
// without a number there are none. GLib's functions are declared here, so that
// its headers need not be installed.
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <pthread.h>

extern "C" {
struct GQueue;
struct GHashTable;
struct GAsyncQueue;
struct GThreadPool;
GQueue *g_queue_new(void);
void g_queue_push_tail(GQueue *, void *);
GHashTable *g_hash_table_new(void *, void *);
int g_hash_table_insert(GHashTable *, void *, void *);
GAsyncQueue *g_async_queue_new(void);
void g_async_queue_push(GAsyncQueue *, void *);
void *g_async_queue_pop(GAsyncQueue *);
void g_async_queue_unref(GAsyncQueue *);
GThreadPool *g_thread_pool_new(
    void (*)(void *, void *), void *, int, int, void **);
int g_thread_pool_push(GThreadPool *, void *, void **);
void g_thread_pool_free(GThreadPool *, int, int);
void *g_malloc(unsigned long);
char *g_strdup(const char *);
void g_free(void *);
unsigned g_timeout_add(unsigned, int (*)(void *), void *);
struct GMainLoop;
GMainLoop *g_main_loop_new(void *, int);
void g_main_loop_run(GMainLoop *);
void g_main_loop_quit(GMainLoop *);
void g_main_loop_unref(GMainLoop *);
}

static GQueue *queue;
static GHashTable *table;
static GAsyncQueue *channel;
static int counter;
static volatile int sink;
static std::shared_ptr<int> pointee;

static void at_once(void *(*work)(void *))
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], nullptr, work, nullptr);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], nullptr);
}

static void *push_unlocked(void *unused)
{
    g_queue_push_tail(queue, &counter);
    return unused;
}

static void *insert_unlocked(void *unused)
{
    g_hash_table_insert(table, &counter, &counter);
    return unused;
}

static pthread_barrier_t both;

// Two threads are here at the same time, whoever started them.
static void in_pool(void *, void *)
{
    pthread_barrier_wait(&both);
    counter++;
}

static void *change_pointee(void *unused)
{
    std::shared_ptr<int> own = pointee;
    ++*own;
    return unused;
}

static int in_callback(void *loop)
{
    counter++;
    g_main_loop_quit(static_cast<GMainLoop *>(loop));
    return 0;
}

static void *count(void *unused)
{
    counter++;
    return unused;
}

// A race with a callback of the main loop.
static void run_loop()
{
    GMainLoop *loop = g_main_loop_new(nullptr, 0);
    pthread_t thread;
    g_timeout_add(1, in_callback, loop);
    pthread_create(&thread, nullptr, count, nullptr);
    g_main_loop_run(loop);
    pthread_join(thread, nullptr);
    g_main_loop_unref(loop);
}

static void run_pool()
{
    pthread_barrier_init(&both, nullptr, 2);
    GThreadPool *pool = g_thread_pool_new(in_pool, nullptr, 2, 0, nullptr);
    for (int i = 0; i < 4; i++)
        g_thread_pool_push(pool, &counter, nullptr);
    g_thread_pool_free(pool, 0, 1);
}

static void *fill_channel(void *unused)
{
    for (int i = 0; i < 10; i++)
        g_async_queue_push(channel, &counter);
    return unused;
}

// What is right, in the functions that are suppressed.
static void nothing_wrong()
{
    channel = g_async_queue_new();
    pthread_t thread;
    pthread_create(&thread, nullptr, fill_channel, nullptr);
    for (int i = 0; i < 10; i++)
        g_async_queue_pop(channel);
    pthread_join(thread, nullptr);
    g_async_queue_unref(channel);
}

int main(int argc, char **argv)
{
    queue = g_queue_new();
    table = g_hash_table_new(nullptr, nullptr);
    pointee = std::make_shared<int>(1);
    switch (argc > 1 ? std::atoi(argv[1]) : 0) {
    case 0: nothing_wrong(); break;
    case 1: at_once(push_unlocked); break;
    case 2: at_once(insert_unlocked); break;
    case 3: run_pool(); break;
    case 4: run_loop(); break;
    case 5: at_once(change_pointee); break;
    case 6: {
        char *text = g_strdup("freed");
        g_free(text);
        sink = text[0];
        break;
    }
    case 7: sink = std::strlen(g_strdup("lost")); break;
    case 8: {
        volatile char *block = static_cast<char *>(g_malloc(8));
        block[8] = 1;
        g_free(const_cast<char *>(block));
        break;
    }
    }
    return 0;
}
