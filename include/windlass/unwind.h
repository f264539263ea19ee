/* SPDX-License-Identifier: MIT */
/*
 * windlass/unwind.h: the call stack of a thread, from its registers.
 *
 * Three ways in: the calling thread's own stack (wndl_unwind_self), the
 * context a signal handler was given (wndl_unwind_regs), and any stack
 * through a memory reader (wndl_unwind_remote: another process, a copied
 * stack, a core). The first two never call malloc, take a lock or make a
 * system call, and may be used in any signal handler. (On AArch64 one call asks
 * whether code without rules can be read: it may return from a signal handler.)
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

/* The registers that are tracked, by their x86-64 names; on i386 their lower
 * halves. RBX is: ld.so's lazy-binding trampoline uses it as CFA base. A
 * register that is not in `valid` is not known; without IP and SP a walk has
 * no frames and ends as NO_RULE. */
enum wndl_reg_mask {
    WNDL_REG_IP = 1,
    WNDL_REG_SP = 2,
    WNDL_REG_FP = 4, /* RBP */
    WNDL_REG_BX = 8, /* RBX */
};

struct wndl_regs {
    uint64_t ip, sp, fp, bx;
    uint32_t valid; /* enum wndl_reg_mask, or-ed */
    /* NULL, or all general registers, as the walked machine's ucontext_t has
     * them in gregs: 17 words of 8 bytes on x86-64, 15 of 4 bytes on i386. Of
     * AArch64 x0 to x30, SP and PC, as in mcontext_t, 33 words of 8 bytes; of
     * 32-bit Arm arm_r0 to arm_pc, 16 words of 4 bytes.
     * Borrowed for the walk; a few rules need one of them. */
    const void *gregs;
};

/* How a frame was recovered. */
enum wndl_frame_how {
    WNDL_HOW_CONTEXT = 0, /* given: frame 0 */
    WNDL_HOW_CFI = 1,     /* call frame information, or an unwind table */
    WNDL_HOW_FP = 2,      /* frame pointer, or a leaf's LR: no rules there */
    WNDL_HOW_SCAN = 3,    /* a word on the stack that can be one: a guess */
};

/*
 * `address` is raw: for a return address it is where the call returns to, one
 * past the call; symbolize `address - 1` then. `interrupted` says that it is
 * instead the very instruction at which the context (frame 0) or a signal
 * (the frame below a signal handler's) stopped the code, or, on 32-bit Arm,
 * the start of a landing pad that libgcc is about to go to.
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

/*
 * Which ways a walk may take from one frame to the next. SCAN is or-ed to one
 * of the others: where that has come to an end in code of a module, or in
 * interrupted code of none, without an FDE, the stack is searched for a return
 * address, and the walk goes on from there as before. Such frames are
 * WNDL_HOW_SCAN; those after them are no surer than they are.
 */
enum wndl_walk_method {
    WNDL_WALK_ANY = 0, /* CFI, and frame pointers where there is none */
    WNDL_WALK_CFI = 1,
    WNDL_WALK_FP = 2, /* frame pointers only: caller's caller may be missed */
    WNDL_WALK_SCAN = 4,
};

struct wndl_jit;

/* Where a walk goes (set by the caller) and how it went (set by the walk). */
struct wndl_walk {
    struct wndl_frame *frames; /* caller's room, innermost frame first */
    size_t max_frames;         /* > 0 */
    size_t count;              /* frames written */
    enum wndl_walk_end end;
    uint32_t fp_frames;           /* of them, by frame pointer */
    enum wndl_walk_method method; /* set by the caller */
    /* Set by the caller: NULL, or the registry of windlass/jit.h that tells of
     * code in no module. Walks of other address spaces go by remote->jit. */
    struct wndl_jit *jit;
};

/* [low, high) of readable stack, avma. */
struct wndl_stack_range {
    uint64_t low, high;
};

/*
 * A rule cache: memory of the caller's, nothing else is allocated.
 * wndl_unwinder_size() zeroed bytes (as mmap gives them), 256 KiB and a little,
 * aligned to 64. One serves any number of threads at a time, and the signal
 * handlers that interrupt their walks: nobody waits for another. Init is not
 * for signal handlers: it binds the symbols that walks use.
 */
struct wndl_unwinder;

/* The same at every call. Any thread, any signal handler. */
WNDL_API size_t wndl_unwinder_size(void);

/* Never fails. The result is `memory`: it needs no end but the memory's. */
WNDL_API struct wndl_unwinder *wndl_unwinder_init(void *memory);

/*
 * Forget every rule: call after a module was unloaded. Walks that are under
 * way may still go by old ones. Any thread; async-signal-safe.
 */
