/* SPDX-License-Identifier: MIT */
/*
 * windlass/unwind.h: the call stack of a thread, from its registers.
 *
 * There are three kinds of walk. wndl_unwind_self walks the calling thread's
 * own stack, wndl_unwind_regs the stack of a context that a signal handler was
 * given, and wndl_unwind_remote any stack through a memory reader: that of
 * another process, a copy, or a core.
 *
 * The first two never call malloc, take a lock or make a system call, and may
 * be used in any signal handler. (On AArch64 one call asks whether code without
 * rules can be read. It may return from a signal handler.)
 *
 * Addresses are those of the walked process (avma). Pointer parameters may be
 * NULL only where it says so. No walk fails: struct wndl_walk says how it
 * ended.
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

/*
 * The tracked registers, by their x86-64 names; on i386 they are the lower
 * halves. RBX is one because ld.so's lazy-binding trampoline uses it as CFA
 * base. A register that is not in `valid` is not known. Without IP and SP a
 * walk has no frames and ends as NO_RULE.
 */
enum wndl_reg_mask {
    WNDL_REG_IP = 1,
    WNDL_REG_SP = 2,
    WNDL_REG_FP = 4, /* RBP */
    WNDL_REG_BX = 8, /* RBX */
};

/* The registers from which a walk starts. */
struct wndl_regs {
    uint64_t ip, sp, fp, bx;
    uint32_t valid; /* enum wndl_reg_mask, or-ed */
    /* NULL, or all general registers in the layout of the walked machine's
     * ucontext_t. That is gregs: 17 words of 8 bytes on x86-64, 15 words of 4
     * bytes on i386. On AArch64 it is x0 to x30, SP and PC, as in mcontext_t:
     * 33 words of 8 bytes. On 32-bit Arm it is arm_r0 to arm_pc: 16 words of 4
     * bytes. Borrowed during the walk; a few rules need one of them. */
    const void *gregs;
};

/* How a frame was recovered. */
enum wndl_frame_how {
    WNDL_HOW_CONTEXT = 0, /* given by the caller: frame 0 */
    WNDL_HOW_CFI = 1,     /* call frame information, or an unwind table */
    /* No rules: by frame pointer, a leaf's LR, or the code. A guess: walks do
     * not know whether the call before it can have led here. On x86 a step is
     * not taken if that call surely leads elsewhere. */
    WNDL_HOW_FP = 2,
    WNDL_HOW_SCAN = 3, /* a guess: a word on the stack that fits */
    /* WNDL_HOW_FP, and more. On 32-bit Arm: the code was followed to its
     * return, and a call is before that. On x86 no walk gives it: who has the
     * files may check the call before it, as `windlass record` does. */
    WNDL_HOW_CHECKED = 6,
};

/*
 * One frame. `address` is raw: a return address is where the call returns to,
 * just after the call instruction. To symbolize it, use `address - 1`.
 *
 * `interrupted` marks an address that is exact instead. It is the instruction
 * at which the context (frame 0) or a signal (the frame below a signal
 * handler's) stopped the code. On 32-bit Arm it may also be the start of a
 * landing pad that libgcc is about to enter.
 */
struct wndl_frame {
    uint64_t address : 48; /* avma */
    uint64_t interrupted : 1;
    uint64_t how : 3; /* enum wndl_frame_how */
    uint64_t reserved : 12;
};

/* The end of a walk, and its reason. */
enum wndl_walk_end {
    WNDL_END_COMPLETE = 0,    /* CFI without caller, _start, a thread's start */
    WNDL_END_TRUNCATED = 1,   /* more frames than max_frames */
    WNDL_END_NO_RULE = 2,     /* no FDE and no plausible frame pointer */
    WNDL_END_BAD_READ = 3,    /* a slot outside of all known stacks */
    WNDL_END_NO_PROGRESS = 4, /* SP did not rise */
    WNDL_END_BAD_CFI = 5,     /* damaged or unsupported CFI */
    WNDL_END_BAD_PC = 6,      /* a return address outside of mapped code */
    /* A return address or a frame pointer of 0. It is a root by convention
     * only, which no CFI confirms: a guess. */
    WNDL_END_FP_ROOT = 7,
};

/*
 * The ways in which a walk may find a caller. SCAN is or-ed to one of the
 * others. It applies where that one ends in code of a module, or in interrupted
 * code outside of modules, that has no FDE. The stack is then searched for a
 * return address, and the walk goes on from there as before. Such frames are
 * WNDL_HOW_SCAN; those after them are as uncertain as they are.
 */
enum wndl_walk_method {
    WNDL_WALK_ANY = 0, /* CFI, and frame pointers where there is none */
    WNDL_WALK_CFI = 1,
    WNDL_WALK_FP = 2, /* frame pointers only: may miss a caller's caller */
    WNDL_WALK_SCAN = 4,
};

struct wndl_jit;

