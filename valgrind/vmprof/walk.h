/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk: call paths, as Valgrind finds them. */
#ifndef VMPROF_WALK_H
#define VMPROF_WALK_H

#include "vmprof.h"

enum { MAX_FRAMES = 64 };

/*
 * A call path, innermost first; callers are given by the last byte of their
 * call. It is `cut` when there are more than MAX_FRAMES.
 */
struct walk {
    Addr ips[MAX_FRAMES + 1];
    UInt count; /* at least 1 */
    Bool cut;
};

/* The stack of the running thread. */
void walk_stack(struct walk *walk, const struct at *at);

#endif
