/* SPDX-License-Identifier: MIT */
/* Copies of stacks whose walk was lost: what is readable, and no more. */
#include "testlib.h"

#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/sample/keep_stack.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NODES = 100, PAGE = 4096, PAGES = 6, RED = 128 };

/* A stack: its outermost pages cannot be read. */
static uint8_t *pages;
static uint64_t gregs[WNDL_SHM_COPY_REGS];

static uint64_t page(unsigned i)
{
    return (uintptr_t)pages + (uint64_t)i * PAGE;
}

static int set_up(void **state)
{
    (void)state;
    const size_t size = wndl_shm_whole_size(NODES);
    void *shm = mmap(NULL, size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shm == MAP_FAILED || pages == MAP_FAILED)
        return -1;
    for (size_t i = 0; i < PAGES * PAGE; i++)
        pages[i] = (uint8_t)(i * 31 + i / 256);
    for (size_t i = 0; i < WNDL_SHM_COPY_REGS; i++)
        gregs[i] = 1000 + i;
    wndl_rt.shm = shm;
    wndl_rt.copies = (void *)((uint8_t *)shm + wndl_shm_copies_offset(NODES));
    wndl_rt.pid = getpid();
    return mprotect(pages, PAGE, PROT_NONE) |
           mprotect(pages + (PAGES - 1) * PAGE, PAGE, PROT_NONE);
}

static int tear_down(void **state)
{
    (void)state;
    munmap(pages, PAGES * PAGE);
    return munmap(wndl_rt.shm, wndl_shm_whole_size(NODES));
}

static uint32_t keep(uint64_t sp, uint64_t low, uint64_t high)
{
    const struct wndl_regs regs = {.sp = sp, .gregs = gregs};
    const struct wndl_stack_range stack = {low, high};
    return wndl_rt_keep_stack(&regs, &stack);
}

/* The copy `at`, one more than its number, is the memory from `from` up. */
static void assert_copied(
    uint32_t at, uint64_t from, uint32_t below, uint64_t size)
{
    assert_int_not_equal(at, 0);
    const struct wndl_shm_copy *copy = &wndl_rt.copies[at - 1];
    assert_int_equal(wndl_rt.shm->copy_states[at - 1], WNDL_COPY_WHOLE);
    assert_int_equal(copy->below, below);
    assert_int_equal(copy->size, size);
    assert_memory_equal(copy->bytes, (const void *)(uintptr_t)from, size);
    assert_memory_equal(copy->gregs, gregs, sizeof gregs);
    wndl_rt_drop_stack(at);
    assert_int_equal(wndl_rt.shm->copy_states[at - 1], WNDL_COPY_FREE);
}

static void a_stack_is_copied_with_its_red_zone(void **state)
{
    (void)state;
    const uint64_t sp = page(2) + 512;
    assert_copied(
        keep(sp, page(1), page(4)), sp - RED, RED, page(4) - sp + RED);
}

static void a_red_zone_ends_with_the_stack(void **state)
{
    (void)state;
    assert_copied(keep(page(1) + 48, page(1), page(2)), page(1), 48, PAGE);
    assert_copied(keep(page(1), page(1), page(2)), page(1), 0, PAGE);
}

static void a_guard_page_below_is_not_read(void **state)
{
    (void)state;
    assert_copied(keep(page(1), page(0), page(2)), page(1), 0, PAGE);
    assert_int_equal(keep(page(0) + 256, page(0), page(1)), 0);
    assert_int_equal(wndl_rt.shm->copy_states[0], WNDL_COPY_FREE);
}

static void red_zone_alone_is_no_copy(void **state)
{
    (void)state;
    assert_int_equal(keep(page(PAGES - 1), page(1), page(PAGES)), 0);
    assert_int_equal(wndl_rt.shm->copy_states[0], WNDL_COPY_FREE);
}

static void a_copy_ends_where_memory_does(void **state)
{
    (void)state;
    const uint64_t sp = page(4) + 1024;
    assert_copied(keep(sp, page(1), page(PAGES)), sp - RED, RED,
        page(PAGES - 1) - sp + RED);
}

static void a_copy_has_bounded_room(void **state)
{
    (void)state;
    enum { WIDE = 2 * WNDL_SHM_COPY_BYTES };
    uint8_t *wide = calloc(1, WIDE);
    assert_non_null(wide);
    const uint64_t low = (uintptr_t)wide;
    assert_copied(
        keep(low + RED, low, low + WIDE), low, RED, WNDL_SHM_COPY_BYTES);
    free(wide);
}

static void what_is_no_stack_is_not_copied(void **state)
{
    (void)state;
    const struct wndl_regs bare = {.sp = page(2)};
    const struct wndl_stack_range stack = {page(1), page(4)};
    assert_int_equal(wndl_rt_keep_stack(&bare, &stack), 0);
    assert_int_equal(keep(page(2), page(3), page(4)), 0);
    assert_int_equal(keep(page(4), page(1), page(4)), 0);
}

static void copies_that_are_in_use_are_left_alone(void **state)
{
    (void)state;
    uint32_t kept[WNDL_SHM_COPIES];
    for (uint32_t i = 0; i < WNDL_SHM_COPIES; i++) {
        kept[i] = keep(page(2), page(1), page(4));
        assert_int_equal(kept[i], i + 1);
    }
    assert_int_equal(keep(page(2), page(1), page(4)), 0);
    wndl_rt_drop_stack(0);
    assert_int_equal(keep(page(2), page(1), page(4)), 0);
    wndl_rt_drop_stack(kept[1]);
    assert_int_equal(keep(page(2), page(1), page(4)), kept[1]);
}

/* A sandbox may forbid the copy. */
static void a_sandbox_is_not_provoked(void **state)
{
    (void)state;
    atomic_store(&wndl_rt.careful, true);
    assert_int_equal(keep(page(2), page(1), page(4)), 0);
    atomic_store(&wndl_rt.careful, false);
    assert_int_equal(wndl_rt.shm->copy_states[0], WNDL_COPY_FREE);
}

/* Only rules for x86-64 are made from code. */
static void other_processors_copy_nothing(void **state)
{
    (void)state;
    assert_int_equal(keep(page(2), page(1), page(4)), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stack_is_copied_with_its_red_zone),
        TEST(a_red_zone_ends_with_the_stack),
        TEST(a_guard_page_below_is_not_read),
        TEST(red_zone_alone_is_no_copy),
        TEST(a_copy_ends_where_memory_does),
        TEST(a_copy_has_bounded_room),
        TEST(what_is_no_stack_is_not_copied),
        TEST(copies_that_are_in_use_are_left_alone),
        TEST(a_sandbox_is_not_provoked),
    };
    const struct CMUnitTest of_others[] = {
        TEST(other_processors_copy_nothing),
    };
    if (WNDL_ARCH_MACHINE != EM_X86_64)
        return cmocka_run_group_tests(of_others, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
