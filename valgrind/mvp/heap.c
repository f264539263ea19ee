/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap.h"

#include "contents.h"
#include "uses.h"

#include "../common/allocator.h"
#include "../common/frames.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_tooliface.h"
#include "valgrind.h"

static VgHashTable *stacks;    /* sites by their frames */
static struct heap_site **all; /* by number */
static UInt count;
static UInt births;

Bool heap_has_requests;

/* ---- sites */

struct heap_site *heap_site_of(UInt number)
{
    return all[number];
}

UInt heap_site_count(void)
{
    return count;
}

static struct heap_site *add_site(const struct heap_site *wanted)
{
    if ((count & (count - 1)) == 0)
        all = VG_(realloc)(
            "mvp.heap", all, (count == 0 ? 1 : 2 * count) * sizeof *all);
    struct heap_site *site = VG_(malloc)("mvp.heap_site", sizeof *site);
    *site = *wanted;
    site->number = count;
    all[count++] = site;
    return site;
}

static Word compare_stacks(const void *a, const void *b)
{
    const struct heap_site *x = a, *y = b;
    if (x->ip_count != y->ip_count)
        return 1;
    return VG_(memcmp)(x->ips, y->ips, x->ip_count * sizeof *x->ips);
}

/* Whether the code is of the object that replaces malloc. */
static Bool is_malloc(Addr ip)
{
    static Addr start, end;
    if (ip >= start && ip < end)
        return True;
    const NSegment *s = VG_(am_find_nsegment)(ip);
    const HChar *path =
        s == NULL || s->kind != SkFileC ? NULL : VG_(am_get_filename)(s);
    if (path == NULL || VG_(strstr)(path, "/vgpreload_mvp") == NULL)
        return False;
    start = s->start;
    end = s->end + 1;
    return True;
}

static struct heap_site *current_site(ThreadId tid)
{
    Addr ips[SITE_FRAMES + 1];
    struct heap_site wanted = {0};
    UInt found = VG_(get_StackTrace)(tid, ips, SITE_FRAMES + 1, NULL, NULL, 0);
    const UInt skipped = found > 1 && is_malloc(ips[0]);
    found -= skipped;
    wanted.ip_count = found > SITE_FRAMES ? SITE_FRAMES : found;
    VG_(memcpy)(wanted.ips, ips + skipped, wanted.ip_count * sizeof *ips);
    wanted.key = frames_hash(wanted.ips, wanted.ip_count);
    struct heap_site *site =
        VG_(HT_gen_lookup)(stacks, &wanted, compare_stacks);
    if (site == NULL) {
        site = add_site(&wanted);
        VG_(HT_add_node)(stacks, site);
    }
    return site;
}

/* ---- mappings */

static struct heap_site **mappings;
static UInt mapping_count;

static const HChar *name_of(const NSegment *s)
{
    if (s == NULL)
        return "[unmapped]";
    if (s->kind == SkFileC && VG_(am_get_filename)(s) != NULL)
        return VG_(am_get_filename)(s);
    return s->kind == SkAnonC && s->isCH ? "[heap, in no block]"
                                         : "[anonymous]";
}

struct heap_site *heap_mapping(Addr address)
{
    const HChar *name = name_of(VG_(am_find_nsegment)(address));
    for (UInt i = 0; i < mapping_count; i++)
        if (VG_(strcmp)(mappings[i]->mapping, name) == 0)
            return mappings[i];
    const struct heap_site wanted = {
        .mapping = VG_(strdup)("mvp.mapping", name)};
    struct heap_site *site = add_site(&wanted);
    mappings = VG_(realloc)(
        "mvp.mappings", mappings, (mapping_count + 1) * sizeof *mappings);
    mappings[mapping_count++] = site;
    return site;
}

/* ---- blocks */

static void count_block(struct heap_site *site, SizeT size)
{
    if (site->blocks == 0 || size < site->smallest)
        site->smallest = size;
    if (size > site->largest)
        site->largest = size;
    site->blocks++;
    site->bytes += size;
}

static void on_alloc(ThreadId tid, const struct allocation *a)
{
    struct heap_site *site = current_site(tid);
    const struct block block = {.start = a->start,
        .size = a->size == 0 ? 1 : a->size,
        .site = site->number,
        .birth = births++};
    if (site->blocks == 0)
        site->element = a->element;
    else if (site->element != a->element)
        site->element = 0;
    count_block(site, block.size);
    blocks_add(&block);
    if (a->filled != 0)
        uses_note_range(&system_writes, a->start, a->filled);
}

static void on_free(Addr start)
{
    struct block block;
    const struct block *live = blocks_at(start);
    if (live == NULL)
        return;
    contents_note(live);
    blocks_remove(start, &block);
}

static SizeT size_of(Addr start)
{
    const struct block *block = blocks_at(start);
    return block == NULL ? 0 : block->size;
}

/* ---- client requests */

static void on_request_alloc(ThreadId tid, Addr start, SizeT size, Bool filled)
{
    const struct allocation block = {
        .start = start, .size = size, .filled = filled ? size : 0};
    heap_has_requests = True;
    if (start != 0 && size != 0 && start + size > start)
        on_alloc(tid, &block);
}

/* (A pool that is destroyed, trimmed or moved keeps its blocks.) */
static Bool on_request(ThreadId tid, UWord *arg, UWord *ret)
{
    *ret = 0;
    if (!opt.blocks)
        return False;
    switch (arg[0]) {
    case VG_USERREQ__MALLOCLIKE_BLOCK:
        on_request_alloc(tid, arg[1], arg[2], arg[4] != 0);
        return True;
    case VG_USERREQ__FREELIKE_BLOCK:
        on_free(arg[1]);
        return True;
    case VG_USERREQ__MEMPOOL_ALLOC:
        on_request_alloc(tid, arg[2], arg[3], False);
        return True;
    case VG_USERREQ__MEMPOOL_FREE:
        on_free(arg[2]);
        return True;
    default:
        return False;
    }
}

/* ---- start and end */

void heap_prepare(void)
{
    static const struct allocator allocator = {on_alloc, on_free, size_of};
    allocator_replace(&allocator);
    VG_(needs_client_requests)(on_request);
}

void heap_enable(void)
{
    stacks = VG_(HT_construct)("mvp.heap_sites");
    blocks_init();
}

static void count_live(const struct block *block)
{
    count_block(all[block->site], block->size);
}

void heap_forget(void)
{
    for (UInt i = 0; i < count; i++) {
        all[i]->blocks = all[i]->bytes = 0;
        all[i]->smallest = all[i]->largest = 0;
        contents_free(all[i]);
    }
    blocks_visit(count_live);
}
