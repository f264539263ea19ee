/* SPDX-License-Identifier: MIT */
/*
 * sigbus_guard: lets a command survive that somebody else truncates a file
 * which it has mapped.
 */
#ifndef WNDL_CLI_CORE_SIGBUS_GUARD_H
#define WNDL_CLI_CORE_SIGBUS_GUARD_H

/*
 * From now on, pages of mapped files that went away read as zeros, which no
 * reader takes for anything, and the first such page is told on standard
 * error. Installs a handler of SIGBUS for the process; call it once, before
 * there are other threads.
 */
void wndl_sigbus_guard_install(void);

#endif
