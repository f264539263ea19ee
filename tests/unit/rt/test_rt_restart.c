/* SPDX-License-Identifier: MIT */
/* Which call an instruction made, and how it takes its timeout. */
#include "testlib.h"

#include "os/raw.h"
#include "rt/arch/syscall_number.h"
#include "rt/core/rt.h"
#include "rt/sample/restart.h"
#include "rt/sample/restart_calls.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct wndl_rt wndl_rt;

static ucontext_t context;

static int set_up(void **state)
{
    (void)state;
    wndl_rt.pid = getpid();
    return 0;
}

/* What stands in front of a system call, as libcs have it. */
#define NUMBER_OF(bytes)                                                       \
    wndl_rt_number((const uint8_t *)(bytes), sizeof(bytes) - 1, &context)

static void numbers_are_found_right_before_the_call(void **state)
{
    (void)state;
    assert_int_equal(NUMBER_OF("\xb8\x07\x00\x00\x00"), 7);
    assert_int_equal(NUMBER_OF("\xc3\x31\xc0"), 0);
    assert_int_equal(NUMBER_OF("\x33\xc0"), 0);
    /* As if behind other code that fills the register. */
    assert_int_equal(
        NUMBER_OF("\xb8\x01\x00\x00\x00\xc3\xb8\xe8\x00\x00\x00"), 232);
}

static void code_in_between_is_passed(void **state)
{
    (void)state;
    /* mov $0x10f,%eax; mov %r12,%rdx; lea 0x20(%rsp),%r12; mov $8,%r8d */
    assert_int_equal(NUMBER_OF("\xb8\x0f\x01\x00\x00\x4c\x89\xe2"
                               "\x4c\x8d\x64\x24\x20\x41\xb8\x08\x00\x00\x00"),
        0x10f);
    /* xor %eax,%eax; xor %r8d,%r8d */
    assert_int_equal(NUMBER_OF("\x31\xc0\x45\x31\xc0"), 0);
    /* mov $0xca,%eax; xor %r10d,%r10d; xor $0x80,%sil; nopl 0(%rax) */
    assert_int_equal(NUMBER_OF("\xb8\xca\x00\x00\x00\x45\x31\xd2"
                               "\x40\x80\xf6\x80\x0f\x1f\x40\x00"),
        0xca);
}

static void other_registers_and_prefixes_do_not_deceive(void **state)
{
    (void)state;
    /* mov $8,%r8d and xor %r8d,%r8d hold mov $8,%eax and xor %eax,%eax. */
    assert_int_equal(NUMBER_OF("\x41\xb8\x08\x00\x00\x00"), -1);
    assert_int_equal(NUMBER_OF("\x45\x31\xc0"), -1);
    /* mov $7,%eax; add $1,%eax */
    assert_int_equal(NUMBER_OF("\xb8\x07\x00\x00\x00\x83\xc0\x01"), -1);
    /* mov $7,%eax; je over what follows */
    assert_int_equal(NUMBER_OF("\xb8\x07\x00\x00\x00\x74\x05"), -1);
    assert_int_equal(NUMBER_OF(""), -1);
}

/* AArch64's instructions, the nearest to the call last. */
#define FIRST_OF(...)                                                          \
    wndl_rt_first_argument((const uint8_t *)(const uint32_t[]){__VA_ARGS__},   \
        sizeof((const uint32_t[]){__VA_ARGS__}), &context, &first)

static void first_arguments_of_aarch64_are_told_by_the_code(void **state)
{
    (void)state;
    uint64_t first = 0;
    enum {
        MOV_X0_X20 = 0xaa1403e0,
        MOV_X1_X19 = 0xaa1303e1,
        MOV_X8_73 = 0xd2800928,
    };
    assert_true(FIRST_OF(MOV_X0_X20, MOV_X1_X19, MOV_X8_73));
    /* movz x0, #1, lsl #16; movn w0, #99 (AT_FDCWD) */
    assert_true(FIRST_OF(0xd2a00020, MOV_X8_73));
    assert_int_equal(first, 0x10000);
    assert_true(FIRST_OF(0x12800c60, MOV_X8_73));
    assert_int_equal(first, (uint32_t)-100);
    /* add x0, x1, #9; the same with lsl #12; sub x0, x1, #9: x1 is 0 */
    assert_true(FIRST_OF(0x91002420, MOV_X8_73));
    assert_int_equal(first, 9);
    assert_true(FIRST_OF(0x91402420, MOV_X8_73));
    assert_int_equal(first, 9 << 12);
    assert_true(FIRST_OF(0xd1002420, MOV_X8_73));
    assert_int_equal(first, -9);
    /* ldp x1, x2, [sp, #56]; add x0, sp, #16 */
    assert_true(FIRST_OF(0x910043e0, 0xa9438be1, MOV_X8_73));
}

