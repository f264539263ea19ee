/* SPDX-License-Identifier: MIT */
/*
 *     places LIBRARY...   loads each where the others do not see it, logs
 *                         through each twice, and says whether there is a log
 */
#include <dlfcn.h>
#include <stdio.h>
#include <windlass/memlog.h>

static struct wndl_memlog_type all = {
    "all", WNDL_MEMLOG_OTHER, 0, {{NULL, NULL}}, {0, 0}};

int main(int count, char **paths)
{
    void (*log_once[16])(void) = {NULL};
    int i;
    int round;
    for (i = 1; i < count && i < 16; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        void *found = library == NULL ? NULL : dlsym(library, "log_once");
        if (found == NULL)
            return 2;
        __builtin_memcpy(&log_once[i], &found, sizeof found);
    }
    for (round = 0; round < 2; round++) {
        for (i = 1; i < count && i < 16; i++)
            log_once[i]();
        wndl_memlog_append(&all, NULL, 0);
    }
    /* More than a small file system has room for. */
    for (round = 0; round < 20000; round++)
        wndl_memlog_append(&all, NULL, 0);
    puts(wndl_memlog_active() ? "logs" : "does not log");
    return 0;
}
