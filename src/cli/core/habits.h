/* SPDX-License-Identifier: MIT */
/* habits: what to type here for a command of perf, samply or heaptrack. */
#ifndef WNDL_CLI_CORE_HABITS_H
#define WNDL_CLI_CORE_HABITS_H

/* The rest of a sentence that begins with "windlass WORD"; NULL: unknown. */
const char *wndl_habit_of(const char *word);

#endif
