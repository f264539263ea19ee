/* SPDX-License-Identifier: MIT */
/*
 * imports: programs with an allocator of their own. What the executable
 * defines stands before whatever is preloaded (Firefox does so), so that the
 * libraries' calls are led to our functions where they import them. So are
 * those of C++'s operators that do not call malloc (new.h).
 *
 * Calls inside the module that defines the allocator are bound already when
 * that is linked: they are not seen.
 */
#ifndef WNDL_RT_HEAP_HOOK_IMPORTS_H
#define WNDL_RT_HEAP_HOOK_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>

struct wndl_dlmodule;

/* A function that is led to another one. */
struct wndl_rt_import {
    const char *name;
    void *theirs; /* NULL: left alone */
    void *ours;
    bool outside; /* not where theirs is: that may call it at its start */
};

/* What an allocator may have beside the standard's functions. */
struct wndl_rt_extra {
    const char *name;
    void *entry; /* ours */
    void *real;  /* the allocator's own, NULL: not known to have any */
};

/*
 * Fills in those of `extras`, at most `count`, that all modules import from
 * `allocator`, where malloc is. Returns how many. Not for signal handlers.
 */
size_t wndl_rt_imports_find(const struct wndl_dlmodule *allocator,
    struct wndl_rt_extra *extras, size_t count, struct wndl_rt_import *imports);

/*
 * Whether it is none, but what an executable at a fixed address has in the
 * place of a function that it imports. Not for signal handlers.
 */
bool wndl_rt_is_stub(const void *function);

/*
 * From now on, all modules' imports of these; `imports` lives as long as the
 * process. Not for signal handlers.
 */
void wndl_rt_imports_lead(const struct wndl_rt_import *imports, size_t count);

/*
 * Looks for modules that have been loaded since, at a load's cost where there
 * are none. Whether some may have run before they were led. Not for signal
 * handlers.
 */
bool wndl_rt_imports_follow(void);

/* In a forked child: nobody is at work. */
void wndl_rt_imports_after_fork(void);

/* Around the unloading of modules: which one was the last is not known. */
void wndl_rt_imports_unload(bool begins);

#endif
