/* SPDX-License-Identifier: MIT */
#include "unwind/slow/full.h"

#include "unwind/jit/registry.h"
#include "unwind/jit/remote.h"
#include "unwind/slow/flow.h"
#include "unwind/slow/flow_arm.h"
#include "unwind/slow/landing_a64.h"
#include "unwind/slow/leaf.h"
#include "unwind/slow/scan.h"
#include "unwind/slow/signal_a64.h"
#include "unwind/slow/tail.h"
#include "unwind/space/arm_find.h"
#include "unwind/space/call.h"
#include "unwind/table/a64_rows.h"

/* glibc's copy of the initial stack pointer, set by the kernel. */
extern void *__libc_stack_end __attribute__((weak));

static void set_register(
    struct wndl_cfi_regs *regs, unsigned number, uint64_t value)
{
    regs->regs[number] = value;
    regs->valid |= UINT64_C(1) << number;
}

static bool has_register(const struct wndl_cfi_regs *regs, unsigned number)
{
    return (regs->valid >> number & 1) != 0;
}

static void set_gregs(struct wndl_cfi_regs *regs, const struct wndl_arch *arch,
    const uint8_t *gregs)
{
    for (unsigned i = 0; i < arch->gregs; i++) {
        uint64_t value = 0;
        __builtin_memcpy(&value, gregs + i * arch->word, arch->word);
        if (arch->dwarf_of_greg[i] != WNDL_NO_REG)
            set_register(regs, arch->dwarf_of_greg[i], value);
    }
}

void wndl_full_init(struct wndl_full *full, const struct wndl_arch *arch,
    const struct wndl_regs *regs)
{
    *full = (struct wndl_full){.interrupted = true};
    if (regs->gregs != NULL)
        set_gregs(&full->regs, arch, regs->gregs);
    if (regs->valid & WNDL_REG_IP)
        set_register(&full->regs, arch->pc, regs->ip);
    if (regs->valid & WNDL_REG_SP)
        set_register(&full->regs, arch->sp, regs->sp);
    if (regs->valid & WNDL_REG_FP)
        set_register(&full->regs, arch->fp, regs->fp);
    if ((regs->valid & WNDL_REG_BX) && arch->bx != WNDL_NO_REG)
        set_register(&full->regs, arch->bx, regs->bx);
}

/*
 * Code that runs before the program's own start, ld.so's, has no CFI that marks
 * it as outermost. But it has no caller if the stack is as the kernel left it,
 * to within the part that ld.so has used by then.
 */
static bool at_program_start(const struct wndl_space *space, uint64_t sp)
{
    return space->remote == NULL && &__libc_stack_end != NULL &&
           sp + WNDL_START_GAP >= (uintptr_t)__libc_stack_end;
}

/* The memory above the stack, where the kernel has put argv, has no frame. */
static bool is_above_stack(const struct wndl_space *space, uint64_t fp)
{
    return space->remote == NULL && &__libc_stack_end != NULL &&
           fp >= (uintptr_t)__libc_stack_end;
}

enum wndl_walk_end wndl_root_end(const struct wndl_space *space, uint64_t sp)
{
    return at_program_start(space, sp) ? WNDL_END_COMPLETE : WNDL_END_FP_ROOT;
}

static struct wndl_step ended(enum wndl_walk_end end)
{
    return (struct wndl_step){.end = end};
}

static struct wndl_step stepped(enum wndl_frame_how how)
{
    return (struct wndl_step){.more = true, .how = how};
}

/* A step that sets PC and SP only; other registers keep their values. */
static struct wndl_step stepped_alone(void)
{
    return (struct wndl_step){.more = true, .keeps = true, .how = WNDL_HOW_FP};
}

/* A call through a null pointer: the return address is the last push. */
static bool step_null_call(
    const struct wndl_space *space, struct wndl_fp_state *state)
{
    uint64_t ra;
    if (space->arch->ra != space->arch->pc || !state->interrupted ||
        state->pc >= 4096 || !wndl_space_word(space, state->sp, &ra) ||
        !wndl_code_is_mapped(space->remote, ra))
        return false;
    state->pc = ra;
    state->sp += space->arch->word;
    state->interrupted = false;
    return true;
}

/*
 * The code address of a stored return address. AArch64's may be signed; that of
 * Thumb code is odd.
 */
