/* SPDX-License-Identifier: MIT */
/* unrecordable: the reason why a process that never said hello could not. */
#ifndef WNDL_COLLECT_PROC_UNRECORDABLE_H
#define WNDL_COLLECT_PROC_UNRECORDABLE_H

#include "rec/shm.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The reason, by its executable and its environment; WNDL_UNRECORDED_NONE if
 * there is none. `narrow`: there is a runtime for 32-bit processes.
 */
enum wndl_unrecorded_reason wndl_unrecordable_process(pid_t pid, bool narrow);

/*
 * Whether the process is a copy of `parent` that has executed no other program
 * since, and was made where no filter of system calls was in force that we do
 * not have too.
 */
bool wndl_unrecordable_is_copy(pid_t pid, pid_t parent);

/*
 * Whether a thread of the process is in a call that makes processes: the caller
 * of vfork() is, until its child starts a program or ends. `machine` is EM_*.
 */
bool wndl_unrecordable_waits_for_child(pid_t pid, uint16_t machine);

/*
 * The same for the executable `path` that has not been started yet, by its file
 * alone, of 32 or 64 bits. NONE also if it cannot be read or is no ELF file.
 */
enum wndl_unrecorded_reason wndl_unrecordable_executable(const char *path);

#endif
