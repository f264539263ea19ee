/* SPDX-License-Identifier: MIT */
/*
 * launch: recording without `windlass record`. If WINDLASS_OPTIONS is in the
 * environment, the process starts a collector for itself and all its children.
 */
#ifndef WNDL_RT_START_LAUNCH_H
#define WNDL_RT_START_LAUNCH_H

/*
 * Starts `windlass collect` as nobody's child, with our pid. Returns the
 * session that it opened, which replaces the options in `environment`, or NULL.
 * For the start of the program; waits up to five seconds. With the options
 * "help" the collector replaces the program, and prints them.
 */
const char *wndl_rt_launch(char **environment);

#endif