static uint64_t code_address(const struct wndl_space *space, uint64_t ra)
{
    if (space->arch->family == WNDL_CFI_AARCH64)
        return ra & WNDL_A64_ADDRESS;
    return space->arch->family == WNDL_CFI_ARM ? ra & ~UINT64_C(1) : ra;
}

/* False if it is known that no call precedes it. */
static bool may_be_after_call(const struct wndl_space *space, uint64_t ra)
{
    return space->arch->family != WNDL_CFI_ARM ||
           !wndl_code_is_mapped(space->remote, code_address(space, ra)) ||
           wndl_arm_is_after_call(space->remote, ra);
}

/*
 * Reads the caller's frame pointer and the return address, which are at the
 * frame pointer.
 */
static bool read_link(const struct wndl_space *space, uint64_t sp, uint64_t fp,
    struct wndl_fp_state *caller)
{
    const unsigned word = space->arch->word;
    if (fp % word != 0 || fp < sp || fp > UINT64_MAX - 2 * word)
        return false;
    *caller = (struct wndl_fp_state){.sp = fp + 2 * word};
    bool is_there = wndl_space_word(space, fp, &caller->fp) &&
                    wndl_space_word(space, fp + word, &caller->pc) &&
                    may_be_after_call(space, caller->pc);
    caller->pc = code_address(space, caller->pc);
    return is_there;
}

static bool is_generated(const struct wndl_space *space, uint64_t pc)
{
    if (space->remote != NULL)
        return wndl_jit_remote_covers(space->remote, pc);
    return wndl_jit_covers(space->jit, pc);
}

/*
 * A return address is plausible if it is in a module, or if frame pointers lead
 * on from it to one that is. Just-in-time compiled code is in no module.
 */
static bool is_plausible(
    const struct wndl_space *space, struct wndl_fp_state state)
{
    enum { LOOK_AHEAD = 64 };
    for (int i = 0; i < LOOK_AHEAD; i++) {
        if (wndl_code_is_mapped(space->remote, state.pc) ||
            is_generated(space, state.pc))
            return true;
        if (!wndl_code_is_possible(state.pc) ||
            !read_link(space, state.sp, state.fp, &state))
            return false;
    }
    return false;
}

/*
 * Whether a step from `from` to `ra` surely skips the true caller: the call
 * before `ra` leads elsewhere. A frame pointer may be that of a function
 * further out, if code without CFI keeps none. The function that was called may
 * have gone on by a jump.
 *
 * This only refuses steps. It knows neither where functions end nor whether the
 * memory is as the file has it, so that false makes no step sure. The code is
 * read in modules only: other memory may be gone.
 */
static bool skips_caller(const struct wndl_space *space,
    const struct wndl_fp_state *from, uint64_t ra)
{
    struct wndl_call call;
    const uint64_t pc = from->pc - !from->interrupted;
    if (space->arch->family != WNDL_CFI_X86 ||
        !wndl_code_is_mapped(space->remote, ra) ||
        !wndl_code_is_mapped(space->remote, from->pc))
        return false;
    return !wndl_call_before(space, ra, &call) ||
           (!wndl_call_may_reach(space, &call, pc) &&
               !wndl_tail_may_reach(
                   space, wndl_call_function(space, &call), pc));
}

/*
 * A function of x86 that aligns its stack, as i386's main does, has a copy of
 * its return address below RBP's link. It has saved its CFA right below where
 * RBP points, or a few registers further down.
 */
static void find_aligned_cfa(
    const struct wndl_space *space, uint64_t fp, struct wndl_fp_state *caller)
{
    enum { SAVED = 4, FARTHEST = 32 }; /* words */
    const unsigned word = space->arch->word;
    uint64_t cfa, ra;
    if (space->arch->family != WNDL_CFI_X86)
        return;
    for (unsigned i = 1; i <= SAVED; i++) {
        if (!wndl_space_word(space, fp - i * word, &cfa) || cfa <= caller->sp ||
            cfa - caller->sp > FARTHEST * word ||
            !wndl_space_word(space, cfa - word, &ra) || ra != caller->pc)
            continue;
        caller->sp = cfa;
        return;
    }
}

