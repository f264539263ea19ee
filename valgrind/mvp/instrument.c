/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * After each load of the program, and with blocks after each store, its code
 * keeps the address and the value in slots after the thread's registers. A
 * helper checks the slots of several accesses at once, before control may leave
 * the code. The sites of these are beside each other, so that the first one is
 * all it has to be given.
 *
 * A load that is at a fixed distance from the stack pointer is of the stack,
 * and is left as it is.
 */
#include "instrument.h"

#include "uses.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"

#include <stddef.h>

/* What is being built. */
struct build {
    IRSB *out;
    const IRSB *in;
    IRType word;
    Int sp; /* offset of the stack pointer among the registers */
    Addr ip;
    UInt load;          /* number of the next load of the instruction */
    UInt store;         /* the same of stores */
    IRTemp read;        /* address of the last one, where it is a temporary */
    struct site *first; /* of the accesses in slots */
    UInt count;         /* of them */
};

/* Slots in use at once, at most. */
enum { SLOTS = 16 };

/* Where a load's address and value are kept. */
struct slot {
    Addr address;
    ULong value __attribute__((aligned(8)));
};

/* Where they are from a thread's registers on: Valgrind reserves twice the room
 * of these for tools. */
static Int slots_offset;

/* What is known of each temporary: its distance from the stack pointer. */
struct distance {
    Bool known;
    Long bytes;
};
static struct distance *distances;
static UInt distance_room;

/* Farther away an address may be of anything. */
enum { FAR = 1 << 20 };

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

/* ---- the stack pointer */

static void forget_distances(const IRSB *in)
{
    const UInt count = (UInt)in->tyenv->types_used;
    if (count > distance_room) {
        distance_room = 2 * count;
        distances = VG_(realloc)(
            "mvp.distances", distances, distance_room * sizeof *distances);
    }
    VG_(memset)(distances, 0, count * sizeof *distances);
}

static struct distance distance_of(const IRExpr *e)
{
    return e->tag == Iex_RdTmp ? distances[e->Iex.RdTmp.tmp]
                               : (struct distance){False, 0};
}

static Long number_of(const IRExpr *e)
{
    const IRConst *c = e->Iex.Const.con;
    return c->tag == Ico_U64 ? (Long)c->Ico.U64 : (Int)c->Ico.U32;
}

/* A sum with a constant, or a difference. */
static struct distance moved(const IRExpr *e)
{
    const IROp op = e->Iex.Binop.op;
    struct distance d = distance_of(e->Iex.Binop.arg1);
    const Bool adds = op == Iop_Add64 || op == Iop_Add32;
    if ((!adds && op != Iop_Sub64 && op != Iop_Sub32) ||
        e->Iex.Binop.arg2->tag != Iex_Const)
        return (struct distance){False, 0};
    const Long bytes = number_of(e->Iex.Binop.arg2);
    d.bytes += adds ? bytes : -bytes;
    return d;
}

static void follow_value(const struct build *b, IRTemp to, const IRExpr *e)
{
    if (e->tag == Iex_Get && e->Iex.Get.offset == b->sp &&
        e->Iex.Get.ty == b->word)
        distances[to] = (struct distance){True, 0};
    else if (e->tag == Iex_RdTmp)
        distances[to] = distance_of(e);
    else if (e->tag == Iex_Binop)
        distances[to] = moved(e);
}

/* Follows what becomes of the stack pointer. */
static void follow(const struct build *b, const IRStmt *s)
{
    if (s->tag == Ist_WrTmp)
        follow_value(b, s->Ist.WrTmp.tmp, s->Ist.WrTmp.data);
    else if (s->tag == Ist_Put && s->Ist.Put.offset == b->sp &&
             s->Ist.Put.data->tag == Iex_RdTmp &&
             !distance_of(s->Ist.Put.data).known)
        distances[s->Ist.Put.data->Iex.RdTmp.tmp] = (struct distance){True, 0};
}

static Bool is_of_stack(const IRExpr *address)
{
    const struct distance d = distance_of(address);
    return d.known && d.bytes >= -VG_STACK_REDZONE_SZB && d.bytes < FAR;
}

/* ---- helpers, called by the program's code */

/* On x86, a value of a word has only half of the slot. */
static Long value_in(const struct site *site, const struct slot *slot)
{
    return sizeof(Word) == 8 || site->size == 8 ? (Long)slot->value
                                                : (Long)(Word)slot->value;
}

static void check(struct site *site, const struct slot *slot)
{
    const Long value = value_in(site, slot);
    site->loads++;
    const ULong news =
        (((ULong)value ^ site->bits.first) & site->bits.constant) |
        ((ULong)(value ^ (value >> 63)) & site->bits.signs);
    if (UNLIKELY(news != 0 || slot->address - site->base > site->span))
        sites_note(site, slot->address, (ULong)value);
}

