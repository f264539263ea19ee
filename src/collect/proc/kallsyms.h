/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: names for addresses of the kernel's code, from /proc/kallsyms. Who
 * may not see addresses reads 0 for all of them.
 */
#ifndef WNDL_COLLECT_PROC_KALLSYMS_H
#define WNDL_COLLECT_PROC_KALLSYMS_H

#include "base/arena.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct wndl_kallsym {
    uint64_t address;
    bool is_code;
    struct wndl_bytes name;   /* borrowed, as is the next */
    struct wndl_bytes module; /* empty: the kernel itself */
};

/* Reads a line, "ffffffff81000000 T _text" or "... t f\t[module]". */
bool wndl_kallsyms_line(struct wndl_bytes line, struct wndl_kallsym *symbol);

/*
 * Sets *address to that of _text, where the kernel's code begins. False if the
 * file `path` ("/proc/kallsyms") cannot be read, or hides addresses.
 */
bool wndl_kallsyms_text(const char *path, uint64_t *address);

/* An address, and the function that it is in. */
struct wndl_kernel_place {
    uint64_t address;
    uint64_t start;   /* of the function */
    const char *name; /* "f", "f [module]"; NULL: not known */
};

/*
 * Names `count` places, which are sorted by address, by the file `path`. A
 * function ends where the next one begins. Names are in `arena`. False if the
 * file cannot be read; the places before its damage are named anyway.
 */
bool wndl_kallsyms_name(const char *path, struct wndl_kernel_place *places,
    size_t count, struct wndl_arena *arena);

#endif
