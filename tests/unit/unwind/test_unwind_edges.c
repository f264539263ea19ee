/* SPDX-License-Identifier: MIT */
/* What ordinary stacks do not show: odd code, limits, safety. */
#include "walk_fixture.h"

#include "unwind/core/arch.h"
#include "unwind/core/frame.h"
#include "unwind/fast/cache.h"
#include "unwind/space/space.h"
#include "unwind_chain.h"
#include "unwind_extras.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

extern struct wndl_walk ctor_walk;

/* ---- the calling thread's own stack ---- */

struct addresses {
    uint64_t address[ORACLE_FRAMES];
    size_t count;
};

static _Unwind_Reason_Code collect(struct _Unwind_Context *c, void *argument)
{
    struct addresses *to = argument;
    if (_Unwind_GetIP(c) != 0 && to->count < ORACLE_FRAMES)
        to->address[to->count++] = _Unwind_GetIP(c);
    return _URC_NO_REASON;
}

static void compare_self_with_libgcc(void *unused)
{
    (void)unused;
    static struct addresses expected;
    expected.count = 0;
    (void)_Unwind_Backtrace(collect, &expected);
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walked.walk);
    assert_int_equal(walked.walk.end, WNDL_END_COMPLETE);
    assert_int_equal(walked.walk.count, expected.count);
    assert_int_equal(walked.frames[0].how, WNDL_HOW_CONTEXT);
    assert_false(walked.frames[0].interrupted);
    for (size_t i = 1; i < expected.count; i++)
        assert_int_equal(walked.frames[i].address, expected.address[i]);
}

static void self_gives_the_frames_that_libgcc_gives(void **state)
{
    (void)state;
    static struct chain chain = {.leaf = compare_self_with_libgcc};
    for (uint64_t seed = 1; seed <= 50; seed++) {
        chain_random(&chain, 10 + seed, seed, 0);
        chain_run(&chain);
    }
}

static void walk_self_with_every_room(void *unused)
{
    (void)unused;
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walked.walk);
    size_t all = walked.walk.count;
    for (size_t room = 1; room <= all; room++) {
        walked.frames[room].address = 0x1234;
        prepare(&walked, room);
        wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walked.walk);
        assert_int_equal(walked.walk.count, room);
        assert_int_equal(walked.walk.end,
            room == all ? WNDL_END_COMPLETE : WNDL_END_TRUNCATED);
        assert_int_equal(walked.frames[room].address, 0x1234);
    }
}

static void only_a_room_too_small_is_truncated(void **state)
{
    (void)state;
    static struct chain chain = {
        .extra = extras, .leaf = walk_self_with_every_room};
    chain_random(&chain, 40, 5, 0);
    chain.shape[20] = CHAIN_SHAPES + EXTRA_NO_CFI;
    chain_run(&chain);
}

static void constructors_of_libraries_are_complete(void **state)
{
    (void)state;
    assert_int_equal(ctor_walk.end, WNDL_END_COMPLETE);
    assert_true(ctor_walk.count >= 3);
}

/* ---- code that is not there ---- */

static sigjmp_buf after_fault;
static bool fault_was_complete;
static struct wndl_frame fault_frames[2];

static void on_fault(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    struct wndl_regs regs;
    wndl_regs_from_context(&regs, ucontext);
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_regs(oracle.unwinder, &regs, oracle.stacks, 1, &walked.walk);
    fault_was_complete = walked.walk.end == WNDL_END_COMPLETE;
    memcpy(fault_frames, walked.frames, sizeof fault_frames);
    siglongjmp(after_fault, 1);
}

static __attribute__((noinline)) void call_null(void)
{
    void (*volatile null)(void) = NULL;
    null();
    __asm__ volatile("");
}