static struct wndl_step guess(
    const struct wndl_space *space, struct wndl_fp_state *state)
{
    struct wndl_fp_state caller;
    if (state->fp == 0)
        return ended(WNDL_END_FP_ROOT);
    if (!read_link(space, state->sp, state->fp, &caller))
        return ended(WNDL_END_NO_RULE);
    if (caller.pc == 0)
        return ended(is_above_stack(space, state->fp)
                         ? WNDL_END_FP_ROOT
                         : wndl_root_end(space, caller.sp));
    if (!is_plausible(space, caller))
        return ended(WNDL_END_NO_RULE);
    /* Walks by frame pointers alone skip callers without one, and say so. */
    struct wndl_step step = stepped(WNDL_HOW_FP);
    step.skips = skips_caller(space, state, caller.pc);
    if (step.skips && wndl_space_method(space) != WNDL_WALK_FP)
        return ended(WNDL_END_NO_RULE);
    find_aligned_cfa(space, state->fp, &caller);
    *state = caller;
    return step;
}

/*
 * Whether a call precedes the address. If that call does not return, the
 * address may be in the next function.
 */
static bool is_after_arm_call(const struct wndl_space *space, uint64_t pc)
{
    return space->arch->family == WNDL_CFI_ARM && space->remote == NULL &&
           (wndl_arm_is_after_call(NULL, pc) ||
               wndl_arm_is_after_call(NULL, pc | 1));
}

/*
 * No call returns to the first instruction of a function that code without CFI
 * precedes: the address was put on the stack as the first to return to, as
 * makecontext does. On i386 the address is in no function at all.
 */
bool wndl_coroutine_starts(const struct wndl_space *space, uint64_t pc)
{
    struct wndl_code code;
    if (is_after_arm_call(space, pc))
        return false;
    if (space->arch->reads_code && wndl_leaf_ends_there(space, pc))
        return true;
    return wndl_code_find(space->remote, pc, &code) == WNDL_CODE_ROW ||
           (space->arch->word == 4 && wndl_leaf_is_after_ret(space, pc));
}

static bool at_coroutine_entry(
    const struct wndl_space *space, const struct wndl_fp_state *state)
{
    struct wndl_code code;
    /* Only code that is no such entry is ever followed. */
    if (state->interrupted ||
        (state->rule != NULL && state->rule->kind != WNDL_ENTRY_NO_FDE))
        return false;
    /* Walks by frame pointers alone come to code with CFI, too. */
    if (wndl_space_method(space) == WNDL_WALK_FP &&
        wndl_code_find(space->remote, state->pc - 1, &code) == WNDL_CODE_ROW)
        return space->arch->reads_code &&
               wndl_leaf_ends_there(space, state->pc);
    return wndl_coroutine_starts(space, state->pc);
}

/* On 32-bit Arm no CFI marks threads' starts. */
static bool at_thread_start(
    const struct wndl_space *space, const struct wndl_fp_state *state)
{
    return space->arch->family == WNDL_CFI_ARM && !state->interrupted &&
           wndl_arm_starts_thread(space->remote, state->pc, state->sp);
}

/*
 * The return address by CFI leads nowhere: on i386, the leaf may have pushed a
 * register without CFI for it.
 */
static struct wndl_step without_push(
    const struct wndl_space *space, struct wndl_fp_state *state)
{
    if (space->arch->word != 4 || !state->called_by_it ||
        !wndl_leaf_pushed(space, state, 1))
        return ended(WNDL_END_BAD_PC);
    struct wndl_step step = stepped_alone();
    step.replaces = true;
    return step;
}

/*
 * The return address by CFI is in a module, but in code without CFI, and no
 * call precedes it. Position-independent code keeps the address of its module's
 * data in a register, which the leaf has pushed.
 */
static bool is_saved_register(
    const struct wndl_space *space, const struct wndl_fp_state *state)
{
    struct wndl_call call;
    return space->arch->word == 4 && space->arch->reads_code &&
           !state->interrupted && state->called_by_it &&
           !wndl_call_before(space, state->pc, &call);
}

/* Follows the code to its return, unless it is known where that leads. */
static bool follow_code(
    const struct wndl_space *space, struct wndl_fp_state *state, bool *pops_fp)
{
    struct wndl_rule *rule = state->rule, learned;
    if (rule == NULL)
        return wndl_flow_return(space, state, pops_fp);
    if (rule->kind == WNDL_ENTRY_NO_FLOW)
        return false;
    if (rule->kind != WNDL_ENTRY_NO_FDE &&
        wndl_flow_repeat(space, state, *rule, pops_fp))
        return true;
    const bool returns = wndl_flow_learn(space, state, pops_fp, &learned);
    if (rule->kind == WNDL_ENTRY_NO_FDE && learned.kind != WNDL_ENTRY_EMPTY)
        *rule = learned;
    return returns;
}

