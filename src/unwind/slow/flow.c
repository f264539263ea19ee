/* SPDX-License-Identifier: MIT */
#include "unwind/slow/flow.h"

#include "unwind/slow/x86_code.h"
#include "unwind/space/call.h"

enum {
    AT_MOST = 512, /* instructions */
    WINDOW = 64,   /* bytes of code that are read at once */
    SP = 4,        /* registers, as instructions encode them */
    FP = 5,
    REGISTERS = 16,
};

/* A register that the flow began with; a constant was added to its value. */
enum origin { FROM_OTHER, FROM_SP, FROM_FP };

/* The place in the code, and the registers there. */
struct place {
    uint64_t pc, sp;
    uint64_t values[REGISTERS]; /* of those that are known */
    uint32_t known;             /* a bit each; SP has none */
    uint8_t origins[REGISTERS]; /* enum origin, of SP and those known */
    bool has_fp_of_entry;       /* RBP is as where the flow began */
    uint64_t fp_at;             /* else where it was loaded from, */
    enum origin fp_origin;      /* and how that address came about */
};

struct flow {
    const struct wndl_space *space;
    struct place at;
    /* After a branch that was not taken: where it leads. pc 0: none. */
    struct place branch;
    uint64_t first_sp; /* words popped below it were pushed on the way */
    uint64_t first_fp;
    uint64_t lowest; /* of the code since the last jump backwards */
    bool returns;    /* the next step is the return */
    bool is_chance;  /* more than the code has decided about the way */
    bool is_64;
    uint8_t word;
    uint64_t window_at;
    size_t window_size;
    uint8_t window[WINDOW];
};

/* ---- registers */

static bool is_known(const struct flow *f, unsigned reg)
{
    return (f->at.known >> reg & 1) != 0;
}

/* False: SP would not be known. */
static bool lose(struct flow *f, unsigned reg)
{
    f->at.known &= ~(1u << reg);
    if (reg == FP) {
        f->at.has_fp_of_entry = false;
        f->at.fp_origin = FROM_OTHER;
    }
    return reg != SP;
}

static uint64_t narrow(const struct flow *f, uint64_t value)
{
    return f->is_64 ? value : (uint32_t)value;
}

static bool set(
    struct flow *f, unsigned reg, uint64_t value, enum origin origin)
{
    value = narrow(f, value);
    f->at.origins[reg] = (uint8_t)origin;
    if (reg == SP) {
        f->at.sp = value;
        return true;
    }
    (void)lose(f, reg);
    f->at.values[reg] = value;
    f->at.known |= 1u << reg;
    return true;
}

static enum origin origin_of(const struct flow *f, unsigned reg)
{
    return (enum origin)f->at.origins[reg];
}

/* Sets a register to a value that is not known, by chance where it is SP. */
static bool set_unknown(struct flow *f, unsigned reg)
{
    f->is_chance = f->is_chance || reg == SP;
    return lose(f, reg);
}

/* Copies a register to another. */
static bool copy(struct flow *f, unsigned to, unsigned from)
{
    if (from == SP)
        return set(f, to, f->at.sp, origin_of(f, SP));
    return is_known(f, from)
               ? set(f, to, f->at.values[from], origin_of(f, from))
               : set_unknown(f, to);
}

/* The address of a memory operand: SP or a known register, and a constant. */
static bool address_of(
    const struct flow *f, const struct wndl_x86 *x, uint64_t *address)
{
    enum { NO_INDEX = 4 };
    const bool has_base = x->has_sib ? x->index == NO_INDEX &&
                                           !(x->mod == 0 && (x->base & 7) == FP)
                                     : !(x->mod == 0 && (x->rm & 7) == FP);
    if (!has_base || x->is_narrow || (x->base != SP && !is_known(f, x->base)))
        return false;
    *address = x->base == SP ? f->at.sp : f->at.values[x->base];
    *address = narrow(f, *address + (uint64_t)(int64_t)x->displacement);
    return true;
}

