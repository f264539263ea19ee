/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/insn.h"

#include "cfi_import/code/a64.h"

#include <Zydis/Zydis.h>

enum { BYTE_BITS = 8 };

/* Modes of the processors on which these programs run. */
#define DECODER(mode, width)                                                   \
    {                                                                          \
        .machine_mode = (mode), .stack_width = (width), .decoder_mode = {      \
            [ZYDIS_DECODER_MODE_MPX] = ZYAN_TRUE,                              \
            [ZYDIS_DECODER_MODE_CET] = ZYAN_TRUE,                              \
            [ZYDIS_DECODER_MODE_LZCNT] = ZYAN_TRUE,                            \
            [ZYDIS_DECODER_MODE_TZCNT] = ZYAN_TRUE,                            \
            [ZYDIS_DECODER_MODE_CLDEMOTE] = ZYAN_TRUE,                         \
        }                                                                      \
    }

static const ZydisDecoder decoders[] = {
    [WNDL_INSN_64] = DECODER(ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64),
    [WNDL_INSN_32] =
        DECODER(ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32),
};

/* The bits of an address, and of the words that push and pop move. */
static const uint8_t word_bits[] = {[WNDL_INSN_64] = 64, [WNDL_INSN_32] = 32};

struct decoded {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t svma;
    uint8_t word; /* bits */
};

/* ---- operands */

