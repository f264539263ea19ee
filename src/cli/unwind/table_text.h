/* SPDX-License-Identifier: MIT */
/* unwind_table_text: the output of 'windlass unwind-table show'. */
#ifndef WNDL_CLI_UNWIND_TABLE_TEXT_H
#define WNDL_CLI_UNWIND_TABLE_TEXT_H

#include "unwind/table/table.h"

#include <stdio.h>

/* Prints the binary of the table, and the sizes of its parts. */
void wndl_unwind_table_say(FILE *out, const struct wndl_table *table);

/* Prints all rows, one per line. False when memory is out. */
bool wndl_unwind_table_dump(FILE *out, const struct wndl_table *table);

#endif
