/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/reported.h"

#include "os/raw.h"
#include "rec/heap.h"
#include "rt/core/rt.h"
#include "rt/heap/hook/entry.h"
#include "rt/heap/hook/resolve.h"
#include "rt/heap/measure/measure.h"
#include "rt/heap/record/record.h"
#include "rt/heap/record/untracked.h"
#include "rt/tags/core/current.h"

#include <string.h>
#include <windlass/heap.h>

#define PATIENCE_NS UINT64_C(2000000000)

enum { LOOK_EVERY_NS = 1000 * 1000 };

void wndl_rt_heap_report_alloc(
    const void *, size_t, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("wndl_rt_report_alloc", "wndl_rt_heap_report_alloc", 2);
void wndl_rt_report_alloc(const void *, size_t)
    __attribute__((visibility("hidden")));

void wndl_rt_heap_report_alloc(
    const void *block, size_t size, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL) {
        wndl_rt_untracked_note(block, WNDL_RT_UNTRACKED_ALLOC);
        return;
    }
    wndl_rt_heap_allocated(
        t, &(struct wndl_rt_alloc){
               .block = wndl_rt_other_key(block, WNDL_RT_REPORTED),
               .requested = size,
               .usable = size,
               .regs = regs,
               .tag = wndl_rt_tag_current(),
               .is_reported = true,
           });
    wndl_rt_heap_leave();
}

void wndl_rt_heap_report_free(
    const void *, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("wndl_rt_report_free", "wndl_rt_heap_report_free", 1);
void wndl_rt_report_free(const void *) __attribute__((visibility("hidden")));

void wndl_rt_heap_report_free(const void *block, const struct wndl_regs *regs)
{
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return;
    wndl_rt_heap_reported_free(t, block, regs);
    wndl_rt_heap_leave();
}

static void copy_text(char *to, size_t room, const char *text)
{
    size_t size = 0;
    while (text != NULL && size + 1 < room && text[size] != '\0')
        size++;
    memcpy(to, text, size);
    to[size] = '\0';
}

/* ---- memory reporters */

/* The allocator answers where nothing is recorded. */
static size_t measure(
    const void *block, bool is_lasting, const struct wndl_regs *regs)
{
    const struct wndl_rt_allocator *real = wndl_rt_real_allocator();
    if (block == NULL || real == NULL || real->usable == NULL)
        return 0;
    struct wndl_rt_heap_thread *t = wndl_rt_heap_enter();
    if (t == NULL)
        return real->usable((void *)(uintptr_t)block);
    const size_t usable =
        wndl_rt_heap_measure(t, real, block, is_lasting, regs);
    wndl_rt_heap_leave();
    return usable;
}

size_t wndl_rt_heap_size_of(
    const void *, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY("wndl_rt_size_of", "wndl_rt_heap_size_of", 1);
size_t wndl_rt_size_of(const void *) __attribute__((visibility("hidden")));

size_t wndl_rt_heap_size_of(const void *block, const struct wndl_regs *regs)
{
    return measure(block, false, regs);
}

size_t wndl_rt_heap_report_on_alloc(
    const void *, const struct wndl_regs *) WNDL_RT_CALLED_BY_ASM;
WNDL_RT_HEAP_ENTRY(
    "wndl_rt_report_on_alloc", "wndl_rt_heap_report_on_alloc", 1);
size_t wndl_rt_report_on_alloc(const void *)
    __attribute__((visibility("hidden")));

size_t wndl_rt_heap_report_on_alloc(
    const void *block, const struct wndl_regs *regs)
{
    return measure(block, true, regs);
}

static long live_bytes(void)
{
    return wndl_rt_heap->shared == NULL ? -1 : (long)wndl_rt_heap_live_bytes();
}

static int is_dark(void)
{
    return wndl_rt_heap->shared != NULL && wndl_rt_heap->dark;
}

static void begin_reports(int is_new)
{
    if (is_dark())
        wndl_rt_heap_begin_reports(is_new != 0);
}

/* Whoever reads it when the process has died finds the name. */
static void begin_reporter(const char *name)
{
    struct wndl_heap *heap = wndl_rt_heap->shared;
    if (heap != NULL)
        copy_text(heap->reporter, sizeof heap->reporter, name);
}

static void end_reports(void)
{
    begin_reporter("");
    wndl_rt_heap_end_reports();
}

/* ---- snapshots */

static atomic_flag asking = ATOMIC_FLAG_INIT;

static void wait_a_little(void)
{
    wndl_raw_sleep(LOOK_EVERY_NS);
}

static bool is_done(struct wndl_heap *heap, uint32_t wanted, uint64_t end)
{
    while (atomic_load(&heap->done) != wanted) {
        if (wndl_raw_clock_ns(CLOCK_MONOTONIC) >= end)
            return false;
        wait_a_little();
    }
    return true;
}

static bool ask(struct wndl_heap *heap, const char *text, uint64_t end)
{
    copy_text(heap->text, sizeof heap->text, text);
    return is_done(heap, atomic_fetch_add(&heap->asked, 1) + 1, end);
}

void wndl_rt_heap_reported_after_fork(void)
{
    atomic_flag_clear(&asking);
}

static int dump(const char *text)
{
    struct wndl_heap *heap = wndl_rt_heap->shared;
    uint64_t end = wndl_raw_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    if (heap == NULL)
        return 0;
    while (atomic_flag_test_and_set(&asking)) {
        if (wndl_raw_clock_ns(CLOCK_MONOTONIC) >= end)
            return 0;
        wait_a_little();
    }
    bool done = ask(heap, text, end);
    atomic_flag_clear(&asking);
    return done;
}

static int active(void)
{
    return wndl_rt_heap->shared != NULL;
}

/* The program finds it by its name. */
WNDL_RT_HOOK const struct wndl_heap_table wndl_rt_heap_table = {
    .size = sizeof wndl_rt_heap_table,
    .on_alloc = wndl_rt_report_alloc,
    .on_free = wndl_rt_report_free,
    .dump = dump,
    .active = active,
    .size_of = wndl_rt_size_of,
    .report_on_alloc = wndl_rt_report_on_alloc,
    .live_bytes = live_bytes,
    .is_dark = is_dark,
    .begin_reports = begin_reports,
    .begin_reporter = begin_reporter,
    .end_reports = end_reports,
};
