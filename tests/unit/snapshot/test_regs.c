/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "collect/stop/regs.h"

#include <elf.h>
#include <sys/ucontext.h>

enum { SET_MAX = 8 * WNDL_REGS_MAX };

/* Each register's value is its index in the set, plus 1. */
static struct wndl_bytes make_set(
    uint8_t room[SET_MAX], uint16_t machine, size_t word)
{
    size_t size = wndl_regs_size(machine);
    memset(room, 0, SET_MAX);
    for (size_t i = 0; i < size / word; i++)
        room[i * word] = (uint8_t)(i + 1);
    return (struct wndl_bytes){room, size};
}

/* Where the kernel has the register of that name. */
static size_t index_of(uint16_t machine, const char *name)
{
    for (size_t i = 0; wndl_regs_name(machine, i) != NULL; i++) {
        if (strcmp(wndl_regs_name(machine, i), name) == 0)
            return i;
    }
    fail_msg("no register %s", name);
    return 0;
}

static void each_register_goes_to_its_place(void **state)
{
    (void)state;
#if defined(__x86_64__)
    static const struct {
        const char *name;
        int greg;
    } places[] = {{"r8", REG_R8}, {"r9", REG_R9}, {"r10", REG_R10},
        {"r11", REG_R11}, {"r12", REG_R12}, {"r13", REG_R13}, {"r14", REG_R14},
        {"r15", REG_R15}, {"rdi", REG_RDI}, {"rsi", REG_RSI}, {"rbp", REG_RBP},
        {"rbx", REG_RBX}, {"rdx", REG_RDX}, {"rax", REG_RAX}, {"rcx", REG_RCX},
        {"rsp", REG_RSP}, {"rip", REG_RIP}};
    uint8_t room[SET_MAX];
    struct wndl_thread_regs regs;
    assert_true(wndl_regs_read(&regs, EM_X86_64, make_set(room, EM_X86_64, 8)));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        assert_int_equal(regs.context.words64[places[i].greg],
            index_of(EM_X86_64, places[i].name) + 1);
    assert_int_equal(
        wndl_regs_call(&regs), index_of(EM_X86_64, "orig_rax") + 1);
#endif
}

static void walks_start_at_ip_and_sp(void **state)
{
    (void)state;
    static const struct {
        uint16_t machine;
        uint8_t word;
        const char *ip, *sp, *fp;
    } machines[] = {{EM_X86_64, 8, "rip", "rsp", "rbp"},
        {EM_386, 4, "eip", "esp", "ebp"}, {EM_AARCH64, 8, "pc", "sp", "x29"},
        {EM_ARM, 4, "pc", "sp", "r11"}};
    for (size_t i = 0; i < 4; i++) {
        uint8_t room[SET_MAX];
        struct wndl_thread_regs regs;
        uint16_t machine = machines[i].machine;
        assert_true(wndl_regs_read(
            &regs, machine, make_set(room, machine, machines[i].word)));
        const struct wndl_regs start = wndl_regs_start(&regs);
        assert_int_equal(start.ip, index_of(machine, machines[i].ip) + 1);
        assert_int_equal(start.sp, index_of(machine, machines[i].sp) + 1);
        assert_int_equal(start.fp, index_of(machine, machines[i].fp) + 1);
    }
}

static void i386_registers_are_words_of_4_bytes(void **state)
{
    (void)state;
    enum { GREG_ESP = 7, GREG_EIP = 14 };
    uint8_t room[SET_MAX];
    struct wndl_thread_regs regs;
    assert_true(wndl_regs_read(&regs, EM_386, make_set(room, EM_386, 4)));
    assert_int_equal(
        regs.context.words32[GREG_ESP], index_of(EM_386, "esp") + 1);
    assert_int_equal(
        regs.context.words32[GREG_EIP], index_of(EM_386, "eip") + 1);
    room[4 * 11] = room[4 * 11 + 1] = room[4 * 11 + 2] = room[4 * 11 + 3] = 255;
    assert_true(wndl_regs_read(
        &regs, EM_386, (struct wndl_bytes){room, wndl_regs_size(EM_386)}));
    assert_int_equal(wndl_regs_call(&regs), -1);
}

static void cut_sets_and_other_machines_are_refused(void **state)
{
    (void)state;
    uint8_t room[SET_MAX] = {0};
    struct wndl_thread_regs regs;
    const size_t size = wndl_regs_size(EM_X86_64);
    for (size_t i = 0; i < size; i++)
        assert_false(
            wndl_regs_read(&regs, EM_X86_64, (struct wndl_bytes){room, i}));
    assert_false(
        wndl_regs_read(&regs, EM_PPC64, (struct wndl_bytes){room, size}));
    assert_int_equal(wndl_regs_start(&regs).valid, 0);
    assert_int_equal(wndl_regs_call(&regs), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_register_goes_to_its_place),
        cmocka_unit_test(walks_start_at_ip_and_sp),
        cmocka_unit_test(i386_registers_are_words_of_4_bytes),
        cmocka_unit_test(cut_sets_and_other_machines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
