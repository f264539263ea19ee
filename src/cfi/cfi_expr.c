/* SPDX-License-Identifier: MIT */
#include "cfi/cfi_expr.h"

#include "cfi/encoded.h"

/*
 * DWARF 5, 7.7.1: the operations that 6.4.2 allows in call frame information.
 */
enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

enum { STACK = 64, OPERATIONS = 1024 };

/*
 * An evaluation. Values have the width of an address (DWARF 5, 2.5.1, the
 * generic type): those of a 4-byte section are kept zero-extended. As in
 * cfi_run, the first failure sticks, and values after it are harmless.
 */
struct evaluation {
    struct wndl_expr_view view;
    struct wndl_cursor c;
    enum wndl_status status;
    unsigned depth;
    uint64_t stack[STACK];
};

static void fail(struct evaluation *e, enum wndl_status status)
{
    if (e->status == WNDL_OK)
        e->status = status;
}

static void push(struct evaluation *e, uint64_t value)
{
    if (e->depth == STACK)
        fail(e, WNDL_LIMIT);
    else
        e->stack[e->depth++] = wndl_cfi_address(e->view.frame, value);
}

static uint64_t pop(struct evaluation *e)
{
    if (e->depth == 0) {
        fail(e, WNDL_MALFORMED);
        return 0;
    }
    return e->stack[--e->depth];
}

/* The value `below` entries under the top. */
static uint64_t peek(struct evaluation *e, unsigned below)
{
    if (below >= e->depth) {
        fail(e, WNDL_MALFORMED);
        return 0;
    }
    return e->stack[e->depth - 1 - below];
}

static int64_t as_signed(const struct evaluation *e, uint64_t value)
{
    return e->view.frame->address_size == 4 ? (int32_t)value : (int64_t)value;
}

static bool read_memory(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_memory *memory, uint64_t address, unsigned size,
    uint64_t *value)
{
    uint8_t raw[8];
    if (!memory->read(memory->context, address, raw, size))
        return false;
    struct wndl_bytes bytes = {raw, size};
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, frame->big_endian);
    *value = wndl_cursor_uint(&c, size);
    return true;
}

static void deref(struct evaluation *e, unsigned size)
{
    uint64_t value = 0;
    uint64_t address = pop(e);
    if (size == 0 || size > e->view.frame->address_size)
        fail(e, WNDL_MALFORMED);
    else if (e->status == WNDL_OK &&
             !read_memory(e->view.frame, e->view.memory, address, size, &value))
        fail(e, WNDL_IO);
    push(e, value);
}

static void push_register(struct evaluation *e, uint64_t reg)
{
    uint64_t offset = (uint64_t)wndl_cursor_sleb(&e->c);
    bool known = reg < WNDL_CFI_REGS && (e->view.regs->valid >> reg & 1) != 0;
    if (!known)
        fail(e, WNDL_IO);
    push(e, known ? e->view.regs->regs[reg] + offset : 0);
}

/* Backwards jumps are allowed: the count of operations bounds them. */
static void jump(struct evaluation *e, bool taken)
{
    int16_t by = (int16_t)wndl_cursor_u16(&e->c);
    if (!taken || e->c.failed)
        return;
    int64_t to = (int64_t)wndl_cursor_offset(&e->c) + by;
    if (to < 0 || to > e->c.end - e->c.start)
        fail(e, WNDL_MALFORMED);
    else
        e->c.next = e->c.start + to;
}

static void push_const(struct evaluation *e, uint8_t op)
{
    struct wndl_cursor *c = &e->c;
    switch (op) {
    case OP_ADDR:
        push(e, wndl_cfi_uaddr(e->view.frame, c));
        break;
    case OP_CONST1U:
        push(e, wndl_cursor_u8(c));
        break;
    case OP_CONST1S:
        push(e, (uint64_t)(int8_t)wndl_cursor_u8(c));
        break;
    case OP_CONST2U:
        push(e, wndl_cursor_u16(c));
        break;
    case OP_CONST2S:
        push(e, (uint64_t)(int16_t)wndl_cursor_u16(c));
        break;
    case OP_CONST4U:
        push(e, wndl_cursor_u32(c));
        break;
    case OP_CONST4S:
        push(e, (uint64_t)(int32_t)wndl_cursor_u32(c));
        break;
    case OP_CONST8U:
    case OP_CONST8S:
        push(e, wndl_cursor_u64(c));
        break;
    case OP_CONSTU:
        push(e, wndl_cursor_uleb(c));
        break;
    default:
        push(e, (uint64_t)wndl_cursor_sleb(c));
        break;
    }
}

