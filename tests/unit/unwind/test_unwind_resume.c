/* SPDX-License-Identifier: MIT */
/*
 * Resumed walks are the full ones: on made-up stacks that are rewritten in
 * place, and in programs that call, return, jump, switch stacks, raise signals
 * and load code at random.
 */
#include "testlib.h"

#include "unwind/core/arch.h"
#include "unwind/fast/cache.h"
#include "unwind_chain.h"
#include "unwind_extras.h"
#include "unwind_oracle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

static struct oracle oracle;

static uint64_t random_state;

static uint32_t pick(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % below;
}

/* How many walks there were, and frames taken over. */
static size_t walks, resumed_frames, complete;

static void check_regs(const struct wndl_regs *regs,
    const struct wndl_stack_range *stacks, size_t count)
{
    static __thread struct wndl_frame frames[ORACLE_FRAMES];
    struct wndl_walk direct = {.frames = frames, .max_frames = ORACLE_FRAMES};
    struct wndl_resumed resumed = {.walk.method = WNDL_WALK_ANY};
    wndl_unwind_resume(oracle.resume, regs, stacks, count, &resumed);
    wndl_unwind_regs(oracle.unwinder, regs, stacks, count, &direct);
    must(oracle_is_resumed(&resumed, &direct, true));
    walks++;
    resumed_frames += direct.count - resumed.changed;
    complete += direct.end == WNDL_END_COMPLETE;
}

static __attribute__((noinline)) void check_here(void)
{
    struct wndl_regs regs;
    ucontext_t here;
    must(getcontext(&here) == 0);
    wndl_regs_from_context(&regs, &here);
    check_regs(&regs, oracle.stacks, oracle.stack_count);
}

static int begin(void **state)
{
    (void)state;
    oracle_init(&oracle);
    walks = 0;
    resumed_frames = 0;
    complete = 0;
    random_state = 88172645463325252u;
    return 0;
}

static int end(void **state)
{
    (void)state;
    print_message("%zu walks, %zu complete, %zu frames resumed\n", walks,
        complete, resumed_frames);
    oracle_free(&oracle);
    return 0;
}

/* ---- made-up stacks ---- */

enum { WORDS = 1 << 13, POOL_MAX = 512, SPARE = 600, DEPTH = 60 };

/* Return addresses that real walks met, and the outermost one's. */
static uint64_t pool[POOL_MAX];
static size_t pool_size;
static uint64_t outermost;

/* A stack whose frames were laid out by their rules; frame 0 is first. */
static struct fake {
    uintptr_t words[WORDS];
    uint64_t pc[DEPTH], sp[DEPTH], fp[DEPTH];
    size_t count;
} fake;

static void collect_pool(void *unused)
{
    static struct wndl_frame frames[ORACLE_FRAMES];
    struct wndl_walk walk = {.frames = frames, .max_frames = ORACLE_FRAMES};
    (void)unused;
    wndl_unwind_self(oracle.unwinder, &oracle.stacks[0], &walk);
    for (size_t i = 1; i + 1 < walk.count && pool_size < POOL_MAX; i++)
        pool[pool_size++] = frames[i].address + frames[i].interrupted;
    outermost = frames[walk.count - 1].address;
}

static void fill_pool(void)
{
    static struct chain chain = {.extra = extras, .leaf = collect_pool};
    static _Alignas(64) char alternate[1 << 20];
    pool_size = 0;
    extras_begin(alternate, sizeof alternate);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        chain_random(&chain, 30, seed, 0);
        chain.shape[15] = (uint16_t)(CHAIN_SHAPES + seed % EXTRA_COUNT);
        chain_run(&chain);
    }
    extras_end();
}

static uint64_t address_of(size_t word)
{
    return (uintptr_t)&fake.words[word];
}

static uintptr_t *word_at(uint64_t address)
{
    return (uintptr_t *)(uintptr_t)address;
}

static bool is_on_fake(uint64_t address)
{
    return address >= address_of(0) && address < address_of(WORDS) &&
           address % WNDL_WORD == 0;
}

