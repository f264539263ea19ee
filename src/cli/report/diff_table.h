/* SPDX-License-Identifier: MIT */
/* diff_table: recordings side by side, row by row: a difference of two groups
 * of them, or a series of more. */
#ifndef WNDL_CLI_REPORT_DIFF_TABLE_H
#define WNDL_CLI_REPORT_DIFF_TABLE_H

#include "analyze/time/diff.h"
#include "cli/shared/heap_options.h"
#include "cli/shared/recording.h"

enum wndl_diff_compare {
    WNDL_DIFF_COMPARE_AUTO,
    WNDL_DIFF_COMPARE_SHARE,
    WNDL_DIFF_COMPARE_AMOUNT,
};

struct wndl_diff_options {
    unsigned by;      /* 0: not given; else enum wndl_diff_key_kind + 1 */
    unsigned time;    /* 0: not given; else enum wndl_time + 1 */
    unsigned compare; /* enum wndl_diff_compare */
    double threshold; /* percent; 0: not given */
    const char *plot; /* NULL: none */
    uint64_t rows;    /* 0: not given */
    bool full_names;
    bool json;
    bool no_pager;
    bool of_heap;
    bool retained;           /* what grew by holder */
    uint64_t later_snapshot; /* counts from 1; 0: as the earlier side */
    struct wndl_heap_options heap;
    struct wndl_symbol_options symbols;
};

struct wndl_diff_table {
    const struct wndl_diff_options *o;
    struct wndl_diff d;
    bool of_heap;           /* as the first recording is */
    enum wndl_heap_set set; /* of it, that of the first */
};

/* Borrows the options. Ends with wndl_diff_table_free in any case. False, with
 * an error on stderr, when memory is out. */
bool wndl_diff_table_init(
    struct wndl_diff_table *table, const struct wndl_diff_options *o);
void wndl_diff_table_free(struct wndl_diff_table *table);

/* Adds a recording to its group. Reports errors and returns the exit code. */
int wndl_diff_table_add(struct wndl_diff_table *table,
    const struct wndl_cli_recording *loaded, const char *file, uint32_t group);

/* Writes the table. Returns WNDL_EXIT_FAILURE also if something grew by more
 * than the threshold. */
int wndl_diff_table_show(struct wndl_diff_table *table);

#endif
