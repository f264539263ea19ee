/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/walk/stacks.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MAPPED = 8 * PAGE, GIVEN = 64 * PAGE, LINE = 4352 };

static struct wndl_rt_stacks stacks;
static struct wndl_stack_range ranges[WNDL_RT_STACKS_GIVEN];
static uint8_t scratch[LINE];
static uint8_t *other; /* MAPPED bytes, after which nothing can be read */

static size_t around(const void *sp)
{
    return wndl_rt_stacks_around(&stacks, (uintptr_t)sp,
        (struct wndl_bytes){scratch, sizeof scratch}, ranges);
}

static int set_up(void **state)
{
    (void)state;
    stacks = (struct wndl_rt_stacks){0};
    atomic_store(&wndl_rt.careful, false);
    atomic_fetch_add(&wndl_rt.unmaps, 1); /* nothing is known any more */
    other =
        mmap(NULL, 2 * GIVEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return other == MAP_FAILED
               ? -1
               : mprotect(other, MAPPED, PROT_READ | PROT_WRITE);
}

static int tear_down(void **state)
{
    (void)state;
    return munmap(other, 2 * GIVEN);
}

static void initial_stack_reaches_to_the_programs_name(void **state)
{
    (void)state;
    int here = 0;
    assert_int_equal(around(&here), 1);
    assert_true(ranges[0].low == (uintptr_t)&here - WNDL_ARCH_RED_ZONE);
    assert_true(ranges[0].high > getauxval(AT_EXECFN));
    assert_true(stacks.is_initial);
}

/* Nothing can be read from /proc without room. */
static void own_stack_is_looked_up_once(void **state)
{
    (void)state;
    int here = 0;
    assert_int_equal(around(&here), 1);
    uint64_t high = ranges[0].high;
    size_t again = wndl_rt_stacks_around(
        &stacks, (uintptr_t)&here, (struct wndl_bytes){0}, ranges);
    assert_int_equal(again, 1);
    assert_true(ranges[0].low == (uintptr_t)&here - WNDL_ARCH_RED_ZONE);
    assert_true(ranges[0].high == high);
}

static uint64_t thread_pointer;
static size_t found_in_thread;

static void *look_in_thread(void *unused)
{
    (void)unused;
    int here = 0;
    found_in_thread = around(&here);
    thread_pointer = wndl_arch_thread_pointer();
    return NULL;
}

static void stack_of_a_thread_ends_at_its_control_block(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, look_in_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(found_in_thread, 1);
    assert_true(ranges[0].high == thread_pointer);
    assert_false(stacks.is_initial);
}

static void sandboxed_thread_knows_its_stack_all_the_same(void **state)
{
    atomic_store(&wndl_rt.careful, true);
    stack_of_a_thread_ends_at_its_control_block(state);
}

static void other_memory_is_given_with_the_own_stack(void **state)
{
    (void)state;
    int here = 0;
    assert_int_equal(around(&here), 1);
    const uint8_t *sp = other + PAGE + 8;
    assert_int_equal(around(sp), 2);
    assert_true(ranges[0].low == (uintptr_t)sp);
    assert_true(ranges[0].high == (uintptr_t)other + MAPPED);
    assert_true(ranges[1].low == stacks.own.low);
    assert_true(ranges[1].high == stacks.own.high);
}

static void of_large_memory_a_part_is_given(void **state)
{
    (void)state;
    assert_int_equal(mprotect(other, 2 * GIVEN, PROT_READ), 0);
    assert_true(around(other + PAGE + 8) > 0);
    assert_true(ranges[0].high == (uintptr_t)other + PAGE + GIVEN);
}

static void what_cannot_be_read_is_not_given(void **state)
{
    (void)state;
    assert_int_equal(around(other + MAPPED), 0);
}

static void memory_unmapped_unseen_is_not_given(void **state)
{
    (void)state;
    assert_true(around(other) > 0);
    assert_int_equal(munmap(other, MAPPED), 0);
    assert_int_equal(around(other), 0);
}

/* A page that becomes readable is not asked for again until then. */
static void answers_are_kept_until_memory_is_unmapped(void **state)
{
    (void)state;
    assert_true(around(other) > 0);
    assert_int_equal(mprotect(other + MAPPED, PAGE, PROT_READ), 0);
    assert_true(around(other) > 0);
    assert_true(ranges[0].high == (uintptr_t)other + MAPPED);
    atomic_fetch_add(&wndl_rt.unmaps, 1);
    assert_true(around(other) > 0);
    assert_true(ranges[0].high == (uintptr_t)other + MAPPED + PAGE);
}

/* Ten thousand coroutines take turns: each is looked up once. */
static void many_stacks_are_known_at_a_time(void **state)
{
    (void)state;
    enum { STACKS = 10000, SIZE = 16 * PAGE };
    uint8_t *all = mmap(NULL, (size_t)STACKS * SIZE, PROT_READ,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    size_t kept = 0;
    assert_true(all != MAP_FAILED);
    for (size_t i = 0; i < STACKS; i++)
        assert_true(around(all + i * SIZE + 15 * PAGE) > 0);
    /* The page above is no more, but only a new look would say so. */
    for (size_t i = 1; i < STACKS; i++)
        assert_int_equal(mprotect(all + i * SIZE + PAGE, PAGE, PROT_NONE), 0);
    for (size_t i = 0; i < STACKS - 5; i++) {
        assert_true(around(all + i * SIZE + 15 * PAGE) > 0);
        kept += ranges[0].high > (uintptr_t)all + (i + 1) * SIZE + PAGE;
    }
    munmap(all, (size_t)STACKS * SIZE);
    assert_in_range(kept, STACKS * 95 / 100, STACKS);
}

static void called_stack_without_its_last_page_is_not_given(void **state)
{
    (void)state;
    stacks.are_called = true;
    assert_true(around(other) > 0);
    assert_true(ranges[0].high == (uintptr_t)other + MAPPED);
    assert_int_equal(munmap(other + MAPPED - PAGE, PAGE), 0);
    assert_true(around(other) > 0);
    assert_true(ranges[0].high == (uintptr_t)other + MAPPED - PAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(initial_stack_reaches_to_the_programs_name),
        TEST(own_stack_is_looked_up_once),
        TEST(stack_of_a_thread_ends_at_its_control_block),
        TEST(sandboxed_thread_knows_its_stack_all_the_same),
        TEST(other_memory_is_given_with_the_own_stack),
        TEST(of_large_memory_a_part_is_given),
        TEST(what_cannot_be_read_is_not_given),
        TEST(memory_unmapped_unseen_is_not_given),
        TEST(answers_are_kept_until_memory_is_unmapped),
        TEST(many_stacks_are_known_at_a_time),
        TEST(called_stack_without_its_last_page_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
