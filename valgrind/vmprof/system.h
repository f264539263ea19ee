/* SPDX-License-Identifier: GPL-2.0-or-later */
/* system: memory that the kernel reads, writes, maps and unmaps. */
#ifndef VMPROF_SYSTEM_H
#define VMPROF_SYSTEM_H

#include "vmprof.h"

void system_init(void);

/* Whether a page that is written there can only leave to swap. */
Bool system_is_private(Addr address);

/* Most bytes that were mapped at once. */
ULong system_peak_mapped(void);

/*
 * A name for what is mapped at `address`: a path, "[heap]", "[stack]",
 * "[anonymous]" or "[other]". The string is valid until the next mapping.
 */
const HChar *system_mapping_name(Addr address);

#endif
