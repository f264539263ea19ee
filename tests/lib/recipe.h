/* SPDX-License-Identifier: MIT */
/*
 * recipe: recordings from a few readable lines, so that a test can say what
 * is in its recording. One statement a line, words separated by spaces; '_'
 * in names stands for a space; numbers are decimal, addresses hexadecimal.
 *
 *   limits MAX-FRAMES BLOCKED-INTERVAL               meta's fields of 1.1
 *   meta INTERVAL ENGINE FLAGS HOST CWD ARGUMENT...
 *   process PARENT+1 PID EXECUTABLE ARGUMENT...      counts up from 0
 *   thread PROCESS TID NAME                          counts up from 0
 *   rename THREAD NAME
 *   image PATH BUILD-ID-IN-HEX|-                     counts up from 0
 *   map PROCESS IMAGE START END BIAS
 *   sample THREAD COUNT END FRAME...                 root first
 *   block THREAD COUNT DURATION KIND END FRAME...    an interval between two
 *   wait NS                                          time passes
 *   mark THREAD DURATION KIND TEXT
 *   ended THREAD CPU
 *   unfollowed PARENT+1 PID REASON EXECUTABLE ARGUMENT...
 *   pause STATE
 *   exit PROCESS HOW [REASON COUNT]...
 *   heap PROCESS FLAGS SAMPLE-BELOW
 *   site PROCESS END REQUESTED SLOP FRAME...         counts up from 0 in each
 *   tag PROCESS OUTER NAME|- FRAME...                counts up from 1 in each
 *   owners PROCESS [PAIR TAG]...
 *   library PATTERN TAG|-
 *   snapshot PROCESS WHY TEXT|- TOTAL... [/ MISSED...] counts up in each
 *   counts PROCESS [PAIR ALLOCS FREES AT-PEAK TEMPORARY LIFETIME]...
 *   live PROCESS [NS-LATER BYTES BLOCKS]...
 *   leaks PROCESS [PAIR DEFINITE INDIRECT POSSIBLE]...
 *   failed PROCESS HOW REPORTER
 *   growth PROCESS HOW CHAINS STEPS ALLOCATED FINAL DOUBLING LEAST MOST
 *       FRAME...
 *   wrong PROCESS KIND COUNT ADDRESS FRAME...
 *   mixed PROCESS TAKEN-BY FREED-BY COUNT ADDRESS FRAME... / FRAME...
 *                                                 the free's, the allocation's
 *   together PROCESS [PAIR OTHER BLOCKS]...
 *   reported PROCESS PAIR REPORTS BLOCKS FRAME... [/ FRAME...]
 *                                                    the second reporter's
 *   chunk TYPE TEXT                                  any other chunk
 *   done STATUS UNFOLLOWED [DISCARDED INTERRUPTED-CALLS]
 *   cut BYTES                                        off the end so far
 *   flip BYTES                                       a bit, so far from the end
 *
 * A FRAME is IMAGE:RVA, or -:ADDRESS when in no image; with a '!' at its end
 * it is interrupted code, with a '?' or '~' it was found without rules and
 * checked, or guessed. Each sample takes one interval of time and CPU.
 */
#ifndef WNDL_TESTS_RECIPE_H
#define WNDL_TESTS_RECIPE_H

#include "base/buf.h"

#include <stdbool.h>

/* Appends the recording to `out`. False, said on stderr, for a wrong line. */
bool recipe_cook(const char *recipe, struct wndl_buf *out);

#endif
