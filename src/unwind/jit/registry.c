/* SPDX-License-Identifier: MIT */
/*
 * registry: two tables, of which walks see one while the other is changed. They
 * change places when the change is complete. Before the old one is written
 * again, or memory that it refers to is freed, every walk has left it.
 *
 * Why nobody reads a table that is being written: a walk counts itself into a
 * side and then checks that this is still the current one. A change publishes
 * the other side first and reads the count after that. In the total order of
 * these four, either the walk is counted when the change reads the count, or
 * the other side is already current when the walk checks, and the walk turns
 * back.
 */
#include "unwind/jit/registry.h"

#include "base/search.h"
#include "os/raw.h"
#include "unwind/core/arch.h"
#include "unwind/jit/registry_layout.h"

size_t wndl_jit_size(size_t max)
{
    return sizeof(struct wndl_jit) + 2 * max * sizeof(struct wndl_jit_entry);
}

struct wndl_jit *wndl_jit_init(void *memory, size_t max)
{
    struct wndl_jit *jit = memory;
    struct wndl_jit_entry *entries = (struct wndl_jit_entry *)(jit + 1);
    *jit = (struct wndl_jit){
        .version = WNDL_JIT_VERSION,
        .max = max,
        .entries = {entries, entries + max},
    };
    return jit;
}

bool wndl_jit_is_known(const struct wndl_jit *jit)
{
    return jit->version == WNDL_JIT_VERSION;
}

/*
 * Called before each walk, so it stores only a change: each store would take
 * the cache line from other threads.
 */
void wndl_jit_look_also(struct wndl_jit *jit, struct wndl_jit *also)
{
    if (atomic_load_explicit(&jit->also, memory_order_relaxed) != also)
        atomic_store(&jit->also, also);
}

void wndl_jit_after_fork(struct wndl_jit *jit)
{
    jit->same = 0;
    atomic_store(&jit->readers[0], 0);
    atomic_store(&jit->readers[1], 0);
    atomic_store(&jit->changing, 0);
}

/* ---- walks */

static uint32_t enter_side(struct wndl_jit *jit)
{
    for (;;) {
        uint32_t now = atomic_load(&jit->changes), side = now % 2;
        atomic_fetch_add(&jit->readers[side], 1);
        if (atomic_load(&jit->changes) == now)
            return side;
        atomic_fetch_sub(&jit->readers[side], 1);
    }
}

static void leave_side(struct wndl_jit *jit, uint32_t side)
{
    atomic_fetch_sub(&jit->readers[side], 1);
}

void wndl_jit_leave(const struct wndl_jit_hold *hold)
{
    leave_side(hold->jit, hold->side);
}

/* The number of the `count` entries that start at or before `pc`. */
static size_t count_up_to(
    const struct wndl_jit_entry *entries, size_t count, uint64_t pc)
{
    return wndl_search_up_to(&entries->start, sizeof *entries, count, pc);
}

static const struct wndl_jit_entry *find_entry(
    const struct wndl_jit *jit, uint32_t side, uint64_t pc)
{
    const struct wndl_jit_entry *entries = jit->entries[side];
    size_t upto = count_up_to(entries, jit->counts[side], pc);
    return upto == 0 || pc >= entries[upto - 1].end ? NULL : &entries[upto - 1];
}

/* Holds the entry of `pc` and returns it; NULL if there is none. */
static const struct wndl_jit_entry *hold_entry(
    struct wndl_jit *jit, uint64_t pc, struct wndl_jit_hold *hold)
{
    for (; jit != NULL; jit = atomic_load(&jit->also)) {
        *hold = (struct wndl_jit_hold){jit, enter_side(jit)};
        const struct wndl_jit_entry *e = find_entry(jit, hold->side, pc);
        if (e != NULL)
            return e;
        wndl_jit_leave(hold);
    }
    return NULL;
}

bool wndl_jit_covers(struct wndl_jit *jit, uint64_t pc)
{
    struct wndl_jit_hold hold;
    if (hold_entry(jit, pc, &hold) == NULL)
        return false;
    wndl_jit_leave(&hold);
    return true;
}

