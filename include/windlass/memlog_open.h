/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog_open.h: how a process opens its log, below
 * windlass/memlog.h. Include that one.
 *
 * A process has one log, whatever number of libraries have this header: its
 * file has the name of the process, and those that come later map it, too. A
 * forked child gets its own. It is known by a page that the kernel wipes in the
 * child, so that no event has to ask who it is.
 *
 * System calls are made without the libc's wrappers, some of which are points
 * of cancellation.
 */
#ifndef WINDLASS_MEMLOG_OPEN_H
#define WINDLASS_MEMLOG_OPEN_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <windlass/memlog_ring.h>
#include <windlass/memlog_valgrind.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Private: a struct timespec of the libc's functions without "64". */
struct wndl_memlog_time {
    long seconds;
    long nanoseconds;
};

/* Private: declared whatever standard the program is compiled for. */
extern long wndl_memlog_call(long number, ...) __asm__("syscall");
/* Private. */
extern int wndl_memlog_clock_gettime(
    int clock, struct wndl_memlog_time *time) __asm__("clock_gettime");

enum {
    WNDL_MEMLOG_CLOCK_REAL = 0,
    WNDL_MEMLOG_CLOCK_MONOTONIC = 1,
    WNDL_MEMLOG_CLOCK_COARSE = 6
};

/*
 * Private: what a process knows of its log. `ring` is NULL in a child that has
 * not opened its own.
 */
struct wndl_memlog_page {
    struct wndl_memlog_ring *ring;
    uint8_t *blocks;
    uint64_t *owners;
    uint64_t block_mask;
    uint64_t slot_mask;
    uint64_t stamp;     /* of this ring in the states of types; << 32 */
    long thread_offset; /* of the thread's id from its pointer; 0: not known */
    uint32_t seen;      /* `turn` + 1 when it was opened; 0: there is no ring */
    uint32_t is_plain;  /* its clock is the TSC, and thread_offset known */
    uint32_t lane_mask;
    uint32_t shared_mask;
    uint32_t clock;
    struct wndl_memlog_ring *kept; /* mapped, while the log is off */
};

/* Private. */
struct wndl_memlog_state {
    const uint32_t *gate; /* NULL before the first event */
    uint32_t off_at;      /* value of the gate at which nothing is logged */
    uint32_t opening;     /* the process one of whose threads opens the log */
    uint32_t missed;      /* events of others meanwhile */
    uint32_t stamps;
    uint32_t never; /* a gate, if there is no folder */
    uint32_t unused;
    struct wndl_memlog_page *page;
    const struct wndl_memlog_control *control;
};

/* Private. */
extern struct wndl_memlog_state wndl_memlog_state;
__attribute__((
    weak, visibility("default"))) struct wndl_memlog_state wndl_memlog_state;

/* Private: flags of openat(), which C alone does not declare. */
enum {
    WNDL_MEMLOG_HERE = -100,
    WNDL_MEMLOG_READ = 0,
    WNDL_MEMLOG_READ_WRITE = 2,
    WNDL_MEMLOG_CREATE = 0100,
    WNDL_MEMLOG_NEW = 0200,
#if defined(__arm__) || defined(__aarch64__)
    WNDL_MEMLOG_FOLDER = 0140000,
    WNDL_MEMLOG_ITSELF = 0100000,
#else
    WNDL_MEMLOG_FOLDER = 0600000,
    WNDL_MEMLOG_ITSELF = 0400000,
#endif
    WNDL_MEMLOG_NOT_IN_EXEC = 02000000
};

/* ---- clocks and threads */

/* Private. */
static inline uint64_t wndl_memlog_now(int clock)
{
    struct wndl_memlog_time t = {0, 0};
    wndl_memlog_clock_gettime(clock, &t);
    return (uint64_t)t.seconds * 1000000000u + (uint64_t)t.nanoseconds;
}

