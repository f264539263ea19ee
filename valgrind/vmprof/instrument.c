/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses are compared with the tags of pages.h in the program's own code, and
 * a helper runs only where a comparison fails.
 *
 * The order of accesses is the processor's: an instruction is fetched, then
 * reads and writes. One check of its page at the start of a run of
 * instructions stands for all fetches of the run, as long as nothing takes the
 * page's mark in between. Only an access to data can do that; its helper
 * fetches the next instruction again then.
 *
 * Accesses in a row are one batch, which is checked right before the last of
 * them. A write ends its batch: if it extends the stack, Valgrind runs it
 * again, and no access before it is lost.
 */
#include "instrument.h"

#include "batch.h"
#include "blocks.h"
#include "pages.h"
#include "stacks.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_machine.h"

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
    struct batch_event events[BATCH_EVENTS]; /* not yet checked */
    IRExpr *addresses[BATCH_DATA];           /* of those that access data */
    UInt event_count;
    UInt data_count;
};
#define NO_PAGE (~(UWord)0)

/* ---- IR */

static Addr ip_of(const IRStmt *mark)
{
    return mark->Ist.IMark.addr + mark->Ist.IMark.delta;
}

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

static IRExpr *xored(struct build *b, IRExpr *left, IRExpr *right)
{
    return word_op(b, Iop_Xor64, Iop_Xor32, left, right);
}

