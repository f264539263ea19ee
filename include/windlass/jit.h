/* SPDX-License-Identifier: MIT */
/*
 * windlass/jit.h: rules by which callers are found from generated code.
 *
 * They serve the walks of a program's own stacks (windlass/unwind.h). A
 * registry maps ranges of mapped code to rules, which are either an array of
 * struct wndl_jit_rule or call frame information in the form of .eh_frame. The
 * caller provides the memory of the registry; nothing else is allocated.
 *
 * Any thread may add and remove code, and may wait for another that does. A
 * walk that is given the registry (wndl_walk.jit) reads it without a lock, even
 * in a signal handler that interrupts a change. Rules are borrowed until they
 * are removed: once wndl_jit_remove returns, no walk uses them any more.
 *
 * No function here may be called in a signal handler. Walks may.
 *
 * Addresses are those of the process (avma). No pointer parameter may be NULL.
 */
#ifndef WINDLASS_JIT_H
#define WINDLASS_JIT_H

#include <stddef.h>
#include <stdint.h>
#include <windlass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum wndl_jit_flag {
    WNDL_JIT_BY_FP = 1,     /* the CFA counts from RBP, not from RSP */
    WNDL_JIT_OUTERMOST = 2, /* a root: this code has no caller */
};

/*
 * How the caller is found from code at `offset` and after, up to the next
 * rule's offset. The CFA is the value of RSP after the return; the return
 * address is the word below it. On i386 the registers are EBP, EBX and ESP. All
 * numbers are bytes.
 *
 *   push %rbp          offset 0: cfa 8
 *   mov %rsp, %rbp     offset 1: cfa 16, fp -16
 *   ...                offset 4: cfa 16, fp -16, flags BY_FP
 *   ret                at its offset: cfa 8
 */
struct wndl_jit_rule {
    uint32_t offset; /* from the start of the code */
    uint32_t flags;  /* enum wndl_jit_flag, or-ed */
    uint32_t cfa;    /* CFA = register + cfa; at least one word */
    int32_t fp, bx;  /* saved RBP, RBX are at CFA + this; 0: not saved */
};

/*
 * Code at [start, start + size), `size` > 0. The first rule has offset 0; the
 * offsets of those after it rise and are below `size`.
 */
struct wndl_jit_code {
    uint64_t start, size; /* avma */
    const struct wndl_jit_rule *rules;
    size_t rule_count; /* > 0 */
};

/* The registry. Its contents are private; wndl_jit_init makes one. */
struct wndl_jit;

/*
 * The size in bytes of a registry for `max` pieces of code. A rule array and an
 * FDE count as one piece each. Any thread.
 */
WNDL_API size_t wndl_jit_size(size_t max);

/*
 * Makes an empty registry in memory of the caller.
 *
 * `memory` has wndl_jit_size(max) bytes, aligned to 16. It must outlive all
 * walks that are given the registry. There is no function to end a registry:
 * free the memory.
 *
 * `max` is the largest number of pieces of code.
 *
 * The result is `memory`. Never fails.
 */
WNDL_API struct wndl_jit *wndl_jit_init(void *memory, size_t max);

/*
 * Adds pieces of code, all or none.
 *
 * `codes` is an array of `count` pieces, in any order. The array is read during
 * the call only; the rules that it points to are borrowed until they are
 * removed.
 *
 * The time grows with the number of pieces that are registered at higher
 * addresses. It is best to add many at once, or by rising addresses.
 *
 * LIMIT if there is no room. MALFORMED if rules break what struct wndl_jit_code
 * and struct wndl_jit_rule demand, or if part of the code is registered
 * already.
 */
WNDL_API enum wndl_status wndl_jit_add(struct wndl_jit *jit,
    const struct wndl_jit_code *codes, size_t count) WNDL_MUST_USE;

/*
 * Adds the code of .eh_frame records, all or none. They are what
 * __register_frame() gets. Each FDE counts as one piece of code.
 *
 * `eh_frame` points to records that are mapped where they were written for.
 * They are borrowed until their code is removed.
 *
 * `size` is their length in bytes. Records end there or at a length field of 0;
 * SIZE_MAX means that the latter comes first.
 *
 * Errors are those of wndl_jit_add. UNSUPPORTED if a record is of a kind that
 * is not read, TRUNCATED if one is longer than `size`.
 */
WNDL_API enum wndl_status wndl_jit_add_frames(
    struct wndl_jit *jit, const void *eh_frame, size_t size) WNDL_MUST_USE;

/*
 * Follows one step of GDB's JIT interface. Call it from the JIT's
 * __jit_debug_register_code(), under the lock that the JIT holds there. It adds
 * the .eh_frame of the ELF file in memory that `relevant_entry` refers to, or
 * removes it.
 *
 * `descriptor` is &__jit_debug_descriptor. It is read during the call only; the
 * ELF file is borrowed until it is removed.
 *
 * Errors are those of wndl_jit_add. NOT_FOUND if the file has no call frame
 * information, or if what is to be removed is not registered. UNSUPPORTED if
 * the file is of another machine or the interface of another version, and if
 * addresses are outside of the file's own code, as they are in a file that has
 * not been relocated.
 */
WNDL_API enum wndl_status wndl_jit_follow_gdb(
    struct wndl_jit *jit, const void *descriptor) WNDL_MUST_USE;

/*
 * Removes all code that starts in [start, start + size).
 *
 * It waits until no walk uses the rules that were removed, which takes as long
 * as the walks that have begun. A thread that is stopped within a walk is
 * waited for, too. Afterwards the rules may be freed.
 *
 * `start` is an address, `size` a number of bytes. NOT_FOUND if no code starts
 * there.
 */
WNDL_API enum wndl_status wndl_jit_remove(
    struct wndl_jit *jit, uint64_t start, uint64_t size) WNDL_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