/* Private. */
static inline uint64_t wndl_memlog_thread_pointer(void)
{
#if defined(__x86_64__)
    uint64_t value;
    __asm__("movq %%fs:0, %0" : "=r"(value));
    return value;
#elif defined(__i386__)
    uint32_t value;
    __asm__("movl %%gs:0, %0" : "=r"(value));
    return value;
#else
    return (uint64_t)(uintptr_t)__builtin_thread_pointer();
#endif
}

/*
 * Private: where the libc keeps a thread's id: before the list of robust
 * mutexes, whose place the kernel knows. It is believed if the id is there.
 */
static inline long wndl_memlog_find_thread_offset(void)
{
    void *list = NULL;
    size_t size = 0;
    const long id = wndl_memlog_call(SYS_gettid);
    const uint64_t thread = wndl_memlog_thread_pointer();
    if (wndl_memlog_call(SYS_get_robust_list, 0, &list, &size) == 0 &&
        list != NULL) {
        const char *place = (const char *)list - sizeof(void *) - 8;
        int found;
        memcpy(&found, place, sizeof found);
        if (found == id)
            return (long)((uint64_t)(uintptr_t)place - thread);
    }
    return 0;
}

/* Private: the id of the calling thread. */
static inline uint32_t wndl_memlog_thread(const struct wndl_memlog_page *page)
{
    uint32_t id;
    if (page->thread_offset == 0)
        return (uint32_t)wndl_memlog_call(SYS_gettid);
#if defined(__x86_64__)
    __asm__("movl %%fs:(%1), %0" : "=r"(id) : "r"(page->thread_offset));
#else
    memcpy(&id,
        (const char *)(uintptr_t)(wndl_memlog_thread_pointer() +
                                  (uint64_t)page->thread_offset),
        sizeof id);
#endif
    return id;
}

/* Private: whether the TSC runs at one rate, and in sleep states too. */
static inline uint32_t wndl_memlog_choose_clock(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0)
        return WNDL_MEMLOG_TSC;
#endif
    return WNDL_MEMLOG_NANOSECONDS;
}

/* Private. */
static inline uint64_t wndl_memlog_clock_ticks(uint32_t clock)
{
#if defined(__x86_64__) || defined(__i386__)
    if (clock == WNDL_MEMLOG_TSC)
        return __builtin_ia32_rdtsc();
#endif
    (void)clock;
    return wndl_memlog_now(WNDL_MEMLOG_CLOCK_MONOTONIC);
}

/* Private: stores one more anchor. The first one stays. */
static inline void wndl_memlog_add_anchor(struct wndl_memlog_ring *ring)
{
    struct wndl_memlog_anchor now;
    const uint64_t n =
        __atomic_fetch_add(&ring->anchored.value, 1, __ATOMIC_RELAXED);
    const unsigned last = WNDL_MEMLOG_ANCHORS - 1;
    now.ticks = wndl_memlog_clock_ticks(ring->clock);
    now.monotonic = wndl_memlog_now(WNDL_MEMLOG_CLOCK_MONOTONIC);
    now.real = wndl_memlog_now(WNDL_MEMLOG_CLOCK_REAL);
    now.check = wndl_memlog_anchor_check(&now);
    ring->anchors[n == 0 ? 0 : 1 + (n - 1) % last] = now;
}

/*
 * Private: an anchor as soon as an eighth of the time before it has passed, of
 * which at most 2^33 ticks, some seconds.
 */
