/* SPDX-License-Identifier: MIT */
/* modules: the binaries that queries name, kept open. */
#ifndef WNDL_CLI_ADDR2LINE_MODULES_H
#define WNDL_CLI_ADDR2LINE_MODULES_H

#include "cli/symbols/sym_options.h"

struct wndl_modules {
    const struct wndl_sym_options *o; /* of all */
    struct wndl_module *first;        /* the one used last */
};

/* The binary at a path, or with a build-id. NULL, with an error on stderr. */
struct wndl_symbolizer *wndl_modules_find(
    struct wndl_modules *modules, const char *name, bool is_build_id);

void wndl_modules_close(struct wndl_modules *modules);

#endif