static uint64_t pick_pc(void)
{
    static const uint64_t bad[] = {0, 1, 4096, 0x123456789abcu, ~0ull >> 1};
    uint32_t n = pick(64);
    if (n < 2)
        return outermost;
    return n == 3 ? (uintptr_t)bad[pick(5)] : pool[pick((uint32_t)pool_size)];
}

static uint64_t pick_fp(uint64_t above)
{
    uint64_t words = (address_of(WORDS) - above) / WNDL_WORD;
    if (words < 2 || pick(8) == 0)
        return pick(2) == 0 ? 0 : pool[0];
    return above + WNDL_WORD * pick(words < 64 ? (uint32_t)words : 64);
}

/* Lays out frames from frame `i` on, whose pc, sp and fp are set. */
static void lay_out(size_t i)
{
    for (; i + 1 < DEPTH; i++) {
        struct wndl_rule rule = wndl_cache_find(
            oracle.unwinder, fake.pc[i], wndl_cache_generation(oracle.unwinder))
                                    .rule;
        uint64_t base = rule.kind == WNDL_ENTRY_FP ? fake.fp[i] : fake.sp[i];
        uint64_t cfa = base + (uint64_t)WNDL_WORD * rule.cfa;
        uint64_t slot = cfa + (uint64_t)(WNDL_WORD * rule.fp_slot);
        bool fits = is_on_fake(cfa) && cfa > fake.sp[i] && is_on_fake(slot);
        if (rule.kind > WNDL_ENTRY_FP || !fits)
            break;
        fake.sp[i + 1] = cfa;
        fake.fp[i + 1] = fake.fp[i];
        if (rule.fp_slot != WNDL_SLOT_NONE)
            *word_at(slot) = (uintptr_t)(fake.fp[i + 1] = pick_fp(cfa));
        fake.pc[i + 1] = pick_pc();
        *word_at(cfa - WNDL_WORD) = (uintptr_t)fake.pc[i + 1];
    }
    fake.count = i + 1;
}

/* A frame more, that returns to frame 0, or several new ones. */
static void push_frames(void)
{
    size_t count = 1 + pick(4);
    if (fake.count + count > DEPTH)
        fake.count = DEPTH - count;
    for (; count > 0; count--) {
        uint64_t pc = pick_pc();
        struct wndl_rule rule = wndl_cache_find(
            oracle.unwinder, pc, wndl_cache_generation(oracle.unwinder))
                                    .rule;
        uint64_t sp = fake.sp[0] - (uint64_t)WNDL_WORD * rule.cfa;
        if (rule.kind != WNDL_ENTRY_SP || sp < address_of(SPARE))
            continue;
        *word_at(fake.sp[0] - WNDL_WORD) = (uintptr_t)fake.pc[0];
        memmove(&fake.pc[1], &fake.pc[0], fake.count * sizeof fake.pc[0]);
        memmove(&fake.sp[1], &fake.sp[0], fake.count * sizeof fake.sp[0]);
        memmove(&fake.fp[1], &fake.fp[0], fake.count * sizeof fake.fp[0]);
        fake.count++;
        fake.pc[0] = pc;
        fake.sp[0] = sp;
        if (rule.fp_slot != WNDL_SLOT_NONE)
            *word_at(fake.sp[1] + (uint64_t)(WNDL_WORD * rule.fp_slot)) =
                (uintptr_t)fake.fp[1];
    }
}

static void pop_frames(void)
{
    size_t count = pick(6);
    if (count >= fake.count)
        return;
    fake.count -= count;
    memmove(&fake.pc[0], &fake.pc[count], fake.count * sizeof fake.pc[0]);
    memmove(&fake.sp[0], &fake.sp[count], fake.count * sizeof fake.sp[0]);
    memmove(&fake.fp[0], &fake.fp[count], fake.count * sizeof fake.fp[0]);
}

/* In place: of a frame a return address, a saved FP, or any word. */
static void rewrite(void)
{
    size_t i = pick((uint32_t)fake.count);
    uint64_t at = fake.sp[i] - WNDL_WORD * (1 + (uint64_t)pick(4));
    uintptr_t *word = is_on_fake(at) ? word_at(at) : &fake.words[pick(WORDS)];
    *word = (uintptr_t)(pick(2) == 0 ? pick_pc() : pick_fp(fake.sp[i]));
}

