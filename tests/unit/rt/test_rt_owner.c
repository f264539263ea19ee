/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rt/core/rt.h"
#include "rt/heap/count/blocks.h"
#include "rt/heap/count/owner.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AFTER = 64, BLOCKS = 512 };

struct wndl_rt wndl_rt;

#if defined(__SANITIZE_THREAD__)
#define CAN_FORK false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAN_FORK false
#endif
#endif
#ifndef CAN_FORK
#define CAN_FORK true
#endif

static uint64_t next_random(uint64_t *random)
{
    *random =
        *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

/* In some regions, and more than can be young. */
static uint64_t address_of(unsigned i)
{
    return UINT64_C(0x7f0000000000) + ((uint64_t)(i % 5) << 20) +
           48 * (uint64_t)i;
}

static enum wndl_rt_found put(unsigned i, uint32_t site)
{
    const struct wndl_rt_block block = {.address = address_of(i), .site = site};
    struct wndl_rt_block before;
    return wndl_rt_blocks_put(&block, &before);
}

/* Whether it was there, as it was put. */
static bool take(unsigned i, uint32_t site)
{
    struct wndl_rt_block block;
    return wndl_rt_blocks_take(address_of(i), &block) == WNDL_RT_BLOCK_FOUND &&
           block.site == site;
}

static bool is_owner(void)
{
    struct wndl_rt_owner *o = wndl_rt_owner_enter();
    if (o == NULL)
        return false;
    wndl_rt_owner_leave(o);
    return true;
}

/* How often the thread is here before it is the owner, at most `limit`. */
static unsigned turns_to_own(unsigned limit)
{
    unsigned turns = 0;
    while (!is_owner() && turns < limit) {
        assert_int_equal(put(BLOCKS, 1), WNDL_RT_BLOCK_ABSENT);
        assert_true(take(BLOCKS, 1));
        turns++;
    }
    return turns;
}

static void count_one(void *context, const struct wndl_rt_block *block)
{
    (void)block;
    ++*(size_t *)context;
}

static size_t count_blocks(void)
{
    size_t count = 0;
    wndl_rt_blocks_each(count_one, &count);
    return count;
}

static void *in_thread(void *(*work)(void *), void *argument)
{
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, work, argument), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static void *come_by(void *argument)
{
    for (int n = 0; n < WNDL_RT_OWNER_STEP; n++) {
        (void)put(BLOCKS + 1, 1);
        if (!take(BLOCKS + 1, 1))
            return NULL;
    }
    return argument;
}

static bool system_can(void)
{
    enum { PRIVATE_EXPEDITED = 1 << 3 };
    long known = syscall(SYS_membarrier, 0, 0, 0);
    return known > 0 && (known & PRIVATE_EXPEDITED) != 0;
}

/* Nobody is the owner, and who is here for long may be. */
static int start_anew(void **state)
{
    (void)state;
    wndl_rt.with_barriers = true;
    wndl_rt_blocks_forbid_owner();
    wndl_rt_blocks_allow_owner(AFTER);
    wndl_rt_owner_here.shared = 0;
    return 0;
}

static void who_is_here_for_long_becomes_the_owner(void **state)
{
    (void)state;
    assert_false(is_owner());
    assert_in_range(turns_to_own(10 * AFTER), AFTER, 2 * AFTER);
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_int_equal(put(i, i), WNDL_RT_BLOCK_ABSENT);
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_true(take(i, i));
    assert_true(is_owner());
    assert_int_equal(count_blocks(), 0);
    assert_false(is_owner());
}

/* One after the other takes the other's place among the young. */
static void the_owner_sees_what_it_missed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BLOCKS; i += 2)
        assert_int_equal(put(i, i), WNDL_RT_BLOCK_ABSENT);
    (void)turns_to_own(10 * AFTER);
    assert_true(is_owner());
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_int_equal(put(i, i + 1),
            i % 2 == 0 ? WNDL_RT_BLOCK_FOUND : WNDL_RT_BLOCK_ABSENT);
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_int_equal(put(i, i), WNDL_RT_BLOCK_FOUND);
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_true(take(i, i));
    assert_true(is_owner());
    assert_int_equal(count_blocks(), 0);
}

static void *take_all(void *argument)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (!take(i, i))
            return NULL;
    }
    return argument;
}

static void others_find_what_the_owner_has_put(void **state)
{
    char done;
    (void)state;
    (void)turns_to_own(10 * AFTER);
    assert_true(is_owner());
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_int_equal(put(i, i), WNDL_RT_BLOCK_ABSENT);
    assert_ptr_equal(in_thread(take_all, &done), &done);
    assert_false(is_owner());
    assert_int_equal(count_blocks(), 0);
}