static void run_stack(struct evaluation *e, uint8_t op)
{
    uint64_t top = 0;
    uint64_t second = 0;
    uint64_t third = 0;
    switch (op) {
    case OP_DUP:
        push(e, peek(e, 0));
        break;
    case OP_DROP:
        (void)pop(e);
        break;
    case OP_OVER:
        push(e, peek(e, 1));
        break;
    case OP_PICK:
        push(e, peek(e, wndl_cursor_u8(&e->c)));
        break;
    case OP_SWAP:
        top = pop(e);
        second = pop(e);
        push(e, top);
        push(e, second);
        break;
    default: /* DW_OP_rot: the top moves below the two under it */
        top = pop(e);
        second = pop(e);
        third = pop(e);
        push(e, top);
        push(e, third);
        push(e, second);
        break;
    }
}

static void run_unary(struct evaluation *e, uint8_t op)
{
    uint64_t value = pop(e);
    switch (op) {
    case OP_ABS:
        push(e, as_signed(e, value) < 0 ? -value : value);
        break;
    case OP_NEG:
        push(e, -value);
        break;
    case OP_NOT:
        push(e, ~value);
        break;
    default:
        push(e, value + wndl_cursor_uleb(&e->c));
        break;
    }
}

/* Divides signed values; the one quotient that overflows wraps. */
static uint64_t quotient(struct evaluation *e, uint64_t a, uint64_t b)
{
    if (b == 0) {
        fail(e, WNDL_MALFORMED);
        return 0;
    }
    int64_t divisor = as_signed(e, b);
    return divisor == -1 ? -a : (uint64_t)(as_signed(e, a) / divisor);
}

static uint64_t remainder_of(struct evaluation *e, uint64_t a, uint64_t b)
{
    if (b != 0)
        return a % b;
    fail(e, WNDL_MALFORMED);
    return 0;
}

/* A shift by the width or more leaves only copies of the sign. */
static uint64_t shifted(
    const struct evaluation *e, uint8_t op, uint64_t a, uint64_t by)
{
    bool all = by >= e->view.frame->address_size * 8u;
    if (op == OP_SHRA)
        return (uint64_t)(as_signed(e, a) >> (all ? 63 : by));
    if (all)
        return 0;
    return op == OP_SHL ? a << by : a >> by;
}

static uint64_t arithmetic(
    struct evaluation *e, uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_AND:
        return a & b;
    case OP_DIV:
        return quotient(e, a, b);
    case OP_MINUS:
        return a - b;
    case OP_MOD:
        return remainder_of(e, a, b);
    case OP_MUL:
        return a * b;
    case OP_OR:
        return a | b;
    case OP_PLUS:
        return a + b;
    case OP_XOR:
        return a ^ b;
    default:
        return shifted(e, op, a, b);
    }
}

/* Compares signed values (DWARF 5, 2.5.1.5). */
static bool compared(uint8_t op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_EQ:
        return a == b;
    case OP_GE:
        return a >= b;
    case OP_GT:
        return a > b;
    case OP_LE:
        return a <= b;
    case OP_LT:
        return a < b;
    default:
        return a != b;
    }
}

static void run_binary(struct evaluation *e, uint8_t op)
{
    uint64_t b = pop(e);
    uint64_t a = pop(e);
    if (op >= OP_EQ && op <= OP_NE)
        push(e, compared(op, as_signed(e, a), as_signed(e, b)));
    else
        push(e, arithmetic(e, op, a, b));
}

enum group { UNKNOWN, CONST, STACKED, UNARY, BINARY };

/* The groups of operations below DW_OP_lit0 that run alike. */
static const uint8_t group_of[OP_LIT0] = {
    [OP_ADDR] = CONST,
    [OP_CONST1U... OP_CONSTS] = CONST,
    [OP_DUP... OP_ROT] = STACKED,
    [OP_ABS] = UNARY,
    [OP_AND... OP_MUL] = BINARY,
    [OP_NEG] = UNARY,
    [OP_NOT] = UNARY,
    [OP_OR] = BINARY,
    [OP_PLUS] = BINARY,
    [OP_PLUS_UCONST] = UNARY,
    [OP_SHL... OP_XOR] = BINARY,
    [OP_EQ... OP_NE] = BINARY,
};