/* Loads what was stored on the way. */
static bool load_stored(struct flow *f, unsigned reg, enum origin origin)
{
    (void)lose(f, reg);
    if (reg != FP)
        return true;
    if (f->first_fp != 0)
        (void)set(f, FP, f->first_fp, FROM_FP);
    f->at.has_fp_of_entry = true;
    f->is_chance = f->is_chance || origin != FROM_SP;
    return true;
}

/*
 * Loads a word of the stack. What is below the first SP was stored on the way:
 * RBP is then as it was where the flow began, if anything was saved there.
 */
static bool load_word(
    struct flow *f, unsigned reg, uint64_t address, enum origin origin)
{
    uint64_t value;
    if (reg == SP)
        return false;
    if (address < f->first_sp)
        return load_stored(f, reg, origin);
    if (!wndl_space_word(f->space, address, &value)) {
        f->is_chance = true;
        return lose(f, reg);
    }
    (void)set(f, reg, value, FROM_OTHER);
    if (reg == FP) {
        f->at.fp_at = address;
        f->at.fp_origin = origin;
    }
    return true;
}

static bool pop(struct flow *f, unsigned reg)
{
    const uint64_t from = f->at.sp;
    f->at.sp = narrow(f, f->at.sp + f->word);
    return load_word(f, reg, from, origin_of(f, SP));
}

static bool skip_word(struct flow *f)
{
    f->at.sp = narrow(f, f->at.sp + f->word);
    return true;
}

static bool push(struct flow *f)
{
    f->at.sp = narrow(f, f->at.sp - f->word);
    return true;
}

/* ---- jumps */

/*
 * The flow would go round: it takes the last branch that it has passed over.
 * False if there was none.
 */
static bool take_branch(struct flow *f)
{
    if (f->branch.pc == 0)
        return false;
    f->at = f->branch;
    f->branch.pc = 0;
    f->returns = false;
    f->lowest = f->at.pc;
    return true;
}

/* `from` is the jump itself. */
static bool jump(struct flow *f, uint64_t from, int64_t distance)
{
    const uint64_t to = narrow(f, f->at.pc + (uint64_t)distance);
    if (to >= f->lowest && to <= from)
        return take_branch(f);
    if (to < f->lowest)
        f->lowest = to;
    f->at.pc = to;
    return true;
}

static bool pass_branch(struct flow *f, int64_t distance)
{
    if (distance <= 0)
        return true;
    f->branch = f->at;
    f->branch.pc = narrow(f, f->at.pc + (uint64_t)distance);
    return true;
}

/* ---- instructions of one byte */

/* A register that an instruction of bytes names. */
static unsigned byte_register(const struct wndl_x86 *x, unsigned reg)
{
    return x->has_rex ? reg : reg & 3;
}

/* add, sub, and, of SP; the others of the group but cmp change registers. */
static bool follow_group_1(struct flow *f, const struct wndl_x86 *x)
{
    enum { ADD, AND = 4, SUB = 5, CMP = 7 };
    const uint64_t by = (uint64_t)x->immediate;
    if (x->mod != 3 || (x->reg & 7) == CMP)
        return true;
    if ((x->opcode & 1) == 0)
        return lose(f, byte_register(x, x->rm));
    if (x->rm != SP)
        return lose(f, x->rm);
    switch (x->reg & 7) {
    case ADD:
        return set(f, SP, f->at.sp + by, origin_of(f, SP));
    case SUB:
        return set(f, SP, f->at.sp - by, origin_of(f, SP));
    case AND:
        return set(f, SP, f->at.sp & by, FROM_OTHER);
    default:
        return false;
    }
}

static bool follow_move(struct flow *f, const struct wndl_x86 *x)
{
    uint64_t address;
    const bool is_word = f->is_64 == x->is_wide && x->prefix == 0;
    if (x->mod == 3) {
        const unsigned to = x->opcode == 0x89 ? x->rm : x->reg;
        const unsigned from = x->opcode == 0x89 ? x->reg : x->rm;
        return is_word ? copy(f, to, from) : lose(f, to);
    }
    if (x->opcode == 0x89)
        return true;
    return is_word && address_of(f, x, &address)
               ? load_word(f, x->reg, address, origin_of(f, x->base))
               : lose(f, x->reg);
}

