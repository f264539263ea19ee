/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/bytes.h"
#include "rt/core/child.h"
#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/thread.h"
#include "rt/heap/leaks/copy.h"
#include "rt/heap/leaks/leaks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    MAPPINGS = 600,
    BLOCKS = 6000,
    SIZE = 32,
    MANY = 2000,
};

/* So many of the blocks, the first ones; the others are lost. */
static size_t kept = MANY;

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

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SHADOW 1
#endif

/* A sanitizer maps more than can be looked through, and has locks that nobody
 * gives back in a copy. */
static void need_no_shadow(void)
{
#ifdef HAS_SHADOW
    SKIP("not with a sanitizer's shadow memory");
#endif
}

/* ---- many blocks, whose addresses are in `roots` alone */

static uint8_t *roots, *heap;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint8_t *map_pages(size_t size, int flags)
{
    uint8_t *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

static uintptr_t block_at(size_t i)
{
    return (uintptr_t)heap + (i + 1) * SIZE;
}

static __attribute__((noinline)) void make_blocks(void)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        struct wndl_rt_block before;
        const struct wndl_rt_block block = {
            .address = block_at(i), .site = i >= kept};
        assert_int_equal(
            wndl_rt_blocks_put(&block, &before), WNDL_RT_BLOCK_ABSENT);
        if (i < kept)
            ((uintptr_t *)(void *)roots)[i] = block_at(i);
    }
}

static __attribute__((noinline)) void drop_blocks(void)
{
    struct wndl_rt_block block;
    for (size_t i = 0; i < BLOCKS; i++)
        assert_int_equal(
            wndl_rt_blocks_take(block_at(i), &block), WNDL_RT_BLOCK_FOUND);
}

static void set_up_blocks_for(int flags)
{
    wndl_rt.pid = getpid();
    roots = map_pages(kept * sizeof(uintptr_t), flags);
    heap = map_pages((BLOCKS + 2) * SIZE, MAP_PRIVATE);
    memset(heap, 0, (BLOCKS + 2) * SIZE);
    make_blocks();
}

static int set_up_blocks(void **state)
{
    (void)state;
    set_up_blocks_for(MAP_PRIVATE);
    return 0;
}

static int set_up_blocks_in_shared(void **state)
{
    (void)state;
    set_up_blocks_for(MAP_SHARED);
    return 0;
}

/* One that a copy takes for lost is no less to be taken back than many. */
static int set_up_blocks_of_which_one_is_kept(void **state)
{
    kept = 1;
    return set_up_blocks(state);
}

static int tear_down_blocks(void **state)
{
    (void)state;
    drop_blocks();
    munmap(roots, kept * sizeof(uintptr_t));
    munmap(heap, (BLOCKS + 2) * SIZE);
    kept = MANY;
    return 0;
}

static void *wait_for_end(void *nothing)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

/* Beside another thread, as what a search tells of two sites. */
static void search_beside_thread(struct wndl_heap_leaks leaks[2])
{
    static const struct wndl_heap_site sites[2] = {
        {.usable = SIZE + 1}, {.usable = SIZE + 1}};
    static const _Atomic uint32_t count = 2;
    pthread_t thread;
    const struct wndl_rt_leak_search search = {
        .sites = sites,
        .site_count = &count,
        .most_sites = 2,
        .leaks = leaks,
        .sp = (uintptr_t)__builtin_frame_address(0),
        .most_mappings = WNDL_RT_LEAK_MAPPINGS,
    };
    pthread_mutex_lock(&mutex);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
    assert_true(wndl_rt_heap_find_leaks(&search, NULL, 0));
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

static uint32_t lost(const struct wndl_heap_leaks *leaks)
{
    return leaks->definite + leaks->indirect + leaks->possible;
}

static void a_copy_of_the_process_tells(void **state)
{
    (void)state;
    need_no_shadow();
    struct wndl_heap_leaks own[2] = {{0}};
    struct wndl_heap_leaks *leaks = (void *)map_pages(PAGE, MAP_SHARED);
    search_beside_thread(leaks);
    assert_int_equal(lost(&leaks[0]), 0);
    assert_int_equal(leaks[1].definite, BLOCKS - kept);
    munmap(leaks, PAGE);
    /* Here it has not happened, if it can be done in a copy. */
    search_beside_thread(own);
#ifdef __x86_64__
    assert_int_equal(lost(&own[1]), 0);
#endif
}

/* The copy does not have it. */
static void what_no_copy_has_is_looked_at_here(void **state)
{
    (void)state;
    need_no_shadow();
    struct wndl_heap_leaks *leaks = (void *)map_pages(PAGE, MAP_SHARED);
    assert_int_equal(
        madvise(roots, kept * sizeof(uintptr_t), MADV_DONTFORK), 0);
    search_beside_thread(leaks);
    assert_int_equal(lost(&leaks[0]), 0);
    assert_int_equal(leaks[1].definite, BLOCKS - kept);
    munmap(leaks, PAGE);
}

/* What runs on in a child has the pipe open. */
static void a_copy_ends_with_its_thread(void **state)
{
    (void)state;
    need_no_shadow();
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        long copy = wndl_rt_child_fork_alone();
        if (copy == 0)
            sleep(120);
        _exit(copy < 0);
    }
    close(ends[1]);
    assert_int_equal(wndl_rt_child_wait(parent), 0);
    alarm(60);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    alarm(0);
    close(ends[0]);
}

