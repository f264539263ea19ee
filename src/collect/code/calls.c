/* SPDX-License-Identifier: MIT */
#include "collect/code/calls.h"

#include "base/hash.h"
#include "collect/code/call_file.h"
#include "unwind/slow/x86_code.h"

enum {
    AT_MOST = 16384, /* instructions, for one answer */
    WAYS = 64,       /* places that jumps lead to, at one time */
    REGISTERS = 16,
    NO_INDEX = 4, /* of a SIB byte */
};

/* ---- instructions */

static bool decode(
    const struct wndl_call_file *file, uint64_t svma, struct wndl_x86 *x)
{
    return wndl_x86_decode(wndl_call_file_code(file, svma, WNDL_X86_LONGEST),
        wndl_call_file_is_64(file), x);
}

/* Whether it is the group of opcode ff with this number. */
static bool is_indirect(const struct wndl_x86 *x, unsigned number)
{
    return x->map == WNDL_X86_ONE && !x->is_vector && x->opcode == 0xff &&
           (x->reg & 7) == number;
}

static bool is_direct_call(const struct wndl_x86 *x)
{
    return x->map == WNDL_X86_ONE && !x->is_vector && x->opcode == 0xe8;
}

static bool is_call(const struct wndl_x86 *x)
{
    enum { CALL = 2 };
    return is_direct_call(x) || is_indirect(x, CALL);
}

static bool is_jump(const struct wndl_x86 *x)
{
    return x->map == WNDL_X86_ONE && !x->is_vector &&
           (x->opcode == 0xe9 || x->opcode == 0xeb);
}

static bool is_branch(const struct wndl_x86 *x)
{
    if (x->is_vector)
        return false;
    if (x->map == WNDL_X86_0F)
        return x->opcode >> 4 == 8;
    return x->map == WNDL_X86_ONE &&
           (x->opcode >> 4 == 7 || (x->opcode >= 0xe0 && x->opcode <= 0xe3));
}

/* Whether the code does not go on after it, nor by a jump to a constant. */
static bool is_end(const struct wndl_x86 *x)
{
    enum { JMP = 4 };
    if (x->is_vector)
        return false;
    if (x->map == WNDL_X86_0F)
        return x->opcode == 0x0b; /* ud2 */
    return is_indirect(x, JMP) ||
           (x->map == WNDL_X86_ONE &&
               (x->opcode == 0xc2 || x->opcode == 0xc3 || x->opcode == 0xcc ||
                   x->opcode == 0xf4));
}

/* The address of an operand that is the same at each run; 0: it is not. */
static uint64_t fixed_operand(
    const struct wndl_call_file *file, const struct wndl_x86 *x, uint64_t next)
{
    enum { DISP32 = 5 };
    if (x->mod != 0 || x->has_sib || (x->rm & 7) != DISP32)
        return 0;
    const uint64_t base = wndl_call_file_is_64(file) ? next : 0;
    return wndl_call_file_address(
        file, base + (uint64_t)(int64_t)x->displacement);
}

/* ---- the search for the code that was called */

struct way {
    struct wndl_call_file *file;
    uint64_t svma;
};

struct search {
    struct way to; /* file NULL: the code is in no file */
    struct way ways[WAYS];
    unsigned count, left; /* ways; instructions */
    struct wndl_arena arena;
    struct wndl_map seen; /* instructions that were decoded */
    bool found;
};

/* A way into the function that contains the code ends the search. */
static void add_way(struct search *s, struct wndl_call_file *file, uint64_t at)
{
    struct wndl_call_extent e;
    if (file == s->to.file && wndl_call_file_extent(file, at, &e) &&
        s->to.svma >= e.start && s->to.svma < e.end)
        s->found = true;
    else if (s->count < WAYS)
        s->ways[s->count++] = (struct way){file, at};
}

/* The loader has the function from another file, or from the same one. */
static void add_named(struct search *s, struct wndl_bytes name)
{
    size_t at = 0;
    uint64_t svma;
    while (s->to.file != NULL && !s->found &&
           wndl_call_file_named(s->to.file, name, &at, &svma))
        add_way(s, s->to.file, svma);
}

