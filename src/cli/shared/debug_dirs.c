/* SPDX-License-Identifier: MIT */
#include "cli/shared/debug_dirs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wndl_debug_dirs_init(
    struct wndl_debug_dirs *dirs, const struct wndl_option_list *given)
{
    const char *env = getenv(WNDL_DEBUG_DIRS_ENV);
    char *rest = NULL;
    size_t most = WNDL_DEBUG_DIRS_FROM_ENV;
    dirs->count = 0;
    for (size_t i = 0; given != NULL && i < given->count; i++)
        dirs->list[dirs->count++] = given->texts[i];
    most += dirs->count;
    snprintf(dirs->text, sizeof dirs->text, "%s", env == NULL ? "" : env);
    char *dir = strtok_r(dirs->text, ":", &rest);
    for (; dir != NULL && dirs->count < most; dir = strtok_r(NULL, ":", &rest))
        dirs->list[dirs->count++] = dir;
    dirs->list[dirs->count++] = "/usr/lib/debug";
    dirs->list[dirs->count] = NULL;
}
