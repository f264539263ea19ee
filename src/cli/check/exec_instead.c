/* SPDX-License-Identifier: MIT */
#include "cli/check/exec_instead.h"

#if defined(__x86_64__)

#include "base/buf.h"
#include "os/process_memory.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

/* The kernel makes 128 KB of the stack below its first contents. */
enum { ARGUMENTS_MAX = 4096, WRITTEN_MAX = 100 << 10 };

/*
 * What runs in place of the program's start. The kernel sets %eax once more
 * when the execve() that is about to end has ended, and nothing else.
 */
static const uint8_t code[24] = {
    0xb8, 59, 0, 0, 0,   /* mov $SYS_execve,%eax */
    0x0f, 0x05,          /* syscall */
    0xbf, 127, 0, 0, 0,  /* mov $127,%edi */
    0xb8, 0xe7, 0, 0, 0, /* mov $SYS_exit_group,%eax */
    0x0f, 0x05,          /* syscall */
};

/* The words that go below the stack pointer: pointers, and their texts. */
struct vector {
    char *const *words; /* the first `count` */
    size_t count;
    const char *program;
    struct wndl_buf pointers;
    struct wndl_buf texts;
    uint64_t texts_at; /* the address of the first */
};

static void add_pointer(struct vector *v, uint64_t address)
{
    wndl_buf_u64le(&v->pointers, address);
}

static void add_text(struct vector *v, const char *text)
{
    add_pointer(v, v->texts_at + v->texts.size);
    wndl_buf_add(&v->texts, text, strlen(text) + 1);
}

static size_t texts_size(const struct vector *v)
{
    size_t size = strlen(v->program) + 1;
    for (size_t i = 0; i < v->count; i++)
        size += strlen(v->words[i]) + 1;
    return size;
}

/* Copies the pointers to the arguments that stay, and the NULL after them. */
static bool add_arguments(
    struct vector *v, pid_t pid, uint64_t sp, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        uint64_t pointer;
        if (wndl_process_read(pid, sp + 8 + 8 * i, &pointer, sizeof pointer) !=
            sizeof pointer)
            return false;
        add_pointer(v, pointer);
    }
    add_pointer(v, 0);
    return true;
}

static bool write_vector(const struct vector *v, pid_t pid, uint64_t at)
{
    const size_t size = v->pointers.size + v->texts.size;
    const struct iovec from[] = {
        {v->pointers.data, v->pointers.size}, {v->texts.data, v->texts.size}};
    const struct iovec to = {(void *)(uintptr_t)at, size};
    return !v->pointers.failed && !v->texts.failed &&
           process_vm_writev(pid, from, 2, &to, 1, 0) == (ssize_t)size;
}

/* The last word first: if the page ends before it, nothing is changed. */
static bool write_code(pid_t pid, uint64_t at)
{
    for (size_t i = sizeof code; i > 0; i -= sizeof(long)) {
        long word;
        memcpy(&word, code + i - sizeof word, sizeof word);
        if (ptrace(PTRACE_POKETEXT, pid, at + i - sizeof word, word) != 0)
            return false;
    }
    return true;
}

static void add_words(struct vector *v)
{
    for (size_t i = 0; i < v->count; i++)
        add_text(v, v->words[i]);
    add_text(v, v->program);
}

/* Fills in and writes the vector; `regs` then has execve's arguments. */
static bool put_arguments(
    struct vector *v, pid_t pid, struct user_regs_struct *regs)
{
    uint64_t given = 0; /* words */
    if (wndl_process_read(pid, regs->rsp, &given, sizeof given) !=
            sizeof given ||
        given > ARGUMENTS_MAX)
        return false;
    const size_t stay = given == 0 ? 0 : (size_t)given - 1;
    const size_t pointers = (v->count + 1 + stay + 1) * 8;
    const size_t size = pointers + texts_size(v);
    const uint64_t at = (regs->rsp - size) & ~UINT64_C(15);
    if (size > WRITTEN_MAX)
        return false;
    v->texts_at = at + pointers;
    add_words(v);
    regs->rdi = v->texts_at;
    regs->rsi = at;
    regs->rdx = regs->rsp + 8 * (given + 2);
    return add_arguments(v, pid, regs->rsp, given) && write_vector(v, pid, at);
}

bool wndl_exec_instead(
    pid_t pid, char *const *words, size_t count, const char *program)
{
    struct user_regs_struct regs;
    struct iovec set = {&regs, sizeof regs};
    struct vector v = {.words = words, .count = count, .program = program};
    if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &set) != 0 ||
        set.iov_len != sizeof regs)
        return false;
    wndl_buf_init(&v.pointers, wndl_mem_libc());
    wndl_buf_init(&v.texts, wndl_mem_libc());
    const bool fine = put_arguments(&v, pid, &regs) &&
                      ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &set) == 0 &&
                      write_code(pid, regs.rip);
    wndl_buf_free(&v.texts);
    wndl_buf_free(&v.pointers);
    return fine;
}

#else

bool wndl_exec_instead(
    pid_t pid, char *const *words, size_t count, const char *program)
{
    (void)pid;
    (void)words;
    (void)count;
    (void)program;
    return false;
}

#endif
