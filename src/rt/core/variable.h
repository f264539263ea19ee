/* SPDX-License-Identifier: MIT */
/* variable: access to the variables of an environment. */
#ifndef WNDL_RT_CORE_VARIABLE_H
#define WNDL_RT_CORE_VARIABLE_H

#include <stdbool.h>

/* Whether `variable` begins with `assignment`, which is "NAME=". */
bool wndl_rt_variable_is(const char *variable, const char *assignment);

/* The value of a variable, or NULL; `assignment` is "NAME=". */
const char *wndl_rt_variable(char *const environment[], const char *assignment);

#endif
