/* SPDX-License-Identifier: MIT */
#include "collect/start/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void wndl_control_answer(int socket, char letter, const char *format, ...)
{
    char line[WNDL_CONTROL_LINE - 1] = {letter};
    va_list args;
    va_start(args, format);
    vsnprintf(line + 1, sizeof line - 1, format, args);
    va_end(args);
    (void)send(socket, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}