static IRExpr *ored(struct build *b, IRExpr *left, IRExpr *right)
{
    return word_op(b, Iop_Or64, Iop_Or32, left, right);
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
    Addr ip = ip_of(mark);
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

/* ---- what follows in the program */

static UWord page_of(Addr address)
{
    return address >> opt.page_shift;
}

/* Whether a statement accesses data. */
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

static Bool is_conditional(const IRStmt *s)
{
    return s->tag == Ist_StoreG || s->tag == Ist_LoadG ||
           (s->tag == Ist_Dirty &&
               s->Ist.Dirty.details->guard->tag != Iex_Const);
}

enum next_step { NEXT_ACCESS, NEXT_EXIT, NEXT_INSTRUCTION, NEXT_END };

/* What comes next in the program's order after the statement at hand; `ip` is
 * of an instruction. */
static enum next_step next_step(const struct build *b, Addr *ip)
{
    for (Int i = b->at + 1; i < b->in->stmts_used; i++) {
        const IRStmt *s = b->in->stmts[i];
        if (s->tag == Ist_IMark) {
            *ip = ip_of(s);
            return NEXT_INSTRUCTION;
        }
        if (s->tag == Ist_Exit)
            return NEXT_EXIT;
        if (is_access(s))
            return NEXT_ACCESS;
    }
    return NEXT_END;
}

/* Whether another access to data surely follows, in the same function. */
static Bool goes_on(const struct build *b)
{
    Addr end = b->ip + b->length;
    for (Int i = b->at + 1; i < b->in->stmts_used; i++) {
        const IRStmt *s = b->in->stmts[i];
        if (s->tag == Ist_Exit || (s->tag == Ist_IMark && ip_of(s) != end))
            return False;
        if (s->tag == Ist_IMark)
            end += s->Ist.IMark.len;
        if (is_access(s))
            return !is_conditional(s);
    }
    return False;
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

/* ---- batches */

/* What a tag must equal if an access is to change nothing. */
struct tagged {
    IRExpr *tag;
    IRExpr *wanted;
};

static struct tagged fetch_tag(struct build *b, Addr code)
{
    UWord page = page_of(code);
    return (struct tagged){
        load_word(b, constant(b, (UWord)&read_tags[page % TAGS])),
        constant(b, page << opt.page_shift),
    };
}

/* An access that is not aligned equals no tag. */
static struct tagged data_tag(
    struct build *b, const struct batch_event *e, IRExpr *address)
{
    const UInt log2 = is_64(b) ? 3 : 2; /* of a tag's bytes */
    UWord *tags = e->is_write ? write_tags : read_tags;
    UWord page_mask = ~(((UWord)1 << opt.page_shift) - 1);
    IRExpr *offset = masked(b, shifted_right(b, address, opt.page_shift - log2),
        (UWord)(TAGS - 1) << log2);
    return (struct tagged){
        load_word(b,
            word_op(b, Iop_Add64, Iop_Add32, offset, constant(b, (UWord)tags))),
        masked(b, address, page_mask | (e->size - 1)),
    };
}

static Bool has_tag(const struct batch_event *e)
{
    return e->kind == ACCESS_FETCH ||
           (e->size <= 32 && (e->size & (e->size - 1)) == 0);
}

/* True where an access of the batch may change something; NULL: always. */
static IRExpr *misses_tags(struct build *b)
{
    IRExpr *differences = NULL;
    UInt data = 0;
    for (UInt i = 0; i < b->event_count; i++) {
        const struct batch_event *e = &b->events[i];
        if (!has_tag(e))
            return NULL;
        struct tagged t = e->kind == ACCESS_FETCH
                              ? fetch_tag(b, e->code)
                              : data_tag(b, e, b->addresses[data++]);
        if (b->event_count == 1)
            return differs(b, t.tag, t.wanted);
        IRExpr *difference = xored(b, t.tag, t.wanted);
        differences =
            differences == NULL ? difference : ored(b, differences, difference);
    }
    return differs(b, differences, constant(b, 0));
}

static IRExpr **batch_arguments(struct build *b, const struct batch *batch)
{
    IRExpr *first = constant(b, (UWord)batch);
    IRExpr **a = b->addresses;
    switch (b->data_count) {
    case 0:
        return mkIRExprVec_1(first);
    case 1:
        return mkIRExprVec_2(first, a[0]);
    case 2:
        return mkIRExprVec_3(first, a[0], a[1]);
    default:
        return mkIRExprVec_4(first, a[0], a[1], a[2]);
    }
}

/* Adds the check of the batch, of whose last access `guard` is, or NULL. */
static void check_batch(struct build *b, IRExpr *guard)
{
    const struct batch_event *last = &b->events[b->event_count - 1];
    const struct at at = {
        b->ip, last->is_write && is_push(b) ? sizeofIRType(b->word) : 0};
    const struct batch *batch =
        batch_add(&b->block->batches, &at, b->events, b->event_count);
    IRExpr *miss = misses_tags(b);
    const HChar *name;
    void *helper = batch_helper(b->data_count, &name);
    UInt count = 1 + b->data_count;
    add_call(b,
        unsafeIRDirty_0_N(count < 3 ? (Int)count : 3, name,
            VG_(fnptr_to_fnentry)(helper), batch_arguments(b, batch)),
        both(b, miss, guard));
    b->event_count = b->data_count = 0;
}

/* ---- fetches */

static void check_fetch(struct build *b, Addr first, UInt length)
{
    b->events[b->event_count++] = (struct batch_event){
        .ip = b->ip,
        .code = first,
        .size = (UShort)length,
        .kind = ACCESS_FETCH,
    };
    if (b->event_count == BATCH_EVENTS || !goes_on(b))
        check_batch(b, NULL);
}

static void fetch(struct build *b, const IRStmt *mark)
{
    b->ip = ip_of(mark);
    b->length = mark->Ist.IMark.len == 0 ? 1 : mark->Ist.IMark.len;
    UWord last = page_of(b->ip + b->length - 1);
    add_entry(b, 1, 0);
    if (page_of(b->ip) != last || b->fetched != last) {
        Addr second = last << opt.page_shift;
        UInt first = second > b->ip ? (UInt)(second - b->ip) : b->length;
        check_fetch(b, b->ip, first);
        if (first < b->length)
            check_fetch(b, second, b->length - first);
    }
    b->fetched = last;
}

/* ---- data */

struct data {
    IRExpr *address;
    UInt size;
    Bool is_write;
    Bool has_more; /* another one of the same statement follows */
    IRExpr *guard; /* or NULL */
};

/* The fetch of the next instruction is the helper's, where it is in the page
 * that a check stands for. */
static void set_next(
    struct build *b, struct batch_event *e, const struct data *d)
{
    Addr next_ip = 0;
    enum next_step next = d->has_more ? NEXT_ACCESS : next_step(b, &next_ip);
    e->has_more = next == NEXT_ACCESS;
    if (e->has_more)
        return;
    if (next == NEXT_INSTRUCTION && d->guard == NULL) {
        if (page_of(next_ip) == b->fetched)
            e->next_ip = next_ip;
        return;
    }
    b->fetched = NO_PAGE;
}

static void check_data(struct build *b, const struct data *d)
{
    struct batch_event *e = &b->events[b->event_count++];
    *e = (struct batch_event){
        .ip = b->ip,
        .code = b->ip + b->length - 1,
        .size = (UShort)d->size,
        .kind = ACCESS_DATA,
        .is_write = d->is_write,
    };
    b->addresses[b->data_count++] = d->address;
    set_next(b, e, d);
    if (d->is_write || d->guard != NULL || b->event_count == BATCH_EVENTS ||
        b->data_count == BATCH_DATA || !has_tag(e) ||
        (!d->has_more && !goes_on(b)))
        check_batch(b, d->guard);
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
static struct block *new_block(const IRSB *in, Addr address)
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
    return blocks_add(address, entries, parts);
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
    (void)host;
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
    b.block = new_block(in, closure->nraddr);
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