static bool follow_lea(struct flow *f, const struct wndl_x86 *x)
{
    uint64_t address;
    const bool is_word = f->is_64 == x->is_wide && x->prefix == 0;
    return is_word && address_of(f, x, &address)
               ? set(f, x->reg, address, origin_of(f, x->base))
               : set_unknown(f, x->reg);
}

/* Calls return, and leave only some registers alone. */
static bool pass_call(struct flow *f)
{
    enum { KEPT = 1 << 3 | 1 << FP | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 };
    f->at.known &= KEPT;
    return true;
}

/* A call of the next instruction only shows where the code is. */
static bool follow_call(struct flow *f, const struct wndl_x86 *x)
{
    return x->immediate == 0 ? push(f) : pass_call(f);
}

/*
 * inc, dec, call, jmp and push. A jump elsewhere ends in the same way as a
 * return here.
 */
static bool follow_group_5(struct flow *f, const struct wndl_x86 *x)
{
    enum { INC, DEC, CALL, JMP = 4, PUSH = 6 };
    switch (x->reg & 7) {
    case INC:
    case DEC:
        return x->mod != 3 || lose(f, x->rm);
    case CALL:
        return pass_call(f);
    case JMP:
        f->returns = true;
        return true;
    case PUSH:
        return push(f);
    default:
        return false;
    }
}

/* mov %rbp, %rsp; pop %rbp. */
static bool follow_leave(struct flow *f)
{
    if (!is_known(f, FP))
        return false;
    (void)set(f, SP, f->at.values[FP], origin_of(f, FP));
    return pop(f, FP);
}

/* Opcodes 00 to 3f, of which cmp changes nothing. */
static bool follow_arithmetic(struct flow *f, const struct wndl_x86 *x)
{
    const bool is_byte = (x->opcode & 1) == 0;
    if (x->opcode >> 3 == 7)
        return x->has_modrm || (x->opcode & 7) < 6;
    if (!x->has_modrm)
        return (x->opcode & 7) < 6 && lose(f, 0);
    const bool to_rm = (x->opcode & 2) == 0;
    if (to_rm && x->mod != 3)
        return true;
    const unsigned to = to_rm ? x->rm : x->reg;
    return lose(f, is_byte ? byte_register(x, to) : to);
}

/* Opcodes 80 to 8f. */
static bool follow_eighties(struct flow *f, const struct wndl_x86 *x)
{
    switch (x->opcode) {
    case 0x84: /* test */
    case 0x85:
        return true;
    case 0x86: /* xchg */
    case 0x87:
        return lose(f, x->reg) && (x->mod != 3 || lose(f, x->rm));
    case 0x88:
        return x->mod != 3 || lose(f, byte_register(x, x->rm));
    case 0x89:
    case 0x8b:
        return follow_move(f, x);
    case 0x8a:
        return lose(f, byte_register(x, x->reg));
    case 0x8c:
        return x->mod != 3 || lose(f, x->rm);
    case 0x8d:
        return follow_lea(f, x);
    case 0x8e:
        return false;
    case 0x8f:
        return x->mod == 3 ? pop(f, x->rm) : skip_word(f);
    default:
        return follow_group_1(f, x);
    }
}

/* Opcodes c0 to cf. */
static bool follow_returns(struct flow *f, const struct wndl_x86 *x)
{
    switch (x->opcode) {
    case 0xc2:
    case 0xc3:
        f->returns = true;
        return true;
    case 0xc9:
        return follow_leave(f);
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xc7:
        return x->mod != 3 ||
               lose(f, x->opcode & 1 ? x->rm : byte_register(x, x->rm));
    default:
        return false;
    }
}

