/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap.h"

#include "../common/allocator.h"
#include "../common/frames.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_stacktrace.h"

enum { SITE_FRAMES = 12 };

struct heap_site {
    struct heap_site *next;
    UWord key; /* hash of `ips` */
    Addr ips[SITE_FRAMES];
    UInt ip_count;
    ULong blocks;
    ULong bytes;
    struct fault_counts counts[];
};

/* One live block, [start, start + size). */
struct heap_block {
    Addr start;
    SizeT size;
    struct heap_site *site;
};

static VgHashTable *sites;
static OSet *live; /* of struct heap_block, by `start` */

/* ---- sites */

static Word compare_sites(const void *a, const void *b)
{
    const struct heap_site *x = a, *y = b;
    if (x->ip_count != y->ip_count)
        return 1;
    return VG_(memcmp)(x->ips, y->ips, x->ip_count * sizeof *x->ips);
}

static struct heap_site *add_site(const struct heap_site *wanted)
{
    struct heap_site *site = VG_(calloc)("vmprof.heap_site", 1,
        sizeof *site + opt.size_count * sizeof *site->counts);
    VG_(memcpy)(site, wanted, sizeof *site);
    VG_(HT_add_node)(sites, site);
    return site;
}

static struct heap_site *current_site(ThreadId tid)
{
    struct heap_site wanted = {0};
    wanted.ip_count =
        VG_(get_StackTrace)(tid, wanted.ips, SITE_FRAMES, NULL, NULL, 0);
    wanted.key = frames_hash(wanted.ips, wanted.ip_count);
    struct heap_site *site = VG_(HT_gen_lookup)(sites, &wanted, compare_sites);
    return site == NULL ? add_site(&wanted) : site;
}

/* ---- blocks */

/* Equal when one address lies in the block of the other. */
static Word compare_address(const void *key, const void *element)
{
    Addr address = *(const Addr *)key;
    const struct heap_block *block = element;
    if (address < block->start)
        return -1;
    return address >= block->start + block->size;
}

static void add_block(ThreadId tid, Addr start, SizeT size)
{
    struct heap_block *block = VG_(OSetGen_AllocNode)(live, sizeof *block);
    struct heap_site *site = current_site(tid);
    *block = (struct heap_block){start, size == 0 ? 1 : size, site};
    site->blocks++;
    site->bytes += size;
    VG_(OSetGen_Insert)(live, block);
}

static void on_alloc(ThreadId tid, const struct allocation *block)
{
    add_block(tid, block->start, block->size);
}

static void on_free(Addr start)
{
    struct heap_block *block = VG_(OSetGen_Remove)(live, &start);
    if (block != NULL)
        VG_(OSetGen_FreeNode)(live, block);
}

static SizeT size_of(Addr start)
{
    const struct heap_block *block = VG_(OSetGen_Lookup)(live, &start);
    return block == NULL ? 0 : block->size;
}

void heap_prepare(void)
{
    static const struct allocator allocator = {on_alloc, on_free, size_of};
    allocator_replace(&allocator);
}

void heap_enable(void)
{
    sites = VG_(HT_construct)("vmprof.heap_sites");
    live = VG_(OSetGen_Create)(
        0, compare_address, VG_(malloc), "vmprof.heap_blocks", VG_(free));
}

void heap_fault(const struct access *access, UInt size, enum fault_kind kind)
{
    const struct heap_block *block =
        VG_(OSetGen_Lookup)(live, &access->address);
    if (block != NULL)
        block->site->counts[size].n[access->kind][kind]++;
}

void heap_visit_sites(void (*visit)(const Addr *ips, UInt count, ULong blocks,
    ULong bytes, const struct fault_counts *counts))
{
    VG_(HT_ResetIter)(sites);
    for (struct heap_site *s; (s = VG_(HT_Next)(sites)) != NULL;)
        visit(s->ips, s->ip_count, s->blocks, s->bytes, s->counts);
}

void heap_forget(void)
{
    VG_(HT_ResetIter)(sites);
    for (struct heap_site *s; (s = VG_(HT_Next)(sites)) != NULL;) {
        s->blocks = s->bytes = 0;
        VG_(memset)(s->counts, 0, opt.size_count * sizeof *s->counts);
    }
}
