/* SPDX-License-Identifier: MIT */
#include "cli/symbols/sym_options.h"

const struct wndl_option wndl_sym_option_table[] = {
    {'e', "exe", "OBJ", NULL, NULL, NULL,
        "read addresses of the program or library OBJ", WNDL_OPT_TEXT,
        offsetof(struct wndl_sym_options, path)},
    {0, "build-id", "ID", NULL, NULL, NULL,
        "instead of -e: the binary with this build-id (hexadecimal) in "
        ".build-id/ of the debug folders",
        WNDL_OPT_TEXT, offsetof(struct wndl_sym_options, build_id)},
    {0, "style", "STYLE", "gnu|llvm|json", "gnu", NULL,
        "write in the format of addr2line or llvm-symbolizer, or one JSON "
        "object per line",
        WNDL_OPT_CHOICE, offsetof(struct wndl_sym_options, format)},
    {'f', "functions", NULL, NULL, NULL, NULL,
        "show the names of functions; always on in styles other than gnu",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, functions)},
    {'C', "demangle", NULL, NULL, NULL, NULL,
        "show demangled names, as in the source; always on in styles other "
        "than gnu",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, demangle)},
    {0, "no-demangle", NULL, NULL, NULL, NULL,
        "show mangled names, as in the symbol table", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, no_demangle)},
    {'i', "inlines", NULL, NULL, NULL, NULL,
        "show the functions that code was inlined into; always on in styles "
        "other than gnu",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, inlines)},
    {'p', "pretty-print", NULL, NULL, NULL, NULL,
        "write each frame on one line", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, pretty)},
    {'s', "basenames", NULL, NULL, NULL, NULL,
        "show file names without their folders", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, basenames)},
    {'a', "addresses", NULL, NULL, NULL, NULL,
        "write the address before each answer", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, addresses)},
    {'j', "section", "NAME", NULL, NULL, NULL,
        "addresses count from the start of section NAME; in an object file the "
        "default is the first section with code",
        WNDL_OPT_TEXT, offsetof(struct wndl_sym_options, section)},
    {0, "rva", NULL, NULL, NULL, NULL,
        "addresses are relative to the start of the image, not absolute as "
        "linked",
        WNDL_OPT_FLAG, offsetof(struct wndl_sym_options, rva)},
    {0, "all-functions", NULL, NULL, NULL, NULL,
        "list all functions with their addresses instead", WNDL_OPT_FLAG,
        offsetof(struct wndl_sym_options, all_functions)},
    {0, "ids", NULL, NULL, NULL, NULL,
        "show the identity of builds instead: the build-id, and the debug id "
        "in the form of Breakpad's, Microsoft's and Apple's tools; takes "
        "OBJ... in place of ADDR...",
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
