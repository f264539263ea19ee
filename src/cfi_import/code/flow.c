/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/flow_impl.h"
#include "cfi_import/code/jump_table.h"

#include <stdlib.h>

enum {
    WORK_PER_BYTE = 2, /* real code takes up to 0.4 */
    WORK_AT_LEAST = 64 * 1024,
    MOST_STATES = 512 * 1024,
    MOST_CODE = 256 * 1024 * 1024,
    PLAUSIBLE = 1024 * 1024, /* bytes from a jump to its targets */
    MOST_JUMPS = 64,         /* that are tried for one gap */
};

/* ---- states */

static void note(struct wndl_code_flow *f, struct wndl_vec *list, uint32_t at)
{
    uint32_t *noted = wndl_vec_push(list);
    if (noted != NULL)
        *noted = at;
    f->failed |= noted == NULL;
}

/* The id of a state; 0: there are too many, or memory is out. */
static uint32_t id_of(
    struct wndl_code_flow *f, const struct wndl_code_state *state)
{
    uint8_t room[sizeof *state];
    uint32_t id = 0;
    if (wndl_intern_count(&f->states) >= MOST_STATES) {
        f->full = true;
        return 0;
    }
    if (!wndl_intern_add(&f->states, wndl_code_state_pack(state, room), &id))
        f->failed = true;
    return f->failed ? 0 : id;
}

static void get_state(
    const struct wndl_code_flow *f, uint32_t id, struct wndl_code_state *state)
{
    wndl_code_state_load(state, wndl_intern_get(&f->states, id));
}

static struct wndl_code_value sp_of(const struct wndl_code_flow *f, uint32_t id)
{
    return wndl_code_packed_sp(wndl_intern_get(&f->states, id));
}

/* Where one is not known, as after alloca, the other may be right, too. */
static bool disagree(struct wndl_code_value a, struct wndl_code_value b)
{
    return a.from == WNDL_CODE_CFA && b.from == WNDL_CODE_CFA &&
           a.offset != b.offset;
}

/*
 * A way from one called entry into another one, as assembly has that changes a
 * register and runs on. Such ways are kept for later if both come back to their
 * callers by the same stack, and not with the same registers: what was taken
 * for an entry may not be one until all are known.
 */
static void meet(struct wndl_code_flow *f, uint32_t at, uint32_t id)
{
    struct wndl_code_state entry, other;
    if (!f->lenient)
        return;
    get_state(f, f->entry, &entry);
    get_state(f, id, &other);
    wndl_code_state_join(&entry, &other);
    if (wndl_code_state_may_return(&entry) && id_of(f, &entry) != f->entry)
        wndl_code_add_way(f, &f->meetings, at, id);
}

static bool has_rule(const struct wndl_code_state *state)
{
    struct wndl_cfi_row row;
    uint8_t room[WNDL_CODE_ROOM];
    return wndl_code_state_row(state, &row, room);
}

/* Whether a way that is only tried takes the rule from code that runs. */
static bool spoils(const struct wndl_code_flow *f, uint32_t at,
    const struct wndl_code_state *joined)
{
    struct wndl_code_state before;
    if (f->lenient || (f->marks[at] & IS_NEW) != 0)
        return false;
    get_state(f, id_at(f, at), &before);
    return has_rule(&before) && !has_rule(joined);
}

/* Sets the id of an instruction that was reached before. What was known of code
 * that the entry did not reach first is noted. */
static void change(struct wndl_code_flow *f, uint32_t at, uint32_t id)
{
    if ((f->marks[at] & IS_NEW) == 0)
        wndl_code_add_way(f, &f->changed, at, id_at(f, at));
    set_id(f, at, id);
}

/*
 * Joins a state with the one at an instruction that was reached before. Returns
 * the id to go on with, 0 if there is nothing new.
 */
