/* SPDX-License-Identifier: MIT */
#include "rt/memlog/calls.h"

#include "os/loader_list.h"
#include "os/raw.h"

#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum {
    ABOVE = 256 * 1024,
    LEAST_MOVE = 1024 * 1024, /* of the bytes resident */
    MOVE_PART = 64,           /* and that part of them */
    QUIET_NS = 10 * 1000 * 1000
};

static struct wndl_memlog_type rss = {
    "rss", WNDL_MEMLOG_REPORT, 0, {{NULL, NULL}}, {0, 0}};

static _Atomic uint64_t above;     /* 0: not read yet */
static _Atomic int64_t reported;   /* bytes */
static _Atomic uint64_t report_at; /* ns of CLOCK_MONOTONIC_COARSE */

/* ---- what is large */

/* "256k", "1m", "1g"; 0 for what is none of these. */
static uint64_t parse_size(const char *text)
{
    uint64_t size = 0;
    while (*text >= '0' && *text <= '9' && size < UINT64_C(1) << 40)
        size = size * 10 + (uint64_t)(*text++ - '0');
    const char unit = (char)(*text | 0x20);
    return size << (unit == 'g' ? 30 : unit == 'm' ? 20 : unit == 'k' ? 10 : 0);
}

bool wndl_calls_is_large(uint64_t size)
{
    uint64_t least = atomic_load_explicit(&above, memory_order_relaxed);
    if (least == 0) {
        const char *text = getenv("WINDLASS_MEMLOG_ABOVE");
        least = text == NULL ? 0 : parse_size(text);
        least = least == 0 ? (uint64_t)ABOVE : least;
        atomic_store_explicit(&above, least, memory_order_relaxed);
    }
    return size >= least;
}

/* ---- events */

/* The file name of a path, or of the program. */
static const char *module_name(const struct link_map *map)
{
    const char *path = map == NULL ? NULL : map->l_name;
    if (path == NULL || *path == '\0')
        path = (const char *)getauxval(AT_EXECFN);
    if (path == NULL)
        return NULL;
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Where there is no _dl_find_object, no caller has a name. */
static const char *module_of(const void *caller)
{
    struct dl_find_object found;
    if (_dl_find_object == NULL ||
        _dl_find_object((void *)(uintptr_t)caller, &found) != 0)
        return "code of no module";
    return module_name(found.dlfo_link_map);
}

void wndl_calls_log(struct wndl_memlog_type *type, const int64_t *numbers,
    unsigned count, const void *caller)
{
    const uint64_t frame = (uint64_t)(uintptr_t)caller;
    const struct wndl_memlog_parts parts = {
        numbers, module_of(caller), &frame, count, 1};
    wndl_memlog_put_all(type, &parts, 0);
}

/* ---- bytes resident */

/* The second number of proc_pid_statm(5). */
static int64_t parse_resident(const char *text)
{
    int64_t pages = 0;
    while (*text >= '0' && *text <= '9')
        text++;
    while (*text == ' ')
        text++;
    while (*text >= '0' && *text <= '9' && pages < INT64_C(1) << 40)
        pages = pages * 10 + (*text++ - '0');
    return pages;
}

int64_t wndl_calls_resident(void)
{
    char text[128];
    const int fd = wndl_raw_open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const long got = wndl_raw_read(fd, text, sizeof text - 1);
    wndl_raw_close(fd);
    text[got < 0 ? 0 : got] = '\0';
    return parse_resident(text) * (int64_t)getauxval(AT_PAGESZ);
}

/* Whether this thread may report now: one in 10 ms. */
static bool is_due(void)
{
    const uint64_t now = wndl_raw_clock_ns(CLOCK_MONOTONIC_COARSE);
    uint64_t last = atomic_load_explicit(&report_at, memory_order_relaxed);
    return now - last >= QUIET_NS &&
           atomic_compare_exchange_strong_explicit(&report_at, &last, now,
               memory_order_relaxed, memory_order_relaxed);
}

void wndl_calls_report(bool is_last)
{
    if (!wndl_memlog_active() || (!is_due() && !is_last))
        return;
    const int64_t now = wndl_calls_resident();
    const int64_t before =
        atomic_load_explicit(&reported, memory_order_relaxed);
    const int64_t move = now > before ? now - before : before - now;
    if (now == 0 || (!is_last && (move < LEAST_MOVE || move < now / MOVE_PART)))
        return;
    atomic_store_explicit(&reported, now, memory_order_relaxed);
    wndl_memlog_append(&rss, &now, 1);
}

void wndl_calls_after_fork(void)
{
    atomic_store_explicit(&reported, 0, memory_order_relaxed);
    atomic_store_explicit(&report_at, 0, memory_order_relaxed);
}
