/* SPDX-License-Identifier: MIT */
#include "analyze/fix/local.h"

#include "base/text.h"
#include "obj/pe/pe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_END = 6 };

static const char *name_of(const char *path)
{
    const char *name = wndl_pe_path_name(path);
    const char *inner = strrchr(name, '!');
    return inner == NULL ? name : inner + 1;
}

static void turn_underscores(char *name)
{
    for (; *name != '\0'; name++)
        if (*name == '_')
            *name = '-';
}

bool wndl_fix_local_file(struct wndl_arena *arena, const char *dir,
    const char *path, const char **found)
{
    static const char *const ends[] = {"", ".debug", ".xz", ".zst"};
    enum { ENDS = sizeof ends / sizeof ends[0] };
    const char *name = name_of(path);
    size_t count = wndl_text_ends_with(name, ".ko") ? 2 * ENDS : 1;
    size_t size = strlen(dir) + strlen(name) + LONGEST_END + 2;
    char *local = wndl_arena_alloc(arena, size);
    *found = NULL;
    for (size_t i = 0; i < count && local != NULL; i++) {
        snprintf(local, size, "%s/%s%s", dir, name, ends[i % ENDS]);
        if (i >= ENDS)
            turn_underscores(local + strlen(dir));
        if (access(local, F_OK) == 0) {
            *found = local;
            return true;
        }
    }
    return local != NULL;
}