static void a_call_through_a_null_pointer_shows_the_caller(void **state)
{
    (void)state;
    const struct sigaction action = {
        .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    struct sigaction old;
    assert_int_equal(sigaction(SIGSEGV, &action, &old), 0);
    if (sigsetjmp(after_fault, 1) == 0)
        call_null();
    assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
    assert_true(fault_was_complete);
    assert_int_equal(fault_frames[0].address, 0);
    uint64_t into = fault_frames[1].address - (uintptr_t)&call_null;
    assert_true(into < 256);
    assert_int_equal(fault_frames[1].how, WNDL_HOW_FP);
}

/* What recordings say of a walk that ended so, by way of such a frame. */
static enum wndl_walk_end sure_end(
    enum wndl_walk_end end, enum wndl_frame_how how)
{
    struct wndl_frame frames[] = {
        {.how = WNDL_HOW_CONTEXT}, {.how = how}, {.how = WNDL_HOW_CFI}};
    const struct wndl_walk walk = {
        .frames = frames,
        .count = 3,
        .end = end,
        .fp_frames = wndl_frame_is_by_fp(how),
        .method = how == WNDL_HOW_SCAN ? WNDL_WALK_SCAN : WNDL_WALK_ANY,
    };
    return wndl_walk_sure_end(&walk);
}

static void no_guess_leads_to_a_complete_stack(void **state)
{
    (void)state;
    const enum wndl_walk_end complete = WNDL_END_COMPLETE;
    assert_int_equal(sure_end(complete, WNDL_HOW_CFI), complete);
    assert_int_equal(sure_end(complete, WNDL_HOW_CHECKED), complete);
    assert_int_equal(sure_end(complete, WNDL_HOW_FP), WNDL_END_FP_ROOT);
    assert_int_equal(sure_end(complete, WNDL_HOW_SCAN), WNDL_END_FP_ROOT);
    assert_int_equal(
        sure_end(WNDL_END_NO_RULE, WNDL_HOW_SCAN), WNDL_END_NO_RULE);
}

#ifdef __x86_64__
/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov %rdi,%rax; mov %rsi,%rdi;
 * call *%rax; leave; ret */
static const uint8_t compiled_just_in_time[] = {0x55, 0x48, 0x89, 0xe5, 0x48,
    0x83, 0xec, 0x10, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0xc9,
    0xc3};
#else
/* push %ebp; mov %esp,%ebp; sub $4,%esp; mov 8(%ebp),%eax; push 12(%ebp);
 * call *%eax; leave; ret */
static const uint8_t compiled_just_in_time[] = {0x55, 0x89, 0xe5, 0x83, 0xec,
    0x04, 0x8b, 0x45, 0x08, 0xff, 0x75, 0x0c, 0xff, 0xd0, 0xc9, 0xc3};
#endif

typedef long callback_caller(long (*callback)(void *), void *argument);

struct jit {
    callback_caller *call;
    int left; /* calls within calls to go */
};

static long walk_through_jit(void *argument)
{
    struct jit *jit = argument;
    if (jit->left-- > 0)
        return jit->call(walk_through_jit, jit) + 1;
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walked.walk);
    return 0;
}

static void code_in_no_module_is_passed_by_frame_pointer(void **state)
{
    (void)state;
    void *page = mmap(
        NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    memcpy(page, compiled_just_in_time, sizeof compiled_just_in_time);
    assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
    struct jit jit = {.left = 3};
    memcpy(&jit.call, &page, sizeof page);
    assert_int_equal(walk_through_jit(&jit), 3);
    assert_int_equal(walked.walk.end, WNDL_END_COMPLETE);
    assert_int_equal(walked.walk.fp_frames, 3);
    unsigned guessed = 0;
    for (size_t i = 0; i < walked.walk.count; i++)
        guessed += walked.frames[i].how == WNDL_HOW_FP;
    assert_int_equal(guessed, 3);
    assert_int_equal(munmap(page, 4096), 0);
}

/* A stack of ours with a link at word 4, walked from code without CFI. */
static long walk_by(void *method)
{
    prepare(&walked, ORACLE_FRAMES);
    walked.walk.method = *(const enum wndl_walk_method *)method;
    wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walked.walk);
    return 0;
}

static void a_walk_goes_only_the_ways_it_may(void **state)
{
    (void)state;
    enum wndl_walk_method method = WNDL_WALK_CFI;
    (void)call_without_cfi(walk_by, &method);
    assert_int_equal(walked.walk.end, WNDL_END_NO_RULE);
    assert_int_equal(walked.walk.fp_frames, 0);
    size_t up_to_it = walked.walk.count;
    method = WNDL_WALK_FP;
    (void)call_without_cfi(walk_by, &method);
    assert_int_equal(walked.walk.fp_frames, walked.walk.count - 1);
    method = WNDL_WALK_ANY;
    (void)call_without_cfi(walk_by, &method);
    assert_int_equal(walked.walk.end, WNDL_END_COMPLETE);
    assert_int_equal(walked.walk.fp_frames, 1);
    assert_true(walked.walk.count > up_to_it);
}

#if defined(__x86_64__) || defined(__i386__)
__asm__(".pushsection .text\n"
#ifdef __x86_64__
        "    call *%rax\n"
#else
        "    call *%eax\n"
#endif
        "after_indirect_call: hlt\n"
        ".popsection");
