/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "collect/process/stack_copy.h"

#include <stdlib.h>

enum { TOP = 0x7f0000010000, MOST = 4096, REG_OF_SP = 15 };

/* A stack, and the copy of it. */
struct kept {
    uint64_t start;
    uint32_t size;
    uint8_t bytes[MOST];
    struct wndl_stack_copy *copy;
};

static struct wndl_stack_copy *copy_stack(struct wndl_stack_copies *copies,
    uint32_t thread, uint64_t start, struct wndl_bytes stack)
{
    uint64_t gregs[WNDL_SHM_COPY_REGS] = {[REG_OF_SP] = start + 16};
    struct wndl_stack_copy *copy =
        wndl_stack_copy_new(copies, thread, gregs, 16, stack);
    assert_non_null(copy);
    assert_true(copy->start == start && copy->gregs[REG_OF_SP] == start + 16);
    return copy;
}

static bool reads(const struct wndl_stack_copy *copy, uint64_t address,
    const uint8_t *expected, size_t size)
{
    uint8_t got[MOST] = {0};
    return wndl_stack_copy_read(copy, address, got, size) &&
           memcmp(got, expected, size) == 0;
}

static void same_blocks_are_held_once(void **state)
{
    (void)state;
    static uint8_t stack[MOST];
    uint64_t bytes = 0;
    struct wndl_stack_copies copies = {.bytes = &bytes};
    struct wndl_stack_copy *kept[100];
    for (size_t i = 0; i < 100; i++) {
        stack[700] = (uint8_t)i;
        kept[i] = copy_stack(
            &copies, 3, TOP - MOST, (struct wndl_bytes){stack, sizeof stack});
    }
    assert_true(bytes > MOST + 99 * 256 && bytes < MOST + 100 * 512);
    for (size_t i = 0; i < 100; i++) {
        stack[700] = (uint8_t)i;
        assert_true(reads(kept[i], TOP - MOST, stack, sizeof stack));
        wndl_stack_copy_free(&copies, kept[i]);
    }
    wndl_stack_copies_close(&copies);
    assert_true(bytes == 0);
}

static void another_threads_stack_is_not_compared(void **state)
{
    (void)state;
    static const uint8_t stack[MOST];
    const struct wndl_bytes all = {stack, sizeof stack};
    uint64_t bytes = 0;
    struct wndl_stack_copies copies = {.bytes = &bytes};
    struct wndl_stack_copy *one = copy_stack(&copies, 1, TOP - MOST, all);
    struct wndl_stack_copy *two = copy_stack(&copies, 2, TOP - MOST, all);
    assert_true(one->base != two->base);
    wndl_stack_copy_free(&copies, one);
    wndl_stack_copy_free(&copies, two);
    wndl_stack_copy_free(&copies, NULL);
    wndl_stack_copies_close(&copies);
    assert_true(bytes == 0);
}

/* ---- any stacks, in any order */

static void change(struct kept *kept, const struct kept *before)
{
    *kept = *before;
    kept->copy = NULL;
    for (int i = rand() % 4; i > 0; i--)
        kept->bytes[rand() % MOST]++;
    const uint32_t end = rand() % 4 != 0 ? MOST : 1 + (uint32_t)rand() % MOST;
    const uint32_t from = (uint32_t)rand() % end;
    kept->size = end - from;
    kept->start = TOP - MOST + from;
}

static void check(const struct kept *kept)
{
    const uint8_t *bytes = kept->bytes + (kept->start - (TOP - MOST));
    const uint32_t from = (uint32_t)rand() % kept->size;
    const uint32_t size = 1 + (uint32_t)rand() % (kept->size - from);
    uint8_t byte[2];
    assert_true(reads(kept->copy, kept->start, bytes, kept->size));
    assert_true(reads(kept->copy, kept->start + from, bytes + from, size));
    assert_false(wndl_stack_copy_read(kept->copy, kept->start - 1, byte, 1));
    assert_false(wndl_stack_copy_read(
        kept->copy, kept->start + kept->size - 1, byte, 2));
    assert_false(wndl_stack_copy_read(kept->copy, kept->start, byte, SIZE_MAX));
}

static void every_byte_is_the_stacks_own(void **state)
{
    (void)state;
    enum { KEPT = 24, TURNS = 4000 };
    static struct kept kept[KEPT];
    uint64_t bytes = 0;
    struct wndl_stack_copies copies = {.bytes = &bytes};
    srand(7);
    for (int i = 0; i < TURNS; i++) {
        struct kept *k = &kept[rand() % KEPT];
        wndl_stack_copy_free(&copies, k->copy);
        change(k, &kept[rand() % KEPT]);
        k->copy = copy_stack(&copies, (uint32_t)rand() % 3, k->start,
            (struct wndl_bytes){k->bytes + (k->start - (TOP - MOST)), k->size});
        for (size_t j = 0; j < KEPT; j++) {
            if (kept[j].copy != NULL)
                check(&kept[j]);
        }
        if (i % 100 == 0)
            wndl_stack_copies_close(&copies);
    }
    for (size_t j = 0; j < KEPT; j++)
        wndl_stack_copy_free(&copies, kept[j].copy);
    wndl_stack_copies_close(&copies);
    assert_true(bytes == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_blocks_are_held_once),
        cmocka_unit_test(another_threads_stack_is_not_compared),
        cmocka_unit_test(every_byte_is_the_stacks_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