/* Those that it has it closes at its end, which may be a flush. */
static void a_copy_has_no_descriptors_of_its_own(void **state)
{
    (void)state;
    need_no_shadow();
    int file = dup(STDERR_FILENO);
    long copy = wndl_rt_child_fork_alone();
    if (copy == 0)
        wndl_rt_child_exit(close(file));
    assert_int_equal(wndl_rt_child_wait(copy), 0);
    assert_int_equal(close(file), -1);
}

/* As it is, the copy is not believed. */
static void what_is_wiped_in_a_copy_is_looked_at_here(void **state)
{
    (void)state;
    need_no_shadow();
    struct wndl_heap_leaks *leaks = (void *)map_pages(PAGE, MAP_SHARED);
    assert_int_equal(
        madvise(roots, kept * sizeof(uintptr_t), MADV_WIPEONFORK), 0);
    search_beside_thread(leaks);
    assert_int_equal(lost(&leaks[0]), 0);
    assert_int_equal(leaks[1].definite, BLOCKS - kept);
    munmap(leaks, PAGE);
}

/* The copy tells leaks that are not shared with it: here there are none. */
static void what_is_wiped_in_vain_does_not_matter(void **state)
{
    (void)state;
    need_no_shadow();
    struct wndl_heap_leaks own[2] = {{0}};
    uint8_t *random = map_pages(PAGE, MAP_PRIVATE);
    memset(random, 1, PAGE);
    assert_int_equal(madvise(random, PAGE, MADV_WIPEONFORK), 0);
    search_beside_thread(own);
#ifdef __x86_64__
    assert_int_equal(lost(&own[1]), 0);
#endif
    munmap(random, PAGE);
}

static void nobody_waits_for_a_stopped_copy(void **state)
{
    (void)state;
    need_no_shadow();
    long copy = wndl_rt_child_fork_alone();
    if (copy == 0) {
        kill(getpid(), SIGSTOP);
        wndl_rt_child_exit(0);
    }
    alarm(60);
    assert_int_equal(wndl_rt_child_wait(copy), SIGKILL);
    alarm(0);
}

/* ---- the scan for holders */

enum { LARGE = MANY }; /* the first block whose site is the second one */

/* Reads the pointers of a block or root: the target of word `i` to into[i], as
 * twice its number, plus 1 for one into a block. */
static void next_pointers(
    struct wndl_cursor *c, uint64_t into[BLOCKS], size_t *count)
{
    uint64_t distance, target = 0, word = 0;
    for (*count = 0; (distance = wndl_cursor_uleb(c)) != 0; (*count)++) {
        const uint64_t difference = wndl_cursor_uleb(c);
        const uint64_t zigzag = difference >> 1;
        word += distance;
        target += zigzag >> 1 ^ -(zigzag & 1);
        assert_in_range(word, 1, BLOCKS);
        into[word - 1] = target << 1 | (difference & 1);
    }
}

