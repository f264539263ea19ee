/* SPDX-License-Identifier: MIT */
/* The names of Windows files. */
#include "obj/pe/pe.h"

#include <string.h>
#include <strings.h>

enum { SUFFIX = 4 };

static bool ends_with(const char *text, const char *suffix)
{
    size_t size = strlen(text);
    return size > SUFFIX && strcasecmp(text + size - SUFFIX, suffix) == 0;
}

static bool has_drive(const char *path)
{
    char letter = (char)(path[0] | 0x20);
    return letter >= 'a' && letter <= 'z' && path[1] == ':' &&
           (path[2] == '\\' || path[2] == '/');
}

bool wndl_pe_is_path(const char *path)
{
    return has_drive(path) || wndl_pe_stem(path) != 0 ||
           ends_with(path, ".pdb");
}

const char *wndl_pe_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *other = wndl_pe_is_path(path) ? strrchr(name, '\\') : NULL;
    return other == NULL ? name : other + 1;
}

size_t wndl_pe_stem(const char *name)
{
    bool has = ends_with(name, ".exe") || ends_with(name, ".dll");
    return has ? strlen(name) - SUFFIX : 0;
}
