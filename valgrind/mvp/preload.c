/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preload: a part of the object that replaces malloc in the profiled program.
 * It takes blocks that the program reports by include/windlass/heap.h, and
 * reports them to the tool.
 */
#include "valgrind.h"
#include <stddef.h>

/* As the program expects it. */
struct heap_table {
    size_t size;
    void (*on_alloc)(const void *block, size_t size);
    void (*on_free)(const void *block);
    int (*dump)(const char *text);
    int (*active)(void);
};

static void on_alloc(const void *block, size_t size)
{
    VALGRIND_MALLOCLIKE_BLOCK(block, size, 0, 0);
}

static void on_free(const void *block)
{
    VALGRIND_FREELIKE_BLOCK(block, 0);
}

static int dump(const char *text)
{
    (void)text;
    return 0;
}

static int active(void)
{
    return 1;
}

extern const struct heap_table wndl_rt_heap_table;
const struct heap_table wndl_rt_heap_table = {
    sizeof wndl_rt_heap_table, on_alloc, on_free, dump, active};
