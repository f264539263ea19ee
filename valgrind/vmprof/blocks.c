/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blocks.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

ULong instructions;

static struct block *blocks;
static UInt instruction_total;

struct block *blocks_add(UInt instruction_count, UInt part_count)
{
    struct block *block = VG_(calloc)(
        "vmprof.block", 1, sizeof *block + part_count * sizeof *block->parts);
    block->instructions = VG_(calloc)(
        "vmprof.block", instruction_count, sizeof *block->instructions);
    block->instruction_count = instruction_count;
    block->part_count = part_count;
    block->next = blocks;
    blocks = block;
    instruction_total += instruction_count;
    return block;
}

struct run {
    Addr ip;
    ULong fetches;
    ULong data;
};

static UInt collect_block(const struct block *block, struct run *runs)
{
    UInt n = 0, i = 0;
    for (UInt p = 0; p < block->part_count; p++) {
        const struct block_part *part = &block->parts[p];
        for (UInt end = i + part->count; i < end; i++) {
            if (part->runs == 0)
                continue;
            const struct block_instruction *at = &block->instructions[i];
            runs[n++] = (struct run){
                at->ip, part->runs * at->fetches, part->runs * at->data};
        }
    }
    return n;
}

static Int compare_runs(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return x->ip < y->ip ? -1 : x->ip > y->ip;
}

/* One instruction may be in several blocks. */
static void visit_sorted(const struct run *runs, UInt count,
    void (*visit)(Addr ip, ULong fetches, ULong data))
{
    for (UInt i = 0; i < count;) {
        struct run sum = runs[i];
        for (i++; i < count && runs[i].ip == sum.ip; i++) {
            sum.fetches += runs[i].fetches;
            sum.data += runs[i].data;
        }
        visit(sum.ip, sum.fetches, sum.data);
    }
}

void blocks_visit(void (*visit)(Addr ip, ULong fetches, ULong data))
{
    UInt count = 0;
    struct run *runs =
        VG_(malloc)("vmprof.runs", (instruction_total + 1) * sizeof *runs);
    for (const struct block *b = blocks; b != NULL; b = b->next)
        count += collect_block(b, runs + count);
    VG_(ssort)(runs, count, sizeof *runs, compare_runs);
    visit_sorted(runs, count, visit);
    VG_(free)(runs);
}

void blocks_forget(void)
{
    instructions = 0;
    for (struct block *b = blocks; b != NULL; b = b->next)
        for (UInt p = 0; p < b->part_count; p++)
            b->parts[p].runs = 0;
}
