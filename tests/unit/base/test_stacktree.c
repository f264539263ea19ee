/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/stacktree.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, PATHS = 3000, DEPTH = 24 };

static struct wndl_stacktree *new_tree(uint32_t max_nodes)
{
    void *memory = NULL;
    size_t size = wndl_stacktree_size(max_nodes);
    assert_int_equal(posix_memalign(&memory, 64, size), 0);
    memset(memory, 0, size);
    return wndl_stacktree_init(memory, max_nodes);
}

static void the_same_pair_is_the_same_node(void **state)
{
    (void)state;
    struct wndl_stacktree *tree = new_tree(100);
    uint32_t a = wndl_stacktree_insert(tree, 0, 0x1000);
    uint32_t b = wndl_stacktree_insert(tree, a, 0x1000);
    assert_int_equal(a, 1);
    assert_int_equal(b, 2);
    assert_int_equal(wndl_stacktree_insert(tree, 0, 0x1000), a);
    assert_int_equal(wndl_stacktree_insert(tree, a, 0x1000), b);
    assert_int_equal(wndl_stacktree_insert(tree, a, 0x1001), 3);
    assert_int_equal(wndl_stacktree_insert(tree, 0, 0x1001), 4);
    struct wndl_stackreader reader = wndl_stackreader_init(tree, 100);
    assert_int_equal(wndl_stackreader_count(&reader), 4);
    struct wndl_stacknode node;
    assert_true(wndl_stackreader_get(&reader, b, &node));
    assert_int_equal(node.parent, a);
    assert_int_equal(node.key, 0x1000);
    free(tree);
}

static void nodes_outside_the_tree_are_not_to_be_had(void **state)
{
    (void)state;
    struct wndl_stacktree *tree = new_tree(10);
    struct wndl_stackreader reader = wndl_stackreader_init(tree, 10);
    struct wndl_stacknode node;
    assert_false(wndl_stackreader_get(&reader, 0, &node));
    assert_false(wndl_stackreader_get(&reader, 1, &node));
    assert_int_equal(wndl_stacktree_insert(tree, 0, 5), 1);
    assert_true(wndl_stackreader_get(&reader, 1, &node));
    assert_false(wndl_stackreader_get(&reader, 11, &node));
    assert_false(wndl_stackreader_get(&reader, UINT32_MAX, &node));
    free(tree);
}

static void a_full_tree_still_finds_what_it_has(void **state)
{
    (void)state;
    enum { MAX = 50 };
    struct wndl_stacktree *tree = new_tree(MAX);
    for (uint32_t i = 1; i <= MAX; i++)
        assert_int_equal(wndl_stacktree_insert(tree, i / 2, i), i);
    assert_int_equal(wndl_stacktree_insert(tree, 1, 777), 0);
    assert_int_equal(wndl_stacktree_insert(tree, 1, 778), 0);
    struct wndl_stackreader reader = wndl_stackreader_init(tree, MAX);
    assert_int_equal(wndl_stackreader_count(&reader), MAX);
    for (uint32_t i = 1; i <= MAX; i++)
        assert_int_equal(wndl_stacktree_insert(tree, i / 2, i), i);
    free(tree);
}

/* More children than a line of the index holds. */
static void a_node_may_have_very_many_children(void **state)
{
    (void)state;
    enum { CHILDREN = 20000 };
    struct wndl_stacktree *tree = new_tree(CHILDREN);
    for (uint32_t i = 1; i <= CHILDREN; i++)
        assert_int_equal(wndl_stacktree_insert(tree, 0, i * 16), i);
    for (uint32_t i = 1; i <= CHILDREN; i++)
        assert_int_equal(wndl_stacktree_insert(tree, 0, i * 16), i);
    free(tree);
}

static size_t touched_pages(const void *memory, size_t size)
{
    enum { PAGE = 4096 };
    static const uint8_t zeroes[PAGE];
    const uint8_t *bytes = memory;
    size_t pages = 0;
    for (size_t i = 0; i + PAGE <= size; i += PAGE)
        pages += memcmp(bytes + i, zeroes, PAGE) != 0;
    return pages;
}