/* Of a scan of blocks without pointers: what the root `roots` points to. */
static void read_roots(const struct wndl_heap_scan *scan, uint64_t *into)
{
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){(const uint8_t *)scan + PAGE, (size_t)scan->bytes},
        0, false);
    size_t count;
    assert_int_equal(wndl_cursor_uleb(&c), BLOCKS);
    for (size_t i = 0; i < BLOCKS; i++) {
        (void)wndl_cursor_uleb(&c); /* distance */
        (void)wndl_cursor_uleb(&c); /* site */
        assert_int_equal(wndl_cursor_uleb(&c), 0);
    }
    for (uintptr_t start = 0; start != (uintptr_t)roots;) {
        assert_false(c.failed);
        (void)wndl_cursor_uleb(&c); /* kind */
        start = (uintptr_t)wndl_cursor_uleb(&c);
        (void)wndl_cursor_uleb(&c);                 /* size */
        (void)wndl_cursor_uleb(&c);                 /* svma */
        wndl_cursor_skip(&c, wndl_cursor_uleb(&c)); /* path */
        next_pointers(&c, into, &count);
    }
    assert_int_equal(count, 4);
}

/* Of blocks, those before LARGE end 8 bytes before the next one, the others
 * where the next one starts. */
static void scan_blocks(
    struct wndl_heap_scan *scan, struct wndl_heap_leaks leaks[2])
{
    static const struct wndl_heap_site sites[2] = {
        {.usable = SIZE - 8 + 1}, {.usable = SIZE + 1}};
    static const _Atomic uint32_t count = 2;
    const struct wndl_rt_leak_search search = {
        .sites = sites,
        .site_count = &count,
        .most_sites = 2,
        .leaks = leaks,
        .sp = (uintptr_t)__builtin_frame_address(0),
        .most_mappings = WNDL_RT_LEAK_MAPPINGS,
        .scan = scan,
        .scan_answers = 1,
    };
    assert_true(wndl_rt_heap_find_leaks(&search, NULL, 0));
    assert_int_equal(scan->answers, 1);
    assert_int_equal(scan->state, WNDL_HEAP_SCAN_DONE);
}

