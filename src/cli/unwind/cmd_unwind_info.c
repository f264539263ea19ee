/* SPDX-License-Identifier: MIT */
/* windlass unwind-info: shows the unwind information of a binary. */
#include "cli/core/command.h"
#include "cli/shared/debug_dirs.h"
#include "cli/unwind/info_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_AT = 64 * 1024 };

struct unwind_info_options {
    struct wndl_option_list lookups;
    bool dump;
    bool breakpad;
    bool json;
    bool from_code;
};

static const struct wndl_option option_table[] = {
    {0, "lookup", "ADDR", NULL, NULL, NULL,
        "show the rule at ADDR (hexadecimal, as the binary is linked); may be "
        "repeated",
        WNDL_OPT_LIST, offsetof(struct unwind_info_options, lookups)},
    {0, "dump", NULL, NULL, NULL, NULL,
        "show all rules, one line for each range of addresses", WNDL_OPT_FLAG,
        offsetof(struct unwind_info_options, dump)},
    {0, "breakpad", NULL, NULL, NULL, NULL,
        "show all rules as STACK CFI records of Breakpad symbol files",
        WNDL_OPT_FLAG, offsetof(struct unwind_info_options, breakpad)},
    {0, "json", NULL, NULL, NULL, NULL,
        "show the totals, and the answers to --lookup, as JSON", WNDL_OPT_FLAG,
        offsetof(struct unwind_info_options, json)},
    {0, "from-code", NULL, NULL, NULL, NULL,
        "make rules from the code of x86-64, i386 and AArch64 where there are "
        "none",
        WNDL_OPT_FLAG, offsetof(struct unwind_info_options, from_code)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass unwind-info /lib/x86_64-linux-gnu/libc.so.6",
        "show how much of the libc has unwind rules"},
    {"windlass unwind-info --lookup 0x1234 ./app",
        "show how the caller is found from one instruction"},
    {NULL, NULL},
};

/* Writes and empties it. False, with an error on stderr, on failure. */
static bool print_text(struct wndl_buf *out)
{
    if (out->failed) {
        wndl_cli_error("out of memory; the output is incomplete");
        return false;
    }
    fwrite(out->data, 1, out->size, stdout);
    wndl_buf_clear(out);
    if (!ferror(stdout))
        return true;
    wndl_cli_error("cannot write standard output: %s", strerror(errno));
    return false;
}

static bool print_when_full(struct wndl_buf *out)
{
    return out->size < FLUSH_AT || print_text(out);
}

static bool dump_rows(struct wndl_buf *out, const struct wndl_unwind_info *info)
{
    for (size_t i = 0; i < info->ranges.len; i++) {
        wndl_unwind_info_say_range(out, info, wndl_vec_at(&info->ranges, i));
        if (!print_when_full(out))
            return false;
    }
    return true;
}

static bool dump_breakpad(
    struct wndl_buf *out, const struct wndl_unwind_info *info)
{
    for (size_t i = 0; i < info->functions.len; i++) {
        wndl_unwind_info_breakpad(out, info, wndl_vec_at(&info->functions, i));
        if (!print_when_full(out))
            return false;
    }
    return true;
}

static bool write_out(struct wndl_buf *out, const struct wndl_unwind_info *info,
    const struct unwind_info_options *o, const uint64_t *addresses)
{
    if (o->dump)
        return dump_rows(out, info);
    if (o->breakpad)
        return dump_breakpad(out, info);
    if (o->json)
        wndl_unwind_info_json(out, info, addresses, o->lookups.count);
    for (size_t i = 0; i < o->lookups.count && !o->json; i++)
        wndl_unwind_info_say_at(out, info, addresses[i]);
    if (o->lookups.count == 0 && !o->json)
        wndl_unwind_info_say(out, info);
    return true;
}

/* The data on stdout has no place for the warning. */
static void say_rejected(const struct wndl_unwind_info *info, const char *path)
{
    uint64_t count = 0;
    for (size_t i = 0; i < WNDL_REJECTS; i++)
        count += i == WNDL_REJECT_NO_CODE ? 0 : info->rejected[i].count;
    if (count != 0)
        wndl_cli_note("warning: %s: some of it was rejected; run without "
                      "--dump and --breakpad to see why",
            path);
}

