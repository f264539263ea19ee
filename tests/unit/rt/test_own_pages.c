/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/own_threads.h"
#include "rt/core/readable_pages.h"
#include "rt/core/rt.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { PAGES = 1024 };

struct wndl_rt wndl_rt;

static uint8_t *pages;
static uint8_t states[PAGES], parts[PAGES / WNDL_RT_PAGES_PART + 1];

/* The first, the seventh and the last are touched. */
static int set_up(void **state)
{
    (void)state;
    wndl_rt.pid = getpid();
    pages = mmap(NULL, PAGES * WNDL_RT_PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(pages != MAP_FAILED);
    (void)madvise(pages, PAGES * WNDL_RT_PAGE, MADV_NOHUGEPAGE);
    pages[0] = pages[7 * WNDL_RT_PAGE] = 1;
    pages[(PAGES - 1) * WNDL_RT_PAGE] = 1;
    memset(states, 0, sizeof states);
    memset(parts, 0, sizeof parts);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    munmap(pages, PAGES * WNDL_RT_PAGE);
    return 0;
}

static bool can_read_pagemap(void)
{
    return access("/proc/self/pagemap", R_OK) == 0;
}

static bool look(void)
{
    struct wndl_rt_own_pages own;
    wndl_rt_own_pages_begin(&own);
    const struct wndl_rt_page_states all = {states, parts, PAGES};
    bool known = wndl_rt_own_pages_look(&own, (uintptr_t)pages, &all);
    wndl_rt_own_pages_end(&own);
    return known;
}

/* As before Linux 6.7: an entry for each page, and no list of the touched. */
static void too_many_pages_are_not_read(void **state)
{
    (void)state;
    const int entries = memfd_create("pagemap", MFD_CLOEXEC);
    struct wndl_rt_own_pages own = {.pagemap = entries, .in_place = true};
    struct wndl_rt_page_states all = {
        states, parts, WNDL_RT_PAGES_READ_MOST - PAGES};
    const uint64_t present = UINT64_C(1) << 63;
    assert_true(entries >= 0);
    assert_int_equal(ftruncate(entries, PAGES * sizeof present), 0);
    assert_int_equal(
        pwrite(entries, &present, sizeof present, 8), (ssize_t)sizeof present);
    assert_false(wndl_rt_own_pages_look(&own, 0, &all)); /* the file ends */
    assert_false(own.too_many);
    all.count = PAGES + 1;
    assert_false(wndl_rt_own_pages_look(&own, 0, &all));
    assert_true(own.too_many);
    own.too_many = false;
    memset(states, 0, sizeof states);
    all.count = PAGES;
    assert_true(wndl_rt_own_pages_look(&own, 0, &all));
    assert_int_equal(states[0], WNDL_RT_PAGE_UNTOUCHED);
    assert_int_equal(states[1], WNDL_RT_PAGE_PRESENT);
    close(entries);
}

/* That many are in that state. */
static size_t count(enum wndl_rt_page wanted)
{
    size_t found = 0;
    for (size_t i = 0; i < PAGES; i++)
        found += states[i] == wanted;
    return found;
}

static void pages_are_known_by_their_use(void **state)
{
    (void)state;
    if (!can_read_pagemap())
        SKIP("no /proc/self/pagemap");
    assert_true(look());
    assert_int_equal(states[0], WNDL_RT_PAGE_PRESENT);
    assert_int_equal(states[7], WNDL_RT_PAGE_PRESENT);
    assert_int_equal(states[PAGES - 1], WNDL_RT_PAGE_PRESENT);
    assert_int_equal(count(WNDL_RT_PAGE_UNTOUCHED), PAGES - 3);
}

/* A terabyte that nobody touched would take seconds, page by page. */
static void untouched_parts_are_passed_over(void **state)
{
    (void)state;
    const size_t count = (size_t)1 << 28, size = count * WNDL_RT_PAGE;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    uint8_t *of = mmap(NULL, 2 * count, PROT_READ | PROT_WRITE, flags, -1, 0);
    struct wndl_rt_own_pages own;
    if (memory == MAP_FAILED || of == MAP_FAILED)
        skip(); /* of a sanitizer, or limited */
    const struct wndl_rt_page_states all = {of, of + count, count};
    memory[5 * (size_t)WNDL_RT_PAGE] = memory[size - 1] = 1;
    wndl_rt_own_pages_begin(&own);
    bool known = wndl_rt_own_pages_look(&own, (uintptr_t)memory, &all);
    wndl_rt_own_pages_end(&own);
    if (known) {
        assert_int_equal(wndl_rt_pages_next_touched(&all, 0, count), 5);
        size_t last = wndl_rt_pages_next_touched(&all, 6, count);
        /* A huge page begins before it, where the system makes them. */
        assert_in_range(last, count - 512, count - 1);
        assert_int_equal(wndl_rt_pages_next_touched(&all, 6, 9), 9);
    }
    munmap(memory, size);
    munmap(of, 2 * count);
}

static void guards_are_left_to_the_kernel(void **state)
{
    (void)state;
    if (madvise(pages + 7 * WNDL_RT_PAGE, 2 * WNDL_RT_PAGE,
            MADV_GUARD_INSTALL) != 0)
        SKIP("no guard pages: a kernel before 6.13");
    if (!can_read_pagemap())
        SKIP("no /proc/self/pagemap");
    assert_true(look());
    assert_int_equal(states[7], WNDL_RT_PAGE_OTHER);
    assert_int_equal(states[8], WNDL_RT_PAGE_OTHER);
    assert_int_equal(count(WNDL_RT_PAGE_PRESENT), 2);
}

static void *wait_for_end(void *fd)
{
    char byte;
    return read(*(int *)fd, &byte, 1) == 1 ? fd : NULL;
}

static void beside_other_threads_nothing_is_read_in_place(void **state)
{
    (void)state;
    int ends[2];
    pthread_t other;
    assert_int_equal(wndl_own_threads_count(), 1);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&other, NULL, wait_for_end, &ends[0]), 0);
    assert_int_equal(wndl_own_threads_count(), 2);
    bool known = look();
    assert_int_equal(write(ends[1], "", 1), 1);
    pthread_join(other, NULL);
    close(ends[0]);
    close(ends[1]);
    if (!can_read_pagemap())
        SKIP("no /proc/self/pagemap");
    assert_true(known);
    assert_int_equal(count(WNDL_RT_PAGE_PRESENT), 0);
    assert_int_equal(count(WNDL_RT_PAGE_OTHER), 3);
}

