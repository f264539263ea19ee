/* SPDX-License-Identifier: MIT */
/*
 * sigbus_guard: lets every command, recorders included, survive SIGBUS when
 * another program truncates a file that is mapped. Programs that are run by a
 * command start with the default action, as execve(2) says.
 */
#ifndef WNDL_CLI_CORE_SIGBUS_GUARD_H
#define WNDL_CLI_CORE_SIGBUS_GUARD_H

/*
 * From now on, pages of mapped files that went away read as zeros, which no
 * reader accepts as data, and the first such page is reported on standard
 * error. Installs a handler of SIGBUS for the process; call it once, before
 * other threads start.
 */
void wndl_sigbus_guard_install(void);

#endif
