/* SPDX-License-Identifier: MIT */
/* held: who holds the blocks of a recording whose heap was scanned. */
#ifndef WNDL_CLI_REPORT_HELD_H
#define WNDL_CLI_REPORT_HELD_H

#include "cli/shared/recording.h"

struct wndl_held_options {
    bool retained;
    const char *who_holds; /* a place; NULL: not given */
    const char *block;     /* an address, in hex; NULL: not given */
    uint64_t site;         /* a number of --retained; 0: not given */
};

/* Whether any of them was given. */
bool wndl_held_given(const struct wndl_held_options *o);

struct wndl_held_show {
    const struct wndl_held_options *options;
    const struct wndl_symbol_options *symbols; /* as the names were found */
    const char *path; /* of the recording, for errors */
    uint64_t process; /* pid; 0: the process with the largest scan */
    uint64_t rows;    /* of each table; 0: as many as usual */
    const char *out;  /* a file; NULL: standard output */
    bool paged;
    bool json; /* instead of text, with all rows */
};

/* Writes what was asked for, and errors to stderr. Returns the exit code. */
int wndl_held_report(
    const struct wndl_cli_recording *loaded, const struct wndl_held_show *show);

/*
 * Writes what grew by holder from the first recording to the second; `names`
 * are their paths. Of `show`, only `process`, `rows`, `out`, `paged` and `json`
 * are read. Returns the exit code.
 */
int wndl_held_diff(const struct wndl_cli_recording loaded[2],
    const char *const names[2], const struct wndl_held_show *show);

/* Rows of a command's table; `field` of its struct `type` is of the struct. */
#define WNDL_HELD_ROWS(type, field)                                            \
    {0, "retained", NULL, NULL, NULL, NULL,                                    \
        "of a heap recorded with --scan: show what would be freed with the "   \
        "blocks of each place, and what each root holds",                      \
        WNDL_OPT_FLAG, offsetof(type, field.retained)},                        \
        {0, "who-holds", "PLACE", NULL, NULL, NULL,                            \
            "of a heap recorded with --scan: show the chains of pointers "     \
            "that "                                                            \
            "keep the blocks alive which a place with PLACE in it allocated",  \
            WNDL_OPT_TEXT, offsetof(type, field.who_holds)},                   \
        {0, "block", "ADDR", NULL, NULL, NULL,                                 \
            "of a heap recorded with --scan: show who points to the block at " \
            "ADDR, and what it points to",                                     \
            WNDL_OPT_TEXT, offsetof(type, field.block)},                       \
    {                                                                          \
        0, "site", "N", NULL, NULL, NULL,                                      \
            "of a heap recorded with --scan: show who points to the blocks "   \
            "of the N-th site of --retained, and what they point to",          \
            WNDL_OPT_COUNT, offsetof(type, field.site)                         \
    }

#endif
