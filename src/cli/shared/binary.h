/* SPDX-License-Identifier: MIT */
/* binary: a program or library that a command reads, open, or a Breakpad symbol
 * file in the place of one. */
#ifndef WNDL_CLI_SHARED_BINARY_H
#define WNDL_CLI_SHARED_BINARY_H

#include "obj/core/object.h"
#include "os/file.h"

struct wndl_binary {
    struct wndl_file file;
    struct wndl_object *object;
};

/* False, with `err`: there is nothing to close. */
bool wndl_binary_open(
    struct wndl_binary *binary, const char *path, struct wndl_error *err);

/* The same, with the unwind rules of its debug file (cfi_import/elf). */
bool wndl_binary_open_whole(
    struct wndl_binary *binary, const char *path, struct wndl_error *err);

/*
 * Adds rules from the code that has none, and says how much of it there is.
 * False, with `err`, if memory is out.
 */
bool wndl_binary_add_code_rules(
    struct wndl_binary *binary, struct wndl_error *err);

void wndl_binary_close(struct wndl_binary *binary);

#endif
