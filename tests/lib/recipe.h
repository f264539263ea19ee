/* SPDX-License-Identifier: MIT */
/*
 * recipe: recordings from a few readable lines, so that a test can say what
 * is in its recording. One statement a line, words separated by spaces; '_'
 * in names stands for a space; numbers are decimal, addresses hexadecimal.
 *
 *   meta INTERVAL ENGINE FLAGS HOST CWD ARGUMENT...
 *   process PARENT+1 PID EXECUTABLE ARGUMENT...      counts up from 0
 *   thread PROCESS TID NAME                          counts up from 0
 *   rename THREAD NAME
 *   image PATH BUILD-ID-IN-HEX|-                     counts up from 0
 *   map PROCESS IMAGE START END BIAS
 *   sample THREAD COUNT END FRAME...                 root first
 *   exit PROCESS HOW [REASON COUNT]...
 *   chunk TYPE TEXT                                  any other chunk
 *   done STATUS UNFOLLOWED
 *   cut BYTES                                        off the end so far
 *   flip BYTES                                       a bit, so far from the end
 *
 * A FRAME is IMAGE:RVA, or -:ADDRESS when in no image; with a '!' at its end
 * it is interrupted code. Each sample takes one interval of time and CPU.
 */
#ifndef WNDL_TESTS_RECIPE_H
#define WNDL_TESTS_RECIPE_H

#include "base/buf.h"

#include <stdbool.h>

/* Appends the recording to `out`. False, said on stderr, for a wrong line. */
bool recipe_cook(const char *recipe, struct wndl_buf *out);

#endif
