/* SPDX-License-Identifier: MIT */
/* vm_options: what `windlass vmprof` was asked for. */
#ifndef WNDL_CLI_VALGRIND_VM_OPTIONS_H
#define WNDL_CLI_VALGRIND_VM_OPTIONS_H

#include "cli/valgrind/profile_options.h"

struct wndl_vmprof_options {
    struct wndl_profile_options shared;
    const char *mem;
    const char *page;
    bool blocks;
    bool no_paths;
    bool no_system;
    uint64_t startup;
    uint64_t stacks_every;
    const char *order;
    const char *section_order;
    const char *recording;
    uint64_t show_mem;
};

#endif
