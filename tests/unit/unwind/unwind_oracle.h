/* SPDX-License-Identifier: MIT */
/*
 * unwind_oracle: walks of one context, compared: the direct one, the remote
 * one over the same memory, libgcc's, a direct one that may not read below
 * the red zone, and the end of one that starts in the signal handler.
 */
#ifndef WNDL_TESTS_UNWIND_ORACLE_H
#define WNDL_TESTS_UNWIND_ORACLE_H

#include <stdbool.h>
#include <windlass/unwind.h>

enum { ORACLE_FRAMES = 1100 };

struct oracle_walk {
    struct wndl_frame frames[ORACLE_FRAMES];
    struct wndl_walk walk;
};

/*
 * What the checks of a thread found so far. libgcc knows no frame pointers:
 * where no FDE covers a frame it stops, and only what is inside is compared.
 */
struct oracle {
    struct wndl_unwinder *unwinder;
    struct wndl_resume *resume;
    struct wndl_stack_range stacks[4];
    size_t stack_count;
    size_t contexts;
    size_t frames;
    size_t complete;  /* walks that ended COMPLETE */
    size_t no_fde;    /* walks in which libgcc stopped for want of an FDE */
    size_t differing; /* any difference at all */
    size_t resumed;   /* frames that walks took from the one before */
    size_t wrongly_resumed;
    size_t bad_cfi; /* contexts left out: the compiler's CFI is wrong */
    /* The first context that differed. */
    struct oracle_walk direct, remote, libgcc, tight, handler;
    uint64_t first_ip;
};

/*
 * Whether a resumed walk equals the direct one, and whether the frames it took
 * over carry what those before it had put there: a number that is made of the
 * frame and its callers. If `write`, numbers are given to the others.
 */
bool oracle_is_resumed(const struct wndl_resumed *resumed,
    const struct wndl_walk *direct, bool write);

/* For the calling thread, whose stack becomes the first range. Zeroed or
 * freed memory to start with; oracle_free at the end. */
void oracle_init(struct oracle *oracle);
void oracle_free(struct oracle *oracle);
void oracle_add_stack(struct oracle *oracle, void *low, size_t size);

/* In a signal handler on the oracle's thread: check its context. */
void oracle_check(struct oracle *oracle, const void *ucontext);

/* Prints the first difference; true when there was none. */
bool oracle_agrees(const struct oracle *oracle);

/* Calls code(argument) with the trap flag set: a SIGTRAP per instruction,
 * each checked by the calling thread's `oracle`. */
void oracle_step(
    struct oracle *oracle, void (*code)(void *argument), void *argument);

/* The memory and modules of this process, as a remote one. Reads are bound
 * to the oracle's stacks. Signal-safe once called. */
const struct wndl_remote *oracle_remote(struct oracle *oracle);

#endif
