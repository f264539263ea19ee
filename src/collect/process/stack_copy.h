/* SPDX-License-Identifier: MIT */
/*
 * stack_copy: copies of stacks that wait for rules. Most of a thread's stack is
 * the same from one sample to the next: copies share what does not differ, in
 * blocks of 256 bytes.
 *
 *     a copy's bytes = its own blocks + those at the same addresses in `base`
 *
 * One thread.
 */
#ifndef WNDL_COLLECT_PROCESS_STACK_COPY_H
#define WNDL_COLLECT_PROCESS_STACK_COPY_H

#include "base/bytes.h"
#include "rec/shm.h"

enum {
    WNDL_STACK_BLOCK = 256, /* bytes */
    WNDL_STACK_BLOCKS =
        (WNDL_SHM_COPY_BYTES + WNDL_STACK_BLOCK - 1) / WNDL_STACK_BLOCK,
    WNDL_STACK_BASES = 8,
};

/* A stack that others are compared with. */
struct wndl_stack_base;

struct wndl_stack_copy {
    uint64_t gregs[WNDL_SHM_COPY_REGS]; /* as in struct wndl_regs */
    uint64_t start;                     /* the address of the first byte */
    uint32_t size, own;                 /* in bytes; own <= size */
    struct wndl_stack_base *base;       /* NULL: own == size */
    uint64_t differs[(WNDL_STACK_BLOCKS + 63) / 64]; /* bits: own blocks */
    uint8_t bytes[]; /* own blocks, one after another */
};

/* Stacks of a process that copies share. All zero at first, but for `bytes`. */
struct wndl_stack_copies {
    struct wndl_stack_base *bases[WNDL_STACK_BASES];
    uint64_t *bytes; /* the memory of all copies; several may count there */
};

/*
 * Copies `stack`, at most WNDL_SHM_COPY_BYTES, of which `below` bytes are below
 * the stack pointer in `gregs`. `thread` is any number: only copies with the
 * same one share. NULL if memory is out. The caller owns the copy, until it
 * passes it to wndl_stack_copy_free().
 */
struct wndl_stack_copy *wndl_stack_copy_new(struct wndl_stack_copies *copies,
    uint32_t thread, const uint64_t *gregs, uint32_t below,
    struct wndl_bytes stack);

/* Frees it. NULL is ignored. */
void wndl_stack_copy_free(
    struct wndl_stack_copies *copies, struct wndl_stack_copy *copy);

/* Lets later copies share nothing with those that there are. */
void wndl_stack_copies_close(struct wndl_stack_copies *copies);

/* Reads `size` bytes; false if the copy does not have all of them. */
bool wndl_stack_copy_read(const struct wndl_stack_copy *copy, uint64_t address,
    void *to, size_t size);

#endif
