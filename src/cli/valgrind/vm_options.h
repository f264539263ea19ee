/* SPDX-License-Identifier: MIT */
/* vm_options: what `windlass vmprof` was asked for. */
#ifndef WNDL_CLI_VALGRIND_VM_OPTIONS_H
#define WNDL_CLI_VALGRIND_VM_OPTIONS_H

#include "cli/core/options.h"
#include "cli/shared/symbol_options.h"

struct wndl_vmprof_options {
    const char *mem;
    const char *page;
    bool blocks;
    bool no_paths;
    bool no_system;
    bool trace_children;
    uint64_t startup;
    uint64_t stacks_every;
    uint64_t rows;
    const char *callgrind;
    const char *order;
    const char *section_order;
    const char *recording;
    bool json;
    const char *show;
    uint64_t show_mem;
    bool quiet;
    const char *out;
    struct wndl_option_list valgrind;
    struct wndl_symbol_options symbols;
};

#endif