/* A walk: its settings, by the caller, and its result. */
struct wndl_walk {
    struct wndl_frame *frames; /* caller's array; innermost frame first */
    size_t max_frames;         /* size of the array, > 0 */
    size_t count;              /* frames written */
    enum wndl_walk_end end;
    uint32_t fp_frames;           /* of these, by frame pointer */
    enum wndl_walk_method method; /* set by the caller */
    /* Set by the caller: NULL, or the registry (windlass/jit.h) of code outside
     * of modules. A walk of another address space uses remote->jit instead. */
    struct wndl_jit *jit;
};

/* A range of readable stack: [low, high), avma. */
struct wndl_stack_range {
    uint64_t low, high;
};

/*
 * A rule cache in memory of the caller. Nothing else is allocated. It takes
 * wndl_unwinder_size() zeroed bytes (as mmap gives them), a little more than
 * 256 KiB, aligned to 64.
 *
 * One cache serves any number of threads at the same time, and the signal
 * handlers that interrupt their walks. No walk waits for another.
 */
struct wndl_unwinder;

/*
 * The size in bytes of a rule cache. It is the same at every call. Any thread,
 * any signal handler.
 */
WNDL_API size_t wndl_unwinder_size(void);

/*
 * Makes a rule cache of zeroed memory. `memory` has wndl_unwinder_size() bytes,
 * aligned to 64, and must outlive all walks with it. There is no function to
 * end a cache: free the memory. The result is `memory`. Never fails. Not for
 * signal handlers, because it binds the symbols that walks use.
 */
WNDL_API struct wndl_unwinder *wndl_unwinder_init(void *memory);

/*
 * Forgets all rules of `u`. Call it after a module was unloaded. Walks that
 * have begun may still use old rules. Any thread, any signal handler.
 */
WNDL_API void wndl_unwinder_flush(struct wndl_unwinder *u);

/*
 * Puts rules into the cache before a walk needs them. They are the rules for
 * the return addresses of all calls in a range of code. It costs what walks
 * would have spent on those rules, so it is worth it where another thread has
 * time and walks have not.
 *
 * `u` is the cache.
 *
 * `start` and `size` give the range, in bytes. It is cut at the end of the
 * segment of the module that contains `start`.
 *
 * `most` limits the number of rules. The cache has 16,384 entries: more than
 * half of them would displace others.
 *
 * The result is the number of rules that are new in the cache. Any thread,
 * while others walk; not for signal handlers. The module must stay loaded
 * meanwhile.
 */
WNDL_API size_t wndl_unwind_prepare(
    struct wndl_unwinder *u, uint64_t start, uint64_t size, size_t most);

/*
 * Walks this process's own memory from given registers.
 *
 * `u` is the rule cache.
 *
 * `regs` is where the walk starts.
 *
 * `stacks` is an array of `stack_count` ranges, such as the thread's stack and
 * its alternate stack. The walk reads only inside them, and in the 128-byte red
 * zone below regs->sp.
 *
 * `walk` has the settings, and receives the frames and the end.
 *
 * Any thread, any signal handler.
 */
WNDL_API void wndl_unwind_regs(struct wndl_unwinder *u,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_walk *walk);

/*
 * One thread's last walk, which the next one takes over as far as it is
 * unchanged. The next walk compares the words of the stack that the last one
 * read, instead of walking again. The frames are those that wndl_unwind_regs
 * would give. It serves one walk at a time: a signal handler that may interrupt
 * a walk needs one of its own.
 */
struct wndl_resume;

/* A walk, and how much of it is new. */
struct wndl_resumed {
    /* The caller sets `method` only. `frames` and max_frames are those of
     * struct wndl_resume. They and `carried` are valid until the next walk. */
    struct wndl_walk walk;
    /* A number for each frame, which the caller may write. It stays with the
     * frame as long as that and all its callers are the same. */
    uint32_t *carried;
    size_t changed; /* `carried` of the first `changed` frames is void */
    size_t resumed; /* frames that were compared, not walked */
};

/*
 * The size in bytes of a struct wndl_resume for walks of up to `max_frames`. It
 * is about 200 bytes a frame, and the same at every call. Any thread, any
 * signal handler.
 */
WNDL_API size_t wndl_resume_size(size_t max_frames);

/*
 * Makes a struct wndl_resume without a last walk.
 *
 * `memory` has wndl_resume_size(max_frames) bytes, aligned to 64. There is no
 * function to end it: free the memory.
 *
 * `max_frames` is at least 1 and less than 2^28.
 *
 * `u` is the rule cache of the walks. It must live as long.
 *
 * The result is `memory`. Never fails. Any thread, any signal handler.
 */
WNDL_API struct wndl_resume *wndl_resume_init(
    void *memory, size_t max_frames, struct wndl_unwinder *u);

/*
 * Forgets the last walk: the next one takes over nothing. Any thread, any
 * signal handler; not during a walk with `last`.
 */
