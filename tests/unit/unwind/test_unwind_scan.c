/* SPDX-License-Identifier: MIT */
/* Code of which nothing is known: no FDE, no frame pointer. */
#include "testlib.h"

#include <pthread.h>
#include <stdlib.h>
#include <windlass/unwind.h>

#if defined(__x86_64__)

enum { MAX = 64 };

static struct wndl_unwinder *unwinder;
static struct wndl_stack_range range;
static struct wndl_frame frames[MAX];
static struct wndl_walk walk;

long known(long n);
long bare(long (*callback)(long), long n);
void bare_after_call(void);
void stale_direct(void), stale_none(void);

/* With an FDE, unlike what follows. */
__attribute__((noinline, used)) long known(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

/*
 * bare() calls back from a frame with no frame pointer, whose words look like
 * return addresses, as what calls left there that have returned: one behind a
 * call to a function that has an FDE, and one behind no call. Never run:
 * stale_*. Its return cannot be found by following its code, because SP is
 * computed from an unknown register.
 */
__asm__(".pushsection .text\n"
        "    nop\n"
        "bare:\n"
        "    push %rbp\n"
        "    xor %ebp, %ebp\n"
        "    sub $48, %rsp\n"
        "    lea stale_direct(%rip), %rax\n"
        "    mov %rax, (%rsp)\n"
        "    mov %rax, 8(%rsp)\n"
        "    lea stale_none(%rip), %rax\n"
        "    mov %rax, 16(%rsp)\n"
        "    mov %rax, 24(%rsp)\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    call *%rax\n"
        "bare_after_call:\n"
        "    xor %ecx, %ecx\n"
        "    lea (%rsp,%rcx), %rsp\n"
        "    add $48, %rsp\n"
        "    pop %rbp\n"
        "    ret\n"
        "    call known\n"
        "stale_direct:\n"
        "    nop\n"
        "    nop\n"
        "stale_none:\n"
        "    nop\n"
        "    nop\n"
        "    nop\n"
        "    nop\n"
        "    nop\n"
        "    nop\n"
        "    nop\n"
        "    ret\n"
        ".popsection");

static enum wndl_walk_method method;

static long walk_here(long n)
{
    walk = (struct wndl_walk){
        .frames = frames, .max_frames = MAX, .method = method};
    wndl_unwind_self(unwinder, &range, &walk);
    return n;
}

__attribute__((noinline)) static long calls_bare(long n)
{
    n = bare(walk_here, n);
    __asm__ volatile("" : "+r"(n));
    return n;
}

__attribute__((noinline)) static void walk_by(enum wndl_walk_method by)
{
    method = by;
    assert_int_equal(calls_bare(3), 3);
}

/* How the frame behind bare()'s was found; -1 if there is none. */
static int how_beyond_bare(void)
{
    for (size_t i = 0; i + 1 < walk.count; i++)
        if (frames[i].address == (uintptr_t)&bare_after_call) {
            uint64_t beyond = frames[i + 1].address;
            uint64_t start = (uintptr_t)&calls_bare;
            assert_in_range(beyond, start + 1, start + 100);
            return frames[i + 1].how;
        }
    return -1;
}

static void stacks_are_scanned_only_when_asked(void **state)
{
    (void)state;
    walk_by(WNDL_WALK_ANY);
    assert_int_equal(walk.end, WNDL_END_FP_ROOT);
    assert_int_equal(how_beyond_bare(), -1);
    walk_by(WNDL_WALK_CFI);
    assert_int_equal(walk.end, WNDL_END_NO_RULE);
    assert_int_equal(how_beyond_bare(), -1);
}

static void a_scan_goes_on_where_nothing_else_does(void **state)
{
    (void)state;
    const enum wndl_walk_method base[] = {WNDL_WALK_ANY, WNDL_WALK_CFI};
    for (size_t i = 0; i < 2; i++) {
        walk_by((enum wndl_walk_method)(base[i] | WNDL_WALK_SCAN));
        assert_int_equal(how_beyond_bare(), WNDL_HOW_SCAN);
        assert_int_equal(walk.end, WNDL_END_COMPLETE);
        size_t scanned = 0;
        for (size_t f = 0; f < walk.count; f++)
            scanned += frames[f].how == WNDL_HOW_SCAN;
        assert_int_equal(scanned, 1);
        assert_int_equal(walk.fp_frames, 0);
    }
}

/* A stack of ours under interrupted code, with what may be a caller. */
static size_t frames_over(const uint64_t *words, size_t count)
{
    _Alignas(16) static uint64_t stack[128];
    memset(stack, 0, sizeof stack);
    memcpy(stack, words, count * sizeof *words);
    const struct wndl_stack_range all = {
        (uintptr_t)stack, (uintptr_t)(stack + 128)};
    const struct wndl_regs regs = {
        .ip = (uintptr_t)&bare,
        .sp = (uintptr_t)stack,
        .valid = WNDL_REG_IP | WNDL_REG_SP,
    };
    walk = (struct wndl_walk){.frames = frames,
        .max_frames = MAX,
        .method = (enum wndl_walk_method)(WNDL_WALK_ANY | WNDL_WALK_SCAN)};
    wndl_unwind_regs(unwinder, &regs, &all, 1, &walk);
    return walk.count;
}

static void what_cannot_be_a_caller_is_none(void **state)
{
    (void)state;
    const uint64_t good = (uintptr_t)&bare_after_call;
    const uint64_t direct = (uintptr_t)&stale_direct;
    const uint64_t none = (uintptr_t)&stale_none;
    const uint64_t data = (uintptr_t)&walk;
    const struct {
        uint64_t words[66];
        size_t count;
        size_t frames;
    } stacks[] = {
        {{0, good}, 2, 2}, {{good}, 1, 1}, /* the stack would not be aligned */
        {{0, direct}, 2, 1}, {{0, none}, 2, 1}, {{0, data}, 2, 1},
        {{0, 8}, 2, 1}, {{0, UINT64_MAX - 2}, 2, 1},
        {{0, direct, 0, none, good, good}, 6, 2}, {{[63] = good}, 64, 2},
        {{[65] = good}, 66, 1}, /* too far */
    };
    for (size_t i = 0; i < sizeof stacks / sizeof stacks[0]; i++) {
        size_t count = frames_over(stacks[i].words, stacks[i].count);
        /* From one bare frame on, another may be found. */
        assert_true(stacks[i].frames == 1 ? count == 1 : count >= 2);
        if (count > 1)
            assert_int_equal(frames[1].address, good);
    }
}

static int set_up(void **state)
{
    (void)state;
    pthread_attr_t attr;
    void *low;
    size_t size;
    assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    range = (struct wndl_stack_range){(uintptr_t)low, (uintptr_t)low + size};
    size_t room = (wndl_unwinder_size() + 63) & ~(size_t)63;
    unwinder = wndl_unwinder_init(memset(aligned_alloc(64, room), 0, room));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(unwinder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_scanned_only_when_asked),
        cmocka_unit_test(a_scan_goes_on_where_nothing_else_does),
        cmocka_unit_test(what_cannot_be_a_caller_is_none),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

int main(void)
{
    return 0;
}

#endif
