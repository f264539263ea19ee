/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sites.h"

#include "stacks.h"
#include "uses.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

enum { CHUNK_SHIFT = 10, CHUNK = 1 << CHUNK_SHIFT };
static struct site **chunks;
static UInt site_count;

static UInt *buckets; /* index + 1 of the first site in the chain, or 0 */
static UInt bucket_count;

/* ---- sites */

static struct site *site_of(UInt number)
{
    return &chunks[number >> CHUNK_SHIFT][number & (CHUNK - 1)];
}

void sites_init(void)
{
    bucket_count = 1 << 12;
    buckets = VG_(calloc)("mvp.buckets", bucket_count, sizeof *buckets);
}

static UInt *bucket_of(Addr ip)
{
    ULong hash = (ULong)ip * 0x9e3779b97f4a7c15ULL;
    return &buckets[(UInt)(hash >> 32) & (bucket_count - 1)];
}

static void link_site(UInt number)
{
    struct site *site = site_of(number);
    UInt *bucket = bucket_of(site->ip);
    site->next = *bucket;
    *bucket = number + 1;
}

static void grow_buckets(void)
{
    VG_(free)(buckets);
    bucket_count *= 2;
    buckets = VG_(calloc)("mvp.buckets", bucket_count, sizeof *buckets);
    for (UInt number = 0; number < site_count; number++)
        link_site(number);
}

static struct site *add_site(void)
{
    if (site_count == 2 * bucket_count)
        grow_buckets();
    UInt chunk = site_count >> CHUNK_SHIFT;
    if ((site_count & (CHUNK - 1)) == 0) {
        chunks =
            VG_(realloc)("mvp.chunks", chunks, (chunk + 1) * sizeof *chunks);
        chunks[chunk] = VG_(calloc)("mvp.sites", CHUNK, sizeof **chunks);
    }
    return site_of(site_count++);
}

/* No address is in it. */
static void empty_range(struct site *site)
{
    site->base = ~(Addr)0;
    site->span = 0;
}

struct site *sites_at(Addr ip, UInt index, UInt size, UInt kind)
{
    for (UInt i = *bucket_of(ip); i != 0;) {
        struct site *s = site_of(i - 1);
        if (s->ip == ip && s->index == (UChar)index && s->size == size &&
            (s->flags & SITE_VALUELESS) == kind)
            return s;
        i = s->next;
    }
    struct site *site = add_site();
    site->ip = ip;
    site->index = (UChar)index;
    site->size = (UShort)size;
    site->flags = (UChar)kind;
    empty_range(site);
    link_site(site_count - 1);
    return site;
}

/* ---- sectors */

/* A table of so many pairs is cut into parts, which then grow one at a time:
 * while one does, it is there twice. Each part has another room at first, so
 * that they do not all grow at about the same time. */
enum { MOST_IN_ONE = 16384, PARTS = 64 };

/*
 * Open addressing by page; 0 sectors: free. At most 6/7 are taken. A room of 0:
 * there are PARTS tables instead of pairs.
 */
struct pair_table {
    UInt room;
    UInt count;
    union {
        struct pair pairs[0];
        struct pair_table *parts[0];
    };
};

static struct pair_table *new_table(UInt room)
{
    struct pair_table *table = VG_(calloc)(
        "mvp.pairs", 1, sizeof *table + room * sizeof *table->pairs);
    table->room = room;
    return table;
}

static UInt hash_of(UInt page)
{
    return page * 0x9e3779b1u;
}

/* The pair of a page, or where it belongs. */
static struct pair *find_pair(struct pair_table *table, UInt page)
{
    UInt hash = hash_of(page);
    UInt i = (UInt)((ULong)hash * table->room >> 32);
    while (table->pairs[i].sectors != 0 && table->pairs[i].page != page)
        i = i + 1 == table->room ? 0 : i + 1;
    return &table->pairs[i];
}

/* The table, or the part of it, that a page belongs in. The places in a table
 * go by higher bits of the hash. */
static struct pair_table **part_of(struct pair_table **table, UInt page)
{
    if (*table == NULL || (*table)->room != 0)
        return table;
    return &(*table)->parts[hash_of(page) / 1024 % PARTS];
}

static void grow_table(struct pair_table **at)
{
    struct pair_table *old = *at;
    struct pair_table *table = new_table(old->room * 8 / 7 + 1);
    for (UInt i = 0; i < old->room; i++)
        if (old->pairs[i].sectors != 0)
            *find_pair(table, old->pairs[i].page) = old->pairs[i];
    table->count = old->count;
    VG_(free)(old);
    *at = table;
}

static struct pair *add_pair(struct pair_table **at, UInt page)
{
    if (7 * ((*at)->count + 1) > 6 * (*at)->room)
        grow_table(at);
    (*at)->count++;
    struct pair *pair = find_pair(*at, page);
    pair->page = page;
    return pair;
}