static bool is_new(struct search *s, const struct way *way)
{
    const uint64_t file = wndl_hash_u64((uintptr_t)way->file);
    uint64_t *slot = wndl_map_put(&s->seen, file ^ way->svma);
    if (slot == NULL || *slot != 0)
        return false;
    *slot = 1;
    return true;
}

/* The code that is followed, and what is known of it. */
struct flow {
    struct way at;
    struct wndl_call_extent extent; /* of its function; end 0: not known */
    bool loaded[REGISTERS];         /* from a place, not from a table */
    bool after_call;
};

/* Whether the memory operand is not an element of a table. */
static bool is_place(const struct wndl_x86 *x)
{
    return x->mod != 3 && (!x->has_sib || x->index == NO_INDEX);
}

static void note_registers(struct flow *f, const struct wndl_x86 *x)
{
    const bool loads = x->map == WNDL_X86_ONE && !x->is_vector &&
                       x->opcode == 0x8b && is_place(x);
    if (!x->has_modrm) {
        f->loaded[x->low % REGISTERS] = false;
        return;
    }
    if (x->mod == 3)
        f->loaded[x->rm % REGISTERS] = false;
    f->loaded[x->reg % REGISTERS] = loads;
}

/*
 * A jump to where a register or memory says. It is a call if that is one place;
 * an element of a table is one of a switch.
 */
static void take_indirect(
    struct search *s, const struct flow *f, const struct wndl_x86 *x)
{
    enum { NOTRACK = 0x3e };
    const struct wndl_call_file *file = f->at.file;
    const struct wndl_bytes code = wndl_call_file_code(file, f->at.svma, 1);
    struct wndl_bytes name;
    const uint64_t slot = fixed_operand(file, x, f->at.svma + x->size);
    if (x->mod == 3 ? !f->loaded[x->rm % REGISTERS] || code.data[0] == NOTRACK
                    : !is_place(x))
        return;
    if (x->mod != 3 && slot != 0 &&
        wndl_call_file_slot(f->at.file, slot, &name))
        add_named(s, name);
    else
        s->found = true;
}

/* A function may end in a call that does not return. */
static bool starts_function(struct wndl_call_file *file, uint64_t svma)
{
    enum { INT3 = 0xcc, NOP = 0x90 };
    struct wndl_call_extent e;
    const struct wndl_bytes code = wndl_call_file_code(file, svma, 1);
    return code.size == 0 || code.data[0] == INT3 || code.data[0] == NOP ||
           (wndl_call_file_extent(file, svma, &e) && e.start == svma);
}

/* Takes one instruction. False if the code does not go on after it. */
static bool take(struct search *s, struct flow *f, const struct wndl_x86 *x)
{
    enum { JMP = 4 };
    const uint64_t next = f->at.svma + x->size;
    const bool is_known = f->extent.end != 0;
    if (is_branch(x) || is_jump(x)) {
        const uint64_t target =
            wndl_call_file_address(f->at.file, next + (uint64_t)x->immediate);
        if (!is_known || target < f->extent.start || target >= f->extent.end)
            add_way(s, f->at.file, target);
    }
    if (is_indirect(x, JMP))
        take_indirect(s, f, x);
    note_registers(f, x);
    f->after_call = is_call(x);
    f->at.svma = next;
    if (is_known && next < f->extent.end)
        return true;
    return !is_jump(x) && !is_end(x) &&
           (!f->after_call || !starts_function(f->at.file, next));
}

/* Decodes an instruction that was not decoded yet. */
static bool decode_new(
    struct search *s, const struct way *at, struct wndl_x86 *x)
{
    if (s->left == 0 || !is_new(s, at))
        return false;
    s->left--;
    return decode(at->file, at->svma, x);
}

/*
 * Follows the code from `way` on: all of a function whose extent is known, else
 * the instructions up to a jump.
 */
static void follow(struct search *s, const struct way *way)
{
    struct wndl_bytes name;
    struct wndl_x86 x;
    struct flow f = {.at = *way};
    if (wndl_call_file_stub(way->file, way->svma, &name)) {
        add_named(s, name);
        return;
    }
    if (!wndl_call_file_extent(way->file, way->svma, &f.extent))
        f.extent = (struct wndl_call_extent){0};
    while (!s->found && decode_new(s, &f.at, &x)) {
        s->found = f.at.file == s->to.file && s->to.svma - f.at.svma < x.size;
        if (!take(s, &f, &x))
            break;
    }
}

