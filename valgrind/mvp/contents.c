/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "contents.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"

/* Whether the block's contents say something of its site's. */
static Bool is_examined(const struct block *block, const struct heap_site *site)
{
    return site->smallest == site->largest && block->size >= CONTENTS_UNIT &&
           block->size <= CONTENTS_UNIT * CONTENTS_UNITS &&
           (!heap_has_requests || VG_(am_is_valid_for_client)(block->start,
                                      block->size, VKI_PROT_READ));
}

static struct contents *contents_of(struct heap_site *site)
{
    if (site->contents == NULL)
        site->contents = VG_(calloc)("mvp.contents", 1, sizeof *site->contents);
    return site->contents;
}

void contents_free(struct heap_site *site)
{
    if (site->contents != NULL)
        VG_(free)(site->contents);
    site->contents = NULL;
}

/* ---- equal fields */

static void note_first(struct contents *c, const UInt *words, UInt count)
{
    for (UInt i = 0; i < count; i++) {
        UInt same = 0;
        while (words[same] != words[i])
            same++;
        c->same[i] = (UChar)same;
        c->first[i] = words[i];
    }
}

/* Unit `i` no longer equals its first one, and those that equal `i` neither. */
static void split(struct contents *c, const UInt *words, UInt i, UInt count)
{
    const UChar old = c->same[i];
    for (UInt j = i; j < count; j++)
        if (c->same[j] == old && words[j] == words[i])
            c->same[j] = (UChar)i;
}

static void note_words(struct contents *c, const UInt *words, UInt count)
{
    for (UInt i = 0; i < count; i++) {
        if (words[i] != c->first[i])
            c->varied |= (ULong)1 << i;
        if (c->same[i] != i && words[c->same[i]] != words[i])
            split(c, words, i, count);
    }
}

static void note_equal(struct contents *c, const struct block *block)
{
    UInt words[CONTENTS_UNITS] = {0};
    const UInt count = (UInt)(block->size / CONTENTS_UNIT);
    VG_(memcpy)(words, (const void *)block->start, count * CONTENTS_UNIT);
    if (c->blocks == 0)
        note_first(c, words, count);
    else
        note_words(c, words, count);
    c->blocks++;
}

/* ---- pairs */

/* How many allocations, and how many frees, may lie between those of a pair. */
enum { NEAR = 8, RING = 2 * NEAR + 1, SAVED = 8 };

/* A freed block, and the pointers to blocks that were in it. */
struct freed {
    struct block block; /* start 0: none */
    UInt count;
    struct {
        UInt offset;
        Addr to;
    } saved[SAVED];
};
static struct freed ring[RING];
static UInt newest;

static Bool are_born_together(const struct block *a, const struct block *b)
{
    const Int distance = (Int)(a->birth - b->birth);
    return distance <= NEAR && distance >= -NEAR;
}

/* The freed block that started there last; NULL: none. */
static const struct block *freed_at(Addr start)
{
    for (UInt i = 0; i < RING; i++) {
        const struct block *b = &ring[(newest + RING - i) % RING].block;
        if (b->start == start)
            return b;
    }
    return NULL;
}

static Addr pointer_at(const struct block *block, UInt offset)
{
    Addr value;
    VG_(memcpy)(&value, (const void *)(block->start + offset), sizeof value);
    return value;
}

/* A block that starts where the pointer leads. */
static const struct block *partner_of(const struct block *block, Addr to)
{
    if (to == 0 || to == block->start || (to & (sizeof(Addr) - 1)) != 0)
        return NULL;
    const struct block *live = blocks_at(to);
    const struct block *other = live != NULL ? live : freed_at(to);
    return other != NULL && are_born_together(block, other) ? other : NULL;
}

static void save_pointer(struct freed *f, UInt offset)
{
    const Addr to = pointer_at(&f->block, offset);
    if (f->count == SAVED || partner_of(&f->block, to) == NULL)
        return;
    f->saved[f->count].offset = offset;
    f->saved[f->count++].to = to;
}

/* Only what may still be a pair once some blocks of the site are known. */
static void save_pointers(struct freed *f, const struct contents *c)
{
    f->count = 0;
    if (c->judged != 0) {
        for (UInt i = 0; i < c->pair_count; i++)
            save_pointer(f, c->pairs[i].offset);
        return;
    }
    for (UInt offset = 0; offset + sizeof(Addr) <= f->block.size;
         offset += sizeof(Addr))
        save_pointer(f, offset);
}

static void add_pair(struct contents *c, UInt offset, UInt child)
{
    if (c->pair_count < CONTENTS_PAIRS)
        c->pairs[c->pair_count++] = (struct pair_field){offset, child};
}

/*
 * Judges a block: `find` says which block, born and freed with it, the field at
 * an offset points to.
 */
static void judge(struct contents *c, const struct freed *f,
    const struct block *(*find)(const struct freed *f, UInt offset))
{
    UInt kept = 0;
    for (UInt i = 0; c->judged == 0 && i < f->count; i++) {
        const struct block *child = find(f, f->saved[i].offset);
        if (child != NULL && child->site != f->block.site)
            add_pair(c, f->saved[i].offset, child->site);
    }
    for (UInt i = 0; i < c->pair_count; i++) {
        const struct block *child = find(f, c->pairs[i].offset);
        if (child != NULL && child->site == c->pairs[i].child)
            c->pairs[kept++] = c->pairs[i];
    }
    c->pair_count = kept;
    c->judged++;
}

static const struct block *find_freed(const struct freed *f, UInt offset)
{
    for (UInt i = 0; i < f->count; i++) {
        if (f->saved[i].offset != offset)
            continue;
        const struct block *b = freed_at(f->saved[i].to);
        return b != NULL && are_born_together(&f->block, b) ? b : NULL;
    }
    return NULL;
}

/* The blocks that were freed with it are all in the ring. */
static void judge_freed(const struct freed *f)
{
    if (f->block.start == 0)
        return;
    struct heap_site *site = heap_site_of(f->block.site);
    if (site->contents != NULL && is_examined(&f->block, site))
        judge(site->contents, f, find_freed);
}

static void note_pairs(const struct contents *c, const struct block *block)
{
    newest = (newest + 1) % RING;
    struct freed *f = &ring[newest];
    f->block = *block;
    f->count = 0;
    if (c != NULL)
        save_pointers(f, c);
    judge_freed(&ring[(newest + RING - NEAR) % RING]);
}

/* ---- blocks */

void contents_note(const struct block *block)
{
    struct heap_site *site = heap_site_of(block->site);
    struct contents *c = NULL;
    if (is_examined(block, site)) {
        c = contents_of(site);
        note_equal(c, block);
    }
    note_pairs(c, block);
}

static const struct block *find_live(const struct freed *f, UInt offset)
{
    const struct block *b = blocks_at(pointer_at(&f->block, offset));
    return b != NULL && are_born_together(&f->block, b) ? b : NULL;
}

static void note_live(const struct block *block)
{
    struct heap_site *site = heap_site_of(block->site);
    if (!is_examined(block, site))
        return;
    struct contents *c = contents_of(site);
    struct freed f = {.block = *block};
    note_equal(c, block);
    save_pointers(&f, c);
    judge(c, &f, find_live);
}

void contents_note_live(void)
{
    for (UInt i = NEAR; i-- > 0;)
        judge_freed(&ring[(newest + RING - i) % RING]);
    blocks_visit(note_live);
}
