/* SPDX-License-Identifier: MIT */
#include "unwind/cache.h"
#include "unwind/frame.h"
#include "unwind/full.h"

#include <ucontext.h>

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * Stack words belong to other functions' objects: sanitizers must not look at
 * these loads, nor the compiler at their type.
 */
#define READS_STACK __attribute__((no_sanitize("address", "thread")))

struct stack_word {
    uint64_t v;
} __attribute__((packed, may_alias));

READS_STACK static inline uint64_t load(uint64_t address)
{
    return ((const struct stack_word *)(uintptr_t)address)->v;
}

/* Where the registers that the hot loop does not follow were last known. */
enum anchor_source {
    ANCHOR_REGS,     /* as the caller gave them */
    ANCHOR_UCONTEXT, /* in the ucontext_t at `ucontext`, on the stack */
    ANCHOR_FULL,     /* in `full` */
};

struct anchor {
    enum anchor_source source;
    size_t frame; /* index of the frame whose registers they are */
    uint64_t ucontext;
    struct wndl_full full;
};

/*
 * The last frame written is the one to be stepped from: `entry` is its rule,
 * `sp` and `fp` its registers; `fp` is 0 when not known, which no rule
 * accepts. sp is in the range that ends at `high`, or in none, then high = 0.
 */
struct walker {
    struct wndl_unwinder *u;
    struct wndl_entry *entry;
    wndl_frame_word *out, *out_end;
    uint64_t sp, fp, high;
    const struct wndl_stack_range *stacks;
    size_t stack_count;
    uint64_t red_zone, red_zone_end; /* readable too */
    const struct wndl_regs *regs;
    struct wndl_walk *walk;
    struct wndl_space space;
    struct anchor anchor;
};

static bool is_within(uint64_t address, size_t size, uint64_t low, uint64_t end)
{
    return address >= low && address <= end && size <= end - address;
}

static bool is_readable(const struct walker *w, uint64_t address, size_t size)
{
    for (size_t i = 0; i < w->stack_count; i++)
        if (is_within(address, size, w->stacks[i].low, w->stacks[i].high))
            return true;
    return is_within(address, size, w->red_zone, w->red_zone_end);
}

/* The reader of wndl_cfi_memory. */
READS_STACK static bool read_stack(
    void *context, uint64_t address, void *to, size_t size)
{
    if (!is_readable(context, address, size))
        return false;
    const uint8_t *from = (const uint8_t *)(uintptr_t)address;
    uint8_t *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = from[i];
    return true;
}

static bool read_word(const struct walker *w, uint64_t address, uint64_t *value)
{
    if (!is_readable(w, address, sizeof *value))
        return false;
    *value = load(address);
    return true;
}

/* A range that no user stack can be in is not gone into: sums of its
 * addresses could overflow. */
static void set_sp(struct walker *w, uint64_t sp)
{
    w->sp = sp;
    w->high = 0;
    for (size_t i = 0; i < w->stack_count; i++)
        if (sp >= w->stacks[i].low && sp < w->stacks[i].high &&
            w->stacks[i].high < UINT64_C(1) << 63)
            w->high = w->stacks[i].high;
}

static size_t last_frame(const struct walker *w)
{
    return (size_t)(w->out - (wndl_frame_word *)w->walk->frames) - 1;
}

/* False, so that a step can end with it. */
static bool ended(struct walker *w, enum wndl_walk_end end)
{
    w->walk->end = end;
    return false;
}

/* The last frame written, a return address, cannot be one. */
static bool ended_by_bad_pc(struct walker *w, uint64_t pc)
{
    w->out--;
    if (pc == 0)
        return ended(w, wndl_root_end(&w->space, w->sp));
    return ended(w, WNDL_END_BAD_PC);
}

static bool push(
    struct walker *w, uint64_t pc, bool interrupted, enum wndl_frame_how how)
{
    if (w->out == w->out_end)
        return ended(w, pc == 0 && !interrupted
                            ? wndl_root_end(&w->space, w->sp)
                            : WNDL_END_TRUNCATED);
    *w->out++ = wndl_frame_make(pc, interrupted, how);
    w->walk->fp_frames += how == WNDL_HOW_FP;
    w->entry = wndl_cache_get(w->u, pc + interrupted);
    if (w->entry == &w->u->no_code && !interrupted)
        return ended_by_bad_pc(w, pc);
    return true;
}

/* One step by a rule that the hot loop left because of its kind or because
 * of what it would have read. */
