/* SPDX-License-Identifier: MIT */
/*
 * exec_instead: makes a process that has just executed a program execute
 * another one instead, of which the first is an argument.
 */
#ifndef WNDL_CLI_CHECK_EXEC_INSTEAD_H
#define WNDL_CLI_CHECK_EXEC_INSTEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * For a process of ours that stands at PTRACE_EVENT_EXEC, before the first
 * instruction of its program, and goes on afterwards. It executes `words[0]`
 * with the `count` words, `program`, and its arguments but the first; its
 * environment and its descriptors stay. False: it goes on as it is, because it
 * is no x86-64 program, or has too many arguments, or was not changed because
 * the kernel refused.
 */
bool wndl_exec_instead(
    pid_t pid, char *const *words, size_t count, const char *program);

#endif
