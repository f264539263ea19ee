/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blocks.h"

#include "heap.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

UInt blocks_generations[BLOCKS_GENERATIONS];

void blocks_renew(void)
{
    for (UInt i = 0; i < BLOCKS_GENERATIONS; i++)
        blocks_generations[i]++;
}

/* Blocks may lie inside others: only client requests make such. */
static Bool are_nested;

/* ---- pages */

enum {
    UNIT_SHIFT = 4, /* log2 of the bytes of a bit */
    UNITS = 1 << (PAGE_SHIFT - UNIT_SHIFT),
    CHUNK_SHIFT = 12, /* log2 of the pages of a chunk */
    CHUNK_PAGES = 1 << CHUNK_SHIFT,
};

struct page {
    ULong starts[UNITS / 64];
    Addr before; /* start of the block that the page's first byte is in, if it
                  * does not start there; else 0 */
};
_Static_assert(sizeof(struct page) <= 40, "memory of a page with blocks");

/* By the address over 16 MB: programs have 128 GB of addresses at most. */
static struct page *chunks[1 << 13];

static UWord chunk_of(Addr address)
{
    return address >> (PAGE_SHIFT + CHUNK_SHIFT);
}

/* NULL: no block was near. */
static struct page *find_page(Addr address)
{
    const UWord chunk = chunk_of(address);
    if (chunk >= sizeof chunks / sizeof *chunks || chunks[chunk] == NULL)
        return NULL;
    return &chunks[chunk][address >> PAGE_SHIFT & (CHUNK_PAGES - 1)];
}

/* Only pages of a chunk that are used take memory. */
static struct page *make_page(Addr address)
{
    const UWord chunk = chunk_of(address);
    tl_assert(chunk < sizeof chunks / sizeof *chunks);
    if (chunks[chunk] == NULL)
        chunks[chunk] = VG_(am_shadow_alloc)(CHUNK_PAGES * sizeof **chunks);
    tl_assert(chunks[chunk] != NULL);
    return find_page(address);
}

static UInt unit_of(Addr address)
{
    return address >> UNIT_SHIFT & (UNITS - 1);
}

static ULong bit_of(UInt unit)
{
    return (ULong)1 << (unit & 63);
}

static Addr start_of_page(Addr address)
{
    return address >> PAGE_SHIFT << PAGE_SHIFT;
}

/* ---- blocks by their starts: open addressing by the 16 bytes they are in */

static struct block *table; /* start 0: free */
static UInt room;
static UInt taken;

static UInt place_of(Addr start)
{
    const UInt hash = (UInt)(start >> UNIT_SHIFT) * 0x9e3779b1u;
    return (UInt)((ULong)hash * room >> 32);
}

static UInt after(UInt place)
{
    return place + 1 == room ? 0 : place + 1;
}

/* The place of the block in the same unit as `start`, or of a free one. */
static UInt find_place(Addr start)
{
    UInt i = place_of(start);
    while (table[i].start != 0 &&
           table[i].start >> UNIT_SHIFT != start >> UNIT_SHIFT)
        i = after(i);
    return i;
}

static void grow_table(void)
{
    struct block *old = table;
    const UInt old_room = room;
    room = room + room / 2;
    table = VG_(calloc)("mvp.blocks", room, sizeof *table);
    for (UInt i = 0; i < old_room; i++)
        if (old[i].start != 0)
            table[find_place(old[i].start)] = old[i];
    VG_(free)(old);
}

/* Moves blocks that a search would no longer reach over the gap. */
static void take_out(UInt gap)
{
    for (UInt i = after(gap); table[i].start != 0; i = after(i)) {
        const UInt wanted = place_of(table[i].start);
        const UInt from_wanted = i >= wanted ? i - wanted : i + room - wanted;
        const UInt from_gap = i >= gap ? i - gap : i + room - gap;
        if (from_wanted < from_gap)
            continue;
        table[gap] = table[i];
        gap = i;
    }
    table[gap].start = 0;
    taken--;
}

