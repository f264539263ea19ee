/* SPDX-License-Identifier: MIT */
/* unwind_table_chrome: the actions of 'windlass unwind-table' on tables in
 * Chromium's format. Each reports its errors and returns the exit code. */
#ifndef WNDL_CLI_UNWIND_TABLE_CHROME_H
#define WNDL_CLI_UNWIND_TABLE_CHROME_H

#include <stdbool.h>

int wndl_chrome_v2_cmd_build(const char *binary, const char *out, bool design);

/* Looks up `offset` from the start of .text, in hexadecimal; NULL: prints a
 * summary of the file. */
int wndl_chrome_v2_cmd_show(const char *path, const char *offset);

int wndl_chrome_v2_cmd_verify(const char *binary, const char *path);

/* Prints the instructions of the function at `address`, in hexadecimal. */
int wndl_chrome_v2_cmd_encode(const char *binary, const char *address);

/* Bytes in hexadecimal; "r4=1,sp=7f00": in hexadecimal too, others are 0; the
 * bytes of the stack from sp on. */
int wndl_chrome_v2_cmd_run(
    const char *instructions, const char *registers, const char *stack);

#endif