static bool step_checked(struct walker *w)
{
    const struct wndl_entry *e = w->entry;
    uint64_t cfa = (e->kind == WNDL_ENTRY_FP ? w->fp : w->sp) + 8u * e->cfa;
    uint64_t pc, fp;
    if (!read_word(w, cfa - 8, &pc) ||
        !read_word(w, cfa + (uint64_t)(8 * e->fp_slot), &fp))
        return ended(w, WNDL_END_BAD_READ);
    if (cfa <= w->sp)
        return ended(w, WNDL_END_NO_PROGRESS);
    if (e->fp_slot != WNDL_SLOT_NONE)
        w->fp = fp;
    set_sp(w, cfa);
    return push(w, pc, false, WNDL_HOW_CFI);
}

static bool step_realign(struct walker *w)
{
    const struct wndl_entry *e = w->entry;
    uint64_t cfa, pc, fp;
    if (!read_word(w, w->fp + (uint64_t)(8 * (int16_t)e->cfa), &cfa) ||
        !read_word(w, w->fp + (uint64_t)(8 * e->fp_slot), &fp) ||
        !read_word(w, cfa - 8, &pc))
        return ended(w, WNDL_END_BAD_READ);
    if (cfa <= w->sp)
        return ended(w, WNDL_END_NO_PROGRESS);
    w->fp = fp;
    set_sp(w, cfa);
    return push(w, pc, false, WNDL_HOW_CFI);
}

static uint64_t greg_address(uint64_t ucontext, unsigned greg)
{
    return ucontext + offsetof(ucontext_t, uc_mcontext.gregs) +
           greg * sizeof(greg_t);
}

/* The interrupted code may have been on another stack, so SP may fall. */
static bool step_sigreturn(struct walker *w)
{
    uint64_t ucontext = w->sp, pc, sp, fp;
    if (!read_word(w, greg_address(ucontext, REG_RIP), &pc) ||
        !read_word(w, greg_address(ucontext, REG_RSP), &sp) ||
        !read_word(w, greg_address(ucontext, REG_RBP), &fp))
        return ended(w, WNDL_END_BAD_READ);
    w->fp = fp;
    set_sp(w, sp);
    if (!push(w, pc, true, WNDL_HOW_CFI))
        return false;
    w->anchor.source = ANCHOR_UCONTEXT;
    w->anchor.frame = last_frame(w);
    w->anchor.ucontext = ucontext;
    return true;
}

static void load_anchor(const struct walker *w, struct wndl_full *full)
{
    if (w->anchor.source == ANCHOR_FULL) {
        *full = w->anchor.full;
        return;
    }
    if (w->anchor.source == ANCHOR_REGS) {
        wndl_full_init(full, w->regs);
        full->interrupted = w->walk->frames[0].interrupted;
        return;
    }
    uint64_t gregs[REG_RIP + 1];
    for (unsigned i = 0; i <= REG_RIP; i++)
        if (!read_word(w, greg_address(w->anchor.ucontext, i), &gregs[i]))
            gregs[i] = 0;
    wndl_full_init(full, &(struct wndl_regs){.gregs = gregs});
}

/*
 * A rule that needs more registers than the hot loop follows: walk again
 * from where all were known, exactly, to one frame past this one. The end is
 * the next anchor, so that no frame is walked again more than once.
 */
static bool step_full(struct walker *w)
{
    struct wndl_full full;
    struct wndl_step step = {0};
    size_t last = last_frame(w);
    load_anchor(w, &full);
    for (size_t i = w->anchor.frame; i <= last; i++) {
        step = wndl_full_step(&w->space, &full);
        if (!step.more)
            return ended(w, step.end);
    }
    const struct wndl_cfi_regs *r = &full.regs;
    bool fp_valid = (r->valid >> WNDL_DWARF_RBP & 1) != 0;
    w->fp = fp_valid ? r->regs[WNDL_DWARF_RBP] : 0;
    set_sp(w, r->regs[WNDL_DWARF_RSP]);
    w->anchor.source = ANCHOR_FULL;
    w->anchor.frame = last + 1;
    w->anchor.full = full;
    return push(w, r->regs[WNDL_DWARF_RA], full.interrupted, step.how);
}

static bool step_fp(struct walker *w, bool in_module)
{
    const struct wndl_frame *frame = &w->walk->frames[last_frame(w)];
    struct wndl_fp_state state = {
        frame->address, w->sp, w->fp, frame->interrupted};
    struct wndl_step step = wndl_fp_step(&w->space, &state, in_module);
    if (!step.more && step.end == WNDL_END_BAD_PC && last_frame(w) > 0) {
        w->walk->fp_frames -= frame->how == WNDL_HOW_FP;
        w->out--;
    }
    if (!step.more)
        return ended(w, step.end);
    w->fp = state.fp;
    set_sp(w, state.sp);
    return push(w, state.pc, false, step.how);
}