void blocks_init(void)
{
    room = 1 << 12;
    table = VG_(calloc)("mvp.blocks", room, sizeof *table);
}

const struct block *blocks_at(Addr start)
{
    const struct block *block = &table[find_place(start)];
    return block->start == start && start != 0 ? block : NULL;
}

/* ---- the block of an address */

static Bool holds(const struct block *block, Addr address)
{
    return address - block->start < block->size;
}

/* The next start at or below *unit in its page. False: there is none. */
static Bool next_start(const struct page *page, Int *unit)
{
    while (*unit >= 0) {
        const ULong below = ((ULong)2 << (*unit & 63)) - 1;
        const ULong starts = page->starts[*unit >> 6] & below;
        if (starts != 0) {
            *unit = (*unit | 63) - __builtin_clzll(starts);
            return True;
        }
        *unit = (*unit & ~63) - 1;
    }
    return False;
}

const struct block *blocks_find(Addr address)
{
    const struct page *page = find_page(address);
    if (page == NULL)
        return NULL;
    const Addr first = start_of_page(address);
    Int unit = (Int)unit_of(address);
    while (next_start(page, &unit)) {
        const Addr start = first + ((Addr)unit << UNIT_SHIFT);
        const struct block *block = &table[find_place(start)];
        if (holds(block, address))
            return block;
        if (!are_nested && block->start <= address)
            return NULL;
        unit--;
    }
    if (page->before == 0)
        return NULL;
    const struct block *block = &table[find_place(page->before)];
    return holds(block, address) ? block : NULL;
}

Bool blocks_is_strange(Addr address)
{
    const struct page *page = find_page(address);
    if (page == NULL)
        return True;
    ULong any = page->before;
    for (UInt i = 0; i < UNITS / 64; i++)
        any |= page->starts[i];
    return any == 0;
}

/* ---- adding and removing */

/* Sets what the pages say that the block reaches into. */
static void cover_pages(const struct block *block, Addr from, Addr to)
{
    const Addr end = block->start + block->size;
    for (Addr p = start_of_page(block->start) + (1 << PAGE_SHIFT); p < end;
         p += 1 << PAGE_SHIFT) {
        struct page *page = make_page(p);
        if (page->before == from || to != 0)
            page->before = to;
    }
}

/* A removed block may have lain inside another one, which is in its place. */
static void uncover_pages(const struct block *block)
{
    cover_pages(block, block->start, 0);
    if (!are_nested)
        return;
    const Addr first = start_of_page(block->start) + (1 << PAGE_SHIFT);
    const struct block *outer = blocks_find(first - 1);
    if (outer != NULL && holds(outer, first)) {
        struct block part = {.start = block->start, .size = block->size};
        const Addr end = outer->start + outer->size;
        if (part.start + part.size > end)
            part.size = end - part.start;
        cover_pages(&part, 0, outer->start);
    }
}

void blocks_add(const struct block *block)
{
    struct block old;
    if (4 * (taken + 1) > 3 * room)
        grow_table();
    are_nested |= blocks_find(block->start) != NULL;
    if (table[find_place(block->start)].start != 0)
        blocks_remove(table[find_place(block->start)].start, &old);
    struct page *page = make_page(block->start);
    if (are_nested || (heap_has_requests && blocks_is_strange(block->start)))
        blocks_renew();
    page->starts[unit_of(block->start) >> 6] |= bit_of(unit_of(block->start));
    table[find_place(block->start)] = *block;
    taken++;
    cover_pages(block, 0, block->start);
}

Bool blocks_remove(Addr start, struct block *block)
{
    const UInt place = find_place(start);
    if (start == 0 || table[place].start != start)
        return False;
    *block = table[place];
    struct page *page = find_page(start);
    page->starts[unit_of(start) >> 6] &= ~bit_of(unit_of(start));
    take_out(place);
    uncover_pages(block);
    ++*blocks_generation(start);
    return True;
}

void blocks_visit(void (*visit)(const struct block *block))
{
    for (UInt i = 0; i < room; i++)
        if (table[i].start != 0)
            visit(&table[i]);
}
