/* SPDX-License-Identifier: MIT */
#include "collect/start/root.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Whether nobody but us and `other` may rename what we make in the folder.
 * Where others may write, the sticky bit protects it: inode(7).
 */
static bool is_trusted(const char *path, uid_t other)
{
    struct stat st;
    if (path == NULL || path[0] != '/' || stat(path, &st) != 0 ||
        !S_ISDIR(st.st_mode))
        return false;
    const bool others_write = (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    return (st.st_uid == geteuid() || st.st_uid == other) &&
           (!others_write || (st.st_mode & S_ISVTX) != 0);
}

/* /tmp is for all users, so the folder's mode protects it. */
const char *wndl_session_root(unsigned choice)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *temporary = getenv("TMPDIR");
    if (choice == 0)
        return is_trusted(runtime, geteuid()) ? runtime : NULL;
    if (choice == 1)
        return is_trusted(temporary, 0) ? temporary : NULL;
    return "/tmp";
}
