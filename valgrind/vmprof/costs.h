/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * costs: faults by the instruction that made them, by the call path that led
 * to it, by the mapping of the page, and over time. All are bounded by what is
 * distinct; time is cut into at most COST_SPANS spans.
 */
#ifndef VMPROF_COSTS_H
#define VMPROF_COSTS_H

#include "vmprof.h"

enum { COST_SPANS = 128 };

void costs_init(void);

/* A fault in memory of index `size`. */
void costs_fault(const struct access *access, UInt size, enum fault_kind kind);

/* Counts begin anew. */
void costs_forget(void);

/* Each calls `visit` with every row there is. */
void costs_visit_sites(
    void (*visit)(Addr ip, const struct fault_counts *counts));
void costs_visit_paths(void (*visit)(
    const Addr *ips, UInt count, Bool cut, const struct fault_counts *counts));
void costs_visit_mappings(
    void (*visit)(const HChar *name, const struct fault_counts *counts));

/* Faults over time: span i is [i * length, (i + 1) * length) instructions. */
ULong costs_span_length(void);
UInt costs_span_count(void);
const struct fault_counts *costs_span(UInt index);

#endif