static void cut_table(struct site *site)
{
    struct pair_table *old = site->pairs;
    struct pair_table *table = VG_(calloc)(
        "mvp.parts", 1, sizeof *table + PARTS * sizeof *table->parts);
    for (UInt i = 0; i < PARTS; i++)
        table->parts[i] = new_table(MOST_IN_ONE / PARTS + i);
    for (UInt i = 0; i < old->room; i++) {
        const struct pair *from = &old->pairs[i];
        if (from->sectors != 0)
            add_pair(part_of(&table, from->page), from->page)->sectors =
                from->sectors;
    }
    VG_(free)(old);
    site->pairs = table;
}

static void free_table(struct pair_table *table)
{
    if (table == NULL)
        return;
    for (UInt i = 0; table->room == 0 && i < PARTS; i++)
        VG_(free)(table->parts[i]);
    VG_(free)(table);
}

static void make_table(struct site *site)
{
    site->pairs = new_table(3);
    *find_pair(site->pairs, site->only.page) = site->only;
    site->pairs->count = 1;
}

/* The pair of a page; a new one has no sectors yet. */
static struct pair *pair_of(struct site *site, UInt page)
{
    if (site->pairs == NULL) {
        if (site->only.sectors == 0)
            site->only.page = page;
        if (site->only.page == page)
            return &site->only;
        make_table(site);
    }
    struct pair_table **at = part_of(&site->pairs, page);
    struct pair *pair = find_pair(*at, page);
    if (pair->sectors != 0)
        return pair;
    if (at == &site->pairs && (*at)->count == MOST_IN_ONE) {
        cut_table(site);
        at = part_of(&site->pairs, page);
    }
    return add_pair(at, page);
}

/*
 * Sectors that sites have read in pages, by a hash of both: most sectors that
 * are not in a site's range are found here, without a search for its pair.
 */
enum { SEEN_SHIFT = 12 };
static struct seen {
    const struct site *site;
    struct pair pair;
} seen[1 << SEEN_SHIFT];

static struct seen *seen_at(const struct site *site, UInt page)
{
    const ULong key = (ULong)(Addr)site + ((ULong)page << 32) + page;
    return &seen[key * 0x9e3779b97f4a7c15ULL >> (64 - SEEN_SHIFT)];
}

/* The sectors of its page that the site has read, with this one. */
static UInt mark_sector(struct site *site, Addr address)
{
    const UInt page = (UInt)(address >> PAGE_SHIFT);
    const UInt sector = 1u << (address >> SECTOR_SHIFT & 31);
    struct seen *s = seen_at(site, page);
    if (s->site != site || s->pair.page != page ||
        (s->pair.sectors & sector) == 0) {
        struct pair *pair = pair_of(site, page);
        pair->sectors |= sector;
        *s = (struct seen){site, *pair};
    }
    return s->pair.sectors;
}

/* The range of sectors around `address` that were read, of `sectors` of its
 * page. */
static void set_range(struct site *site, Addr address, UInt sectors,
    const struct stretch *stretch)
{
    const UInt sector = address >> SECTOR_SHIFT & 31;
    const UInt unread = ~sectors;
    const UInt above = unread >> sector;
    const UInt below = unread << (31 - sector);
    const UInt end = sector + (above == 0 ? 32 - sector : __builtin_ctz(above));
    const UInt start = below == 0 ? 0 : sector + 1 - __builtin_clz(below);
    const Addr page = address >> PAGE_SHIFT << PAGE_SHIFT;
    Addr low = page + (start << SECTOR_SHIFT);
    Addr high = page + (end << SECTOR_SHIFT) - 1;
    low = low < stretch->low ? stretch->low : low;
    high = high > stretch->high ? stretch->high : high;
    if (high - low + 1 < site->size) {
        empty_range(site);
        return;
    }
    site->base = low;
    site->span = (UInt)(high - low) + 1 - site->size;
}

static void read_sectors(
    struct site *site, Addr address, const struct stretch *stretch)
{
    const Addr last = (address + site->size - 1) >> SECTOR_SHIFT;
    for (Addr sector = address >> SECTOR_SHIFT; sector < last; sector++)
        mark_sector(site, sector << SECTOR_SHIFT);
    const UInt sectors = mark_sector(site, last << SECTOR_SHIFT);
    if (last >> 5 == address >> PAGE_SHIFT)
        set_range(site, address, sectors, stretch);
    else
        empty_range(site);
}

/* ---- values */

/* All bits equal to the sign. */
static ULong spread_sign(ULong value)
{
    return (ULong)((Long)value >> 63);
}

void site_bits_add(struct site_bits *bits, Bool has_value, ULong value)
{
    if (!has_value) {
        *bits = (struct site_bits){.first = value, .constant = ~(ULong)0};
        return;
    }
    const ULong constant = bits->constant;
    bits->constant &= ~(value ^ bits->first);
    const ULong same = ~(value ^ spread_sign(value));
    if ((Long)bits->constant < 0) /* the sign is constant */
        return;
    if ((Long)constant < 0) /* until now: these were equal to it */
        bits->signs = constant & ~(bits->first ^ spread_sign(bits->first));
    bits->signs &= same;
}

/* The bits that always equalled the sign. */
static ULong equal_to_sign(const struct site_bits *bits)
{
    return (Long)bits->constant < 0
               ? bits->constant & ~(bits->first ^ spread_sign(bits->first))
               : bits->signs;
}

