/* SPDX-License-Identifier: MIT */
/*
 * results: the lines that our Valgrind tools write. A line is a word and its
 * fields, separated by one space; the last line is "end".
 */
#ifndef WNDL_IN_CORE_RESULTS_H
#define WNDL_IN_CORE_RESULTS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"
#include "base/vec.h"

/* A line being read. The functions below set `bad` or `out_of_memory`. */
struct wndl_result_line {
    void *into;               /* what the file is read into */
    struct wndl_arena *arena; /* its memory */
    struct wndl_bytes rest;
    bool bad;
    bool out_of_memory;
};

/* A kind of line: it begins with `word`, and `read` takes its fields. */
struct wndl_result_kind {
    const char *word;
    void (*read)(struct wndl_result_line *line);
};

/* How a file is read: lines of other kinds are of a later version. */
struct wndl_result_format {
    const char *first_line;
    const struct wndl_result_kind *kinds;
    size_t kind_count;
};

/*
 * Reads all lines. NOMEM; MALFORMED with the line number; TRUNCATED if the last
 * one is missing.
 */
enum wndl_status wndl_results_read(struct wndl_result_line *line,
    struct wndl_bytes file, const struct wndl_result_format *format,
    struct wndl_error *err) WNDL_MUST_USE;

/* The next field: a decimal number, or a hexadecimal one. */
uint64_t wndl_result_decimal(struct wndl_result_line *line);
uint64_t wndl_result_hex(struct wndl_result_line *line);

/* All that is left, copied. NULL when memory is out. */
const char *wndl_result_rest(struct wndl_result_line *line);

/* Takes the word if it is all that is left. */
bool wndl_result_last(struct wndl_result_line *line, const char *word);

/* A new row. NULL when memory is out. */
void *wndl_result_push(struct wndl_result_line *line, struct wndl_vec *vec);

/* The fields of a line "code", into a vector of struct wndl_vm_code. */
void wndl_result_code(struct wndl_result_line *line, struct wndl_vec *codes);

/*
 * All that is left: at least one address, and perhaps the word "cut". NULL when
 * memory is out.
 */
const uint64_t *wndl_result_ips(
    struct wndl_result_line *line, uint32_t *count, bool *cut);

#endif
