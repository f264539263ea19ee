/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blocks.h"

#include "batch.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

ULong instructions;

/* How often an instruction ran. */
struct run {
    Addr ip;
    ULong fetches;
    ULong data;
};

/* What instructions did in blocks that are gone. */
struct retired {
    struct retired *next;
    UWord key; /* address of the instruction */
    struct run run;
};

static VgHashTable *blocks;
static VgHashTable *retired;

void blocks_init(void)
{
    blocks = VG_(HT_construct)("vmprof.blocks");
    retired = VG_(HT_construct)("vmprof.retired");
}

struct block *blocks_add(Addr address, UInt instruction_count, UInt part_count)
{
    struct block *block = VG_(calloc)(
        "vmprof.block", 1, sizeof *block + part_count * sizeof *block->parts);
    block->key = address;
    block->instructions = VG_(calloc)(
        "vmprof.block", instruction_count, sizeof *block->instructions);
    block->instruction_count = instruction_count;
    block->part_count = part_count;
    VG_(HT_add_node)(blocks, block);
    return block;
}

/* Fills `runs`, with room for all instructions; returns how many ran. */
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

/* ---- blocks that are gone */

static void retire_run(const struct run *run)
{
    struct retired *r = VG_(HT_lookup)(retired, run->ip);
    if (r == NULL) {
        r = VG_(calloc)("vmprof.retired", 1, sizeof *r);
        r->key = r->run.ip = run->ip;
        VG_(HT_add_node)(retired, r);
    }
    r->run.fetches += run->fetches;
    r->run.data += run->data;
}

void blocks_retire(Addr address)
{
    struct block *block = VG_(HT_remove)(blocks, address);
    if (block == NULL)
        return;
    struct run *runs = VG_(malloc)(
        "vmprof.runs", (block->instruction_count + 1) * sizeof *runs);
    UInt count = collect_block(block, runs);
    for (UInt i = 0; i < count; i++)
        retire_run(&runs[i]);
    VG_(free)(runs);
    batch_free_all(block->batches);
    VG_(free)(block->instructions);
    VG_(free)(block);
}

/* ---- all instructions */

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

static UInt count_room(void)
{
    UInt room = VG_(HT_count_nodes)(retired);
    VG_(HT_ResetIter)(blocks);
    for (const struct block *b; (b = VG_(HT_Next)(blocks)) != NULL;)
        room += b->instruction_count;
    return room;
}

static UInt collect_all(struct run *runs)
{
    UInt count = 0;
    VG_(HT_ResetIter)(blocks);
    for (const struct block *b; (b = VG_(HT_Next)(blocks)) != NULL;)
        count += collect_block(b, runs + count);
    VG_(HT_ResetIter)(retired);
    for (const struct retired *r; (r = VG_(HT_Next)(retired)) != NULL;)
        if (r->run.fetches != 0 || r->run.data != 0)
            runs[count++] = r->run;
    return count;
}

void blocks_visit(void (*visit)(Addr ip, ULong fetches, ULong data))
{
    struct run *runs =
        VG_(malloc)("vmprof.runs", (count_room() + 1) * sizeof *runs);
    UInt count = collect_all(runs);
    VG_(ssort)(runs, count, sizeof *runs, compare_runs);
    visit_sorted(runs, count, visit);
    VG_(free)(runs);
}

void blocks_forget(void)
{
    instructions = 0;
    VG_(HT_ResetIter)(blocks);
    for (struct block *b; (b = VG_(HT_Next)(blocks)) != NULL;)
        for (UInt p = 0; p < b->part_count; p++)
            b->parts[p].runs = 0;
    VG_(HT_ResetIter)(retired);
    for (struct retired *r; (r = VG_(HT_Next)(retired)) != NULL;)
        r->run.fetches = r->run.data = 0;
}
