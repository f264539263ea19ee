/* SPDX-License-Identifier: MIT */
#include "unwind/slow/find_fp.h"

#include "unwind/space/call.h"

enum {
    PROLOGUE_BYTES = 48,
    SEARCH_WORDS = 4096, /* words beyond the prologue's room */
};

static bool read_bytes(
    const struct wndl_space *space, uint64_t address, void *to, size_t size)
{
    return space->memory.read(space->memory.context, address, to, size);
}

/* ---- the function's first instructions */

/*
 * Instructions of prologues on machines with `word`, 0: on both. A register's
 * push lowers SP by a word.
 */
static const struct {
    uint8_t word, size, bytes[5];
    bool pushes;
} known[] = {
    {0, 1, {0x53}, true},       /* push %rbx */
    {0, 1, {0x55}, true},       /* push %rbp */
    {0, 1, {0x56}, true},       /* push %rsi */
    {0, 1, {0x57}, true},       /* push %rdi */
    {8, 2, {0x41, 0x52}, true}, /* push %r10 */
    {8, 2, {0x41, 0x54}, true}, /* push %r12 */
    {8, 2, {0x41, 0x55}, true}, {8, 2, {0x41, 0x56}, true},
    {8, 2, {0x41, 0x57}, true},
    {8, 4, {0x41, 0xff, 0x72, 0xf8}, true},        /* push -8(%r10) */
    {8, 4, {0xf3, 0x0f, 0x1e, 0xfa}, false},       /* endbr64 */
    {8, 5, {0x4c, 0x8d, 0x54, 0x24, 0x08}, false}, /* lea 8(%rsp),%r10 */
    {8, 4, {0x48, 0x83, 0xe4, 0xc0}, false},       /* and $-64,%rsp */
    {8, 4, {0x48, 0x83, 0xe4, 0xe0}, false},       /* and $-32,%rsp */
    {8, 4, {0x48, 0x83, 0xe4, 0xf0}, false},       /* and $-16,%rsp */
    {4, 1, {0x51}, true},                          /* push %ecx */
    {4, 3, {0xff, 0x71, 0xfc}, true},              /* push -4(%ecx) */
    {4, 4, {0xf3, 0x0f, 0x1e, 0xfb}, false},       /* endbr32 */
    {4, 4, {0x8d, 0x4c, 0x24, 0x04}, false},       /* lea 4(%esp),%ecx */
    {4, 3, {0x83, 0xe4, 0xe0}, false},             /* and $-32,%esp */
    {4, 3, {0x83, 0xe4, 0xf0}, false},             /* and $-16,%esp */
};

static int64_t i32_at(const uint8_t *bytes)
{
    uint32_t value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return (int32_t)value;
}

/* sub $n,%rsp, without its REX prefix. 0: it is another instruction. */
static size_t size_of_sub(struct wndl_bytes code, uint64_t *lowers)
{
    if (code.size < 6 || code.data[1] != 0xec ||
        (code.data[0] != 0x83 && code.data[0] != 0x81))
        return 0;
    bool is_short = code.data[0] == 0x83;
    int64_t n = is_short ? (int8_t)code.data[2] : i32_at(code.data + 2);
    *lowers = n < 0 ? 0 : (uint64_t)n;
    return is_short ? 3 : 6;
}

/* The size of a known instruction at `code`; 0 if it is unknown. */
static size_t size_of_known(
    struct wndl_bytes code, uint8_t word, uint64_t *lowers)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((known[i].word != 0 && known[i].word != word) ||
            code.size < known[i].size ||
            __builtin_memcmp(code.data, known[i].bytes, known[i].size) != 0)
            continue;
        *lowers = known[i].pushes ? word : 0;
        return known[i].size;
    }
    if (word == 4)
        return size_of_sub(code, lowers);
    if (code.size == 0 || code.data[0] != 0x48)
        return 0;
    size_t size = size_of_sub(wndl_bytes_slice(code, 1, code.size - 1), lowers);
    return size == 0 ? 0 : size + 1;
}

