/* SPDX-License-Identifier: MIT */
/*
 * memlog_glibc: what glibc's allocator has, in the memory event log. A program
 * calls memlog_glibc_report() where it is idle, and memlog_glibc_trim() to give
 * memory back.
 */
#include <malloc.h>
#include <time.h>
#include <windlass/memlog.h>

void memlog_glibc_report(void);
void memlog_glibc_trim(void);

static struct wndl_memlog_type heap = {"glibc heap", WNDL_MEMLOG_OTHER, 0,
    {{"used", "bytes"}, {"free", "bytes"}, {"mapped", "bytes"},
        {"could be trimmed", "bytes"}},
    {0, 0}};
static struct wndl_memlog_type trimmed = {
    "malloc_trim", WNDL_MEMLOG_COLLECTION, 0, {{NULL, NULL}}, {0, 0}};

void memlog_glibc_report(void)
{
    const struct mallinfo2 now = mallinfo2();
    const int64_t numbers[] = {(int64_t)now.uordblks, (int64_t)now.fordblks,
        (int64_t)now.hblkhd, (int64_t)now.keepcost};
    wndl_memlog_append(&heap, numbers, 4);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Bytes that the allocator has from the system. */
static int64_t held(void)
{
    const struct mallinfo2 now = mallinfo2();
    return (int64_t)(now.arena + now.hblkhd);
}

void memlog_glibc_trim(void)
{
    const int64_t before = held();
    const int64_t start = now_ns();
    malloc_trim(0);
    const int64_t numbers[] = {before, held(), now_ns() - start};
    wndl_memlog_append(&trimmed, numbers, 3);
}
