/* SPDX-License-Identifier: MIT */
#include "rt/core/readable_pages.h"

#include "os/own_threads.h"
#include "os/raw.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>

/* Of the extended features: whether the system enables protection keys. */
enum { LEAF = 7, OSPKE = 1 << 4, WHOLE_PAGES = 1 };

static bool has_keys(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(LEAF, 0, &a, &b, &c, &d) != 0 && (c & OSPKE) != 0;
}

/* RDPKRU and WRPKRU, as bytes, because not every assembler knows them. */
static uint32_t open_keys(void)
{
    uint32_t rights, zero;
    if (!has_keys())
        return 0;
    __asm__ volatile(".byte 0x0f, 0x01, 0xee"
                     : "=a"(rights), "=d"(zero)
                     : "c"(0));
    __asm__ volatile(".byte 0x0f, 0x01, 0xef"
                     :
                     : "a"(0), "c"(0), "d"(0)
                     : "memory");
    return rights;
}

/* Without keys all of them were open. */
static void restore_keys(uint32_t rights)
{
    if (rights == 0)
        return;
    __asm__ volatile(".byte 0x0f, 0x01, 0xef"
                     :
                     : "a"(rights), "c"(0), "d"(0)
                     : "memory");
}

#else

/* Pages may be of another size, or tagged (AArch64). */
enum { WHOLE_PAGES = 0 };

static uint32_t open_keys(void)
{
    return 0;
}

static void restore_keys(uint32_t rights)
{
    (void)rights;
}

#endif

/* Not in emulators, which report other addresses than the program's. */
static bool has_own_addresses(void)
{
    uint64_t from = 1, to = 0;
    struct iovec local = {&to, sizeof to}, remote = {&from, sizeof from};
    const long a[] = {wndl_rt.pid, (long)&local, 1, (long)&remote};
    return wndl_raw6(SYS_process_vm_readv, a, 1, 0) == sizeof to && to == from;
}

/* Any child may share the memory. True if it is not known. */
static bool has_children(void)
{
    char first;
    int fd = wndl_raw_open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    long got = wndl_raw_read(fd, &first, sizeof first);
    wndl_raw_close(fd);
    return got != 0;
}

/* In a child of vfork the parent's other threads run on. */
static bool is_alone(void)
{
    return wndl_rt_is_own_process() && wndl_own_threads_count() == 1 &&
           !has_children();
}

/* The engine's handler does not change memory. */
static uint64_t handled_signals(void)
{
    uint64_t handled = 0;
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action;
    for (int i = 1; i < _NSIG; i++) {
        if (wndl_raw4(SYS_rt_sigaction, i, 0, (long)&action,
                WNDL_ARCH_SIGSET_BYTES) == 0 &&
            action.handler != SIG_DFL && action.handler != SIG_IGN)
            handled |= wndl_rt_signal_bit(i);
    }
    return handled & WNDL_RT_ALL_SIGNALS & ~wndl_rt.signals;
}

static uint64_t set_mask(int how, uint64_t mask)
{
    uint64_t before = 0;
    (void)wndl_raw4(SYS_rt_sigprocmask, how, (long)&mask, (long)&before,
        WNDL_ARCH_SIGSET_BYTES);
    return before;
}

void wndl_rt_own_pages_begin(struct wndl_rt_own_pages *pages)
{
    *pages = (struct wndl_rt_own_pages){.pagemap = -1};
    if (!WHOLE_PAGES || !has_own_addresses())
        return;
    pages->pagemap = wndl_raw_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pages->pagemap < 0)
        return;
    /* Before the check: a handler may start a process that shares the
     * memory. */
    pages->mask = set_mask(SIG_BLOCK, handled_signals());
    pages->in_place = is_alone();
    if (pages->in_place)
        pages->rights = open_keys();
    else
        (void)set_mask(SIG_SETMASK, pages->mask);
}

void wndl_rt_own_pages_end(const struct wndl_rt_own_pages *pages)
{
    if (pages->in_place) {
        restore_keys(pages->rights);
        (void)set_mask(SIG_SETMASK, pages->mask);
    }
    if (pages->pagemap >= 0)
        wndl_raw_close(pages->pagemap);
}

void wndl_rt_own_pages_begin_copy(struct wndl_rt_own_pages *pages)
{
    pages->in_place = true;
    pages->rights = open_keys();
}

void wndl_rt_own_pages_end_copy(struct wndl_rt_own_pages *pages)
{
    pages->in_place = false;
    restore_keys(pages->rights);
}

/* An entry of pagemap. Guards and poisoned pages look like swapped ones. */
static enum wndl_rt_page state_of(
    const struct wndl_rt_own_pages *pages, uint64_t entry)
{
    enum { PRESENT = 63, SWAPPED = 62 };
    if ((entry >> SWAPPED & 1) != 0)
        return WNDL_RT_PAGE_OTHER;
    if ((entry >> PRESENT & 1) == 0)
        return WNDL_RT_PAGE_UNTOUCHED;
    return pages->in_place ? WNDL_RT_PAGE_PRESENT : WNDL_RT_PAGE_OTHER;
}

bool wndl_rt_own_pages_look(const struct wndl_rt_own_pages *pages,
    uintptr_t start, size_t count, uint8_t *states)
{
    enum { ENTRIES = 512 };
    uint64_t room[ENTRIES];
    long at = (long)(start / WNDL_RT_PAGE * sizeof room[0]);
    if (pages->pagemap < 0 ||
        wndl_raw3(SYS_lseek, pages->pagemap, at, SEEK_SET) != at)
        return false;
    for (size_t done = 0; done < count;) {
        size_t left = count - done;
        size_t wanted = left < ENTRIES ? left : ENTRIES;
        long got = wndl_raw_read(pages->pagemap, room, wanted * sizeof room[0]);
        if (got < (long)sizeof room[0])
            return false;
        for (size_t i = 0; i < (size_t)got / sizeof room[0]; i++, done++) {
            enum wndl_rt_page state = state_of(pages, room[i]);
            if (state != WNDL_RT_PAGE_UNTOUCHED)
                states[done] = (uint8_t)state;
        }
    }
    return true;
}