static bool parse_addresses(const struct wndl_option_list *texts,
    uint64_t addresses[WNDL_OPTION_LIST_MAX])
{
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = texts->texts[i];
        char *end;
        errno = 0;
        addresses[i] = strtoull(text, &end, 16);
        if (*end != '\0' || end == text || errno != 0 || *text == '-') {
            wndl_cli_error("--lookup: '%s' is not an address; see 'windlass "
                           "unwind-info --help'",
                text);
            return false;
        }
    }
    return true;
}

static int print_info(const char *path, const struct unwind_info_options *o,
    const uint64_t *addresses)
{
    struct wndl_unwind_info info;
    struct wndl_buf out;
    struct wndl_error err = {0};
    int exit_code = WNDL_EXIT_OK;
    wndl_buf_init(&out, wndl_mem_libc());
    struct wndl_debug_dirs dirs;
    wndl_debug_dirs_init(&dirs, NULL);
    const struct wndl_unwind_info_request request = {
        .path = path, .debug_dirs = dirs.list, .from_code = o->from_code};
    if (wndl_unwind_info_open_request(&info, &request, wndl_mem_libc(), &err) !=
        WNDL_OK)
        exit_code = wndl_cli_fail(&err);
    else if (!write_out(&out, &info, o, addresses) || !print_text(&out))
        exit_code = WNDL_EXIT_FAILURE;
    if (o->dump || o->breakpad)
        say_rejected(&info, path);
    wndl_buf_free(&out);
    wndl_unwind_info_close(&info);
    return exit_code;
}

static int run_unwind_info(const void *options, struct wndl_operands operands)
{
    const struct unwind_info_options *o = options;
    uint64_t addresses[WNDL_OPTION_LIST_MAX];
    if (o->dump + o->breakpad + (o->json || o->lookups.count != 0) > 1) {
        wndl_cli_error("use only one of --dump, --breakpad, and --lookup or "
                       "--json; see 'windlass unwind-info --help'");
        return WNDL_EXIT_USAGE;
    }
    if (!parse_addresses(&o->lookups, addresses))
        return WNDL_EXIT_USAGE;
    return print_info(operands.texts[0], o, addresses);
}

const struct wndl_command wndl_cmd_unwind_info = {
    .name = "unwind-info",
    .group = WNDL_GROUP_UNWINDING,
    .summary = "show the unwind information of a binary",
    .operands = "OBJ",
    .description =
        "Reads the call frame information of a program or shared library and "
        "shows how many rules it has, how much of each code section they "
        "cover, and what was rejected for which reason. It reads .eh_frame, "
        "and .debug_frame for the code that .eh_frame leaves out, for x86-64, "
        "i386 and AArch64; a stripped .debug_frame is read from the debug "
        "file, in the folders of $WINDLASS_DEBUG_DIRS and /usr/lib/debug. For "
        "32-bit Arm it reads .debug_frame, or .ARM.exidx if there is none. "
        "From 64-bit Windows files it reads .pdata, and for x86-64 also the "
        "code of epilogues, which .pdata does not describe. From x86-64 and "
        "arm64 macOS files it reads __unwind_info; from 32-bit Windows files "
        "without call frame information, their PDB file if it is found.\n\n"
        "A rule says how to compute the registers of the caller from those of "
        "the code (\"old\"): let cfa=oldBP+16 in RA=*(cfa-8) SP=cfa "
        "BP=*(cfa-16) BX=oldBX. The CFA is the value of the stack pointer "
        "after the return, *(...) the word at an address, RA the return "
        "address. RA is unknown in functions without a caller. The frame "
        "pointer of AArch64 is FP; oldLR is the return address while it is "
        "still in x30, and \"(RA signed)\" means that its upper bits are a "
        "signature.\n\n"
        "OBJ may be a Breakpad symbol file with STACK CFI and STACK WIN "
        "records. A library in an APK or another zip archive, stored there "
        "without compression, is ARCHIVE!/MEMBER.\n\n"
        ".ARM.exidx describes the body of a function; the rules of its "
        "prologue and epilogues come from the code.\n\n"
        "With --from-code, the code of x86-64, i386 and AArch64 for which "
        "there "
        "are no rules is followed through all its branches, and what it does "
        "to the stack "
        "becomes its rules. Where two ways meet with different stack pointers, "
        "where nothing known leads to the caller, and where no known way "
        "leads, there are none.\n\n"
        "--breakpad writes rules that Breakpad cannot express (shifts and "
        "comparisons, as for the stubs in .plt) as .undef.",
    .options = option_table,
    .options_size = sizeof(struct unwind_info_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_unwind_info,
};