WNDL_API void wndl_unwinder_flush(struct wndl_unwinder *u);

/*
 * Takes the rules of code into the cache before a walk comes there: of what
 * calls in [start, start + size) return to, up to the end of the segment of the
 * module that `start` is in. `most` is how many at most: more than half of
 * 16,384 turn out others. Returns how many are new in the cache. It costs what
 * the walks would have spent, for all calls in that code: worth it where
 * another thread has the time and walks have not. Any thread, while others
 * walk; not for signal handlers. The module must stay loaded meanwhile.
 */
WNDL_API size_t wndl_unwind_prepare(
    struct wndl_unwinder *u, uint64_t start, uint64_t size, size_t most);

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
 * One thread's walks, each of which takes over what is as it was at the last:
 * it compares the words of the stack that the last one went by, instead of
 * going by them again. The frames are those that wndl_unwind_regs would give.
 * For one walk at a time: a signal handler that may interrupt one needs
 * another.
 */
struct wndl_resume;

/* A walk, and what of it is new. */
struct wndl_resumed {
    /* Set by the caller: method. `frames` and max_frames are the walk's own;
     * they, and `carried`, may be read up to the next walk. */
    struct wndl_walk walk;
    /* Of each frame a number for the caller, who may write it. It stays with
     * the frame while that and all its callers are the same. */
    uint32_t *carried;
    size_t changed; /* the first so many frames' `carried` mean nothing */
    size_t resumed; /* frames that were compared, not walked */
};

/* Bytes for walks of up to `max_frames`: about 200 for each. The same at
 * every call. Any thread, any signal handler. */
WNDL_API size_t wndl_resume_size(size_t max_frames);

/*
 * Never fails. The result is `memory`, wndl_resume_size() bytes aligned to 64,
 * with no walk in it. It needs no end but the memory's. max_frames is at least
 * 1 and less than 2^28. `u` must live as long. Async-signal-safe.
 */
WNDL_API struct wndl_resume *wndl_resume_init(
    void *memory, size_t max_frames, struct wndl_unwinder *u);

/* The next walk takes over nothing. Async-signal-safe. */
WNDL_API void wndl_resume_forget(struct wndl_resume *last);

/*
 * As wndl_unwind_regs. After wndl_unwinder_flush() nothing is taken over.
 * Async-signal-safe.
 */
WNDL_API void wndl_unwind_resume(struct wndl_resume *last,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_resumed *result);

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
    /* Or NULL: asked for what .eh_frame has no rules of. It is gone through
     * from its start for each frame, as .eh_frame without a header is. */
    const uint8_t *debug_frame;
    size_t debug_frame_size;
    /* .ARM.exidx and .ARM.extab, of EM_ARM, or NULL: asked when nothing else
     * has rules. The code of the innermost function is read then. */
    const uint8_t *exidx;
    size_t exidx_size;
    uint64_t exidx_svma;
    const uint8_t *extab;
    size_t extab_size;
    uint64_t extab_svma;
    /* NULL, or a file that `windlass unwind-table build` made of this module:
     * used where .eh_frame tells nothing. It is not held against the module. */
    const uint8_t *table;
    size_t table_size;
    /* Not 0: the table is Chromium's unwind info v2 (`unwind-table build
     * --format chrome-v2`), and these are svma and bytes of the module's .text,
     * which is EM_ARM's. */
    uint64_t table_text, table_text_size;
};

struct wndl_remote {
    /* Copy `size` bytes at avma `address` to `to`; false if not readable. */
    bool (*read)(void *context, uint64_t address, void *to, size_t size);
    void *context;
    const struct wndl_remote_module *modules; /* sorted by start */
    size_t module_count;
    /* Whether RBP may be looked for on the stack where a frame needs it and
     * it is not known, as of a thread seen from outside; `read` then has to
     * read code too. What is found by its call is WNDL_HOW_CFI, else _FP. */
    bool find_fp;
    /* ELF's EM_X86_64 (62), EM_386 (3), EM_AARCH64 (183) or EM_ARM (40; of the
     * last two a walk needs `gregs`, where x30 or r14 is); 0: the caller's own.
     * Of no other machine is there a walk: it has no frames and ends as
     * NO_RULE. Of i386 and Arm, `read` is asked for code too: of Arm, a return
     * address in code that it does not read is believed. */
    uint16_t machine;
    /* 0, or the avma of a registry (windlass/jit.h) that a program of the
     * caller's machine has made with this version of the library. It is read
     * as it is: no changes should be made to it meanwhile. */
    uint64_t jit;
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