extern const uint8_t after_indirect_call[];
#endif

static void walk_fake_stack(uint64_t sp_word, uintptr_t link_pc)
{
    static uintptr_t stack[16];
    uintptr_t base = (uintptr_t)stack;
    const struct wndl_stack_range range = {base, base + sizeof stack};
    stack[4] = base + 8 * WNDL_WORD;
    stack[5] = link_pc;
    const struct wndl_regs regs = {
        .ip = (uintptr_t)&call_without_cfi,
        .sp = base + WNDL_WORD * sp_word,
        .fp = base + 4 * WNDL_WORD,
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP,
    };
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_regs(oracle.unwinder, &regs, &range, 1, &walked.walk);
}

static void only_plausible_frame_pointers_are_followed(void **state)
{
    (void)state;
#if defined(__x86_64__) || defined(__i386__)
    uint64_t code = (uintptr_t)after_indirect_call;
    /* No call is before these. */
    walk_fake_stack(2, (uintptr_t)&call_without_cfi + 1);
    assert_int_equal(walked.walk.count, 1);
    assert_int_equal(walked.walk.end, WNDL_END_NO_RULE);
    walk_fake_stack(2, (uintptr_t)&walked);
    assert_int_equal(walked.walk.count, 1);
    assert_int_equal(walked.walk.end, WNDL_END_NO_RULE);
#else
    uint64_t code = (uintptr_t)&call_without_cfi + 1;
    walk_fake_stack(2, (uintptr_t)&walked); /* in a module: believed */
    assert_int_equal(walked.walk.count, 2);
#endif
    walk_fake_stack(2, code);
    assert_int_equal(walked.walk.count, 2);
    assert_int_equal(walked.walk.fp_frames, 1);
    walk_fake_stack(6, code); /* the link is below SP */
    assert_int_equal(walked.walk.count, 1);
    assert_int_equal(walked.walk.end, WNDL_END_NO_RULE);
    walk_fake_stack(2, (uintptr_t)UINT64_C(0x123456789)); /* in none */
    assert_int_equal(walked.walk.count, 1);
    assert_int_equal(walked.walk.end, WNDL_END_NO_RULE);
    walk_fake_stack(2, 0);
    assert_int_equal(walked.walk.count, 1);
    assert_int_equal(walked.walk.end, WNDL_END_FP_ROOT);
}

/*
 * vfork() pops its return address into RDI, on i386 ECX, before its system
 * call, as the child will overwrite the stack: there it has no frame at all.
 */
static void a_return_address_in_a_register_is_followed(void **state)
{
    (void)state;
#ifdef __x86_64__
    static const uint8_t system_call[] = {0x0f, 0x05};
    enum { HOLDS_RETURN = REG_RDI };
#else
    static const uint8_t system_call[] = {0xcd, 0x80};
    enum { HOLDS_RETURN = REG_ECX };
#endif
    /* A sanitizer has a vfork() of its own in front of this one. */
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(libc);
    const uint8_t *code = dlsym(libc, "vfork");
    assert_non_null(code);
    const uint8_t *at = memmem(code, 64, system_call, sizeof system_call);
    assert_non_null(at);
    ucontext_t here;
    assert_int_equal(getcontext(&here), 0);
    greg_t *gregs = here.uc_mcontext.gregs;
    uint64_t caller = (uintptr_t)gregs[WNDL_GREG_IP];
    gregs[HOLDS_RETURN] = (greg_t)caller;
    gregs[WNDL_GREG_IP] = (greg_t)(uintptr_t)at;
    struct wndl_regs regs;
    wndl_regs_from_context(&regs, &here);
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_regs(oracle.unwinder, &regs, oracle.stacks, oracle.stack_count,
        &walked.walk);
    assert_int_equal(walked.walk.end, WNDL_END_COMPLETE);
    assert_int_equal(walked.frames[1].address, caller);
}

/* ---- rules ---- */

static struct wndl_cfi_row ordinary_row(void)
{
    struct wndl_cfi_row row = {.ra_reg = WNDL_DWARF_RA};
    row.cfa.kind = WNDL_RULE_REGISTER;
    row.cfa.reg = WNDL_DWARF_SP;
    row.cfa.offset = 2 * WNDL_WORD;
    row.regs[WNDL_DWARF_RA].kind = WNDL_RULE_OFFSET;
    row.regs[WNDL_DWARF_RA].offset = -WNDL_WORD;
    return row;
}

static int kind_of(const struct wndl_cfi_row *row)
{
    return wndl_rule_of_row(row, 0x1000).kind;
}

