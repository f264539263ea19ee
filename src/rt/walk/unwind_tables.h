/* SPDX-License-Identifier: MIT */
/*
 * unwind_tables: where the unwind tables of the program's modules are.
 */
#ifndef WNDL_RT_WALK_UNWIND_TABLES_H
#define WNDL_RT_WALK_UNWIND_TABLES_H

#include "rec/shm.h"

enum {
    WNDL_RT_UNWIND_TABLES = 256
}; /* in use; of more modules there are none */

/* Keeps the list of folders. At the start of the process, once, before any
 * sample. */
void wndl_rt_unwind_tables_start(char *const environment[]);

/* Keeps what is attached (unwind/table/named.h), if nothing is so far. As
 * above, and in a forked child, while nobody else walks. */
void wndl_rt_unwind_tables_attach(const char tables[WNDL_SHM_TABLES]);

#endif
