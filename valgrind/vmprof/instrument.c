/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each access is compared with the tags of pages.h in the program's own code,
 * and a helper runs only where the comparison fails.
 *
 * The order of accesses is the processor's: an instruction is fetched, then
 * reads and writes. One check of its page at the start of a run of
 * instructions stands for all fetches of the run, as long as nothing takes the
 * page's mark in between. Only an access to data can do that; its helper
 * fetches the next instruction again then.
 */
#include "instrument.h"

#include "blocks.h"
#include "pages.h"
#include "stacks.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_machine.h"

/* How an access is described to its helper, in one word. */
enum {
    PACK_SIZE = 0xffff, /* bytes of the access */
    PACK_WRITE = 1 << 16,
    PACK_MORE = 1 << 17,    /* the instruction accesses data again */
    PACK_REFETCH = 1 << 18, /* the next instruction is in the page where this
                             * one ends, and its fetch is not checked */
    PACK_PUSHED = 1 << 19,  /* the instruction lowered SP by a word before */
    PACK_LENGTH_SHIFT = 20, /* bytes of the instruction */
};

/* What is being built. */
struct build {
    IRSB *out;
    const IRSB *in;
    const VexGuestLayout *layout;
    IRType word;
    Int at; /* statement of `in` */
    struct block *block;
    UInt part; /* index into block->parts */
    UInt part_fetches;
    UInt entry; /* of block->instructions; those before it are done */
    Addr ip;
    UInt length;
    UWord fetched; /* page that a check stands for, or NO_PAGE */
};
#define NO_PAGE (~(UWord)0)

/* ---- helpers, called by the program's code */

static VG_REGPARM(2) void on_fetch(Addr ip, UWord length)
{
    const struct access access = {ip, {ip, 0}, ACCESS_FETCH, False, 0};
    pages_access(&access, ip, length);
}

static VG_REGPARM(3) void on_data(Addr ip, Addr address, UWord packed)
{
    UInt pushed = (packed & PACK_PUSHED) != 0 ? sizeof(UWord) : 0;
    const struct access access = {
        ip, {ip, pushed}, ACCESS_DATA, (packed & PACK_WRITE) != 0, 0};
    Addr last = ip + (packed >> PACK_LENGTH_SHIFT) - 1; /* byte */
    pages_access(&access, address, packed & PACK_SIZE);
    if (pages_is_referenced(last))
        return;
    if (packed & PACK_MORE)
        pages_forget_tags();
    else if (packed & PACK_REFETCH)
        on_fetch(last, 1);
}

/* ---- IR */

static Bool is_64(const struct build *b)
{
    return b->word == Ity_I64;
}

static IRExpr *constant(const struct build *b, UWord value)
{
    return is_64(b) ? IRExpr_Const(IRConst_U64(value))
                    : IRExpr_Const(IRConst_U32((UInt)value));
}

static IRExpr *assign(struct build *b, IRType type, IRExpr *value)
{
    IRTemp temp = newIRTemp(b->out->tyenv, type);
    addStmtToIRSB(b->out, IRStmt_WrTmp(temp, value));
    return IRExpr_RdTmp(temp);
}

static IRExpr *word_op(
    struct build *b, IROp op64, IROp op32, IRExpr *left, IRExpr *right)
{
    return assign(
        b, b->word, IRExpr_Binop(is_64(b) ? op64 : op32, left, right));
}

static IRExpr *shifted_right(struct build *b, IRExpr *value, UInt bits)
{
    return word_op(
        b, Iop_Shr64, Iop_Shr32, value, IRExpr_Const(IRConst_U8((UChar)bits)));
}

static IRExpr *masked(struct build *b, IRExpr *value, UWord mask)
{
    return word_op(b, Iop_And64, Iop_And32, value, constant(b, mask));
}

static IRExpr *differs(struct build *b, IRExpr *left, IRExpr *right)
{
    return assign(b, Ity_I1,
        IRExpr_Binop(is_64(b) ? Iop_CmpNE64 : Iop_CmpNE32, left, right));
}

static IRExpr *both(struct build *b, IRExpr *left, IRExpr *right)
{
    if (left == NULL || right == NULL)
        return left == NULL ? right : left;
    return assign(b, Ity_I1, IRExpr_Binop(Iop_And1, left, right));
}

static IRExpr *load_word(struct build *b, IRExpr *address)
{
    return assign(b, b->word, IRExpr_Load(Iend_LE, b->word, address));
}