void site_bits_merge(struct site_bits *bits, const struct site_bits *from)
{
    const ULong same = equal_to_sign(bits) & equal_to_sign(from);
    bits->constant &= from->constant & ~(bits->first ^ from->first);
    bits->signs = (Long)bits->constant < 0 ? 0 : same;
}

static void read_value(struct site *site, ULong value)
{
    site_bits_add(&site->bits, (site->flags & SITE_HAS_VALUE) != 0, value);
    site->flags |= SITE_HAS_VALUE;
}

/* ---- loads */

/* Nothing is new in the stretch, if its sectors do not count. */
static void set_stretch(struct site *site, const struct stretch *stretch)
{
    const Addr span = stretch->high - stretch->low;
    site->base = stretch->low;
    site->span = span > ~(UInt)0 ? ~(UInt)0 : (UInt)span;
}

static void leave_stack(struct site *site)
{
    if ((site->flags & SITE_IN_STACK) == 0)
        return;
    site->flags &= ~SITE_IN_STACK;
    site->stack_loads = site->loads - site->stack_loads;
}

static void enter_stack(struct site *site, const struct stretch *stretch)
{
    if ((site->flags & SITE_IN_STACK) == 0)
        site->stack_loads = site->loads - site->stack_loads;
    site->flags |= SITE_IN_STACK;
    set_stretch(site, stretch);
}

/* `loads` counts the load at hand already, without blocks. */
void sites_note_address(struct site *site, Addr address)
{
    struct stretch stretch;
    stacks_find(address, &stretch);
    site->loads--;
    if (stretch.is_stack)
        enter_stack(site, &stretch);
    else
        leave_stack(site);
    if ((site->flags & SITE_STORE) != 0)
        set_stretch(site, &stretch);
    else if (!stretch.is_stack)
        read_sectors(site, address, &stretch);
    site->loads++;
}

void sites_note(struct site *site, Addr address, ULong value)
{
    sites_note_address(site, address);
    if ((site->flags & (SITE_IN_STACK | SITE_WIDE)) == 0)
        read_value(site, value);
}

/* ---- all of them */

void sites_forget_ranges(Addr low, Addr high)
{
    uses_forget_known();
    for (UInt i = 0; i < site_count; i++) {
        struct site *s = site_of(i);
        if (s->base > high || s->base + s->span + s->size <= low)
            continue;
        leave_stack(s);
        empty_range(s);
    }
}

void sites_forget(void)
{
    for (UInt i = 0; i < site_count; i++) {
        struct site *s = site_of(i);
        free_table(s->pairs);
        s->pairs = NULL;
        s->only = (struct pair){0};
        s->loads = s->stack_loads = 0;
        if (!opt.blocks)
            s->bits = (struct site_bits){0};
        s->flags &= SITE_VALUELESS;
        empty_range(s);
    }
    VG_(memset)(seen, 0, sizeof seen);
}

/* With blocks, the loads and values of a site are those of its uses. */
static void sum_uses(const struct site *site, struct site_sums *sums)
{
    Bool any = False;
    const struct use *use = site->use;
    *sums = (struct site_sums){0};
    for (Bool last = use == NULL; !last; last = use == site->use) {
        sums->loads += use->count;
        if ((use->flags & USE_HAS_VALUE) != 0 && any)
            site_bits_merge(&sums->bits, &use->bits);
        else if ((use->flags & USE_HAS_VALUE) != 0)
            sums->bits = use->bits;
        any |= (use->flags & USE_HAS_VALUE) != 0;
        use = use->next_of_site;
    }
}

static void sum_loads(const struct site *site, struct site_sums *sums)
{
    const ULong stack = (site->flags & SITE_IN_STACK) != 0
                            ? site->loads - site->stack_loads
                            : site->stack_loads;
    *sums =
        (struct site_sums){.loads = site->loads - stack, .bits = site->bits};
}

static void sum_pairs(
    const struct pair *pairs, UInt count, struct site_sums *sums)
{
    for (UInt i = 0; i < count; i++) {
        sums->sectors += (ULong)__builtin_popcount(pairs[i].sectors);
        sums->pages += pairs[i].sectors != 0;
    }
}

static void sum_site(struct site *site, struct site_sums *sums)
{
    if (opt.blocks)
        sum_uses(site, sums);
    else
        sum_loads(site, sums);
    const struct pair_table *table = site->pairs;
    if (table == NULL)
        sum_pairs(&site->only, 1, sums);
    else
        sum_pairs(table->pairs, table->room, sums);
    for (UInt i = 0; table != NULL && table->room == 0 && i < PARTS; i++)
        sum_pairs(table->parts[i]->pairs, table->parts[i]->room, sums);
}

void sites_visit(
    void (*visit)(const struct site *site, const struct site_sums *sums))
{
    for (UInt i = 0; i < site_count; i++) {
        struct site_sums sums;
        sum_site(site_of(i), &sums);
        if (sums.loads != 0)
            visit(site_of(i), &sums);
    }
}