static bool follow_all(struct search *s)
{
    while (!s->found && s->count != 0) {
        const struct way way = s->ways[--s->count];
        follow(s, &way);
    }
    return s->found;
}

/* ---- the call */

/*
 * The call that ends at `ra`. The instructions of its function are counted from
 * the start, if that is known: backwards, bytes may look like a call by chance.
 */
static bool find_call(
    struct wndl_call_file *file, uint64_t ra, struct wndl_x86 *x)
{
    enum { SHORTEST = 2, LONGEST = 9, DIRECT = 5, MOST = 1 << 20 };
    struct wndl_call_extent e;
    if (wndl_call_file_extent(file, ra - 1, &e)) {
        uint64_t at = e.start;
        x->size = 0;
        for (uint32_t i = 0; i < MOST && at < ra && decode(file, at, x); i++)
            at += x->size;
        return at == ra && is_call(x);
    }
    if (decode(file, ra - DIRECT, x) && x->size == DIRECT && is_direct_call(x))
        return true;
    for (unsigned size = SHORTEST; size <= LONGEST; size++) {
        if (decode(file, ra - size, x) && x->size == size && is_call(x))
            return true;
    }
    return false;
}

static bool search_from(struct search *s, struct wndl_call_file *file,
    uint64_t ra, const struct wndl_x86 *call)
{
    struct wndl_bytes name;
    const uint64_t slot = fixed_operand(file, call, ra);
    if (is_direct_call(call))
        add_way(s, file,
            wndl_call_file_address(file, ra + (uint64_t)call->immediate));
    else if (slot != 0 && wndl_call_file_slot(file, slot, &name))
        add_named(s, name);
    else
        s->found = true;
    return follow_all(s);
}

static bool lead(
    struct wndl_binaries *binaries, const struct wndl_call_step *step)
{
    struct wndl_x86 call;
    struct wndl_call_file *file =
        step->to.binary == NULL ? NULL
                                : wndl_call_file_of(binaries, step->to.binary);
    if (file == NULL || !find_call(file, step->to.svma, &call))
        return false;
    struct search s = {.left = AT_MOST, .to.svma = step->from.svma};
    if (step->from.binary != NULL)
        s.to.file = wndl_call_file_of(binaries, step->from.binary);
    wndl_arena_init(&s.arena, wndl_mem_libc());
    wndl_map_init(&s.seen, &s.arena);
    const bool leads = search_from(&s, file, step->to.svma, &call);
    wndl_arena_free(&s.arena);
    return leads;
}

/* ---- public */

static uint64_t key_of(const struct wndl_call_step *step)
{
    uint64_t key = wndl_hash_u64((uintptr_t)step->to.binary);
    key = wndl_hash_u64(key ^ step->to.svma);
    key = wndl_hash_u64(key ^ (uintptr_t)step->from.binary);
    return wndl_hash_u64(key ^ step->from.svma);
}

bool wndl_calls_lead(
    struct wndl_binaries *binaries, const struct wndl_call_step *step)
{
    enum { NO = 1, YES = 2 };
    uint64_t *answer = wndl_map_put(&binaries->calls, key_of(step));
    if (answer == NULL)
        return false;
    if (*answer == 0)
        *answer = lead(binaries, step) ? YES : NO;
    return *answer == YES;
}

void wndl_calls_check_walk(struct wndl_binaries *binaries,
    const struct wndl_call_places *places, struct wndl_walk *walk)
{
    for (size_t i = 1; i < walk->count; i++) {
        struct wndl_frame *caller = &walk->frames[i];
        const struct wndl_frame *callee = &walk->frames[i - 1];
        if (caller->how != WNDL_HOW_FP)
            continue;
        const struct wndl_call_step step = {
            .to = places->place(places->context, caller->address),
            .from = places->place(places->context,
                callee->address - (uint64_t)!callee->interrupted),
        };
        if (!wndl_calls_lead(binaries, &step))
            continue;
        caller->how = WNDL_HOW_CHECKED;
    }
}