/* The stack can be walked in the helper: its registers are in their places. */
static void declare_registers(const struct build *b, IRDirty *call)
{
    const Int offsets[] = {b->layout->offset_SP, b->layout->offset_FP};
    const Int sizes[] = {b->layout->sizeof_SP, b->layout->sizeof_FP};
    call->nFxState = 2;
    for (Int i = 0; i < 2; i++) {
        call->fxState[i].fx = Ifx_Read;
        call->fxState[i].offset = (UShort)offsets[i];
        call->fxState[i].size = (UShort)sizes[i];
        call->fxState[i].nRepeats = 0;
        call->fxState[i].repeatLen = 0;
    }
}

/* `guard` NULL: always. */
static void add_call(struct build *b, IRDirty *call, IRExpr *guard)
{
    if (guard != NULL)
        call->guard = guard;
    declare_registers(b, call);
    addStmtToIRSB(b->out, IRStmt_Dirty(call));
}

/* ---- counters */

static IRExpr *load_counter(struct build *b, const ULong *counter)
{
    return assign(
        b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, constant(b, (UWord)counter)));
}

static void add_to_counter(struct build *b, ULong *counter, IRExpr *amount)
{
    IRExpr *sum = assign(
        b, Ity_I64, IRExpr_Binop(Iop_Add64, load_counter(b, counter), amount));
    addStmtToIRSB(
        b->out, IRStmt_Store(Iend_LE, constant(b, (UWord)counter), sum));
}

static IRExpr *number(ULong value)
{
    return IRExpr_Const(IRConst_U64(value));
}

static VG_REGPARM(1) void on_stack(Addr ip)
{
    stacks_take(ip);
}

/* At the start of a block all registers are in their places. */
static void check_stack(struct build *b, const IRStmt *mark)
{
    Addr ip = mark->Ist.IMark.addr + mark->Ist.IMark.delta;
    IRExpr *now = load_counter(b, &instructions);
    IRExpr *due = load_counter(b, &next_stack);
    IRExpr *is_due = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, due, now));
    add_call(b,
        unsafeIRDirty_0_N(1, "on_stack", VG_(fnptr_to_fnentry)(&on_stack),
            mkIRExprVec_1(constant(b, ip))),
        is_due);
}

/* Ends the part: all before here ran as often as this place is reached, or,
 * with a `guard`, as often as that holds. */
static void end_part(struct build *b, IRExpr *guard)
{
    struct block_part *part = &b->block->parts[b->part];
    UInt before = 0;
    for (UInt p = 0; p < b->part; p++)
        before += b->block->parts[p].count;
    part->count = b->entry - before;
    if (part->count == 0)
        return;
    IRExpr *times = guard == NULL
                        ? number(1)
                        : assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, guard));
    add_to_counter(b, &part->runs, times);
    if (b->part_fetches != 0)
        add_to_counter(b, &instructions, number(b->part_fetches));
    b->part_fetches = 0;
    b->part++;
}

static void add_entry(struct build *b, UInt fetches, UInt data)
{
    struct block_instruction *entry = &b->block->instructions[b->entry++];
    entry->ip = b->ip;
    entry->fetches = (UShort)fetches;
    entry->data = (UShort)data;
    b->part_fetches += fetches;
}

/* ---- fetches */

static UWord page_of(Addr address)
{
    return address >> opt.page_shift;
}

static void check_fetch(struct build *b, Addr ip, UInt length)
{
    UWord page = page_of(ip);
    IRExpr *tag = load_word(b, constant(b, (UWord)&read_tags[page % TAGS]));
    IRExpr *guard = differs(b, tag, constant(b, page << opt.page_shift));
    add_call(b,
        unsafeIRDirty_0_N(2, "on_fetch", VG_(fnptr_to_fnentry)(&on_fetch),
            mkIRExprVec_2(constant(b, ip), constant(b, length))),
        guard);
}

static void fetch(struct build *b, const IRStmt *mark)
{
    b->ip = mark->Ist.IMark.addr + mark->Ist.IMark.delta;
    b->length = mark->Ist.IMark.len;
    UInt length = b->length == 0 ? 1 : b->length;
    UWord last = page_of(b->ip + length - 1);
    add_entry(b, 1, 0);
    if (page_of(b->ip) != last || b->fetched != last) {
        Addr second = last << opt.page_shift;
        UInt first_length = second > b->ip ? (UInt)(second - b->ip) : length;
        check_fetch(b, b->ip, first_length);
        if (first_length < length)
            check_fetch(b, second, length - first_length);
    }
    b->fetched = last;
}

/* ---- data */

/* Whether a statement accesses data, and under which condition. */
static Bool is_access(const IRStmt *s)
{
    switch (s->tag) {
    case Ist_WrTmp:
        return s->Ist.WrTmp.data->tag == Iex_Load;
    case Ist_Store:
    case Ist_StoreG:
    case Ist_LoadG:
    case Ist_CAS:
        return True;
    case Ist_Dirty:
        return s->Ist.Dirty.details->mFx != Ifx_None;
    default:
        return False;
    }
}

