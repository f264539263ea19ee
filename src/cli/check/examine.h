/* SPDX-License-Identifier: MIT */
/* examine: what a program is to Valgrind, by its file, before it runs. */
#ifndef WNDL_CLI_CHECK_EXAMINE_H
#define WNDL_CLI_CHECK_EXAMINE_H

#include "base/vec.h"

#include <limits.h>
#include <stdbool.h>

struct wndl_check_program {
    char path[PATH_MAX];  /* what the kernel runs in the end, resolved */
    bool reads_no_inline; /* Valgrind cannot read its inlined functions */
};

/*
 * Examines the program of a command. False, after an error message, if Valgrind
 * cannot run it. What a user has to know is added to `notes`, of const char *,
 * in memory of its arena.
 */
bool wndl_check_examine(struct wndl_check_program *program, const char *command,
    struct wndl_vec *notes);

/* Adds a note, unless it is there. Without memory it is left out. */
void wndl_check_note(struct wndl_vec *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
