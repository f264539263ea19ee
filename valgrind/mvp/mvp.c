/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mvp: a Valgrind tool that finds loads whose values have bits that never
 * change, and counts the memory that they are read from.
 */
#include "mvp.h"

#include "contents.h"
#include "instrument.h"
#include "stacks.h"
#include "uses.h"
#include "write.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

struct options opt = {.out = "mvp.out.%p"};

static Bool process_option(const HChar *arg)
{
    if (VG_STR_CLO(arg, "--mvp-out-file", opt.out)) {
    } else if (VG_BOOL_CLO(arg, "--blocks", opt.blocks)) {
    } else {
        return False;
    }
    return True;
}

static void print_usage(void)
{
    VG_(printf)
    ("    --mvp-out-file=FILE         results [mvp.out.%%p]\n"
     "    --blocks=no|yes             accesses to heap blocks [no]\n");
}

static void print_debug_usage(void)
{
    VG_(printf)("    (none)\n");
}

static void write_now(Bool is_running)
{
    const struct results results = write_results();
    results_write(&results, is_running);
}

/* A forked child counts for itself. */
static void after_fork(ThreadId tid)
{
    sites_forget();
    stacks_forget_others(tid);
    if (opt.blocks) {
        uses_forget();
        heap_forget();
    }
}

/* An exec ends what was counted, unless it fails. */
static void before_call(ThreadId tid, UInt number, UWord *args, UInt count)
{
    (void)tid, (void)args, (void)count;
    if (number == __NR_execve || number == __NR_execveat)
        write_now(True);
}

static void after_call(
    ThreadId tid, UInt number, UWord *args, UInt count, SysRes result)
{
    (void)tid, (void)number, (void)args, (void)count, (void)result;
}

static void on_start(ThreadId tid, ULong blocks)
{
    (void)tid, (void)blocks;
    const struct results results = write_results();
    results_write_if_due(&results);
}

static void on_mmap(
    Addr start, SizeT size, Bool r, Bool w, Bool x, ULong handle)
{
    (void)r, (void)w, (void)handle;
    if (x)
        results_note_code(start, size);
    if (opt.blocks)
        blocks_renew();
}

static void on_unmap(Addr start, SizeT size)
{
    (void)start, (void)size;
    if (opt.blocks)
        blocks_renew();
}

/* ---- the kernel's accesses */

static void on_kernel_read(
    CorePart part, ThreadId tid, const HChar *what, Addr start, SizeT size)
{
    (void)tid, (void)what;
    if (opt.blocks && part == Vg_CoreSysCall)
        uses_note_range(&system_reads, start, size);
}

static void on_kernel_write(CorePart part, ThreadId tid, Addr start, SizeT size)
{
    (void)tid;
    if (opt.blocks && part == Vg_CoreSysCall)
        uses_note_range(&system_writes, start, size);
}

/* Only where the text is readable; else the call fails. */
static void on_kernel_text(
    CorePart part, ThreadId tid, const HChar *what, Addr start)
{
    if (opt.blocks && VG_(am_is_valid_for_client)(start, 1, VKI_PROT_READ))
        on_kernel_read(
            part, tid, what, start, VG_(strlen)((const HChar *)start) + 1);
}

/* ---- start and end */

static void after_options(void)
{
    sites_init();
    if (opt.blocks) {
        uses_init();
        heap_enable();
    }
    VG_(atfork)(NULL, NULL, after_fork);
}

static void finish(Int exit_code)
{
    (void)exit_code;
    if (opt.blocks)
        contents_note_live();
    write_now(False);
}

static void before_options(void)
{
    VG_(details_name)("mvp");
    VG_(details_version)(NULL);
    VG_(details_description)("bits in memory that never change");
    VG_(details_copyright_author)("Copyright (C) the windlass authors");
    VG_(details_bug_reports_to)("windlass");
    VG_(details_avg_translation_sizeB)(500);
    VG_(basic_tool_funcs)(after_options, instrument, finish);
    VG_(needs_command_line_options)
    (process_option, print_usage, print_debug_usage);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(track_start_client_code)(on_start);
    VG_(track_new_mem_startup)(on_mmap);
    VG_(track_new_mem_mmap)(on_mmap);
    VG_(track_die_mem_munmap)(on_unmap);
    VG_(track_pre_mem_read)(on_kernel_read);
    VG_(track_pre_mem_read_asciiz)(on_kernel_text);
    VG_(track_post_mem_write)(on_kernel_write);
    stacks_init();
    heap_prepare();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
