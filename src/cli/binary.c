/* SPDX-License-Identifier: MIT */
#include "cli/binary.h"

#include "analyze/pe_stacks.h"
#include "tables/sym_object.h"

bool wndl_binary_open(
    struct wndl_binary *b, const char *path, struct wndl_error *err)
{
    *b = (struct wndl_binary){0};
    if (wndl_file_open(path, &b->file, err) != WNDL_OK)
        return false;
    const struct wndl_object_source source = {b->file.bytes, path, NULL};
    if (wndl_sym_object_open(&source, wndl_mem_libc(), &b->object, err) ==
        WNDL_OK) {
        /* Who wants rules for unwinding is told when there are none. */
        (void)!wndl_pe_add_stacks(b->object, wndl_mem_libc(), NULL);
        return true;
    }
    wndl_error_set_file(err, path);
    wndl_file_close(&b->file);
    return false;
}

void wndl_binary_close(struct wndl_binary *b)
{
    wndl_object_close(b->object);
    wndl_file_close(&b->file);
}