/* Some of them with more children than have room near to each other's. */
static void a_small_tree_takes_little_memory(void **state)
{
    (void)state;
    enum { MAX = WNDL_STACKTREE_MAX, NODES = 30000, DEEP = 20, WIDE = 100 };
    struct wndl_stacktree *tree = new_tree(MAX);
    uint32_t inserted = 0, parent = 0;
    while (inserted < NODES) {
        for (uint32_t i = 0; i < DEEP; i++)
            parent = wndl_stacktree_insert(tree, parent, ++inserted);
        for (uint32_t i = 0; i < WIDE && parent % 200 == DEEP; i++)
            (void)wndl_stacktree_insert(tree, parent, ++inserted);
        if (parent % 3 == 0)
            parent /= 2;
    }
    /* 16 bytes a node, a line for ten of them, and some of the overflow,
     * which has a thousand pages. */
    assert_in_range(touched_pages(tree, wndl_stacktree_size(MAX)), 1,
        NODES * 16 / 4096 + NODES / 10 / 64 + 128);
    free(tree);
}

static void scribbling_over_the_header_is_noticed(void **state)
{
    (void)state;
    struct wndl_stacktree *tree = new_tree(100);
    assert_true(wndl_stacktree_intact(tree, 100));
    assert_false(wndl_stacktree_intact(tree, 1000));
    memset(tree, 0xff, 8);
    assert_false(wndl_stacktree_intact(tree, 100));
    free(tree);
}

static void a_reader_keeps_to_the_block_whatever_is_written_there(void **state)
{
    (void)state;
    struct wndl_stacktree *tree = new_tree(100);
    struct wndl_stackreader reader = wndl_stackreader_init(tree, 100);
    struct wndl_stacknode node;
    memset(tree, 0xff, wndl_stacktree_size(100));
    assert_int_equal(wndl_stackreader_count(&reader), 100);
    assert_true(wndl_stackreader_get(&reader, 100, &node));
    assert_false(wndl_stackreader_get(&reader, 101, &node));
    free(tree);
}

struct hammer {
    struct wndl_stacktree *tree;
    unsigned seed;
    uint32_t leaves[PATHS];
};

/* Paths part one by one, from the root on. */
static uint64_t step_of(unsigned path, unsigned level)
{
    unsigned shift = level < 12 ? 12 - level : 0;
    return 0x400000 + (uint64_t)(path >> shift) * 64 + level;
}

/* All threads insert the same paths, each in another order. */
static void *insert_paths(void *context)
{
    struct hammer *h = context;
    for (unsigned n = 0; n < PATHS; n++) {
        unsigned path = (n * 7919u + h->seed * 1013u) % PATHS;
        uint32_t node = 0;
        for (unsigned level = 0; level < DEPTH; level++)
            node = wndl_stacktree_insert(h->tree, node, step_of(path, level));
        h->leaves[path] = node;
    }
    return NULL;
}

static void assert_path(
    const struct wndl_stacktree *tree, uint32_t leaf, unsigned path)
{
    struct wndl_stackreader reader =
        wndl_stackreader_init(tree, 2 * PATHS * DEPTH);
    struct wndl_stacknode node = {.parent = leaf};
    for (unsigned level = DEPTH; level-- > 0;) {
        uint32_t index = node.parent;
        assert_true(wndl_stackreader_get(&reader, index, &node));
        assert_true(node.key == step_of(path, level));
        assert_true(node.parent < index);
    }
    assert_int_equal(node.parent, 0);
}

static void threads_that_insert_the_same_get_the_same(void **state)
{
    (void)state;
    struct wndl_stacktree *tree = new_tree(2 * PATHS * DEPTH); /* and orphans */
    pthread_t threads[THREADS];
    struct hammer *hammers = calloc(THREADS, sizeof *hammers);
    for (unsigned i = 0; i < THREADS; i++) {
        hammers[i] = (struct hammer){.tree = tree, .seed = i};
        assert_int_equal(
            pthread_create(&threads[i], NULL, insert_paths, &hammers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned path = 0; path < PATHS; path++) {
        assert_path(tree, hammers[0].leaves[path], path);
        for (unsigned i = 1; i < THREADS; i++)
            assert_int_equal(hammers[i].leaves[path], hammers[0].leaves[path]);
    }
    free(hammers);
    free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_pair_is_the_same_node),
        cmocka_unit_test(nodes_outside_the_tree_are_not_to_be_had),
        cmocka_unit_test(a_full_tree_still_finds_what_it_has),
        cmocka_unit_test(a_node_may_have_very_many_children),
        cmocka_unit_test(a_small_tree_takes_little_memory),
        cmocka_unit_test(scribbling_over_the_header_is_noticed),
        cmocka_unit_test(a_reader_keeps_to_the_block_whatever_is_written_there),
        cmocka_unit_test(threads_that_insert_the_same_get_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
