/* SPDX-License-Identifier: MIT */
#include "unwind_oracle.h"

#include "unwind/core/arch.h"
#include "unwind/core/frame.h"
#include "unwind_extras.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#define UNCHECKED __attribute__((no_sanitize("address", "thread")))

/* ---- this process as a remote one ---- */

enum { MODULES = 64 };

struct process {
    struct wndl_remote remote;
    struct wndl_remote_module modules[MODULES];
};

static __thread struct process process;
static __thread uint64_t context_sp;

static bool is_code(uint64_t address)
{
    for (size_t i = 0; i < process.remote.module_count; i++)
        if (address >= process.modules[i].start &&
            address < process.modules[i].end)
            return true;
    return false;
}

UNCHECKED static bool copy_checked(
    void *context, uint64_t address, void *to, size_t size)
{
    const struct oracle *o = context;
    bool readable =
        address >= context_sp - WNDL_RED_ZONE && address < context_sp;
    for (size_t i = 0; i < o->stack_count; i++)
        readable |= address >= o->stacks[i].low &&
                    address < o->stacks[i].high &&
                    size <= o->stacks[i].high - address;
    if (!readable && !is_code(address))
        return false;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = ((const volatile uint8_t *)(uintptr_t)address)[i];
    return true;
}

static uint64_t segment_left(const struct dl_phdr_info *info, uint64_t svma)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && svma - p->p_vaddr < p->p_filesz)
            return p->p_filesz - (svma - p->p_vaddr);
    }
    return 0;
}

