/* SPDX-License-Identifier: MIT */
/*
 * walks: the stacks of one process, walked from the copies that samples have.
 */
#ifndef WNDL_COLLECT_ATTACH_WALKS_H
#define WNDL_COLLECT_ATTACH_WALKS_H

#include "collect/attach/record.h"
#include "collect/attach/regs.h"
#include "collect/offcpu/code.h"
#include "collect/offcpu/memory.h"
#include "collect/offcpu/spans.h"

enum { WNDL_ATTACH_FRAMES_BY = 8 };

/* Settings and memory that the walks of all processes share. */
struct wndl_attach_shared {
    struct wndl_binaries *binaries; /* borrowed */
    struct wndl_frame *frames;
    size_t max_frames;
    enum wndl_walk_method method;
    struct wndl_offcpu_memory memory; /* code, as of this sample */
    uint64_t *frames_by; /* frames by enum wndl_frame_how; borrowed */
    uint64_t cut;        /* stacks that are longer than their copies */
};

struct wndl_attach_walks {
    pid_t pid;
    struct wndl_attach_shared *shared;
    struct wndl_offcpu_code code;
    struct wndl_offcpu_tree tree;
    struct wndl_recording *recording;
};

/*
 * A stack: the node of its innermost frame, the end of its walk, and its
 * frames, which the next walk overwrites.
 */
struct wndl_attach_walked {
    uint32_t node, end;
    const struct wndl_frame *frames;
    size_t count;
};

/* NULL without memory. */
struct wndl_attach_shared *wndl_attach_shared_new(
    struct wndl_binaries *binaries, size_t max_frames, uint32_t unwind);
void wndl_attach_shared_free(struct wndl_attach_shared *shared);

void wndl_attach_walks_init(struct wndl_attach_walks *walks, pid_t pid,
    struct wndl_attach_shared *shared, struct wndl_recording *recording);
void wndl_attach_walks_free(struct wndl_attach_walks *walks);

/* The kernel reports new code. */
void wndl_attach_walks_map(
    struct wndl_attach_walks *walks, const struct wndl_mapping *mapping);

/*
 * The registers of a sample in code of a machine (EM_*), in `room` if they came
 * from the kernel's ring. NULL: there are none.
 */
const struct wndl_regs *wndl_attach_regs_of(
    const struct wndl_attach_record *sample, uint16_t machine,
    struct wndl_attach_regs *room);

/* The stack of a sample. */
struct wndl_attach_walked wndl_attach_walk(
    struct wndl_attach_walks *walks, const struct wndl_attach_record *sample);

#endif
