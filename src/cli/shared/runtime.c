/* SPDX-License-Identifier: MIT */
#include "cli/shared/runtime.h"

#include "base/status.h"
#include "obj/core/object.h"
#include "os/file.h"

#include <errno.h>
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
    free(path);
    return strdup(other);
}

const char *wndl_runtime_name(bool heap)
{
    return heap ? "libwindlass-heap.so" : "libwindlass-rt.so";
}

/* The last errno tells an absent file from a lack of memory. */
static char *find_beside(const char *self, const char *name)
{
    static const char *const places[] = {"../rt", WNDL_RUNTIME_FROM_BINDIR};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s/%s", self, places[i], name);
        char *found = realpath(path, NULL);
        if (found != NULL)
            return of_any_word_size(found);
        if (errno == ENOMEM)
            return NULL;
    }
    return NULL;
}

char *wndl_runtime_find(const char *name, struct wndl_error *err)
{
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size > 0) {
        self[size] = '\0';
        *strrchr(self, '/') = '\0';
        char *found = find_beside(self, name);
        if (found != NULL)
            return found;
    }
    if (errno == ENOMEM)
        wndl_fail_errno(err, errno, "cannot look for %s", name);
    else
        wndl_fail(err, WNDL_NOT_FOUND,
            "cannot find %s beside this windlass; install windlass again",
            name);
    return NULL;
}

bool wndl_runtime_can_be_preloaded(const char *path)
{
    return strpbrk(path, " :") == NULL;
}

/* The stand-in for a runtime that could not be built has no functions. */
static bool has_functions(const char *path, struct wndl_error *err)
{
    struct wndl_file file;
    struct wndl_object *object;
    const struct wndl_symbol *symbols;
    size_t count = 0;
    if (wndl_file_open(path, &file, err) != WNDL_OK)
        return false;
    if (wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, err) ==
        WNDL_OK) {
        if (wndl_object_functions(object, &symbols, &count, err) != WNDL_OK)
            count = 0;
        wndl_object_close(object);
    }
    wndl_file_close(&file);
    return count > 1;
}

bool wndl_runtime_is_for(
    const char *path, const char *library, struct wndl_error *err)
{
    static const char token[] = "/$LIB/";
    char other[2 * PATH_MAX];
    const char *found = strstr(path, token);
    if (found == NULL)
        return false;
    snprintf(other, sizeof other, "%.*s/%s/%s", (int)(found - path), path,
        library, found + sizeof token - 1);
    return access(other, F_OK) == 0 && has_functions(other, err);
}
