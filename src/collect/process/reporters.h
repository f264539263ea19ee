/* SPDX-License-Identifier: MIT */
/*
 * reporters: lets the memory reporters of a process run (windlass/memory.h), so
 * that its recorder knows which blocks they report. It must not know what a
 * recording is.
 */
#ifndef WNDL_COLLECT_PROCESS_REPORTERS_H
#define WNDL_COLLECT_PROCESS_REPORTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WNDL_REPORTER_NAME = 64 };

/*
 * Asks process `pid` and waits until all its reporters have run, or until
 * `patience` ns have passed. False: one of them did not return in time. A
 * process without reporters is not asked. `missed` receives the name of the
 * first that did not run, as a JSON string has it, or "".
 */
bool wndl_reporters_run(
    pid_t pid, uint64_t patience, char missed[WNDL_REPORTER_NAME]);

#endif
