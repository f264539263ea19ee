/* SPDX-License-Identifier: MIT */
/*
 * windlass/unwind.h: the call stack of a thread, from its registers.
 *
 * Three ways in: the calling thread's own stack (wndl_unwind_self), the
 * context a signal handler was given (wndl_unwind_regs), and any stack
 * through a memory reader (wndl_unwind_remote: another process, a copied
 * stack, a core). The first two never call malloc, take a lock or make a
 * system call, and may be used in any signal handler.
 */
#ifndef WINDLASS_UNWIND_H
#define WINDLASS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windlass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The registers that are tracked. RBX is: ld.so's lazy-binding trampoline
 * uses it as CFA base. A register that is not in `valid` is not known; without
 * IP and SP a walk has no frames and ends as NO_RULE. */
enum wndl_reg_mask {
    WNDL_REG_IP = 1,
    WNDL_REG_SP = 2,
    WNDL_REG_FP = 4, /* RBP */
    WNDL_REG_BX = 8, /* RBX */
};

struct wndl_regs {
    uint64_t ip, sp, fp, bx;
    uint32_t valid; /* enum wndl_reg_mask, or-ed */
    /* NULL, or all general registers, 17 words in the order of a ucontext_t's
     * gregs (x86-64). Borrowed for the walk; a few rules need one of them. */
    const uint64_t *gregs;
};

/* How a frame was recovered. */
enum wndl_frame_how {
    WNDL_HOW_CONTEXT = 0, /* given: frame 0 */
    WNDL_HOW_CFI = 1,     /* call frame information */
    WNDL_HOW_FP = 2,      /* frame pointer: no FDE covers the callee */
};

/*
 * `address` is raw: for a return address it is where the call returns to, one
 * past the call; symbolize `address - 1` then. `interrupted` says that it is
 * instead the very instruction at which the context (frame 0) or a signal
 * (the frame below a signal handler's) stopped the code.
 */
struct wndl_frame {
    uint64_t address : 48; /* avma */
    uint64_t interrupted : 1;
    uint64_t how : 3; /* enum wndl_frame_how */
    uint64_t reserved : 12;
};

/* How a walk ended. */
enum wndl_walk_end {
    WNDL_END_COMPLETE = 0,    /* undefined-RA CFI, _start or a thread's start */
    WNDL_END_TRUNCATED = 1,   /* more frames than room */
    WNDL_END_NO_RULE = 2,     /* no FDE and no plausible frame pointer */
    WNDL_END_BAD_READ = 3,    /* a slot outside of every known stack */
    WNDL_END_NO_PROGRESS = 4, /* SP did not rise */
    WNDL_END_BAD_CFI = 5,     /* damaged or unsupported CFI */
    WNDL_END_BAD_PC = 6,      /* return address in no mapped code */
    /* A return address or a frame pointer of 0: a root by convention only,
     * not vouched for by CFI. A guess. */
    WNDL_END_FP_ROOT = 7,
};

/* Where a walk goes (set by the caller) and how it went (set by the walk). */
struct wndl_walk {
    struct wndl_frame *frames; /* caller's room, innermost frame first */
    size_t max_frames;         /* > 0 */
    size_t count;              /* frames written */
    enum wndl_walk_end end;
    uint32_t fp_frames; /* of them, by frame pointer */
};

/* [low, high) of readable stack, avma. */
struct wndl_stack_range {
    uint64_t low, high;
};

/*
 * A rule cache: memory of the caller's, nothing else is allocated.
 * wndl_unwinder_size() zeroed bytes (as mmap gives them) aligned to 64; one
 * thread at a time; a signal handler that may interrupt a walk needs its own.
 * Init is not for signal handlers: it binds the symbols that walks use.
 */
struct wndl_unwinder;

/* The same at every call. Any thread, any signal handler. */
WNDL_API size_t wndl_unwinder_size(void);

/* Never fails. The result is `memory`: it needs no end but the memory's. */
WNDL_API struct wndl_unwinder *wndl_unwinder_init(void *memory);

/* Forget every rule: call after a module was unloaded. Async-signal-safe. */
WNDL_API void wndl_unwinder_flush(struct wndl_unwinder *u);

/*
 * The walk from `regs` over up to `stack_count` ranges of this process's own
 * memory (thread stack, alternate stack), innermost frame first. Reads only
 * inside the ranges, and the 128-byte red zone below regs->sp. Never fails:
 * `walk` says how it ended. Async-signal-safe.
 */
WNDL_API void wndl_unwind_regs(struct wndl_unwinder *u,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_walk *walk);

/*
 * The registers of a signal handler's third argument (ucontext_t *), which
 * regs->gregs borrows. Async-signal-safe.
 */
WNDL_API void wndl_regs_from_context(
    struct wndl_regs *regs, const void *ucontext);

/*
 * The caller's own stack; frame 0 is the caller of this function, as a
 * return address. `stack` is the range of the calling thread's stack. Never
 * fails. Async-signal-safe.
 */
WNDL_API void wndl_unwind_self(struct wndl_unwinder *u,
    const struct wndl_stack_range *stack, struct wndl_walk *walk);

/* Another address space: how to read it, and where its code's CFI is. */
struct wndl_remote_module {
    uint64_t start, end;     /* avma of its mapping */
    uint64_t bias;           /* avma - svma */
    const uint8_t *eh_frame; /* section contents, or NULL */
    size_t eh_frame_size;
    uint64_t eh_frame_svma;
    const uint8_t *eh_frame_hdr; /* or NULL: then eh_frame is scanned */
    size_t eh_frame_hdr_size;
    uint64_t eh_frame_hdr_svma;
};

struct wndl_remote {
    /* Copy `size` bytes at avma `address` to `to`; false if not readable. */
    bool (*read)(void *context, uint64_t address, void *to, size_t size);
    void *context;
    const struct wndl_remote_module *modules; /* sorted by start */
    size_t module_count;
};

/*
 * As wndl_unwind_regs, every read through remote->read. Where a stack copy
 * was cut short the walk ends BAD_READ: only the caller knows of the cut.
 */
WNDL_API void wndl_unwind_remote(const struct wndl_remote *remote,
    const struct wndl_regs *regs, struct wndl_walk *walk);

#ifdef __cplusplus
}
#endif

#endif
