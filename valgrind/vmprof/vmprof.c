/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmprof: a Valgrind tool that runs a program as if there were only so much
 * memory, and counts which code would page.
 */
#include "vmprof.h"

#include "blocks.h"
#include "costs.h"
#include "heap.h"
#include "instrument.h"
#include "pages.h"
#include "stacks.h"
#include "system.h"
#include "write.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

struct options opt = {
    .memory = {64 << 20},
    .size_count = 1,
    .page_shift = 12,
    .paths = True,
    .system = True,
    .out = "vmprof.out.%p",
};

/* ---- options */

/* "64M" -> bytes; 0 when it is no such size. Moves `*text` behind it. */
static ULong parse_size(const HChar **text)
{
    HChar *end;
    ULong size = (ULong)VG_(strtoll10)(*text, &end);
    if (end == *text)
        return 0;
    const HChar unit = (HChar)(*end & ~0x20); /* in upper case */
    UInt shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    *text = end + (shift != 0);
    return size << shift;
}

static Bool parse_sizes(const HChar *text)
{
    opt.size_count = 0;
    while (opt.size_count < MAX_SIZES) {
        ULong size = parse_size(&text);
        if (size == 0)
            return False;
        opt.memory[opt.size_count++] = size;
        if (*text == '\0')
            return True;
        if (*text++ != ',')
            return False;
    }
    return False;
}

static Bool parse_page(const HChar *text)
{
    ULong size = parse_size(&text);
    if (*text != '\0' || size < 4096 || (size & (size - 1)) != 0 ||
        size > 1 << 30)
        return False;
    for (opt.page_shift = 12; (ULong)1 << opt.page_shift < size;)
        opt.page_shift++;
    return True;
}

static Bool process_option(const HChar *arg)
{
    const HChar *text;
    if (VG_STR_CLO(arg, "--mem", text)) {
        if (!parse_sizes(text))
            VG_(fmsg_bad_option)(arg, "sizes are numbers with K, M or G\n");
    } else if (VG_STR_CLO(arg, "--page", text)) {
        if (!parse_page(text))
            VG_(fmsg_bad_option)(arg, "a power of two from 4K to 1G\n");
    } else if (VG_STR_CLO(arg, "--vmprof-out-file", opt.out)) {
    } else if (VG_BOOL_CLO(arg, "--paths", opt.paths)) {
    } else if (VG_BOOL_CLO(arg, "--blocks", opt.blocks)) {
    } else if (VG_BOOL_CLO(arg, "--system", opt.system)) {
    } else if (VG_BINT_CLO(arg, "--startup", opt.startup, 0, 1LL << 60)) {
    } else if (VG_BINT_CLO(
                   arg, "--stacks-every", opt.stacks_every, 0, 1LL << 60)) {
    } else {
        return False;
    }
    return True;
}

static void print_usage(void)
{
    VG_(printf)
    ("    --mem=SIZE[,SIZE...]        real memory, as 64M [64M]\n"
     "    --page=SIZE                 bytes of a page [4K]\n"
     "    --paths=no|yes              faults by call path [yes]\n"
     "    --blocks=no|yes             faults by heap block's site [no]\n"
     "    --startup=N                 the first N instructions [0]\n"
     "    --stacks-every=N            a stack each N instructions [0]\n"
     "    --system=no|yes             count the kernel's accesses [yes]\n"
     "    --vmprof-out-file=FILE      results [vmprof.out.%%p]\n");
}

static void print_debug_usage(void)
{
    VG_(printf)("    (none)\n");
}

/* ---- start and end */

static void check_sizes(void)
{
    for (UInt i = 0; i < opt.size_count; i++) {
        ULong frames = opt.memory[i] >> opt.page_shift;
        if (frames < 2 || frames > 1 << 28)
            VG_(fmsg_bad_option)
        ("--mem", "from 2 to %d pages of memory\n", 1 << 28);
    }
}

/* A forked child counts for itself. It goes on with its parent's memory. */
static void after_fork(ThreadId tid)
{
    (void)tid;
    blocks_forget();
    pages_forget_counts();
    costs_forget();
    stacks_forget();
    if (opt.blocks)
        heap_forget();
}

/* An exec ends what was counted, unless it fails. */
static void before_call(ThreadId tid, UInt number, UWord *args, UInt count)
{
    (void)tid, (void)args, (void)count;
    if (number == __NR_execve || number == __NR_execveat)
        write_results(True);
}

static void after_call(
    ThreadId tid, UInt number, UWord *args, UInt count, SysRes result)
{
    (void)tid, (void)number, (void)args, (void)count, (void)result;
}

static void on_discard(Addr address, VexGuestExtents extents)
{
    (void)extents;
    blocks_retire(address);
}

static void on_start(ThreadId tid, ULong blocks)
{
    (void)tid, (void)blocks;
    write_results_if_due();
}

static void after_options(void)
{
    check_sizes();
    blocks_init();
    pages_init();
    costs_init();
    stacks_init();
    if (opt.blocks)
        heap_enable();
    VG_(atfork)(NULL, NULL, after_fork);
}

static void finish(Int exit_code)
{
    (void)exit_code;
    write_results(False);
}

static void before_options(void)
{
    VG_(details_name)("vmprof");
    VG_(details_version)(NULL);
    VG_(details_description)("which code pages when memory is short");
    VG_(details_copyright_author)("Copyright (C) the windlass authors");
    VG_(details_bug_reports_to)("windlass");
    VG_(details_avg_translation_sizeB)(700);
    VG_(basic_tool_funcs)(after_options, instrument, finish);
    VG_(needs_superblock_discards)(on_discard);
    VG_(needs_command_line_options)
    (process_option, print_usage, print_debug_usage);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(track_start_client_code)(on_start);
    heap_prepare();
    system_init();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
