/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system.h"

#include "pages.h"

#include "../common/results.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

static ULong mapped;
static ULong mapped_peak;
static Addr brk_start = ~(Addr)0;
static Addr brk_end;

static void add_mapped(SizeT size)
{
    mapped += size;
    if (mapped > mapped_peak)
        mapped_peak = mapped;
}

static void drop_mapped(SizeT size)
{
    mapped -= size < mapped ? size : mapped;
}

ULong system_peak_mapped(void)
{
    return mapped_peak;
}

Bool system_is_private(Addr address)
{
    const NSegment *segment = VG_(am_find_nsegment)(address);
    return segment == NULL || segment->kind != SkShmC;
}

static Bool is_stack(const NSegment *segment, Addr address)
{
    ThreadId tid;
    Addr low, high;
    VG_(thread_stack_reset_iter)(&tid);
    while (VG_(thread_stack_next)(&tid, &low, &high))
        if (high >= segment->start && high <= segment->end && address <= high)
            return True;
    return False;
}

const HChar *system_mapping_name(Addr address)
{
    const NSegment *segment = VG_(am_find_nsegment)(address);
    if (segment == NULL)
        return "[other]";
    if (segment->kind == SkFileC) {
        const HChar *path = VG_(am_get_filename)(segment);
        return path == NULL ? "[other]" : path;
    }
    if (segment->isCH || (address >= brk_start && address < brk_end))
        return "[heap]";
    return is_stack(segment, address) ? "[stack]" : "[anonymous]";
}

/* ---- what the kernel does to the program's memory */

static Bool counts(CorePart part)
{
    return opt.system && (part == Vg_CoreSysCall || part == Vg_CoreSignal ||
                             part == Vg_CoreSysCallArgInMem);
}

static void touch(ThreadId tid, Addr address, SizeT size, Bool is_write)
{
    if (size == 0)
        return;
    Addr ip = VG_(get_IP)(tid);
    const struct access access = {ip, {ip, 0}, ACCESS_DATA, is_write, address};
    pages_access(&access, address, size);
}

static void on_read(
    CorePart part, ThreadId tid, const HChar *what, Addr address, SizeT size)
{
    (void)what;
    if (counts(part) && VG_(am_is_valid_for_client)(address, size, 1))
        touch(tid, address, size, False);
}

static void on_read_text(
    CorePart part, ThreadId tid, const HChar *what, Addr address)
{
    (void)what;
    if (counts(part) && VG_(am_is_valid_for_client)(address, 1, 1))
        touch(tid, address, VG_(strlen)((const HChar *)address) + 1, False);
}

static void on_written(CorePart part, ThreadId tid, Addr address, SizeT size)
{
    if (counts(part))
        touch(tid, address, size, True);
}

/* ---- mappings */

static void on_startup(
    Addr start, SizeT size, Bool r, Bool w, Bool x, ULong handle)
{
    (void)r, (void)w, (void)handle;
    if (x)
        results_note_code(start, size);
    add_mapped(size);
}

static void on_brk(Addr start, SizeT size, ThreadId tid)
{
    (void)tid;
    if (start < brk_start)
        brk_start = start;
    if (start + size > brk_end)
        brk_end = start + size;
    add_mapped(size);
}

/* What was mapped at that place before is gone. */
static void on_mmap(
    Addr start, SizeT size, Bool r, Bool w, Bool x, ULong handle)
{
    (void)r, (void)w, (void)handle;
    if (x)
        results_note_code(start, size);
    pages_unmap(start, size);
    add_mapped(size);
}

static void on_unmap(Addr start, SizeT size)
{
    pages_unmap(start, size);
    drop_mapped(size);
}

void system_init(void)
{
    VG_(track_pre_mem_read)(on_read);
    VG_(track_pre_mem_read_asciiz)(on_read_text);
    VG_(track_post_mem_write)(on_written);
    VG_(track_new_mem_startup)(on_startup);
    VG_(track_new_mem_brk)(on_brk);
    VG_(track_new_mem_mmap)(on_mmap);
    VG_(track_die_mem_brk)(on_unmap);
    VG_(track_die_mem_munmap)(on_unmap);
}