enum next_step { NEXT_ACCESS, NEXT_EXIT, NEXT_INSTRUCTION, NEXT_END };

/* What comes next in the program's order after the statement at hand; `ip` is
 * of an instruction. */
static enum next_step next_step(const struct build *b, Addr *ip)
{
    for (Int i = b->at + 1; i < b->in->stmts_used; i++) {
        const IRStmt *s = b->in->stmts[i];
        if (s->tag == Ist_IMark) {
            *ip = s->Ist.IMark.addr + s->Ist.IMark.delta;
            return NEXT_INSTRUCTION;
        }
        if (s->tag == Ist_Exit)
            return NEXT_EXIT;
        if (is_access(s))
            return NEXT_ACCESS;
    }
    return NEXT_END;
}

/* A segment, "addr32", "bnd", "notrack", or REX. */
static Bool is_prefix(const struct build *b, UChar byte)
{
    return byte == 0x3e || byte == 0x64 || byte == 0x65 || byte == 0x67 ||
           byte == 0xf2 || (is_64(b) && (byte & 0xf0) == 0x40);
}

/* Whether the instruction pushes: the code is x86 on both machines. */
static Bool is_push(const struct build *b)
{
    const UChar *code = (const UChar *)b->ip;
    UInt i = 0;
    while (i + 1 < b->length && is_prefix(b, code[i]))
        i++;
    UInt extension = i + 1 < b->length ? code[i + 1] >> 3 & 7 : 0;
    return (code[i] & 0xf8) == 0x50 || code[i] == 0x68 || code[i] == 0x6a ||
           code[i] == 0xe8 ||
           (code[i] == 0xff && (extension == 2 || extension == 6));
}

static UWord pack(
    struct build *b, UInt size, Bool is_write, Bool has_more, IRExpr *guard)
{
    UWord packed = size | (is_write ? PACK_WRITE : 0) |
                   (is_write && is_push(b) ? PACK_PUSHED : 0) |
                   (UWord)b->length << PACK_LENGTH_SHIFT;
    Addr next_ip = 0;
    enum next_step next = has_more ? NEXT_ACCESS : next_step(b, &next_ip);
    if (next == NEXT_ACCESS)
        return packed | PACK_MORE;
    if (next == NEXT_INSTRUCTION && guard == NULL)
        return page_of(next_ip) == b->fetched ? packed | PACK_REFETCH : packed;
    b->fetched = NO_PAGE;
    return packed;
}

/* True where the tags do not say that the access changes nothing. */
static IRExpr *misses_tags(
    struct build *b, IRExpr *address, UInt size, Bool is_write)
{
    if (size > 32 || (size & (size - 1)) != 0)
        return NULL;
    const UInt log2 = is_64(b) ? 3 : 2; /* of a tag's bytes */
    UWord *tags = is_write ? write_tags : read_tags;
    UWord page_mask = ~(((UWord)1 << opt.page_shift) - 1);
    IRExpr *offset = masked(b, shifted_right(b, address, opt.page_shift - log2),
        (UWord)(TAGS - 1) << log2);
    IRExpr *tag = load_word(
        b, word_op(b, Iop_Add64, Iop_Add32, offset, constant(b, (UWord)tags)));
    return differs(b, tag, masked(b, address, page_mask | (size - 1)));
}

struct data {
    IRExpr *address;
    UInt size;
    Bool is_write;
    Bool has_more; /* another one of the same statement follows */
    IRExpr *guard; /* or NULL */
};

static void check_data(struct build *b, const struct data *d)
{
    UWord packed = pack(b, d->size, d->is_write, d->has_more, d->guard);
    IRExpr *miss = misses_tags(b, d->address, d->size, d->is_write);
    add_call(b,
        unsafeIRDirty_0_N(3, "on_data", VG_(fnptr_to_fnentry)(&on_data),
            mkIRExprVec_3(constant(b, b->ip), d->address, constant(b, packed))),
        both(b, miss, d->guard));
}

static void count_data(struct build *b, UInt count, IRExpr *guard)
{
    if (guard == NULL) {
        b->block->instructions[b->entry - 1].data += (UShort)count;
        return;
    }
    end_part(b, NULL);
    add_entry(b, 0, count);
    end_part(b, guard);
    add_entry(b, 0, 0);
}

static void access_data(struct build *b, struct data d, Bool reads, Bool writes)
{
    if (reads) {
        d.is_write = False;
        d.has_more = writes;
        check_data(b, &d);
    }
    if (writes) {
        d.is_write = True;
        d.has_more = False;
        check_data(b, &d);
    }
    count_data(b, (UInt)reads + (UInt)writes, d.guard);
}