static void rows_become_rules_by_what_they_read(void **state)
{
    (void)state;
    struct wndl_cfi_row row = ordinary_row();
    struct wndl_cfi_rule *fp = &row.regs[WNDL_DWARF_FP];
    assert_int_equal(kind_of(&row), WNDL_ENTRY_SP);
    fp->kind = WNDL_RULE_OFFSET;
    fp->offset = -2 * WNDL_WORD;
    assert_int_equal(kind_of(&row), WNDL_ENTRY_SP);
    fp->offset = -3 * WNDL_WORD; /* below SP */
    assert_int_equal(kind_of(&row), WNDL_ENTRY_SP_LOW);
    row.cfa.reg = WNDL_DWARF_FP;
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FP);
    fp->offset = -WNDL_WORD; /* the return address */
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FULL);
    fp->offset = -2 * WNDL_WORD - 1;
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FULL);
    fp->offset = -129 * WNDL_WORD; /* too far for an entry */
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FULL);
    fp->kind = WNDL_RULE_UNDEFINED;
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FULL);
    row = ordinary_row();
    row.cfa.offset = 65536 * WNDL_WORD;
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FULL);
    row.cfa.offset = 0; /* would not rise */
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FULL);
    row.cfa.offset = 2 * WNDL_WORD;
    row.cfa.reg = WNDL_DWARF_BX;
    assert_int_equal(kind_of(&row), WNDL_ENTRY_FULL);
    row.regs[WNDL_DWARF_RA].kind = WNDL_RULE_UNDEFINED;
    assert_int_equal(kind_of(&row), WNDL_ENTRY_STOP);
}

static struct wndl_found find(uint64_t pc)
{
    struct wndl_unwinder *u = oracle.unwinder;
    return wndl_cache_find(u, pc, wndl_cache_generation(u));
}

static void count_kinds(void *counts)
{
    prepare(&walked, ORACLE_FRAMES);
    wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walked.walk);
    for (size_t i = 0; i < walked.walk.count; i++) {
        struct wndl_frame f = walked.frames[i];
        ((size_t *)counts)[find(f.address + f.interrupted).rule.kind]++;
    }
}

static void common_odd_frames_need_no_full_step(void **state)
{
    (void)state;
    static struct chain chain = {.extra = extras, .leaf = count_kinds};
    static _Alignas(64) char alternate[1 << 16];
    size_t counts[WNDL_ENTRY_NO_CODE + 1] = {0};
    chain.context = counts;
    chain_random(&chain, 30, 4, 0);
    chain.shape[10] = CHAIN_SHAPES + EXTRA_SIGNAL;
    chain.shape[20] = CHAIN_SHAPES + EXTRA_REALIGNED;
    extras_begin(alternate, sizeof alternate);
    chain_run(&chain);
    extras_end();
    assert_int_equal(counts[WNDL_ENTRY_SIGRETURN], 1);
    assert_int_equal(counts[WNDL_ENTRY_STOP], 1);
    assert_int_equal(counts[WNDL_ENTRY_FULL], 0);
#ifndef __clang__ /* clang realigns with an RBP-based CFA */
    const size_t realigned_main = WNDL_WORD == 4;
    assert_int_equal(counts[WNDL_ENTRY_REALIGN], 1 + realigned_main);
#endif
}

/* ---- the cache ---- */

static bool is_kept(uint64_t pc)
{
    struct wndl_found found = find(pc);
    return !found.kept && found.entry != &oracle.unwinder->outside;
}

static void check_rule(uint64_t pc, struct wndl_rule rule)
{
    struct wndl_code code;
    if (wndl_code_find(NULL, pc - 1, &code) != WNDL_CODE_ROW)
        return;
    struct wndl_rule fresh = wndl_rule_of_row(&code.row, pc - 1);
    assert_int_equal(wndl_rule_bits(rule), wndl_rule_bits(fresh));
}

static void full_sets_still_give_the_right_rules(void **state)
{
    (void)state;
    const struct wndl_remote *remote = oracle_remote(&oracle);
    uint64_t code = (uintptr_t)&qsort;
    assert_true(wndl_code_is_mapped(remote, code));
    /* Twice as many keys as entries, each asked for twice. */
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 1; i <= 2 * WNDL_CACHE_ENTRIES; i++)
            check_rule(code + i, find(code + i).rule);
}

