/* SPDX-License-Identifier: MIT */
/* line: the command line of a run under a checker. */
#ifndef WNDL_CLI_CHECK_LINE_H
#define WNDL_CLI_CHECK_LINE_H

#include "cli/check/session.h"

/* A process of a run. */
struct wndl_check_part {
    uint32_t run;     /* from 0 on */
    uint64_t shard;   /* from 0 on */
    bool origins;     /* it is a second try, for the origins of values */
    uint32_t program; /* with --wrap, which of the programs; else 0 */
};

/* How the files of a part begin: "0-0-1.", in the folder of the session. */
void wndl_check_part_name(
    const struct wndl_check_part *part, char *name, size_t size);

/*
 * Valgrind, its options and the command, ending with NULL, in memory of the
 * session's arena; NULL if that is out. With --wrap only the command.
 */
char **wndl_check_line(
    struct wndl_check_session *session, const struct wndl_check_part *part);

/*
 * The same up to the "--" before the command, whose words are the number of
 * `count`; for a program that the command starts.
 */
char **wndl_check_line_start(struct wndl_check_session *session,
    const struct wndl_check_part *part, size_t *count);

/* The path of a file of a part: its name, the program's number, `suffix`. */
void wndl_check_part_path(const struct wndl_check_session *session,
    const struct wndl_check_part *part, const char *suffix, char *path,
    size_t size);

#endif
