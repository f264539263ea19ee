/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator: malloc and its kind on Valgrind's own allocator, for a program
 * that runs with a tool's preload object.
 */
#ifndef COMMON_ALLOCATOR_H
#define COMMON_ALLOCATOR_H

#include "pub_tool_basics.h"

/* A new block. */
struct allocation {
    Addr start;
    SizeT size;
    SizeT element; /* of an array that calloc made; else 0 */
    SizeT filled;  /* bytes from the start that calloc or realloc wrote */
};

struct allocator {
    void (*on_alloc)(ThreadId tid, const struct allocation *block);
    void (*on_free)(Addr start);  /* before it is free */
    SizeT (*size_of)(Addr start); /* 0: no such block */
};

/*
 * Must be called before options are read. Without the preload object nothing
 * calls these functions.
 */
void allocator_replace(const struct allocator *allocator);

#endif