/* Runs an operation without a group. */
static void run_other(struct evaluation *e, uint8_t op)
{
    switch (op) {
    case OP_DEREF:
        deref(e, e->view.frame->address_size);
        break;
    case OP_DEREF_SIZE:
        deref(e, wndl_cursor_u8(&e->c));
        break;
    case OP_BRA:
        jump(e, pop(e) != 0);
        break;
    case OP_SKIP:
        jump(e, true);
        break;
    case OP_BREGX:
        push_register(e, wndl_cursor_uleb(&e->c));
        break;
    case OP_NOP:
        break;
    default:
        fail(e, WNDL_UNSUPPORTED);
    }
}

static void run_one(struct evaluation *e, uint8_t op)
{
    if (op >= OP_BREG0 && op <= OP_BREG31) {
        push_register(e, op - OP_BREG0);
        return;
    }
    if (op >= OP_LIT0 && op <= OP_LIT31) {
        push(e, op - OP_LIT0);
        return;
    }
    switch (op < OP_LIT0 ? (enum group)group_of[op] : UNKNOWN) {
    case CONST:
        push_const(e, op);
        break;
    case STACKED:
        run_stack(e, op);
        break;
    case UNARY:
        run_unary(e, op);
        break;
    case BINARY:
        run_binary(e, op);
        break;
    case UNKNOWN:
        run_other(e, op);
    }
}

enum wndl_status wndl_expr_eval(struct wndl_bytes expr,
    const struct wndl_expr_view *view, const uint64_t *initial,
    uint64_t *result)
{
    struct evaluation e;
    e.view = *view;
    e.c = wndl_cursor_at(expr, 0, view->frame->big_endian);
    e.status = WNDL_OK;
    e.depth = 0;
    if (initial != NULL)
        push(&e, *initial);
    for (unsigned run = 0; e.c.next != e.c.end; run++) {
        if (run == OPERATIONS)
            return WNDL_LIMIT;
        run_one(&e, wndl_cursor_u8(&e.c));
        if (e.c.failed)
            return WNDL_MALFORMED;
        if (e.status != WNDL_OK)
            return e.status;
    }
    *result = pop(&e);
    return e.status;
}

/* The inputs of a step of one register. */
struct step {
    struct wndl_expr_view callee;
    uint64_t cfa;
};

static enum wndl_status eval_rule(const struct step *s,
    const struct wndl_cfi_rule *rule, const uint64_t *initial, uint64_t *value)
{
    struct wndl_bytes expr = {rule->expr, rule->expr_size};
    return wndl_expr_eval(expr, &s->callee, initial, value);
}

static enum wndl_status find_cfa(
    struct step *s, const struct wndl_cfi_rule *rule)
{
    if (rule->kind == WNDL_RULE_VAL_EXPR)
        return eval_rule(s, rule, NULL, &s->cfa);
    if (rule->kind != WNDL_RULE_REGISTER || rule->reg >= WNDL_CFI_REGS)
        return WNDL_MALFORMED;
    if ((s->callee.regs->valid >> rule->reg & 1) == 0)
        return WNDL_IO;
    s->cfa = wndl_cfi_address(s->callee.frame,
        s->callee.regs->regs[rule->reg] + (uint64_t)rule->offset);
    return WNDL_OK;
}

static enum wndl_status load(
    const struct step *s, uint64_t address, uint64_t *value)
{
    address = wndl_cfi_address(s->callee.frame, address);
    return read_memory(s->callee.frame, s->callee.memory, address,
               s->callee.frame->address_size, value)
               ? WNDL_OK
               : WNDL_IO;
}

