/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * batch: accesses in a row that the program's code compares with the tags of
 * pages.h at once. Where one differs, all are simulated, in their order.
 */
#ifndef VMPROF_BATCH_H
#define VMPROF_BATCH_H

#include "vmprof.h"

/* Accesses of a batch, and those of them that access data, at most. */
enum { BATCH_EVENTS = 6, BATCH_DATA = 3 };

struct batch_event {
    Addr ip;
    Addr code;    /* a fetch: its first byte; else the instruction's last */
    Addr next_ip; /* of the instruction after an access to data, if its fetch
                   * is not checked; else 0 */
    UShort size;
    UChar kind; /* enum access_kind */
    Bool is_write;
    Bool has_more; /* the instruction accesses data again */
};

struct batch {
    struct batch *next; /* of the same block */
    struct at at;
    UInt count;
    struct batch_event events[];
};

/* A copy of these events, for a block that owns it. */
struct batch *batch_add(struct batch **list, const struct at *at,
    const struct batch_event *events, UInt count);
void batch_free_all(struct batch *list);

/* What the program's code calls, with `data` addresses after the batch. */
void *batch_helper(UInt data, const HChar **name);

#endif
