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

/* CPUID leaf 7: bit OSPKE of ECX says that protection keys are enabled. */
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

/* Restores the rights. 0: there are no protection keys, or all were open. */
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

/*
 * Whether the kernel reports the program's addresses; in emulators it reports
 * others.
 */
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
    pages->for_copy = !pages->in_place;
    if (!pages->for_copy)
        return;
    pages->in_place = true;
    pages->rights = open_keys();
}

void wndl_rt_own_pages_end_copy(struct wndl_rt_own_pages *pages)
{
    if (!pages->for_copy)
        return;
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

static void set_state(const struct wndl_rt_page_states *states, size_t page,
    enum wndl_rt_page state)
{
    states->pages[page] = (uint8_t)state;
    states->parts[page / WNDL_RT_PAGES_PART] = 1;
}

/* Reads the entry of each page: of all kernels. */
static bool read_entries(struct wndl_rt_own_pages *pages, uintptr_t start,
    const struct wndl_rt_page_states *states)
{
    enum { ENTRIES = 512 };
    uint64_t room[ENTRIES];
    long at = (long)(start / WNDL_RT_PAGE * sizeof room[0]);
    pages->too_many |= states->count > WNDL_RT_PAGES_READ_MOST - pages->read;
    if (pages->too_many)
        return false;
    pages->read += states->count;
    if (wndl_raw3(SYS_lseek, pages->pagemap, at, SEEK_SET) != at)
        return false;
    for (size_t done = 0; done < states->count;) {
        size_t left = states->count - done;
        size_t wanted = left < ENTRIES ? left : ENTRIES;
        long got = wndl_raw_read(pages->pagemap, room, wanted * sizeof room[0]);
        if (got < (long)sizeof room[0])
            return false;
        for (size_t i = 0; i < (size_t)got / sizeof room[0]; i++, done++) {
            enum wndl_rt_page state = state_of(pages, room[i]);
            if (state != WNDL_RT_PAGE_UNTOUCHED)
                set_state(states, done, state);
        }
    }
    return true;
}

/* PAGEMAP_SCAN(2const), of Linux 6.7, which older headers lack. */
struct scan {
    uint64_t size, flags, start, end, walk_end, regions, room, max_pages;
    uint64_t inverted, all, any, returned; /* categories */
};
struct region {
    uint64_t start, end, categories;
};
enum {
    SCAN_PRESENT = 1 << 3,
    SCAN_SWAPPED = 1 << 4, /* guards and poisoned pages, too */
    SCAN_REGIONS = 128,
};
#define SCAN_CALL 0xc0606610L

static void take_region(const struct wndl_rt_own_pages *pages,
    const struct region *region, uintptr_t start,
    const struct wndl_rt_page_states *states)
{
    const bool is_present =
        pages->in_place && (region->categories & SCAN_SWAPPED) == 0;
    size_t page = (size_t)(region->start - start) / WNDL_RT_PAGE;
    const size_t end = (size_t)(region->end - start) / WNDL_RT_PAGE;
    for (; page < end && page < states->count; page++)
        set_state(states, page,
            is_present ? WNDL_RT_PAGE_PRESENT : WNDL_RT_PAGE_OTHER);
}

/*
 * Asks for the touched pages alone: the kernel passes over page tables that do
 * not exist. False if it cannot be asked so.
 */
static bool scan_pages(const struct wndl_rt_own_pages *pages, uintptr_t start,
    const struct wndl_rt_page_states *states)
{
    struct region regions[SCAN_REGIONS];
    start &= ~(uintptr_t)(WNDL_RT_PAGE - 1);
    const uint64_t end = start + (uint64_t)states->count * WNDL_RT_PAGE;
    struct scan scan = {
        .size = sizeof scan,
        .start = start,
        .end = end,
        .regions = (uintptr_t)regions,
        .room = SCAN_REGIONS,
        .any = SCAN_PRESENT | SCAN_SWAPPED,
        .returned = SCAN_PRESENT | SCAN_SWAPPED,
    };
    while (scan.start < end) {
        const long count =
            wndl_raw3(SYS_ioctl, pages->pagemap, SCAN_CALL, (long)&scan);
        if (count < 0 || count > SCAN_REGIONS || scan.walk_end <= scan.start)
            return false;
        for (long i = 0; i < count; i++)
            take_region(pages, &regions[i], start, states);
        scan.start = scan.walk_end;
    }
    return true;
}

bool wndl_rt_own_pages_look(struct wndl_rt_own_pages *pages, uintptr_t start,
    const struct wndl_rt_page_states *states)
{
    return pages->pagemap >= 0 && (scan_pages(pages, start, states) ||
                                      read_entries(pages, start, states));
}

size_t wndl_rt_pages_next_touched(
    const struct wndl_rt_page_states *states, size_t from, size_t end)
{
    while (from < end) {
        if (states->parts[from / WNDL_RT_PAGES_PART] == 0)
            from = (from / WNDL_RT_PAGES_PART + 1) * WNDL_RT_PAGES_PART;
        else if (states->pages[from] == WNDL_RT_PAGE_UNTOUCHED)
            from++;
        else
            return from;
    }
    return end;
}