static inline void wndl_memlog_anchor_if_due(
    const struct wndl_memlog_page *page)
{
    struct wndl_memlog_ring *ring = page->ring;
    const uint64_t now = wndl_memlog_clock_ticks(page->clock);
    uint64_t last = __atomic_load_n(&ring->anchor_due.value, __ATOMIC_RELAXED);
    uint64_t gap = (last - ring->anchors[0].ticks) >> 3;
    gap = gap < 1u << 22 ? 1u << 22 : gap;
    gap = gap > UINT64_C(1) << 33 ? UINT64_C(1) << 33 : gap;
    if (now - last > gap &&
        __atomic_compare_exchange_n(&ring->anchor_due.value, &last, now, 0,
            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        wndl_memlog_add_anchor(ring);
}

/* ---- memory */

/* Private: NULL on failure. */
static inline void *wndl_memlog_map(size_t size, int is_writable, int fd)
{
    enum { MAY_READ = 1, MAY_WRITE = 2, SHARED = 1, PRIVATE = 2, NO_FILE = 32 };
#ifdef SYS_mmap2
    const long number = SYS_mmap2;
#else
    const long number = SYS_mmap;
#endif
    const long at = wndl_memlog_call(number, (void *)0, size,
        (long)(is_writable ? MAY_READ | MAY_WRITE : MAY_READ),
        (long)(fd < 0 ? PRIVATE | NO_FILE : SHARED), (long)fd, 0L);
    return at < 0 && at > -4096 ? NULL : (void *)(uintptr_t)at;
}

/* Private: gives pages memory; not 0 if there is none. */
static inline int wndl_memlog_populate_range(void *start, size_t size)
{
    enum { POPULATE_WRITE = 23 };
    const uintptr_t from = (uintptr_t)start & ~(uintptr_t)4095;
    const uintptr_t to = ((uintptr_t)start + size + 4095) & ~(uintptr_t)4095;
    const int kept = errno;
    const long result =
        wndl_memlog_call(SYS_madvise, from, (long)(to - from), POPULATE_WRITE);
    errno = kept;
    return result == 0 ? 0 : -1;
}

/* Private: the page that is wiped in children. NULL on failure. */
static inline struct wndl_memlog_page *wndl_memlog_make_page(void)
{
    enum { WIPE_ON_FORK = 18, SIZE = 4096 };
    void *page = wndl_memlog_map(SIZE, 1, -1);
    if (page != NULL &&
        wndl_memlog_call(SYS_madvise, page, (long)SIZE, WIPE_ON_FORK) != 0) {
        wndl_memlog_call(SYS_munmap, page, (long)SIZE);
        page = NULL;
    }
    if (page != NULL)
        wndl_memlog_share(page, SIZE);
    return (struct wndl_memlog_page *)page;
}

/* ---- texts, without the libc's functions that a handler may not call */

/* Private: appends to a text of 256 bytes, which is cut. */
static inline char *wndl_memlog_add_text(
    char *to, const char *end, const char *text)
{
    while (*text != '\0' && to + 1 < end)
        *to++ = *text++;
    *to = '\0';
    return to;
}

/* Private. */
static inline char *wndl_memlog_add_number(
    char *to, const char *end, uint64_t number, unsigned base)
{
    char digits[24];
    unsigned at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0 && at > 0);
    return wndl_memlog_add_text(to, end, digits + at);
}

/* Private: the first bytes of a file, with a NUL. Returns their number. */
static inline size_t wndl_memlog_read(const char *path, char *to, size_t size)
{
    const long fd = wndl_memlog_call(SYS_openat, WNDL_MEMLOG_HERE, path,
        WNDL_MEMLOG_READ | WNDL_MEMLOG_NOT_IN_EXEC, 0);
    long got = 0;
    if (fd >= 0) {
        got = wndl_memlog_call(SYS_read, fd, to, size - 1);
        wndl_memlog_call(SYS_close, fd);
    }
    got = got < 0 ? 0 : got;
    to[got] = '\0';
    return (size_t)got;
}

/* Private: field 22 of /proc/self/stat. */
static inline uint64_t wndl_memlog_start_ticks(void)
{
    char text[1024];
    const size_t size = wndl_memlog_read("/proc/self/stat", text, sizeof text);
    const char *at = text;
    uint64_t value = 0;
    size_t i;
    int field = 2;
    for (i = 0; i < size; i++) /* the name may have parentheses */
        at = text[i] == ')' ? text + i : at;
    for (; *at != '\0' && field < 22; at++)
        field += *at == ' ';
    for (; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    return value;
}

/* ---- the folder */

/* Private: opens a folder that is the user's alone, or makes it; else -1. */
static inline int wndl_memlog_open_private(const char *path, uint32_t user)
{
    struct stat st;
    int fd;
    (void)wndl_memlog_call(SYS_mkdirat, WNDL_MEMLOG_HERE, path, 0700);
    fd = (int)wndl_memlog_call(SYS_openat, WNDL_MEMLOG_HERE, path,
        WNDL_MEMLOG_READ | WNDL_MEMLOG_NOT_IN_EXEC | WNDL_MEMLOG_FOLDER, 0);
    if (fd >= 0 &&
        (fstat(fd, &st) != 0 || st.st_uid != user || (st.st_mode & 077) != 0)) {
        wndl_memlog_call(SYS_close, fd);
        fd = -1;
    }
    return fd;
}

/* Private: $XDG_RUNTIME_DIR/windlass, or /dev/shm/windlass-USER; or -1. */
static inline int wndl_memlog_open_folder(void)
{
    char path[256];
    const char *end = path + sizeof path;
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const uint32_t user = (uint32_t)wndl_memlog_call(SYS_geteuid);
    int fd = -1;
    if (runtime != NULL && runtime[0] == '/' && strlen(runtime) < 200) {
        wndl_memlog_add_text(
            wndl_memlog_add_text(path, end, runtime), end, "/windlass");
        fd = wndl_memlog_open_private(path, user);
    }
    if (fd < 0) {
        wndl_memlog_add_number(
            wndl_memlog_add_text(path, end, "/dev/shm/windlass-"), end, user,
            10);
        fd = wndl_memlog_open_private(path, user);
    }
    return fd;
}

/* Private: opens a file of the folder, of at least `size` bytes; or -1. */
static inline int wndl_memlog_open_file(
    int folder, const char *name, int flags, size_t size)
{
    struct stat st;
    int fd = (int)wndl_memlog_call(SYS_openat, folder, name,
        flags | WNDL_MEMLOG_NOT_IN_EXEC | WNDL_MEMLOG_ITSELF, 0600);
    if (fd >= 0 && (((flags & WNDL_MEMLOG_CREATE) != 0 &&
                        wndl_memlog_call(SYS_ftruncate, fd, (long)size) != 0) ||
                       fstat(fd, &st) != 0 || (uint64_t)st.st_size < size)) {
        wndl_memlog_call(SYS_close, fd);
        fd = -1;
    }
    return fd;
}

/* Private: maps `control` of the folder, which may not exist yet. */
static inline const struct wndl_memlog_control *wndl_memlog_map_control(
    int folder)
{
    enum { POPULATE_READ = 22 };
    const size_t size = 4096;
    const struct wndl_memlog_control *control = NULL;
    const int fd = wndl_memlog_open_file(
        folder, "control", WNDL_MEMLOG_READ_WRITE | WNDL_MEMLOG_CREATE, size);
    if (fd >= 0) {
        control =
            (const struct wndl_memlog_control *)wndl_memlog_map(size, 0, fd);
        wndl_memlog_call(SYS_close, fd);
    }
    /* Even to read a hole takes memory, which a full file system has not. */
    if (control != NULL && wndl_memlog_call(SYS_madvise, control, (long)size,
                               POPULATE_READ) != 0) {
        wndl_memlog_call(SYS_munmap, control, (long)size);
        control = NULL;
    }
    if (control != NULL)
        wndl_memlog_share(control, size);
    return control;
}

/* ---- what was asked for */

/* Private: the bytes of the blocks: $WINDLASS_MEMLOG; 0: no log. */
static inline uint64_t wndl_memlog_wanted(void)
{
    const char *text = getenv("WINDLASS_MEMLOG");
    uint64_t size = 0;
    uint64_t power = WNDL_MEMLOG_LEAST;
    if (text == NULL || *text < '0' || *text > '9')
        return text != NULL && strcmp(text, "off") == 0 ? 0 : 1024 * 1024;
    while (*text >= '0' && *text <= '9' && size < UINT64_C(1) << 40)
        size = size * 10 + (uint64_t)(*text++ - '0');
    size <<= *text == 'm' || *text == 'M'   ? 20
             : *text == 'k' || *text == 'K' ? 10
                                            : 0;
    while (power * 2 <= size && power < WNDL_MEMLOG_MOST)
        power *= 2;
    return size == 0 ? 0 : power;
}

/* Private: the same, with what `windlass memlog on` and `off` say. */
static inline uint64_t wndl_memlog_decide(
    const struct wndl_memlog_control *control, uint32_t process)
{
    const uint64_t wanted = wndl_memlog_wanted();
    const uint32_t count = __atomic_load_n(&control->count, __ATOMIC_RELAXED);
    uint32_t i;
    for (i = 0; i < count && i < WNDL_MEMLOG_CONTROLLED; i++) {
        if (control->processes[i].process == process)
            return control->processes[i].is_on == 0 ? 0
                   : wanted == 0                    ? 1024 * 1024
                                                    : wanted;
    }
    return wanted;
}

/* ---- the ring */

/* Private: the facts about this process. */
static inline void wndl_memlog_introduce(
    struct wndl_memlog_ring *ring, uint64_t image)
{
    char text[sizeof ring->name + 1];
    ring->user = (uint32_t)wndl_memlog_call(SYS_geteuid);
    ring->process = (uint32_t)wndl_memlog_call(SYS_getpid);
    ring->parent = (uint32_t)wndl_memlog_call(SYS_getppid);
    ring->start = wndl_memlog_start_ticks();
    ring->image = image;
    wndl_memlog_read(
        "/proc/sys/kernel/random/boot_id", ring->boot, sizeof ring->boot - 3);
    wndl_memlog_read("/proc/self/comm", text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    memcpy(ring->name, text, sizeof ring->name - 1);
    ring->command_size = (uint32_t)wndl_memlog_read(
        "/proc/self/cmdline", ring->command, sizeof ring->command);
}

/* Private: a power of two of at most `most`. */
static inline uint32_t wndl_memlog_lanes_for(uint64_t blocks, uint32_t most)
{
    return blocks / 16 < most ? (uint32_t)(blocks / 16) : most;
}

/* Private: makes the ring in zeroed memory; its magic comes last. */
static inline void wndl_memlog_fill_ring(
    struct wndl_memlog_ring *ring, uint64_t blocks, uint64_t image)
{
    unsigned i;
    ring->version = WNDL_MEMLOG_VERSION;
    ring->block_slots = WNDL_MEMLOG_BLOCK_SLOTS;
    ring->blocks = blocks;
    ring->owned = wndl_memlog_lanes_for(blocks, WNDL_MEMLOG_OWNED);
    ring->shared = wndl_memlog_lanes_for(blocks, 8);
    ring->clock = wndl_memlog_choose_clock();
    wndl_memlog_introduce(ring, image);
    for (i = 0; i < WNDL_MEMLOG_LANES; i++)
        ring->lanes[i].value = WNDL_MEMLOG_BLOCK_SLOTS; /* block 0 is full */
    ring->head.value = 1;
    wndl_memlog_add_anchor(ring);
    ring->anchor_due.value = ring->anchors[0].ticks;
    __atomic_store_n(
        (uint64_t *)(void *)ring->magic, wndl_memlog_magic(), __ATOMIC_RELEASE);
}

/* Private: differs after fork() by the name's other parts, here by execve(). */
static inline uint64_t wndl_memlog_image(void)
{
    enum { RANDOM_BYTES = 25 };
    uint64_t both[2] = {0, 0};
    const void *random = (const void *)getauxval(RANDOM_BYTES);
    if (random != NULL)
        memcpy(both, random, sizeof both);
    return (both[0] ^ both[1]) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Private: "PID-START-IMAGE.ring" */
static inline void wndl_memlog_name(char name[80], uint64_t image)
{
    const char *end = name + 80;
    char *to = wndl_memlog_add_number(
        name, end, (uint64_t)wndl_memlog_call(SYS_getpid), 10);
    to = wndl_memlog_add_text(to, end, "-");
    to = wndl_memlog_add_number(to, end, wndl_memlog_start_ticks(), 10);
    to = wndl_memlog_add_text(to, end, "-");
    to = wndl_memlog_add_number(to, end, image, 16);
    wndl_memlog_add_text(to, end, ".ring");
}

/* Private: whether a ring that was there is one of ours, of that size. */
static inline int wndl_memlog_is_ours(
    const struct wndl_memlog_ring *ring, uint64_t image, uint64_t blocks)
{
    return __atomic_load_n((const uint64_t *)(const void *)ring->magic,
               __ATOMIC_ACQUIRE) == wndl_memlog_magic() &&
           ring->version == WNDL_MEMLOG_VERSION && ring->image == image &&
           ring->blocks == blocks;
}

/* Private: makes the ring's file, or maps the one of another library. */
static inline struct wndl_memlog_ring *wndl_memlog_make_ring(
    int folder, uint64_t blocks)
{
    const uint64_t image = wndl_memlog_image();
    const size_t head = (size_t)wndl_memlog_blocks_at(blocks);
    const size_t size = head + (size_t)blocks * WNDL_MEMLOG_BLOCK;
    struct wndl_memlog_ring *ring = NULL;
    char name[80];
    int fd;
    int is_new = 1;
    wndl_memlog_name(name, image);
    fd = wndl_memlog_open_file(folder, name,
        WNDL_MEMLOG_READ_WRITE | WNDL_MEMLOG_CREATE | WNDL_MEMLOG_NEW, size);
    if (fd < 0 && errno == EEXIST) {
        is_new = 0;
        fd = wndl_memlog_open_file(folder, name, WNDL_MEMLOG_READ_WRITE, size);
    }
    if (fd < 0)
        return NULL;
    ring = (struct wndl_memlog_ring *)wndl_memlog_map(size, 1, fd);
    wndl_memlog_call(SYS_close, fd);
    if (ring != NULL &&
        (is_new ? wndl_memlog_populate_range(ring, WNDL_MEMLOG_TYPES_AT) != 0 ||
                      wndl_memlog_populate_range(
                          (uint8_t *)ring + WNDL_MEMLOG_OWNERS_AT,
                          head - WNDL_MEMLOG_OWNERS_AT) != 0
                : !wndl_memlog_is_ours(ring, image, blocks))) {
        wndl_memlog_call(SYS_munmap, ring, size);
        ring = NULL;
    }
    if (ring != NULL)
        wndl_memlog_share(ring, size);
    if (is_new && ring == NULL)
        wndl_memlog_call(SYS_unlinkat, folder, name, 0);
    if (is_new && ring != NULL)
        wndl_memlog_fill_ring(ring, blocks, image);
    return ring;
}

/*
 * Private: what threads need to append, the ring last; but `seen` comes after
 * it.
 */
static inline void wndl_memlog_publish(
    struct wndl_memlog_page *page, struct wndl_memlog_ring *ring)
{
    const uint64_t blocks = ring->blocks;
    page->blocks = (uint8_t *)ring + wndl_memlog_blocks_at(blocks);
    page->owners =
        (uint64_t *)(void *)((uint8_t *)ring + WNDL_MEMLOG_OWNERS_AT);
    page->block_mask = blocks - 1;
    page->slot_mask = blocks * WNDL_MEMLOG_BLOCK_SLOTS - 1;
    page->thread_offset = wndl_memlog_find_thread_offset();
    page->lane_mask = ring->owned - 1;
    page->shared_mask = ring->shared - 1;
    page->clock = ring->clock;
    page->is_plain = page->clock == WNDL_MEMLOG_TSC && page->thread_offset != 0;
    page->kept = ring;
    page->stamp = (uint64_t)++wndl_memlog_state.stamps << 32;
    __atomic_store_n(&page->ring, ring, __ATOMIC_RELEASE);
}

/* Private: nothing is logged until the gate's value changes. */
static inline void wndl_memlog_turn_off(const uint32_t *gate, uint32_t turn)
{
    __atomic_store_n(&wndl_memlog_state.off_at, turn, __ATOMIC_RELAXED);
    __atomic_store_n(&wndl_memlog_state.gate, gate, __ATOMIC_RELEASE);
}

/* Private: opens the ring of the page's process; NULL: there is none. */
static inline struct wndl_memlog_ring *wndl_memlog_ring_of(
    struct wndl_memlog_page *page, uint64_t bytes)
{
    struct wndl_memlog_ring *ring = page->kept;
    int folder;
    if (ring != NULL)
        return ring;
    folder = wndl_memlog_open_folder();
    if (folder < 0)
        return NULL;
    ring = wndl_memlog_make_ring(folder, bytes / WNDL_MEMLOG_BLOCK);
    wndl_memlog_call(SYS_close, folder);
    return ring;
}

/* Private: the folder's control, mapped once. */
static inline const struct wndl_memlog_control *wndl_memlog_find_control(void)
{
    int folder;
    if (wndl_memlog_state.control == NULL && getauxval(AT_SECURE) == 0) {
        folder = wndl_memlog_open_folder();
        if (folder >= 0) {
            wndl_memlog_state.control = wndl_memlog_map_control(folder);
            wndl_memlog_call(SYS_close, folder);
        }
    }
    return wndl_memlog_state.control;
}

/* Private: for the one thread that opens. */
static inline struct wndl_memlog_page *wndl_memlog_open_alone(uint32_t process)
{
    struct wndl_memlog_state *state = &wndl_memlog_state;
    const struct wndl_memlog_control *control = wndl_memlog_find_control();
    struct wndl_memlog_page *page = state->page;
    struct wndl_memlog_ring *ring;
    uint64_t bytes;
    uint32_t turn;
    wndl_memlog_share(state, sizeof *state);
    if (page == NULL)
        page = wndl_memlog_make_page();
    if (control == NULL || page == NULL) {
        wndl_memlog_turn_off(&state->never, 0);
        return NULL;
    }
    turn = __atomic_load_n(&control->turn, __ATOMIC_ACQUIRE);
    bytes = wndl_memlog_decide(control, process);
    ring = bytes == 0 ? NULL : wndl_memlog_ring_of(page, bytes);
    if (ring != NULL && page->ring != ring)
        wndl_memlog_publish(page, ring);
    if (ring != NULL)
        __atomic_store_n(&page->seen, turn + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&state->page, page, __ATOMIC_RELEASE);
    wndl_memlog_turn_off(&control->turn, ring == NULL ? turn : UINT32_MAX);
    return ring == NULL ? NULL : page;
}

/*
 * Private: opens the log, or looks again whether there is one. NULL: there is
 * none, or another thread opens it.
 */
static __attribute__((noinline, cold, unused)) struct wndl_memlog_page *
wndl_memlog_open(void)
{
    struct wndl_memlog_state *state = &wndl_memlog_state;
    const int kept = errno;
    const uint32_t process = (uint32_t)wndl_memlog_call(SYS_getpid);
    uint32_t opener = __atomic_load_n(&state->opening, __ATOMIC_RELAXED);
    struct wndl_memlog_page *page;
    if (opener == process ||
        !__atomic_compare_exchange_n(&state->opening, &opener, process, 0,
            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&state->missed, 1, __ATOMIC_RELAXED);
        errno = kept;
        return NULL;
    }
    page = wndl_memlog_open_alone(process);
    __atomic_store_n(&state->opening, 0, __ATOMIC_RELEASE);
    if (page != NULL)
        __atomic_fetch_add(&page->ring->dropped.value,
            __atomic_exchange_n(&state->missed, 0, __ATOMIC_RELAXED),
            __ATOMIC_RELAXED);
    errno = kept;
    return page;
}

#ifdef __cplusplus
}
#endif

#endif
