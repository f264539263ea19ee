/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write.h"

#include "blocks.h"
#include "costs.h"
#include "heap.h"
#include "pages.h"
#include "stacks.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

static VgFile *file;

/* A line of the file ends at its first newline. */
static void write_in_line(const HChar *text)
{
    for (; *text != '\0'; text++)
        VG_(fprintf)(file, "%c", *text == '\n' ? ' ' : *text);
}

/* ---- code */

struct code {
    Addr start;
    Addr end;
    ULong offset; /* of `start` in the file */
    HChar *path;
};
static struct code *codes;
static UInt code_count;

static Bool is_noted(const struct code *c)
{
    for (UInt i = 0; i < code_count; i++)
        if (codes[i].start == c->start && codes[i].end == c->end &&
            VG_(strcmp)(codes[i].path, c->path) == 0)
            return True;
    return False;
}

void write_note_code(Addr start, SizeT size)
{
    const NSegment *segment = VG_(am_find_nsegment)(start);
    if (segment == NULL || segment->kind != SkFileC)
        return;
    const HChar *path = VG_(am_get_filename)(segment);
    if (path == NULL)
        return;
    struct code c = {start, start + size,
        (ULong)segment->offset + (start - segment->start), NULL};
    c.path = VG_(strdup)("vmprof.code", path);
    if (is_noted(&c)) {
        VG_(free)(c.path);
        return;
    }
    codes =
        VG_(realloc)("vmprof.code", codes, (code_count + 1) * sizeof *codes);
    codes[code_count++] = c;
}

static void write_code(void)
{
    for (UInt i = 0; i < code_count; i++) {
        VG_(fprintf)
        (file, "code %lx %lx %llx ", codes[i].start, codes[i].end,
            codes[i].offset);
        write_in_line(codes[i].path);
        VG_(fprintf)(file, "\n");
    }
}

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
            VG_(fprintf)(file, " %llu", c->n[access][kind]);
}

static void write_run(Addr ip, ULong fetches, ULong data)
{
    VG_(fprintf)(file, "ran %lx %llu %llu\n", ip, fetches, data);
}

static void write_site(Addr ip, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        VG_(fprintf)(file, "fault %lx %u", ip, size);
        write_counts(&counts[size]);
        VG_(fprintf)(file, "\n");
    }
}

static void write_ips(const Addr *ips, UInt count, Bool cut)
{
    for (UInt i = 0; i < count; i++)
        VG_(fprintf)(file, " %lx", ips[i]);
    VG_(fprintf)(file, cut ? " cut\n" : "\n");
}

static void write_path(
    const Addr *ips, UInt count, Bool cut, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        VG_(fprintf)(file, "path %u", size);
        write_counts(&counts[size]);
        write_ips(ips, count, cut);
    }
}

static void write_mapping(const HChar *name, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        VG_(fprintf)(file, "mapping %u", size);
        write_counts(&counts[size]);
        VG_(fprintf)(file, " ");
        write_in_line(name);
        VG_(fprintf)(file, "\n");
    }
}

static void write_heap_site(const Addr *ips, UInt count, ULong blocks,
    ULong bytes, const struct fault_counts *counts)
{
    for (UInt size = 0; size < opt.size_count; size++) {
        if (is_empty(&counts[size]))
            continue;
        VG_(fprintf)(file, "heap %u %llu %llu", size, blocks, bytes);
        write_counts(&counts[size]);
        write_ips(ips, count, False);
    }
}

static void write_stack(const struct stack *s, const Addr *ips)
{
    VG_(fprintf)(file, "stack %u %llu %llu", s->tid, s->at, s->weight);
    write_ips(ips, s->count, s->cut);
}

static void write_start(Addr start, Addr end)
{
    VG_(fprintf)(file, "start %lx %lx\n", start, end);
}

static void write_spans(void)
{
    VG_(fprintf)(file, "spans %llu\n", costs_span_length());
    for (UInt i = 0; i < costs_span_count(); i++) {
        for (UInt size = 0; size < opt.size_count; size++) {
            VG_(fprintf)(file, "span %u %u", i, size);
            write_counts(&costs_span(i)[size]);
            VG_(fprintf)(file, "\n");
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

static void write_command(void)
{
    VG_(fprintf)(file, "command ");
    write_in_line(VG_(args_the_exename));
    const XArray *args = VG_(args_for_client);
    for (Word i = 0; i < VG_(sizeXA)(args); i++) {
        VG_(fprintf)(file, " ");
        write_in_line(*(HChar **)VG_(indexXA)(args, i));
    }
    VG_(fprintf)(file, "\n");
}

static void write_head(void)
{
    struct pages_summary summary;
    pages_summarize(&summary);
    data_total = 0;
    blocks_visit(add_data);
    VG_(fprintf)(file, "windlass-vmprof 1\n");
    write_command();
    VG_(fprintf)
    (file, "pid %d\npage %lu\ninstructions %llu\ndata %llu\n", VG_(getpid)(),
        (UWord)1 << opt.page_shift, instructions, data_total);
    VG_(fprintf)
    (file, "pages %llu\nmapped %llu\n", summary.distinct, summary.peak_mapped);
    for (UInt size = 0; size < opt.size_count; size++) {
        VG_(fprintf)
        (file, "memory %u %llu %llu", size, opt.memory[size],
            summary.swapped[size]);
        write_counts(&total_faults[size]);
        VG_(fprintf)(file, "\n");
    }
}

static void write_all(Bool is_running)
{
    write_head();
    if (is_running)
        VG_(fprintf)(file, "running\n");
    write_code();
    blocks_visit(write_run);
    costs_visit_sites(write_site);
    costs_visit_paths(write_path);
    costs_visit_mappings(write_mapping);
    if (opt.blocks)
        heap_visit_sites(write_heap_site);
    write_spans();
    stacks_visit_start(write_start);
    if (opt.stacks_every != 0)
        VG_(fprintf)(file, "stacks %llu\n", (ULong)opt.stacks_every);
    stacks_visit(write_stack);
    VG_(fprintf)(file, "end\n");
}

/* A reader sees the results of before or all of the new ones. */
void write_results(Bool is_running)
{
    HChar *name = VG_(expand_file_name)("--vmprof-out-file", opt.out);
    SizeT room = VG_(strlen)(name) + sizeof ".part";
    HChar *part = VG_(malloc)("vmprof.name", room);
    VG_(snprintf)(part, (Int)room, "%s.part", name);
    file = VG_(fopen)(part, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY, 0600);
    if (file == NULL) {
        VG_(umsg)("vmprof: cannot write %s\n", part);
    } else {
        write_all(is_running);
        VG_(fclose)(file);
        if (VG_(rename)(part, name) != 0)
            VG_(umsg)("vmprof: cannot rename %s to %s\n", part, name);
    }
    VG_(free)(part);
    VG_(free)(name);
}