static void first_arguments_that_are_gone_are_not_made_up(void **state)
{
    (void)state;
    uint64_t first = 0;
    enum { MOV_X0_X1 = 0xaa0103e0, MOV_X1_X2 = 0xaa0203e1 };
    assert_true(FIRST_OF(MOV_X0_X1));
    assert_false(FIRST_OF(MOV_X0_X1, MOV_X1_X2));
    assert_false(FIRST_OF(0x93407c00));            /* sxtw x0, w0 */
    assert_false(FIRST_OF(MOV_X0_X1, 0xf2a00020)); /* movk x0, #1, lsl #16 */
    assert_false(FIRST_OF(MOV_X0_X1, 0xf9400be0)); /* ldr x0, [sp, #16] */
    assert_false(FIRST_OF(MOV_X0_X1, 0xa94107e0)); /* ldp x0, x1, [sp, #16] */
    assert_false(FIRST_OF(MOV_X0_X1, 0x94000010)); /* bl */
    assert_false(FIRST_OF(MOV_X0_X1, 0x34000040)); /* cbz w0 */
    assert_false(FIRST_OF(MOV_X1_X2));
}

#ifdef __x86_64__
static void numbers_kept_in_registers_are_read_there(void **state)
{
    (void)state;
    context.uc_mcontext.gregs[REG_R8] = 202;
    context.uc_mcontext.gregs[REG_RSI] = 128;
    /* mov %r8d,%eax; mov $0x80,%esi */
    assert_int_equal(NUMBER_OF("\x44\x89\xc0\xbe\x80\x00\x00\x00"), 202);
    /* mov %esi,%eax; mov $0x80,%esi: it is gone */
    assert_int_equal(NUMBER_OF("\x89\xf0\xbe\x80\x00\x00\x00"), -1);
    /* mov %ecx,%eax: the call itself changes it */
    assert_int_equal(NUMBER_OF("\x89\xc8"), -1);
}

static void timeouts_are_known_by_call(void **state)
{
    (void)state;
    struct wndl_rt_call call;
    assert_true(wndl_rt_restart_find(SYS_poll, &context, &call));
    assert_int_equal(call.timeout, WNDL_RT_TIMEOUT_MS);
    assert_int_equal(call.argument, 2);
    assert_true(wndl_rt_restart_find(SYS_pause, &context, &call));
    assert_int_equal(call.timeout, WNDL_RT_TIMEOUT_AS_IS);
    assert_false(wndl_rt_restart_find(SYS_close, &context, &call));

    context.uc_mcontext.gregs[REG_RSI] = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
    assert_true(wndl_rt_restart_find(SYS_futex, &context, &call));
    assert_int_equal(call.timeout, WNDL_RT_TIMEOUT_TIMESPEC);
    context.uc_mcontext.gregs[REG_RSI] = FUTEX_WAIT_BITSET;
    assert_true(wndl_rt_restart_find(SYS_futex, &context, &call));
    assert_int_equal(call.timeout, WNDL_RT_TIMEOUT_AS_IS);

    context.uc_mcontext.gregs[REG_RSI] = TIMER_ABSTIME;
    assert_true(wndl_rt_restart_find(SYS_clock_nanosleep, &context, &call));
    assert_int_equal(call.timeout, WNDL_RT_TIMEOUT_AS_IS);
    context.uc_mcontext.gregs[REG_RSI] = 0;
    assert_true(wndl_rt_restart_find(SYS_clock_nanosleep, &context, &call));
    assert_int_equal(call.timeout, WNDL_RT_TIMEOUT_SLEEP);
}

/* mov $7,%eax; syscall; ret, and code in front of it that may be looked at */
enum { IN_FRONT = 64 };
static const uint8_t poll_room[IN_FRONT + 8] = {
    [IN_FRONT] = 0xb8, 7, 0, 0, 0, 0x0f, 0x05, 0xc3};
static const uint8_t *const poll_code = poll_room + IN_FRONT;

