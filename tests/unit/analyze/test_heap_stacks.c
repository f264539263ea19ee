/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/heap/stack_texts.h"
#include "model/heap.h"
#include "named.h"

#include <stdio.h>
#include <stdlib.h>

/* A stack of two of the process's frames, the second with one inlined. */
static const char few[] = "meta 1000 1 1 h / app\n"
                          "process 0 1 /bin/app app\n"
                          "image /bin/app -\n"
                          "heap 0 0 0\n"
                          "site 0 0 24 8 0:10 0:20\n"
                          "site 0 0 48 0 0:10 0:20 0:20\n"
                          "site 0 3 48 0 0:10 0:20\n"
                          "snapshot 0 0 _ 2\n"
                          "exit 0 1\n"
                          "done 0 0\n";

static const char names[] = "10 main main.c 12\n"
                            "20 g main.h 33 f main.c 27\n";

/* "g (main.h:33) [inlined] < ..." */
static void spell(
    const struct wndl_heap_list *list, uint32_t leaf, char *text, size_t size)
{
    text[0] = '\0';
    while (leaf != 0) {
        const struct wndl_heap_frame *frame = wndl_heap_frame_at(list, leaf);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", used == 0 ? "" : " < ",
            wndl_intern_text(&list->strings, frame->text));
        leaf = frame->caller;
    }
}

/* Of a site's stack. */
static void assert_stack(struct wndl_stack_texts *stacks,
    const struct wndl_profile *p, size_t i, const char *wanted)
{
    const struct wndl_process_heap *heap = wndl_vec_at(&p->heaps, 0);
    const struct wndl_alloc_site *site = wndl_vec_at(&heap->sites, i);
    char text[400];
    uint32_t leaf;
    assert_true(wndl_stack_texts_of(stacks, site->node, site->end, &leaf));
    spell(stacks->list, leaf, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void frames_are_told_the_same_each_time(void **state)
{
    (void)state;
    struct named named;
    struct wndl_heap_list list;
    struct wndl_stack_texts stacks;
    named_cook(&named, few, names);
    assert_true(wndl_heap_list_init(&list, wndl_mem_libc()));
    assert_true(wndl_stack_texts_init(&stacks, &list, &named.symbolized));
    for (int i = 0; i < 2; i++) {
        assert_stack(&stacks, &named.profile, 0,
            "g (main.h:33) [inlined] < f (main.c:27) < main (main.c:12)");
        assert_stack(&stacks, &named.profile, 1,
            "g (main.h:33) [inlined] < f (main.c:27) < "
            "g (main.h:33) [inlined] < f (main.c:27) < main (main.c:12)");
        assert_stack(&stacks, &named.profile, 2,
            "g (main.h:33) [inlined] < f (main.c:27) < main (main.c:12) < "
            "(lost)");
    }
    wndl_stack_texts_free(&stacks);
    wndl_heap_list_free(&list);
    named_free(&named);
}

static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    struct named named;
    bool whole = false;
    named_cook(&named, few, names);
    const struct wndl_process_heap *heap = wndl_vec_at(&named.profile.heaps, 0);
    const struct wndl_alloc_site *site = wndl_vec_at(&heap->sites, 1);
    for (long budget = 0; !whole; budget++) {
        struct failing_mem mem;
        struct wndl_heap_list list;
        struct wndl_stack_texts stacks;
        uint32_t leaf;
        failing_mem_init(&mem, budget);
        if (wndl_heap_list_init(&list, &mem.mem)) {
            whole = wndl_stack_texts_init(&stacks, &list, &named.symbolized) &&
                    wndl_stack_texts_of(&stacks, site->node, site->end, &leaf);
            wndl_stack_texts_free(&stacks);
            wndl_heap_list_free(&list);
        }
        assert_int_equal(mem.live, 0);
    }
    named_free(&named);
}

/* Bytes that are taken for a heap of which nothing is asked yet. */
static size_t taken_at_first(const char *recipe)
{
    struct named named;
    struct wndl_heap_list list;
    struct wndl_stack_texts stacks;
    named_cook(&named, recipe, names);
    assert_true(wndl_heap_list_init(&list, wndl_mem_libc()));
    assert_true(wndl_stack_texts_init(&stacks, &list, &named.symbolized));
    const size_t taken = stacks.arena.taken;
    wndl_stack_texts_free(&stacks);
    wndl_heap_list_free(&list);
    named_free(&named);
    return taken;
}

/* A recording may have thousands of heaps, which are looked at one by one. */
static void a_heap_is_cheap_among_many_frames(void **state)
{
    (void)state;
    enum { FRAMES = 8000, LINE = 32 };
    char *many = malloc(sizeof few + (size_t)FRAMES * LINE);
    assert_non_null(many);
    const char *const end = strstr(few, "heap");
    size_t used = (size_t)(end - few);
    memcpy(many, few, used);
    used += (size_t)snprintf(many + used, LINE, "thread 0 1 app\n");
    for (unsigned i = 0; i < FRAMES; i++)
        used += (size_t)snprintf(
            many + used, LINE, "sample 0 1 0 0:%x\n", 0x1000 + i);
    memcpy(many + used, end, strlen(end) + 1);
    assert_int_equal(taken_at_first(many), taken_at_first(few));
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_told_the_same_each_time),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
        cmocka_unit_test(a_heap_is_cheap_among_many_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