/* Steps by frame pointers, or by other knowledge of code without CFI. */
static struct wndl_step known_step(
    const struct wndl_space *space, struct wndl_fp_state *state, bool in_module)
{
    if (in_module &&
        (at_program_start(space, state->sp) || at_thread_start(space, state) ||
            at_coroutine_entry(space, state)))
        return ended(WNDL_END_COMPLETE);
    if (!in_module && step_null_call(space, state))
        return stepped_alone();
    if (in_module && is_saved_register(space, state)) {
        const struct wndl_step step = without_push(space, state);
        if (step.more)
            return step;
    }
    bool was_interrupted = state->interrupted;
    /* the code may have no frame yet, or none any more */
    const bool may_be_leaf =
        space->arch->word == 4 &&
        (in_module || (was_interrupted && space->arch->reads_code));
    if (may_be_leaf && was_interrupted && wndl_leaf_called(space, state))
        return stepped_alone();
    bool pops_fp;
    if (in_module && space->arch->reads_code &&
        follow_code(space, state, &pops_fp))
        return pops_fp ? stepped(WNDL_HOW_FP) : stepped_alone();
    struct wndl_step step = guess(space, state);
    if (!step.more && may_be_leaf && (was_interrupted || state->called_by_it) &&
        wndl_leaf_pushed(space, state, 2))
        return stepped_alone();
    if (!step.more && !in_module && !was_interrupted)
        return without_push(space, state);
    if (!step.more && !in_module)
        step.end = WNDL_END_NO_RULE;
    return step;
}

/* A frame pointer of 0 is an end only for walks by frame pointers. */
static bool is_scanned(const struct wndl_space *space, enum wndl_walk_end end)
{
    return (space->method & WNDL_WALK_SCAN) != 0 && space->arch->reads_code &&
           (end == WNDL_END_NO_RULE ||
               (end == WNDL_END_FP_ROOT &&
                   wndl_space_method(space) != WNDL_WALK_FP));
}

struct wndl_step wndl_fp_step(
    const struct wndl_space *space, struct wndl_fp_state *state, bool in_module)
{
    struct wndl_step step = ended(WNDL_END_NO_RULE);
    bool by_cfi_only = wndl_space_method(space) == WNDL_WALK_CFI;
    if (!by_cfi_only)
        step = known_step(space, state, in_module);
    if (!step.more && (in_module || state->interrupted) &&
        is_scanned(space, step.end) && wndl_scan_step(space, state)) {
        step = stepped_alone();
        step.how = WNDL_HOW_SCAN;
    }
    return step;
}

/* Whether there is a frame record at `at`, with this link and x30. */
static bool is_record(const struct wndl_space *space,
    const struct wndl_cfi_regs *regs, uint64_t at, const uint64_t *link)
{
    const struct wndl_arch *arch = space->arch;
    uint64_t fp, ra;
    return wndl_space_word(space, at, &fp) &&
           wndl_space_word(space, at + arch->word, &ra) &&
           (link == NULL || fp == *link) && ra == regs->regs[arch->ra];
}

/*
 * Stubs of a procedure linkage table have no CFI, but they do not change the
 * return address that their caller put into a register. Neither does generated
 * code before its prologue and after its epilogue. If the address is in code
 * without CFI, it may be out of date, because such code may have made calls
 * itself.
 */
static __attribute__((noinline)) bool step_by_link(
    const struct wndl_space *space, struct wndl_full *full)
{
    struct wndl_code code;
    struct wndl_cfi_regs *regs = &full->regs;
    const struct wndl_arch *arch = space->arch;
    if (!full->interrupted || !has_register(regs, arch->ra))
        return false;
    const uint64_t ra = code_address(space, regs->regs[arch->ra]);
    if (!may_be_after_call(space, regs->regs[arch->ra]) ||
        wndl_code_find(space->remote, ra - 1, &code) != WNDL_CODE_ROW)
        return false;
    const uint64_t fp = has_register(regs, arch->fp) ? regs->regs[arch->fp] : 0;
    if (fp != 0 && is_record(space, regs, fp, NULL))
        return false; /* x29 also leads to the caller, and its SP is known */
    if (is_record(space, regs, regs->regs[arch->sp], &fp))
        regs->regs[arch->sp] += 2u * arch->word;
    set_register(regs, arch->pc, ra);
    regs->valid &= ~(UINT64_C(1) << arch->ra);
    full->interrupted = false;
    return true;
}

