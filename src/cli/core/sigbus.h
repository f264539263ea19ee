/* SPDX-License-Identifier: MIT */
/*
 * cut_short: lets a command outlive that others cut files short which it has
 * mapped.
 */
#ifndef WNDL_CLI_CORE_SIGBUS_H
#define WNDL_CLI_CORE_SIGBUS_H

/*
 * From now on, pages of mapped files that went away read as zeros, which no
 * reader takes for anything, and the first such page is told on standard
 * error. Installs a handler of SIGBUS for the process; call it once, before
 * there are other threads.
 */
void wndl_outlive_cut_short(void);

#endif
