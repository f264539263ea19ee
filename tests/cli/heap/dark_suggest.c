/* SPDX-License-Identifier: MIT */
/*
 * A program in which main, a wrapper of malloc and a function half of whose
 * bytes are reported hold most of the unreported bytes. Two functions are to be
 * suggested: new_session and parse_node.
 *
 *     dark_suggest [all]      nothing is reported
 */
#include <windlass/memory.h>

#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { MOST = 4096 };

static void *known[MOST];
static unsigned known_count;
static void *volatile last;

/* A wrapper that no name tells. */
static NOINLINE void *get_memory(size_t size)
{
    last = malloc(size);
    return last;
}

/* One around it, with its name. */
static NOINLINE void *table_alloc(size_t size)
{
    last = get_memory(size + 16);
    return last;
}

static NOINLINE void new_session(void)
{
    last = get_memory(360);
}

static NOINLINE void serve(void)
{
    new_session();
    last = NULL;
}

static NOINLINE void parse_node(void)
{
    last = get_memory(320);
}

/* Its blocks are reported. */
static NOINLINE void load_table(void)
{
    known[known_count++] = table_alloc(600);
    last = NULL;
}

/* Half of its bytes are. */
static NOINLINE void handle_request(void)
{
    serve();
    parse_node();
    load_table();
    last = NULL;
}

static NOINLINE void other_1(void)
{
    last = get_memory(40);
}

static NOINLINE void other_2(void)
{
    last = table_alloc(48);
}

static void report(struct wndl_memory_sink *sink, void *data)
{
    int64_t size = 0;
    unsigned i;
    for (i = 0; data == NULL && i < known_count; i++)
        size += (int64_t)wndl_memory_size_of(known[i]);
    wndl_memory_yield_bytes(
        sink, "explicit/tables", WNDL_MEMORY_HEAP, size, "Tables.");
}

static struct wndl_memory_reporter tables =
    WNDL_MEMORY_REPORTER("tables", report, NULL, WNDL_MEMORY_ANY_THREAD);

int main(int count, char **arguments)
{
    int i;
    if (count > 1)
        tables.data = arguments[1];
    wndl_memory_register(&tables);
    for (i = 0; i < 1000; i++) {
        handle_request();
        other_1();
        other_2();
    }
    return 0;
}
