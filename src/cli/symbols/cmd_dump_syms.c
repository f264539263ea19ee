/* SPDX-License-Identifier: MIT */
/* windlass dump-syms: writes a Breakpad symbol file for a binary. */
#include "analyze/binary/breakpad_dump.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/symbol_options.h"
#include "cli/symbols/sym_ids.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct dump_options {
    const char *out;
    bool list_arches;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'o', "output", "FILE", NULL, NULL, NULL,
        "write to FILE instead of standard output", WNDL_OPT_TEXT,
        offsetof(struct dump_options, out)},
    WNDL_ARCH_OPTION_ROW(struct dump_options, symbols),
    WNDL_LIST_ARCHES_OPTION_ROW(struct dump_options, list_arches),
    WNDL_DEBUG_FILE_OPTION_ROWS(struct dump_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass dump-syms -o app.sym ./app", "write the symbols of a program"},
    {"windlass sym --ids ./app", "show the ID of DIR/app/ID/app.sym, the file "
                                 "that 'windlass fix -b DIR' reads"},
    {NULL, NULL},
};

/* The output. A file is opened when there is something to write. */
struct target {
    const char *path; /* NULL: standard output */
    struct wndl_output_file file;
    FILE *out;     /* NULL: not open yet */
    int sys_errno; /* why it cannot be written, or 0 */
};

static bool is_written(struct target *target, bool written)
{
    if (!written && target->sys_errno == 0)
        target->sys_errno = errno == 0 ? EIO : errno;
    return written;
}

static FILE *open_target(struct target *target)
{
    if (target->path == NULL)
        return stdout;
    return wndl_output_file_open(&target->file, target->path) ? target->file.out
                                                              : NULL;
}

static bool write_piece(void *context, struct wndl_bytes piece)
{
    struct target *target = context;
    errno = 0;
    if (target->out == NULL)
        target->out = open_target(target);
    return is_written(target,
        target->out != NULL &&
            (piece.size == 0 ||
                fwrite(piece.data, 1, piece.size, target->out) == piece.size));
}

/* `whole`: all was given to write_piece(). */
static void end_target(struct target *target, bool whole)
{
    errno = 0;
    if (target->out == NULL)
        return;
    if (target->path == NULL)
        (void)is_written(target, fflush(target->out) == 0);
    else if (!wndl_output_file_end(&target->file, whole) && whole)
        (void)is_written(target, false);
}

/* Reports what is missing in the file. */
static void mark_incomplete(const struct wndl_breakpad_report *report)
{
    if (wndl_error_is_lack(&report->symbols.first_missing) ||
        wndl_error_is_lack(&report->symbols.first_damage) ||
        wndl_error_is_lack(&report->no_unwinding))
        wndl_cli_incomplete();
}

static void say_report(const struct wndl_breakpad_report *report)
{
    char text[600];
    const struct wndl_symbolizer_info *info = &report->symbols;
    mark_incomplete(report);
    if (info->files_missing != 0)
        wndl_cli_note("warning: %u file%s of debug information %s missing: %s",
            info->files_missing, info->files_missing == 1 ? "" : "s",
            info->files_missing == 1 ? "is" : "are",
            wndl_error_text(&info->first_missing, text, sizeof text));
    if (info->first_damage.status != WNDL_OK)
        wndl_cli_note("warning: %s: %s", wndl_cli_damage(&info->first_damage),
            wndl_error_text(&info->first_damage, text, sizeof text));
    if (report->no_unwinding.status != WNDL_OK)
        wndl_cli_note("no STACK CFI records: %s",
            wndl_error_text(&report->no_unwinding, text, sizeof text));
}

static int dump_to(
    struct target *target, const char *path, const struct dump_options *o)
{
    struct wndl_debug_dirs dirs;
    struct wndl_breakpad_report report;
    struct wndl_error err = {0};
    wndl_debug_dirs_init(&dirs, &o->symbols.debug_dirs);
    const struct wndl_symbolizer_options options = {
        .size = sizeof options,
        .debug_dirs = dirs.list,
        .debuginfod = wndl_asks_debuginfod(&o->symbols),
        .arch = o->symbols.arch,
    };
    const struct wndl_breakpad_request request = {
        path, wndl_mem_libc(), &options, {target, write_piece}};
    enum wndl_status status = wndl_breakpad_dump(&request, &report, &err);
    if (status == WNDL_OK) {
        say_report(&report);
        return WNDL_EXIT_OK;
    }
    if (target->sys_errno != 0)
        return WNDL_EXIT_FAILURE;
    return wndl_cli_fail(&err);
}

static int run_dump_syms(const void *options, struct wndl_operands operands)
{
    const struct dump_options *o = options;
    if (o->list_arches)
        return wndl_sym_print_arches(operands.texts[0], false);
    bool to_stdout = o->out == NULL || strcmp(o->out, "-") == 0;
    struct target target = {.path = to_stdout ? NULL : o->out};
    if (!to_stdout && !wndl_output_may_write(o->out, operands.texts[0]))
        return WNDL_EXIT_FAILURE;
    int exit_code = dump_to(&target, operands.texts[0], o);
    end_target(&target, exit_code == WNDL_EXIT_OK);
    if (target.sys_errno != 0)
        exit_code = wndl_cli_error("cannot write %s: %s",
            to_stdout ? "standard output" : o->out, strerror(target.sys_errno));
    return exit_code;
}

const struct wndl_command wndl_cmd_dump_syms = {
    .name = "dump-syms",
    .group = WNDL_GROUP_SYMBOLS,
    .summary = "write a Breakpad symbol file for a binary",
    .operands = "OBJ",
    .description =
        "Writes the functions, files and lines, inlined calls and unwind rules "
        "of a program or library as a Breakpad symbol file. 'windlass fix -b "
        "DIR' and other tools can then name stacks without the binary and its "
        "debug files. A library in an APK or another zip archive, stored there "
        "without compression, is ARCHIVE!/MEMBER.\n\n"
        "Functions have the names that 'windlass sym -C' shows. A function in "
        "several pieces has a FUNC record for each piece; a symbol without "
        "size and lines has a PUBLIC record. Columns, and the lines of code "
        "outside of functions, are left out.\n\n"
        "Unwind rules are written for x86-64, i386, AArch64 and 32-bit Arm; "
        "those of Mach-O files come from __unwind_info, those of 64-bit "
        "Windows files from .pdata, those of 32-bit Windows files from their "
        "PDB file (STACK WIN). Rules that Breakpad cannot express (shifts and "
        "comparisons, as for the stubs in .plt) are written as .undef, as is "
        "the return address (.ra) of code without a caller.",
    .options = option_table,
    .options_size = sizeof(struct dump_options),
    .examples = examples,
    .min_operands = 1,
    .max_operands = 1,
    .run = run_dump_syms,
};