/* The general register that has `reg` in it. */
static uint8_t number_of(ZydisRegister reg)
{
    if (reg < ZYDIS_REGISTER_AL || reg > ZYDIS_REGISTER_R15)
        return WNDL_INSN_NO_REG;
    const ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15
               ? WNDL_INSN_NO_REG
               : (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static bool is_register(const ZydisDecodedOperand *op, unsigned bits)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == bits &&
           number_of(op->reg.value) != WNDL_INSN_NO_REG;
}

static bool is_memory(const ZydisDecodedOperand *op, unsigned bits)
{
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->size == bits;
}

/* An instruction's constant is as wide as its operand. */
static int64_t constant_of(
    const struct decoded *d, const ZydisDecodedOperand *op)
{
    return d->word == 32 ? (int32_t)op->imm.value.u : op->imm.value.s;
}

static bool is_constant(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static void read_memory(const struct decoded *d, const ZydisDecodedOperand *op,
    struct wndl_insn_mem *mem)
{
    mem->base = number_of(op->mem.base);
    mem->index = number_of(op->mem.index);
    mem->scale = op->mem.scale;
    mem->offset = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
    mem->in_segment = op->mem.segment == ZYDIS_REGISTER_FS ||
                      op->mem.segment == ZYDIS_REGISTER_GS ||
                      d->i.address_width != d->word;
    mem->fixed = op->mem.base == ZYDIS_REGISTER_NONE;
    if (op->mem.base == ZYDIS_REGISTER_RIP) {
        mem->fixed = true;
        mem->offset += (int64_t)(d->svma + d->i.length);
    }
    if (mem->fixed && d->word == 32)
        mem->offset = (uint32_t)mem->offset;
    if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        mem->in_segment = true;
}

/* Registers and memory that any instruction writes, by its operands. */
static void read_effects(const struct decoded *d, struct wndl_insn *insn)
{
    for (unsigned i = 0; i < d->i.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->ops[i];
        const bool writes = (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && writes) {
            const uint8_t reg = number_of(op->reg.value);
            if (reg != WNDL_INSN_NO_REG)
                insn->writes |= 1u << reg;
        }
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
            (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && !writes))
            continue;
        read_memory(d, op, &insn->mem);
        if (writes && op->mem.type == ZYDIS_MEMOP_TYPE_MEM)
            insn->stores = op->size == 0 ? UINT16_MAX : op->size / BYTE_BITS;
    }
}

/* ---- instructions that are followed */

static void take_two(
    struct wndl_insn *insn, enum wndl_insn_op op, const ZydisDecodedOperand *to)
{
    insn->op = (uint8_t)op;
    insn->reg = number_of(to->reg.value);
    insn->writes = 1u << insn->reg;
}

static void read_move(const struct decoded *d, struct wndl_insn *insn)
{
    const ZydisDecodedOperand *to = &d->ops[0], *from = &d->ops[1];
    insn->width = (uint8_t)to->size;
    if (is_register(to, d->word) && is_register(from, d->word)) {
        take_two(insn, WNDL_INSN_MOVE, to);
        insn->from = number_of(from->reg.value);
    } else if (is_register(to, 32) && is_register(from, from->size) &&
               (from->size >= 16 || from->reg.value < ZYDIS_REGISTER_AH ||
                   from->reg.value > ZYDIS_REGISTER_BH)) {
        take_two(insn, WNDL_INSN_OTHER, to);
        insn->from = number_of(from->reg.value);
    } else if (is_register(to, d->word) && is_memory(from, d->word)) {
        take_two(insn, WNDL_INSN_LOAD, to);
    } else if (is_memory(to, d->word) && is_register(from, d->word)) {
        insn->op = WNDL_INSN_STORE;
        insn->from = number_of(from->reg.value);
    }
}

static void read_sum(const struct decoded *d, struct wndl_insn *insn, int sign)
{
    const ZydisDecodedOperand *to = &d->ops[0], *by = &d->ops[1];
    if (!is_register(to, d->word))
        return;
    if (is_constant(by)) {
        take_two(insn, WNDL_INSN_ADD, to);
        insn->value = sign * constant_of(d, by);
    } else if (is_register(by, d->word) && sign > 0) {
        take_two(insn, WNDL_INSN_ADD_REG, to);
        insn->from = number_of(by->reg.value);
    }
}

static void read_and(const struct decoded *d, struct wndl_insn *insn)
{
    const ZydisDecodedOperand *to = &d->ops[0], *by = &d->ops[1];
    insn->width = (uint8_t)to->size;
    if (!is_constant(by))
        return;
    insn->value = constant_of(d, by);
    const uint64_t cleared = ~(uint64_t)insn->value;
    if (is_register(to, d->word) && insn->value < 0 &&
        (cleared & (cleared + 1)) == 0)
        take_two(insn, WNDL_INSN_ALIGN, to);
}

static void read_push(const struct decoded *d, struct wndl_insn *insn)
{
    insn->op = WNDL_INSN_PUSH;
    insn->writes = insn->stores = 0;
    insn->value = d->i.operand_width / BYTE_BITS;
    if (is_register(&d->ops[0], d->word))
        insn->from = number_of(d->ops[0].reg.value);
}

static void read_pop(const struct decoded *d, struct wndl_insn *insn)
{
    insn->op = WNDL_INSN_POP;
    insn->value = d->i.operand_width / BYTE_BITS;
    if (is_register(&d->ops[0], d->word))
        insn->reg = number_of(d->ops[0].reg.value);
    insn->writes &= ~(1u << WNDL_INSN_RSP);
    if (insn->reg == WNDL_INSN_RSP)
        insn->writes |= 1u << WNDL_INSN_RSP;
}

static void read_flags(
    const struct decoded *d, struct wndl_insn *insn, bool pushes)
{
    insn->op = pushes ? WNDL_INSN_PUSH : WNDL_INSN_POP;
    insn->writes = insn->stores = 0;
    insn->value = d->i.operand_width / BYTE_BITS;
}

static void read_exchange(const struct decoded *d, struct wndl_insn *insn)
{
    const ZydisDecodedOperand *a = &d->ops[0], *b = &d->ops[1];
    if (!is_register(a, d->word) || !is_register(b, d->word))
        return;
    insn->op = WNDL_INSN_EXCHANGE;
    insn->reg = number_of(a->reg.value);
    insn->from = number_of(b->reg.value);
}

static void read_lea(const struct decoded *d, struct wndl_insn *insn)
{
    if (is_register(&d->ops[0], d->word))
        take_two(insn, WNDL_INSN_ADDRESS, &d->ops[0]);
    insn->stores = 0;
}

static void read_compare(const struct decoded *d, struct wndl_insn *insn)
{
    const ZydisDecodedOperand *a = &d->ops[0], *b = &d->ops[1];
    if (is_register(a, d->word) && is_register(b, d->word)) {
        insn->op = WNDL_INSN_COMPARE_REG;
        insn->reg = number_of(a->reg.value);
        insn->from = number_of(b->reg.value);
        return;
    }
    if (a->type != ZYDIS_OPERAND_TYPE_REGISTER || !is_constant(b))
        return;
    insn->op = WNDL_INSN_COMPARE;
    insn->reg = number_of(a->reg.value);
    insn->width = (uint8_t)a->size;
    insn->value = constant_of(d, b);
}

static void read_enter(const struct decoded *d, struct wndl_insn *insn)
{
    if (d->ops[1].imm.value.u != 0)
        return;
    insn->op = WNDL_INSN_ENTER;
    insn->value = (int64_t)d->ops[0].imm.value.u;
}

static bool read_usual(const struct decoded *d, struct wndl_insn *insn)
{
    switch (d->i.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        read_move(d, insn);
        return true;
    case ZYDIS_MNEMONIC_MOVZX:
        read_move(d, insn);
        return true;
    case ZYDIS_MNEMONIC_MOVSXD:
        if (is_register(&d->ops[0], d->word) && is_memory(&d->ops[1], 32))
            take_two(insn, WNDL_INSN_LOAD_SIGNED, &d->ops[0]);
        return true;
    case ZYDIS_MNEMONIC_LEA:
        read_lea(d, insn);
        return true;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        read_sum(d, insn, d->i.mnemonic == ZYDIS_MNEMONIC_ADD ? 1 : -1);
        return true;
    case ZYDIS_MNEMONIC_AND:
        read_and(d, insn);
        return true;
    case ZYDIS_MNEMONIC_CMP:
        read_compare(d, insn);
        return true;
    case ZYDIS_MNEMONIC_XCHG:
        read_exchange(d, insn);
        return true;
    default:
        return false;
    }
}

static bool read_stack(const struct decoded *d, struct wndl_insn *insn)
{
    switch (d->i.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
        read_push(d, insn);
        return true;
    case ZYDIS_MNEMONIC_POP:
        read_pop(d, insn);
        return true;
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ:
        read_flags(d, insn, true);
        return true;
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ:
        read_flags(d, insn, false);
        return true;
    case ZYDIS_MNEMONIC_ENTER:
        read_enter(d, insn);
        return true;
    case ZYDIS_MNEMONIC_LEAVE:
        insn->op = WNDL_INSN_LEAVE;
        return true;
    default:
        return false;
    }
}

/* ---- where it leads */

static bool has_target(const struct decoded *d, struct wndl_insn *insn)
{
    if (!is_constant(&d->ops[0]) || !d->ops[0].imm.is_relative)
        return false;
    insn->target = d->svma + d->i.length + (uint64_t)d->ops[0].imm.value.s;
    if (d->word == 32)
        insn->target = (uint32_t)insn->target;
    return true;
}

static void read_jump(const struct decoded *d, struct wndl_insn *insn)
{
    insn->op = WNDL_INSN_JUMP;
    if (has_target(d, insn))
        return;
    insn->op = WNDL_INSN_JUMP_OTHER;
    if (is_register(&d->ops[0], d->word))
        insn->from = number_of(d->ops[0].reg.value);
}

static void read_call(const struct decoded *d, struct wndl_insn *insn)
{
    insn->op = has_target(d, insn) ? WNDL_INSN_CALL : WNDL_INSN_CALL_OTHER;
    insn->writes = insn->stores = 0;
}

static void read_return(const struct decoded *d, struct wndl_insn *insn)
{
    insn->op = WNDL_INSN_RETURN;
    insn->writes = insn->stores = 0;
    if (d->i.operand_count_visible == 1 && is_constant(&d->ops[0]))
        insn->value = (int64_t)d->ops[0].imm.value.u;
}

static void read_branch(const struct decoded *d, struct wndl_insn *insn)
{
    if (!has_target(d, insn))
        return;
    insn->op = WNDL_INSN_BRANCH;
    insn->above = d->i.mnemonic == ZYDIS_MNEMONIC_JNBE;
    insn->above_same = d->i.mnemonic == ZYDIS_MNEMONIC_JNB;
    insn->unequal = d->i.mnemonic == ZYDIS_MNEMONIC_JNZ;
}

static bool stops(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_HLT || mnemonic == ZYDIS_MNEMONIC_UD0 ||
           mnemonic == ZYDIS_MNEMONIC_UD1 || mnemonic == ZYDIS_MNEMONIC_UD2 ||
           mnemonic == ZYDIS_MNEMONIC_INT3 ||
           mnemonic == ZYDIS_MNEMONIC_IRETQ ||
           mnemonic == ZYDIS_MNEMONIC_IRETD ||
           mnemonic == ZYDIS_MNEMONIC_SYSRET;
}

static bool is_nop(const struct decoded *d)
{
    return d->i.mnemonic == ZYDIS_MNEMONIC_NOP ||
           d->i.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
           d->i.mnemonic == ZYDIS_MNEMONIC_ENDBR32;
}

/* Between functions, as bytes: what is filled with, or would trap. */
static bool is_padding(const ZydisDecodedInstruction *i, const uint8_t *bytes)
{
    enum { TRAP = 0xcc, HALT = 0xf4 };
    return i->mnemonic == ZYDIS_MNEMONIC_NOP ||
           (i->length == 1 && (bytes[0] == TRAP || bytes[0] == HALT)) ||
           (i->length == 2 && bytes[0] == 0 && bytes[1] == 0);
}

/* xor of a register with itself, of 4 bytes or 8. */
static uint8_t zeroed(const struct decoded *d)
{
    const ZydisDecodedOperand *to = &d->ops[0], *by = &d->ops[1];
    const bool is_zero = d->i.mnemonic == ZYDIS_MNEMONIC_XOR &&
                         to->size >= 32 && is_register(to, to->size) &&
                         is_register(by, to->size) &&
                         to->reg.value == by->reg.value;
    return is_zero ? number_of(to->reg.value) : WNDL_INSN_NO_REG;
}

/*
 * By an interrupt, or as libc for i386 does: by the vDSO, whose address is in
 * the thread's block (SYSINFO_OFFSET of glibc).
 */
static bool is_syscall(const struct decoded *d)
{
    enum { INTERRUPT = 0x80, SYSINFO = 0x10 };
    const ZydisDecodedOperand *op = &d->ops[0];
    if (d->word != 32)
        return d->i.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
    if (d->i.mnemonic == ZYDIS_MNEMONIC_INT)
        return op->imm.value.u == INTERRUPT;
    return d->i.mnemonic == ZYDIS_MNEMONIC_CALL &&
           op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           op->mem.segment == ZYDIS_REGISTER_GS &&
           op->mem.disp.value == SYSINFO;
}

static void read_way(const struct decoded *d, struct wndl_insn *insn)
{
    switch (d->i.meta.category) {
    case ZYDIS_CATEGORY_CALL:
        read_call(d, insn);
        return;
    case ZYDIS_CATEGORY_RET:
        read_return(d, insn);
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        read_jump(d, insn);
        return;
    case ZYDIS_CATEGORY_COND_BR:
        read_branch(d, insn);
        return;
    default:
        break;
    }
    if (stops(d->i.mnemonic))
        insn->op = WNDL_INSN_STOP;
    else if (is_nop(d))
        *insn = (struct wndl_insn){.size = insn->size,
            .op = WNDL_INSN_NOP,
            .reg = WNDL_INSN_NO_REG,
            .from = WNDL_INSN_NO_REG,
            .second = WNDL_INSN_NO_REG,
            .zeroes = WNDL_INSN_NO_REG};
}

static bool decode_x86(enum wndl_insn_mode mode, struct wndl_bytes code,
    uint64_t svma, struct wndl_insn *insn)
{
    const ZydisDecoder *decoder = &decoders[mode];
    ZydisDecoderContext context;
    struct decoded d; /* Zydis writes all that is read: 1 KB */
    d.svma = svma;
    d.word = word_bits[mode];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
            decoder, &context, code.data, code.size, &d.i)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(
            decoder, &context, &d.i, d.ops, d.i.operand_count)))
        return false;
    *insn = (struct wndl_insn){.size = d.i.length,
        .reg = WNDL_INSN_NO_REG,
        .from = WNDL_INSN_NO_REG,
        .second = WNDL_INSN_NO_REG,
        .is_syscall = is_syscall(&d),
        .zeroes = zeroed(&d),
        .mem = {.base = WNDL_INSN_NO_REG, .index = WNDL_INSN_NO_REG}};
    read_effects(&d, insn);
    if (!read_usual(&d, insn) && !read_stack(&d, insn))
        read_way(&d, insn);
    insn->is_padding = is_padding(&d.i, code.data);
    return true;
}

