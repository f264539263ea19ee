/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * results: the file that a tool writes. It is written under another name and
 * then renamed, so that a reader sees the results of before or all of the new
 * ones.
 */
#ifndef COMMON_RESULTS_H
#define COMMON_RESULTS_H

#include "pub_tool_basics.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"

struct results {
    const HChar *tool;              /* for messages */
    const HChar *option;            /* that sets `name` */
    const HChar *name;              /* of the file, with %p and %q */
    void (*write)(Bool is_running); /* writes all by results_put...() */
};

/*
 * To be called by `write`: adds text to the file; a space and a number; what
 * Valgrind's printf makes of the arguments, its first 511 characters.
 */
void results_put(const HChar *text);
void results_put_number(ULong n);
void results_put_hex(ULong n);
void results_printf(const HChar *format, ...) PRINTF_CHECK(1, 2);

/* Writes all that was counted so far; says on the log why it cannot. */
void results_write(const struct results *results, Bool is_running);

/* The same now and then, for a program that is killed. */
void results_write_if_due(const struct results *results);

/* A line of the file ends at its first newline: text without one. */
void results_put_in_line(const HChar *text);

/* The line `command`. */
void results_put_command(void);

/* Remembers that code of a file may be at [start, start + size). */
void results_note_code(Addr start, SizeT size);

/* The lines `code`. */
void results_put_code(void);

#endif