/* Opcodes e0 to ff. */
static bool follow_last(struct flow *f, const struct wndl_x86 *x, uint64_t from)
{
    switch (x->opcode) {
    case 0xe0: /* loop, jcxz */
    case 0xe1:
    case 0xe2:
    case 0xe3:
        return pass_branch(f, x->immediate);
    case 0xe8:
        return follow_call(f, x);
    case 0xe9:
    case 0xeb:
        return jump(f, from, x->immediate);
    case 0xf5: /* flags */
    case 0xf8:
    case 0xf9:
    case 0xfc:
    case 0xfd:
        return true;
    case 0xf6:
    case 0xf7: /* not and neg change their operand, the others RAX and RDX */
        if ((x->reg & 6) == 2)
            return x->mod != 3 || lose(f, x->rm);
        return (x->reg & 7) < 2 || (lose(f, 0) && lose(f, 2));
    case 0xfe:
        return x->mod != 3 || lose(f, byte_register(x, x->rm));
    case 0xff:
        return follow_group_5(f, x);
    default:
        return false;
    }
}

/* Opcodes 40 to 7f. */
static bool follow_stack(struct flow *f, const struct wndl_x86 *x)
{
    switch (x->opcode >> 3) {
    case 0x40 >> 3: /* inc and dec of i386 */
    case 0x48 >> 3:
        return lose(f, x->low);
    case 0x50 >> 3:
        return x->prefix == 0 && push(f);
    case 0x58 >> 3:
        return x->prefix == 0 && pop(f, x->low);
    case 0x70 >> 3:
    case 0x78 >> 3:
        return pass_branch(f, x->immediate);
    default:
        break;
    }
    if (x->opcode == 0x68 || x->opcode == 0x6a)
        return push(f);
    return x->has_modrm && lose(f, x->reg);
}

/* Opcodes 90 to bf. String instructions change RSI, RDI and RCX. */
static bool follow_middle(struct flow *f, const struct wndl_x86 *x)
{
    if (x->opcode >= 0xb0)
        return lose(f, x->opcode >= 0xb8 ? x->low : byte_register(x, x->low));
    if (x->opcode > 0x90 && x->opcode < 0x98)
        return lose(f, x->low) && lose(f, 0);
    if (x->opcode == 0x9c)
        return push(f);
    if (x->opcode == 0x9d)
        return skip_word(f);
    (void)lose(f, 0);
    (void)lose(f, 1);
    (void)lose(f, 2);
    return lose(f, 6) && lose(f, 7);
}

static bool follow_one(struct flow *f, const struct wndl_x86 *x, uint64_t from)
{
    if (x->opcode == 0x90)
        return true;
    if (x->opcode < 0x40)
        return follow_arithmetic(f, x);
    if (x->opcode < 0x80)
        return follow_stack(f, x);
    if (x->opcode < 0x90)
        return follow_eighties(f, x);
    if (x->opcode < 0xc0)
        return follow_middle(f, x);
    if (x->opcode < 0xd0)
        return follow_returns(f, x);
    if (x->opcode < 0xd4)
        return x->mod != 3 ||
               lose(f, x->opcode & 1 ? x->rm : byte_register(x, x->rm));
    if (x->opcode >= 0xd8 && x->opcode < 0xe0) /* of floating point */
        return true;
    return follow_last(f, x, from);
}

/* ---- instructions of two bytes and more */

/* Instructions that change the general register in ModRM.reg. */
static bool is_to_reg(const struct wndl_x86 *x)
{
    const uint8_t op = x->opcode;
    if (x->map == WNDL_X86_0F)
        return (op >= 0x40 && op < 0x50 && !x->is_vector) || op == 0xaf ||
               op == 0xb6 || op == 0xb7 || op >> 3 == 0xb8 >> 3 || op == 0x02 ||
               op == 0x03 || op == 0x2c || op == 0x2d || op == 0x50 ||
               op == 0xd7 || op == 0xc5 || op == 0xc0 || op == 0xc1;
    if (x->map == WNDL_X86_0F38)
        return op >= 0xf0 && op < 0xf8;
    return x->map == WNDL_X86_0F3A && op == 0xf0;
}

