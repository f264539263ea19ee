/* SPDX-License-Identifier: MIT */
/*
 * record: a record of a perf ring (perf_event_open(2), "MMAP layout"), as the
 * events of event.h make them.
 */
#ifndef WNDL_COLLECT_ATTACH_RECORD_H
#define WNDL_COLLECT_ATTACH_RECORD_H

#include "os/maps.h"

enum wndl_attach_kind {
    WNDL_ATTACH_OTHER,
    WNDL_ATTACH_SAMPLE,
    WNDL_ATTACH_MAP,  /* code was mapped */
    WNDL_ATTACH_NAME, /* the thread has another name */
    WNDL_ATTACH_EXEC, /* the process runs another program */
    WNDL_ATTACH_FORK, /* a process or thread begins */
    WNDL_ATTACH_EXIT, /* a thread ends */
    WNDL_ATTACH_LOST, /* records were lost: the ring was full */
};

struct wndl_attach_record {
    enum wndl_attach_kind kind;
    uint32_t pid, tid;
    uint64_t time; /* CLOCK_MONOTONIC ns; 0: not known */
    uint64_t id; /* of the event that made it, or that it was inherited from */
    uint64_t count;          /* LOST */
    uint32_t parent;         /* FORK: the process */
    struct wndl_mapping map; /* MAP; its path is borrowed */
    char name[16];           /* NAME, EXEC */
    struct wndl_bytes regs;  /* SAMPLE: regs.h; empty: a thread of the kernel */
    const struct wndl_regs *start; /* the same, if not by the kernel; or NULL */
    uint64_t cpu;            /* SAMPLE: ns that it stands for; 0: an interval */
    struct wndl_bytes stack; /* SAMPLE: the copy, from SP upwards */
    /* SAMPLE of the kernel: u64 addresses, innermost first, and marks */
    struct wndl_bytes chain;
};

/*
 * Reads one record with its header. Its bytes are borrowed. False if it is
 * damaged. `of_kernel`: samples are those of `event.is_of_kernel`.
 */
bool wndl_attach_record_read(
    struct wndl_attach_record *record, struct wndl_bytes bytes, bool of_kernel);

#endif