WNDL_API void wndl_resume_forget(struct wndl_resume *last);

/*
 * Walks like wndl_unwind_regs, but takes over what is unchanged since the last
 * walk. After wndl_unwinder_flush() nothing is taken over. While stacks do not
 * repeat themselves it only compares frames, because more costs more.
 *
 * `last` is the thread's last walk, which this one replaces.
 *
 * `regs`, `stacks` and `stack_count` are as for wndl_unwind_regs.
 *
 * `result` has the method, and receives the walk.
 *
 * Any thread, any signal handler, with one walk at a time for each `last`.
 */
WNDL_API void wndl_unwind_resume(struct wndl_resume *last,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_resumed *result);

/*
 * Gets the registers from a signal handler's context. `ucontext` is the
 * handler's third argument (ucontext_t *). `regs` receives the registers;
 * regs->gregs borrows from `ucontext`. Any thread, any signal handler.
 */
WNDL_API void wndl_regs_from_context(
    struct wndl_regs *regs, const void *ucontext);

/*
 * Walks the calling thread's stack. Frame 0 is the caller of this function, as
 * a return address.
 *
 * `u` is the rule cache.
 *
 * `stack` is the range of the calling thread's stack.
 *
 * `walk` has the settings, and receives the frames and the end.
 *
 * Any thread, any signal handler.
 */
WNDL_API void wndl_unwind_self(struct wndl_unwinder *u,
    const struct wndl_stack_range *stack, struct wndl_walk *walk);

/*
 * A module of another address space, and where its call frame information is.
 */
struct wndl_remote_module {
    uint64_t start, end;     /* avma of its mapping */
    uint64_t bias;           /* avma - svma */
    const uint8_t *eh_frame; /* contents of the section, or NULL */
    size_t eh_frame_size;
    uint64_t eh_frame_svma;
    const uint8_t *eh_frame_hdr; /* or NULL: eh_frame is scanned */
    size_t eh_frame_hdr_size;
    uint64_t eh_frame_hdr_svma;
    /* Or NULL. It is used for code that .eh_frame has no rules for. It is
     * scanned from its start for each frame, as .eh_frame is without a
     * header. */
    const uint8_t *debug_frame;
    size_t debug_frame_size;
    /* .ARM.exidx and .ARM.extab of EM_ARM, or NULL. They are used where nothing
     * else has rules. The code of the innermost function is then read, too. */
    const uint8_t *exidx;
    size_t exidx_size;
    uint64_t exidx_svma;
    const uint8_t *extab;
    size_t extab_size;
    uint64_t extab_svma;
    /* NULL, or a file that `windlass unwind-table build` made of this module.
     * It is used for code that .eh_frame has no rules for. Nothing checks that
     * it belongs to the module. */
    const uint8_t *table;
    size_t table_size;
    /* Not 0: the table is Chromium's unwind info v2 (`unwind-table build
     * --format chrome-v2`). These are the svma and the size in bytes of the
     * module's .text; the module is of EM_ARM. */
    uint64_t table_text, table_text_size;
};

/* Another address space. All pointers are borrowed during the walk. */
struct wndl_remote {
    /* Copies `size` bytes at avma `address` to `to`. Returns false if they are
     * not readable. `context` is its first argument. */
    bool (*read)(void *context, uint64_t address, void *to, size_t size);
    void *context;
    const struct wndl_remote_module *modules; /* sorted by start */
    size_t module_count;
    /* Whether to search the stack for RBP where a frame needs it and it is not
     * known, as in a thread that is seen from outside. `read` must read code,
     * too, then. What its call confirms is WNDL_HOW_CFI, else WNDL_HOW_FP. */
    bool find_fp;
    /* ELF's EM_X86_64 (62), EM_386 (3), EM_AARCH64 (183) or EM_ARM (40); 0 is
     * the caller's own. A walk of any other machine has no frames and ends as
     * NO_RULE. AArch64 and Arm need `gregs`, which has x30 or r14. For i386 and
     * Arm, `read` is asked for code, too. On Arm a return address is believed
     * if the code before it cannot be read. */
    uint16_t machine;
    /* 0, or the avma of a registry (windlass/jit.h) that a program of the
     * caller's machine made with this version of the library. It must not
     * change while the walk reads it. */
    uint64_t jit;
};

/*
 * Walks another address space. All memory is read through remote->read.
 *
 * `remote` describes the address space.
 *
 * `regs` is where the walk starts.
 *
 * `walk` has the settings, except `jit`, and receives the frames and the end.
 * If the stack is a copy that was cut short, the walk ends as BAD_READ at the
 * cut, which only the caller knows of.
 *
 * Any thread; not for signal handlers.
 */
WNDL_API void wndl_unwind_remote(const struct wndl_remote *remote,
    const struct wndl_regs *regs, struct wndl_walk *walk);

#ifdef __cplusplus
}
#endif

#endif
