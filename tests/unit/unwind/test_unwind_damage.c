/* SPDX-License-Identifier: MIT */
/* Walks over damaged stacks and by damaged call frame information. */
#include "walk_fixture.h"

#include "unwind/core/arch.h"
#include "unwind_chain.h"
#include "unwind_extras.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

/* A copy of the stack between pages that cannot be read, its words moved
 * along where they point into it. */
struct copied_stack {
    struct wndl_regs regs;
    struct wndl_stack_range range;
    uintptr_t *words, *pristine;
    size_t count;
    struct oracle_walk expected;
    uintptr_t gregs[WNDL_GREGS];
};

static struct copied_stack copied;

static uintptr_t moved(uint64_t value, uint64_t low, uint64_t high)
{
    uint64_t base = (uintptr_t)copied.words;
    return (
        uintptr_t)(value >= low && value < high ? value - low + base : value);
}

static __attribute__((no_sanitize("address"))) void copy_stack(
    uint64_t low, uint64_t high)
{
    size_t pages = (high - low + 4095) / 4096 * 4096;
    uint8_t *map =
        mmap(NULL, pages + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(map != MAP_FAILED);
    must(mprotect(map + 4096, pages, PROT_READ | PROT_WRITE) == 0);
    copied.count = (high - low) / WNDL_WORD;
    copied.words = (uintptr_t *)(void *)(map + 4096 + pages - (high - low));
    copied.pristine = malloc(high - low);
    must(copied.pristine != NULL);
    for (size_t i = 0; i < copied.count; i++) {
        uintptr_t word = ((const volatile uintptr_t *)(uintptr_t)low)[i];
        copied.words[i] = copied.pristine[i] = moved(word, low, high);
    }
    copied.range.low = (uintptr_t)copied.words;
    copied.range.high = copied.range.low + (high - low);
}

static void on_signal_copy(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    struct wndl_regs *regs = &copied.regs;
    wndl_regs_from_context(regs, ucontext);
    prepare(&copied.expected, ORACLE_FRAMES);
    wndl_unwind_regs(
        oracle.unwinder, regs, oracle.stacks, 1, &copied.expected.walk);
    uint64_t low = (regs->sp - WNDL_RED_ZONE) & ~UINT64_C(4095);
    uint64_t high = oracle.stacks[0].high;
    copy_stack(low, high);
    memcpy(copied.gregs, regs->gregs, sizeof copied.gregs);
    for (int i = 0; i < WNDL_GREGS; i++)
        copied.gregs[i] = moved(copied.gregs[i], low, high);
    regs->gregs = copied.gregs;
    regs->sp = moved(regs->sp, low, high);
    regs->fp = moved(regs->fp, low, high);
    regs->bx = moved(regs->bx, low, high);
}

static void raise_for_copy(void *unused)
{
    (void)unused;
    const struct sigaction action = {
        .sa_sigaction = on_signal_copy, .sa_flags = SA_SIGINFO};
    must(sigaction(SIGURG, &action, NULL) == 0 && raise(SIGURG) == 0);
}

static void make_copy(void)
{
    static struct chain chain = {.extra = extras, .leaf = raise_for_copy};
    static _Alignas(64) char alternate[1 << 16];
    extras_begin(alternate, sizeof alternate);
    chain_random(&chain, 60, 77, 0);
    chain.shape[10] = CHAIN_SHAPES + EXTRA_SIGNAL;
    chain.shape[20] = CHAIN_SHAPES + EXTRA_REALIGNED;
    chain.shape[30] = CHAIN_SHAPES + EXTRA_NO_CFI;
    chain.shape[40] = CHAIN_SHAPES + EXTRA_SIGNAL;
    chain_run(&chain);
    extras_end();
}

static size_t ends[WNDL_END_FP_ROOT + 1];

static void walk_copy(const struct wndl_regs *regs)
{
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_regs(oracle.unwinder, regs, &copied.range, 1, &walked.walk);
    assert_true(walked.walk.count >= 1);
    assert_true(walked.walk.count <= ORACLE_FRAMES);
    assert_true(walked.walk.fp_frames < walked.walk.count);
    ends[walked.walk.end]++;
}

static uint64_t random_state = 0x123456789;

static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* The values that damage might plausibly leave, and a few that aim. */
static uint64_t bad_value(uint64_t old)
{
    uint64_t near = random_word() % 64 * 8 - 256;
    switch (random_word() % 8) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX - random_word() % 64;
    case 2:
        return old ^ UINT64_C(1) << random_word() % 64;
    case 3:
        return copied.range.high + near;
    case 4:
        return copied.range.low + near;
    case 5:
        return copied.pristine[random_word() % copied.count];
    case 6:
        return old + near;
    default:
        return random_word();
    }
}

