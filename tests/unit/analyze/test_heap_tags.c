/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/heap/tags.h"
#include "named.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Image 0 is the executable, 1 the driver, 2 a library that both use, 3 one of
 * the program's own.
 */
#define START                                                                  \
    "meta 1000 1 1 h / app\n"                                                  \
    "process 0 1 /bin/app app\n"                                               \
    "image /bin/app -\n"                                                       \
    "image /lib/libGLX_x.so.0 -\n"                                             \
    "image /lib/libc.so.6 -\n"                                                 \
    "image /lib/libown.so -\n"                                                 \
    "heap 0 0 0\n"

#define LIBRARIES                                                              \
    "library libown* -\n"                                                      \
    "library libGL* driver\n"

static const char golden[] = START LIBRARIES
    "tag 0 0 called\n"
    "tag 0 0 - 0:10 1:20 2:30\n" /* a thread of the driver's */
    "tag 0 1 - 0:10 2:30\n"      /* of the program, inside `called` */
    "tag 0 2 - 0:10 2:40\n"      /* of the program's code in that thread */
    "site 0 0 1 0 0:10 2:30\n"
    "site 0 0 2 0 0:10 1:20 2:30\n"
    "site 0 0 4 0 0:10 1:20 0:12 2:30\n"
    "site 0 0 8 0 0:10 1:20 3:22 2:30\n"
    "site 0 0 16 0 0:10 1:20 2:30\n" /* tagged by a call */
    "site 0 0 32 0 2:50 0:12 2:30\n" /* in the driver's thread */
    "site 0 0 64 0 2:50 0:12 2:30\n" /* in the program's */
    "site 0 0 128 0 2:50 0:12\n"     /* in a thread that that one made */
    "site 0 0 256 0 0:10 3:22 1:24\n"
    "owners 0 4 1 5 2 6 3 7 4\n"
    "snapshot 0 0 - 9 0 511 511\n"
    "counts 0 0 1 0 1 0 0 1 1 0 1 0 0 2 1 0 1 0 0 3 1 0 1 0 0 4 1 0 1 0 0 "
    "5 1 0 1 0 0 6 1 0 1 0 0 7 1 0 1 0 0 8 1 0 1 0 0\n"
    "done 0 0\n";

static const char names[] = "10 main main.c 12\n";

static void cook(struct named *named, const char *recipe)
{
    named_cook(named, recipe, names);
    assert_true(wndl_heap_tags_apply(&named->profile, &named->symbolized));
}

/* "driver=290 called=80 =5": usable bytes. */
static void assert_sums(const struct wndl_profile *p, const char *wanted)
{
    struct wndl_arena arena;
    struct wndl_vec sums;
    char text[200] = "";
    const struct wndl_heap_choice choice = {.set = WNDL_HEAP_SET_LIVE};
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&sums, &arena, sizeof(struct wndl_heap_tag_sum));
    assert_true(wndl_heap_tags_sum(p, &choice, &sums));
    for (size_t i = 0; i < sums.len; i++) {
        const struct wndl_heap_tag_sum *sum = wndl_vec_at(&sums, i);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.*s=%.0f",
            i == 0 ? "" : " ", (int)sum->name.size,
            (const char *)sum->name.data, sum->bytes);
    }
    assert_string_equal(text, wanted);
    wndl_arena_free(&arena);
}

static void nearest_module_decides(void **state)
{
    (void)state;
    struct named named;
    cook(&named, golden);
    assert_sums(&named.profile, "driver=418 called=80 =13");
    named_free(&named);
}

static void calls_alone_have_tags_without_libraries(void **state)
{
    (void)state;
    struct named named;
    cook(&named, START "tag 0 0 called\n"
                       "site 0 0 1 0 0:10 1:20\n"
                       "site 0 0 2 0 0:10 1:20\n"
                       "owners 0 1 1\n"
                       "snapshot 0 0 - 2 0 3 3\n"
                       "counts 0 0 1 0 1 0 0 1 1 0 1 0 0\n"
                       "done 0 0\n");
    assert_sums(&named.profile, "called=2 =1");
    named_free(&named);
}

static void stack_begins_with_its_tag(void **state)
{
    (void)state;
    struct named named;
    cook(&named, golden);
    const struct wndl_process_heap *heap = wndl_vec_at(&named.profile.heaps, 0);
    const struct wndl_alloc_site *site = wndl_vec_at(&heap->sites, 1);
    const struct wndl_node *node =
        wndl_vec_at(&named.profile.nodes, site->node);
    unsigned depth = 1;
    for (; node->parent != 0; depth++)
        node = wndl_vec_at(&named.profile.nodes, node->parent);
    const struct wndl_span *span =
        wndl_vec_at(&named.symbolized.spans, node->frame);
    const uint32_t *at =
        wndl_vec_at(&named.symbolized.frame_locations, span->first);
    const struct wndl_location *location =
        wndl_vec_at(&named.symbolized.locations, *at);
    const struct wndl_function *function =
        wndl_vec_at(&named.symbolized.functions, location->function);
    assert_int_equal(depth, 4);
    assert_string_equal(
        wndl_intern_text(&named.symbolized.strings, function->name),
        "tag: driver");
    named_free(&named);
}

static void other_tags_are_dropped(void **state)
{
    (void)state;
    struct named named;
    cook(&named, golden);
    assert_true(wndl_heap_tags_keep(&named.profile, "dri*"));
    assert_sums(&named.profile, "driver=418");
    assert_false(wndl_heap_tags_keep(&named.profile, "nobody"));
    assert_sums(&named.profile, "");
    named_free(&named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_module_decides),
        cmocka_unit_test(calls_alone_have_tags_without_libraries),
        cmocka_unit_test(stack_begins_with_its_tag),
        cmocka_unit_test(other_tags_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
