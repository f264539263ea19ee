/* SPDX-License-Identifier: MIT */
/*
 * raw: system calls made directly, for code that runs inside another program:
 * no errno, no libc, no cancellation point, nothing that could be interposed.
 * Each returns what the kernel does: a result, or -errno.
 */
#ifndef WNDL_OS_RAW_H
#define WNDL_OS_RAW_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef __x86_64__
#error "bare system calls are written for x86-64 only"
#endif

static inline long wndl_raw6(
    long number, const long a[static 4], long fifth, long sixth)
{
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = fifth;
    register long r9 __asm__("r9") = sixth;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10),
                     "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long wndl_raw4(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long wndl_raw3(long number, long a, long b, long c)
{
    return wndl_raw4(number, a, b, c, 0);
}

static inline int wndl_raw_gettid(void)
{
    return (int)wndl_raw3(SYS_gettid, 0, 0, 0);
}

static inline int wndl_raw_getpid(void)
{
    return (int)wndl_raw3(SYS_getpid, 0, 0, 0);
}

static inline int wndl_raw_open(const char *path, int flags)
{
    return (int)wndl_raw4(SYS_openat, AT_FDCWD, (long)path, flags, 0);
}

static inline long wndl_raw_read(int fd, void *to, size_t size)
{
    return wndl_raw3(SYS_read, fd, (long)to, (long)size);
}

static inline void wndl_raw_close(int fd)
{
    (void)wndl_raw3(SYS_close, fd, 0, 0);
}

/* NULL on failure. `fd` < 0: zeroed private memory. */
static inline void *wndl_raw_map(size_t size, int protection, int flags, int fd)
{
    const long a[] = {0, (long)size, protection, flags};
    long address = wndl_raw6(SYS_mmap, a, fd, 0);
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

static inline void wndl_raw_unmap(void *address, size_t size)
{
    (void)wndl_raw3(SYS_munmap, (long)address, (long)size, 0);
}

static inline uint64_t wndl_raw_clock_ns(clockid_t clock)
{
    struct timespec t = {0};
    (void)wndl_raw3(SYS_clock_gettime, clock, (long)&t, 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
