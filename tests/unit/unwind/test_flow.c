/* SPDX-License-Identifier: MIT */
/* Code without CFI, left from each of its instructions. */
#include "testlib.h"

#include "unwind/fast/cache.h"
#include "unwind/slow/flow.h"

#include <stdlib.h>
#include <windlass/unwind.h>

#ifdef __x86_64__

/* As the C startup files have it: .init, and two functions around it. */
__asm__(".text\n"
        "site: call site\n"
        "site_end: ud2\n"
        "init_0: sub $8, %rsp\n"
        "init_1: mov 0x10(%rip), %rax\n"
        "test %rax, %rax\n"
        "je 1f\n"
        "init_2: call *%rax\n"
        "1: call site\n"
        "init_3: add $8, %rsp\n"
        "init_4: ret\n"
        "dtors_0: endbr64\n"
        "cmpb $0, 0x10(%rip)\n"
        "jne 2f\n"
        "push %rbp\n"
        "dtors_1: cmpq $0, 0x10(%rip)\n"
        "mov %rsp, %rbp\n"
        "dtors_2: call site\n"
        "movb $1, 0x10(%rip)\n"
        "pop %rbp\n"
        "dtors_3: ret\n"
        "2: ret\n"
        "clones_0: lea 0x10(%rip), %rdi\n"
        "lea 0x10(%rip), %rsi\n"
        "sub %rdi, %rsi\n"
        "mov %rsi, %rax\n"
        "shr $63, %rsi\n"
        "sar $3, %rax\n"
        "add %rax, %rsi\n"
        "sar $1, %rsi\n"
        "je 3f\n"
        "clones_1: jmp *%rax\n"
        "nopw 0(%rax,%rax,1)\n"
        "3: ret\n"
        "endless_0: jmp endless_0\n"
        /* As codecs and number crunchers have it. */
        "vector_0: push %rbp\n"
        "vector_1: push %rbx\n"
        "mov %rsp, %rbp\n"
        "and $-64, %rsp\n"
        "sub $0x180, %rsp\n"
        "vector_2: nop\n"
        "4: vmovdqu (%rdi), %ymm5\n"
        "vpaddd %ymm5, %ymm4, %ymm5\n"
        "pshufb 0x20(%rsp), %xmm1\n"
        "imul $77, %rdx, %rcx\n"
        "mulx %rdx, %r8, %r9\n"
        "sub $1, %r10\n"
        "jg 4b\n"
        "mov %rbp, %rsp\n"
        "pop %rbx\n"
        "pop %rbp\n"
        "vzeroupper\n"
        "vector_4: ret\n"
        /* The exit of the loop is a branch. */
        "while_0: push %r12\n"
        "5: cmp %rax, %rcx\n"
        "while_1: jge 6f\n"
        "inc %rcx\n"
        "while_2: jmp 5b\n"
        "6: pop %r12\n"
        "ret\n"
        /* A frame whose stack was aligned, as gcc writes it. */
        "aligned_0: lea 8(%rsp), %r10\n"
        "and $-32, %rsp\n"
        "push -8(%r10)\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "push %r10\n"
        "aligned_1: nop\n"
        "mov -8(%rbp), %r10\n"
        "leave\n"
        "lea -8(%r10), %rsp\n"
        "ret\n"
        "wild_0: mov %rax, %rsp\n"
        "ret\n"
        "odd_0: hlt\n"
        "ret\n");
extern const uint8_t site_end[];
extern const uint8_t init_0[], init_1[], init_2[], init_3[], init_4[];
extern const uint8_t dtors_0[], dtors_1[], dtors_2[], dtors_3[];
extern const uint8_t clones_0[], clones_1[];
extern const uint8_t vector_0[], vector_1[], vector_2[], vector_4[];
extern const uint8_t while_0[], while_1[], while_2[];
extern const uint8_t aligned_1[];
extern const uint8_t endless_0[], wild_0[], odd_0[];

enum { FP_NOW = 0x1111, FP_PUSHED = 0x2222 };

/* The word at SP that each has pushed; 0: none. */
static const struct {
    const uint8_t *pc;
    uint64_t pushed;
} places[] = {
    {init_0, 0},
    {init_1, 1},
    {init_2, 1},
    {init_3, 1},
    {init_4, 0},
    {dtors_0, 0},
    {dtors_1, FP_PUSHED},
    {dtors_2, FP_PUSHED},
    {dtors_3, 0},
    {clones_0, 0},
    {clones_1, 0},
    {vector_0, 0},
    {vector_1, FP_PUSHED},
    {vector_4, 0},
    {while_0, 0},
    {while_1, 1},
    {while_2, 1},
};

static uint64_t stack[12];