static UInt size_of(const struct build *b, const IRExpr *e)
{
    return (UInt)sizeofIRType(typeOfIRExpr(b->in->tyenv, e));
}

static UInt loaded_size(IRLoadGOp op)
{
    IRType result, loaded;
    typeOfIRLoadGOp(op, &result, &loaded);
    return (UInt)sizeofIRType(loaded);
}

static void swap_data(struct build *b, const IRCAS *cas)
{
    UInt size = size_of(b, cas->dataLo) * (cas->dataHi == NULL ? 1 : 2);
    access_data(
        b, (struct data){.address = cas->addr, .size = size}, True, True);
}

static void helper_data(struct build *b, const IRDirty *call)
{
    Bool always = call->guard->tag == Iex_Const;
    struct data d = {.address = call->mAddr, .size = (UInt)call->mSize};
    d.guard = always ? NULL : call->guard;
    access_data(b, d, call->mFx != Ifx_Write, call->mFx != Ifx_Read);
}

static void visit_access(struct build *b, const IRStmt *s)
{
    switch (s->tag) {
    case Ist_WrTmp: {
        const IRExpr *load = s->Ist.WrTmp.data;
        UInt size = (UInt)sizeofIRType(load->Iex.Load.ty);
        access_data(b,
            (struct data){.address = load->Iex.Load.addr, .size = size}, True,
            False);
        break;
    }
    case Ist_Store:
        access_data(b,
            (struct data){.address = s->Ist.Store.addr,
                .size = size_of(b, s->Ist.Store.data)},
            False, True);
        break;
    case Ist_LoadG: {
        const IRLoadG *load = s->Ist.LoadG.details;
        const struct data d = {.address = load->addr,
            .size = loaded_size(load->cvt),
            .guard = load->guard};
        access_data(b, d, True, False);
        break;
    }
    case Ist_StoreG: {
        const IRStoreG *store = s->Ist.StoreG.details;
        const struct data d = {.address = store->addr,
            .size = size_of(b, store->data),
            .guard = store->guard};
        access_data(b, d, False, True);
        break;
    }
    case Ist_CAS:
        swap_data(b, s->Ist.CAS.details);
        break;
    default:
        helper_data(b, s->Ist.Dirty.details);
    }
}

/* ---- superblocks */

/* Entries and parts that a block needs at most: a guarded access takes two
 * entries and ends two parts. */
static struct block *new_block(const IRSB *in)
{
    UInt entries = 1, parts = 1;
    for (Int i = 0; i < in->stmts_used; i++) {
        const IRStmt *s = in->stmts[i];
        entries += s->tag == Ist_IMark || s->tag == Ist_Exit;
        parts += s->tag == Ist_Exit;
        if (is_access(s)) {
            entries += 2;
            parts += 2;
        }
    }
    return blocks_add(entries, parts);
}

static void visit_statement(struct build *b, IRStmt *s)
{
    if (s->tag == Ist_NoOp)
        return;
    if (s->tag == Ist_Exit)
        end_part(b, NULL);
    if (s->tag == Ist_IMark) {
        addStmtToIRSB(b->out, s);
        fetch(b, s);
        return;
    }
    if (is_access(s))
        visit_access(b, s);
    addStmtToIRSB(b->out, s);
    /* What the instruction does after the exit counts apart. */
    Addr next_ip;
    if (s->tag == Ist_Exit && next_step(b, &next_ip) == NEXT_ACCESS)
        add_entry(b, 0, 0);
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in,
    const VexGuestLayout *layout, const VexGuestExtents *extents,
    const VexArchInfo *host, IRType guest_word, IRType host_word)
{
    (void)closure, (void)host;
    if (guest_word != host_word)
        VG_(tool_panic)("host and guest words differ");
    struct build b = {
        .out = deepCopyIRSBExceptStmts(in),
        .in = in,
        .layout = layout,
        .word = guest_word,
        .fetched = NO_PAGE,
    };
    while (b.at < in->stmts_used && in->stmts[b.at]->tag != Ist_IMark)
        addStmtToIRSB(b.out, in->stmts[b.at++]);
    b.block = new_block(in);
    if (opt.stacks_every != 0 && b.at < in->stmts_used)
        check_stack(&b, in->stmts[b.at]);
    for (; b.at < in->stmts_used; b.at++)
        visit_statement(&b, in->stmts[b.at]);
    end_part(&b, NULL);
    for (UShort i = 0; opt.startup != 0 && i < extents->n_used; i++)
        stacks_note_start(extents->base[i], extents->base[i] + extents->len[i]);
    b.block->part_count = b.part;
    b.block->instruction_count = b.entry;
    return b.out;
}
