/* SPDX-License-Identifier: MIT */
/*
 * raw: direct system calls, for code that runs inside another program: no
 * errno, no libc, no cancellation point, nothing that could be interposed. Each
 * returns the kernel's result, which may be -errno.
 */
#ifndef WNDL_OS_RAW_H
#define WNDL_OS_RAW_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/* The kernel's numbers, which older headers of libc lack. */
#ifndef SYS_close_range
#define SYS_close_range __NR_close_range
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 __NR_epoll_pwait2
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv __NR_futex_waitv
#endif

/* wndl_raw6 takes four arguments in `a`. Addresses are passed as longs. */
#if defined(__x86_64__)

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

#elif defined(__i386__)

/*
 * The old gate has a return address that needs no vDSO. The sixth argument is
 * in EBP, which may be the frame pointer here: it is set around the call.
 */
static inline long wndl_raw6(
    long number, const long a[static 4], long fifth, long sixth)
{
    const long last[2] = {number, sixth};
    long result;
    __asm__ volatile(
        "pushl %%ebp\n\t"
        "movl 4(%%eax), %%ebp\n\t"
        "movl (%%eax), %%eax\n\t"
        "int $0x80\n\t"
        "popl %%ebp"
        : "=a"(result)
        : "a"(last), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(fifth)
        : "memory");
    return result;
}

static inline long wndl_raw4(long number, long a, long b, long c, long d)
{
    long result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
                     : "memory");
    return result;
}

#elif defined(__aarch64__)

static inline long wndl_raw6(
    long number, const long a[static 4], long fifth, long sixth)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a[0];
    register long x1 __asm__("x1") = a[1];
    register long x2 __asm__("x2") = a[2];
    register long x3 __asm__("x3") = a[3];
    register long x4 __asm__("x4") = fifth;
    register long x5 __asm__("x5") = sixth;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

static inline long wndl_raw4(long number, long a, long b, long c, long d)
{
    const long first[4] = {a, b, c, d};
    return wndl_raw6(number, first, 0, 0);
}

#elif defined(__arm__)

/* The number is in r7, which may be the frame pointer here. */
static inline long wndl_raw6(
    long number, const long a[static 4], long fifth, long sixth)
{
    register long r0 __asm__("r0") = a[0];
    register long r1 __asm__("r1") = a[1];
    register long r2 __asm__("r2") = a[2];
    register long r3 __asm__("r3") = a[3];
    register long r4 __asm__("r4") = fifth;
    register long r5 __asm__("r5") = sixth;
    register long r6 __asm__("r6") = number;
    __asm__ volatile("mov r12, r7\n\t"
                     "mov r7, r6\n\t"
                     "svc #0\n\t"
                     "mov r7, r12"
                     : "+r"(r0)
                     : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r6)
                     : "r12", "memory");
    return r0;
}

static inline long wndl_raw4(long number, long a, long b, long c, long d)
{
    const long first[4] = {a, b, c, d};
    return wndl_raw6(number, first, 0, 0);
}

#else
#error "bare system calls are written for x86-64, i386, AArch64 and Arm"
#endif

/* The calls that have another name in 32-bit programs. */
#ifdef SYS_mmap2
enum { WNDL_SYS_MMAP = SYS_mmap2 }; /* its offset is in pages */
#else
enum { WNDL_SYS_MMAP = SYS_mmap };
#endif

/* Our timespec is that of the calls whose names lack "64". */
_Static_assert(sizeof(struct timespec) == 2 * sizeof(long),
    "the libc's time_t is the kernel's");

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

/*
 * Sleeps by a futex wait, the one wait that every program with threads needs: a
 * sandbox may treat nanosleep() as an attack. Signals cut it short.
 */
static inline void wndl_raw_sleep(long ns)
{
    enum { WAIT_PRIVATE = 128 };
    const struct timespec time = {.tv_nsec = ns};
    const uint32_t nobody_wakes = 0;
    (void)wndl_raw4(
        SYS_futex, (long)&nobody_wakes, WAIT_PRIVATE, 0, (long)&time);
}

/*
 * Pauses between attempts while another thread is at work. A thread of a higher
 * priority would yield to nobody, so it sleeps after some attempts.
 */
static inline void wndl_raw_pause(unsigned tries)
{
    enum { YIELDS = 64, NANOS = 50 * 1000 };
    if (tries < YIELDS)
        (void)wndl_raw3(SYS_sched_yield, 0, 0, 0);
    else
        wndl_raw_sleep(NANOS);
}

static inline int wndl_raw_open(const char *path, int flags)
{
    return (int)wndl_raw4(SYS_openat, AT_FDCWD, (long)path, flags, 0);
}

static inline long wndl_raw_read(int fd, void *to, size_t size)
{
    return wndl_raw3(SYS_read, fd, (long)to, (long)size);
}

static inline long wndl_raw_write(int fd, const void *from, size_t size)
{
    return wndl_raw3(SYS_write, fd, (long)from, (long)size);
}

static inline void wndl_raw_close(int fd)
{
    (void)wndl_raw3(SYS_close, fd, 0, 0);
}

/* NULL on failure. `fd` < 0: zeroed private memory. */
static inline void *wndl_raw_map(size_t size, int protection, int flags, int fd)
{
    const long a[] = {0, (long)size, protection, flags};
    long address = wndl_raw6(WNDL_SYS_MMAP, a, fd, 0);
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
