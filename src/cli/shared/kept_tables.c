/* SPDX-License-Identifier: MIT */
#include "cli/shared/kept_tables.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Root with a user's environment must not leave folders in that home. */
static bool is_ours(const char *folder)
{
    struct stat st;
    return folder != NULL && folder[0] == '/' && stat(folder, &st) == 0 &&
           st.st_uid == geteuid();
}

const char *wndl_kept_tables_folder(char folder[PATH_MAX])
{
    const char *given = getenv(WNDL_KEPT_TABLES_ENV);
    const char *caches = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int size = -1;
    if (given != NULL)
        size = snprintf(folder, PATH_MAX, "%s", given);
    else if (is_ours(caches))
        size = snprintf(folder, PATH_MAX, "%s/windlass/unwind", caches);
    else if (caches == NULL && is_ours(home))
        size = snprintf(folder, PATH_MAX, "%s/.cache/windlass/unwind", home);
    return size > 0 && size < PATH_MAX ? folder : NULL;
}
