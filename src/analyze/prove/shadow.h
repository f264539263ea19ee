/* SPDX-License-Identifier: MIT */
/*
 * shadow: the callers of a thread that runs one instruction at a time, by what
 * its calls push and its returns pop. Rules for unwinding are compared with
 * them. It knows neither rules nor processes.
 */
#ifndef WNDL_ANALYZE_PROVE_SHADOW_H
#define WNDL_ANALYZE_PROVE_SHADOW_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WNDL_SHADOW_DEPTH = 4096, /* calls; deeper ones are all forgotten */
    WNDL_SHADOW_EDGE = 8,     /* instructions whose notes wait in a frame */
};

/* A call that has not returned. */
struct wndl_shadow_frame {
    uint64_t slot;   /* avma of its return address */
    uint64_t ra;     /* that return address */
    uint64_t fp, bx; /* the caller's RBP and RBX, if `knows` */
    bool knows;
    uint64_t steps; /* instructions of the called function itself so far */
    /* The owner's notes on the last of them: that on instruction n, counted
     * from 0, is at n % EDGE. */
    uint8_t notes[WNDL_SHADOW_EDGE];
};

struct wndl_shadow {
    struct wndl_shadow_frame *frames; /* outermost first */
    size_t count;
    /* Called for each frame that goes: `returned`, or in another way. */
    void (*gone)(
        void *context, const struct wndl_shadow_frame *frame, bool returned);
    void *context;
};

enum wndl_shadow_kind {
    WNDL_SHADOW_OTHER,
    WNDL_SHADOW_CALL,
    WNDL_SHADOW_RETURN,
};

/* An instruction that has run. */
struct wndl_shadow_step {
    uint8_t kind;            /* enum wndl_shadow_kind */
    uint8_t size;            /* bytes of the instruction */
    uint64_t ip, sp, fp, bx; /* before it */
    uint64_t next_ip, next_sp;
    uint64_t word; /* after a call: at next_sp */
};

/* The effect of a step. LOST: it fits no call and no return, such as a switch
 * of stacks, and all frames are forgotten. */
enum wndl_shadow_event {
    WNDL_SHADOW_SAME,
    WNDL_SHADOW_CALLED,
    WNDL_SHADOW_RETURNED,
    WNDL_SHADOW_DROPPED, /* frames went without a return: longjmp, say */
    WNDL_SHADOW_LOST,
};

/* An empty shadow; `gone` and `context` are the caller's to set. False if
 * memory is out. */
bool wndl_shadow_init(struct wndl_shadow *shadow, struct wndl_arena *arena);

/* Forgets all frames. */
void wndl_shadow_clear(struct wndl_shadow *shadow);

/* Adds the call that is innermost now. False if there are too many. */
bool wndl_shadow_push(
    struct wndl_shadow *shadow, const struct wndl_shadow_frame *frame);

enum wndl_shadow_event wndl_shadow_take(
    struct wndl_shadow *shadow, const struct wndl_shadow_step *step);

/* The innermost call that has not returned, or NULL if none is known. */
static inline struct wndl_shadow_frame *wndl_shadow_top(
    const struct wndl_shadow *shadow)
{
    return shadow->count == 0 ? NULL : &shadow->frames[shadow->count - 1];
}

#endif