static bool read_stack(void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    uint64_t low = (uintptr_t)stack;
    if (address < low || address - low > sizeof stack - size)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static const struct wndl_space space = {
    .memory = {.read = read_stack},
    .arch = WNDL_ARCH_HERE,
};

static void every_place_leads_to_the_caller(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t at = 0;
        if (places[i].pushed != 0)
            stack[at++] = places[i].pushed;
        stack[at++] = (uintptr_t)site_end;
        struct wndl_fp_state s = {
            .pc = (uintptr_t)places[i].pc,
            .sp = (uintptr_t)stack,
            .fp = FP_NOW,
            .interrupted = true,
        };
        bool pops_fp = false;
        assert_true(wndl_flow_return(&space, &s, &pops_fp));
        assert_int_equal(s.pc, (uintptr_t)site_end);
        assert_int_equal(s.sp, (uintptr_t)(stack + at));
        assert_false(s.interrupted);
        assert_int_equal(pops_fp, places[i].pushed == FP_PUSHED);
        assert_int_equal(s.fp, pops_fp ? FP_PUSHED : FP_NOW);
    }
}

/* The frame pointer leads to what was saved before SP was aligned. */
static void aligned_frame_leads_to_the_caller(void **state)
{
    (void)state;
    uint64_t *const words = stack;
    words[0] = (uintptr_t)(words + 4); /* the CFA, by push %r10 */
    words[1] = FP_PUSHED;
    words[2] = words[3] = (uintptr_t)site_end;
    struct wndl_fp_state s = {.pc = (uintptr_t)aligned_1,
        .sp = (uintptr_t)words,
        .fp = (uintptr_t)(words + 1)};
    bool pops_fp = false;
    assert_true(wndl_flow_return(&space, &s, &pops_fp));
    assert_int_equal(s.pc, (uintptr_t)site_end);
    assert_int_equal(s.sp, (uintptr_t)(words + 4));
    assert_true(pops_fp && s.fp == FP_PUSHED);
}

static void assert_refused(const uint8_t *pc, uint64_t ra)
{
    stack[0] = ra;
    struct wndl_fp_state s = {.pc = (uintptr_t)pc, .sp = (uintptr_t)stack};
    const struct wndl_fp_state before = s;
    bool pops_fp;
    assert_false(wndl_flow_return(&space, &s, &pops_fp));
    assert_memory_equal(&s, &before, sizeof s);
}

static void what_cannot_be_followed_is_left_alone(void **state)
{
    (void)state;
    assert_refused(endless_0, (uintptr_t)site_end);
    assert_refused(wild_0, (uintptr_t)site_end);
    assert_refused(odd_0, (uintptr_t)site_end);
    assert_refused(init_4, (uintptr_t)init_4); /* no call is before it */
    assert_refused(init_4, 0);
}

static void assert_same_state(
    const struct wndl_fp_state *a, const struct wndl_fp_state *b)
{
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->sp, b->sp);
    assert_int_equal(a->fp, b->fp);
}

/* The same word at each place of a stack, and frame pointers that differ. */
static void assert_repeated(const uint8_t *pc, uint64_t pushed, uint8_t kind)
{
    for (size_t at = 0; at < 4; at++) {
        size_t n = at;
        if (pushed != 0)
            stack[n++] = pushed;
        stack[n] = (uintptr_t)site_end;
        struct wndl_fp_state followed = {.pc = (uintptr_t)pc,
            .sp = (uintptr_t)(stack + at),
            .fp = FP_NOW + at};
        struct wndl_fp_state repeated = followed;
        static struct wndl_rule rule;
        bool pops[2] = {false, true};
        if (at == 0)
            assert_true(wndl_flow_learn(&space, &followed, &pops[0], &rule));
        else
            assert_true(wndl_flow_return(&space, &followed, &pops[0]));
        assert_int_equal(rule.kind, kind);
        assert_true(wndl_flow_repeat(&space, &repeated, rule, &pops[1]));
        assert_same_state(&followed, &repeated);
        assert_int_equal(pops[0], pops[1]);
    }
}

static void what_was_learned_holds_for_any_stack(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        assert_repeated(places[i].pc, places[i].pushed, WNDL_ENTRY_FLOW_SP);
}