static Bool is_in_range(const struct site *site, Addr address)
{
    return address - site->base <= site->span;
}

static Bool is_in_block(const struct site *site, Addr address)
{
    return address - site->block < site->block_size &&
           site->generation == *blocks_generation(site->block);
}

/* The use of an access that is not in both the site's range and its last block,
 * and the offset in the block; NULL: it is of a stack. */
static __attribute__((noinline)) struct use *find_use(
    struct site *site, Addr address, UInt *offset)
{
    const Bool in_range = is_in_range(site, address);
    if (in_range && (site->flags & SITE_IN_STACK) != 0)
        return NULL;
    const Bool in_block = is_in_block(site, address);
    struct known_use *known = uses_known(site, address);
    if (!in_block && known->site == site && known->address == address &&
        known->generation == *blocks_generation(address - known->offset)) {
        *offset = known->offset;
        return known->use;
    }
    if (!in_range)
        sites_note_address(site, address);
    if ((site->flags & SITE_IN_STACK) != 0)
        return NULL;
    if (!in_block)
        uses_find(site, address, known);
    *offset = (UInt)(address - site->block);
    return site->use;
}

/* With blocks: the same, and which block it is of. */
static inline __attribute__((always_inline)) void check_block(
    struct site *site, const struct slot *slot)
{
    const Addr address = slot->address;
    struct use *use = site->use;
    UInt offset = (UInt)(address - site->block);
    if (UNLIKELY((site->flags & SITE_IN_STACK) != 0 ||
                 !is_in_range(site, address) || !is_in_block(site, address))) {
        use = find_use(site, address, &offset);
        if (use == NULL)
            return;
    }
    const Bool is_first = use->count++ == 0;
    if (UNLIKELY(!use_has_offset(use, offset)))
        uses_note_offset(use, offset);
    if ((site->flags & SITE_VALUELESS) != 0)
        return;
    const ULong value = (ULong)value_in(site, slot);
    if (UNLIKELY(is_first || !use_has_value(use, value)))
        uses_note_value(use, value);
}

static const struct slot *slots_of(const void *registers)
{
    return (const struct slot *)((const UChar *)registers + slots_offset);
}

static VG_REGPARM(1) void on_load(struct site *site, const void *registers)
{
    check(site, slots_of(registers));
}

static VG_REGPARM(1) void on_2_loads(struct site *site, const void *registers)
{
    const struct slot *slots = slots_of(registers);
    check(site, slots);
    check(site + 1, slots + 1);
}

static VG_REGPARM(1) void on_3_loads(struct site *site, const void *registers)
{
    const struct slot *slots = slots_of(registers);
    check(site, slots);
    check(site + 1, slots + 1);
    check(site + 2, slots + 2);
}

static VG_REGPARM(1) void on_loads(
    struct site *site, const void *registers, UWord count)
{
    const struct slot *slots = slots_of(registers);
    for (UWord i = 0; i < count; i++)
        check(site + i, slots + i);
}

static VG_REGPARM(1) void on_access(struct site *site, const void *registers)
{
    check_block(site, slots_of(registers));
}

static VG_REGPARM(1) void on_accesses(
    struct site *site, const void *registers, UWord count)
{
    const struct slot *slots = slots_of(registers);
    for (UWord i = 0; i < count; i++)
        check_block(site + i, slots + i);
}

/* ---- loads */

struct load {
    IRExpr *address;
    UInt size;
    IRExpr *value; /* NULL: none is kept */
    IRExpr *guard; /* or NULL */
};

/* An integer that is shorter than a word, extended by its sign to one. */
static IRExpr *extended(struct build *b, IRExpr *value)
{
    IROp op;
    switch (typeOfIRExpr(b->out->tyenv, value)) {
    case Ity_I8:
        op = is_64(b) ? Iop_8Sto64 : Iop_8Sto32;
        break;
    case Ity_I16:
        op = is_64(b) ? Iop_16Sto64 : Iop_16Sto32;
        break;
    case Ity_F32:
        value = assign(b, Ity_I32, IRExpr_Unop(Iop_ReinterpF32asI32, value));
        /* fall through */
    case Ity_I32:
        if (!is_64(b))
            return value;
        op = Iop_32Sto64;
        break;
    default:
        return value;
    }
    return assign(b, b->word, IRExpr_Unop(op, value));
}

/* A helper that checks so many slots; with an argument for their number, or
 * without. */
