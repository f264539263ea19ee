/* SPDX-License-Identifier: MIT */
/* callgraph_options: the options of commands that write call graphs. */
#ifndef WNDL_CLI_SHARED_CALLGRAPH_OPTIONS_H
#define WNDL_CLI_SHARED_CALLGRAPH_OPTIONS_H

#include "cli/core/options.h"

enum wndl_cycles { WNDL_CYCLES_COLLAPSE, WNDL_CYCLES_KEEP };

/* A row of a command's table; `field`, unsigned, of its struct `type` is an
 * enum wndl_cycles. */
#define WNDL_CYCLES_ROW(about, type, field)                                    \
    {                                                                          \
        0, "cycles", "HOW", "collapse|keep", "collapse", NULL,                 \
            about "cycles of functions that call each other: collapse: "       \
                  "show a cycle as one function with its members below it; "   \
                  "keep: write the functions of a cycle one by one",           \
            WNDL_OPT_CHOICE, offsetof(type, field)                             \
    }

#endif