bool wndl_insn_decode(enum wndl_insn_mode mode, struct wndl_bytes code,
    uint64_t svma, struct wndl_insn *insn)
{
    return mode == WNDL_INSN_A64 ? wndl_insn_a64_decode(code, svma, insn)
                                 : decode_x86(mode, code, svma, insn);
}

/* ---- at a glance */

/* The `rm` of ModRM by which a displacement alone is meant: with RIP on x86-64,
 * as an address on i386. */
enum { ALONE_MOD = 0, ALONE_RM = 5, BASED_MOD = 2 };

static bool is_lea(const ZydisDecodedInstruction *i, unsigned mod)
{
    return i->mnemonic == ZYDIS_MNEMONIC_LEA && i->raw.modrm.mod == mod;
}

/* A lea of RIP. */
static bool take_near_address(
    const ZydisDecodedInstruction *i, struct wndl_insn_glance *glance)
{
    if (!is_lea(i, ALONE_MOD) || i->raw.modrm.rm != ALONE_RM)
        return false;
    glance->target += (uint64_t)i->raw.disp.value;
    return true;
}

/* i386: a constant of 4 bytes, or what a lea adds to a register, which may be
 * that with the address of the global offset table. */
static bool take_far_address(
    const ZydisDecodedInstruction *i, struct wndl_insn_glance *glance)
{
    glance->from_base = is_lea(i, BASED_MOD);
    if (glance->from_base)
        glance->target = (uint32_t)i->raw.disp.value;
    glance->is_constant = !glance->from_base && i->raw.imm[0].size == 32 &&
                          !i->raw.imm[0].is_relative;
    if (glance->is_constant)
        glance->target = (uint32_t)i->raw.imm[0].value.u;
    return glance->from_base || glance->is_constant;
}