static struct wndl_fp_state fp_state(
    const struct wndl_arch *arch, const struct wndl_full *full)
{
    const struct wndl_cfi_regs *r = &full->regs;
    return (struct wndl_fp_state){
        .pc = r->regs[arch->pc],
        .sp = r->regs[arch->sp],
        .fp = has_register(r, arch->fp) ? r->regs[arch->fp] : 0,
        .interrupted = full->interrupted,
        .called_by_it = full->called_by_it,
    };
}

/*
 * For 32-bit Arm, follows code without CFI to its return, unless it is a root.
 * libc's code near a thread's start can be followed; the start itself has no
 * path to a return.
 */
static bool step_by_flow(const struct wndl_space *space, struct wndl_full *full)
{
    const struct wndl_fp_state state = fp_state(space->arch, full);
    return space->arch->family == WNDL_CFI_ARM &&
           wndl_space_method(space) == WNDL_WALK_ANY &&
           !at_program_start(space, state.sp) &&
           (state.interrupted ||
               !wndl_arm_ends_thread(space->remote, state.pc)) &&
           wndl_flow_arm_step(space, full);
}

static struct wndl_step full_fp_step(
    const struct wndl_space *space, struct wndl_full *full, bool in_module)
{
    const struct wndl_arch *arch = space->arch;
    if (arch->family == WNDL_CFI_AARCH64 && wndl_signal_a64_step(space, full))
        return stepped(WNDL_HOW_CFI);
    if (in_module && step_by_flow(space, full))
        return (struct wndl_step){
            .more = true, .keeps = true, .how = WNDL_HOW_CHECKED};
    if (arch->ra != arch->pc && wndl_space_method(space) == WNDL_WALK_ANY &&
        step_by_link(space, full))
        return stepped_alone();
    struct wndl_fp_state state = fp_state(arch, full);
    const uint64_t fp = state.fp;
    struct wndl_step step = wndl_fp_step(space, &state, in_module);
    if (!step.more)
        return step;
    if (!step.keeps)
        *full = (struct wndl_full){0};
    full->interrupted = false;
    set_register(&full->regs, arch->pc, state.pc);
    set_register(&full->regs, arch->sp, state.sp);
    if (!step.keeps || state.fp != fp)
        set_register(&full->regs, arch->fp, state.fp);
    return step;
}

static enum wndl_walk_end end_of_status(enum wndl_status status)
{
    if (status == WNDL_NOT_FOUND)
        return WNDL_END_COMPLETE;
    return status == WNDL_IO ? WNDL_END_BAD_READ : WNDL_END_BAD_CFI;
}

/* Whether the return address is in a register. */
static bool is_in_register(
    const struct wndl_arch *arch, const struct wndl_cfi_rule *ra)
{
    return ra->kind == WNDL_RULE_REGISTER ||
           (arch->ra != arch->pc &&
               (ra->kind == WNDL_RULE_UNSET || ra->kind == WNDL_RULE_SAME));
}

/*
 * The CFA is so low that the return address would be below SP. i386's memcpy()
 * has such rows after its jump tables, since its CFI counts the pops of all
 * returns before. vfork() is different: it keeps the return address in a
 * register.
 */
static bool is_below_sp(const struct wndl_space *space,
    const struct wndl_code *code, const struct wndl_full *full)
{
    const struct wndl_cfi_rule *cfa = &code->row.cfa;
    return space->arch->word == 4 && space->arch->reads_code &&
           wndl_space_method(space) == WNDL_WALK_ANY && full->interrupted &&
           !code->row.signal_frame && cfa->kind == WNDL_RULE_REGISTER &&
           cfa->reg == space->arch->sp && cfa->offset < space->arch->word &&
           !is_in_register(space->arch, &code->row.regs[code->row.ra_reg]);
}

/* Steps from such code to a return address above its pushes. */
static struct wndl_step step_from_below(
    const struct wndl_space *space, struct wndl_full *full)
{
    enum { MOST_WORDS = 4 };
    struct wndl_fp_state state = fp_state(space->arch, full);
    if (!wndl_leaf_pushed(space, &state, MOST_WORDS))
        return ended(WNDL_END_NO_RULE);
    set_register(&full->regs, space->arch->pc, state.pc);
    set_register(&full->regs, space->arch->sp, state.sp);
    full->interrupted = false;
    return stepped_alone();
}

