/* SPDX-License-Identifier: MIT */
#include "cli/core/find_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0;
}

bool wndl_program_find(const char *command, char path[PATH_MAX])
{
    if (strchr(command, '/') != NULL) {
        snprintf(path, PATH_MAX, "%s", command);
        return is_program(path);
    }
    const char *at = getenv("PATH");
    if (at == NULL)
        at = "/bin:/usr/bin";
    for (bool more = true; more; at++) {
        size_t length = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at,
            length == 0 ? "" : "/", command);
        if (is_program(path))
            return true;
        at += length;
        more = *at != '\0';
    }
    return false;
}

bool wndl_program_interpreter(const char *path, char interpreter[PATH_MAX])
{
    char line[256] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const bool is_script = fgets(line, sizeof line, file) != NULL &&
                           line[0] == '#' && line[1] == '!';
    fclose(file);
    errno = 0;
    if (!is_script)
        return false;
    const char *start = line + 2 + strspn(line + 2, " \t");
    const size_t length = strcspn(start, " \t\n");
    snprintf(interpreter, PATH_MAX, "%.*s", (int)length, start);
    return length != 0;
}
