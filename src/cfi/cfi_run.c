/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of call frame instructions: DWARF 5, 6.4.2, 6.4.3 and 7.24.
 * It builds the row in place, in the caller's memory.
 */
#include "cfi/cfi_ops.h"
#include "cfi/encoded.h"

/*
 * The limit of nested remember_state. Compilers nest it once. Each level costs
 * the rules of all registers, on the stack; AArch64 has room for half as many.
 */
enum { REMEMBERED = 8, REMEMBERED_RULES = REMEMBERED * WNDL_CFI_X86_REGS };

struct remembered {
    struct wndl_cfi_rule cfa;
    bool ra_signed;
};

/*
 * The state between two instructions. row->end is the location counter, and
 * row->start its last value that is not above `target`. The run ends when
 * row->end > target; the row then covers target.
 *
 * Reads and checks are sticky: a helper that fails sets `status` (a cursor its
 * `failed`) and continues with a harmless value. The loop checks once per
 * instruction.
 *
 * Only the first `depth` of `remembered` are set, the others are not even
 * zeroed; nor is `initial` before the CIE's program has ended. The registers of
 * the top one are not set either while `regs_stand`: they are the row's, as no
 * rule has changed since. Between a state remembered for an epilogue and its
 * return, mostly only the CFA changes.
 */
struct machine {
    const struct wndl_cfi_section *frame;
    const struct wndl_fde *fde;
    struct wndl_cfi_row *row;
    struct wndl_cursor c;
    uint64_t target;
    bool in_cie;
    bool plain; /* factors so small that run_common cannot overflow */
    bool regs_stand;
    unsigned regs; /* number of tracked ones */
    unsigned depth;
    enum wndl_status status;
    const char *what;
    struct wndl_cfi_rule initial[WNDL_CFI_REGS];
    struct remembered remembered[REMEMBERED];
    struct wndl_cfi_rule remembered_regs[REMEMBERED_RULES];
};

static void fail(struct machine *m, enum wndl_status status, const char *what)
{
    if (m->status != WNDL_OK)
        return;
    m->status = status;
    m->what = what;
}

static void copy_rules(
    struct wndl_cfi_rule *to, const struct wndl_cfi_rule *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to[i] = from[i];
}

/* The rules of registers in the state that was remembered at `depth`. */
static struct wndl_cfi_rule *rules_of(struct machine *m, unsigned depth)
{
    return &m->remembered_regs[depth * m->regs];
}

static __attribute__((noinline)) void fill_remembered(struct machine *m)
{
    copy_rules(rules_of(m, m->depth - 1), m->row->regs, m->regs);
    m->regs_stand = false;
}

/* Rules of registers that we do not track (vector, control) are ignored. */
static void set_rule(struct machine *m, uint64_t reg, struct wndl_cfi_rule rule)
{
    if (reg >= m->regs)
        return;
    if (m->regs_stand)
        fill_remembered(m);
    m->row->regs[reg] = rule;
}

static void set_kind(
    struct machine *m, uint64_t reg, enum wndl_cfi_rule_kind kind)
{
    set_rule(m, reg, (struct wndl_cfi_rule){.kind = (uint8_t)kind});
}

static void set_offset(struct machine *m, uint64_t reg,
    enum wndl_cfi_rule_kind kind, int64_t offset)
{
    set_rule(m, reg,
        (struct wndl_cfi_rule){.kind = (uint8_t)kind, .offset = offset});
}

static int64_t factored(struct machine *m, int64_t n)
{
    int64_t offset = 0;
    if (__builtin_mul_overflow(n, m->fde->cie.data_align, &offset))
        fail(m, WNDL_MALFORMED, "a factored offset does not fit 64 bits");
    return offset;
}

static int64_t unsigned_operand(struct machine *m)
{
    uint64_t n = wndl_cursor_uleb(&m->c);
    if (n > INT64_MAX)
        fail(m, WNDL_MALFORMED, "an offset does not fit 63 bits");
    return (int64_t)n;
}

static int64_t factored_unsigned(struct machine *m)
{
    return factored(m, unsigned_operand(m));
}

static int64_t factored_signed(struct machine *m)
{
    return factored(m, wndl_cursor_sleb(&m->c));
}