static struct wndl_step cfi_step(const struct wndl_space *space,
    const struct wndl_code *code, struct wndl_full *full)
{
    const struct wndl_arch *arch = space->arch;
    struct wndl_cfi_regs caller;
    if (is_below_sp(space, code, full))
        return step_from_below(space, full);
    enum wndl_status status = wndl_cfi_step(
        &code->frame, &code->row, &full->regs, &space->memory, &caller);
    enum wndl_frame_how how = WNDL_HOW_CFI;
    if (status == WNDL_IO && space->find_fp != NULL &&
        space->find_fp(space, code, full, &how))
        status = wndl_cfi_step(
            &code->frame, &code->row, &full->regs, &space->memory, &caller);
    /* Chromium's tables also answer so for code that they do not contain. */
    if (status == WNDL_IO && arch->family == WNDL_CFI_ARM &&
        !full->interrupted &&
        is_in_register(arch, &code->row.regs[code->row.ra_reg]))
        return full_fp_step(space, full, true);
    if (status != WNDL_OK)
        return ended(end_of_status(status));
    if (!has_register(&caller, arch->pc) || !has_register(&caller, arch->sp))
        return ended(WNDL_END_BAD_CFI);
    if (arch->family == WNDL_CFI_AARCH64 &&
        wndl_landing_a64_right(space, code, &caller))
        how = WNDL_HOW_FP;
    uint64_t sp = caller.regs[arch->sp];
    uint64_t callee_sp = full->regs.regs[arch->sp];
    /* Leaves with their return address in a register have no frame: vfork(),
     * and many on AArch64. */
    bool frameless = full->interrupted && sp == callee_sp &&
                     is_in_register(arch, &code->row.regs[code->row.ra_reg]);
    /* A signal handler may run on a stack of its own, anywhere. */
    if (sp <= callee_sp && !frameless && !code->row.signal_frame)
        return ended(WNDL_END_NO_PROGRESS);
    full->regs = caller;
    full->interrupted = code->row.signal_frame;
    if (caller.regs[arch->pc] == 0 && !full->interrupted)
        return ended(wndl_root_end(space, sp));
    return stepped(how);
}

/* The copy is too large for a signal handler's stack. */
static __attribute__((noinline)) struct wndl_step step_outside_there(
    const struct wndl_space *space, struct wndl_full *full, uint64_t pc)
{
    struct wndl_code code;
    struct wndl_jit_copy copy;
    enum wndl_code_kind kind =
        wndl_jit_remote_find(space->remote, pc, &code, &copy);
    if (kind == WNDL_CODE_NO_MODULE)
        return full_fp_step(space, full, false);
    return kind == WNDL_CODE_ROW ? cfi_step(space, &code, full)
                                 : ended(WNDL_END_BAD_CFI);
}

/* Steps by the registry of generated code, or by frame pointer. */
static struct wndl_step step_outside(
    const struct wndl_space *space, struct wndl_full *full, uint64_t pc)
{
    struct wndl_code code;
    struct wndl_jit_hold hold;
    if (space->remote != NULL && space->remote->jit != 0)
        return step_outside_there(space, full, pc);
    enum wndl_code_kind kind = wndl_jit_find(space->jit, pc, &code, &hold);
    if (kind == WNDL_CODE_NO_MODULE)
        return full_fp_step(space, full, false);
    struct wndl_step step = ended(WNDL_END_BAD_CFI);
    if (kind == WNDL_CODE_ROW)
        step = cfi_step(space, &code, full);
    wndl_jit_leave(&hold);
    return step;
}

static struct wndl_step any_step(
    const struct wndl_space *space, struct wndl_full *full)
{
    struct wndl_code code;
    uint64_t pc = full->regs.regs[space->arch->pc] - !full->interrupted;
    enum wndl_code_kind kind = wndl_code_find(space->remote, pc, &code);
    if (wndl_space_method(space) == WNDL_WALK_FP)
        return full_fp_step(space, full, kind != WNDL_CODE_NO_MODULE);
    switch (kind) {
    case WNDL_CODE_ROW:
        return cfi_step(space, &code, full);
    case WNDL_CODE_NO_FDE:
        return full_fp_step(space, full, true);
    case WNDL_CODE_NO_MODULE:
        return step_outside(space, full, pc);
    case WNDL_CODE_BAD:
        break;
    }
    return ended(WNDL_END_BAD_CFI);
}

struct wndl_step wndl_full_step(
    const struct wndl_space *space, struct wndl_full *full)
{
    bool is_interrupted = full->interrupted;
    struct wndl_step step = any_step(space, full);
    full->called_by_it = is_interrupted;
    return step;
}
