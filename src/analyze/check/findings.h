/* SPDX-License-Identifier: MIT */
/*
 * findings: the distinct errors among those that a checker reported, ranked.
 * It must not know Valgrind's files nor how they came about.
 */
#ifndef WNDL_ANALYZE_CHECK_FINDINGS_H
#define WNDL_ANALYZE_CHECK_FINDINGS_H

#include "model/check.h"

/*
 * Fills `list`, whose `check`, `runs`, `tool`, `command` and `notes` are set,
 * with findings and kinds, in memory of the arena of `known`, which is
 * initialised and may have a baseline: what that has is not new.
 *
 * Two errors are one if they are of the same kind and if the functions of the
 * stack where it happened are the same ones, whatever their lines; a race also
 * if both accesses have changed places. An error is foreign if it happened in a
 * library of the system, other than the C and C++ libraries, which only pass
 * the program's values on. `program` is the path of the program, which is never
 * foreign; may be NULL.
 *
 * False if memory is out.
 */
bool wndl_findings_list(struct wndl_finding_list *list, const char *program);

#endif