static uint8_t way_of(const ZydisDecodedInstruction *i)
{
    if (!i->raw.imm[0].is_relative)
        return WNDL_INSN_OTHER;
    return i->meta.category == ZYDIS_CATEGORY_CALL        ? WNDL_INSN_CALL
           : i->meta.category == ZYDIS_CATEGORY_UNCOND_BR ? WNDL_INSN_JUMP
           : i->meta.category == ZYDIS_CATEGORY_COND_BR   ? WNDL_INSN_BRANCH
                                                          : WNDL_INSN_OTHER;
}

/*
 * Most instructions of a codec are of vectors. Rows of 16 opcodes, with a bit
 * for each that has a vector, a mask or flags as its only result, with any
 * prefix that makes an instruction of it (SDM 2D, tables ).
 */
static const uint16_t plain_0f[16] = {
    [0x1] = 0x0075, /* loads: 10 12 14 15 16 */
    [0x2] = 0xc500, /* 28 2a 2e 2f */
    [0x5] = 0xfffe, /* not 50, which writes a general register */
    [0x6] = 0xffff,
    [0x7] = 0x30ff, /* not 78 to 7b, 7e and the store 7f */
    [0xc] = 0x0054, /* c2 c4 c6 */
    [0xd] = 0xff3f, /* not d6, a store, and d7 */
    [0xe] = 0xff7f, /* not e7, a store */
    [0xf] = 0x7f7f, /* not f7, a store, and ff */
};
static const uint16_t plain_0f38[16] = {
    [0x0] = 0xffff,
    [0x1] = 0xffff,
    [0x2] = 0x3fff, /* not 2e and 2f, stores */
    [0x3] = 0xffff,
    [0x4] = 0xf0ff, /* not 49 to 4b, of tiles */
    [0x5] = 0x0f0f,
    [0x6] = 0x0070,
    [0x7] = 0xffef,
    [0x8] = 0x3308, /* not 8a 8b 8e, stores */
    [0x9] = 0xffc0, /* not 90 to 93, which gather */
    [0xa] = 0xffc0, /* not a0 to a3, which scatter */
    [0xb] = 0xfff0,
};
static const uint16_t plain_0f3a[16] = {
    [0x0] = 0xff7f,
    [0x1] = 0xc500, /* not 14 to 17 19 1b 1d, which may store */
    [0x2] = 0x00ef,
    [0x3] = 0xc500, /* not 39 and 3b */
    [0x4] = 0x1c5f,
    [0x5] = 0x00f3,
    [0x7] = 0x000f,
};