static void set_sections(struct wndl_remote_module *m,
    const struct dl_phdr_info *info, uint64_t hdr_svma)
{
    m->eh_frame_hdr_svma = hdr_svma;
    m->eh_frame_hdr = (const uint8_t *)(uintptr_t)(hdr_svma + info->dlpi_addr);
    m->eh_frame_hdr_size = segment_left(info, hdr_svma);
    must(m->eh_frame_hdr[1] == 0x1b); /* pcrel, sdata4 */
    int32_t to_frame;
    memcpy(&to_frame, m->eh_frame_hdr + 4, sizeof to_frame);
    m->eh_frame_svma = hdr_svma + 4 + (uint64_t)(int64_t)to_frame;
    m->eh_frame =
        (const uint8_t *)(uintptr_t)(m->eh_frame_svma + info->dlpi_addr);
    m->eh_frame_size = segment_left(info, m->eh_frame_svma);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct process *p = context;
    must(p->remote.module_count < MODULES);
    struct wndl_remote_module *m = &p->modules[p->remote.module_count++];
    *m = (struct wndl_remote_module){
        .start = UINT64_MAX, .bias = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_GNU_EH_FRAME)
            set_sections(m, info, ph->p_vaddr);
        if (ph->p_type != PT_LOAD)
            continue;
        m->start = start < m->start ? start : m->start;
        m->end = start + ph->p_memsz > m->end ? start + ph->p_memsz : m->end;
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct wndl_remote_module *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

const struct wndl_remote *oracle_remote(struct oracle *oracle)
{
    process.remote.context = oracle;
    if (process.remote.module_count == 0) {
        process.remote.read = copy_checked;
        process.remote.modules = process.modules;
        (void)dl_iterate_phdr(add_module, &process);
        qsort(process.modules, process.remote.module_count,
            sizeof process.modules[0], by_start);
    }
    return &process.remote;
}

/* ---- libgcc ---- */

struct collected {
    struct oracle_walk *into;
    uint64_t from; /* the interrupted pc; frames before it are our own */
    bool begun;
};

static _Unwind_Reason_Code collect(struct _Unwind_Context *c, void *argument)
{
    struct collected *to = argument;
    struct wndl_walk *walk = &to->into->walk;
    int interrupted = 0;
    uint64_t ip = _Unwind_GetIPInfo(c, &interrupted);
    to->begun |= interrupted && ip == to->from;
    /* libgcc shows the end of the stack as a frame at 0. */
    if (!to->begun || (ip == 0 && !interrupted))
        return _URC_NO_REASON;
    if (walk->count == walk->max_frames)
        return _URC_END_OF_STACK;
    struct wndl_frame *frame = &to->into->frames[walk->count++];
    frame->address = ip;
    frame->interrupted = interrupted != 0;
    return _URC_NO_REASON;
}

/* ---- comparing ---- */

static void prepare(struct oracle_walk *w)
{
    w->walk =
        (struct wndl_walk){.frames = w->frames, .max_frames = ORACLE_FRAMES};
}

static bool same_frame(struct wndl_frame a, struct wndl_frame b)
{
    return a.address == b.address && a.interrupted == b.interrupted;
}

static bool same_walks(const struct oracle_walk *a, const struct oracle_walk *b)
{
    if (a->walk.count != b->walk.count || a->walk.end != b->walk.end ||
        a->walk.fp_frames != b->walk.fp_frames)
        return false;
    return memcmp(a->frames, b->frames, a->walk.count * sizeof a->frames[0]) ==
           0;
}

/* Frames up to the first that only the frame pointer found. */
static size_t count_before_guess(const struct oracle_walk *w)
{
    size_t n = 0;
    while (n < w->walk.count &&
           !wndl_frame_is_by_fp((enum wndl_frame_how)w->frames[n].how))
        n++;
    return n;
}

static bool same_as_libgcc(
    struct oracle *o, const struct oracle_walk *w, const struct oracle_walk *g)
{
    size_t compared = count_before_guess(w);
    if (compared < w->walk.count || w->walk.end != WNDL_END_COMPLETE)
        o->no_fde++;
    if (compared != g->walk.count)
        return false;
    for (size_t i = 0; i < compared; i++)
        if (!same_frame(w->frames[i], g->frames[i]))
            return false;
    return true;
}

/* What is outside of the handler is what `w` saw, its first frame included,
 * of which only the handler's walk can say that CFI recovered it. */
static bool ends_like(
    const struct oracle_walk *handler, const struct oracle_walk *w)
{
    size_t inside = handler->walk.count - w->walk.count;
    if (handler->walk.count <= w->walk.count ||
        handler->walk.end != w->walk.end ||
        handler->walk.fp_frames != w->walk.fp_frames ||
        !same_frame(handler->frames[inside], w->frames[0]))
        return false;
    return memcmp(&handler->frames[inside + 1], &w->frames[1],
               (w->walk.count - 1) * sizeof w->frames[0]) == 0;
}

struct walks {
    struct oracle_walk direct, remote, libgcc, tight, handler;
};

bool oracle_is_resumed(const struct wndl_resumed *resumed,
    const struct wndl_walk *direct, bool write)
{
    const struct wndl_walk *walk = &resumed->walk;
    uint32_t number = 0;
    if (walk->count != direct->count || walk->end != direct->end ||
        walk->fp_frames != direct->fp_frames ||
        resumed->changed > walk->count ||
        memcmp(walk->frames, direct->frames,
            walk->count * sizeof walk->frames[0]) != 0)
        return false;
    for (size_t i = walk->count; i-- > 0;) {
        uint64_t word;
        memcpy(&word, &walk->frames[i], sizeof word);
        number = (uint32_t)((number + word) * 0x9e3779b97f4a7c15u >> 32);
        if (i < resumed->changed && write)
            resumed->carried[i] = number;
        else if (i >= resumed->changed && resumed->carried[i] != number)
            return false;
    }
    return true;
}

static __thread struct walks *now;

static void walk_tightly(struct oracle *o, const struct wndl_regs *regs)
{
    struct wndl_stack_range stacks[4];
    for (size_t i = 0; i < o->stack_count; i++) {
        stacks[i] = o->stacks[i];
        if (regs->sp >= stacks[i].low && regs->sp < stacks[i].high)
            stacks[i].low = regs->sp;
    }
    prepare(&now->tight);
    wndl_unwind_regs(
        o->unwinder, regs, stacks, o->stack_count, &now->tight.walk);
}

static void walk_handler(struct oracle *o)
{
    struct wndl_regs regs;
    ucontext_t here;
    must(getcontext(&here) == 0);
    wndl_regs_from_context(&regs, &here);
    prepare(&now->handler);
    wndl_unwind_regs(
        o->unwinder, &regs, o->stacks, o->stack_count, &now->handler.walk);
}

static void keep_first(struct oracle *o, uint64_t ip)
{
    o->direct = now->direct;
    o->remote = now->remote;
    o->libgcc = now->libgcc;
    o->tight = now->tight;
    o->handler = now->handler;
    o->first_ip = ip;
}

/*
 * Code whose CFI is wrong from instruction to instruction; libgcc crashes on
 * what that gives.
 *
 * "leave; lea -8(%r10),%rsp; ret", on i386 "leave; lea -4(%ecx),%esp; ret":
 * gcc 12 ends functions that realign the stack so, and says after the leave
 * what was true before it: that RBP is saved where RBP points.
 *
 * "push %eax; ...; pop %eax" in glibc's memcpy for i686 is not told of at all.
 */
static const struct {
    uint8_t code[20], size;
    uint8_t from, to; /* offsets of the first and last such instruction */
} bad_cfi[] = {
    {{0xc9, 0x49, 0x8d, 0x62, 0xf8, 0xc3}, 6, 1, 5},
    {{0xc9, 0x8d, 0x61, 0xfc, 0xc3}, 5, 1, 4},
    {{0x50, 0x89, 0xc8, 0xc1, 0xe9, 0x02, 0x83, 0xe0, 0x03, 0xf3, 0xa5, 0x89,
         0xc1, 0xf3, 0xa4, 0x58},
        16, 1, 15},
};

UNCHECKED static bool has_bad_cfi(uint64_t ip)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)ip;
    for (size_t i = 0; i < sizeof bad_cfi / sizeof bad_cfi[0]; i++)
        for (size_t at = bad_cfi[i].from; at <= bad_cfi[i].to; at++)
            if (memcmp(code - at, bad_cfi[i].code, bad_cfi[i].size) == 0)
                return true;
    return false;
}