/* Instructions that change the general register in ModRM.rm. */
static bool is_to_rm(const struct wndl_x86 *x)
{
    const uint8_t op = x->opcode;
    if (x->mod != 3)
        return false;
    if (x->map == WNDL_X86_0F)
        return (op >= 0x90 && op < 0xa0 && !x->is_vector) || op == 0x7e ||
               op == 0xa4 || op == 0xa5 || op == 0xab || op == 0xac ||
               op == 0xad || op == 0xb0 || op == 0xb1 || op == 0xb3 ||
               op == 0xba || op == 0xbb || op == 0xc0 || op == 0xc1 ||
               op == 0xc7;
    return x->map == WNDL_X86_0F3A && op >= 0x14 && op <= 0x17;
}

/* ud2, and calls of the system, which may not return. */
static bool is_an_end(const struct wndl_x86 *x)
{
    return x->map == WNDL_X86_0F && !x->is_vector &&
           (x->opcode < 0x0d || x->opcode == 0x34 || x->opcode == 0x35);
}

static bool follow_more(struct flow *f, const struct wndl_x86 *x)
{
    if (x->map == WNDL_X86_0F && !x->is_vector && x->opcode >> 4 == 8)
        return pass_branch(f, x->immediate);
    if (is_an_end(x))
        return false;
    if (x->map == WNDL_X86_0F && x->opcode >> 3 == 0xc8 >> 3)
        return lose(f, x->low);
    if (x->map == WNDL_X86_0F && (x->opcode == 0xa2 || x->opcode == 0x31))
        return lose(f, 0) && lose(f, 1) && lose(f, 2) && lose(f, 3);
    if (x->is_vector && x->map == WNDL_X86_0F38 && x->opcode >= 0xf2 &&
        !lose(f, x->vvvv))
        return false;
    if (is_to_reg(x) && !lose(f, x->reg))
        return false;
    return !is_to_rm(x) || lose(f, x->rm);
}

/* ---- the flow */

/* The code at pc, which is read in pieces. */
static struct wndl_bytes code_at(struct flow *f)
{
    const uint64_t at = f->at.pc - f->window_at;
    if (at < f->window_size && f->window_size - at >= WNDL_X86_LONGEST)
        return (struct wndl_bytes){f->window + at, f->window_size - (size_t)at};
    f->window_at = f->at.pc;
    for (f->window_size = WINDOW; f->window_size != 0; f->window_size /= 2) {
        if (wndl_code_read(f->space, f->at.pc, f->window, f->window_size))
            break;
    }
    return (struct wndl_bytes){f->window, f->window_size};
}

static bool step(struct flow *f)
{
    struct wndl_x86 x;
    const uint64_t from = f->at.pc;
    const struct wndl_bytes code = code_at(f);
    if (!wndl_x86_decode(code, f->is_64, &x))
        return take_branch(f);
    f->at.pc += x.size;
    const bool follows = x.map == WNDL_X86_ONE && !x.is_vector
                             ? follow_one(f, &x, from)
                             : follow_more(f, &x);
    return follows || take_branch(f);
}

/* Whether the word at `at` leads to code that a call is before. */
static bool leads_back(const struct wndl_space *space, uint64_t at,
    uint64_t first_sp, uint64_t *ra)
{
    struct wndl_call call;
    return at >= first_sp && wndl_space_word(space, at, ra) &&
           wndl_call_before(space, *ra, &call);
}

/* Follows to the end, and then once more from the last branch. */
static bool follow_to_return(struct flow *f, uint64_t *ra)
{
    for (int i = 0; i < AT_MOST; i++) {
        if (!step(f))
            return false;
        if (!f->returns)
            continue;
        if (leads_back(f->space, f->at.sp, f->first_sp, ra))
            return true;
        f->is_chance = true;
        if (!take_branch(f))
            return false;
    }
    return false;
}

/* ---- what holds for any SP and FP */

