/* SPDX-License-Identifier: MIT */
/*
 * annotated: functions with the cost of each of their lines and instructions,
 * as plain data. analyze fills it in; out writes it.
 */
#ifndef WNDL_MODEL_ANNOTATED_H
#define WNDL_MODEL_ANNOTATED_H

#include "model/costs.h"
#include "model/symbolized.h"

/*
 * A line of the function. Self is the cost of its code, also of other
 * functions that were inlined there; total adds the cost of all that was called
 * there, and counts each sample once.
 */
struct wndl_annotated_line {
    uint32_t file; /* id, 0: not known */
    uint32_t line; /* 0: not known */
    struct wndl_cost self, total;
};

/* The code of another function that was inlined at a line of the function. */
struct wndl_annotated_inlined {
    uint32_t file, line; /* of the function */
    uint32_t location;   /* in symbolized: the innermost code */
    struct wndl_cost self;
};

/* A call of the function, or a place where it was inlined. */
struct wndl_annotated_caller {
    uint32_t location; /* in symbolized; WNDL_NO_INDEX: stacks begin there */
    struct wndl_cost total;
};

/* An instruction. Self and total are as those of a line. */
struct wndl_annotated_code {
    uint64_t rva;
    uint32_t size;               /* bytes */
    const char *text;            /* never NULL */
    uint32_t function;           /* id of a name: the innermost function */
    uint32_t file, line;         /* in that one; 0: not known */
    uint32_t own_file, own_line; /* in the annotated function */
    bool inlined;                /* the innermost function is another one */
    struct wndl_cost self, total;
};

/*
 * A source file that is mentioned. `starts` are the offsets of its lines.
 * [first, last] are the lines of the function in it; 0: none is known.
 */
struct wndl_annotated_file {
    uint32_t file; /* id */
    uint32_t first, last;
    bool is_own;         /* lines of the function are in it */
    bool is_newer;       /* it was changed after the recording */
    const char *path;    /* the path that was opened */
    const char *problem; /* why there is no text; or NULL */
    struct wndl_bytes text;
    const uint32_t *starts;
    uint32_t line_count;
};

struct wndl_annotated {
    uint32_t function;        /* in symbolized */
    struct wndl_cost self;    /* with the code that was inlined into it */
    struct wndl_cost total;   /* each sample once */
    struct wndl_vec lines;    /* struct wndl_annotated_line, see below */
    struct wndl_vec inlined;  /* struct wndl_annotated_inlined, alike */
    struct wndl_vec callers;  /* struct wndl_annotated_caller, by total */
    struct wndl_vec code;     /* struct wndl_annotated_code, by rva */
    struct wndl_vec files;    /* struct wndl_annotated_file */
    const char *code_problem; /* why there is no code; or NULL */
    uint64_t image_base;      /* of `code`: what was linked = this + rva */
};

/*
 * All functions of a name that have a cost, most total first. Lines are in the
 * order of files, the file of the function's start first, then by number.
 */
struct wndl_annotation {
    struct wndl_symbolized *symbolized;
    struct wndl_arena arena;
    bool of_heap;              /* costs are blocks and their usable bytes */
    enum wndl_time time;       /* if it is not of a heap */
    struct wndl_cost all;      /* of the recording, as far as it was selected */
    struct wndl_vec functions; /* struct wndl_annotated */
};

/* The file of this id, or NULL. Valid as long as `a`. */
const struct wndl_annotated_file *wndl_annotated_file(
    const struct wndl_annotated *a, uint32_t file);

/* The text of a line, from 1 on, without its end; empty if it is not known. */
struct wndl_bytes wndl_annotated_source(
    const struct wndl_annotated_file *file, uint32_t line);

#endif
