/* SPDX-License-Identifier: MIT */
/*
 * runtime: finds the objects that are preloaded into recorded programs.
 */
#ifndef WNDL_CLI_SHARED_RUNTIME_H
#define WNDL_CLI_SHARED_RUNTIME_H

#include <stdbool.h>

struct wndl_error;

/* The file name of the one that counts the heap too, or of the other one. */
const char *wndl_runtime_name(bool heap);

/*
 * The path of the runtime `name`, beside this executable as built or as
 * installed. The caller frees it. NULL: `err`, which may be NULL, says why.
 */
char *wndl_runtime_find(const char *name, struct wndl_error *err);

/* ld.so splits LD_PRELOAD at spaces and colons (ld.so(8)). */
bool wndl_runtime_can_be_preloaded(const char *path);

/*
 * Whether there is a runtime beside it for programs in which $LIB stands for
 * `library` ("lib32"). `err` is filled where a file could not be read.
 */
bool wndl_runtime_is_for(
    const char *path, const char *library, struct wndl_error *err);

#endif