void oracle_check(struct oracle *o, const void *ucontext)
{
    struct wndl_regs regs;
    wndl_regs_from_context(&regs, ucontext);
    if (has_bad_cfi(regs.ip)) {
        o->bad_cfi++;
        return;
    }
    context_sp = regs.sp;
    prepare(&now->direct);
    prepare(&now->remote);
    prepare(&now->libgcc);
    struct wndl_resumed resumed = {.walk.method = WNDL_WALK_ANY};
    if (o->contexts % 997 == 0)
        wndl_unwinder_flush(o->unwinder);
    wndl_unwind_regs(
        o->unwinder, &regs, o->stacks, o->stack_count, &now->direct.walk);
    wndl_unwind_resume(o->resume, &regs, o->stacks, o->stack_count, &resumed);
    wndl_unwind_remote(oracle_remote(o), &regs, &now->remote.walk);
    struct collected to = {.into = &now->libgcc, .from = regs.ip};
    (void)_Unwind_Backtrace(collect, &to);
    walk_tightly(o, &regs);
    walk_handler(o);

    o->contexts++;
    o->frames += now->direct.walk.count;
    o->complete += now->direct.walk.end == WNDL_END_COMPLETE;
    bool same = same_as_libgcc(o, &now->direct, &now->libgcc) &&
                same_walks(&now->direct, &now->remote) &&
                same_walks(&now->direct, &now->tight) &&
                ends_like(&now->handler, &now->direct);
    bool is_resumed = oracle_is_resumed(&resumed, &now->direct.walk, true);
    o->resumed += now->direct.walk.count - resumed.changed;
    o->wrongly_resumed += !is_resumed;
    if (!same && o->differing++ == 0)
        keep_first(o, regs.ip);
}

