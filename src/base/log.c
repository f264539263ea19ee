/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_MAX_BYTES = 1024 };

void wndl_log(const struct wndl_log *log, enum wndl_log_level level,
    const char *format, ...)
{
    if (log == NULL || level > log->level)
        return;
    char line[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    log->write(log->context, level, line);
}