static uint32_t join_at(struct wndl_code_flow *f, uint32_t at, uint32_t id)
{
    struct wndl_code_state state, other;
    const uint32_t before = id_at(f, at);
    f->ends += before == id && (f->marks[at] & IS_NEW) == 0;
    if (before == id)
        return 0;
    get_state(f, before, &state);
    get_state(f, id, &other);
    const bool differ = disagree(sp_of(f, before), sp_of(f, id)) &&
                        !wndl_code_state_share_base(&state, &other);
    f->conflicts += differ;
    const bool is_called = (f->marks[at] & IS_CALLED) != 0;
    if (is_called && !f->meets)
        meet(f, at, id);
    if ((is_called && !f->meets) || (differ && !f->lenient))
        return 0;
    wndl_code_state_join(&state, &other);
    if (is_called && !wndl_code_state_may_return(&state))
        return 0;
    const uint32_t joined = id_of(f, &state);
    if (joined == before || joined == 0)
        return 0;
    if (spoils(f, at, &state)) {
        f->conflicts++;
        return 0;
    }
    change(f, at, joined);
    return joined;
}

/* Comes to an instruction. Returns the id to go on with, or 0. */
static uint32_t arrive(struct wndl_code_flow *f, uint32_t at, uint32_t id)
{
    if (f->full || f->failed || ++f->work > f->most_work) {
        f->full = true;
        return 0;
    }
    if (!is_ours(f, f->text->code.svma + at))
        return 0;
    if (id_at(f, at) != 0)
        return join_at(f, at, id);
    if ((f->marks[at] & IS_CALLED) != 0 && id != f->entry &&
        f->text->code.svma + at != f->text->start) {
        meet(f, at, id);
        return 0;
    }
    note(f, &f->trail, at);
    set_id(f, at, id);
    f->marks[at] |= IS_NEW;
    return id;
}

/* ---- instructions that lead elsewhere */

static void follow(struct wndl_code_flow *f, uint64_t svma,
    const struct wndl_code_state *state, uint32_t id)
{
    if (is_ours(f, svma))
        wndl_code_add_way(f, &f->todo, offset_of(f, svma), id);
    else
        f->ends += wndl_code_state_may_return(state);
}

static bool may_lead(
    const struct wndl_code_flow *f, uint64_t from, uint64_t svma)
{
    const struct wndl_code_range *function = range_at(f->text->functions, from);
    if (!is_ours(f, svma))
        return false;
    if (function != NULL)
        return svma >= function->start && svma < function->end;
    return svma - from < PLAUSIBLE || from - svma < PLAUSIBLE;
}

/* Entries after the last one are other things. A table's start ends another. */
static void follow_table(struct wndl_code_flow *f, uint32_t at,
    const struct wndl_code_state *state, uint32_t id)
{
    const uint64_t from = f->text->code.svma + at;
    struct wndl_jump_table table;
    uint64_t svma;
    uint32_t i = 0;
    if (wndl_jump_table_find(f, at, &table)) {
        for (; wndl_jump_table_entry(&table, i, &svma); i++) {
            if (!may_lead(f, from, svma))
                break;
            f->marks[offset_of(f, svma)] |= IS_TARGET;
            wndl_code_add_way(f, &f->todo, offset_of(f, svma), id);
        }
    }
    f->work += i;
    f->ends += i == 0 && wndl_code_state_may_return(state);
    if (i == 0)
        wndl_code_add_way(f, &f->jumps, at, id);
}

static uint32_t after_padding(const struct wndl_code_flow *f, uint32_t at)
{
    unsigned size;
    while ((size = wndl_insn_padding(f->text->mode, code_at(f, at))) != 0)
        at += size;
    return at;
}

static void note_call(struct wndl_code_flow *f, uint64_t svma)
{
    if (is_ours(f, svma) && (f->marks[offset_of(f, svma)] & IS_CALLED) == 0)
        note(f, &f->called, offset_of(f, svma));
}

/* Whether both are of one function, as far as functions are known. */
static bool is_one_function(
    const struct wndl_code_flow *f, uint64_t a, uint64_t b)
{
    return f->text->functions.count == 0 ||
           range_at(f->text->functions, a) == range_at(f->text->functions, b);
}

