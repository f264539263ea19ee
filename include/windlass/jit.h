/* SPDX-License-Identifier: MIT */
/*
 * windlass/jit.h: how callers are found from code that a program has generated,
 * for walks of its own stacks (windlass/unwind.h).
 *
 * A registry holds for ranges of code, where it is mapped, either rules of our
 * own form or call frame information in the form of .eh_frame. It lives in
 * memory of the caller's; nothing else is allocated. Code is added and removed
 * from any thread; a walk that is given the registry (wndl_walk.jit) sees it
 * without a lock, also in a signal handler that interrupts whoever is changing
 * it. What is added is borrowed until it is removed: when wndl_jit_remove
 * returns, no walk uses it any more.
 *
 * No function here may be called in a signal handler; walks may.
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
    WNDL_JIT_BY_FP = 1,     /* the CFA is counted from RBP, not from RSP */
    WNDL_JIT_OUTERMOST = 2, /* nobody called this: a stack ends here */
};

/*
 * How the caller of code is found, from `offset` on up to the next rule's.
 * The CFA is what RSP will be after the return; the return address is right
 * below it. On i386 the same with EBP, EBX and ESP. All numbers are bytes.
 *
 *   push %rbp          offset 0: cfa 8
 *   mov %rsp, %rbp     offset 1: cfa 16, fp -16
 *   ...                offset 4: cfa 16, fp -16, flags BY_FP
 *   ret                at its offset: cfa 8
 */
struct wndl_jit_rule {
    uint32_t offset; /* from the start of the code */
    uint32_t flags;  /* enum wndl_jit_flag, or-ed */
    uint32_t cfa;    /* CFA = register + cfa; at least a word */
    int32_t fp, bx;  /* caller's is saved at CFA + this; 0: still in RBP, RBX */
};

/* Code at [start, start + size). The first of its rules has offset 0, those
 * after it have rising ones below `size`. */
struct wndl_jit_code {
    uint64_t start, size; /* avma */
    const struct wndl_jit_rule *rules;
    size_t rule_count; /* > 0 */
};

struct wndl_jit;

/* Bytes of a registry for `max` pieces of code. Any thread. */
WNDL_API size_t wndl_jit_size(size_t max);

/*
 * Makes a registry of wndl_jit_size(max) bytes aligned to 16. Never fails. The
 * result is `memory`: it needs no end but the memory's, which must outlive all
 * walks that are given it.
 */
WNDL_API struct wndl_jit *wndl_jit_init(void *memory, size_t max);

/*
 * Adds `count` pieces of code, all or none. The rules are borrowed, the array
 * of codes is not. Takes time in proportion to what is registered at higher
 * addresses, so add many at once, or by rising addresses. LIMIT when there is
 * no room for them; MALFORMED for rules that are not as told above and for code
 * that is registered in part already.
 */
WNDL_API enum wndl_status wndl_jit_add(struct wndl_jit *jit,
    const struct wndl_jit_code *codes, size_t count) WNDL_MUST_USE;

/*
 * Adds what __register_frame() is given: records of .eh_frame as they are
 * mapped, up to the end or to a length of 0; SIZE_MAX: up to that. Each FDE
 * counts as a piece of code. Borrowed. As wndl_jit_add; UNSUPPORTED for
 * records of a kind that is not read, TRUNCATED for one longer than `size`.
 */
WNDL_API enum wndl_status wndl_jit_add_frames(
    struct wndl_jit *jit, const void *eh_frame, size_t size) WNDL_MUST_USE;

/*
 * Does what a JIT has just told debuggers by GDB's JIT interface: call it from
 * __jit_debug_register_code() with &__jit_debug_descriptor, under the lock
 * that the JIT holds then. It adds the .eh_frame of the ELF file in memory
 * that `relevant_entry` tells of, or removes it. NOT_FOUND if there is none in
 * it, UNSUPPORTED for files of another machine or version, and for addresses
 * outside of the file's own code: those of files that have not been relocated.
 */
WNDL_API enum wndl_status wndl_jit_follow_gdb(
    struct wndl_jit *jit, const void *descriptor) WNDL_MUST_USE;

/*
 * Removes all code that starts in [start, start + size), and waits until no
 * walk uses its rules: for as long as those walks take that have begun. A
 * thread that was stopped within a walk is waited for. NOT_FOUND if there is
 * none.
 */
WNDL_API enum wndl_status wndl_jit_remove(
    struct wndl_jit *jit, uint64_t start, uint64_t size) WNDL_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