/* One step by what the hot loop does not do itself. False: the end. */
static bool step_other(struct walker *w)
{
    switch ((enum wndl_entry_kind)w->entry->kind) {
    case WNDL_ENTRY_SP:
    case WNDL_ENTRY_FP:
    case WNDL_ENTRY_SP_LOW:
        return step_checked(w);
    case WNDL_ENTRY_REALIGN:
        return step_realign(w);
    case WNDL_ENTRY_SIGRETURN:
        return step_sigreturn(w);
    case WNDL_ENTRY_STOP:
        return ended(w, WNDL_END_COMPLETE);
    case WNDL_ENTRY_FULL:
        return step_full(w);
    case WNDL_ENTRY_NO_FDE:
        return step_fp(w, true);
    case WNDL_ENTRY_NO_MODULE:
        return step_fp(w, false);
    case WNDL_ENTRY_EMPTY:
    case WNDL_ENTRY_BAD:
        break;
    }
    return ended(w, WNDL_END_BAD_CFI);
}

/* The entry of the caller of `callee`, whose link was to another. A pc of 0
 * may be found in a free slot, whose kind says so. */
static inline struct wndl_entry *relink(
    struct wndl_unwinder *u, struct wndl_entry *callee, uint64_t pc)
{
    uint32_t offset = wndl_cache_home(pc);
    struct wndl_entry *caller = wndl_cache_at(u, offset);
    if (UNLIKELY(caller->key != pc)) {
        offset = wndl_cache_place(offset, 1);
        caller = wndl_cache_at(u, offset);
        if (UNLIKELY(caller->key != pc)) {
            caller = wndl_cache_find(u, pc);
            offset = wndl_cache_offset(u, caller);
        }
    }
    callee->next = offset;
    return caller;
}

/* The CFA by an FP rule; 0 when it needs checking. */
static inline uint64_t cfa_by_fp(
    const struct wndl_entry *e, uint64_t sp, uint64_t fp)
{
    uint64_t cfa = fp + UINT64_C(8) * e->cfa;
    bool is_good = e->kind == WNDL_ENTRY_FP && cfa > sp &&
                   cfa + (uint64_t)(INT64_C(8) * e->fp_slot) >= sp;
    return is_good ? cfa : 0;
}

/*
 * The hot loop: frames by SP and FP rules until something else is needed.
 * The caller's entry is guessed by `next` before its key, the return address,
 * is there to compare: the loads of one frame do not wait for the other's.
 * SP must be in a range.
 */
READS_STACK static bool step_many(struct walker *w)
{
    uint64_t bits = wndl_frame_bits(false, WNDL_HOW_CFI);
    struct wndl_unwinder *const u = w->u;
    wndl_frame_word *out = w->out, *const out_end = w->out_end;
    const uint64_t high = w->high;
    struct wndl_entry *e = w->entry;
    uint64_t sp = w->sp, fp = w->fp, pc = 0;
    /* Kept in a register, not made anew for each frame. */
    __asm__("" : "+r"(bits));
    for (;;) {
        uint64_t cfa = sp + UINT64_C(8) * e->cfa;
        if (UNLIKELY(e->kind != WNDL_ENTRY_SP)) {
            cfa = cfa_by_fp(e, sp, fp);
            if (cfa == 0)
                break;
        }
        if (UNLIKELY(cfa > high || out == out_end))
            break;
        const int64_t slot = e->fp_slot;
        sp = cfa;
        pc = load(sp - 8);
        uint64_t saved = load(sp + (uint64_t)(8 * slot));
        fp = slot == WNDL_SLOT_NONE ? fp : saved;
        *out++ = pc + bits;
        struct wndl_entry *next = wndl_cache_at(u, e->next);
        if (UNLIKELY(next->key != pc))
            next = relink(u, e, pc);
        e = next;
    }
    bool is_bad_pc =
        out != w->out && (e == &u->no_code || e->kind == WNDL_ENTRY_EMPTY);
    w->out = out;
    w->sp = sp;
    w->fp = fp;
    w->entry = e;
    return is_bad_pc ? ended_by_bad_pc(w, pc) : true;
}

