/* SPDX-License-Identifier: MIT */
/*
 * memlog_jemalloc: what jemalloc has, in the memory event log. A program calls
 * memlog_jemalloc_report() where it is idle, and memlog_jemalloc_purge() to give
 * unused pages back. Nothing is logged where another allocator is.
 */
#include <dlfcn.h>
#include <time.h>
#include <windlass/memlog.h>

void memlog_jemalloc_report(void);
void memlog_jemalloc_purge(void);

static struct wndl_memlog_type heap = {"jemalloc", WNDL_MEMLOG_REPORT, 0,
    {{"allocated", "bytes"}, {"active", "bytes"}, {"retained", "bytes"},
        {"metadata", "bytes"}},
    {0, 0}};
static struct wndl_memlog_type purged = {
    "jemalloc purge", WNDL_MEMLOG_COLLECTION, 0, {{NULL, NULL}}, {0, 0}};

typedef int control_function(
    const char *name, void *old, size_t *old_size, void *now, size_t now_size);

/* NULL: the allocator is not jemalloc. */
static control_function *find_control(void)
{
    static control_function *control;
    if (control == NULL)
        *(void **)&control = dlsym(RTLD_DEFAULT, "mallctl");
    return control;
}

static int64_t read_size(const char *name)
{
    size_t value = 0;
    size_t size = sizeof value;
    find_control()(name, &value, &size, NULL, 0);
    return (int64_t)value;
}

/* Statistics are of the last moment at which this was called. */
static void begin_epoch(void)
{
    uint64_t epoch = 1;
    find_control()("epoch", NULL, NULL, &epoch, sizeof epoch);
}

void memlog_jemalloc_report(void)
{
    if (find_control() == NULL)
        return;
    begin_epoch();
    const int64_t numbers[] = {read_size("stats.resident"),
        read_size("stats.allocated"), read_size("stats.active"),
        read_size("stats.retained"), read_size("stats.metadata")};
    wndl_memlog_append(&heap, numbers, 5);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void memlog_jemalloc_purge(void)
{
    if (find_control() == NULL)
        return;
    begin_epoch();
    const int64_t before = read_size("stats.resident");
    const int64_t start = now_ns();
    find_control()("arena.4096.purge", NULL, NULL, NULL, 0); /* of all arenas */
    const int64_t ns = now_ns() - start;
    begin_epoch();
    const int64_t numbers[] = {before, read_size("stats.resident"), ns};
    wndl_memlog_append(&purged, numbers, 3);
}
