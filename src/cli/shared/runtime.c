/* SPDX-License-Identifier: MIT */
#include "cli/shared/runtime.h"

#include "obj/core/object.h"
#include "os/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * With a folder that has a runtime for each word size, the name that ld.so
 * finds the right one by. Takes `path`, for free().
 */
static char *of_any_word_size(char *path)
{
    static const char *const folders[] = {"lib64", "lib32"};
    char *name = strrchr(path, '/') + 1;
    int folder = (int)(name - path);
    char other[2 * PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(other, sizeof other, "%.*spreload/%s/%s", folder, path,
            folders[i], name);
        if (access(other, R_OK) != 0)
            return path;
    }
    snprintf(other, sizeof other, "%.*spreload/$LIB/%s", folder, path, name);
    char *found = strdup(other);
    if (found == NULL)
        return path;
    free(path);
    return found;
}

const char *wndl_runtime_name(bool heap)
{
    return heap ? "libwindlass-heap.so" : "libwindlass-rt.so";
}

char *wndl_runtime_find(const char *name)
{
    static const char *const places[] = {"../rt", WNDL_RUNTIME_FROM_BINDIR};
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size <= 0)
        return NULL;
    self[size] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s/%s", self, places[i], name);
        char *found = realpath(path, NULL);
        if (found != NULL)
            return of_any_word_size(found);
    }
    return NULL;
}

bool wndl_runtime_can_be_preloaded(const char *path)
{
    return strpbrk(path, " :") == NULL;
}

/* The stand-in for a runtime that could not be built has no functions. */
static bool has_functions(const char *path)
{
    struct wndl_file file;
    struct wndl_object *object;
    const struct wndl_symbol *symbols;
    size_t count = 0;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    if (wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, NULL) ==
        WNDL_OK) {
        if (wndl_object_functions(object, &symbols, &count, NULL) != WNDL_OK)
            count = 0;
        wndl_object_close(object);
    }
    wndl_file_close(&file);
    return count > 1;
}

bool wndl_runtime_is_for(const char *path, const char *library)
{
    static const char token[] = "/$LIB/";
    char other[2 * PATH_MAX];
    const char *found = strstr(path, token);
    if (found == NULL)
        return false;
    snprintf(other, sizeof other, "%.*s/%s/%s", (int)(found - path), path,
        library, found + sizeof token - 1);
    return has_functions(other);
}