/* A word of the frames above `from`, mostly one that might be an address. */
static size_t choose_word(uint64_t from)
{
    enum { USED = 8192 }; /* words that the chain's frames take, about */
    size_t index = 0;
    for (int i = 0; i < 64; i++) {
        index = (from + random_word() % USED) % copied.count;
        uint64_t word = copied.pristine[index];
        if (WNDL_WORD == 8 ? word >> 40 != 0 && word >> 47 == 0
                           : word >> 28 != 0 && word >> 16 != 0xffff)
            break;
    }
    return index;
}

static void walk_damaged_copy(void)
{
    enum { WOUNDS = 16 };
    size_t wounds[WOUNDS];
    struct wndl_regs regs = copied.regs;
    uint64_t above_sp = (regs.sp - copied.range.low) / WNDL_WORD;
    size_t count = random_word() % WOUNDS;
    if (count == 0)
        regs.sp = bad_value(regs.sp);
    if (count == 1)
        regs.fp = bad_value(regs.fp);
    for (size_t i = 0; i < count; i++) {
        wounds[i] = choose_word(above_sp);
        copied.words[wounds[i]] = (uintptr_t)bad_value(copied.words[wounds[i]]);
    }
    walk_copy(&regs);
    for (size_t i = 0; i < count; i++)
        copied.words[wounds[i]] = copied.pristine[wounds[i]];
}

static void damaged_stacks_are_read_only_inside_their_range(void **state)
{
    (void)state;
    make_copy();
    walk_copy(&copied.regs);
    assert_int_equal(walked.walk.end, WNDL_END_COMPLETE);
    assert_int_equal(walked.walk.count, copied.expected.walk.count);
    assert_memory_equal(walked.frames, copied.expected.frames,
        walked.walk.count * sizeof walked.frames[0]);
    for (int i = 0; i < 100000; i++)
        walk_damaged_copy();
    assert_true(ends[WNDL_END_COMPLETE] > 1000);
    assert_true(ends[WNDL_END_BAD_READ] > 1000);
    assert_true(ends[WNDL_END_BAD_PC] > 1000);
    assert_true(ends[WNDL_END_FP_ROOT] > 100);
    assert_true(ends[WNDL_END_NO_PROGRESS] > 0);
    assert_true(ends[WNDL_END_NO_RULE] > 100);
    free(copied.pristine);
}

/* ---- damaged call frame information ---- */

static struct wndl_remote_module own_modules[64];

/* The modules of this process with their .eh_frame copied, `size` bytes of
 * it, and no header when `size` is cut. */
static struct wndl_remote with_copied_cfi(struct wndl_bytes *copy)
{
    struct wndl_remote remote = *oracle_remote(&oracle);
    memcpy(own_modules, remote.modules,
        remote.module_count * sizeof own_modules[0]);
    remote.modules = own_modules;
    for (size_t i = 0; i < remote.module_count; i++) {
        struct wndl_remote_module *m = &own_modules[i];
        uint64_t here = (uintptr_t)&with_copied_cfi;
        if (here < m->start || here >= m->end)
            continue;
        uint8_t *bytes = malloc(m->eh_frame_size);
        must(bytes != NULL);
        memcpy(bytes, m->eh_frame, m->eh_frame_size);
        m->eh_frame = bytes;
        *copy = (struct wndl_bytes){bytes, m->eh_frame_size};
    }
    return remote;
}

