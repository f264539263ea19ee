/* SPDX-License-Identifier: MIT */
/*
 * stack: the stack of a blocked thread of another process: its memory, the
 * walk, and the nodes of the walk. It must not know how a thread is found or
 * when it blocked.
 */
#ifndef WNDL_COLLECT_OFFCPU_STACK_H
#define WNDL_COLLECT_OFFCPU_STACK_H

#include "collect/offcpu/code.h"
#include "collect/offcpu/memory.h"
#include "collect/offcpu/shared.h"
#include "collect/offcpu/spans.h"

struct wndl_offcpu_shared {
    struct wndl_offcpu_totals totals;
    struct wndl_binaries *binaries;
    struct wndl_offcpu_memory memory;
    struct wndl_frame *frames;
    size_t max_frames;
    enum wndl_walk_method method;
    const char *wanted; /* patterns of thread names: rec/filter.h */
    bool is_alone;      /* no engine samples */
    size_t descriptors; /* number that may still be opened */
};

/* A walked stack, and the words of it that determined the walk. */
struct wndl_offcpu_stack {
    uint64_t pc, sp;
    uint64_t changed;      /* the code's `changed` at the walk */
    uint64_t hash;         /* of those words */
    struct wndl_buf words; /* uint32_t each: offset from SP - 128 in bytes */
    struct wndl_offcpu_walked {
        uint32_t node;
        uint32_t ended; /* enum wndl_walk_end */
        bool is_walked;
    } last, before; /* before: as of the look before the last one */
    bool is_new;    /* it was walked for the last look */
    uint32_t made;  /* the code's `made` at the walk */
};

/* Makes an empty one, which is not walked yet; frees its words. */
void wndl_offcpu_stack_init(struct wndl_offcpu_stack *stack);
void wndl_offcpu_stack_free(struct wndl_offcpu_stack *stack);

/* The process whose stacks are read. */
struct wndl_offcpu_subject {
    pid_t pid;
    const _Atomic uint64_t *jit; /* address of its registry; may be NULL */
    struct wndl_offcpu_shared *shared;
    struct wndl_offcpu_code code;
    struct wndl_offcpu_tree tree;
    struct wndl_recording *recording;
};

/*
 * Sets `stack` to the stack at pc and sp; it is walked only if it has changed.
 * False, with errno, if it cannot be read.
 */
bool wndl_offcpu_stack_take(struct wndl_offcpu_subject *subject,
    struct wndl_offcpu_stack *stack, uint64_t pc, uint64_t sp, uint64_t now);

/*
 * Whether a stack that was lost may be found now: there are more rules from
 * code than there were.
 */
bool wndl_offcpu_stack_may_be_found(const struct wndl_offcpu_subject *subject,
    const struct wndl_offcpu_stack *stack);

/*
 * Says whether the thread stood still while its stack was taken. If so, a new
 * walk is counted; if not, it is no stack of the thread, and the one before
 * is the last.
 */
void wndl_offcpu_stack_judge(struct wndl_offcpu_shared *shared,
    struct wndl_offcpu_stack *stack, bool stood_still);

#endif
