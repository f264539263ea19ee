/* SPDX-License-Identifier: MIT */
#include "symbolize/files/debuginfod.h"

#include "base/status.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As in elfutils/debuginfod.h, which need not be installed to build. */
struct client;
struct library {
    struct client *(*begin)(void);
    int (*find)(struct client *client, const unsigned char *build_id,
        int build_id_size, char **path);
    void (*end)(struct client *client);
};

/* The library's function, and the words for its answer. */
struct kind {
    const char *function, *missing, *failed;
};

/* Never unloaded: it initialises libcurl for the whole process. */
static bool load(struct library *library, const struct kind *kind)
{
    void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return false;
    void *begin = dlsym(handle, "debuginfod_begin");
    void *find = dlsym(handle, kind->function);
    void *end = dlsym(handle, "debuginfod_end");
    /* POSIX requires that dlsym's pointers can be functions. */
    memcpy(&library->begin, &begin, sizeof begin);
    memcpy(&library->find, &find, sizeof find);
    memcpy(&library->end, &end, sizeof end);
    return begin != NULL && find != NULL && end != NULL;
}

static enum wndl_status explain(
    int error, const struct kind *kind, struct wndl_error *err)
{
    if (error == ENOENT)
        return wndl_fail(err, WNDL_NOT_FOUND, "%s", kind->missing);
    if (error == ENOSYS)
        return wndl_fail(
            err, WNDL_IO, "no server to ask: DEBUGINFOD_URLS is not set");
    return wndl_fail_errno(err, error, "%s", kind->failed);
}

static enum wndl_status fetch(const struct kind *kind,
    struct wndl_bytes build_id, char *path, size_t size, struct wndl_error *err)
{
    enum { LONGEST = 64 };
    struct library library;
    char *found = NULL;
    wndl_error_set_file(err, "debuginfod");
    if (build_id.size == 0 || build_id.size > LONGEST)
        return wndl_fail(err, WNDL_NOT_FOUND, "the binary has no build-id");
    if (!load(&library, kind))
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "cannot load libdebuginfod.so.1; install it (Debian: "
            "libdebuginfod1)");
    struct client *client = library.begin();
    if (client == NULL)
        return wndl_fail(err, WNDL_IO, "libdebuginfod cannot be started");
    int fd = library.find(client, build_id.data, (int)build_id.size, &found);
    library.end(client);
    if (fd < 0)
        return explain(-fd, kind, err);
    close(fd);
    bool fits = strlen(found) < size;
    if (fits)
        strcpy(path, found);
    free(found);
    return fits ? WNDL_OK
                : wndl_fail(err, WNDL_LIMIT, "the cache's path is too long");
}

enum wndl_status wndl_debuginfod_fetch(
    struct wndl_bytes build_id, char *path, size_t size, struct wndl_error *err)
{
    static const struct kind kind = {"debuginfod_find_debuginfo",
        "no server has the debug file", "cannot fetch the debug file"};
    return fetch(&kind, build_id, path, size, err);
}

enum wndl_status wndl_debuginfod_fetch_binary(
    struct wndl_bytes build_id, char *path, size_t size, struct wndl_error *err)
{
    static const struct kind kind = {"debuginfod_find_executable",
        "no server has the binary", "cannot fetch the binary"};
    return fetch(&kind, build_id, path, size, err);
}