/* Whether to go on right after a call, which may not return. */
static bool goes_on(struct wndl_code_flow *f, const struct wndl_insn *insn,
    uint32_t next, uint32_t id)
{
    const uint64_t svma = f->text->code.svma + next;
    if (insn->op == WNDL_INSN_CALL) {
        note_call(f, insn->target);
        if (f->text->ends != NULL &&
            f->text->ends(f->text->context, insn->target)) {
            f->ends += f->named; /* as the first function of a thread does */
            return false;
        }
    }
    if (!is_ours(f, svma) || (f->marks[next] & (IS_CALLED | IS_START)) != 0 ||
        !is_one_function(f, svma, svma - insn->size))
        return false;
    if ((f->marks[next] & IS_NAMED) != 0) {
        wndl_code_add_way(f, &f->last, next, id);
        return false;
    }
    if ((f->marks[next] & IS_TARGET) == 0 &&
        wndl_insn_padding(f->text->mode, code_at(f, next)) == 0)
        return true;
    wndl_code_add_later(f, next, id);
    return false;
}

/* False where the way ends. */
static bool pass(struct wndl_code_flow *f, const struct wndl_insn *insn,
    const struct wndl_code_state *state, uint32_t at, uint32_t id)
{
    switch ((enum wndl_insn_op)insn->op) {
    case WNDL_INSN_BRANCH:
        follow(f, insn->target, state, id);
        return true;
    case WNDL_INSN_JUMP:
        follow(f, insn->target, state, id);
        return false;
    case WNDL_INSN_JUMP_OTHER:
        follow_table(f, at, state, id);
        return false;
    case WNDL_INSN_RETURN:
        note(f, &f->returns, at);
        return false;
    case WNDL_INSN_STOP:
        return false;
    case WNDL_INSN_CALL:
    case WNDL_INSN_CALL_OTHER:
        return goes_on(f, insn, at + insn->size, id);
    default:
        return true;
    }
}

/* A call of the next instruction only leaves its address. */
static void make_push(
    const struct wndl_code_flow *f, struct wndl_insn *insn, uint64_t next)
{
    const struct wndl_code_machine *machine =
        wndl_code_machine_of(f->text->mode);
    if (insn->op != WNDL_INSN_CALL || insn->target != next)
        return;
    insn->op =
        machine->link == WNDL_INSN_NO_REG ? WNDL_INSN_PUSH : WNDL_INSN_OTHER;
    insn->value = machine->word;
    insn->writes = machine->link == WNDL_INSN_NO_REG ? 0 : 1u << machine->link;
}

/* The register that an instruction compares with SP, or none. */
static uint8_t compared_with_sp(
    const struct wndl_code_flow *f, const struct wndl_insn *insn)
{
    const uint8_t sp = wndl_code_machine_of(f->text->mode)->sp;
    if (insn->op != WNDL_INSN_COMPARE_REG)
        return WNDL_INSN_NO_REG;
    return insn->reg == sp    ? insn->from
           : insn->from == sp ? insn->reg
                              : WNDL_INSN_NO_REG;
}

/*
 * After a loop that moves SP until it is equal to a register, as
 * -fstack-clash-protection makes.
 */
static bool leaves_loop(
    struct wndl_code_state *state, const struct wndl_insn *insn, uint8_t reg)
{
    return insn->op == WNDL_INSN_BRANCH && insn->unequal &&
           reg != WNDL_INSN_NO_REG && wndl_code_state_equal_sp(state, reg);
}

/* Notes the effects of this callee beyond those of all calls. */
static void know_callee(struct wndl_code_flow *f,
    const struct wndl_code_state *state, struct wndl_insn *insn)
{
    if (wndl_code_state_sp(state).from != WNDL_CODE_CFA ||
        wndl_code_state_in_register(state))
        insn->keeps = wndl_code_callee_keeps(f, insn->target);
    if (f->text->mode == WNDL_INSN_32)
        insn->frees = wndl_code_callee_frees(f, insn->target);
}