/* Frame 0 is given; false when `regs` does not say enough to go on. */
static bool start(struct walker *w, bool interrupted)
{
    const struct wndl_regs *regs = w->regs;
    const uint32_t needed = WNDL_REG_IP | WNDL_REG_SP;
    w->walk->fp_frames = 0;
    w->out = (wndl_frame_word *)w->walk->frames;
    w->out_end = w->out + w->walk->max_frames;
    if ((regs->valid & needed) != needed)
        return ended(w, WNDL_END_NO_RULE);
    *w->out++ = wndl_frame_make(regs->ip, interrupted, WNDL_HOW_CONTEXT);
    w->entry = wndl_cache_get(w->u, regs->ip + interrupted);
    w->fp = (regs->valid & WNDL_REG_FP) != 0 ? regs->fp : 0;
    set_sp(w, regs->sp);
    /* An SP that is in no stack has no red zone that could be read. */
    w->red_zone_end = w->high == 0 ? 0 : regs->sp;
    w->red_zone = w->high == 0 ? 0 : regs->sp - 128;
    w->anchor.source = ANCHOR_REGS;
    w->anchor.frame = 0;
    return true;
}

static void run(struct walker *w, bool interrupted)
{
    w->space = (struct wndl_space){.memory = {read_stack, w}};
    if (start(w, interrupted))
        while ((w->high == 0 || step_many(w)) && step_other(w))
            ;
    w->walk->count = (size_t)(w->out - (wndl_frame_word *)w->walk->frames);
}

void wndl_unwind_regs(struct wndl_unwinder *u, const struct wndl_regs *regs,
    const struct wndl_stack_range *stacks, size_t stack_count,
    struct wndl_walk *walk)
{
    struct walker w;
    w.u = u;
    w.regs = regs;
    w.stacks = stacks;
    w.stack_count = stack_count;
    w.walk = walk;
    run(&w, true);
}

void wndl_regs_from_context(struct wndl_regs *regs, const void *ucontext)
{
    const greg_t *gregs = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    *regs = (struct wndl_regs){
        .ip = (uint64_t)gregs[REG_RIP],
        .sp = (uint64_t)gregs[REG_RSP],
        .fp = (uint64_t)gregs[REG_RBP],
        .bx = (uint64_t)gregs[REG_RBX],
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX,
        .gregs = (const uint64_t *)(const void *)gregs,
    };
}

/* Only assembly refers to it, which link-time optimisation does not see. */
#if __has_attribute(externally_visible)
#define CALLED_BY_ASM __attribute__((used, externally_visible))
#else
#define CALLED_BY_ASM __attribute__((used))
#endif

/* Where wndl_unwind_self goes on, with its caller's registers. */
void wndl_unwind_self_from(struct wndl_unwinder *u,
    const struct wndl_stack_range *stack, struct wndl_walk *walk,
    struct wndl_regs *regs) CALLED_BY_ASM;

void wndl_unwind_self_from(struct wndl_unwinder *u,
    const struct wndl_stack_range *stack, struct wndl_walk *walk,
    struct wndl_regs *regs)
{
    struct walker w;
    regs->valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX;
    regs->gregs = NULL;
    w.u = u;
    w.regs = regs;
    w.stacks = stack;
    w.stack_count = 1;
    w.walk = walk;
    run(&w, false);
}

_Static_assert(sizeof(struct wndl_regs) == 48 //
                   && offsetof(struct wndl_regs, bx) == 24,
    "the room that wndl_unwind_self makes");

/*
 * A compiled function may already have overwritten RBP or RBX by the time it
 * could read them: this one makes room for a struct wndl_regs (and 8 bytes to
 * align the stack), fills in the caller's four registers, and hands it on as
 * the fourth argument.
 */
__attribute__((naked)) void wndl_unwind_self(struct wndl_unwinder *u
    __attribute__((unused)),
    const struct wndl_stack_range *stack __attribute__((unused)),
    struct wndl_walk *walk __attribute__((unused)))
{
    __asm__("subq $56, %rsp\n\t"
            ".cfi_adjust_cfa_offset 56\n\t"
            "movq 56(%rsp), %rax\n\t"
            "movq %rax, (%rsp)\n\t"
            "leaq 64(%rsp), %rax\n\t"
            "movq %rax, 8(%rsp)\n\t"
            "movq %rbp, 16(%rsp)\n\t"
            "movq %rbx, 24(%rsp)\n\t"
            "movq %rsp, %rcx\n\t"
            "call wndl_unwind_self_from\n\t"
            "addq $56, %rsp\n\t"
            ".cfi_adjust_cfa_offset -56\n\t"
            "ret");
}
