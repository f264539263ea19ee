/* SPDX-License-Identifier: MIT */
/*
 * print_stack: a walk by the slow path only. That needs no memory but the
 * stack, and reads no word before the kernel has said that it is mapped.
 */
#include "unwind/crash/print_stack.h"

#include "os/dlfind.h"
#include "os/line.h"
#include "os/own_memory.h"
#include "os/raw.h"
#include "unwind/slow/full.h"

#include <limits.h>
#include <sys/auxv.h>
#include <windlass/crash.h>

enum { MAX_FRAMES = 256 };

static const char *const why_ended[] = {
    [WNDL_END_TRUNCATED] = "there are more frames, which are not printed",
    [WNDL_END_NO_RULE] = "there is no unwind information for this code",
    [WNDL_END_BAD_READ] = "the stack cannot be read from here on",
    [WNDL_END_NO_PROGRESS] = "the stack goes in circles from here on",
    [WNDL_END_BAD_CFI] = "the unwind information for this code is damaged",
    [WNDL_END_BAD_PC] = "the next return address is in no code",
};

static bool read_own(void *memory, uint64_t address, void *to, size_t size)
{
    return wndl_own_memory_read(memory, address, to, size);
}

/* Adds the path of the program's own file, which the loader does not keep. */
static void add_program(struct wndl_line *line)
{
    char path[PATH_MAX];
    long size = wndl_raw4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
        (long)path, sizeof path - 1);
    const char *started_as = (const char *)getauxval(AT_EXECFN);
    if (size > 0) {
        path[size] = '\0';
        wndl_line_foreign(line, path);
    } else {
        wndl_line_foreign(line, started_as == NULL ? "?" : started_as);
    }
}

static void print_frame(
    struct wndl_line *line, size_t number, struct wndl_frame frame)
{
    struct wndl_dlmodule module;
    uint64_t pc = frame.address - !frame.interrupted;
    wndl_line_char(line, '#');
    wndl_line_decimal(line, number, 2);
    wndl_line_text(line, ": ???");
    if (!wndl_dlfind(pc, &module)) {
        wndl_line_text(line, " (");
        wndl_line_hex(line, pc);
        wndl_line_char(line, ')');
    } else {
        wndl_line_char(line, '[');
        if (module.name[0] == '\0')
            add_program(line);
        else
            wndl_line_foreign(line, module.name);
        wndl_line_text(line, " +");
        wndl_line_hex(line, pc - module.map_start);
        wndl_line_char(line, ']');
    }
    wndl_line_end(line);
}

void wndl_print_stack_from(int fd, const struct wndl_regs *regs, size_t skip)
{
    struct wndl_own_memory memory = {0};
    const struct wndl_space space = {.memory = {read_own, &memory},
        .arch = WNDL_ARCH_HERE,
        .method = WNDL_WALK_ANY};
    struct wndl_frame frames[MAX_FRAMES];
    struct wndl_walk walk = {.frames = frames, .max_frames = MAX_FRAMES};
    wndl_full_walk(&space, regs, &walk);
    struct wndl_line line;
    wndl_line_init(&line, fd);
    for (size_t i = skip; i < walk.count; i++)
        print_frame(&line, i + 1 - skip, frames[i]);
    if (why_ended[walk.end] == NULL)
        return;
    wndl_line_char(&line, '(');
    wndl_line_text(&line, why_ended[walk.end]);
    wndl_line_text(&line, ")");
    wndl_line_end(&line);
}

/*
 * The registers at one instruction of the function into which this is inlined.
 * They are stored in registers other than those.
 */
static inline __attribute__((always_inline)) void registers_here(
    struct wndl_regs *regs)
{
    uintptr_t ip, sp, fp, bx;
#if defined(__x86_64__)
    __asm__ volatile("1: leaq 1b(%%rip), %0\n\t"
                     "movq %%rsp, %1\n\t"
                     "movq %%rbp, %2\n\t"
                     "movq %%rbx, %3"
                     : "=&a"(ip), "=&d"(sp), "=&c"(fp), "=&S"(bx));
#elif defined(__aarch64__)
    __asm__ volatile("1: adr %0, 1b\n\t"
                     "mov %1, sp\n\t"
                     "mov %2, x29\n\t"
                     "mov %3, x19"
                     : "=&r"(ip), "=&r"(sp), "=&r"(fp), "=&r"(bx));
#elif defined(__arm__)
    __asm__ volatile("1: adr %0, 1b\n\t"
                     "mov %1, sp\n\t"
                     "mov %2, r11\n\t"
                     "mov %3, r7"
                     : "=&r"(ip), "=&r"(sp), "=&r"(fp), "=&r"(bx));
    ip &= ~(uintptr_t)3;
#else
    __asm__ volatile("call 1f\n"
                     "1: popl %0\n\t"
                     "movl %%esp, %1\n\t"
                     "movl %%ebp, %2\n\t"
                     "movl %%ebx, %3"
                     : "=&a"(ip), "=&d"(sp), "=&c"(fp), "=&S"(bx));
#endif
    *regs = (struct wndl_regs){
        .ip = ip,
        .sp = sp,
        .fp = fp,
        .bx = bx,
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX,
    };
}

__attribute__((noinline)) void wndl_print_stack(int fd)
{
    struct wndl_regs regs;
    registers_here(&regs);
    wndl_print_stack_from(fd, &regs, 1);
}
