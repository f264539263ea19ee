/* SPDX-License-Identifier: MIT */
/*
 * heap_records: heap blocks by the stacks that allocated them, as plain data,
 * whichever file they come from. First the contents of a file: blocks of one
 * size and one stack at a time. Then the records that a report shows; each sums
 * the blocks whose stacks are equal as far as they are shown.
 *
 * Numbers of blocks and bytes have a sign: in a difference, those of the
 * earlier file count negative.
 */
#ifndef WNDL_MODEL_HEAP_RECORDS_H
#define WNDL_MODEL_HEAP_RECORDS_H

#include "base/intern.h"

enum wndl_heap_mode {
    WNDL_HEAP_MODE_LIVE, /* blocks that were live when the file was written */
    WNDL_HEAP_MODE_CUMULATIVE, /* all blocks that were ever allocated */
    WNDL_HEAP_MODE_DARK_MATTER,
    WNDL_HEAP_MODE_SCAN,
};

/* The kinds of stacks that a block has; "reported" only in dark matter mode. */
enum wndl_heap_stack_kind {
    WNDL_HEAP_ALLOCATED,
    WNDL_HEAP_REPORTED,
    WNDL_HEAP_REPORTED_AGAIN,
    WNDL_HEAP_STACKS,
};

/*
 * A frame and its caller. A stack is the number of its innermost frame. Frame 0
 * is above the outermost ones and has no text; as a stack it means that there
 * is none.
 */
struct wndl_heap_frame {
    uint32_t caller; /* smaller than its own number */
    uint32_t text;   /* id of strings: "function (file:line)" */
};

/* Blocks of one size that one stack allocated. */
struct wndl_heap_blocks {
    uint32_t stacks[WNDL_HEAP_STACKS];
    uint64_t requested, slop; /* bytes of one block */
    int64_t count;            /* blocks in the file */
    double weight; /* blocks that each of them stands for: 1, or more */
    int64_t freed, temporary; /* of those in the file; cumulative mode only */
    uint64_t lifetime;        /* ns, summed over freed ones */
};

/* Distinct frames and strings; blocks in the order in which they were added. */
struct wndl_heap_list {
    struct wndl_arena arena;
    struct wndl_intern strings;
    struct wndl_vec frames; /* struct wndl_heap_frame; [0] is none */
    struct wndl_vec blocks; /* struct wndl_heap_blocks */
    struct wndl_map frame_index;
    enum wndl_heap_mode mode;
};

/*
 * Makes an empty list, which must not move and ends with wndl_heap_list_free.
 * One thread at a time. False when memory is out.
 */
bool wndl_heap_list_init(struct wndl_heap_list *list, struct wndl_mem *mem);
void wndl_heap_list_free(struct wndl_heap_list *list);

/*
 * The frame `text` called by `caller`, a frame of the list; added if new, with
 * a copy of the text. False when memory is out.
 */
bool wndl_heap_list_frame(struct wndl_heap_list *list, uint32_t caller,
    struct wndl_bytes text, uint32_t *frame);

/* The same for a text that already has an id in the list's strings. */
bool wndl_heap_list_frame_of(
    struct wndl_heap_list *list, uint32_t caller, uint32_t id, uint32_t *frame);

/* Appends a copy of `blocks`. False when memory is out. */
bool wndl_heap_list_add(
    struct wndl_heap_list *list, const struct wndl_heap_blocks *blocks);

/* ---- records of a report */

/* The innermost `count` frames from `leaf` on; 0: there is no stack. */
struct wndl_heap_stack {
    uint32_t leaf;
    uint32_t count;
};

/*
 * Figures, rounded to integers. An error is the standard error of an estimate
 * from a sample, in blocks and usable bytes; 0 where every block was counted.
 */
struct wndl_heap_figures {
    int64_t blocks;
    int64_t requested, slop; /* bytes; usable = requested + slop */
    double blocks_error, bytes_error;
    int64_t freed, temporary; /* blocks; cumulative mode only */
    uint64_t mean_lifetime;   /* ns, of freed blocks */
};

/* Blocks of `usable` bytes in a record; `blocks` is never 0. */
struct wndl_heap_size {
    uint64_t usable;
    int64_t blocks;
    bool sampled; /* `blocks` is an estimate */
};

struct wndl_heap_record {
    struct wndl_heap_stack stacks[WNDL_HEAP_STACKS];
    struct wndl_heap_figures figures;
    uint32_t first_size; /* into sizes, the largest first */
    uint32_t size_count;
};

/* Records in the requested order, with frames of `list`. */
struct wndl_heap_records {
    const struct wndl_heap_list *list;
    struct wndl_arena arena;
    struct wndl_vec records;        /* struct wndl_heap_record */
    struct wndl_vec sizes;          /* struct wndl_heap_size */
    struct wndl_heap_figures total; /* of the whole list */
    struct wndl_heap_figures shown; /* of the records: what the filters left */
};

/* The sum, clamped to the range of int64_t: a file may hold any numbers. */
static inline int64_t wndl_add_saturating(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum
           : a < 0                             ? -INT64_MAX
                                               : INT64_MAX;
}

/* Usable bytes: requested + slop, clamped. */
static inline int64_t wndl_heap_usable(const struct wndl_heap_figures *f)
{
    return wndl_add_saturating(f->requested, f->slop);
}

/* The frame of that number, which must exist. */
static inline const struct wndl_heap_frame *wndl_heap_frame_at(
    const struct wndl_heap_list *list, uint32_t frame)
{
    return (const struct wndl_heap_frame *)wndl_vec_at(&list->frames, frame);
}

#endif