/* The slot of FP by which the flow ends. False: it has none. */
static bool find_slot(const struct flow *f, uint64_t cfa, int8_t *slot)
{
    *slot = f->at.has_fp_of_entry ? WNDL_SLOT_NONE : WNDL_SLOT_LOST;
    if (f->at.has_fp_of_entry)
        return f->first_fp == 0 || f->at.values[FP] == f->first_fp;
    if (!is_known(f, FP))
        return true;
    const uint64_t bytes = cfa - f->at.fp_at;
    const uint64_t words = bytes / f->word;
    if (f->at.fp_origin != origin_of(f, SP) || bytes % f->word != 0 ||
        words < 2 || words > INT8_MAX)
        return false;
    *slot = (int8_t) - (int)words;
    return true;
}

/* The rule of a flow that has come to its return. */
static struct wndl_rule rule_of(const struct flow *f)
{
    const enum origin origin = origin_of(f, SP);
    const uint64_t from = origin == FROM_SP ? f->first_sp : f->first_fp;
    const uint64_t cfa = f->at.sp + f->word;
    const uint64_t words = (cfa - from) / f->word;
    struct wndl_rule rule = {
        .kind = origin == FROM_SP ? WNDL_ENTRY_FLOW_SP : WNDL_ENTRY_FLOW_FP,
        .cfa = (uint16_t)words};
    const bool holds = !f->is_chance && origin != FROM_OTHER &&
                       (cfa - from) % f->word == 0 && words > 0 &&
                       words <= UINT16_MAX && find_slot(f, cfa, &rule.fp_slot);
    return holds ? rule : (struct wndl_rule){.kind = WNDL_ENTRY_EMPTY};
}

/* A flow that does not know RBP may fail for that alone. */
static struct wndl_rule rule_of_failure(const struct flow *f)
{
    const bool holds = !f->is_chance && f->first_fp != 0;
    return (struct wndl_rule){
        .kind = holds ? WNDL_ENTRY_NO_FLOW : WNDL_ENTRY_EMPTY};
}

bool wndl_flow_repeat(const struct wndl_space *space,
    struct wndl_fp_state *state, struct wndl_rule rule, bool *pops_fp)
{
    const unsigned word = space->arch->word;
    const bool by_fp = rule.kind == WNDL_ENTRY_FLOW_FP;
    const uint64_t cfa = (by_fp ? state->fp : state->sp) + rule.cfa * word;
    uint64_t ra, fp = state->fp;
    if ((by_fp && fp == 0) || cfa < word ||
        !leads_back(space, cfa - word, state->sp, &ra))
        return false;
    *pops_fp = rule.fp_slot != WNDL_SLOT_NONE;
    if (rule.fp_slot == WNDL_SLOT_LOST) {
        fp = 0;
    } else if (*pops_fp) {
        const uint64_t at = cfa - (unsigned)-rule.fp_slot * word;
        if (at < state->sp || !wndl_space_word(space, at, &fp))
            return false;
    }
    *state = (struct wndl_fp_state){.pc = ra, .sp = cfa, .fp = fp};
    return true;
}

bool wndl_flow_learn(const struct wndl_space *space,
    struct wndl_fp_state *state, bool *pops_fp, struct wndl_rule *rule)
{
    struct flow f = {
        .space = space,
        .at = {.pc = state->pc,
            .sp = state->sp,
            .origins = {[SP] = FROM_SP, [FP] = FROM_FP},
            .has_fp_of_entry = true},
        .first_sp = state->sp,
        .first_fp = state->fp,
        .lowest = state->pc,
        .is_64 = space->arch->word == 8,
        .word = space->arch->word,
    };
    uint64_t ra;
    if (state->fp != 0) {
        f.at.values[FP] = state->fp;
        f.at.known = 1u << FP;
    }
    if (!follow_to_return(&f, &ra)) {
        *rule = rule_of_failure(&f);
        return false;
    }
    *rule = rule_of(&f);
    *pops_fp = !f.at.has_fp_of_entry;
    *state = (struct wndl_fp_state){.pc = ra,
        .sp = narrow(&f, f.at.sp + f.word),
        .fp = is_known(&f, FP) ? f.at.values[FP] : 0};
    return true;
}

bool wndl_flow_return(
    const struct wndl_space *space, struct wndl_fp_state *state, bool *pops_fp)
{
    struct wndl_rule rule;
    return wndl_flow_learn(space, state, pops_fp, &rule);
}