/* The rule in force at `offset`: the first has offset 0. */
static const struct wndl_jit_rule *rule_at(
    const struct wndl_jit_entry *e, uint64_t offset)
{
    size_t low = 0, high = e->rule_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (e->rules[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return &e->rules[low];
}

static struct wndl_cfi_rule saved_at(int32_t offset)
{
    if (offset == 0)
        return (struct wndl_cfi_rule){.kind = WNDL_RULE_SAME};
    return (struct wndl_cfi_rule){.kind = WNDL_RULE_OFFSET, .offset = offset};
}

void wndl_jit_row_of_rule(
    struct wndl_cfi_row *row, const struct wndl_jit_rule *rule)
{
    bool by_fp = (rule->flags & WNDL_JIT_BY_FP) != 0;
    *row = (struct wndl_cfi_row){.ra_reg = WNDL_DWARF_RA};
    row->cfa = (struct wndl_cfi_rule){
        .kind = WNDL_RULE_REGISTER,
        .reg = by_fp ? WNDL_DWARF_FP : WNDL_DWARF_SP,
        .offset = rule->cfa,
    };
    row->regs[WNDL_DWARF_RA] = saved_at(-WNDL_WORD);
    if ((rule->flags & WNDL_JIT_OUTERMOST) != 0)
        row->regs[WNDL_DWARF_RA].kind = WNDL_RULE_UNDEFINED;
    row->regs[WNDL_DWARF_FP] = saved_at(rule->fp);
    row->regs[WNDL_DWARF_BX] = saved_at(rule->bx);
}

static enum wndl_code_kind row_of(
    const struct wndl_jit_entry *e, uint64_t pc, struct wndl_code *code)
{
    struct wndl_fde fde;
    code->start = e->start;
    code->frame = e->frame;
    if (e->rules != NULL) {
        wndl_jit_row_of_rule(&code->row, rule_at(e, pc - e->start));
        return WNDL_CODE_ROW;
    }
    if (wndl_fde_parse(&e->frame, e->fde, &fde, NULL, NULL) != WNDL_OK ||
        pc < fde.start || pc >= fde.end ||
        wndl_cfi_row_at(&e->frame, &fde, pc, &code->row, NULL) != WNDL_OK)
        return WNDL_CODE_BAD;
    return WNDL_CODE_ROW;
}

enum wndl_code_kind wndl_jit_find(struct wndl_jit *jit, uint64_t pc,
    struct wndl_code *code, struct wndl_jit_hold *hold)
{
    const struct wndl_jit_entry *e = hold_entry(jit, pc, hold);
    return e == NULL ? WNDL_CODE_NO_MODULE : row_of(e, pc, code);
}

bool wndl_jit_rule(struct wndl_jit *jit, uint64_t pc, struct wndl_rule *rule)
{
    struct wndl_code code;
    struct wndl_jit_hold hold;
    enum wndl_code_kind kind = wndl_jit_find(jit, pc, &code, &hold);
    if (kind == WNDL_CODE_NO_MODULE)
        return false;
    *rule = kind == WNDL_CODE_ROW ? wndl_rule_of_row(&code.row, pc)
                                  : (struct wndl_rule){.kind = WNDL_ENTRY_BAD};
    wndl_jit_leave(&hold);
    return true;
}

/* ---- changes */

static void wait_until_left(struct wndl_jit *jit, uint32_t side)
{
    for (unsigned tries = 0; atomic_load(&jit->readers[side]) != 0; tries++)
        wndl_raw_pause(tries);
}

/* One change at a time; others wait. */
static struct wndl_jit_change begin_change(struct wndl_jit *jit)
{
    for (unsigned tries = 0; atomic_exchange(&jit->changing, 1) != 0; tries++)
        wndl_raw_pause(tries);
    const uint32_t from = atomic_load(&jit->changes) % 2, to = !from;
    const size_t count = jit->counts[from];
    wait_until_left(jit, to);
    for (size_t i = jit->same; i < count; i++)
        jit->entries[to][i] = jit->entries[from][i];
    return (struct wndl_jit_change){
        jit->entries[to], count, jit->max, count, count, to};
}

/* Sorts [from, count) by Shell's method, because much of it is sorted. */
static void sort_entries(
    struct wndl_jit_entry *entries, size_t from, size_t count)
{
    static const unsigned gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    struct wndl_jit_entry *e = entries + from;
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (size_t gap = gaps[g], i = gap; i < count - from; i++) {
            struct wndl_jit_entry moved = e[i];
            size_t at = i;
            for (; at >= gap && e[at - gap].start > moved.start; at -= gap)
                e[at] = e[at - gap];
            e[at] = moved;
        }
}

/* Inserts the last entry, since most changes have one piece of code. */
static void insert_last(struct wndl_jit_entry *entries, size_t at, size_t last)
{
    const struct wndl_jit_entry moved = entries[last];
    for (; last > at; last--)
        entries[last] = entries[last - 1];
    entries[at] = moved;
}

/* Merges the new pieces; false if code is there twice. */
static bool merge_new(struct wndl_jit_change *c)
{
    struct wndl_jit_entry *e = c->entries;
    if (c->count <= c->old)
        return true;
    sort_entries(e, c->old, c->count);
    c->lowest = count_up_to(e, c->old, e[c->old].start);
    if (c->count == c->old + 1)
        insert_last(e, c->lowest, c->old);
    else if (c->lowest < c->old)
        sort_entries(e, c->lowest, c->count);
    for (size_t i = c->lowest == 0 ? 1 : c->lowest; i < c->count; i++)
        if (e[i].start < e[i - 1].end)
            return false;
    return true;
}

/*
 * Ends a change. It takes effect if `status` is OK and no code is there twice
 * (MALFORMED). Afterwards nobody reads the former table. Else nothing has
 * changed.
 */
static enum wndl_status end_change(struct wndl_jit *jit,
    struct wndl_jit_change *change, enum wndl_status status)
{
    const uint32_t from = atomic_load(&jit->changes) % 2, to = !from;
    if (status == WNDL_OK && !merge_new(change))
        status = WNDL_MALFORMED;
    jit->same = change->lowest;
    if (status == WNDL_OK) {
        jit->counts[to] = change->count;
        atomic_fetch_add(&jit->changes, 1);
        wait_until_left(jit, from);
    }
    atomic_store(&jit->changing, 0);
    return status;
}

static enum wndl_status push_entry(
    struct wndl_jit_change *change, const struct wndl_jit_entry *entry)
{
    if (change->count == change->max)
        return WNDL_LIMIT;
    change->entries[change->count++] = *entry;
    return WNDL_OK;
}

/* ---- rules */

static bool is_rule(
    const struct wndl_jit_code *code, const struct wndl_jit_rule *rule)
{
    const uint32_t flags = WNDL_JIT_BY_FP | WNDL_JIT_OUTERMOST;
    return rule->offset < code->size && rule->cfa >= WNDL_WORD &&
           (rule->flags & ~flags) == 0;
}

static enum wndl_status check_code(const struct wndl_jit_code *code)
{
    if (code->size == 0 || code->size > UINT64_MAX - code->start ||
        code->rule_count == 0 || code->rules[0].offset != 0)
        return WNDL_MALFORMED;
    for (size_t i = 0; i < code->rule_count; i++) {
        const struct wndl_jit_rule *rule = &code->rules[i];
        if (!is_rule(code, rule) ||
            (i > 0 && rule->offset <= code->rules[i - 1].offset))
            return WNDL_MALFORMED;
    }
    return WNDL_OK;
}

enum wndl_status wndl_jit_add(
    struct wndl_jit *jit, const struct wndl_jit_code *codes, size_t count)
{
    struct wndl_jit_change change = begin_change(jit);
    enum wndl_status status = WNDL_OK;
    for (size_t i = 0; i < count && status == WNDL_OK; i++) {
        const struct wndl_jit_entry entry = {
            .start = codes[i].start,
            .end = codes[i].start + codes[i].size,
            .rules = codes[i].rules,
            .rule_count = codes[i].rule_count,
            .frame = {.address_size = WNDL_WORD},
        };
        status = check_code(&codes[i]);
        if (status == WNDL_OK)
            status = push_entry(&change, &entry);
    }
    return end_change(jit, &change, status);
}

/* ---- call frame information */

/*
 * Whether an FDE defines the CFA. LuaJIT's do not: they name a function that
 * finds the caller. Such code is as if it had no FDE.
 */
static bool has_cfa_rule(
    const struct wndl_cfi_section *frame, const struct wndl_fde *fde)
{
    struct wndl_cfi_row row;
    return wndl_cfi_row_at(frame, fde, fde->start, &row, NULL) != WNDL_OK ||
           row.cfa.kind != WNDL_RULE_UNSET;
}

static enum wndl_status add_fdes(
    struct wndl_jit_change *change, const struct wndl_jit_source *from)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < from->frame.bytes.size; at = next) {
        struct wndl_fde fde;
        enum wndl_status status =
            wndl_fde_parse(&from->frame, at, &fde, &next, NULL);
        if (status == WNDL_NOT_FOUND ||
            (status == WNDL_OK && fde.start == fde.end))
            continue;
        if (status != WNDL_OK)
            return status;
        if (!has_cfa_rule(&from->frame, &fde))
            continue;
        const struct wndl_jit_entry entry = {.start = fde.start,
            .end = fde.end,
            .origin = from->origin,
            .frame = from->frame,
            .fde = at};
        if (from->is_code != NULL && !from->is_code(from, fde.start, fde.end))
            return WNDL_UNSUPPORTED;
        status = push_entry(change, &entry);
        if (status != WNDL_OK)
            return status;
    }
    return WNDL_OK;
}