static struct wndl_heap_scan *map_scan(void)
{
    struct wndl_heap_scan *scan =
        mmap(NULL, WNDL_HEAP_SCAN_MOST, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(scan != MAP_FAILED);
    return scan;
}

/* As the last word of a block is the allocator's, nothing leads to it by that.
 * The search for leaks takes no such pointer. */
static void what_points_to_the_end_of_a_block_holds_it(void **state)
{
    (void)state;
    need_no_shadow();
    uintptr_t *words = (void *)roots;
    static uint64_t targets[BLOCKS];
    struct wndl_heap_leaks leaks[2] = {{0}};
    struct wndl_heap_scan *scan = map_scan();
    memset(words, 0, kept * sizeof *words);
    words[0] = block_at(0);
    words[1] = block_at(1) + SIZE - 8;
    words[2] = block_at(2) + SIZE - 16; /* the allocator's */
    words[3] = block_at(LARGE) + SIZE;
    words[4] = block_at(BLOCKS - 1) + SIZE; /* at the end of all */
    scan_blocks(scan, leaks);
    read_roots(scan, targets);
    assert_int_equal(targets[0], 0);
    assert_int_equal(targets[1], 1 << 1 | 1);
    assert_int_equal(targets[3], (LARGE + 1) << 1);
    assert_int_equal(targets[4], (BLOCKS - 1) << 1 | 1);
    assert_int_equal(leaks[0].definite, LARGE - 1);
    assert_int_equal(leaks[1].definite, BLOCKS - LARGE - 1);
    munmap(scan, WNDL_HEAP_SCAN_MOST);
}

/* The copy leaves the scan to the process, which reads itself then. */
static void check_scan_in_place(int advice)
{
    static const struct wndl_heap_site sites[2] = {
        {.usable = SIZE + 1}, {.usable = SIZE + 1}};
    static const _Atomic uint32_t count = 2;
    static uint64_t targets[BLOCKS];
    struct wndl_heap_scan *scan = map_scan();
    _Atomic uint32_t *begun = (void *)map_pages(PAGE, MAP_SHARED);
    const struct wndl_rt_leak_search search = {
        .sites = sites,
        .site_count = &count,
        .most_sites = 2,
        .sp = (uintptr_t)__builtin_frame_address(0),
        .most_mappings = WNDL_RT_LEAK_MAPPINGS,
        .scan = scan,
        .scan_answers = 1,
        .scan_begun = begun,
        .begun = 1,
    };
    memset(roots, 0, kept * sizeof(uintptr_t));
    for (size_t i = 0; i < 4; i++)
        ((uintptr_t *)(void *)roots)[i] = block_at(i * LARGE / 4);
    assert_int_equal(madvise(roots, kept * sizeof(uintptr_t), advice), 0);
    atomic_store(begun, 1);
    assert_true(wndl_rt_heap_find_leaks(&search, NULL, 0));
    wndl_rt_copy_wait();
#ifdef __x86_64__
    assert_int_equal(scan->answers, 0);
    assert_int_equal(scan->copy_lacks, 1);
    assert_int_not_equal(atomic_load(begun), 1);
    assert_true(wndl_rt_heap_find_leaks(&search, NULL, 0));
#endif
    assert_int_equal(scan->answers, 1);
    assert_int_equal(scan->state, WNDL_HEAP_SCAN_DONE);
    assert_int_not_equal(scan->stopped, 0);
    read_roots(scan, targets);
    assert_int_equal(targets[3], 3 * LARGE / 4 << 1);
    munmap(begun, PAGE);
    munmap(scan, WNDL_HEAP_SCAN_MOST);
}

static void what_no_copy_has_is_scanned_in_place(void **state)
{
    (void)state;
    need_no_shadow();
    check_scan_in_place(MADV_DONTFORK);
}

/* As the kernel reads it beside another thread, whole parts at a time. */
static void what_is_wiped_in_a_copy_is_scanned_in_place(void **state)
{
    (void)state;
    need_no_shadow();
    pthread_t thread;
    uint8_t *wiped = map_pages((size_t)32 * PAGE, MAP_PRIVATE);
    memset(wiped, 1, (size_t)32 * PAGE);
    assert_int_equal(madvise(wiped, (size_t)32 * PAGE, MADV_WIPEONFORK), 0);
    pthread_mutex_lock(&mutex);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
    check_scan_in_place(MADV_NORMAL);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    munmap(wiped, (size_t)32 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_copy_of_the_process_tells, set_up_blocks, tear_down_blocks),
        cmocka_unit_test_setup_teardown(what_no_copy_has_is_looked_at_here,
            set_up_blocks, tear_down_blocks),
        cmocka_unit_test_setup_teardown(what_no_copy_has_is_looked_at_here,
            set_up_blocks_in_shared, tear_down_blocks),
        cmocka_unit_test_setup_teardown(
            what_is_wiped_in_a_copy_is_looked_at_here, set_up_blocks,
            tear_down_blocks),
        cmocka_unit_test_setup_teardown(
            what_is_wiped_in_a_copy_is_looked_at_here,
            set_up_blocks_of_which_one_is_kept, tear_down_blocks),
        cmocka_unit_test_setup_teardown(what_is_wiped_in_vain_does_not_matter,
            set_up_blocks, tear_down_blocks),
        cmocka_unit_test_setup_teardown(
            what_points_to_the_end_of_a_block_holds_it, set_up_blocks_in_shared,
            tear_down_blocks),
        cmocka_unit_test_setup_teardown(what_no_copy_has_is_scanned_in_place,
            set_up_blocks, tear_down_blocks),
        cmocka_unit_test_setup_teardown(
            what_is_wiped_in_a_copy_is_scanned_in_place, set_up_blocks,
            tear_down_blocks),
        cmocka_unit_test(a_copy_ends_with_its_thread),
        cmocka_unit_test(a_copy_has_no_descriptors_of_its_own),
        cmocka_unit_test(nobody_waits_for_a_stopped_copy),
        cmocka_unit_test(with_too_many_mappings_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
