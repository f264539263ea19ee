/* SPDX-License-Identifier: MIT */
/*
 * imports: programs with an allocator of their own. A definition in the
 * executable precedes any preloaded one (Firefox has such). So the libraries'
 * calls are redirected to our functions where they import them, and so are
 * those of C++'s operators that do not call malloc (new.h).
 *
 * Calls inside the module that defines the allocator are bound when it is
 * linked. They are not seen.
 */
#ifndef WNDL_RT_HEAP_HOOK_IMPORTS_H
#define WNDL_RT_HEAP_HOOK_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

struct wndl_dlmodule;

/* A function that is redirected to another one. */
struct wndl_rt_import {
    const char *name;
    void *theirs; /* NULL: left alone */
    void *ours;
    bool outside; /* except in the module of `theirs`, which may call it at
                   * its start */
};

/* A function that an allocator may have beside the standard's. */
struct wndl_rt_extra {
    const char *name;
    void *entry; /* ours */
    void *real;  /* the allocator's own; NULL: it has none */
};

/*
 * Fills in those of `extras`, at most `count`, that all modules import from
 * `allocator`, which defines malloc. Returns their number. Not for signal
 * handlers.
 */
size_t wndl_rt_imports_find(const struct wndl_dlmodule *allocator,
    struct wndl_rt_extra *extras, size_t count, struct wndl_rt_import *imports);

/*
 * Whether `function` is only the stub that an executable at a fixed address has
 * for a function that it imports. Not for signal handlers.
 */
bool wndl_rt_is_stub(const void *function);

/*
 * Redirects all modules' imports of these from now on. `imports` lives as long
 * as the process. Not for signal handlers.
 */
void wndl_rt_imports_lead(const struct wndl_rt_import *imports, size_t count);

/*
 * Redirects modules that were loaded since. Without any it costs as much as a
 * load instruction. Returns whether some may have run before. Not for signal
 * handlers.
 */
bool wndl_rt_imports_follow(void);

/* In a forked child: clears the state of other threads' work. */
void wndl_rt_imports_after_fork(void);

/*
 * Called around the unloading of modules, after which the last module is not
 * known.
 */
void wndl_rt_imports_unload(bool begins);

#endif
