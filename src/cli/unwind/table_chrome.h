/* SPDX-License-Identifier: MIT */
/* unwind_table_chrome: what 'windlass unwind-table' does with tables in
 * Chromium's format. Each gives an exit code, and has said what is wrong. */
#ifndef WNDL_CLI_UNWIND_TABLE_CHROME_H
#define WNDL_CLI_UNWIND_TABLE_CHROME_H

#include <stdbool.h>

int wndl_chrome_v2_cmd_build(const char *binary, const char *out, bool design);

/* `offset` from the start of .text, in hexadecimal, is looked up; NULL: what is
 * in the file. */
int wndl_chrome_v2_cmd_show(const char *path, const char *offset);

int wndl_chrome_v2_cmd_verify(const char *binary, const char *path);

/* The instructions of the function at `address`, in hexadecimal. */
int wndl_chrome_v2_cmd_encode(const char *binary, const char *address);

/* Bytes in hexadecimal; "r4=1,sp=7f00": in hexadecimal too, others are 0; the
 * bytes of the stack from sp on. */
int wndl_chrome_v2_cmd_run(
    const char *instructions, const char *registers, const char *stack);

#endif
