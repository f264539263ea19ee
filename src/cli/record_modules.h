/* SPDX-License-Identifier: MIT */
/* record_modules: what `windlass record -v` tells of the modules on stacks. */
#ifndef WNDL_CLI_RECORD_MODULES_H
#define WNDL_CLI_RECORD_MODULES_H

/*
 * On stderr, for the modules that most of the recording's places are in: how
 * much of their code has unwind information. Reads the recording at `path`
 * and the modules; says nothing of what cannot be read.
 */
void wndl_record_say_modules(const char *path);

#endif
