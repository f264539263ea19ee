/* SPDX-License-Identifier: MIT */
/* unwind_tables: finds the unwind tables of the program's modules. */
#ifndef WNDL_RT_WALK_UNWIND_TABLES_H
#define WNDL_RT_WALK_UNWIND_TABLES_H

enum { WNDL_RT_UNWIND_TABLES = 256 }; /* at a time; further modules have none */

/*
 * Keeps the list of folders. Call it once, at the start of the process, before
 * any sample.
 */
void wndl_rt_unwind_tables_start(char *const environment[]);

/*
 * Keeps the attached tables (unwind/table/named.h) of a new block, if none are
 * kept so far, and uses those that the collector has made. As above, and in a
 * forked child while nobody else walks.
 */
void wndl_rt_unwind_tables_share(void);

/* Uses tables that the collector has made meanwhile. Signal-safe. */
void wndl_rt_unwind_tables_take(void);

#endif
