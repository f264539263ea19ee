/* SPDX-License-Identifier: MIT */
/* windlass sym: functions, files and lines of addresses in one binary. */
#include "cli/core/command.h"
#include "cli/symbols/sym_answer.h"
#include "cli/symbols/sym_ids.h"
#include "cli/symbols/sym_open.h"

static const struct wndl_example examples[] = {
    {"windlass sym -e app -fCi 0x401136",
        "show the function at an address, and the functions it was inlined "
        "into"},
    {"windlass sym -e app --style json main+0x10 | jq .frames",
        "show an address relative to a function, as JSON"},
    {"windlass sym -e libx.so --all-functions -C",
        "list all functions of a library"},
    {NULL, NULL},
};

static int print_of(
    const struct wndl_sym_options *o, const char *path, bool of_several)
{
    return o->ids ? wndl_sym_print_ids(path, o->symbols.arch)
                  : wndl_sym_print_arches(path, of_several);
}

static int print_of_files(
    const struct wndl_sym_options *o, struct wndl_operands operands)
{
    int exit_code = WNDL_EXIT_OK;
    bool of_several = operands.count + (o->path != NULL) > 1;
    if (o->path != NULL)
        exit_code |= print_of(o, o->path, of_several);
    for (size_t i = 0; i < operands.count; i++)
        exit_code |= print_of(o, operands.texts[i], of_several);
    return exit_code;
}

static int run_sym(const void *options, struct wndl_operands operands)
{
    const struct wndl_sym_options *o = options;
    struct wndl_sym_opening opening = {.o = o};
    const char *problem = wndl_sym_contradiction(o, operands.count);
    if (problem == NULL && o->build_id != NULL &&
        !wndl_sym_read_build_id(&opening))
        problem = "--build-id takes hexadecimal digits, two for each byte";
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass sym --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    if (o->ids || o->list_arches)
        return print_of_files(o, operands);
    struct wndl_symbolizer *symbols = wndl_sym_open(&opening);
    if (symbols == NULL)
        return WNDL_EXIT_FAILURE;
    int exit_code = wndl_sym_answer(symbols, o, operands);
    wndl_symbolizer_close(symbols);
    return exit_code;
}

const struct wndl_command wndl_cmd_sym = {
    .name = "sym",
    .group = WNDL_GROUP_SYMBOLS,
    .summary = "show functions, files and lines of addresses in a binary",
    .operands = "[ADDR...]",
    .description =
        "Shows the function, file and line of the code at each ADDR. Reads "
        "addresses and options as addr2line does, and writes in its format.\n\n"
        "ADDR is hexadecimal, with or without 0x, and is the address that nm "
        "and objdump show. For an address in a running process, subtract the "
        "load bias; for a return address, ask for the byte before it. ADDR may "
        "also be the name of a function, mangled or not, with +0xOFFSET or "
        "+OFFSET after it; if several functions have the name, each is shown. "
        "A name that consists only of digits and the letters a to f needs "
        "+0.\n\n"
        "Without ADDR, addresses are read from standard input, one per line, "
        "and answered as they arrive. An unknown address gives ??:0, which is "
        "no error.\n\n"
        "Differences from GNU addr2line: stubs of the linkage table have "
        "names; a function has the name of its symbol, which distinguishes its "
        "clones (.cold, .part); code between two functions belongs to neither; "
        "the file of a symbol without line information, the places of "
        "variables, and discriminators are not shown. Differences from "
        "llvm-symbolizer: numbers are always hexadecimal, stubs of the linkage "
        "table have names, padding after a function has none, and demangled "
        "names are spelled as by c++filt.\n\n"
        "With --all-functions, each line holds the addresses of a function, "
        "START-END, separated by commas if it is in several pieces, and its "
        "name. An unknown END is left out.\n\n"
        "For a Windows binary, the PDB file is looked for in the binary's "
        "folder, at the path where it was written, and in the debug folders, "
        "also in the layout of symbol stores. A PDB file may be given as OBJ, "
        "or is found by the name of a missing binary; addresses then count "
        "from the start of the image.\n\n"
        "For a Mach-O binary, debug information is looked for in NAME.dSYM in "
        "its folder, in the debug folders, and then in the object files and "
        "archives that it was linked from.\n\n"
        "A Breakpad symbol file may be given as OBJ. Its addresses count from "
        "the start of the image, and it has no columns.",
    .options = wndl_sym_option_table,
    .options_size = sizeof(struct wndl_sym_options),
    .examples = examples,
    .max_operands = SIZE_MAX,
    .run = run_sym,
};
