/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "uses.h"

#include "heap.h"
#include "stacks.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

struct site system_reads = {.size = 1, .flags = SITE_WIDE};
struct site system_writes = {.size = 1, .flags = SITE_WIDE | SITE_STORE};

enum { CHUNK_SHIFT = 9, CHUNK = 1 << CHUNK_SHIFT };
static struct use **chunks;
static UInt use_count;

static struct use **buckets; /* the first use in the chain, or NULL */
static UInt bucket_count;

/* ---- uses */

static struct use *use_of(UInt number)
{
    return &chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)];
}

void uses_init(void)
{
    bucket_count = 1 << 12;
    buckets = VG_(calloc)("mvp.use_buckets", bucket_count, sizeof *buckets);
}

static ULong hash_of(const struct site *site, UInt heap_site)
{
    const ULong key = (ULong)(Addr)site + ((ULong)heap_site << 40) + heap_site;
    return key * 0x9e3779b97f4a7c15ULL;
}

static struct use **bucket_of(const struct site *site, UInt heap_site)
{
    return &buckets[(UInt)(hash_of(site, heap_site) >> 32) &
                    (bucket_count - 1)];
}

static void link_use(struct use *use)
{
    struct use **bucket = bucket_of(use->site, use->heap_site);
    use->next = *bucket;
    *bucket = use;
}

static void grow_buckets(void)
{
    VG_(free)(buckets);
    bucket_count *= 2;
    buckets = VG_(calloc)("mvp.use_buckets", bucket_count, sizeof *buckets);
    for (UInt number = 0; number < use_count; number++)
        link_use(use_of(number));
}

static struct use *new_use(void)
{
    if (use_count == bucket_count)
        grow_buckets();
    const UInt chunk = use_count >> CHUNK_SHIFT;
    if ((use_count & (CHUNK - 1)) == 0) {
        chunks = VG_(realloc)(
            "mvp.use_chunks", chunks, (chunk + 1) * sizeof *chunks);
        chunks[chunk] = VG_(calloc)("mvp.uses", CHUNK, sizeof **chunks);
    }
    return use_of(use_count++);
}

static void join_circle(struct site *site, struct use *use)
{
    use->next_of_site = use;
    if (site->use == NULL)
        return;
    use->next_of_site = site->use->next_of_site;
    site->use->next_of_site = use;
}

static struct use *add_use(
    struct site *site, const struct heap_site *heap_site, UInt offset)
{
    struct use *use = new_use();
    use->site = site;
    use->heap_site = heap_site->number;
    use->low = use->high = offset;
    use->value_count = (site->flags & SITE_VALUELESS) != 0 ? USE_VALUES + 1 : 0;
    if (heap_site->mapping != NULL) {
        use->flags = USE_IS_OUTSIDE;
        use->low = 0;
        use->high = ~(UInt)0;
        use->step = 1;
        use->value_count = USE_VALUES + 1;
    }
    join_circle(site, use);
    link_use(use);
    return use;
}

static struct use *search(
    struct site *site, const struct heap_site *heap_site, UInt offset)
{
    struct use *use = *bucket_of(site, heap_site->number);
    while (use != NULL &&
           (use->heap_site != heap_site->number || use->site != site))
        use = use->next;
    return use != NULL ? use : add_use(site, heap_site, offset);
}

/* Uses that were found last, by their hashes: most searches end here, without a
 * look into the use. */
enum { RECENT_SHIFT = 13 };
static struct recent {
    const struct site *site;
    struct use *use;
    UInt heap_site;
} recent[1 << RECENT_SHIFT];

/* `offset` is what a new use begins with. */
static struct use *use_at(
    struct site *site, const struct heap_site *heap_site, UInt offset)
{
    const UInt number = heap_site->number;
    struct recent *r = &recent[hash_of(site, number) >> (64 - RECENT_SHIFT)];
    if (r->site != site || r->heap_site != number)
        *r = (struct recent){site, search(site, heap_site, offset), number};
    return r->use;
}

/* ---- the block of an access */

/* (A block of more than 4 GB is searched for at each access beyond.) */
static void set_block(struct site *site, Addr start, SizeT size)
{
    site->block = start;
    site->block_size = size > ~(UInt)0 ? ~(UInt)0 : (UInt)size;
    site->generation = *blocks_generation(start);
}

/* The memory around an address in no block that has no blocks, as far as that
 * is certain. */
static void set_outside(struct site *site, Addr address)
{
    const NSegment *s = VG_(am_find_nsegment)(address);
    const Addr page = address >> PAGE_SHIFT << PAGE_SHIFT;
    if (s == NULL || (s->kind == SkAnonC && s->isCH))
        site->block_size = 0;
    else if (!heap_has_requests)
        set_block(site, s->start, s->end - s->start + 1);
    else if (blocks_is_strange(address))
        set_block(site, page, 1 << PAGE_SHIFT);
    else
        site->block_size = 0;
}

