/* SPDX-License-Identifier: MIT */
/*
 * Walks of this very process, by wndl_cfi_step with all registers, held
 * against _Unwind_Backtrace of libgcc: return addresses, stack pointers and
 * callee-saved registers of every frame.
 */
#include "testlib.h"

#include <alloca.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unwind.h>

#include "cfi/cfi_expr.h"

#ifdef __x86_64__

enum { MODULES = 32, FRAMES = 512, RSP = 7, RIP = 16 };

/* A loaded object's tables, at the addresses they are mapped to. */
struct module {
    struct wndl_cfi_section hdr, frame;
    uint64_t start, end; /* of its code and data */
};

/* Registers that a call preserves, and so both walks must agree on. */
static const int preserved[] = {3, 6, RSP, 12, 13, 14, 15, RIP};
enum { PRESERVED = sizeof preserved / sizeof preserved[0] };

struct walk {
    unsigned count;
    uint64_t frames[FRAMES][PRESERVED];
};

static struct module modules[MODULES];
static unsigned module_count;
static struct walk ours;
static struct walk theirs;

/* What a handler found, for the test to look at afterwards. */
static unsigned walks;
static unsigned deepest;
static unsigned differing;
static char difference[256];

static const uint8_t *mapped(uint64_t address)
{
    return (const uint8_t *)(uintptr_t)address;
}

static struct wndl_cfi_section section_at(uint64_t address, uint64_t end)
{
    return (struct wndl_cfi_section){
        .bytes = {mapped(address), end - address},
        .addr = address,
        .address_size = 8,
    };
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    struct module m = {.start = UINT64_MAX};
    uint64_t frame = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_GNU_EH_FRAME)
            m.hdr = section_at(start, start + p->p_memsz);
        if (p->p_type != PT_LOAD)
            continue;
        m.start = start < m.start ? start : m.start;
        m.end = start + p->p_memsz > m.end ? start + p->p_memsz : m.end;
    }
    if (module_count == MODULES || m.hdr.bytes.size == 0)
        return 0;
    assert_int_equal(wndl_eh_frame_hdr_frame_addr(&m.hdr, &frame), WNDL_OK);
    m.frame = section_at(frame, m.end);
    modules[module_count++] = m;
    return 0;
}

static bool read_directly(
    void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    if (address < 0x1000)
        return false;
    memcpy(to, mapped(address), size);
    return true;
}

static enum wndl_status row_of(
    uint64_t pc, const struct module **module, struct wndl_cfi_row *row)
{
    struct wndl_fde fde;
    uint64_t offset = 0;
    for (unsigned i = 0; i < module_count; i++) {
        const struct module *m = &modules[i];
        if (pc < m->start || pc >= m->end)
            continue;
        *module = m;
        enum wndl_status status =
            wndl_eh_frame_hdr_find(&m->hdr, &m->frame, pc, &offset);
        if (status == WNDL_OK)
            status = wndl_fde_parse(&m->frame, offset, &fde, NULL, NULL);
        return status == WNDL_OK
                   ? wndl_cfi_row_at(&m->frame, &fde, pc, row, NULL)
                   : status;
    }
    return WNDL_NOT_FOUND;
}

static void note(struct walk *walk, const struct wndl_cfi_regs *regs)
{
    for (int i = 0; i < PRESERVED; i++)
        walk->frames[walk->count][i] = regs->regs[preserved[i]];
    walk->count++;
}

/* The context's frame itself is left out: its pc is where it was taken. */
static void walk_ours(const ucontext_t *context)
{
    static const int gregs[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
        REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12,
        REG_R13, REG_R14, REG_R15, REG_RIP};
    static const struct wndl_cfi_memory memory = {read_directly, NULL};
    struct wndl_cfi_regs regs = {.valid = (1u << WNDL_CFI_X86_REGS) - 1};
    bool interrupted = false;
    for (unsigned i = 0; i < WNDL_CFI_X86_REGS; i++)
        regs.regs[i] = (uint64_t)context->uc_mcontext.gregs[gregs[i]];
    ours.count = 0;
    while (ours.count < FRAMES) {
        const struct module *module = NULL;
        struct wndl_cfi_row row;
        struct wndl_cfi_regs caller;
        uint64_t pc = regs.regs[RIP] - (interrupted ? 0 : 1);
        if (row_of(pc, &module, &row) != WNDL_OK ||
            wndl_cfi_step(&module->frame, &row, &regs, &memory, &caller) !=
                WNDL_OK)
            break;
        interrupted = row.signal_frame;
        regs = caller;
        note(&ours, &regs);
    }
}

