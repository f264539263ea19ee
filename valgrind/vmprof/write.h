/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write: the file of results, as docs/formats/vmprof.md describes it. */
#ifndef VMPROF_WRITE_H
#define VMPROF_WRITE_H

#include "vmprof.h"

/* Remembers that code of a file may be at [start, start + size). */
void write_note_code(Addr start, SizeT size);

/* Writes all that was counted so far; says on the log why it cannot. */
void write_results(Bool is_running);

#endif
