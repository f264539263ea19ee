/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "unwind/fast/cache.h"
#include "unwind_chain.h"
#include "unwind_extras.h"
#include "unwind_oracle.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { ALTERNATE_SIZE = 1 << 20 };

static struct oracle oracle;

static void begin(void)
{
    oracle_init(&oracle);
    void *stack = malloc(ALTERNATE_SIZE);
    must(stack != NULL);
    oracle_add_stack(&oracle, stack, ALTERNATE_SIZE);
    extras_begin(stack, ALTERNATE_SIZE);
}

static void end(size_t least_contexts)
{
    extras_end();
    free((void *)(uintptr_t)oracle.stacks[1].low);
    print_message("%zu contexts, %zu frames, %zu complete, %zu without FDE, "
                  "%zu frames resumed\n",
        oracle.contexts, oracle.frames, oracle.complete, oracle.no_fde,
        oracle.resumed);
    assert_true(oracle_agrees(&oracle));
    assert_true(oracle.contexts >= least_contexts);
    assert_true(oracle.bad_cfi * 20 <= oracle.contexts);
    oracle_free(&oracle);
}

static int compare_longs(const void *a, const void *b)
{
    const long *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void use_libc(void *unused)
{
    (void)unused;
    long numbers[24];
    for (int i = 0; i < 24; i++)
        numbers[i] = i * 7919 % 31;
    qsort(numbers, 24, sizeof numbers[0], compare_longs);
    char text[64];
    (void)snprintf(text, sizeof text, "%d %s %g", 42, "text", 1.5);
    void *block = malloc(100);
    memset(block, 1, 100);
    free(block);
    errno = (int)strtol(text, NULL, 10);
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* the vDSO */
}

static void every_instruction_of_libc_calls_agrees_with_libgcc(void **state)
{
    (void)state;
    begin();
    oracle_step(&oracle, use_libc, NULL);
    assert_int_equal(oracle.complete, oracle.contexts);
    end(3000);
}

/* A random stack of its own, stepped through from first call to last return:
 * all prologues and epilogues. */
static void run_chain(void *chain)
{
    chain_run(chain);
}

static void do_nothing(void *unused)
{
    (void)unused;
}

static void every_instruction_of_random_functions_agrees_with_libgcc(
    void **state)
{
    (void)state;
    static struct chain chain = {.extra = extras, .leaf = do_nothing};
    begin();
    for (uint64_t seed = 1; seed <= 12; seed++) {
        chain_random(&chain, 24, seed, EXTRA_WITH_CFI);
        oracle_step(&oracle, run_chain, &chain);
    }
    assert_int_equal(oracle.complete, oracle.contexts);
    end(5000);
}

static void step_a_little(void *unused)
{
    (void)unused;
    oracle_step(&oracle, do_nothing, NULL);
}

static void deep_random_stacks_agree_with_libgcc(void **state)
{
    (void)state;
    static struct chain chain = {.extra = extras, .leaf = step_a_little};
    begin();
    for (uint64_t seed = 1; seed <= 200; seed++) {
        chain_random(&chain, 5 + seed % 96, seed, EXTRA_WITH_CFI);
        chain_run(&chain);
    }
    assert_int_equal(oracle.complete, oracle.contexts);
    end(2000);
}

static void code_without_cfi_is_passed_by_frame_pointer(void **state)
{
    (void)state;
    static struct chain chain = {.extra = extras, .leaf = step_a_little};
    begin();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        chain_random(&chain, 20, seed, 0);
        chain.shape[seed % 20] = CHAIN_SHAPES + EXTRA_NO_CFI;
        chain_run(&chain);
    }
    assert_int_equal(oracle.no_fde, oracle.contexts);
    assert_int_equal(oracle.complete, oracle.contexts);
    end(200);
}

/* ---- threads and coroutines ---- */

static void check_and_count_in(struct oracle *o)
{
    static struct chain chain = {.extra = extras, .leaf = step_a_little};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        chain_random(&chain, 30, seed, EXTRA_WITH_CFI);
        chain_run(&chain);
    }
    must(o->complete == o->contexts && o->no_fde == 0);
}

static void *run_in_thread(void *unused)
{
    (void)unused;
    begin();
    check_and_count_in(&oracle);
    end(200);
    return NULL;
}

static void walks_of_threads_are_complete(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_in_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
    step_a_little(NULL);
}

static void walks_of_coroutines_are_complete(void **state)
{
    (void)state;
    begin();
    size_t size = 256 << 10;
    char *stack = malloc(size);
    assert_non_null(stack);
    oracle_add_stack(&oracle, stack, size);
    assert_int_equal(getcontext(&coroutine_context), 0);
    coroutine_context.uc_stack.ss_sp = stack;
    coroutine_context.uc_stack.ss_size = size;
    coroutine_context.uc_link = &main_context;
    makecontext(&coroutine_context, coroutine, 0);
    assert_int_equal(swapcontext(&main_context, &coroutine_context), 0);
    assert_int_equal(oracle.complete, oracle.contexts);
    free(stack);
    end(10);
}

