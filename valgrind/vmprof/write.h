/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write: the file of results, as docs/formats/vmprof.md describes it. */
#ifndef VMPROF_WRITE_H
#define VMPROF_WRITE_H

#include "vmprof.h"

/* Writes all that was counted so far; says on the log why it cannot. */
void write_results(Bool is_running);

/* The same now and then, for a program that is killed. */
void write_results_if_due(void);

#endif