static void walk_remote(void *argument)
{
    struct wndl_regs regs;
    ucontext_t here;
    must(getcontext(&here) == 0);
    wndl_regs_from_context(&regs, &here);
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_remote(argument, &regs, &walked.walk);
    must(walked.walk.count >= 1);
}

static void flip_and_walk(void *argument)
{
    const struct wndl_remote *remote = argument;
    for (size_t i = 0; i < remote->module_count; i++) {
        const struct wndl_remote_module *m = &remote->modules[i];
        uint64_t here = (uintptr_t)&flip_and_walk;
        if (here < m->start || here >= m->end)
            continue;
        for (int trial = 0; trial < 3000; trial++) {
            uint8_t *at = (uint8_t *)(uintptr_t)m->eh_frame +
                          random_word() % m->eh_frame_size;
            uint8_t old = *at;
            *at = (uint8_t)random_word();
            walk_remote(argument);
            *at = old;
        }
    }
}

static void damaged_cfi_is_survived(void **state)
{
    (void)state;
    struct wndl_bytes copy = {0};
    struct wndl_remote remote = with_copied_cfi(&copy);
    assert_non_null(copy.data);
    static struct chain chain = {.leaf = flip_and_walk};
    chain.context = &remote;
    chain_random(&chain, 30, 9, 0);
    chain_run(&chain);
    free((void *)(uintptr_t)copy.data);
}

static void modules_without_a_header_are_scanned(void **state)
{
    (void)state;
    struct wndl_bytes copy = {0};
    struct wndl_remote remote = with_copied_cfi(&copy);
    for (size_t i = 0; i < remote.module_count; i++)
        own_modules[i].eh_frame_hdr = NULL;
    static struct chain chain = {.leaf = walk_remote};
    chain.context = &remote;
    chain_random(&chain, 30, 9, 0);
    chain_run(&chain);
    assert_int_equal(walked.walk.end, WNDL_END_COMPLETE);
    assert_true(walked.walk.count > 30);
    free((void *)(uintptr_t)copy.data);
}

static bool read_nothing(void *context, uint64_t address, void *to, size_t size)
{
    (void)context, (void)address, (void)to, (void)size;
    return false;
}

static void registers_without_pc_or_sp_give_no_frame(void **state)
{
    (void)state;
    const struct wndl_remote remote = {.read = read_nothing};
    const uint32_t some[] = {0, WNDL_REG_IP, WNDL_REG_SP | WNDL_REG_FP};
    for (size_t i = 0; i < 3; i++) {
        struct wndl_regs regs = {.ip = 4096, .sp = 4096, .valid = some[i]};
        prepare(&walked, ORACLE_FRAMES);
        wndl_unwind_regs(oracle.unwinder, &regs, NULL, 0, &walked.walk);
        assert_int_equal(walked.walk.count, 0);
        assert_int_equal(walked.walk.end, WNDL_END_NO_RULE);
        prepare(&walked, ORACLE_FRAMES);
        wndl_unwind_remote(&remote, &regs, &walked.walk);
        assert_int_equal(walked.walk.count, 0);
        assert_int_equal(walked.walk.end, WNDL_END_NO_RULE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_stacks_are_read_only_inside_their_range),
        cmocka_unit_test(damaged_cfi_is_survived),
        cmocka_unit_test(modules_without_a_header_are_scanned),
        cmocka_unit_test(registers_without_pc_or_sp_give_no_frame),
    };
    return cmocka_run_group_tests_name(
        "unwind_damage", tests, set_up, tear_down);
}