static int64_t negated(struct machine *m, int64_t n)
{
    int64_t offset = 0;
    if (__builtin_sub_overflow(0, n, &offset))
        fail(m, WNDL_MALFORMED, "a factored offset does not fit 64 bits");
    return offset;
}

static struct wndl_cfi_rule expression(
    struct machine *m, enum wndl_cfi_rule_kind kind)
{
    uint64_t size = wndl_cursor_uleb(&m->c);
    if (size > UINT32_MAX)
        fail(m, WNDL_MALFORMED, "an expression of more than 4 GiB");
    return (struct wndl_cfi_rule){
        .kind = (uint8_t)kind,
        .expr_size = (uint32_t)size,
        .expr = wndl_cursor_take(&m->c, size),
    };
}

static uint8_t tracked(struct machine *m, uint64_t reg)
{
    if (reg >= m->regs)
        fail(m, WNDL_UNSUPPORTED, "a rule reads a register we do not track");
    return (uint8_t)reg;
}

static void def_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    m->row->cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER,
        .reg = tracked(m, reg),
        .offset = offset,
    };
}

/* DWARF 5, 6.4.2.2: changing a half needs a CFA of register and offset. */
static struct wndl_cfi_rule *plain_cfa(struct machine *m)
{
    if (m->row->cfa.kind != WNDL_RULE_REGISTER)
        fail(m, WNDL_MALFORMED, "a change of a CFA that is no register");
    return &m->row->cfa;
}

static void restore(struct machine *m, uint64_t reg)
{
    if (m->in_cie)
        fail(m, WNDL_MALFORMED, "a restore among the initial instructions");
    else if (reg < m->regs)
        set_rule(m, reg, m->initial[reg]);
}

static bool has_room(const struct machine *m)
{
    return (m->depth + 1) * m->regs <= REMEMBERED_RULES;
}

static void remember_state(struct machine *m)
{
    if (!has_room(m)) {
        fail(m, WNDL_LIMIT, "too many states remembered at a time");
        return;
    }
    if (m->regs_stand)
        fill_remembered(m);
    m->remembered[m->depth].ra_signed = m->row->ra_signed;
    m->remembered[m->depth++].cfa = m->row->cfa;
    m->regs_stand = true;
}

/* Restores the CFA, too: compilers rely on it, and 6.4.2.4 permits it. */
static void restore_state(struct machine *m)
{
    if (m->depth == 0) {
        fail(m, WNDL_MALFORMED, "a state restored that was not remembered");
        return;
    }
    const struct remembered *top = &m->remembered[--m->depth];
    m->row->cfa = top->cfa;
    m->row->ra_signed = top->ra_signed;
    if (!m->regs_stand)
        copy_rules(m->row->regs, rules_of(m, m->depth), m->regs);
    m->regs_stand = false;
}

static void move_to(struct machine *m, uint64_t loc)
{
    m->row->end = loc;
    if (loc <= m->target)
        m->row->start = loc;
}

static void advance(struct machine *m, uint64_t delta)
{
    uint64_t last = wndl_cfi_address(m->frame, UINT64_MAX);
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(delta, m->fde->cie.code_align, &bytes) ||
        bytes > last - m->row->end)
        fail(m, WNDL_MALFORMED, "an advance beyond the address space");
    else
        move_to(m, m->row->end + bytes);
}

static void set_loc(struct machine *m)
{
    uint64_t loc = 0;
    enum wndl_status status =
        wndl_cfi_read_encoded(m->frame, &m->c, m->fde->cie.fde_encoding, &loc);
    if (status != WNDL_OK)
        fail(m, status, "a location in an encoding that is not read");
    else if (loc < m->row->end && !m->c.failed)
        fail(m, WNDL_MALFORMED, "a location before the one in force");
    else if (!m->c.failed)
        move_to(m, loc);
}

static void run_location(struct machine *m, uint8_t op)
{
    switch (op) {
    case CFA_SET_LOC:
        set_loc(m);
        break;
    case CFA_ADVANCE_LOC1:
        advance(m, wndl_cursor_u8(&m->c));
        break;
    case CFA_ADVANCE_LOC2:
        advance(m, wndl_cursor_u16(&m->c));
        break;
    case CFA_ADVANCE_LOC4:
        advance(m, wndl_cursor_u32(&m->c));
        break;
    default:
        advance(m, wndl_cursor_u64(&m->c));
        break;
    }
}