/* libgcc shows the end of the stack as one more frame, with a pc of 0. */
static _Unwind_Reason_Code note_theirs(
    struct _Unwind_Context *context, void *argument)
{
    bool *inside = argument;
    struct wndl_cfi_regs regs = {0};
    for (int i = 0; i < PRESERVED; i++)
        if (preserved[i] != RSP && preserved[i] != RIP)
            regs.regs[preserved[i]] = _Unwind_GetGR(context, preserved[i]);
    regs.regs[RIP] = _Unwind_GetIP(context);
    regs.regs[RSP] = _Unwind_GetCFA(context);
    if (*inside && regs.regs[RIP] != 0 && theirs.count < FRAMES)
        note(&theirs, &regs);
    *inside = true;
    return _URC_NO_REASON;
}

static void compare(void)
{
    walks++;
    deepest = theirs.count > deepest ? theirs.count : deepest;
    unsigned i = 0;
    while (i < ours.count && i < theirs.count &&
           memcmp(ours.frames[i], theirs.frames[i], sizeof ours.frames[i]) == 0)
        i++;
    if (i == ours.count && i == theirs.count)
        return;
    if (differing++ == 0)
        snprintf(difference, sizeof difference,
            "frame %u of %u (theirs %u): pc %llx, theirs %llx", i, ours.count,
            theirs.count, (unsigned long long)ours.frames[i][PRESERVED - 1],
            (unsigned long long)theirs.frames[i][PRESERVED - 1]);
}

/* Both walks of the stack above this function. */
__attribute__((noinline)) static void walk_both(void)
{
    ucontext_t here;
    bool inside = false;
    getcontext(&here);
    walk_ours(&here);
    theirs.count = 0;
    _Unwind_Backtrace(note_theirs, &inside);
    compare();
}

static void assert_all_equal(unsigned at_least_walks, unsigned at_least_deep)
{
    if (differing != 0)
        fail_msg(
            "%u of %u walks differ, first %s", differing, walks, difference);
    assert_true(walks >= at_least_walks);
    assert_true(deepest >= at_least_deep);
}

static int start_counting(void **state)
{
    (void)state;
    walks = deepest = differing = module_count = 0;
    dl_iterate_phdr(add_module, NULL);
    return module_count == 0;
}

/*
 * Functions of different frames that call each other as a random number says,
 * `left` deep, and walk at the bottom. `use` keeps what they compute alive.
 */
static volatile uint64_t use;

static void go_on(unsigned seed, int left);

__attribute__((noinline)) static void plain(unsigned seed, int left)
{
    go_on(seed, left);
    use++;
}

__attribute__((noinline)) static void large(unsigned seed, int left)
{
    volatile char frame[4000];
    frame[seed % sizeof frame] = 1;
    go_on(seed, left);
    use += (uint64_t)frame[left];
}

__attribute__((noinline)) static void dynamic(unsigned seed, int left)
{
    volatile char *frame = alloca(16 + seed % 500);
    frame[3] = 1;
    go_on(seed, left);
    use += (uint64_t)frame[3];
}

/* Saves every callee-saved register there is, and puts nonsense there. */
__attribute__((noinline)) static void saving(unsigned seed, int left)
{
    __asm__ volatile("mov %0, %%rbx\n\tmov %%rbx, %%r12\n\tmov %%rbx, %%r13\n\t"
                     "mov %%rbx, %%r14\n\tmov %%rbx, %%r15"
                     :
                     : "r"((uint64_t)seed)
                     : "rbx", "r12", "r13", "r14", "r15");
    go_on(seed, left);
    use++;
}

/* The stack realigned: CFA and RBP by expressions, in gcc's code. */
__attribute__((noinline)) static void realigned(unsigned seed, int left)
{
    _Alignas(64) volatile char frame[64];
    volatile char *more = alloca(16 + seed % 100);
    frame[seed % 64] = 1;
    more[0] = frame[1];
    go_on(seed, left);
    use += (uint64_t)more[0];
}