static void start_anew(void)
{
    fake.pc[0] = pool[pick((uint32_t)pool_size)];
    fake.sp[0] = address_of(SPARE + pick(WORDS / 2));
    fake.fp[0] = pick_fp(fake.sp[0]);
    lay_out(0);
}

static void change(void)
{
    size_t i = pick((uint32_t)fake.count);
    switch (pick(16)) {
    case 0:
        start_anew();
        break;
    case 1:
        lay_out(i);
        break;
    case 2:
    case 3:
    case 4:
        rewrite();
        break;
    case 5: /* another function, that was called from the same place */
        fake.pc[0] = pool[pick((uint32_t)pool_size)];
        break;
    case 6:
        fake.fp[0] = pick_fp(fake.sp[0]);
        break;
    case 7:
        wndl_unwinder_flush(oracle.unwinder);
        break;
    case 8:
    case 9:
    case 10:
    case 11:
        pop_frames();
        break;
    default:
        push_frames();
        break;
    }
}

/* Mostly all of it; else some, or in two pieces. */
static size_t fake_ranges(struct wndl_stack_range ranges[2])
{
    uint64_t from = fake.sp[0] - WNDL_WORD * 128, to = address_of(WORDS);
    uint64_t cut = fake.sp[0] + (uint64_t)WNDL_WORD * pick(WORDS / 4);
    uint32_t how = pick(12);
    ranges[0] = (struct wndl_stack_range){from, to};
    if (how > 1 || cut >= to)
        return 1;
    ranges[0].high = cut;
    ranges[1] = (struct wndl_stack_range){cut, to};
    return how == 0 ? 1 : 2;
}

static void resumed_walks_of_rewritten_stacks_are_full_ones(void **state)
{
    (void)state;
    fill_pool();
    assert_true(pool_size > 100);
    start_anew();
    for (int i = 0; i < 200000; i++) {
        struct wndl_stack_range ranges[2];
        change();
        const struct wndl_regs regs = {
            .ip = fake.pc[0] - 1,
            .sp = fake.sp[0],
            .fp = fake.fp[0],
            .bx = address_of(WORDS / 2),
            .valid = 15,
        };
        check_regs(&regs, ranges, fake_ranges(ranges));
    }
    assert_true(resumed_frames > walks);
}

/* ---- when it is worth it ---- */

static size_t last_resumed, last_count;

static void walk_and_note(void *context)
{
    struct wndl_regs regs;
    ucontext_t here;
    (void)context;
    must(getcontext(&here) == 0);
    wndl_regs_from_context(&regs, &here);
    struct wndl_resumed resumed = {.walk.method = WNDL_WALK_ANY};
    wndl_unwind_resume(
        oracle.resume, &regs, oracle.stacks, oracle.stack_count, &resumed);
    last_resumed = resumed.resumed;
    last_count = resumed.walk.count;
}

static void walk_in(uint64_t seed)
{
    static struct chain chain = {.leaf = walk_and_note};
    chain_random(&chain, 60, seed, 0);
    chain_run(&chain);
}

/*
 * The counters are not in registers: a walk reads the words in which functions
 * save RBP, and what is in it would be another stack each time.
 */
static void stacks_that_never_repeat_are_walked_plainly(void **state)
{
    static volatile uint64_t round, i;
    static volatile size_t plain;
    (void)state;
    for (round = 0; round < 3; round++) {
        plain = 0;
        for (i = 1; i <= 200; i++) {
            walk_in(round * 1000 + i);
            plain += last_resumed == 0;
        }
        assert_true(plain >= 190);
        for (i = 0; i < 150; i++)
            walk_in(7);
        assert_true(2 * last_resumed > last_count);
    }
}

/* ---- random programs ---- */

enum { LEVELS = 6, STACK_SIZE = 1 << 20 };

