/* SPDX-License-Identifier: MIT */
#include "collect/proc/jit_descriptor.h"

#include "obj/core/object.h"
#include "os/file.h"

#include <limits.h>
#include <stdio.h>

/* False: another file. */
static bool find_in(
    struct wndl_bytes bytes, struct wndl_bytes build_id, uint64_t *found)
{
    struct wndl_object *object;
    wndl_svma addr = {0};
    if (wndl_object_open(bytes, NULL, wndl_mem_libc(), &object, NULL) !=
        WNDL_OK)
        return false;
    bool is_it = build_id.size == 0 ||
                 wndl_bytes_equal(build_id, wndl_object_build_id(object));
    if (is_it && wndl_object_find_variable(
                     object, "__jit_debug_descriptor", &addr, NULL) == WNDL_OK)
        *found = addr.v;
    wndl_object_close(object);
    return is_it;
}

uint64_t wndl_descriptor_find(
    pid_t pid, const char *path, struct wndl_bytes build_id)
{
    char there[PATH_MAX + 64];
    snprintf(there, sizeof there, "/proc/%d/root%s", (int)pid, path);
    const char *const places[] = {path, there};
    bool done = path[0] != '/';
    uint64_t found = 0;
    for (size_t i = 0; i < 2 && !done; i++) {
        struct wndl_file file;
        if (wndl_file_open(places[i], &file, NULL) != WNDL_OK)
            continue;
        done = find_in(file.bytes, build_id, &found);
        wndl_file_close(&file);
    }
    return found;
}
