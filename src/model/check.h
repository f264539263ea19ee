/* SPDX-License-Identifier: MIT */
/*
 * check: errors that a checker (Memcheck, Helgrind, DRD) reported, of all
 * processes of all runs, as plain data; and the list that is made of them.
 */
#ifndef WNDL_MODEL_CHECK_H
#define WNDL_MODEL_CHECK_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Texts are numbers of `texts`; 0 means not known. */
struct wndl_check_frame {
    uint32_t function;
    uint32_t module; /* a path */
    uint32_t folder;
    uint32_t file;
    uint64_t line; /* 0: not known */
};

/* Frames from the innermost on; none if there is only the note. */
struct wndl_check_stack {
    uint32_t note; /* what the checker says before it: "Address ... is" */
    uint32_t first, count;
};

/* An error as the checker reported it. */
struct wndl_check_error {
    uint32_t kind;          /* "InvalidRead" */
    uint32_t what;          /* a sentence */
    uint32_t first, stacks; /* the first stack is where it happened */
    uint32_t process;
    uint32_t run;    /* from 0 on */
    uint64_t unique; /* its number in the process */
    uint64_t times;
    uint64_t bytes, blocks; /* of a leak */
    bool is_repeat;         /* of a run that was made again, for more detail */
};

struct wndl_check_process {
    uint64_t pid, parent;
    uint32_t command;
    uint32_t signal; /* the name of what ended it, or 0 */
    bool is_finished;
    bool is_left_out; /* not counted: of a run that was made again for more
                       * detail, or of no program that was asked for */
};

struct wndl_check_suppression {
    uint32_t name;
    uint64_t times;
};

struct wndl_check {
    struct wndl_arena arena;
    struct wndl_intern texts;
    struct wndl_vec frames;       /* struct wndl_check_frame */
    struct wndl_vec stacks;       /* struct wndl_check_stack */
    struct wndl_vec errors;       /* struct wndl_check_error */
    struct wndl_vec processes;    /* struct wndl_check_process */
    struct wndl_vec suppressions; /* struct wndl_check_suppression */
    uint64_t damaged;             /* errors that could not be read */
};

/* False if memory is out; wndl_check_free() also then. */
bool wndl_check_init(struct wndl_check *check, struct wndl_mem *mem);
void wndl_check_free(struct wndl_check *check);

/* ---- the list */

/* The parts of the list, in their order. */
enum wndl_finding_group {
    WNDL_FINDING_MEMORY,  /* errors of memory, and races */
    WNDL_FINDING_ORDER,   /* the order of locks */
    WNDL_FINDING_LEAK,    /* memory that was lost */
    WNDL_FINDING_FOREIGN, /* in modules that are not the program's own */
    WNDL_FINDING_GROUPS,
};

/* A distinct error. */
struct wndl_finding {
    uint64_t key;   /* of its kind, its functions and its rank among those
                     * with the same ones; not of its lines */
    uint32_t error; /* the index of the one that stands for it */
    uint32_t place; /* the index of the frame where it happened + 1; 0: none */
    uint32_t runs;  /* that saw it */
    uint32_t last_run; /* that saw it */
    enum wndl_finding_group group;
    bool is_new; /* not in the baseline */
    uint64_t times;
    uint64_t bytes, blocks;
    const char *remark; /* what the stacks tell, or NULL; static */
    /* of a block that was freed by another function than those of its
     * allocator: indices of frames + 1, or 0 */
    uint32_t allocated_by, freed_by;
};

/* An error of a baseline. */
struct wndl_known_finding {
    uint64_t key;
    struct wndl_bytes kind;
    struct wndl_bytes place; /* "function (file) in module" */
    bool is_seen;            /* by this run */
};

/* How many errors of a kind there were, distinct and in all. */
struct wndl_kind_count {
    uint32_t kind;
    uint64_t distinct, times;
};

struct wndl_finding_list {
    const struct wndl_check *check;
    struct wndl_vec findings; /* struct wndl_finding, the worst first */
    struct wndl_vec kinds;    /* struct wndl_kind_count */
    struct wndl_vec known;    /* struct wndl_known_finding, of the baseline */
    uint32_t runs;
    bool has_baseline;
    const char *tool;         /* "memcheck" */
    const char *command;      /* of the user */
    const char *const *notes; /* what else is to be said; ends with NULL */
};

/* The number of processes that are not left out. */
uint64_t wndl_check_process_count(const struct wndl_check *check);

/* The number of findings that the baseline lacks; without one, all of them. */
uint64_t wndl_finding_new_count(const struct wndl_finding_list *list);

/* The number of those of the baseline that are gone. */
uint64_t wndl_finding_gone_count(const struct wndl_finding_list *list);

/*
 * Appends where a frame is: "function (file:line)" or, without a line,
 * "function (in module)"; only the file's name without `has_line`, so that it
 * stays the same when lines move.
 */
void wndl_check_put_place(struct wndl_buf *out, const struct wndl_check *check,
    const struct wndl_check_frame *frame, bool has_line);

/* Whether a module belongs to Valgrind, such as its malloc. */
bool wndl_check_is_checker(const char *path);

/* Whether a frame is Valgrind's own, without a name, and so of no interest. */
bool wndl_check_is_hidden(
    const struct wndl_check *check, const struct wndl_check_frame *frame);

/* The name of a path's file; of no path an empty one. */
const char *wndl_check_base_name(const char *path);

#endif
