/* SPDX-License-Identifier: MIT */
/*
 * launch: recording without `windlass record`. Where WINDLASS_OPTIONS is in
 * the environment, the process starts a collector for itself and all its
 * children.
 */
#ifndef WNDL_RT_START_LAUNCH_H
#define WNDL_RT_START_LAUNCH_H

/*
 * Starts `windlass collect`, told who we are, as nobody's child. Returns the
 * session it opened, which has taken the options' place in `environment`, or
 * NULL. At the start of the program; waits for up to five seconds. With the
 * options "help" the collector takes the program's place and tells them.
 */
const char *wndl_rt_launch(char **environment);

#endif
