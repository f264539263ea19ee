/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into any program: single-steps its main thread for a while at
 * random times, and compares walks at each instruction: resumed ones with
 * those by the full interpreter. Ends the program after $STEPPER_POINTS of
 * them; writes what it saw to $STEPPER_OUT.
 */
#include "unwind/slow/full.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <windlass/unwind.h>

enum { FRAMES = 2048, BURST = 100, TRAP_FLAG = 0x100 };

static struct {
    struct wndl_resume *resume;
    struct wndl_stack_range stack;
    int out;   /* descriptor; 0: there is none */
    int burst; /* instructions left of it */
    size_t wanted, points, complete, frames, resumed, differing;
} stepper;

/* Not seen by those who write to stacks under a sanitizer's eye. */
static bool read_stack(void *range, uint64_t address, void *to, size_t size)
{
    const struct wndl_stack_range *r = range;
    if (address < r->low || address > r->high || size > r->high - address)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static void tell_difference(
    uint64_t pc, const struct wndl_walk *a, const struct wndl_walk *b)
{
    size_t i = 0;
    while (i < a->count && i < b->count &&
           a->frames[i].address == b->frames[i].address)
        i++;
    (void)dprintf(stepper.out,
        "differs at %#lx: %zu frames, end %d; fully %zu, %d; from %zu on\n",
        (unsigned long)pc, a->count, a->end, b->count, b->end, i);
}

static void compare(const struct wndl_regs *regs)
{
    static struct wndl_frame frames[FRAMES];
    struct wndl_stack_range range = {regs->sp - 128, stepper.stack.high};
    struct wndl_walk full = {.frames = frames, .max_frames = FRAMES};
    struct wndl_resumed resumed = {.walk.method = WNDL_WALK_ANY};
    const struct wndl_space space = {
        .memory = {read_stack, &range},
        .arch = WNDL_ARCH_HERE,
    };
    const struct wndl_walk *walk = &resumed.walk;
    wndl_unwind_resume(stepper.resume, regs, &range, 1, &resumed);
    wndl_full_walk(&space, regs, &full);
    stepper.points++;
    stepper.frames += full.count;
    stepper.complete += full.end == WNDL_END_COMPLETE;
    stepper.resumed += resumed.resumed;
    if (walk->count == full.count && walk->end == full.end &&
        walk->fp_frames == full.fp_frames &&
        memcmp(walk->frames, frames, full.count * sizeof frames[0]) == 0)
        return;
    if (stepper.differing++ < 10)
        tell_difference(regs->ip, walk, &full);
}

static void look(void *ucontext)
{
    struct wndl_regs regs;
    wndl_regs_from_context(&regs, ucontext);
    if (regs.sp >= stepper.stack.low && regs.sp < stepper.stack.high)
        compare(&regs);
}

static void on_timer(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    if (gettid() != getpid())
        return;
    stepper.burst = BURST;
    ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void tell(void)
{
    (void)dprintf(stepper.out,
        "points %zu complete %zu frames %zu resumed %zu differing %zu\n",
        stepper.points, stepper.complete, stepper.frames, stepper.resumed,
        stepper.differing);
}

static void on_trap(int number, siginfo_t *info, void *ucontext)
{
    (void)number;
    (void)info;
    look(ucontext);
    if (stepper.points >= stepper.wanted) {
        tell();
        _exit(0);
    }
    if (--stepper.burst <= 0)
        ((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void find_stack(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *after;
        uint64_t low = strtoull(line, &after, 16);
        if (strstr(line, "[stack]") == NULL || *after != '-')
            continue;
        /* It grows. */
        stepper.stack.low = low - (UINT64_C(8) << 20);
        stepper.stack.high = strtoull(after + 1, NULL, 16);
    }
    if (maps != NULL)
        (void)fclose(maps);
}

static void *map_memory(size_t size)
{
    void *memory = mmap(
        NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static __attribute__((constructor)) void begin(void)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    struct sigaction timer = {
        .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    const char *path = getenv("STEPPER_OUT");
    const char *wanted = getenv("STEPPER_POINTS");
    if (path == NULL || wanted == NULL)
        return;
    stepper.out = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (stepper.out <= 0)
        abort();
    stepper.wanted = strtoul(wanted, NULL, 10);
    (void)unsetenv("LD_PRELOAD");
    (void)sigaddset(&trap.sa_mask, SIGPROF);
    find_stack();
    stepper.resume = wndl_resume_init(map_memory(wndl_resume_size(FRAMES)),
        FRAMES, wndl_unwinder_init(map_memory(wndl_unwinder_size())));
    (void)sigaction(SIGTRAP, &trap, NULL);
    (void)sigaction(SIGPROF, &timer, NULL);
    (void)setitimer(ITIMER_PROF, &often, NULL);
}

static __attribute__((destructor)) void finish(void)
{
    const struct itimerval never = {0};
    if (stepper.out == 0)
        return;
    (void)setitimer(ITIMER_PROF, &never, NULL);
    tell();
}