static void *own_and_put_all(void *argument)
{
    (void)turns_to_own(10 * AFTER);
    if (!is_owner())
        return NULL;
    for (unsigned i = 0; i < BLOCKS; i++)
        (void)put(i, i);
    return argument;
}

static void an_owner_that_is_no_more_is_none(void **state)
{
    char done;
    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_ptr_equal(in_thread(own_and_put_all, &done), &done);
        for (unsigned i = 0; i < BLOCKS; i++)
            assert_true(take(i, i));
        assert_int_equal(count_blocks(), 0);
        (void)start_anew(NULL);
    }
}

/* Or a program whose threads take turns would do nothing else. */
static void it_takes_longer_each_time_others_come_soon(void **state)
{
    char done;
    unsigned before = 0;
    (void)state;
    for (int round = 0; round < 6; round++) {
        unsigned turns = turns_to_own(1000 * AFTER);
        assert_true(is_owner());
        assert_true(turns > before + before / 2);
        before = turns;
        assert_ptr_equal(in_thread(come_by, &done), &done);
        assert_false(is_owner());
    }
    (void)turns_to_own(1000 * AFTER);
    for (unsigned i = 0; i < 1000 * AFTER; i++) {
        assert_int_equal(put(i, i), WNDL_RT_BLOCK_ABSENT);
        assert_true(take(i, i));
    }
    assert_ptr_equal(in_thread(come_by, &done), &done);
    assert_in_range(turns_to_own(1000 * AFTER), 1, 2 * AFTER);
}

static void who_is_not_alone_for_long_is_no_owner(void **state)
{
    char done;
    (void)state;
    for (int round = 0; round < 100; round++) {
        assert_int_equal(turns_to_own(AFTER / 4), AFTER / 4);
        assert_ptr_equal(in_thread(come_by, &done), &done);
        assert_false(is_owner());
    }
}

static void nobody_is_the_owner_where_that_is_forbidden(void **state)
{
    (void)state;
    (void)turns_to_own(10 * AFTER);
    assert_true(is_owner());
    wndl_rt_blocks_forbid_owner();
    assert_int_equal(turns_to_own(10 * AFTER), 10 * AFTER);
    wndl_rt.with_barriers = false;
    wndl_rt_blocks_allow_owner(AFTER);
    assert_int_equal(turns_to_own(10 * AFTER), 10 * AFTER);
    wndl_rt.with_barriers = true;
    atomic_store(&wndl_rt.careful, true);
    wndl_rt_blocks_allow_owner(AFTER);
    assert_int_equal(turns_to_own(10 * AFTER), 10 * AFTER);
    atomic_store(&wndl_rt.careful, false);
}

static void *take_none(void *argument)
{
    struct wndl_rt_block block;
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (wndl_rt_blocks_take(address_of(i), &block) != WNDL_RT_BLOCK_LOST)
            return NULL;
    }
    return argument;
}

/* It cannot be known that the owner is in no turn, but by itself. */
static void where_no_barrier_can_be_had_others_wait_for_the_owner(void **state)
{
    char done;
    (void)state;
    (void)turns_to_own(10 * AFTER);
    for (unsigned i = 0; i < BLOCKS; i++)
        assert_int_equal(put(i, i), WNDL_RT_BLOCK_ABSENT);
    atomic_store(&wndl_rt.careful, true);
    assert_ptr_equal(in_thread(take_none, &done), &done);
    assert_true(take(0, 0));
    assert_int_equal(put(0, 0), WNDL_RT_BLOCK_ABSENT);
    assert_ptr_equal(in_thread(take_all, &done), &done);
    atomic_store(&wndl_rt.careful, false);
}

/* ---- all at once */

enum { EMPTY, CHANGES, FULL, FORKS = 40 };

#if defined(WNDL_TESTS_HELGRIND_ATOMICS_H)
enum { ROUNDS = 50000 };
#else
enum { ROUNDS = 2000000 };
#endif

/* What is put under each address, which anybody may take. */
static struct box {
    _Atomic int state;
    uint32_t site;
} boxes[BLOCKS];

static _Atomic bool is_over;
static _Atomic unsigned terms;

static bool change(unsigned i, uint32_t site)
{
    struct box *b = &boxes[i];
    int state = atomic_load_explicit(&b->state, memory_order_relaxed);
    if (state == CHANGES ||
        !atomic_compare_exchange_strong(&b->state, &state, CHANGES))
        return true;
    bool is_right =
        state == FULL ? take(i, b->site) : put(i, site) == WNDL_RT_BLOCK_ABSENT;
    b->site = site;
    atomic_store(&b->state, state == FULL ? EMPTY : FULL);
    return is_right;
}

