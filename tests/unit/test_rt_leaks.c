/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rt/heap_leaks.h"
#include "rt/heap_thread.h"
#include "rt/rt.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MAPPINGS = 600 };

struct wndl_rt wndl_rt;

/* What the search asks of threads: there are none that allocate. */
bool wndl_rt_heap_threads_are_in(uintptr_t start, uintptr_t end)
{
    (void)start;
    (void)end;
    return false;
}

void wndl_rt_heap_threads_each(
    void (*visit)(void *context, const struct wndl_stack_range *stack),
    void *context)
{
    (void)visit;
    (void)context;
}

/* No block is known of: nothing is read, only what is mapped is listed. */
static bool is_known(uint32_t most_mappings)
{
    const struct wndl_rt_leak_search search = {.most_mappings = most_mappings};
    return wndl_rt_heap_find_leaks(&search, NULL, 0);
}

/* The fewest with which it is known, of 1 to `most`. */
static uint32_t fewest_known(uint32_t most)
{
    uint32_t low = 1;
    while (low < most) {
        uint32_t middle = low + (most - low) / 2;
        if (is_known(middle))
            most = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void with_too_many_mappings_nothing_is_known(void **state)
{
    (void)state;
    uint32_t before = fewest_known(WNDL_RT_LEAK_MAPPINGS);
    assert_in_range(before, 3, WNDL_RT_LEAK_MAPPINGS / 2);
    /* Every other page is another mapping than its neighbours. */
    uint8_t *pages = mmap(NULL, (size_t)MAPPINGS * PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    for (size_t i = 0; i < MAPPINGS; i += 2)
        assert_int_equal(mprotect(pages + i * PAGE, PAGE, PROT_READ), 0);
    assert_false(is_known(before));
    assert_false(is_known(MAPPINGS));
    assert_true(is_known(before + MAPPINGS));
    munmap(pages, (size_t)MAPPINGS * PAGE);
    assert_true(is_known(before));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_too_many_mappings_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
