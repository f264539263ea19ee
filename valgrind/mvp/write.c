/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write.h"

#include "contents.h"
#include "uses.h"

#include "pub_tool_libcproc.h"

/* The bits that a value of so many bytes has. */
static ULong mask_of(UInt size)
{
    return size == 8 ? ~(ULong)0 : ((ULong)1 << 8 * size) - 1;
}

static void write_bits(const struct site_bits *bits, UInt size)
{
    const ULong mask = mask_of(size);
    results_put_hex(bits->first & mask);
    results_put_hex(~bits->constant & mask);
    results_put_hex(bits->signs & mask);
}

static void put_place(const struct site *site)
{
    results_put_hex(site->ip);
    results_put_number(site->index);
    results_put_number(site->size);
}

static void write_site(const struct site *site, const struct site_sums *sums)
{
    if ((site->flags & SITE_STORE) != 0)
        return;
    const Bool is_wide = (site->flags & SITE_WIDE) != 0;
    results_put(is_wide ? "wide" : "load");
    put_place(site);
    results_put_number(sums->loads);
    results_put_number(sums->sectors);
    results_put_number(sums->pages);
    if (!is_wide)
        write_bits(&sums->bits, site->size);
    results_put("\n");
}

/* ---- blocks */

static void write_contents(const struct heap_site *site)
{
    const struct contents *c = site->contents;
    if (c == NULL || site->smallest != site->largest)
        return;
    const UInt units = (UInt)site->largest / CONTENTS_UNIT;
    for (UInt i = 0; i < units && c->blocks > 1; i++)
        if (c->same[i] != i && (c->varied >> i & 1) != 0)
            results_printf("equal %u %llu %u %u\n", site->number, c->blocks,
                i * CONTENTS_UNIT, (UInt)c->same[i] * CONTENTS_UNIT);
    for (UInt i = 0; i < c->pair_count; i++)
        results_printf("pair %u %u %u %llu\n", site->number, c->pairs[i].offset,
            c->pairs[i].child, c->judged);
}

static void write_heap_site(const struct heap_site *site)
{
    if (site->mapping != NULL) {
        results_printf("mapping %llu ", site->outside);
        results_put_in_line(site->mapping);
        results_put("\n");
        return;
    }
    if (site->blocks == 0) /* since a fork */
        return;
    results_printf("site %u %llu %llu %lu %lu %lu", site->number, site->blocks,
        site->bytes, site->smallest, site->largest, site->element);
    for (UInt i = 0; i < site->ip_count; i++)
        results_printf(" %lx", site->ips[i]);
    results_put("\n");
}

/* What there is of accesses in a mapping is the number of loads alone. */
static void forget_outside(void)
{
    for (UInt i = 0; i < heap_site_count(); i++)
        heap_site_of(i)->outside = 0;
}

static void count_outside(const struct use *use)
{
    if ((use->flags & USE_IS_OUTSIDE) != 0 &&
        (use->site->flags & SITE_STORE) == 0)
        heap_site_of(use->heap_site)->outside += use->count;
}

static void write_use(const struct use *use)
{
    const struct site *site = use->site;
    const Bool is_store = (site->flags & SITE_STORE) != 0;
    const Bool has_value = (use->flags & USE_HAS_VALUE) != 0;
    if ((use->flags & USE_IS_OUTSIDE) != 0)
        return;
    results_put(is_store ? "write" : has_value ? "read" : "skim");
    results_put_number(use->heap_site);
    put_place(site);
    results_put_number(use->count);
    results_put_number(use->low);
    results_put_number(use->high);
    results_put_number(use->step);
    if (has_value) {
        write_bits(&use->bits, site->size);
        results_put_number((use->flags & USE_HAS_NUMBER) == 0);
    }
    for (UInt i = 0; use->values != NULL && i < use->value_count; i++)
        results_put_hex(use->values[i] & mask_of(site->size));
    results_put("\n");
}

static void write_blocks(void)
{
    forget_outside();
    uses_visit(count_outside);
    for (UInt i = 0; i < heap_site_count(); i++)
        write_heap_site(heap_site_of(i));
    uses_visit(write_use);
    for (UInt i = 0; i < heap_site_count(); i++)
        write_contents(heap_site_of(i));
}

/* ---- all */

static void write_all(Bool is_running)
{
    results_put("windlass-mvp 1\n");
    results_put_command();
    results_printf("pid %d\n", VG_(getpid)());
    if (is_running)
        results_put("running\n");
    results_put_code();
    sites_visit(write_site);
    if (opt.blocks)
        write_blocks();
    results_put("end\n");
}

struct results write_results(void)
{
    return (struct results){"mvp", "--mvp-out-file", opt.out, write_all};
}
