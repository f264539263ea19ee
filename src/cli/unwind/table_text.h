/* SPDX-License-Identifier: MIT */
/* unwind_table_text: what 'windlass unwind-table show' prints of a table. */
#ifndef WNDL_CLI_UNWIND_TABLE_TEXT_H
#define WNDL_CLI_UNWIND_TABLE_TEXT_H

#include "unwind/table/table.h"

#include <stdio.h>

/* What it is of, and where its bytes are. */
void wndl_unwind_table_say(FILE *out, const struct wndl_table *table);

/* All rows, a line each. False when memory is out. */
bool wndl_unwind_table_dump(FILE *out, const struct wndl_table *table);

#endif
