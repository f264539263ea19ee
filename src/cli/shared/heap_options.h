/* SPDX-License-Identifier: MIT */
/*
 * heap_options: the options of commands that show heap blocks by their stacks:
 * which blocks, and how.
 */
#ifndef WNDL_CLI_SHARED_HEAP_OPTIONS_H
#define WNDL_CLI_SHARED_HEAP_OPTIONS_H

#include "analyze/heap/records.h"
#include "cli/core/options.h"

/* Which blocks of a recording. */
struct wndl_heap_set_options {
    unsigned blocks;   /* 0: not given; else enum wndl_heap_set + 1 */
    uint64_t snapshot; /* counts from 1; 0: the last */
    uint64_t process;  /* pid; 0: all */
    const char *tag;   /* a pattern; NULL: all, and those without one */
};

struct wndl_heap_options {
    struct wndl_heap_set_options of;
    uint64_t max_frames;
    unsigned sort;         /* enum wndl_heap_sort */
    bool ignore_alloc_fns; /* of DMD files; recordings: unless alloc_fns */
    bool alloc_fns;
    struct wndl_option_list filters;
    bool no_fix_stacks;
};

_Static_assert(WNDL_OPTION_LIST_MAX <= (int)WNDL_HEAP_FILTERS,
    "all filters that can be given can be applied");

/* The default of max_frames in the table below. */
enum { WNDL_HEAP_USUAL_FRAMES = 8 };

/* Whether any of them was given. */
static inline bool wndl_heap_set_given(const struct wndl_heap_set_options *o)
{
    return o->blocks != 0 || o->snapshot != 0 || o->process != 0 ||
           o->tag != NULL;
}

/* Rows of a command's table; `field` of its struct `type` is of the first
 * struct above. */
#define WNDL_HEAP_SET_ROWS(type, field)                                        \
    {0, "blocks", "WHICH", "auto|live|peak|all||usual", "auto", NULL,          \
        "which blocks of a recorded heap: live: at the end; peak: live at "    \
        "the peak; all: ever allocated; auto: all if freed blocks were "       \
        "recorded too, else live",                                             \
        WNDL_OPT_CHOICE, offsetof(type, field.blocks)},                        \
        {0, "snapshot", "N", NULL, NULL, NULL,                                 \
            "of a recorded heap: the N-th snapshot of each process "           \
            "(default: the last)",                                             \
            WNDL_OPT_COUNT, offsetof(type, field.snapshot)},                   \
        {0, "tag", "PATTERN", NULL, NULL, NULL,                                \
            "of a recorded heap: show only blocks whose tag matches PATTERN, " \
            "such as 'webgl*' (windlass/memory_tag.h)",                        \
            WNDL_OPT_TEXT, offsetof(type, field.tag)},                         \
    {                                                                          \
        0, "process", "PID", NULL, NULL, NULL, "show this process only",       \
            WNDL_OPT_COUNT, offsetof(type, field.process)                      \
    }

/* The same of the second one. */
#define WNDL_HEAP_OPTION_ROWS(type, field)                                     \
    WNDL_HEAP_SET_ROWS(type, field.of),                                        \
        {'f', "max-frames", "N", NULL, "8", NULL,                              \
            "heap: show N frames of each stack; stacks with the same N "       \
            "frames are one record",                                           \
            WNDL_OPT_COUNT, offsetof(type, field.max_frames)},                 \
        {'s', "sort-by", "WHAT", "usable|req|slop|num-blocks", "usable", NULL, \
            "heap: sort by usable bytes, requested bytes, slop (bytes that "   \
            "were not requested) or number of blocks",                         \
            WNDL_OPT_CHOICE, offsetof(type, field.sort)},                      \
        {'a', "ignore-alloc-fns", NULL, NULL, NULL, NULL,                      \
            "DMD: leave out allocation functions at the top of stacks, as is " \
            "always done for recordings",                                      \
            WNDL_OPT_FLAG, offsetof(type, field.ignore_alloc_fns)},            \
        {0, "alloc-fns", NULL, NULL, NULL, NULL,                               \
            "heap: keep allocation functions at the top of stacks",            \
            WNDL_OPT_FLAG, offsetof(type, field.alloc_fns)},                   \
        {0, "filter", "TEXT", NULL, NULL, NULL,                                \
            "show only entries with TEXT in a frame, or with '!' "             \
            "before TEXT only those without it; \\! at the start "             \
            "matches a literal '!'; may be repeated",                          \
            WNDL_OPT_LIST, offsetof(type, field.filters)},                     \
    {                                                                          \
        0, "no-fix-stacks", NULL, NULL, NULL, NULL,                            \
            "DMD: show frames as they are in the file", WNDL_OPT_FLAG,         \
            offsetof(type, field.no_fix_stacks)                                \
    }

#endif
