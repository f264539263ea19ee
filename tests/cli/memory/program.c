/* SPDX-License-Identifier: MIT */
/* A program with memory reports, which does what memory.sh asks for. */
#include <windlass/memory.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 500000, SIZE = 24 };

static void **blocks;

static void report_blocks(struct wndl_memory_sink *sink, void *data)
{
    int64_t size = (int64_t)wndl_memory_size_of(blocks);
    size_t i;
    (void)data;
    for (i = 0; i < BLOCKS; i++)
        size += (int64_t)wndl_memory_size_of(blocks[i]);
    wndl_memory_yield_bytes(sink, "explicit/table/blocks", WNDL_MEMORY_HEAP,
        size, "Blocks of the table.");
}

static void report_thread(struct wndl_memory_sink *sink, void *data)
{
    const struct wndl_memory_report report = {"main thread", WNDL_MEMORY_OTHER,
        WNDL_MEMORY_COUNT,
        pthread_equal(*(pthread_t *)data, pthread_self()) ? 1 : 0,
        "1 where the program polls.", 0};
    wndl_memory_yield(sink, &report);
}

static void report_bytes(struct wndl_memory_sink *sink, void *data)
{
    struct wndl_memory_report report = {
        NULL, WNDL_MEMORY_OTHER, WNDL_MEMORY_COUNT, INT64_MIN, NULL, 0};
    char path[300];
    int i;
    (void)data;
    for (i = 1; i < 256; i++)
        path[i - 1] = (char)i;
    path[255] = '\0';
    wndl_memory_yield(sink, &report);
    report.path = path;
    wndl_memory_yield(sink, &report);
    report.path = "secret/bob/mail";
    report.marks = WNDL_MEMORY_PRIVATE(1) | WNDL_MEMORY_ESTIMATED;
    wndl_memory_yield(sink, &report);
    if (wndl_memory_write(1) != EDEADLK)
        abort();
}

static void report_never(struct wndl_memory_sink *sink, void *data)
{
    (void)sink;
    (void)data;
    for (;;)
        pause();
}

static void report_fault(struct wndl_memory_sink *sink, void *data)
{
    wndl_memory_yield_bytes(sink, "explicit/before", WNDL_MEMORY_HEAP, 1, "");
    *(volatile int *)data = 1;
}

static int runs, unregisters; /* report_slowly() */

static int is_set(const int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void report_slowly(struct wndl_memory_sink *sink, void *data)
{
    (void)data;
    __atomic_store_n(&runs, 1, __ATOMIC_RELEASE);
    while (!is_set(&unregisters))
        usleep(1000);
    usleep(100000);
    wndl_memory_yield_bytes(sink, "explicit/slow", WNDL_MEMORY_HEAP, 1, "");
    __atomic_store_n(&runs, 0, __ATOMIC_RELEASE);
}

static pthread_t main_thread;
static struct wndl_memory_reporter table =
    WNDL_MEMORY_REPORTER("table", report_blocks, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter polled = WNDL_MEMORY_REPORTER(
    "polled", report_thread, &main_thread, WNDL_MEMORY_POLLED);
static struct wndl_memory_reporter bytes =
    WNDL_MEMORY_REPORTER("bytes", report_bytes, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter never =
    WNDL_MEMORY_REPORTER("never", report_never, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter fault =
    WNDL_MEMORY_REPORTER("fault", report_fault, NULL, WNDL_MEMORY_ANY_THREAD);
static struct wndl_memory_reporter slow =
    WNDL_MEMORY_REPORTER("slow", report_slowly, NULL, WNDL_MEMORY_ANY_THREAD);

static void say_ready(void)
{
    puts("ready");
    fflush(stdout);
}

static void await_end(void)
{
    char byte;
    say_ready();
    while (read(0, &byte, 1) == 1)
        ;
}

static void poll_until_end(void)
{
    char byte;
    say_ready();
    fcntl(0, F_SETFL, O_NONBLOCK);
    while (read(0, &byte, 1) != 0) {
        wndl_memory_poll();
        usleep(1000);
    }
}

static void unregister_again_and_again(void)
{
    char byte;
    say_ready();
    fcntl(0, F_SETFL, O_NONBLOCK);
    while (read(0, &byte, 1) != 0) {
        wndl_memory_unregister(&table);
        memset(blocks, 0xff, BLOCKS / 2 * sizeof *blocks); /* not run now */
        memset(blocks, 0, BLOCKS * sizeof *blocks);
        wndl_memory_register(&table);
        usleep(1000); /* others want a processor, too */
    }
}

static void unregister_while_it_runs(void)
{
    wndl_memory_register(&slow);
    say_ready();
    while (!is_set(&runs))
        usleep(1000);
    __atomic_store_n(&unregisters, 1, __ATOMIC_RELEASE);
    wndl_memory_unregister(&slow);
    if (is_set(&runs))
        abort();
    await_end();
}

/* A child that is asked only after it has started. */
static void fork_child(int starts)
{
    const pid_t child = fork();
    if (child == 0) {
        if (starts && !wndl_memory_start())
            abort();
        printf("%d\n", (int)getpid());
        await_end();
        _exit(0);
    }
    await_end();
    waitpid(child, NULL, 0);
}

static void close_all(void)
{
    int fd;
    for (fd = 3; fd < 1024; fd++)
        close(fd);
    for (fd = 3; fd < 400; fd++)
        dup(0);
    await_end();
}

static void use_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL)
        abort();
    dlclose(library);
    await_end();
}

static void allocate(void)
{
    size_t i;
    blocks = (void **)malloc(BLOCKS * sizeof *blocks);
    for (i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(SIZE);
    for (i = 0; i < BLOCKS / 4; i++) { /* some are free, one after another */
        free(blocks[i * 4]);
        blocks[i * 4] = NULL;
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    main_thread = pthread_self();
    allocate();
    if (wndl_memory_register(&table) != (getenv("WINDLASS_MEMORY") == NULL))
        return 3;
    if (strcmp(what, "polled") == 0 || strcmp(what, "not") == 0)
        wndl_memory_register(&polled);
    if (strcmp(what, "bytes") == 0)
        wndl_memory_register(&bytes);
    if (strcmp(what, "never") == 0)
        wndl_memory_register(&never);
    if (strcmp(what, "fault") == 0)
        wndl_memory_register(&fault);
    if (strcmp(what, "write") == 0)
        return wndl_memory_write(1);
    if (strcmp(what, "polled") == 0)
        poll_until_end();
    else if (strcmp(what, "again") == 0)
        unregister_again_and_again();
    else if (strcmp(what, "slow") == 0)
        unregister_while_it_runs();
    else if (strcmp(what, "fork") == 0 || strcmp(what, "child") == 0)
        fork_child(what[0] == 'c');
    else if (strcmp(what, "closed") == 0)
        close_all();
    else if (strcmp(what, "library") == 0 && argc > 2)
        use_library(argv[2]);
    else
        await_end();
    return 0;
}