/* ---- set-up ---- */

static struct wndl_stack_range thread_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    int failed = pthread_getattr_np(pthread_self(), &attributes);
    failed |= pthread_attr_getstack(&attributes, &low, &size);
    must(failed == 0);
    (void)pthread_attr_destroy(&attributes);
    return (struct wndl_stack_range){(uintptr_t)low, (uintptr_t)low + size};
}

static struct wndl_resume *make_resume(struct wndl_unwinder *unwinder)
{
    void *memory = mmap(NULL, wndl_resume_size(ORACLE_FRAMES),
        PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED);
    return wndl_resume_init(memory, ORACLE_FRAMES, unwinder);
}

void oracle_init(struct oracle *oracle)
{
    memset(oracle, 0, sizeof *oracle);
    void *memory = mmap(NULL, wndl_unwinder_size(), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED);
    oracle->unwinder = wndl_unwinder_init(memory);
    oracle->resume = make_resume(oracle->unwinder);
    oracle->stacks[0] = thread_stack();
    oracle->stack_count = 1;
    now = calloc(1, sizeof *now);
    must(now != NULL);
    (void)oracle_remote(oracle);
    /* libgcc's own first-time work. */
    struct collected nothing = {.into = &now->libgcc};
    (void)_Unwind_Backtrace(collect, &nothing);
}

void oracle_free(struct oracle *oracle)
{
    (void)munmap(oracle->unwinder, wndl_unwinder_size());
    (void)munmap(oracle->resume, wndl_resume_size(ORACLE_FRAMES));
    process.remote.module_count = 0;
    free(now);
    now = NULL;
}

void oracle_add_stack(struct oracle *oracle, void *low, size_t size)
{
    oracle->stacks[oracle->stack_count++] =
        (struct wndl_stack_range){(uintptr_t)low, (uintptr_t)low + size};
}

/* ---- saying what differs ---- */

static void print_walk(const char *name, const struct oracle_walk *w)
{
    printf("%s: %zu frames, end %d\n", name, w->walk.count, w->walk.end);
    for (size_t i = 0; i < w->walk.count; i++)
        printf("  %zu %#lx%s how %d\n", i, (unsigned long)w->frames[i].address,
            w->frames[i].interrupted ? " interrupted" : "", w->frames[i].how);
}

bool oracle_agrees(const struct oracle *o)
{
    if (o->wrongly_resumed > 0)
        printf(
            "%zu resumed walks differ from direct ones\n", o->wrongly_resumed);
    if (o->differing == 0)
        return o->wrongly_resumed == 0;
    printf("%zu of %zu contexts differ; the first, at %#lx:\n", o->differing,
        o->contexts, (unsigned long)o->first_ip);
    print_walk("direct", &o->direct);
    print_walk("remote", &o->remote);
    print_walk("libgcc", &o->libgcc);
    print_walk("tight", &o->tight);
    print_walk("handler", &o->handler);
    return false;
}

/* ---- stepping ---- */

static __thread struct oracle *stepped; /* NULL: stop */

/* EFLAGS.TF is set and cleared in the saved context: code that did it itself
 * would move RSP without CFI. */
static void on_trap(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    greg_t *flags = &((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL];
    if (stepped == NULL) {
        *flags &= ~0x100;
        return;
    }
    *flags |= 0x100;
    oracle_check(stepped, ucontext);
}

void oracle_step(
    struct oracle *oracle, void (*code)(void *argument), void *argument)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct sigaction old;
    int failed = sigaction(SIGTRAP, &action, &old);
    stepped = oracle;
    failed |= raise(SIGTRAP); /* steps from here on */
    code(argument);
    stepped = NULL;
    __asm__ volatile("nop; nop" : : : "memory");
    failed |= sigaction(SIGTRAP, &old, NULL);
    must(failed == 0);
}
