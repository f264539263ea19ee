/* SPDX-License-Identifier: MIT */
/*
 * unrecordable: why a process that never said hello could not.
 */
#ifndef WNDL_COLLECT_PROC_UNRECORDABLE_H
#define WNDL_COLLECT_PROC_UNRECORDABLE_H

#include "rec/shm.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * By its executable and its environment: WNDL_UNRECORDED_NONE when nothing
 * speaks against a hello of it. `narrow`: there is a runtime for 32-bit ones.
 */
enum wndl_unrecorded_reason wndl_unrecordable_process(pid_t pid, bool narrow);

/*
 * Whether the process is a copy of `parent`, which has executed nothing since,
 * and no filter of system calls holds it back that does not hold us, too.
 */
bool wndl_unrecordable_is_copy(pid_t pid, pid_t parent);

/*
 * The same for the executable `path` that has not been started yet: by itself
 * alone, be it of 32 or of 64 bits. NONE also for what cannot be read or is no
 * ELF file.
 */
enum wndl_unrecorded_reason wndl_unrecordable_executable(const char *path);

#endif