/* mov %rsp,%rbp. 0: it is another instruction. */
static size_t size_of_set(struct wndl_bytes code, uint8_t word)
{
    size_t rex = word == 8;
    if (code.size < rex + 2 || (rex == 1 && code.data[0] != 0x48))
        return 0;
    const uint8_t *b = code.data + rex;
    bool sets =
        (b[0] == 0x89 && b[1] == 0xe5) || (b[0] == 0x8b && b[1] == 0xec);
    return sets ? rex + 2 : 0;
}

/*
 * The minimum distance below RBP to which the code from `start` to `pc` has
 * moved SP.
 */
static uint64_t room_made(
    const struct wndl_space *space, uint64_t start, uint64_t pc)
{
    uint8_t bytes[PROLOGUE_BYTES];
    uint64_t room = 0, lowers = 0;
    bool is_set = false;
    if (start == 0 || !read_bytes(space, start, bytes, sizeof bytes))
        return 0;
    const uint8_t word = space->arch->word;
    struct wndl_bytes rest = {bytes, sizeof bytes};
    if (pc - start < rest.size)
        rest.size = (size_t)(pc - start);
    while (rest.size > 0) {
        size_t set = size_of_set(rest, word);
        size_t size = set != 0 ? set : size_of_known(rest, word, &lowers);
        if (size == 0)
            break;
        room += is_set && set == 0 ? lowers : 0;
        is_set = is_set || set != 0;
        rest = wndl_bytes_slice(rest, size, rest.size - size);
    }
    return room;
}

/* ---- calls */

enum call {
    CALL_NONE,
    CALL_OTHER, /* of another function, or of one that is not known */
    CALL_OURS,
};

static enum wndl_frame_how how_of(enum call call)
{
    return call == CALL_OURS ? WNDL_HOW_CFI : WNDL_HOW_FP;
}

static bool is_slot_of(
    const struct wndl_space *space, uint64_t slot, uint64_t start)
{
    uint64_t word;
    return wndl_space_word(space, slot, &word) && word == start;
}

/* A PLT stub that jumps to `start`: [endbr64] [bnd] jmp *slot. */
static bool is_stub_of(
    const struct wndl_space *space, uint64_t stub, uint64_t start)
{
    uint8_t b[16];
    if (!read_bytes(space, stub, b, sizeof b))
        return false;
    size_t at = b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e ? 4 : 0;
    at += b[at] == 0xf2;
    return b[at] == 0xff && b[at + 1] == 0x25 &&
           is_slot_of(space,
               wndl_call_operand(space, b + at + 2, stub + at + 6), start);
}

/*
 * The kind of call that returns to `address`, and whether it is of the function
 * at `start`, if that is known.
 */
static enum call call_before(
    const struct wndl_space *space, uint64_t address, uint64_t start)
{
    struct wndl_call call;
    if (!wndl_call_before(space, address, &call))
        return CALL_NONE;
    if (start == 0)
        return CALL_OTHER;
    const bool ours =
        call.target != 0
            ? call.target == start || is_stub_of(space, call.target, start)
            : call.slot != 0 && is_slot_of(space, call.slot, start);
    return ours ? CALL_OURS : CALL_OTHER;
}

/* ---- the search */

static bool is_valid(const struct wndl_cfi_regs *regs, unsigned number)
{
    return (regs->valid >> number & 1) != 0;
}

static void set(struct wndl_cfi_regs *regs, unsigned number, uint64_t value)
{
    regs->regs[number] = value;
    regs->valid |= UINT64_C(1) << number;
}

