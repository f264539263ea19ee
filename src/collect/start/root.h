/* SPDX-License-Identifier: MIT */
/* root: the folders that may hold the private folder of a recording. */
#ifndef WNDL_COLLECT_START_ROOT_H
#define WNDL_COLLECT_START_ROOT_H

#include <stdbool.h>

enum { WNDL_SESSION_ROOTS = 3 };

/*
 * The folder of this choice: $XDG_RUNTIME_DIR, $TMPDIR, /tmp; NULL: none. A
 * folder whose owner could exchange ours for another is none: the first must be
 * this user's alone, the second this user's or root's.
 */
const char *wndl_session_root(unsigned choice);

#endif