static unsigned callback_seed;
static int callback_left;

static int callback(const void *a, const void *b)
{
    if (callback_left > 0) {
        int left = callback_left;
        callback_left = 0;
        go_on(callback_seed, left);
    }
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void through_qsort(unsigned seed, int left)
{
    int numbers[] = {3, 1, 2};
    callback_seed = seed;
    callback_left = left;
    if (left == 0)
        walk_both();
    else
        qsort(numbers, 3, sizeof numbers[0], callback);
    use++;
}

static void on_signal_go_on(int signo)
{
    (void)signo;
    int left = callback_left;
    callback_left = 0;
    go_on(callback_seed, left);
}

__attribute__((noinline)) static void through_signal(unsigned seed, int left)
{
    callback_seed = seed;
    callback_left = left;
    raise(SIGUSR1);
    use++;
}

static void go_on(unsigned seed, int left)
{
    static void (*const ways[])(unsigned, int) = {plain, large, dynamic, saving,
        realigned, through_qsort, plain, saving, through_signal};
    seed = seed * 1103515245 + 12345;
    unsigned way = (seed >> 16) % (sizeof ways / sizeof ways[0]);
    if (left == 0)
        walk_both();
    else
        ways[way](seed, left - 1);
    use++;
}

static void handle(int signo, int flags, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    assert_int_equal(sigaction(signo, &action, NULL), 0);
}

static void step_walks_any_mix_of_frames_as_libgcc_does(void **state)
{
    (void)state;
    handle(SIGUSR1, SA_NODEFER, on_signal_go_on);
    for (unsigned seed = 0; seed < 200; seed++)
        go_on(seed, 4 + (int)seed % 100);
    handle(SIGUSR1, 0, SIG_DFL);
    assert_all_equal(200, 100);
}

static void on_signal_walk(int signo)
{
    (void)signo;
    walk_both();
}

static void step_leaves_an_alternate_signal_stack(void **state)
{
    (void)state;
    enum { SIZE = 64 * 1024 };
    stack_t stack = {.ss_sp = malloc(SIZE), .ss_size = SIZE};
    stack_t none = {.ss_flags = SS_DISABLE};
    assert_int_equal(sigaltstack(&stack, NULL), 0);
    handle(SIGUSR1, SA_ONSTACK, on_signal_walk);
    raise(SIGUSR1);
    handle(SIGUSR1, 0, SIG_DFL);
    assert_int_equal(sigaltstack(&none, NULL), 0);
    free(stack.ss_sp);
    assert_all_equal(1, 6);
}

static void on_trap_walk(int signo)
{
    (void)signo;
    walk_both();
}

/* Functions of their own, with CFI: they are walked from as well. */
void trap_on(void);
void trap_off(void);
__asm__(".text\n"
        "trap_on:\n"
        ".cfi_startproc\n"
        "pushfq\n"
        ".cfi_adjust_cfa_offset 8\n"
        "orl $0x100, (%rsp)\n"
        "popfq\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        "trap_off:\n"
        ".cfi_startproc\n"
        "pushfq\n"
        ".cfi_adjust_cfa_offset 8\n"
        "andl $-257, (%rsp)\n"
        "popfq\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n");

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Prologues, epilogues, PLT entries, leaf functions: an interrupt anywhere. */
static void step_walks_from_every_instruction_as_libgcc_does(void **state)
{
    (void)state;
    int numbers[] = {5, 3, 1, 2};
    char text[64];
    handle(SIGTRAP, 0, on_trap_walk);
    trap_on();
    qsort(numbers, 4, sizeof numbers[0], compare_ints);
    int length = snprintf(text, sizeof text, "%d %s", numbers[0], "x");
    free(malloc(100));
    trap_off();
    handle(SIGTRAP, 0, SIG_DFL);
    assert_int_equal(length, 3);
    assert_all_equal(1000, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(
            step_walks_any_mix_of_frames_as_libgcc_does, start_counting),
        cmocka_unit_test_setup(
            step_leaves_an_alternate_signal_stack, start_counting),
        cmocka_unit_test_setup(
            step_walks_from_every_instruction_as_libgcc_does, start_counting),
    };
    return cmocka_run_group_tests_name("cfi_step", tests, NULL, NULL);
}

#else

int main(void)
{
    return 0;
}

#endif