/* A frame pointer leads on from wherever SP was aligned to. */
static void a_frame_pointer_is_learned(void **state)
{
    (void)state;
    struct wndl_rule rule;
    bool pops_fp;
    uint64_t *const frame = stack + 6;
    frame[0] = 1;
    frame[1] = FP_PUSHED;
    frame[2] = (uintptr_t)site_end;
    struct wndl_fp_state s = {.pc = (uintptr_t)vector_2,
        .sp = (uintptr_t)stack,
        .fp = (uintptr_t)frame};
    struct wndl_fp_state again = s, unknown = s, above = s;
    assert_true(wndl_flow_learn(&space, &s, &pops_fp, &rule));
    assert_int_equal(rule.kind, WNDL_ENTRY_FLOW_FP);
    again.sp += 3 * sizeof *stack;
    assert_true(wndl_flow_repeat(&space, &again, rule, &pops_fp));
    assert_same_state(&s, &again);
    assert_true(pops_fp && s.fp == FP_PUSHED);
    unknown.fp = 0;
    assert_false(wndl_flow_repeat(&space, &unknown, rule, &pops_fp));
    above.sp = (uintptr_t)(frame + 2); /* RBP's word would be below it */
    assert_false(wndl_flow_repeat(&space, &above, rule, &pops_fp));
    frame[2] = (uintptr_t)init_4; /* no call is before it */
    assert_false(wndl_flow_repeat(&space, &unknown, rule, &pops_fp));
}

/* Returns the kind of the rule that is learned from a flow that fails. */
static uint8_t kind_of_failure(const uint8_t *pc, uint64_t fp, uint64_t ra)
{
    struct wndl_rule rule;
    bool pops_fp;
    stack[0] = ra;
    struct wndl_fp_state s = {
        .pc = (uintptr_t)pc, .sp = (uintptr_t)stack, .fp = fp};
    assert_false(wndl_flow_learn(&space, &s, &pops_fp, &rule));
    return rule.kind;
}

static void only_failures_of_the_code_are_learned(void **state)
{
    (void)state;
    const uint64_t ra = (uintptr_t)site_end;
    assert_int_equal(kind_of_failure(odd_0, FP_NOW, ra), WNDL_ENTRY_NO_FLOW);
    assert_int_equal(kind_of_failure(odd_0, 0, ra), WNDL_ENTRY_EMPTY);
    assert_int_equal(kind_of_failure(wild_0, FP_NOW, ra), WNDL_ENTRY_EMPTY);
    assert_int_equal(kind_of_failure(init_4, FP_NOW, 0), WNDL_ENTRY_EMPTY);
}

static size_t walk_stack(struct wndl_unwinder *u, struct wndl_frame frames[8])
{
    struct wndl_walk walk = {.frames = frames, .max_frames = 8};
    const struct wndl_stack_range range = {
        (uintptr_t)stack, (uintptr_t)(stack + 12)};
    const struct wndl_regs regs = {.ip = (uintptr_t)init_4,
        .sp = (uintptr_t)stack,
        .fp = FP_NOW,
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP};
    wndl_unwind_regs(u, &regs, &range, 1, &walk);
    return walk.count;
}

static uint8_t kind_kept(struct wndl_unwinder *u, uint64_t pc)
{
    return wndl_cache_find(u, pc, wndl_cache_generation(u)).rule.kind;
}

/* Walks leave what they learn of return addresses in the cache, and use it. */
static void walks_follow_code_once(void **state)
{
    (void)state;
    void *memory = calloc(1, wndl_unwinder_size());
    assert_non_null(memory);
    struct wndl_unwinder *u = wndl_unwinder_init(memory);
    struct wndl_frame first[8] = {0}, second[8] = {0};
    memset(stack, 0, sizeof stack);
    stack[0] = stack[2] = (uintptr_t)init_3;
    stack[4] = (uintptr_t)site_end;
    assert_int_equal(walk_stack(u, first), 4);
    assert_int_equal(kind_kept(u, (uintptr_t)init_3), WNDL_ENTRY_FLOW_SP);
    assert_int_equal(kind_kept(u, (uintptr_t)site_end), WNDL_ENTRY_NO_FLOW);
    assert_int_equal(kind_kept(u, (uintptr_t)init_4 + 1), WNDL_ENTRY_NO_FDE);
    assert_int_equal(walk_stack(u, second), 4);
    assert_memory_equal(first, second, sizeof first);
    /* A rule of a frame of 4 words shows that it is asked. */
    const struct wndl_rule far = {WNDL_ENTRY_FLOW_SP, WNDL_SLOT_NONE, 4};
    struct wndl_entry *e =
        wndl_cache_find(u, (uintptr_t)init_3, wndl_cache_generation(u)).entry;
    atomic_store(&e->rule, wndl_rule_bits(far));
    assert_int_equal(walk_stack(u, second), 3);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_learned_holds_for_any_stack),
        cmocka_unit_test(a_frame_pointer_is_learned),
        cmocka_unit_test(only_failures_of_the_code_are_learned),
        cmocka_unit_test(walks_follow_code_once),
        cmocka_unit_test(every_place_leads_to_the_caller),
        cmocka_unit_test(aligned_frame_leads_to_the_caller),
        cmocka_unit_test(what_cannot_be_followed_is_left_alone),
    };
    return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}

#else

int main(void)
{
    return EXIT_SUCCESS;
}

#endif
