/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write.h"

#include "blocks.h"
#include "costs.h"
#include "heap.h"
#include "pages.h"
#include "stacks.h"

#include "../common/results.h"

#include "pub_tool_libcproc.h"

/* ---- counts */

static Bool is_empty(const struct fault_counts *c)
{
    for (UInt access = 0; access < ACCESS_KINDS; access++)
        for (UInt kind = 0; kind < FAULT_KINDS; kind++)
            if (c->n[access][kind] != 0)
                return False;
    return True;
}

static void write_counts(const struct fault_counts *c)
{
    for (UInt access = 0; access < ACCESS_KINDS; access++)
        for (UInt kind = 0; kind < FAULT_KINDS; kind++)
            results_printf(" %llu", c->n[access][kind]);
}

static void write_run(Addr ip, ULong fetches, ULong data)
{
    results_printf("ran %lx %llu %llu\n", ip, fetches, data);
}

static void write_site(Addr ip, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        results_printf("fault %lx %u", ip, size);
        write_counts(&counts[size]);
        results_put("\n");
    }
}

static void write_ips(const Addr *ips, UInt count, Bool cut)
{
    for (UInt i = 0; i < count; i++)
        results_printf(" %lx", ips[i]);
    results_printf(cut ? " cut\n" : "\n");
}

static void write_path(
    const Addr *ips, UInt count, Bool cut, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        results_printf("path %u", size);
        write_counts(&counts[size]);
        write_ips(ips, count, cut);
    }
}

static void write_mapping(const HChar *name, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        results_printf("mapping %u", size);
        write_counts(&counts[size]);
        results_put(" ");
        results_put_in_line(name);
        results_put("\n");
    }
}

static void write_heap_site(const Addr *ips, UInt count, ULong blocks,
    ULong bytes, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        results_printf("heap %u %llu %llu", size, blocks, bytes);
        write_counts(&counts[size]);
        write_ips(ips, count, False);
    }
}

static void write_stack(const struct stack *s, const Addr *ips)
{
    results_printf("stack %u %llu %llu", s->tid, s->at, s->weight);
    write_ips(ips, s->count, s->cut);
}

static void write_start(Addr start, Addr end)
{
    results_printf("start %lx %lx\n", start, end);
}

static void write_spans(void)
{
    results_printf("spans %llu\n", costs_span_length());
    for (UInt i = 0; i < costs_span_count(); i++) {
        for (UInt size = 0; size < opt.size_count; size++) {
            results_printf("span %u %u", i, size);
            write_counts(&costs_span(i)[size]);
            results_put("\n");
        }
    }
}

/* ---- the file */

static ULong data_total;

static void add_data(Addr ip, ULong fetches, ULong data)
{
    (void)ip, (void)fetches;
    data_total += data;
}

static void write_head(void)
{
    struct pages_summary summary;
    pages_summarize(&summary);
    data_total = 0;
    blocks_visit(add_data);
    results_put("windlass-vmprof 1\n");
    results_put_command();
    results_printf("pid %d\npage %lu\ninstructions %llu\ndata %llu\n",
        VG_(getpid)(), (UWord)1 << opt.page_shift, instructions, data_total);
    results_printf(
        "pages %llu\nmapped %llu\n", summary.distinct, summary.peak_mapped);
    for (UInt size = 0; size < opt.size_count; size++) {
        results_printf("memory %u %llu %llu", size, opt.memory[size],
            summary.swapped[size]);
        write_counts(&total_faults[size]);
        results_put("\n");
    }
}

static void write_all(Bool is_running)
{
    write_head();
    if (is_running)
        results_put("running\n");
    results_put_code();
    blocks_visit(write_run);
    costs_visit_sites(write_site);
    costs_visit_paths(write_path);
    costs_visit_mappings(write_mapping);
    if (opt.blocks)
        heap_visit_sites(write_heap_site);
    write_spans();
    stacks_visit_start(write_start);
    if (opt.stacks_every != 0)
        results_printf("stacks %llu\n", (ULong)opt.stacks_every);
    stacks_visit(write_stack);
    results_put("end\n");
}

static struct results results_of_run(void)
{
    return (struct results){"vmprof", "--vmprof-out-file", opt.out, write_all};
}

void write_results(Bool is_running)
{
    const struct results results = results_of_run();
    results_write(&results, is_running);
}

void write_results_if_due(void)
{
    const struct results results = results_of_run();
    results_write_if_due(&results);
}