/* NOT_FOUND if the rule leaves the register without a value. */
static enum wndl_status recover(const struct step *s,
    const struct wndl_cfi_rule *rule, unsigned reg, uint64_t *value)
{
    uint64_t address = 0;
    enum wndl_status status = WNDL_OK;
    switch ((enum wndl_cfi_rule_kind)rule->kind) {
    case WNDL_RULE_OFFSET:
        return load(s, s->cfa + (uint64_t)rule->offset, value);
    case WNDL_RULE_VAL_OFFSET:
        *value =
            wndl_cfi_address(s->callee.frame, s->cfa + (uint64_t)rule->offset);
        return WNDL_OK;
    case WNDL_RULE_EXPR:
        status = eval_rule(s, rule, &s->cfa, &address);
        return status == WNDL_OK ? load(s, address, value) : status;
    case WNDL_RULE_VAL_EXPR:
        return eval_rule(s, rule, &s->cfa, value);
    case WNDL_RULE_REGISTER:
        reg = rule->reg;
        break;
    case WNDL_RULE_UNSET:
    case WNDL_RULE_SAME:
        break;
    case WNDL_RULE_UNDEFINED:
        return WNDL_NOT_FOUND;
    }
    if (reg >= WNDL_CFI_REGS || (s->callee.regs->valid >> reg & 1) == 0)
        return WNDL_NOT_FOUND;
    *value = s->callee.regs->regs[reg];
    return WNDL_OK;
}

/* AArch64's registers, and those of 32-bit Arm. */
enum { X18 = 18, X30 = 30, A64_SP = 31, A64_PC = 32 };
enum { R3 = 3, R12 = 12, ARM_SP = 13, ARM_LR = 14, ARM_PC = 15 };

/* The DWARF number of the stack pointer; for i386 the one of .eh_frame. */
static unsigned stack_pointer(const struct wndl_cfi_section *frame)
{
    if (frame->family == WNDL_CFI_AARCH64)
        return A64_SP;
    if (frame->family == WNDL_CFI_ARM)
        return ARM_SP;
    return frame->address_size == 4 ? 4 : 7;
}

/* The return address becomes PC; registers that calls change become invalid. */
static void finish_aarch64(
    const struct wndl_cfi_row *row, struct wndl_cfi_regs *caller)
{
    const uint64_t ra = caller->regs[row->ra_reg];
    caller->regs[A64_PC] = row->ra_signed ? ra & WNDL_A64_ADDRESS : ra;
    caller->valid |= UINT64_C(1) << A64_PC;
    for (unsigned reg = 0; reg <= X30 && !row->signal_frame; reg++) {
        if ((reg <= X18 && row->regs[reg].kind == WNDL_RULE_UNSET) ||
            reg == X30)
            caller->valid &= ~(UINT64_C(1) << reg);
    }
}

/*
 * The same for 32-bit Arm. Bit 0 of a return address marks Thumb code and is
 * cleared in pc.
 */
static void finish_arm(
    const struct wndl_cfi_row *row, struct wndl_cfi_regs *caller)
{
    caller->regs[ARM_PC] = caller->regs[row->ra_reg] & ~UINT64_C(1);
    caller->valid |= 1u << ARM_PC;
    for (unsigned reg = 0; reg <= ARM_LR && !row->signal_frame; reg++) {
        const bool is_scratch = reg <= R3 || reg == R12;
        if ((is_scratch && row->regs[reg].kind == WNDL_RULE_UNSET) ||
            reg == ARM_LR)
            caller->valid &= ~(UINT64_C(1) << reg);
    }
}

enum wndl_status wndl_cfi_step(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_row *row, const struct wndl_cfi_regs *callee,
    const struct wndl_cfi_memory *memory, struct wndl_cfi_regs *caller)
{
    struct step s = {{frame, callee, memory}, 0};
    if (row->regs[row->ra_reg].kind == WNDL_RULE_UNDEFINED)
        return WNDL_NOT_FOUND;
    enum wndl_status status = find_cfa(&s, &row->cfa);
    if (status != WNDL_OK)
        return status;
    const struct wndl_cfi_rule cfa_value = {.kind = WNDL_RULE_VAL_OFFSET};
    const unsigned sp = stack_pointer(frame), count = wndl_cfi_reg_count(frame);
    caller->valid = 0;
    for (unsigned reg = 0; reg < count; reg++) {
        const struct wndl_cfi_rule *rule = &row->regs[reg];
        if (rule->kind == WNDL_RULE_UNSET && reg == sp)
            rule = &cfa_value;
        caller->regs[reg] = 0;
        status = recover(&s, rule, reg, &caller->regs[reg]);
        if (status == WNDL_OK)
            caller->valid |= UINT64_C(1) << reg;
        else if (reg == sp || reg == row->ra_reg)
            return status == WNDL_NOT_FOUND ? WNDL_IO : status;
    }
    if (frame->family == WNDL_CFI_AARCH64)
        finish_aarch64(row, caller);
    else if (frame->family == WNDL_CFI_ARM)
        finish_arm(row, caller);
    return WNDL_OK;
}
