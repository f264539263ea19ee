/* SPDX-License-Identifier: MIT */
/*
 * stack: the stack of a blocked thread of another process: its memory,
 * the walk, and the nodes that come of it. It must not know how a thread is
 * found or when it blocked.
 */
#ifndef WNDL_COLLECT_OFFCPU_STACK_H
#define WNDL_COLLECT_OFFCPU_STACK_H

#include "collect/offcpu/code.h"
#include "collect/offcpu/shared.h"
#include "collect/offcpu/spans.h"
#include "os/process_memory.h"

enum { WNDL_OFFCPU_PAGES = 64 };

/*
 * Pages of the process that is looked at. Invariant: a slot holds its page as
 * it was in this look when its `look` is the memory's.
 */
struct wndl_offcpu_memory {
    struct {
        uint64_t look, address;
        bool is_readable;
    } slots[WNDL_OFFCPU_PAGES];
    uint8_t pages[WNDL_OFFCPU_PAGES][WNDL_PROCESS_PAGE];
    uint64_t look;
};

struct wndl_offcpu_shared {
    struct wndl_offcpu_totals totals;
    struct wndl_binaries binaries;
    struct wndl_offcpu_memory memory;
    struct wndl_frame *frames;
    size_t max_frames;
    enum wndl_walk_method method;
    const char *wanted; /* patterns of thread names: rec/filter.h */
    bool is_alone;      /* nobody samples */
    size_t descriptors; /* that may still be opened */
};

/* A walked stack, and which words of it decided where the walk went. */
struct wndl_offcpu_stack {
    uint64_t pc, sp;
    uint64_t changed;      /* of the code, then */
    uint64_t hash;         /* of the words */
    struct wndl_buf words; /* uint32_t each: bytes above SP - 128 */
    uint32_t node;
    uint32_t ended; /* enum wndl_walk_end */
    bool is_walked;
};

void wndl_offcpu_stack_init(struct wndl_offcpu_stack *stack);
void wndl_offcpu_stack_free(struct wndl_offcpu_stack *stack);

/* Whose stack it is. */
struct wndl_offcpu_subject {
    pid_t pid;
    const _Atomic uint64_t *jit; /* where its registry is, or NULL */
    struct wndl_offcpu_shared *shared;
    struct wndl_offcpu_code code;
    struct wndl_offcpu_tree tree;
    struct wndl_recording *recording;
};

/*
 * The stack at pc and sp, walked unless it is the one that `stack` has. False
 * if it cannot be read; errno tells why.
 */
bool wndl_offcpu_stack_take(struct wndl_offcpu_subject *subject,
    struct wndl_offcpu_stack *stack, uint64_t pc, uint64_t sp, uint64_t now);

#endif