static void run_cfa(struct machine *m, uint8_t op)
{
    uint64_t reg = 0;
    switch (op) {
    case CFA_DEF_CFA:
        reg = wndl_cursor_uleb(&m->c);
        def_cfa(m, reg, unsigned_operand(m));
        break;
    case CFA_DEF_CFA_SF:
        reg = wndl_cursor_uleb(&m->c);
        def_cfa(m, reg, factored_signed(m));
        break;
    case CFA_DEF_CFA_REGISTER:
        plain_cfa(m)->reg = tracked(m, wndl_cursor_uleb(&m->c));
        break;
    case CFA_DEF_CFA_OFFSET:
        plain_cfa(m)->offset = unsigned_operand(m);
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        plain_cfa(m)->offset = factored_signed(m);
        break;
    default:
        m->row->cfa = expression(m, WNDL_RULE_VAL_EXPR);
        break;
    }
}

/* Runs an instruction whose first operand is a register. */
static void run_register(struct machine *m, uint8_t op)
{
    uint64_t reg = wndl_cursor_uleb(&m->c);
    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_offset(m, reg, WNDL_RULE_OFFSET, factored_unsigned(m));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_offset(m, reg, WNDL_RULE_OFFSET, factored_signed(m));
        break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_offset(m, reg, WNDL_RULE_OFFSET, negated(m, factored_unsigned(m)));
        break;
    case CFA_VAL_OFFSET:
        set_offset(m, reg, WNDL_RULE_VAL_OFFSET, factored_unsigned(m));
        break;
    case CFA_VAL_OFFSET_SF:
        set_offset(m, reg, WNDL_RULE_VAL_OFFSET, factored_signed(m));
        break;
    case CFA_UNDEFINED:
        set_kind(m, reg, WNDL_RULE_UNDEFINED);
        break;
    case CFA_SAME_VALUE:
        set_kind(m, reg, WNDL_RULE_SAME);
        break;
    case CFA_RESTORE_EXTENDED:
        restore(m, reg);
        break;
    case CFA_REGISTER:
        set_rule(m, reg,
            (struct wndl_cfi_rule){.kind = WNDL_RULE_REGISTER,
                .reg = tracked(m, wndl_cursor_uleb(&m->c))});
        break;
    case CFA_EXPRESSION:
        set_rule(m, reg, expression(m, WNDL_RULE_EXPR));
        break;
    default:
        set_rule(m, reg, expression(m, WNDL_RULE_VAL_EXPR));
        break;
    }
}

enum group {
    UNKNOWN,
    NOP,
    LOCATION,
    CFA,
    REGISTER,
    REMEMBER,
    RESTORE,
    SKIP,
    SIGNING,
};

/* On other machines the number is SPARC's GNU_window_save. */
static void run_signing(struct machine *m)
{
    if (m->frame->family != WNDL_CFI_AARCH64)
        fail(m, WNDL_UNSUPPORTED, "an instruction that is not known");
    m->row->ra_signed = !m->row->ra_signed;
}

/* Opcodes below 0x40. */
static const uint8_t group_of[CFA_LOW + 1] = {
    [CFA_NOP] = NOP,
    [CFA_SET_LOC] = LOCATION,
    [CFA_ADVANCE_LOC1] = LOCATION,
    [CFA_ADVANCE_LOC2] = LOCATION,
    [CFA_ADVANCE_LOC4] = LOCATION,
    [CFA_MIPS_ADVANCE_LOC8] = LOCATION,
    [CFA_DEF_CFA] = CFA,
    [CFA_DEF_CFA_SF] = CFA,
    [CFA_DEF_CFA_REGISTER] = CFA,
    [CFA_DEF_CFA_OFFSET] = CFA,
    [CFA_DEF_CFA_OFFSET_SF] = CFA,
    [CFA_DEF_CFA_EXPRESSION] = CFA,
    [CFA_OFFSET_EXTENDED] = REGISTER,
    [CFA_OFFSET_EXTENDED_SF] = REGISTER,
    [CFA_GNU_NEGATIVE_OFFSET_EXTENDED] = REGISTER,
    [CFA_VAL_OFFSET] = REGISTER,
    [CFA_VAL_OFFSET_SF] = REGISTER,
    [CFA_UNDEFINED] = REGISTER,
    [CFA_SAME_VALUE] = REGISTER,
    [CFA_RESTORE_EXTENDED] = REGISTER,
    [CFA_REGISTER] = REGISTER,
    [CFA_EXPRESSION] = REGISTER,
    [CFA_VAL_EXPRESSION] = REGISTER,
    [CFA_REMEMBER_STATE] = REMEMBER,
    [CFA_RESTORE_STATE] = RESTORE,
    [CFA_GNU_ARGS_SIZE] = SKIP,
    [CFA_AARCH64_NEGATE_RA_STATE] = SIGNING,
};