static void follow_way(struct wndl_code_flow *f, struct wndl_code_way way)
{
    struct wndl_code_state state;
    struct wndl_insn insn;
    uint8_t compared = WNDL_INSN_NO_REG;
    uint32_t at = way.at, id = way.id, loaded = 0;
    while ((id = arrive(f, at, id)) != 0) {
        const uint64_t svma = f->text->code.svma + at;
        if ((f->marks[at] & IS_PLAIN) != 0) {
            compared = WNDL_INSN_NO_REG;
            at += f->marks[at] & WNDL_INSN_LONGEST;
            continue;
        }
        if (!wndl_insn_decode(f->text->mode, code_at(f, at), svma, &insn)) {
            f->odd++;
            return;
        }
        f->marks[at] &= ~(uint32_t)WNDL_INSN_LONGEST;
        f->marks[at] |= insn.size | (insn.is_padding ? IS_PADDING : 0u);
        make_push(f, &insn, svma + insn.size);
        if (loaded != id)
            get_state(f, id, &state);
        if (insn.op == WNDL_INSN_CALL)
            know_callee(f, &state, &insn);
        if (wndl_code_state_step(&state, &insn, at))
            id = id_of(f, &state);
        loaded = id;
        if (id == 0 || !pass(f, &insn, &state, at, id))
            return;
        if (leaves_loop(&state, &insn, compared))
            loaded = id = id_of(f, &state);
        compared = compared_with_sp(f, &insn);
        at += insn.size;
    }
}

/* A way after a call ends if another one comes there with another SP. */
static bool is_refuted(
    const struct wndl_code_flow *f, const struct wndl_code_way *way)
{
    const uint32_t at = after_padding(f, way->at);
    return id_at(f, at) != 0 &&
           disagree(sp_of(f, id_at(f, at)), sp_of(f, way->id));
}

static void drain(struct wndl_code_flow *f)
{
    struct wndl_code_way way;
    for (;;) {
        while (wndl_code_take_way(&f->todo, &way))
            follow_way(f, way);
        if (!wndl_code_take_later(f, &way))
            return;
        if (!is_refuted(f, &way))
            follow_way(f, way);
    }
}

/* ---- entries */

/* Keeps what was reached and changed since the entry, or undoes it. */
static void settle(
    struct wndl_code_flow *f, bool keeps, size_t jumps, size_t meetings)
{
    const uint32_t *trail = f->trail.data;
    struct wndl_code_way was;
    while (!keeps && wndl_code_take_way(&f->changed, &was))
        set_id(f, was.at, was.id);
    f->changed.len = 0;
    for (size_t i = 0; i < f->trail.len; i++) {
        f->marks[trail[i]] &= ~(uint32_t)IS_NEW;
        if (!keeps)
            set_id(f, trail[i], 0);
    }
    if (!keeps) {
        f->jumps.len = jumps;
        f->meetings.len = meetings;
    }
}

/* By what is known of SP there after all ways have met. */
static void judge_returns(struct wndl_code_flow *f)
{
    const uint32_t *all = f->returns.data;
    for (size_t i = 0; i < f->returns.len; i++) {
        struct wndl_code_state state;
        get_state(f, id_at(f, all[i]), &state);
        const bool may = wndl_code_state_may_return(&state);
        f->ends += may;
        f->odd += !may && wndl_code_state_sp(&state).from == WNDL_CODE_CFA;
    }
}

/* Follows the code from `at`, and forgets it again if it makes no sense. */
static bool try_way(
    struct wndl_code_flow *f, uint32_t at, uint32_t id, bool lenient)
{
    const size_t jumps = f->jumps.len, meetings = f->meetings.len;
    f->trail.len = f->returns.len = 0;
    f->odd = f->conflicts = f->ends = 0;
    f->lenient = lenient;
    wndl_code_add_way(f, &f->todo, at, id);
    drain(f);
    judge_returns(f);
    /* Jumps by what is not known may lead to returns. */
    const bool may_end = f->ends != 0 || (f->named && f->jumps.len != jumps);
    const bool fails =
        f->odd != 0 || (!lenient && (f->conflicts != 0 || !may_end));
    settle(f, !fails, jumps, meetings);
    return !fails;
}

static void try_called(struct wndl_code_flow *f)
{
    while (f->called.len != 0 && !f->failed) {
        const uint32_t at = ((uint32_t *)f->called.data)[--f->called.len];
        if (id_at(f, at) == 0 && (f->marks[at] & IS_CALLED) == 0) {
            f->marks[at] |= IS_CALLED;
            (void)try_way(f, at, f->entry, true);
        }
    }
}

static void try_marked(struct wndl_code_flow *f, uint32_t mark)
{
    const size_t size = f->text->code.bytes.size;
    f->named = mark == IS_NAMED;
    for (size_t at = 0; at < size && !f->failed; at++) {
        if ((f->marks[at] & mark) == 0 || id_at(f, at) != 0)
            continue;
        (void)try_way(f, (uint32_t)at, f->entry, mark == IS_CALLED);
        try_called(f);
    }
    f->named = false;
}