static bool is_plain(const ZydisDecodedInstruction *i)
{
    enum { F3 = 2 }; /* as EVEX has it: 10 to 35 narrow, and may store */
    const bool is_evex = i->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    const uint16_t *rows = i->opcode_map == ZYDIS_OPCODE_MAP_0F     ? plain_0f
                           : i->opcode_map == ZYDIS_OPCODE_MAP_0F3A ? plain_0f3a
                           : i->opcode_map == ZYDIS_OPCODE_MAP_0F38 &&
                                   !(is_evex && i->raw.evex.pp == F3)
                               ? plain_0f38
                               : NULL;
    if (rows == NULL ||
        (!is_evex && i->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX &&
            i->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY))
        return false;
    return (rows[i->opcode >> 4] >> (i->opcode & 15) & 1) != 0;
}

static bool glance_x86(enum wndl_insn_mode mode, struct wndl_bytes code,
    uint64_t svma, struct wndl_insn_glance *glance)
{
    ZydisDecodedInstruction i;
    ZydisDecoderContext context;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
            &decoders[mode], &context, code.data, code.size, &i)))
        return false;
    *glance = (struct wndl_insn_glance){
        .size = i.length,
        .op = WNDL_INSN_ADDRESS,
        .is_padding = is_padding(&i, code.data),
        .is_plain = is_plain(&i),
        .target = svma + i.length,
    };
    if (glance->is_plain)
        glance->op = WNDL_INSN_OTHER;
    else if (mode == WNDL_INSN_64 ? take_near_address(&i, glance)
                                  : take_far_address(&i, glance))
        return true;
    else
        glance->op = way_of(&i);
    glance->target += (uint64_t)i.raw.imm[0].value.s;
    if (mode == WNDL_INSN_32)
        glance->target = (uint32_t)glance->target;
    return true;
}

bool wndl_insn_glance(enum wndl_insn_mode mode, struct wndl_bytes code,
    uint64_t svma, struct wndl_insn_glance *glance)
{
    return mode == WNDL_INSN_A64 ? wndl_insn_a64_glance(code, svma, glance)
                                 : glance_x86(mode, code, svma, glance);
}

unsigned wndl_insn_padding(enum wndl_insn_mode mode, struct wndl_bytes code)
{
    enum { ZERO = 0x00, TRAP = 0xcc, HALT = 0xf4 };
    ZydisDecodedInstruction i;
    ZydisDecoderContext context;
    if (code.size == 0)
        return 0;
    if (mode == WNDL_INSN_A64)
        return wndl_insn_a64_padding(code);
    const uint8_t first = code.data[0];
    if (first == ZERO || first == TRAP || first == HALT)
        return 1;
    if (first != 0x90 && first != 0x66 && first != 0x0f && first != 0x2e)
        return 0;
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
               &decoders[mode], &context, code.data, code.size, &i)) &&
                   i.mnemonic == ZYDIS_MNEMONIC_NOP
               ? i.length
               : 0;
}