/* The use of a block's memory. Many sites go to and fro between the blocks of
 * two allocation sites. */
static void set_use(struct site *site, const struct block *block, Addr address)
{
    struct use *last = site->use;
    if (last != NULL && last->heap_site == block->site)
        return;
    struct use *use = site->use_before;
    if (use == NULL || use->heap_site != block->site)
        use = use_at(
            site, heap_site_of(block->site), (UInt)(address - block->start));
    site->use_before = last;
    site->use = use;
}

struct known_use uses_all_known[1 << USES_KNOWN_SHIFT];

void uses_forget_known(void)
{
    VG_(memset)(uses_all_known, 0, sizeof uses_all_known);
}

void uses_find(struct site *site, Addr address, struct known_use *known)
{
    const struct block *block = blocks_find(address);
    if (block == NULL) {
        site->use = use_at(site, heap_mapping(address), 0);
        site->block = address;
        set_outside(site, address);
        return;
    }
    set_use(site, block, address);
    set_block(site, block->start, block->size);
    if (address - block->start <= ~(UInt)0 && !stacks_may_hold(address))
        *known = (struct known_use){site, address, site->use,
            (UInt)(address - block->start), site->generation};
}

/* ---- offsets */

static UInt common_step(UInt a, UInt b)
{
    while (b != 0) {
        const UInt rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void uses_note_offset(struct use *use, UInt offset)
{
    const UInt distance =
        offset > use->low ? offset - use->low : use->low - offset;
    use->step = common_step(use->step, distance);
    if (offset < use->low)
        use->low = offset;
    if (offset > use->high)
        use->high = offset;
}

/* ---- values */

static void note_few(struct use *use, ULong value)
{
    use->last = value;
    for (UInt i = 0; i < use->value_count; i++)
        if ((use->values == NULL ? use->bits.first : use->values[i]) == value)
            return;
    if (use->value_count == USE_VALUES) {
        VG_(free)(use->values);
        use->values = NULL;
        use->value_count++;
        return;
    }
    if (use->value_count != 0 && use->values == NULL) {
        use->values =
            VG_(malloc)("mvp.values", USE_VALUES * sizeof *use->values);
        use->values[0] = use->bits.first;
    }
    if (use->values != NULL)
        use->values[use->value_count] = value;
    use->value_count++;
}

/* A value that brings no new bit is taken to be as those before. */
static Bool is_number(const struct use *use, ULong value)
{
    return use->site->size != sizeof(Addr) ||
           (value != 0 && !VG_(am_is_valid_for_client)((Addr)value, 1, 0));
}

void uses_note_value(struct use *use, ULong value)
{
    if ((use->flags & (USE_HAS_NUMBER | USE_IS_OUTSIDE)) == 0 &&
        is_number(use, value))
        use->flags |= USE_HAS_NUMBER;
    site_bits_add(&use->bits, (use->flags & USE_HAS_VALUE) != 0, value);
    use->flags |= USE_HAS_VALUE;
    if (use->value_count <= USE_VALUES)
        note_few(use, value);
}

/* ---- the kernel's */

void uses_note_range(struct site *site, Addr start, SizeT size)
{
    const struct block *block = blocks_find(start);
    if (block == NULL || size == 0)
        return;
    const UInt offset = (UInt)(start - block->start);
    const SizeT left = block->start + block->size - start;
    struct use *use = use_at(site, heap_site_of(block->site), offset);
    site->use = use;
    use->count++;
    uses_note_offset(use, offset);
    if (size > 1 && left > 1) {
        uses_note_offset(use, offset + 1);
        uses_note_offset(use, offset + (UInt)(size < left ? size : left) - 1);
    }
}

/* ---- all of them */

void uses_forget(void)
{
    for (UInt i = 0; i < use_count; i++) {
        struct use *use = use_of(i);
        use->site->use = use->site->use_before = NULL;
        use->site->block_size = 0;
        if (use->values != NULL)
            VG_(free)(use->values);
    }
    for (UInt i = 0; i < use_count; i += CHUNK)
        VG_(free)(chunks[i >> CHUNK_SHIFT]);
    use_count = 0;
    uses_forget_known();
    VG_(memset)(recent, 0, sizeof recent);
    VG_(memset)(buckets, 0, bucket_count * sizeof *buckets);
}

void uses_visit(void (*visit)(const struct use *use))
{
    for (UInt i = 0; i < use_count; i++)
        if (use_of(i)->count != 0)
            visit(use_of(i));
}