static int wait_in_child(void *ends)
{
    char byte;
    _exit(read(*(int *)ends, &byte, 1) == 1 ? 0 : 1);
}

/* It could unmap the pages at any time. */
static void beside_what_shares_the_memory_nothing_is_read_in_place(void **state)
{
    (void)state;
    enum { STACK = 64 * 1024 };
    static _Alignas(16) uint8_t stack[STACK];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child =
        clone(wait_in_child, stack + STACK, CLONE_VM | SIGCHLD, &ends[0]);
    assert_true(child > 0);
    assert_int_equal(wndl_own_threads_count(), 1);
    bool known = look();
    assert_int_equal(write(ends[1], "", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
    if (!can_read_pagemap())
        SKIP("no /proc/self/pagemap");
    assert_true(known);
    assert_int_equal(count(WNDL_RT_PAGE_PRESENT), 0);
    assert_int_equal(count(WNDL_RT_PAGE_OTHER), 3);
}

/* As in a child of vfork(). */
static void in_another_process_nothing_is_read_in_place(void **state)
{
    (void)state;
    wndl_rt.pid = getppid();
    (void)look();
    assert_int_equal(count(WNDL_RT_PAGE_PRESENT), 0);
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static void handlers_wait_and_other_signals_do_not(void **state)
{
    (void)state;
    struct wndl_rt_own_pages own;
    sigset_t mask;
    signal(SIGUSR1, handle);
    wndl_rt_own_pages_begin(&own);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    bool in_place = own.in_place;
    raise(SIGUSR1);
    bool waited = handled == 0;
    wndl_rt_own_pages_end(&own);
    assert_int_equal(handled, SIGUSR1);
    assert_false(sigismember(&mask, SIGUSR2));
    assert_true(waited == in_place);
    signal(SIGUSR1, SIG_DFL);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    assert_false(sigismember(&mask, SIGUSR1));
}

/* What a protection key forbids can be read between begin() and end(). */
static void keys_are_open_meanwhile(void **state)
{
    (void)state;
    struct wndl_rt_own_pages own;
    int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    if (key < 0 ||
        pkey_mprotect(pages, WNDL_RT_PAGE, PROT_READ | PROT_WRITE, key) != 0)
        SKIP("no protection keys");
    wndl_rt_own_pages_begin(&own);
    uint8_t got = own.in_place ? *(volatile uint8_t *)pages : 1;
    wndl_rt_own_pages_end(&own);
    assert_int_equal(got, 1);
    assert_int_equal(pkey_get(key), PKEY_DISABLE_ACCESS);
    pkey_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            pages_are_known_by_their_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            untouched_parts_are_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            too_many_pages_are_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            guards_are_left_to_the_kernel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            beside_other_threads_nothing_is_read_in_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            beside_what_shares_the_memory_nothing_is_read_in_place, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            in_another_process_nothing_is_read_in_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            handlers_wait_and_other_signals_do_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            keys_are_open_meanwhile, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