/* Return addresses are where they are: from one to the next, any distance. */
static void all_but_a_few_of_ten_thousand_pcs_stay(void **state)
{
    (void)state;
    enum { PCS = 10000 };
    size_t stayed = 0;
    uint64_t pc = (uintptr_t)&qsort;
    wndl_unwinder_flush(oracle.unwinder);
    for (int round = 0; round < 2; round++) {
        pc = (uintptr_t)&qsort;
        for (uint64_t i = 0; i < PCS; i++) {
            pc += 5 + i * i % 29;
            stayed += is_kept(pc);
        }
    }
    assert_true(stayed * 1000 >= PCS * 999);
}

/* A slot that somebody is filling, or never finished to, is passed by. */
static void claimed_slots_do_no_harm(void **state)
{
    (void)state;
    struct wndl_unwinder *u = oracle.unwinder;
    uint64_t pc = (uintptr_t)&qsort + 1;
    wndl_unwinder_flush(u);
    struct wndl_found found = find(pc);
    assert_true(found.kept);
    uint32_t bits = atomic_exchange(&found.entry->rule, 1 << 16);
    check_rule(pc, find(pc).rule);
    assert_false(is_kept(pc));
    compare_self_with_libgcc(NULL);
    atomic_store(&found.entry->rule, bits);
    assert_true(is_kept(pc));
}

static void a_flushed_cache_is_as_new(void **state)
{
    (void)state;
    struct wndl_unwinder *u = oracle.unwinder;
    uint64_t pc = (uintptr_t)&qsort + 1;
    /* More often than there are generations; some when all slots are full. */
    for (int i = 0; i < 70000; i++) {
        if (i % 1000 == 0) {
            compare_self_with_libgcc(NULL);
            (void)find(pc);
            assert_true(is_kept(pc));
        }
        wndl_unwinder_flush(u);
        if (i % 1000 == 0)
            assert_false(is_kept(pc));
    }
    full_sets_still_give_the_right_rules(NULL);
    wndl_unwinder_flush(u);
    full_sets_still_give_the_right_rules(NULL);
    compare_self_with_libgcc(NULL);
}

/* ---- signal safety ---- */

static size_t allocations;

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

static void walk_cold_and_warm(void *unused)
{
    (void)unused;
    wndl_unwinder_flush(oracle.unwinder);
    for (int i = 0; i < 3; i++) {
        prepare(&walked, ORACLE_FRAMES);
        wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walked.walk);
        must(walked.walk.end == WNDL_END_COMPLETE);
    }
}

static void a_walk_allocates_nothing(void **state)
{
    (void)state;
    static struct chain chain = {.extra = extras, .leaf = walk_cold_and_warm};
    void *volatile counted = malloc(1);
    free(counted);
    assert_true(allocations > 0);
    chain_random(&chain, 40, 3, 0);
    chain.shape[20] = CHAIN_SHAPES + EXTRA_NO_CFI;
    allocations = 0;
    chain_run(&chain);
    assert_int_equal(allocations, 0);
}

/* The kernel kills who makes any call but read, write, exit, sigreturn. */
static void a_walk_makes_no_system_call(void **state)
{
    (void)state;
    static struct chain chain = {.extra = extras, .leaf = walk_cold_and_warm};
    chain_random(&chain, 40, 3, 0);
    chain.shape[20] = CHAIN_SHAPES + EXTRA_NO_CFI;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
            chain_run(&chain);
        (void)syscall(SYS_exit, 42);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_gives_the_frames_that_libgcc_gives),
        cmocka_unit_test(only_a_room_too_small_is_truncated),
        cmocka_unit_test(constructors_of_libraries_are_complete),
        cmocka_unit_test(a_call_through_a_null_pointer_shows_the_caller),
        cmocka_unit_test(no_guess_leads_to_a_complete_stack),
        cmocka_unit_test(code_in_no_module_is_passed_by_frame_pointer),
        cmocka_unit_test(a_walk_goes_only_the_ways_it_may),
        cmocka_unit_test(only_plausible_frame_pointers_are_followed),
        cmocka_unit_test(a_return_address_in_a_register_is_followed),
        cmocka_unit_test(rows_become_rules_by_what_they_read),
        cmocka_unit_test(common_odd_frames_need_no_full_step),
        cmocka_unit_test(full_sets_still_give_the_right_rules),
        cmocka_unit_test(all_but_a_few_of_ten_thousand_pcs_stay),
        cmocka_unit_test(claimed_slots_do_no_harm),
        cmocka_unit_test(a_flushed_cache_is_as_new),
        cmocka_unit_test(a_walk_allocates_nothing),
        cmocka_unit_test(a_walk_makes_no_system_call),
    };
    return cmocka_run_group_tests_name(
        "unwind_edges", tests, set_up, tear_down);
}
