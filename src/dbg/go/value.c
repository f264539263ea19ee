/* SPDX-License-Identifier: MIT */
/*
 * value: a table of values by address. Pairs of varints: the difference of the
 * value (zigzag, from -1 on), and the number of instruction quanta for which it
 * holds. A difference of 0 that is not the first ends the table.
 */
#include "dbg/go/internal.h"

/* A varint of at most 32 bits; longer ones fail. */
static uint32_t read_varint(struct wndl_cursor *c)
{
    uint64_t value = wndl_cursor_uleb(c);
    if (value > UINT32_MAX)
        wndl_cursor_fail(c);
    return (uint32_t)value;
}

struct wndl_pcln_walk wndl_pcln_walk(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint32_t offset)
{
    struct wndl_bytes none = {0};
    return (struct wndl_pcln_walk){
        .cursor = wndl_cursor_at(
            offset == 0 ? none : pcln->values, offset, pcln->in.big_endian),
        .run = {record->start, record->start, -1},
        .quantum = pcln->quantum,
        .steps = &pcln->steps,
    };
}

bool wndl_pcln_step(struct wndl_pcln_walk *walk)
{
    struct wndl_pcln_run *run = &walk->run;
    bool is_first = run->end == run->start;
    if (*walk->steps == 0)
        return false;
    --*walk->steps;
    uint32_t difference = read_varint(&walk->cursor);
    if (difference == 0 && !is_first)
        return false;
    uint32_t quanta = read_varint(&walk->cursor);
    if (walk->cursor.failed || quanta == 0)
        return false;
    uint32_t sign = (difference & 1) == 0 ? 0 : UINT32_MAX;
    run->value = (int32_t)((uint32_t)run->value + (sign ^ difference >> 1));
    run->start = run->end;
    run->end += (uint64_t)quanta * walk->quantum;
    return true;
}

bool wndl_pcln_run_at(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint32_t offset, uint64_t addr,
    struct wndl_pcln_run *run)
{
    struct wndl_pcln_walk walk = wndl_pcln_walk(pcln, record, offset);
    while (addr >= walk.run.end)
        if (!wndl_pcln_step(&walk))
            return false;
    *run = walk.run;
    return addr >= run->start;
}
