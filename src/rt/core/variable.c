/* SPDX-License-Identifier: MIT */
#include "rt/core/variable.h"

#include <string.h>

bool wndl_rt_variable_is(const char *variable, const char *assignment)
{
    size_t i = 0;
    while (assignment[i] != '\0' && variable[i] == assignment[i])
        i++;
    return assignment[i] == '\0';
}

const char *wndl_rt_variable(char *const environment[], const char *assignment)
{
    for (; *environment != NULL; environment++) {
        if (wndl_rt_variable_is(*environment, assignment))
            return *environment + strlen(assignment);
    }
    return NULL;
}