#define HELPER(name) unsafe_call(b, #name, VG_(fnptr_to_fnentry)(&name), False)
#define HELPER_OF_MANY(name)                                                   \
    unsafe_call(b, #name, VG_(fnptr_to_fnentry)(&name), True)

/* (On x86, the registers can be no argument in a register.) */
static IRDirty *unsafe_call(
    const struct build *b, const HChar *name, void *helper, Bool takes_count)
{
    IRExpr *site = constant(b, (UWord)b->first);
    IRExpr **arguments =
        takes_count ? mkIRExprVec_3(site, IRExpr_GSPTR(), constant(b, b->count))
                    : mkIRExprVec_2(site, IRExpr_GSPTR());
    return unsafeIRDirty_0_N(1, name, helper, arguments);
}

static IRDirty *helper_call(const struct build *b)
{
    if (opt.blocks)
        return b->count == 1 ? HELPER(on_access) : HELPER_OF_MANY(on_accesses);
    switch (b->count) {
    case 1:
        return HELPER(on_load);
    case 2:
        return HELPER(on_2_loads);
    case 3:
        return HELPER(on_3_loads);
    default:
        return HELPER_OF_MANY(on_loads);
    }
}

/* Checks the accesses in slots; `guard` NULL: always. */
static void flush(struct build *b, IRExpr *guard)
{
    if (b->count == 0)
        return;
    IRDirty *call = helper_call(b);
    if (guard != NULL)
        call->guard = guard;
    call->nFxState = 1;
    call->fxState[0].fx = Ifx_Read;
    call->fxState[0].offset = (UShort)slots_offset;
    call->fxState[0].size = (UShort)(b->count * sizeof(struct slot));
    call->fxState[0].nRepeats = call->fxState[0].repeatLen = 0;
    addStmtToIRSB(b->out, IRStmt_Dirty(call));
    b->count = 0;
}

static void put_slot(struct build *b, IRExpr *address, IRExpr *value)
{
    const Int slot = slots_offset + (Int)(b->count * sizeof(struct slot));
    addStmtToIRSB(b->out,
        IRStmt_Put(slot + (Int)offsetof(struct slot, address), address));
    if (value != NULL)
        addStmtToIRSB(
            b->out, IRStmt_Put(slot + (Int)offsetof(struct slot, value),
                        extended(b, value)));
    b->count++;
}

static void add_access(struct build *b, const struct load *l, struct site *site)
{
    if (b->count == SLOTS || l->guard != NULL || site != b->first + b->count)
        flush(b, NULL);
    if (b->count == 0)
        b->first = site;
    put_slot(b, l->address, l->value);
    if (l->guard != NULL)
        flush(b, l->guard);
}

static void add_load(struct build *b, const struct load *l)
{
    const UInt number = b->load++;
    const UInt kind = l->value == NULL ? SITE_WIDE : 0;
    if (!is_of_stack(l->address))
        add_access(b, l, sites_at(b->ip, number, l->size, kind));
}

static void add_store(
    struct build *b, IRExpr *address, UInt size, IRExpr *guard)
{
    const struct load l = {.address = address, .guard = guard};
    const UInt number = b->store++;
    if (opt.blocks && !is_of_stack(address))
        add_access(b, &l, sites_at(b->ip, number, size, SITE_STORE));
}

/* The bits of what is at an address, where the program's code has no value. */
static IRExpr *load_bits(struct build *b, const struct load *l)
{
    static const IRType types[] = {
        [1] = Ity_I8, Ity_I16, [4] = Ity_I32, [8] = Ity_I64};
    if (l->guard == NULL)
        return assign(b, types[l->size],
            IRExpr_Load(Iend_LE, types[l->size], l->address));
    const Bool is_long = l->size == 8;
    IRTemp to = newIRTemp(b->out->tyenv, is_long ? Ity_I64 : Ity_I32);
    addStmtToIRSB(b->out,
        IRStmt_LoadG(Iend_LE,
            is_long        ? ILGop_Ident64
            : l->size == 4 ? ILGop_Ident32
            : l->size == 2 ? ILGop_16Sto32
                           : ILGop_8Sto32,
            to, l->address,
            IRExpr_Const(is_long ? IRConst_U64(0) : IRConst_U32(0)), l->guard));
    return IRExpr_RdTmp(to);
}

static Bool is_kept(UInt size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

static IRTemp temp_of(const IRExpr *e)
{
    return e->tag == Iex_RdTmp ? e->Iex.RdTmp.tmp : IRTemp_INVALID;
}

static void visit_load(struct build *b, IRTemp to, const IRExpr *load)
{
    const IRType type = load->Iex.Load.ty;
    struct load l = {
        .address = load->Iex.Load.addr, .size = (UInt)sizeofIRType(type)};
    if (is_kept(l.size))
        l.value = IRExpr_RdTmp(to);
    b->read = temp_of(l.address);
    add_load(b, &l);
}

static void visit_guarded_load(struct build *b, const IRLoadG *load)
{
    IRType result, loaded;
    typeOfIRLoadGOp(load->cvt, &result, &loaded);
    struct load l = {.address = load->addr,
        .size = (UInt)sizeofIRType(loaded),
        .guard = load->guard};
    if (is_kept(l.size) && !is_of_stack(l.address))
        l.value = load_bits(b, &l);
    add_load(b, &l);
}

static UInt size_of(const struct build *b, const IRExpr *value)
{
    return (UInt)sizeofIRType(typeOfIRExpr(b->in->tyenv, value));
}

/* An exchange of two halves is one load. That of a locked addition checks what
 * was loaded just before. */
static void visit_swap(struct build *b, const IRCAS *cas)
{
    const UInt half = size_of(b, IRExpr_RdTmp(cas->oldLo));
    add_store(b, cas->addr, cas->dataHi == NULL ? half : 2 * half, NULL);
    if (b->read != IRTemp_INVALID && b->read == temp_of(cas->addr))
        return;
    IRExpr *low = IRExpr_RdTmp(cas->oldLo);
    struct load l = {.address = cas->addr, .size = half, .value = low};
    if (cas->dataHi != NULL) {
        l.size = 2 * half;
        l.value =
            half == 4
                ? assign(b, Ity_I64,
                      IRExpr_Binop(Iop_32HLto64, IRExpr_RdTmp(cas->oldHi), low))
                : NULL;
    }
    add_load(b, &l);
}

static void visit_store(struct build *b, const IRStmt *s)
{
    const IRStoreG *guarded = s->Ist.StoreG.details;
    if (s->tag == Ist_Store)
        add_store(b, s->Ist.Store.addr, size_of(b, s->Ist.Store.data), NULL);
    else
        add_store(b, guarded->addr, size_of(b, guarded->data), guarded->guard);
}

static void visit_linked(struct build *b, const IRStmt *s)
{
    if (s->Ist.LLSC.storedata != NULL) {
        add_store(b, s->Ist.LLSC.addr, size_of(b, s->Ist.LLSC.storedata), NULL);
        return;
    }
    struct load l = {
        .address = s->Ist.LLSC.addr,
        .value = IRExpr_RdTmp(s->Ist.LLSC.result),
    };
    l.size = size_of(b, l.value);
    add_load(b, &l);
}

/* Valgrind's helper for an instruction, before it is called. */
static void visit_helper(struct build *b, const IRDirty *call)
{
    struct load l = {.address = call->mAddr, .size = (UInt)call->mSize};
    if (call->mFx == Ifx_None)
        return;
    if (call->guard->tag != Iex_Const)
        l.guard = call->guard;
    if (call->mFx != Ifx_Read)
        add_store(b, l.address, l.size, l.guard);
    if (call->mFx == Ifx_Write)
        return;
    if (is_kept(l.size) && !is_of_stack(l.address))
        l.value = load_bits(b, &l);
    add_load(b, &l);
}

static void visit_statement(struct build *b, IRStmt *s)
{
    if (s->tag == Ist_NoOp)
        return;
    if (s->tag == Ist_IMark) {
        b->ip = s->Ist.IMark.addr + s->Ist.IMark.delta;
        b->load = b->store = 0;
        b->read = IRTemp_INVALID;
    }
    if (s->tag == Ist_Exit)
        flush(b, NULL);
    if (s->tag == Ist_Dirty)
        visit_helper(b, s->Ist.Dirty.details);
    follow(b, s);
    addStmtToIRSB(b->out, s);
    if (s->tag == Ist_WrTmp && s->Ist.WrTmp.data->tag == Iex_Load)
        visit_load(b, s->Ist.WrTmp.tmp, s->Ist.WrTmp.data);
    else if (s->tag == Ist_LoadG)
        visit_guarded_load(b, s->Ist.LoadG.details);
    else if (s->tag == Ist_Store || s->tag == Ist_StoreG)
        visit_store(b, s);
    else if (s->tag == Ist_CAS)
        visit_swap(b, s->Ist.CAS.details);
    else if (s->tag == Ist_LLSC)
        visit_linked(b, s);
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in,
    const VexGuestLayout *layout, const VexGuestExtents *extents,
    const VexArchInfo *host, IRType guest_word, IRType host_word)
{
    (void)closure, (void)extents, (void)host;
    if (guest_word != host_word)
        VG_(tool_panic)("host and guest words differ");
    struct build b = {
        .out = deepCopyIRSBExceptStmts(in),
        .in = in,
        .word = guest_word,
        .sp = layout->offset_SP,
        .read = IRTemp_INVALID,
    };
    Int i = 0;
    slots_offset = layout->total_sizeB;
    forget_distances(in);
    while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
        addStmtToIRSB(b.out, in->stmts[i++]);
    for (; i < in->stmts_used; i++)
        visit_statement(&b, in->stmts[i]);
    flush(&b, NULL);
    return b.out;
}