static void stand_after(const uint8_t *code, size_t offset, long result)
{
    context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + offset);
    context.uc_mcontext.gregs[REG_RAX] = result;
    /* What `syscall` leaves: where it returns to, and the flags. */
    context.uc_mcontext.gregs[REG_RCX] = (greg_t)(uintptr_t)(code + 7);
    context.uc_mcontext.gregs[REG_R11] = context.uc_mcontext.gregs[REG_EFL];
}

static void an_interrupted_call_is_made_again(void **state)
{
    (void)state;
    struct wndl_rt_time rest;
    stand_after(poll_code, 7, -EINTR);
    context.uc_mcontext.gregs[REG_RDX] = 200;
    assert_true(wndl_rt_restart_is_due(&context));
    assert_true(wndl_rt_restart(&context, 30 * 1000 * 1000 + 999999, &rest));
    assert_ptr_equal(
        (void *)(uintptr_t)context.uc_mcontext.gregs[REG_RIP], poll_code + 5);
    assert_int_equal(context.uc_mcontext.gregs[REG_RAX], SYS_poll);
    assert_int_equal(context.uc_mcontext.gregs[REG_RDX], 170);
}

static void a_timeout_never_becomes_endless(void **state)
{
    (void)state;
    struct wndl_rt_time rest;
    stand_after(poll_code, 7, -EINTR);
    context.uc_mcontext.gregs[REG_RDX] = 20;
    assert_true(wndl_rt_restart(&context, UINT64_C(1) << 50, &rest));
    assert_int_equal(context.uc_mcontext.gregs[REG_RDX], 0);
    stand_after(poll_code, 7, -EINTR);
    context.uc_mcontext.gregs[REG_RDX] = UINT32_MAX; /* -1: for ever */
    assert_true(wndl_rt_restart(&context, UINT64_C(1) << 50, &rest));
    assert_int_equal((int)context.uc_mcontext.gregs[REG_RDX], -1);
}

static void what_did_not_fail_so_is_left_alone(void **state)
{
    (void)state;
    stand_after(poll_code, 7, 1);
    assert_false(wndl_rt_restart_is_due(&context));
    stand_after(poll_code, 5, -EINTR);
    assert_false(wndl_rt_restart_is_due(&context));
    stand_after(poll_code, 7, -EAGAIN);
    assert_false(wndl_rt_restart_is_due(&context));
    /* "jmp *%rcx" gets there, too. */
    stand_after(poll_code, 7, -EINTR);
    context.uc_mcontext.gregs[REG_R11] ^= 1;
    assert_false(wndl_rt_restart_is_due(&context));
}

static void code_that_cannot_be_read_is_left_alone(void **state)
{
    (void)state;
    struct wndl_rt_time rest;
    uint8_t *page = wndl_raw_map(
        WNDL_RT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    assert_non_null(page);
    memcpy(page + IN_FRONT, poll_code, 8);
    assert_int_equal(mprotect(page, WNDL_RT_PAGE, PROT_NONE), 0);
    for (int careful = 0; careful < 2; careful++) {
        atomic_store(&wndl_rt.careful, careful != 0);
        stand_after(page + IN_FRONT, 7, -EINTR);
        assert_true(wndl_rt_restart_is_due(&context));
        assert_false(wndl_rt_restart(&context, 0, &rest));
        stand_after(page + IN_FRONT, 5, SYS_poll);
        assert_true(wndl_rt_restart_is_at_call(&context));
        wndl_rt_restart_yield(&context);
        wndl_rt_restart_came_back(&context);
    }
    atomic_store(&wndl_rt.careful, false);
    wndl_raw_unmap(page, WNDL_RT_PAGE);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_found_right_before_the_call),
        cmocka_unit_test(code_in_between_is_passed),
        cmocka_unit_test(other_registers_and_prefixes_do_not_deceive),
        cmocka_unit_test(first_arguments_of_aarch64_are_told_by_the_code),
        cmocka_unit_test(first_arguments_that_are_gone_are_not_made_up),
#ifdef __x86_64__
        cmocka_unit_test(numbers_kept_in_registers_are_read_there),
        cmocka_unit_test(timeouts_are_known_by_call),
        cmocka_unit_test(an_interrupted_call_is_made_again),
        cmocka_unit_test(a_timeout_never_becomes_endless),
        cmocka_unit_test(what_did_not_fail_so_is_left_alone),
        cmocka_unit_test(code_that_cannot_be_read_is_left_alone),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