static void run_low(struct machine *m, uint8_t op)
{
    switch ((enum group)group_of[op]) {
    case NOP:
        break;
    case LOCATION:
        run_location(m, op);
        break;
    case CFA:
        run_cfa(m, op);
        break;
    case REGISTER:
        run_register(m, op);
        break;
    case REMEMBER:
        remember_state(m);
        break;
    case RESTORE:
        restore_state(m);
        break;
    case SKIP:
        (void)wndl_cursor_uleb(&m->c);
        break;
    case SIGNING:
        run_signing(m);
        break;
    case UNKNOWN:
        fail(m, WNDL_UNSUPPORTED, "an instruction that is not known");
    }
}

static void run_one(struct machine *m)
{
    uint8_t op = wndl_cursor_u8(&m->c);
    uint8_t low = op & CFA_LOW;
    switch (op & CFA_HIGH) {
    case CFA_ADVANCE_LOC:
        advance(m, low);
        break;
    case CFA_OFFSET:
        set_offset(m, low, WNDL_RULE_OFFSET, factored_unsigned(m));
        break;
    case CFA_RESTORE:
        restore(m, low);
        break;
    default:
        run_low(m, low);
    }
}

/* A LEB128 of at most two bytes; 0 if it is longer, or truncated. */
static unsigned short_uleb(
    const uint8_t *p, const uint8_t *end, unsigned *value)
{
    *value = p[0] & 0x7fu;
    if (p[0] < 0x80)
        return 1;
    *value |= (unsigned)p[end - p > 1] << 7;
    return end - p > 1 && p[1] < 0x80 ? 2 : 0;
}

/* Runs remember_state or restore_state. False if `op` is neither, or fails. */
static inline bool run_state(struct machine *m, unsigned op)
{
    if (op == CFA_REMEMBER_STATE && has_room(m))
        remember_state(m);
    else if (op == CFA_RESTORE_STATE && m->depth > 0)
        restore_state(m);
    else
        return false;
    return true;
}

/*
 * Runs the seven instructions that make up nearly all programs, while their
 * operands are short, and stops before any other. The cost of a lookup depends
 * on this, and not on run_one.
 */
static void run_common(struct machine *m)
{
    const int64_t data_align = m->fde->cie.data_align;
    const uint64_t code_align = m->fde->cie.code_align;
    const uint64_t target = m->target;
    const unsigned regs = m->regs;
    const uint8_t *end = m->c.end;
    const uint8_t *last = end - 1; /* a record's head is before it */
    const uint8_t *p = m->c.next;
    struct wndl_cfi_row *row = m->row;
    uint64_t loc = row->end;
    while (p < last && loc <= target) {
        unsigned op = p[0];
        unsigned operand = 0;
        if (op - CFA_ADVANCE_LOC <= CFA_LOW || op == CFA_ADVANCE_LOC1) {
            bool one = op == CFA_ADVANCE_LOC1;
            row->start = loc;
            loc += (one ? p[1] : op & CFA_LOW) * code_align;
            p += one ? 2 : 1;
            continue;
        }
        unsigned size = short_uleb(p + 1, end, &operand);
        if (op == CFA_NOP || run_state(m, op))
            size = 0;
        else if (size == 0)
            break;
        else if (op == CFA_DEF_CFA_OFFSET &&
                 row->cfa.kind == WNDL_RULE_REGISTER)
            row->cfa.offset = operand;
        else if (op - CFA_OFFSET < regs)
            set_offset(m, op & CFA_LOW, WNDL_RULE_OFFSET, operand * data_align);
        else
            break;
        p += 1 + size;
    }
    m->c.next = p;
    row->start = loc <= target ? loc : row->start;
    row->end = loc;
}