bool wndl_jit_replace_begin(
    struct wndl_jit *jit, struct wndl_jit_change *change)
{
    if (atomic_exchange(&jit->changing, 1) != 0)
        return false;
    const uint32_t to = !(atomic_load(&jit->changes) % 2);
    if (atomic_load(&jit->readers[to]) != 0) {
        atomic_store(&jit->changing, 0);
        return false;
    }
    *change = (struct wndl_jit_change){
        .entries = jit->entries[to], .max = jit->max, .side = to};
    return true;
}

enum wndl_status wndl_jit_replace_add(
    struct wndl_jit_change *change, const struct wndl_jit_source *source)
{
    const size_t before = change->count;
    enum wndl_status status = add_fdes(change, source);
    if (status == WNDL_OK && change->count == before)
        status = WNDL_NOT_FOUND;
    if (status != WNDL_OK)
        change->count = before;
    return status;
}

void wndl_jit_replace_end(struct wndl_jit *jit, struct wndl_jit_change *change)
{
    struct wndl_jit_entry *e = change->entries;
    size_t kept = 0;
    sort_entries(e, 0, change->count);
    for (size_t i = 0; i < change->count; i++)
        if (kept == 0 || e[i].start >= e[kept - 1].end)
            e[kept++] = e[i];
    jit->counts[change->side] = kept;
    jit->same = 0;
    atomic_fetch_add(&jit->changes, 1);
    atomic_store(&jit->changing, 0);
}

