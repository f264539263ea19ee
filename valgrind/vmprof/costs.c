/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "costs.h"

#include "blocks.h"
#include "heap.h"
#include "system.h"
#include "walk.h"

#include "../common/frames.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

struct site {
    struct site *next;
    UWord key; /* address of the instruction */
    struct fault_counts counts[];
};

struct path {
    struct path *next;
    UWord key; /* hash of what follows */
    Addr *ips;
    UInt ip_count;
    Bool cut; /* outer frames are missing */
    struct fault_counts counts[];
};

struct mapping {
    struct mapping *next;
    UWord key; /* hash of the name */
    HChar *name;
    struct fault_counts counts[];
};

static VgHashTable *sites;
static VgHashTable *paths;
static VgHashTable *mappings;

enum { FIRST_SPAN = 1 << 16 }; /* instructions */
static ULong span_length = FIRST_SPAN;
static struct fault_counts *spans; /* COST_SPANS rows */
static UInt span_count;

static SizeT row_size(void)
{
    return opt.size_count * sizeof(struct fault_counts);
}

void costs_init(void)
{
    sites = VG_(HT_construct)("vmprof.sites");
    paths = VG_(HT_construct)("vmprof.paths");
    mappings = VG_(HT_construct)("vmprof.mappings");
    spans = VG_(calloc)("vmprof.spans", COST_SPANS, row_size());
}

static struct fault_counts *site_counts(Addr ip)
{
    struct site *site = VG_(HT_lookup)(sites, ip);
    if (site == NULL) {
        site = VG_(calloc)("vmprof.site", 1, sizeof *site + row_size());
        site->key = ip;
        VG_(HT_add_node)(sites, site);
    }
    return site->counts;
}

/* ---- call paths */

static Word compare_paths(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    if (x->ip_count != y->ip_count || x->cut != y->cut)
        return 1;
    return VG_(memcmp)(x->ips, y->ips, x->ip_count * sizeof *x->ips);
}

static struct path *add_path(const struct path *wanted)
{
    struct path *path =
        VG_(calloc)("vmprof.path", 1, sizeof *path + row_size());
    SizeT size = wanted->ip_count * sizeof *wanted->ips;
    path->key = wanted->key;
    path->ip_count = wanted->ip_count;
    path->cut = wanted->cut;
    path->ips = VG_(malloc)("vmprof.path", size);
    VG_(memcpy)(path->ips, wanted->ips, size);
    VG_(HT_add_node)(paths, path);
    return path;
}

static struct fault_counts *path_counts(const struct access *access)
{
    struct walk walk;
    walk_stack(&walk, &access->at);
    walk.ips[0] = access->ip;
    const struct path wanted = {
        .key = frames_hash(walk.ips, walk.count),
        .ips = walk.ips,
        .ip_count = walk.count,
        .cut = walk.cut,
    };
    struct path *path = VG_(HT_gen_lookup)(paths, &wanted, compare_paths);
    return (path == NULL ? add_path(&wanted) : path)->counts;
}

/* ---- mappings */

static struct mapping *find_mapping(UWord key, const HChar *name)
{
    for (struct mapping *m = VG_(HT_lookup)(mappings, key); m != NULL;
         m = m->next)
        if (m->key == key && VG_(strcmp)(m->name, name) == 0)
            return m;
    return NULL;
}

static struct fault_counts *mapping_counts(Addr page)
{
    const HChar *name = system_mapping_name(page);
    UWord key = 5381;
    for (const HChar *p = name; *p != '\0'; p++)
        key = key * 33 + (UChar)*p;
    struct mapping *m = find_mapping(key, name);
    if (m == NULL) {
        m = VG_(calloc)("vmprof.mapping", 1, sizeof *m + row_size());
        m->key = key;
        m->name = VG_(strdup)("vmprof.mapping", name);
        VG_(HT_add_node)(mappings, m);
    }
    return m->counts;
}

/* ---- time */

static void add_counts(struct fault_counts *to, const struct fault_counts *from)
{
    for (UInt size = 0; size < opt.size_count; size++)
        for (UInt access = 0; access < ACCESS_KINDS; access++)
            for (UInt kind = 0; kind < FAULT_KINDS; kind++)
                to[size].n[access][kind] += from[size].n[access][kind];
}

/* Two spans become one, so that there are always few of them. */
static void double_spans(void)
{
    for (UInt i = 0; i < COST_SPANS / 2; i++) {
        struct fault_counts *to = spans + i * opt.size_count;
        struct fault_counts *from = spans + 2 * i * opt.size_count;
        if (i != 0)
            VG_(memcpy)(to, from, row_size());
        add_counts(to, from + opt.size_count);
    }
    VG_(memset)
    (spans + COST_SPANS / 2 * opt.size_count, 0, COST_SPANS / 2 * row_size());
    span_length *= 2;
    span_count = (span_count + 1) / 2;
}

static struct fault_counts *span_counts(void)
{
    while (instructions / span_length >= COST_SPANS)
        double_spans();
    UInt i = (UInt)(instructions / span_length);
    if (i >= span_count)
        span_count = i + 1;
    return spans + i * opt.size_count;
}

ULong costs_span_length(void)
{
    return span_length;
}

UInt costs_span_count(void)
{
    return span_count;
}

const struct fault_counts *costs_span(UInt index)
{
    return spans + index * opt.size_count;
}

/* ---- all of them */

void costs_fault(const struct access *access, UInt size, enum fault_kind kind)
{
    site_counts(access->ip)[size].n[access->kind][kind]++;
    mapping_counts(access->address)[size].n[access->kind][kind]++;
    span_counts()[size].n[access->kind][kind]++;
    if (opt.paths)
        path_counts(access)[size].n[access->kind][kind]++;
    if (opt.blocks)
        heap_fault(access, size, kind);
}

static void free_path(void *node)
{
    struct path *path = node;
    VG_(free)(path->ips);
    VG_(free)(path);
}

static void free_mapping(void *node)
{
    struct mapping *mapping = node;
    VG_(free)(mapping->name);
    VG_(free)(mapping);
}

void costs_forget(void)
{
    VG_(HT_destruct)(sites, VG_(free));
    VG_(HT_destruct)(paths, free_path);
    VG_(HT_destruct)(mappings, free_mapping);
    VG_(free)(spans);
    span_length = FIRST_SPAN;
    span_count = 0;
    costs_init();
}

void costs_visit_sites(
    void (*visit)(Addr ip, const struct fault_counts *counts))
{
    VG_(HT_ResetIter)(sites);
    for (struct site *s; (s = VG_(HT_Next)(sites)) != NULL;)
        visit(s->key, s->counts);
}

void costs_visit_paths(void (*visit)(
    const Addr *ips, UInt count, Bool cut, const struct fault_counts *counts))
{
    VG_(HT_ResetIter)(paths);
    for (struct path *p; (p = VG_(HT_Next)(paths)) != NULL;)
        visit(p->ips, p->ip_count, p->cut, p->counts);
}

void costs_visit_mappings(
    void (*visit)(const HChar *name, const struct fault_counts *counts))
{
    VG_(HT_ResetIter)(mappings);
    for (struct mapping *m; (m = VG_(HT_Next)(mappings)) != NULL;)
        visit(m->name, m->counts);
}
