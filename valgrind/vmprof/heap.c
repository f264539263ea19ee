/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap.h"

#include "walk.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"
#include "pub_tool_replacemalloc.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_tooliface.h"

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
    wanted.key = walk_hash(wanted.ips, wanted.ip_count);
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

static void drop_block(Addr start)
{
    struct heap_block *block = VG_(OSetGen_Remove)(live, &start);
    if (block != NULL)
        VG_(OSetGen_FreeNode)(live, block);
}

static void *allocate(ThreadId tid, SizeT align, SizeT size, Bool clear)
{
    if ((SSizeT)size < 0)
        return NULL;
    void *p = VG_(cli_malloc)(align, size);
    if (p == NULL)
        return NULL;
    if (clear)
        VG_(memset)(p, 0, size);
    add_block(tid, (Addr)p, size);
    return p;
}

static void *on_malloc(ThreadId tid, SizeT size)
{
    return allocate(tid, VG_(clo_alignment), size, False);
}

static void *on_memalign(ThreadId tid, SizeT align, SizeT size)
{
    return allocate(tid, align, size, False);
}

static void *on_new_aligned(ThreadId tid, SizeT size, SizeT align)
{
    return allocate(tid, align, size, False);
}

static void *on_calloc(ThreadId tid, SizeT count, SizeT size)
{
    SizeT bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return allocate(tid, VG_(clo_alignment), bytes, True);
}

static void on_free(ThreadId tid, void *p)
{
    (void)tid;
    drop_block((Addr)p);
    VG_(cli_free)(p);
}

static void on_delete_aligned(ThreadId tid, void *p, SizeT align)
{
    (void)align;
    on_free(tid, p);
}

static void *on_realloc(ThreadId tid, void *old, SizeT size)
{
    if (old == NULL)
        return on_malloc(tid, size);
    Addr start = (Addr)old;
    const struct heap_block *block = VG_(OSetGen_Lookup)(live, &start);
    SizeT old_size = block == NULL ? 0 : block->size;
    void *p = on_malloc(tid, size);
    if (p == NULL)
        return NULL;
    VG_(memcpy)(p, old, old_size < size ? old_size : size);
    on_free(tid, old);
    return p;
}

static SizeT on_usable_size(ThreadId tid, void *p)
{
    (void)tid;
    return VG_(cli_malloc_usable_size)(p);
}

/* Without --blocks the preload object is not there, and nothing calls these. */
void heap_prepare(void)
{
    VG_(needs_malloc_replacement)
    (on_malloc, on_malloc, on_new_aligned, on_malloc, on_new_aligned,
        on_memalign, on_calloc, on_free, on_free, on_delete_aligned, on_free,
        on_delete_aligned, on_realloc, on_usable_size, 0);
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