enum wndl_status wndl_jit_add_source(
    struct wndl_jit *jit, const struct wndl_jit_source *source)
{
    struct wndl_jit_change change = begin_change(jit);
    enum wndl_status status = add_fdes(&change, source);
    if (status == WNDL_OK && change.count == change.old)
        status = WNDL_NOT_FOUND;
    return end_change(jit, &change, status);
}

bool wndl_jit_frames_size(const void *eh_frame, size_t most, size_t *size)
{
    const uint8_t *records = eh_frame;
    const size_t head = sizeof(uint32_t);
    size_t at = 0;
    while (most - at >= head) {
        uint32_t length;
        uint64_t wide;
        __builtin_memcpy(&length, records + at, sizeof length);
        if (length == 0)
            break;
        size_t taken = head;
        wide = length;
        if (length == UINT32_MAX && most - at >= head + sizeof wide) {
            __builtin_memcpy(&wide, records + at + head, sizeof wide);
            taken += sizeof wide;
        }
        if (wide > PTRDIFF_MAX || wide > most - at - taken)
            return false;
        at += taken + (size_t)wide;
    }
    *size = at;
    return true;
}

enum wndl_status wndl_jit_add_frames(
    struct wndl_jit *jit, const void *eh_frame, size_t size)
{
    struct wndl_jit_source source = {.frame = {
                                         .bytes = {eh_frame, 0},
                                         .addr = (uintptr_t)eh_frame,
                                         .address_size = WNDL_WORD,
                                     }};
    if (!wndl_jit_frames_size(eh_frame, size, &source.frame.bytes.size))
        return WNDL_TRUNCATED;
    enum wndl_status status = wndl_jit_add_source(jit, &source);
    return status == WNDL_NOT_FOUND ? WNDL_OK : status;
}

/* ---- removal */

enum wndl_status wndl_jit_remove(
    struct wndl_jit *jit, uint64_t start, uint64_t size)
{
    struct wndl_jit_change c = begin_change(jit);
    size_t from = start == 0 ? 0 : count_up_to(c.entries, c.count, start - 1);
    size_t to = from;
    while (to < c.count && c.entries[to].start - start < size)
        to++;
    enum wndl_status status = from == to ? WNDL_NOT_FOUND : WNDL_OK;
    for (size_t i = to; i < c.count && from != to; i++)
        c.entries[from + i - to] = c.entries[i];
    c.lowest = from;
    c.count -= to - from;
    return end_change(jit, &c, status);
}

enum wndl_status wndl_jit_remove_source(
    struct wndl_jit *jit, uint64_t origin, const uint8_t **bytes)
{
    struct wndl_jit_change c = begin_change(jit);
    size_t kept = 0, before = c.count;
    *bytes = NULL;
    for (size_t i = 0; i < before; i++) {
        const struct wndl_jit_entry *e = &c.entries[i];
        if (e->origin != origin ||
            (*bytes != NULL && e->frame.bytes.data != *bytes)) {
            c.entries[kept++] = *e;
            continue;
        }
        if (*bytes == NULL)
            c.lowest = i;
        *bytes = e->frame.bytes.data;
    }
    c.count = kept;
    return end_change(jit, &c, *bytes == NULL ? WNDL_NOT_FOUND : WNDL_OK);
}