/* What a program does a call deeper than the one before. */
static struct level {
    struct chain chain;
    volatile bool has_out;
    sigjmp_buf out;
    ucontext_t here, coroutine;
} levels[LEVELS];

static volatile size_t level;
static volatile bool is_on_alternate;
static char *coroutine_stacks; /* one for each level */

static void act(void *unused);

/* AddressSanitizer does not hear of the stacks that a jump leaves for good. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JUMPS 0
#endif
#endif
#ifndef JUMPS
#define JUMPS 1
#endif

static void run_chain(void)
{
    struct level *l = &levels[level++];
    chain_random(&l->chain, 1 + pick(20), 1 + pick(1000), 0);
    l->chain.leaf = act;
    chain_run(&l->chain);
    level--;
}

static void run_and_jump_out(void)
{
    const size_t here = level;
    const bool was_on_alternate = is_on_alternate;
    levels[here].has_out = true;
    if (sigsetjmp(levels[here].out, 1) == 0)
        run_chain();
    levels[here].has_out = false;
    level = here;
    is_on_alternate = was_on_alternate;
}

static void jump_out(void)
{
    size_t to = pick((uint32_t)level);
    while (to < level && !levels[to].has_out)
        to++;
    if (to == level)
        return;
    for (size_t i = to + 1; i < LEVELS; i++)
        levels[i].has_out = false;
    siglongjmp(levels[to].out, 1);
}

static void run_coroutine(void)
{
    struct level *l = &levels[level];
    must(getcontext(&l->coroutine) == 0);
    l->coroutine.uc_stack.ss_sp = coroutine_stacks + level * STACK_SIZE;
    l->coroutine.uc_stack.ss_size = STACK_SIZE;
    l->coroutine.uc_link = &l->here;
    makecontext(&l->coroutine, run_chain, 0);
    must(swapcontext(&l->here, &l->coroutine) == 0);
}

static void on_signal(int number)
{
    check_here();
    if (level < LEVELS)
        run_chain();
    if (number == SIGUSR1)
        is_on_alternate = false;
}

static void raise_one(void)
{
    bool alternate = !is_on_alternate && pick(2) == 0;
    is_on_alternate |= alternate;
    must(raise(alternate ? SIGUSR1 : SIGUSR2) == 0);
}

/* At the end of a chain: looks, and does something, a few times. */
static void act(void *unused)
{
    (void)unused;
    for (uint32_t times = 1 + pick(3); times > 0; times--) {
        check_here();
        uint32_t what = pick(10);
        if (what == 0 && JUMPS)
            jump_out();
        if (level == LEVELS)
            continue;
        if (what < 4)
            run_and_jump_out();
        else if (what == 5)
            run_coroutine();
        else if (what == 6)
            raise_one();
        else
            run_chain();
    }
    check_here();
}

static void *map_stacks(size_t count)
{
    void *memory = mmap(NULL, count * STACK_SIZE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED);
    oracle_add_stack(&oracle, memory, count * STACK_SIZE);
    return memory;
}

static void resumed_walks_of_random_programs_are_full_ones(void **state)
{
    (void)state;
    coroutine_stacks = map_stacks(LEVELS);
    const stack_t alternate = {.ss_sp = map_stacks(1), .ss_size = STACK_SIZE};
    const stack_t none = {.ss_flags = SS_DISABLE};
    struct sigaction plain = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    struct sigaction switching = plain;
    switching.sa_flags |= SA_ONSTACK;
    assert_int_equal(sigaltstack(&alternate, NULL), 0);
    assert_int_equal(sigaction(SIGUSR1, &switching, NULL), 0);
    assert_int_equal(sigaction(SIGUSR2, &plain, NULL), 0);
    while (walks < 20000)
        run_and_jump_out();
    assert_true(resumed_frames > 10 * walks);
    assert_int_equal(sigaltstack(&none, NULL), 0);
    (void)munmap(coroutine_stacks, LEVELS * STACK_SIZE);
    (void)munmap(alternate.ss_sp, STACK_SIZE);
}

/* ---- exceptions in flight ---- */

