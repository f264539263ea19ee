/* SPDX-License-Identifier: MIT */
#include "cli/symbols/sym_options.h"

const struct wndl_option wndl_sym_option_table[] = {
    {'e', "exe", "OBJ", NULL, NULL, NULL,
        "the program or library that the addresses are in", WNDL_OPT_TEXT,
        offsetof(struct wndl_sym_options, path)},
    {0, "build-id", "ID", NULL, NULL, NULL,
        "instead of -e: the one with this build-id (hexadecimal) in "
        ".build-id/ of the debug folders",
        WNDL_OPT_TEXT, offsetof(struct wndl_sym_options, build_id)},
    {0, "style", "STYLE", "gnu|llvm|json", "gnu", NULL,
        "write as addr2line or llvm-symbolizer does, or a JSON object a line",
        WNDL_OPT_CHOICE, offsetof(struct wndl_sym_options, format)},
    {'f', "functions", NULL, NULL, NULL, NULL,
        "show names of functions, which styles other than gnu do anyway",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, functions)},
    {'C', "demangle", NULL, NULL, NULL, NULL,
        "show names as in the source, which styles other than gnu do anyway",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, demangle)},
    {0, "no-demangle", NULL, NULL, NULL, NULL,
        "show names as in the symbol table", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, no_demangle)},
    {'i', "inlines", NULL, NULL, NULL, NULL,
        "show what inlined code was inlined into, which styles other than gnu "
        "do anyway",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, inlines)},
    {'p', "pretty-print", NULL, NULL, NULL, NULL,
        "write each frame on one line", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, pretty)},
    {'s', "basenames", NULL, NULL, NULL, NULL, "leave out the folders of files",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, basenames)},
    {'a', "addresses", NULL, NULL, NULL, NULL,
        "write the address before each answer", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, addresses)},
    {'j', "section", "NAME", NULL, NULL, NULL,
        "addresses count from the start of this section; those in an object "
        "file do from the first one with code",
        WNDL_OPT_TEXT, offsetof(struct wndl_sym_options, section)},
    {0, "rva", NULL, NULL, NULL, NULL,
        "addresses count from the start of the image, not as it was linked",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, rva)},
    {0, "all-functions", NULL, NULL, NULL, NULL,
        "list all functions with their addresses instead", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, all_functions)},
    {0, "ids", NULL, NULL, NULL, NULL,
        "show instead what builds the binaries are: build-id, and the debug id "
        "as Breakpad, Microsoft's and Apple's tools write it; takes OBJ... for "
        "ADDR...",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, ids)},
    WNDL_ARCH_OPTION_ROW(struct wndl_sym_options, symbols),
    WNDL_LIST_ARCHES_OPTION_ROW(struct wndl_sym_options, list_arches),
    WNDL_SYMBOL_OPTION_ROWS(struct wndl_sym_options, symbols),
    {0},
};

const char *wndl_sym_contradiction(
    const struct wndl_sym_options *o, size_t operands)
{
    bool of_files = o->ids || o->list_arches;
    if (o->ids && o->list_arches)
        return "--ids and --list-arches do not go together";
    if (of_files && (o->build_id != NULL || o->all_functions))
        return "--ids and --list-arches go with neither --build-id nor "
               "--all-functions";
    if (of_files)
        return o->path == NULL && operands == 0
                   ? "--ids and --list-arches take OBJ"
                   : NULL;
    if (o->path == NULL && o->build_id == NULL)
        return "-e OBJ or --build-id ID is missing";
    if (o->path != NULL && o->build_id != NULL)
        return "-e and --build-id do not go together";
    if (o->demangle && o->no_demangle)
        return "-C and --no-demangle do not go together";
    if (o->section != NULL && o->rva)
        return "--section and --rva do not go together";
    if (o->all_functions && operands != 0)
        return "--all-functions takes no addresses";
    return NULL;
}
