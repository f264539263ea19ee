/* SPDX-License-Identifier: MIT */
/*
 * members: the names of the members that point to others, by the debug
 * information of the code that allocated their blocks.
 */
#ifndef WNDL_ANALYZE_HOLDERS_MEMBERS_H
#define WNDL_ANALYZE_HOLDERS_MEMBERS_H

#include "analyze/holders/tables.h"
#include "analyze/names/profile_names.h"

/* The debug information that was asked for; it is read then. */
struct wndl_heap_members {
    struct wndl_arena arena;
    const struct wndl_symbolized *s;
    const struct wndl_symbol_sources *sources;
    struct wndl_vec images; /* struct image of members.c */
    struct wndl_vec types;  /* struct site_type of members.c */
    struct wndl_map known;  /* by site: index of its type, + 1 */
};

/*
 * Makes it empty, for one heap of s->profile; `s` and `sources` outlive it.
 * Ends with wndl_heap_members_free, after the holders that used it.
 */
void wndl_heap_members_init(struct wndl_heap_members *members,
    const struct wndl_symbolized *s, const struct wndl_symbol_sources *sources);
void wndl_heap_members_free(struct wndl_heap_members *members);

/*
 * Sets *member to the id in h->strings of the member at `offset` bytes of the
 * blocks of a site: that of the struct which is as large as they are and to
 * which a pointer in their code leads (analyze/names/block_type.h). 0: it is
 * not known, or known->members is NULL, or `site` is WNDL_NO_INDEX. False when
 * memory is out.
 */
bool wndl_heap_member(struct wndl_heap_holders *h,
    const struct wndl_heap_known *known, uint32_t site, uint64_t offset,
    uint32_t *member);

/* The site of a node's blocks; WNDL_NO_INDEX: not known, or it is a root. */
static inline uint32_t wndl_heap_site_of(
    const struct wndl_heap_graph *g, uint32_t node)
{
    return node < g->block_count ? g->sites[node] : WNDL_NO_INDEX;
}

/*
 * A site that stands for two of one place, whose blocks are of one type if they
 * have one size; WNDL_NO_INDEX: they do not.
 */
uint32_t wndl_heap_same_site(
    const struct wndl_process_heap *heap, uint32_t a, uint32_t b);

#endif
