/* SPDX-License-Identifier: MIT */
/*
 * memory_reports: what programs report about their memory
 * (windlass/memory.h), as plain data. Its numbers for kinds and units are those
 * of Firefox's memory reports.
 */
#ifndef WNDL_MODEL_MEMORY_REPORTS_H
#define WNDL_MODEL_MEMORY_REPORTS_H

#include "base/bytes.h"
#include "base/intern.h"
#include "base/vec.h"

enum wndl_reported_kind {
    WNDL_REPORTED_NONHEAP,
    WNDL_REPORTED_HEAP,
    WNDL_REPORTED_OTHER,
    WNDL_REPORTED_KINDS,
};

enum wndl_reported_unit {
    WNDL_REPORTED_BYTES,
    WNDL_REPORTED_COUNT,
    WNDL_REPORTED_CUMULATIVE,
    WNDL_REPORTED_PERCENTAGE, /* hundredths of a percent */
    WNDL_REPORTED_UNITS,
};

/* In which of two files a report of a difference is. */
enum wndl_reported_presence {
    WNDL_REPORTED_IN_BOTH,
    WNDL_REPORTED_EARLIER_ONLY,
    WNDL_REPORTED_LATER_ONLY,
};

/* A report. Its texts are in `texts`. */
struct wndl_reported {
    uint32_t process;       /* number of its name in `processes` */
    uint32_t private_parts; /* of the path, a bit each */
    enum wndl_reported_kind kind;
    enum wndl_reported_unit unit;
    enum wndl_reported_presence presence;
    bool is_estimated;
    int64_t amount;
    struct wndl_bytes path, description;
};

/* A reporter without an answer. */
struct wndl_unreported {
    struct wndl_bytes reporter, why;
};

/* Reports of any number of processes, in their order. Must not move. */
struct wndl_memory_reports {
    struct wndl_arena arena;
    struct wndl_intern texts;
    struct wndl_intern processes; /* names; 0 is a process without one */
    struct wndl_vec rows;         /* struct wndl_reported */
    struct wndl_vec missing;      /* struct wndl_unreported */
    struct wndl_bytes running;    /* the reporter that began last, or empty */
    uint64_t time;      /* when it was asked: ms since 1970; 0: not known */
    bool is_difference; /* amounts may well be negative */
};

/*
 * False if memory is out. Ends with wndl_memory_reports_free, even after that.
 */
bool wndl_memory_reports_init(
    struct wndl_memory_reports *reports, struct wndl_mem *mem);
void wndl_memory_reports_free(struct wndl_memory_reports *reports);

/* Copies a text. False if memory is out. */
bool wndl_memory_reports_keep(
    struct wndl_memory_reports *reports, struct wndl_bytes *text);

/* Adds a row, whose texts are copied. False if memory is out. */
bool wndl_memory_reports_add(
    struct wndl_memory_reports *reports, const struct wndl_reported *row);

/*
 * Replaces what is marked as private: parts of paths by "<private N>", the same
 * text by the same number, and the description by nothing. False if memory is
 * out.
 */
bool wndl_memory_reports_anonymize(struct wndl_memory_reports *reports);

/*
 * Adds to `difference`, which is empty, the rows of `later` minus those of
 * `earlier`. Processes are matched by their names without " (pid N)", and rows
 * by process, path, kind and unit; equal ones are left out. False if memory is
 * out.
 */
bool wndl_memory_reports_subtract(struct wndl_memory_reports *difference,
    const struct wndl_memory_reports *later,
    const struct wndl_memory_reports *earlier);

/* The sum, or what is nearest to it. */
int64_t wndl_reported_sum(int64_t a, int64_t b);

#endif
