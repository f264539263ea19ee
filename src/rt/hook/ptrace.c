/* SPDX-License-Identifier: MIT */
/*
 * ptrace: a process that offers itself to a debugger is no longer sampled,
 * because each signal of ours would stop it there. The program that it then
 * executes says that it is traced, and gets an engine that debuggers know how
 * to ignore.
 */
#include "os/raw.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/sample/engine.h"

#include <stdarg.h>
#include <sys/ptrace.h>

WNDL_RT_HOOK long ptrace(enum __ptrace_request request, ...)
{
    void *arguments[3];
    va_list list;
    va_start(list, request);
    for (int i = 0; i < 3; i++)
        arguments[i] = va_arg(list, void *);
    va_end(list);
    if (request == PTRACE_TRACEME)
        wndl_rt_engine_stop();
    return wndl_rt_real()->ptrace(
        request, arguments[0], arguments[1], arguments[2]);
}