/* Whether `full` has a caller, or needs none. */
static bool goes_on(
    const struct wndl_space *space, const struct wndl_full *full)
{
    const unsigned ra = space->arch->ra;
    struct wndl_code code;
    struct wndl_cfi_regs caller;
    if (wndl_code_find(space->remote, full->regs.regs[ra] - 1, &code) !=
        WNDL_CODE_ROW)
        return false;
    enum wndl_status status = wndl_cfi_step(
        &code.frame, &code.row, &full->regs, &space->memory, &caller);
    if (status == WNDL_NOT_FOUND)
        return true;
    return status == WNDL_OK &&
           call_before(space, caller.regs[ra], 0) != CALL_NONE;
}

/*
 * Whether `regs` may be those of the function of `code`, and `word` its return
 * address. `how` is the certainty of that.
 */
static bool fits(const struct wndl_space *space, const struct wndl_code *code,
    const struct wndl_cfi_regs *regs, uint64_t word, enum wndl_frame_how *how)
{
    const struct wndl_arch *arch = space->arch;
    struct wndl_full caller = {0};
    enum call call = call_before(space, word, code->start);
    if (call == CALL_NONE ||
        wndl_cfi_step(&code->frame, &code->row, regs, &space->memory,
            &caller.regs) != WNDL_OK ||
        caller.regs.regs[arch->ra] != word ||
        caller.regs.regs[arch->sp] < regs->regs[arch->sp])
        return false;
    *how = how_of(call);
    return call == CALL_OURS || goes_on(space, &caller);
}

/*
 * Handles vfork(), which has popped its return address into a register. The
 * address is still below SP, or another one of the same function is, if its
 * child has made a call.
 */
static bool find_popped(const struct wndl_space *space,
    const struct wndl_code *code, struct wndl_cfi_regs *regs,
    enum wndl_frame_how *how)
{
    const struct wndl_arch *arch = space->arch;
    const struct wndl_cfi_rule *rule = &code->row.regs[arch->ra];
    uint64_t word;
    if (rule->kind != WNDL_RULE_REGISTER || rule->reg >= WNDL_CFI_REGS ||
        is_valid(regs, rule->reg) ||
        !wndl_space_word(space, regs->regs[arch->sp] - arch->word, &word))
        return false;
    enum call call = call_before(space, word, code->start);
    if (call == CALL_NONE)
        return false;
    set(regs, rule->reg, word);
    /* Only calls by the same frame leave an address there. */
    *how = call == CALL_OURS ? WNDL_HOW_CFI : WNDL_HOW_CHECKED;
    return true;
}

/*
 * The frame pointer's distance below the return address. It is a word, also if
 * a copy of that is above the saved one (gcc's realigned frames: a CFA by
 * expression).
 */
static bool below_return_address(const struct wndl_arch *arch,
    const struct wndl_cfi_rule *cfa, uint64_t *distance)
{
    *distance = arch->word;
    if (cfa->kind == WNDL_RULE_VAL_EXPR)
        return true;
    *distance = (uint64_t)cfa->offset - arch->word;
    return cfa->kind == WNDL_RULE_REGISTER && cfa->reg == arch->fp &&
           cfa->offset >= arch->word && cfa->offset <= 4096;
}

bool wndl_find_fp(const struct wndl_space *space, const struct wndl_code *code,
    struct wndl_full *full, enum wndl_frame_how *how)
{
    const struct wndl_arch *arch = space->arch;
    struct wndl_cfi_regs tried = full->regs;
    uint64_t distance, word;
    if (full->interrupted && find_popped(space, code, &full->regs, how))
        return true;
    if (is_valid(&tried, arch->fp) ||
        !below_return_address(arch, &code->row.cfa, &distance))
        return false;
    uint64_t slot = tried.regs[arch->sp] + distance +
                    room_made(space, code->start, tried.regs[arch->ra]);
    for (int i = 0; i < SEARCH_WORDS; i++, slot += arch->word) {
        if (!wndl_space_word(space, slot, &word))
            return false;
        set(&tried, arch->fp, slot - distance);
        if (!fits(space, code, &tried, word, how))
            continue;
        full->regs = tried;
        return true;
    }
    return false;
}
