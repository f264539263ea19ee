/* SPDX-License-Identifier: MIT */
#include "cli/addr2line/stand_in.h"

#include <stdbool.h>
#include <string.h>

static bool ends_in(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* Tools for other machines have a prefix: aarch64-linux-gnu-addr2line. LLVM's
 * may have a version after the name. */
wndl_stand_in *wndl_stand_in_find(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash == NULL ? program : slash + 1;
    if (strstr(name, "llvm-symbolizer") != NULL)
        return wndl_stand_in_llvm_symbolizer;
    if (strstr(name, "llvm-addr2line") != NULL)
        return wndl_stand_in_llvm_addr2line;
    return ends_in(name, "addr2line") ? wndl_stand_in_gnu : NULL;
}