static void check_cleanup(const int *unused)
{
    (void)unused;
    check_here();
}

static void unwind_from(int depth);

/* The compiler would see that nothing returns. */
static void (*volatile call_again)(int depth) = unwind_from;

static void unwind_from(int depth)
{
    __attribute__((cleanup(check_cleanup))) int guard = depth;
    check_here();
    if (depth == 0)
        pthread_exit(NULL);
    call_again(depth - 1);
    __asm__ volatile("" : : "r"(&guard) : "memory");
}

static void free_oracle(const int *unused)
{
    (void)unused;
    oracle_free(&oracle);
}

/* pthread_exit() throws, and no one catches. The oracle is the thread's. */
static void *throw(void *unused)
{
    (void)unused;
    must(begin(NULL) == 0);
    __attribute__((cleanup(free_oracle))) int guard = 0;
    unwind_from(20);
    __asm__ volatile("" : : "r"(&guard) : "memory");
    return NULL;
}

static void resumed_walks_in_cleanups_are_full_ones(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, throw, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(walks == 42 && complete == walks);
}

/* ---- code that comes and goes ---- */

typedef long plugin_function(void (*callback)(void), size_t depth);

/* One that knows nothing of what there was, so the rules are not compared with
 * themselves. */
static void check_with_fresh_rules(void)
{
    static _Alignas(64) unsigned char memory[(1 << 18) + 4096];
    must(wndl_unwinder_size() <= sizeof memory);
    memset(memory, 0, sizeof memory);
    struct wndl_unwinder *old = oracle.unwinder;
    struct wndl_regs regs;
    ucontext_t here;
    must(getcontext(&here) == 0);
    wndl_regs_from_context(&regs, &here);
    check_regs(&regs, oracle.stacks, 1);
    oracle.unwinder = wndl_unwinder_init(memory);
    check_regs(&regs, oracle.stacks, 1);
    oracle.unwinder = old;
}

/* The same words and registers each time: what the last plugin's rules made of
 * them must not count. */
static void check_made_up_stack(uint64_t pc)
{
    for (size_t i = 0; i < WORDS; i++)
        fake.words[i] = (uintptr_t)(i < WORDS / 2 ? pool[i % 4] : outermost);
    const struct wndl_regs regs = {.ip = pc,
        .sp = address_of(SPARE),
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP};
    const struct wndl_stack_range range = {address_of(0), address_of(WORDS)};
    check_regs(&regs, &range, 1);
    check_regs(&regs, &range, 1);
}

static void *run_plugin(const char *path, size_t depth)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(plugin);
    plugin_function *function;
    *(void **)&function = dlsym(plugin, "plugin_run");
    assert_non_null(*(void **)&function);
    check_made_up_stack((uintptr_t)function + 40);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            function(check_with_fresh_rules, depth), (long)depth + 1);
    check_made_up_stack((uintptr_t)function + 40);
    void *at = *(void **)&function;
    assert_int_equal(dlclose(plugin), 0);
    wndl_unwinder_flush(oracle.unwinder);
    return at;
}

static void resumed_walks_of_reloaded_code_are_full_ones(void **state)
{
    (void)state;
    size_t same = 0;
    fill_pool();
    for (size_t i = 0; i < 50; i++) {
        void *first = run_plugin(PLUGIN_SMALL, 3 + i % 5);
        void *second = run_plugin(PLUGIN_LARGE, 3 + i % 4);
        same += first == second;
    }
    print_message("%zu of 50 times at the same address\n", same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            resumed_walks_of_rewritten_stacks_are_full_ones, begin, end),
        cmocka_unit_test_setup_teardown(
            resumed_walks_of_random_programs_are_full_ones, begin, end),
        cmocka_unit_test_setup_teardown(
            stacks_that_never_repeat_are_walked_plainly, begin, end),
        cmocka_unit_test(resumed_walks_in_cleanups_are_full_ones),
        cmocka_unit_test_setup_teardown(
            resumed_walks_of_reloaded_code_are_full_ones, begin, end),
    };
    return cmocka_run_group_tests_name("unwind_resume", tests, NULL, NULL);
}