/* Joins the ways that were kept with what is known at the entries. */
static void follow_meetings(struct wndl_code_flow *f)
{
    struct wndl_code_way way;
    f->trail.len = 0;
    f->lenient = f->meets = true;
    while (wndl_code_take_way(&f->meetings, &way) && !f->failed) {
        if (id_at(f, way.at) == 0)
            continue;
        wndl_code_add_way(f, &f->todo, way.at, way.id);
        drain(f);
        f->changed.len = 0;
    }
    f->meets = false;
    settle(f, true, 0, 0);
}

/* ---- gaps */

static int compare_ways(const void *a, const void *b)
{
    const struct wndl_code_way *v = a, *w = b;
    return (v->at > w->at) - (v->at < w->at);
}

static void sort_jumps(struct wndl_code_flow *f)
{
    if (f->jumps.len > 1)
        qsort(f->jumps.data, f->jumps.len, f->jumps.element, compare_ways);
    f->sorted = f->jumps.len;
}

/*
 * The function around a gap, offsets; where extents are not known, from its
 * start up to the gap.
 */
static struct wndl_code_range function_around(
    const struct wndl_code_flow *f, uint32_t at)
{
    const struct wndl_code_range *known =
        range_at(f->text->functions, f->text->code.svma + at);
    if (known != NULL && has_offset(f, known->start))
        return (struct wndl_code_range){
            offset_of(f, known->start), known->end - f->text->code.svma};
    return (struct wndl_code_range){f->function, at};
}

struct bound {
    const struct wndl_code_way *all;
    uint64_t start;
};

static bool is_before(const void *context, size_t index)
{
    const struct bound *b = context;
    return b->all[index].at < b->start;
}

/* Tries the states of jumps that lead nobody knows where, from [from, to) of
 * the list, as far as they are of the function. */
static bool try_some(struct wndl_code_flow *f, uint32_t at,
    const struct wndl_code_range *function, size_t from, size_t to)
{
    uint32_t tried = 0;
    for (size_t i = from; i < to && i - from < MOST_JUMPS; i++) {
        const struct wndl_code_way jump =
            *(struct wndl_code_way *)wndl_vec_at(&f->jumps, i);
        if (jump.at >= function->end && i < f->sorted)
            return false;
        if (jump.id == tried || jump.at < function->start ||
            jump.at >= function->end)
            continue;
        tried = jump.id;
        if (try_way(f, at, jump.id, false))
            return true;
    }
    return false;
}

static bool try_jumps(struct wndl_code_flow *f, uint32_t at)
{
    const struct wndl_code_range function = function_around(f, at);
    const struct bound bound = {f->jumps.data, function.start};
    const size_t first = wndl_search(f->sorted, is_before, &bound);
    const size_t count = f->jumps.len;
    const size_t later =
        count - f->sorted > MOST_JUMPS ? count - MOST_JUMPS : f->sorted;
    return try_some(f, at, &function, first, f->sorted) ||
           try_some(f, at, &function, later, count);
}

static void fill_gap(struct wndl_code_flow *f, uint32_t at)
{
    if (try_jumps(f, at))
        return;
    if (f->text->functions.count == 0)
        (void)try_way(f, at, f->entry, false);
    try_called(f);
}

static void fill_gaps(struct wndl_code_flow *f)
{
    const uint32_t size = (uint32_t)f->text->code.bytes.size;
    uint32_t at = 0, tried = UINT32_MAX;
    bool begins = true;
    sort_jumps(f);
    while (at < size && !f->failed && !f->full) {
        const uint64_t svma = f->text->code.svma + at;
        if (id_at(f, at) == f->entry && wndl_code_flow_is_entry(f, at))
            f->function = at;
        if ((f->marks[at] & IS_COVERED) != 0) {
            /* (The end of a hostile range is far away.) */
            const uint64_t end =
                range_at(f->text->covered, svma)->end - f->text->code.svma;
            at = end < size ? (uint32_t)end : size;
            f->function = at;
            begins = true;
        } else if (id_at(f, at) != 0) {
            at += wndl_code_flow_size(f, at);
            begins = true;
        } else if (at != tried && (begins || (f->marks[at] & IS_NAMED) != 0)) {
            tried = at = after_padding(f, at);
            begins = false;
            if (at < size && id_at(f, at) == 0 &&
                is_ours(f, f->text->code.svma + at))
                fill_gap(f, at);
        } else {
            at++;
        }
    }
}