#if defined(__x86_64__)

/* The address to which a fiber of boost.context would return: without CFI, and
 * no call is before it. */
void fiber_end(void);
__asm__(".text\n"
        "\tjmp *%rbx\n"
        "fiber_end:\n"
        "\txor %rdi, %rdi\n"
        "\tcall _exit@PLT\n"
        "\thlt\n");

static struct wndl_walk fiber_walk;
static struct wndl_stack_range fiber_stack;

static void fiber(void)
{
    wndl_unwind_self(oracle.unwinder, &fiber_stack, &fiber_walk);
    (void)setcontext(&main_context);
}

static void walks_of_fibers_are_complete(void **state)
{
    (void)state;
    static char stack[64 << 10];
    static struct wndl_frame frames[10];
    volatile bool has_run = false;
    begin();
    fiber_stack.low = (uintptr_t)stack;
    fiber_stack.high = fiber_stack.low + sizeof stack;
    fiber_walk = (struct wndl_walk){.frames = frames, .max_frames = 10};
    assert_int_equal(getcontext(&coroutine_context), 0);
    coroutine_context.uc_stack.ss_sp = stack;
    coroutine_context.uc_stack.ss_size = sizeof stack;
    makecontext(&coroutine_context, fiber, 0);
    *(uintptr_t *)coroutine_context.uc_mcontext.gregs[REG_RSP] =
        (uintptr_t)fiber_end;
    assert_int_equal(getcontext(&main_context), 0);
    if (!has_run) {
        has_run = true;
        (void)setcontext(&coroutine_context);
    }
    assert_int_equal(fiber_walk.end, WNDL_END_COMPLETE);
    end(0);
}

static enum wndl_walk_end end_from(uint64_t ip)
{
    static uintptr_t stack[64];
    struct wndl_frame frames[4];
    struct wndl_walk walk = {.frames = frames, .max_frames = 4};
    const struct wndl_stack_range range = {
        (uintptr_t)stack, (uintptr_t)stack + sizeof stack};
    const struct wndl_regs regs = {.ip = ip,
        .sp = (uintptr_t)(stack + 32),
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP};
    wndl_unwind_regs(oracle.unwinder, &regs, &range, 1, &walk);
    return walk.end;
}

/* Code that was interrupted just before the entry has the same rule. */
static void a_rule_says_where_coroutines_start(void **state)
{
    (void)state;
    const uintptr_t entry = (uintptr_t)fiber_end;
    oracle_init(&oracle);
    struct wndl_unwinder *u = oracle.unwinder;
    const wndl_generation now = wndl_cache_generation(u);
    assert_int_equal(
        wndl_cache_find(u, entry, now).rule.kind, WNDL_ENTRY_START);
    assert_int_equal(
        wndl_cache_find(u, entry + 3, now).rule.kind, WNDL_ENTRY_NO_FDE);
    assert_int_not_equal(end_from(entry - 1), WNDL_END_COMPLETE);
    oracle_free(&oracle);
}

#endif

/* ---- the walker interrupted ---- */

static void walk_with_unwinder(void *argument)
{
    struct wndl_unwinder *unwinder = argument;
    struct wndl_frame frames[5];
    struct wndl_walk walk = {.frames = frames, .max_frames = 5};
    wndl_unwind_self(unwinder, &oracle.stacks[0], &walk);
    must(walk.count == 5);
}

static void a_walk_may_be_interrupted_by_a_walk(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char memory[1 << 19];
    assert_true(wndl_unwinder_size() <= sizeof memory);
    begin();
    oracle_step(&oracle, walk_with_unwinder, wndl_unwinder_init(memory));
    assert_int_equal(oracle.complete, oracle.contexts);
    end(1000);
}

/* The interrupting ones are those of the checks, with the same unwinder. */
static void a_walk_may_be_interrupted_by_one_with_its_unwinder(void **state)
{
    (void)state;
    begin();
    oracle_step(&oracle, walk_with_unwinder, oracle.unwinder);
    assert_int_equal(oracle.complete, oracle.contexts);
    end(1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_of_libc_calls_agrees_with_libgcc),
        cmocka_unit_test(
            every_instruction_of_random_functions_agrees_with_libgcc),
        cmocka_unit_test(deep_random_stacks_agree_with_libgcc),
        cmocka_unit_test(code_without_cfi_is_passed_by_frame_pointer),
        cmocka_unit_test(walks_of_threads_are_complete),
        cmocka_unit_test(walks_of_coroutines_are_complete),
#if defined(__x86_64__)
        cmocka_unit_test(walks_of_fibers_are_complete),
        cmocka_unit_test(a_rule_says_where_coroutines_start),
#endif
        cmocka_unit_test(a_walk_may_be_interrupted_by_a_walk),
        cmocka_unit_test(a_walk_may_be_interrupted_by_one_with_its_unwinder),
    };
    return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