static bool change_some(uint64_t *random, unsigned rounds)
{
    bool is_right = true, was_owner = false;
    while (is_right && rounds-- > 0) {
        uint64_t r = next_random(random);
        is_right = change((unsigned)(r % BLOCKS), (uint32_t)(r >> 10 & 0xffff));
        if (!was_owner && is_owner())
            atomic_fetch_add(&terms, 1);
        was_owner = is_owner();
    }
    return is_right;
}

/* Seldom for long: the more often the owner is disturbed, the more is seen. */
static void pass_time(unsigned random)
{
    if (random % 64 == 0)
        usleep(random / 64 % 64);
    for (unsigned n = random / 64 % 128; n > 0; n--)
        wndl_arch_pause();
}

/* Comes by at times, or is at work for so long that it is the owner. */
static void *visit(void *argument)
{
    uint64_t random = (uintptr_t)argument;
    while (!atomic_load(&is_over)) {
        uint64_t r = next_random(&random);
        if (!change_some(&random, r % 64 == 0 ? 20 * AFTER : r % 4 + 1)) {
            atomic_store(&is_over, true);
            return NULL;
        }
        wndl_rt_owner_allow(1); /* not ever longer here */
        pass_time((unsigned)(r / 64));
    }
    return argument;
}

/* Nobody else can change anything from before the fork on. */
static bool is_all_there(void)
{
    size_t full = 0;
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct wndl_rt_block block;
        int state = atomic_load(&boxes[i].state);
        if (state == CHANGES)
            (void)wndl_rt_blocks_take(address_of(i), &block);
        if (state == FULL && !take(i, boxes[i].site))
            return false;
        full += state == FULL;
        if (state == FULL && put(i, 1) != WNDL_RT_BLOCK_ABSENT)
            return false;
    }
    return count_blocks() == full;
}

/* (An exit is where Memcheck would look for its parent's threads' leaks.) */
static bool check_fork(void)
{
    int status = SIGKILL;
    wndl_rt_blocks_hold_all();
    pid_t child = CAN_FORK ? fork() : -1;
    wndl_rt_blocks_leave_all();
    if (child == 0)
        raise(is_all_there() ? SIGKILL : SIGTERM);
    if (child > 0 && waitpid(child, &status, 0) != child)
        return false;
    return WTERMSIG(status) == SIGKILL;
}

static void *work(void *argument)
{
    uint64_t random = 1;
    for (int n = 0; n < FORKS && !atomic_load(&is_over); n++) {
        if (!change_some(&random, ROUNDS / FORKS) || !check_fork())
            argument = NULL;
    }
    atomic_store(&is_over, true);
    return argument;
}

static void *fork_often(void *argument)
{
    while (!atomic_load(&is_over)) {
        if (!check_fork()) {
            atomic_store(&is_over, true);
            return NULL;
        }
        usleep(2000);
    }
    return argument;
}

static void no_block_is_lost_between_the_owner_and_others(void **state)
{
    void *(*const works[])(void *) = {work, fork_often, visit, visit};
    enum { THREADS = sizeof works / sizeof works[0] };
    pthread_t threads[THREADS];
    size_t full = 0;
    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, works[i], (void *)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *went_well;
        assert_int_equal(pthread_join(threads[i], &went_well), 0);
        assert_non_null(went_well);
    }
    assert_true(terms > 1);
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (boxes[i].state != FULL)
            continue;
        full++;
        assert_int_equal(put(i, 7), WNDL_RT_BLOCK_FOUND);
    }
    assert_int_equal(count_blocks(), full);
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (boxes[i].state == FULL)
            assert_true(take(i, 7));
    }
    assert_int_equal(count_blocks(), 0);
}

#define ANEW(test) cmocka_unit_test_setup(test, start_anew)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ANEW(who_is_here_for_long_becomes_the_owner),
        ANEW(the_owner_sees_what_it_missed),
        ANEW(others_find_what_the_owner_has_put),
        ANEW(an_owner_that_is_no_more_is_none),
        ANEW(it_takes_longer_each_time_others_come_soon),
        ANEW(who_is_not_alone_for_long_is_no_owner),
        ANEW(nobody_is_the_owner_where_that_is_forbidden),
        ANEW(where_no_barrier_can_be_had_others_wait_for_the_owner),
        ANEW(no_block_is_lost_between_the_owner_and_others),
    };
    if (!system_can())
        return 77; /* there is nothing to see */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