/* ---- public */

static void mark_covered(struct wndl_code_flow *f)
{
    const uint64_t size = f->text->code.bytes.size;
    const uint64_t svma = f->text->code.svma;
    for (size_t i = 0; i < f->text->covered.count; i++) {
        const struct wndl_code_range r = f->text->covered.all[i];
        uint64_t at = r.start < svma ? 0 : r.start - svma;
        for (; at < size && at + svma < r.end; at++)
            f->marks[at] |= IS_COVERED;
    }
}

static void mark_functions(struct wndl_code_flow *f)
{
    for (size_t i = 0; i < f->text->functions.count; i++) {
        const uint64_t start = f->text->functions.all[i].start;
        if (has_offset(f, start))
            f->marks[offset_of(f, start)] |= IS_START;
    }
}

bool wndl_code_flow_init(struct wndl_code_flow *f,
    const struct wndl_code_text *text, struct wndl_arena *arena)
{
    const size_t size = text->code.bytes.size;
    struct wndl_code_state entry;
    *f = (struct wndl_code_flow){.text = text, .arena = arena};
    f->most_work = (uint64_t)size * WORK_PER_BYTE + WORK_AT_LEAST;
    struct wndl_vec *ways[] = {
        &f->todo, &f->later, &f->last, &f->jumps, &f->meetings, &f->changed};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        wndl_vec_init(ways[i], arena, sizeof(struct wndl_code_way));
    wndl_vec_init(&f->trail, arena, sizeof(uint32_t));
    wndl_vec_init(&f->returns, arena, sizeof(uint32_t));
    wndl_vec_init(&f->called, arena, sizeof(uint32_t));
    wndl_vec_init(&f->addresses, arena, sizeof(uint64_t));
    wndl_map_init(&f->frees, arena);
    if (size > MOST_CODE)
        return false;
    f->marks = wndl_arena_calloc(arena, size + 1, sizeof *f->marks);
    if (f->marks == NULL || !wndl_intern_init(&f->states, arena))
        return false;
    wndl_code_state_enter(&entry, text->mode);
    f->entry = id_of(f, &entry);
    mark_covered(f);
    mark_functions(f);
    return !f->failed;
}

bool wndl_code_flow_is_padding(const struct wndl_code_flow *f, uint64_t offset)
{
    return (f->marks[offset] & IS_PADDING) != 0;
}

bool wndl_code_flow_is_entry(const struct wndl_code_flow *f, uint64_t offset)
{
    return (f->marks[offset] & (IS_NAMED | IS_CALLED)) != 0;
}

void wndl_code_flow_enter(
    struct wndl_code_flow *f, uint64_t svma, enum wndl_code_entry kind)
{
    if (!is_ours(f, svma))
        return;
    f->marks[offset_of(f, svma)] |=
        kind == WNDL_CODE_NAMED ? IS_NAMED : IS_CALLED;
    if (kind == WNDL_CODE_FIRST)
        f->first = svma;
}

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void follow_start(struct wndl_code_flow *f)
{
    struct wndl_code_state state;
    wndl_code_state_start(&state, f->text->mode);
    if (f->text->start != 0 && is_ours(f, f->text->start))
        (void)try_way(f, offset_of(f, f->text->start), id_of(f, &state), true);
}

bool wndl_code_flow_run(struct wndl_code_flow *f)
{
    struct wndl_code_way way;
    follow_start(f);
    if (f->addresses.len > 1)
        qsort(f->addresses.data, f->addresses.len, f->addresses.element,
            compare_addresses);
    try_marked(f, IS_CALLED);
    try_marked(f, IS_NAMED);
    try_marked(f, IS_START);
    fill_gaps(f);
    while (wndl_code_take_way(&f->last, &way) && !f->failed) {
        if (id_at(f, way.at) == 0)
            (void)try_way(f, way.at, way.id, false);
    }
    follow_meetings(f);
    return !f->failed;
}
