/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap: the blocks that malloc and its kind gave out, by the call path that
 * asked for them. Only with --blocks=yes, for the program then runs on
 * Valgrind's own allocator.
 */
#ifndef VMPROF_HEAP_H
#define VMPROF_HEAP_H

#include "vmprof.h"

/* Must be called before options are read; heap_enable() after. */
void heap_prepare(void);
void heap_enable(void);

/* Counts a fault for the site of the block that `address` is in, if any. */
void heap_fault(const struct access *access, UInt size, enum fault_kind kind);

/* `bytes` is what the site allocated in all. */
void heap_visit_sites(void (*visit)(const Addr *ips, UInt count, ULong blocks,
    ULong bytes, const struct fault_counts *counts));

/* Counts begin anew. */
void heap_forget(void);

#endif