/* Runs to the end of the program, or past target. */
static enum wndl_status run(struct machine *m, struct wndl_error *err)
{
    for (;;) {
        if (m->plain)
            run_common(m);
        if (m->c.next == m->c.end || m->row->end > m->target)
            return WNDL_OK;
        const uint8_t *at = m->c.next;
        run_one(m);
        if (m->c.failed)
            fail(m, WNDL_MALFORMED, "an instruction's operand is cut off");
        if (m->status != WNDL_OK)
            return wndl_cfi_fail(
                m->frame, err, m->status, (uint64_t)(at - m->c.start), m->what);
    }
}

/* A cursor over `program` with offsets in the section. */
static struct wndl_cursor program_cursor(
    const struct wndl_cfi_section *frame, struct wndl_bytes program)
{
    return (struct wndl_cursor){
        .next = program.data,
        .end = program.data + program.size,
        .start = frame->bytes.data,
        .big_endian = frame->big_endian,
    };
}

/*
 * Whether one byte times code_align, from a location in the FDE, and two bytes
 * times data_align are far from overflow.
 */
static bool has_plain_factors(
    const struct wndl_cfi_section *frame, const struct wndl_fde *fde)
{
    enum { MOST = 1 << 16 };
    uint64_t last = wndl_cfi_address(frame, UINT64_MAX);
    return fde->cie.code_align <= MOST && fde->cie.data_align <= MOST &&
           fde->cie.data_align >= -MOST && fde->end <= last - 256u * MOST;
}

/* Runs the initial instructions and prepares the first row. */
static enum wndl_status start(struct machine *m,
    const struct wndl_cfi_section *frame, const struct wndl_fde *fde,
    struct wndl_cfi_row *row, struct wndl_error *err)
{
    m->frame = frame;
    m->fde = fde;
    m->row = row;
    m->c = program_cursor(frame, fde->cie.program);
    m->target = fde->start;
    m->in_cie = true;
    m->plain = has_plain_factors(frame, fde);
    m->regs = wndl_cfi_reg_count(frame);
    m->depth = 0;
    m->regs_stand = false;
    m->status = WNDL_OK;
    *row = (struct wndl_cfi_row){
        .start = fde->start,
        .end = fde->start,
        .ra_reg = (uint8_t)fde->cie.ra_reg,
        .signal_frame = fde->cie.signal_frame,
    };
    if (fde->cie.ra_reg >= m->regs)
        return wndl_cfi_fail(frame, err, WNDL_UNSUPPORTED, fde->cie.offset,
            "a return address in a register we do not track");
    enum wndl_status status = run(m, err);
    if (status == WNDL_OK && row->end != fde->start)
        status = wndl_cfi_fail(frame, err, WNDL_MALFORMED, fde->cie.offset,
            "initial instructions that move the location");
    copy_rules(m->initial, row->regs, m->regs);
    m->in_cie = false;
    m->c = program_cursor(frame, fde->program);
    return status;
}

/* Runs to the row that covers `target`, which is not before the current row. */
static enum wndl_status run_to_row(
    struct machine *m, uint64_t target, struct wndl_error *err)
{
    m->target = target;
    m->row->start = m->row->end;
    enum wndl_status status = run(m, err);
    if (m->row->end <= target || m->row->end > m->fde->end)
        m->row->end = m->fde->end;
    return status;
}

enum wndl_status wndl_cfi_row_at(const struct wndl_cfi_section *frame,
    const struct wndl_fde *fde, uint64_t pc, struct wndl_cfi_row *row,
    struct wndl_error *err)
{
    struct machine m;
    if (pc < fde->start || pc >= fde->end)
        return WNDL_NOT_FOUND;
    enum wndl_status status = start(&m, frame, fde, row, err);
    return status == WNDL_OK ? run_to_row(&m, pc, err) : status;
}

enum wndl_status wndl_cfi_rows(const struct wndl_cfi_section *frame,
    const struct wndl_fde *fde,
    bool (*visit)(void *context, const struct wndl_cfi_row *row), void *context,
    struct wndl_error *err)
{
    struct machine m;
    struct wndl_cfi_row row;
    enum wndl_status status = start(&m, frame, fde, &row, err);
    while (status == WNDL_OK && row.end < fde->end) {
        status = run_to_row(&m, row.end, err);
        if (status == WNDL_OK && !visit(context, &row))
            break;
    }
    return status;
}
