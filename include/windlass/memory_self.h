/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_self.h: what the kernel knows of the own process, below
 * windlass/memory.h. Include that one.
 */
#ifndef WINDLASS_MEMORY_SELF_H
#define WINDLASS_MEMORY_SELF_H

#include <sys/resource.h>
#include <windlass/memory_recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Private: what a mapping is for. */
enum wndl_memory_use {
    WNDL_MEMORY_CODE,
    WNDL_MEMORY_FILE,
    WNDL_MEMORY_SHARED,
    WNDL_MEMORY_BREAK, /* the memory before the program's break */
    WNDL_MEMORY_STACK,
    WNDL_MEMORY_ANONYMOUS,
    WNDL_MEMORY_OTHERS,
    WNDL_MEMORY_USES
};

enum { WNDL_MEMORY_THREADS = 256 }; /* whose stacks are looked for */

/* Private: sums over the mappings. */
struct wndl_memory_maps {
    int64_t resident[WNDL_MEMORY_USES];
    int64_t unique;
    int64_t swapped;
    size_t break_start;
    size_t break_end;
    enum wndl_memory_use use; /* of the mapping that is read */
    uint32_t threads;
    int is_partial; /* some threads' stacks are not known */
    size_t pointers[WNDL_MEMORY_THREADS];
};

/* Private: reads a number, and the text after it. */
static inline const char *wndl_memory_parse(
    const char *text, unsigned base, uint64_t *value)
{
    *value = 0;
    for (;; text++) {
        const char c = *text;
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                      : 99;
        if (digit >= base)
            return text;
        *value = *value * base + digit;
    }
}

/* Private: bytes of a line such as "Rss:    12 kB"; -1 of another line. */
static inline int64_t wndl_memory_field(const char *line, const char *name)
{
    const size_t size = strlen(name);
    uint64_t value;
    if (strncmp(line, name, size) != 0 || line[size] != ':')
        return -1;
    line += size + 1;
    line += strspn(line, " \t");
    wndl_memory_parse(line, 10, &value);
    return (int64_t)(value * 1024);
}

/* ---- the lines of a file */

/* Private. */
struct wndl_memory_lines {
    long fd;
    size_t from;
    size_t to;
    char buffer[4096];
};

/*
 * Private: the next line, NUL-terminated; NULL at the end. What does not fit is
 * given as further lines.
 */
static inline char *wndl_memory_next_line(struct wndl_memory_lines *in)
{
    const size_t most = sizeof in->buffer - 1;
    for (;;) {
        char *line = in->buffer + in->from;
        char *end = (char *)memchr(line, '\n', in->to - in->from);
        long got;
        if (end != NULL || (in->from == 0 && in->to == most)) {
            end = end == NULL ? in->buffer + in->to : end;
            *end = '\0';
            in->from = (size_t)(end - in->buffer) + 1;
            in->from = in->from > in->to ? in->to : in->from;
            return line;
        }
        memmove(in->buffer, line, in->to - in->from);
        in->to -= in->from;
        in->from = 0;
        got = wndl_memlog_call(
            SYS_read, in->fd, in->buffer + in->to, most - in->to);
        if (got <= 0)
            return NULL;
        in->to += (size_t)got;
    }
}

/* Private. */
static inline int wndl_memory_open_lines(
    struct wndl_memory_lines *in, const char *path)
{
    in->from = in->to = 0;
    in->fd = wndl_memlog_call(SYS_openat, (long)WNDL_MEMLOG_HERE, path,
        (long)(WNDL_MEMLOG_READ | WNDL_MEMLOG_NOT_IN_EXEC), 0L);
    return in->fd >= 0;
}

/* Private. */
static inline void wndl_memory_close_lines(struct wndl_memory_lines *in)
{
    wndl_memlog_call(SYS_close, in->fd);
}

/* ---- stacks of threads */

/*
 * Private: the stack pointer of a thread that waits in a system call, the last
 * number but one of /proc/self/task/ID/syscall; 0 of one that runs.
 */
static inline size_t wndl_memory_stack_pointer(const char *id)
{
    char path[64];
    char text[256];
    char *to = path;
    uint64_t value = 0;
    size_t at;
    int spaces = 0;
    to = wndl_memlog_add_text(to, path + sizeof path, "/proc/self/task/");
    to = wndl_memlog_add_text(to, path + sizeof path, id);
    wndl_memlog_add_text(to, path + sizeof path, "/syscall");
    at = wndl_memlog_read(path, text, sizeof text);
    while (at > 0 && spaces < 2)
        spaces += text[--at] == ' ';
    if (spaces == 2 && strncmp(text + at, " 0x", 3) == 0)
        wndl_memory_parse(text + at + 3, 16, &value);
    return (size_t)value;
}

/* Private: adds a thread, by its entry in /proc/self/task. */
static inline void wndl_memory_add_thread(
    struct wndl_memory_maps *maps, const char *id)
{
    size_t pointer = 0;
    uint64_t number;
    wndl_memory_parse(id, 10, &number);
    if (number == 0)
        return;
    if (number == (uint64_t)wndl_memlog_call(SYS_gettid))
        pointer = (size_t)(uintptr_t)&number;
    else
        pointer = wndl_memory_stack_pointer(id);
    if (pointer == 0 || maps->threads == WNDL_MEMORY_THREADS)
        maps->is_partial = 1;
    else
        maps->pointers[maps->threads++] = pointer;
}

/* Private: finds the stack pointers of all threads. */
static inline void wndl_memory_find_threads(struct wndl_memory_maps *maps)
{
    enum { NAME = 19 }; /* of a struct linux_dirent64 */
    char entries[2048];
    const long fd =
        wndl_memlog_call(SYS_openat, (long)WNDL_MEMLOG_HERE, "/proc/self/task",
            (long)(WNDL_MEMLOG_READ | WNDL_MEMLOG_NOT_IN_EXEC), 0L);
    long got = 0;
    maps->is_partial = fd < 0;
    while (fd >= 0 && (got = wndl_memlog_call(
                           SYS_getdents64, fd, entries, sizeof entries)) > 0) {
        uint16_t size;
        long at;
        for (at = 0; at < got; at += size) {
            memcpy(&size, entries + at + 16, sizeof size);
            wndl_memory_add_thread(maps, entries + at + NAME);
        }
    }
    wndl_memlog_call(SYS_close, fd);
}

/* Private. */
static inline int wndl_memory_is_stack(
    const struct wndl_memory_maps *maps, uint64_t start, uint64_t end)
{
    uint32_t i;
    for (i = 0; i < maps->threads; i++)
        if (maps->pointers[i] >= start && maps->pointers[i] < end)
            return 1;
    return 0;
}

/* ---- mappings */

/* Private: the use of a mapping, by its access and name. */
static inline enum wndl_memory_use wndl_memory_use_of(
    const char *access, const char *name)
{
    static const char *const shared[] = {
        "/dev/shm/", "/memfd:", "/SYSV", "/dev/zero", "[anon_shmem"};
    unsigned i;
    for (i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (strncmp(name, shared[i], strlen(shared[i])) == 0)
            return WNDL_MEMORY_SHARED;
    if (name[0] == '/')
        return access[2] == 'x' ? WNDL_MEMORY_CODE : WNDL_MEMORY_FILE;
    if (strcmp(name, "[heap]") == 0)
        return WNDL_MEMORY_BREAK;
    if (strcmp(name, "[stack]") == 0)
        return WNDL_MEMORY_STACK;
    return name[0] == '\0' || strncmp(name, "[anon", 5) == 0
               ? WNDL_MEMORY_ANONYMOUS
               : WNDL_MEMORY_OTHERS;
}

/* Private: "START-END ACCESS OFFSET DEVICE INODE NAME" */
static inline void wndl_memory_begin_mapping(
    struct wndl_memory_maps *maps, const char *line)
{
    uint64_t start = 0;
    uint64_t end = 0;
    const char *access;
    const char *at = wndl_memory_parse(line, 16, &start);
    int field;
    at = wndl_memory_parse(*at == '-' ? at + 1 : at, 16, &end);
    at += strspn(at, " ");
    access = at;
    for (field = 0; field < 4; field++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    maps->use = strlen(access) < 4 ? WNDL_MEMORY_OTHERS
                                   : wndl_memory_use_of(access, at);
    if (maps->use == WNDL_MEMORY_ANONYMOUS &&
        wndl_memory_is_stack(maps, start, end))
        maps->use = WNDL_MEMORY_STACK;
    if (maps->use == WNDL_MEMORY_BREAK) {
        if (maps->break_start == 0)
            maps->break_start = (size_t)start;
        maps->break_end = (size_t)end;
    }
}

/* Private. */
static inline void wndl_memory_read_maps(struct wndl_memory_maps *maps)
{
    struct wndl_memory_lines in;
    const char *line;
    memset(maps, 0, sizeof *maps);
    maps->use = WNDL_MEMORY_OTHERS;
    wndl_memory_find_threads(maps);
    if (!wndl_memory_open_lines(&in, "/proc/self/smaps"))
        return;
    while ((line = wndl_memory_next_line(&in)) != NULL) {
        int64_t bytes;
        if (line[0] < 'A' || line[0] > 'Z')
            wndl_memory_begin_mapping(maps, line);
        else if ((bytes = wndl_memory_field(line, "Rss")) >= 0)
            maps->resident[maps->use] += bytes;
        else if ((bytes = wndl_memory_field(line, "Private_Clean")) >= 0 ||
                 (bytes = wndl_memory_field(line, "Private_Dirty")) >= 0)
            maps->unique += bytes;
        else if ((bytes = wndl_memory_field(line, "Swap")) >= 0)
            maps->swapped += bytes;
    }
    wndl_memory_close_lines(&in);
}

/* ---- the reports */

/* Private. */
static inline void wndl_memory_put_maps(
    struct wndl_memory_sink *sink, const struct wndl_memory_maps *maps)
{
    static const char *const paths[WNDL_MEMORY_USES] = {"mappings/code",
        "mappings/files", "mappings/shared memory", "mappings/break",
        "mappings/stacks", "mappings/anonymous", "mappings/other"};
    struct wndl_memory_report report = {"explicit/threads/stacks",
        WNDL_MEMORY_NONHEAP, WNDL_MEMORY_BYTES, 0,
        "Resident memory of the stacks of threads.", 0};
    unsigned i;
    for (i = 0; i < WNDL_MEMORY_USES; i++)
        if (maps->resident[i] != 0)
            wndl_memory_put_bytes(sink, paths[i], WNDL_MEMORY_OTHER,
                maps->resident[i], "Resident memory, by kind of mapping.");
    wndl_memory_put_bytes(sink, "resident-unique", WNDL_MEMORY_OTHER,
        maps->unique, "Resident memory that no other process shares.");
    wndl_memory_put_bytes(sink, "swap", WNDL_MEMORY_OTHER, maps->swapped,
        "Memory that has been swapped out.");
    report.amount = maps->resident[WNDL_MEMORY_STACK];
    report.marks = maps->is_partial ? WNDL_MEMORY_ESTIMATED : 0;
    wndl_memory_put(sink, &report);
}

/* Private. */
static inline void wndl_memory_put_status(struct wndl_memory_sink *sink)
{
    static const struct {
        const char *field;
        const char *path;
        const char *description;
    } known[] = {{"VmRSS", "resident", "Memory that is in RAM."},
        {"VmHWM", "resident-peak", "The most that has been in RAM."},
        {"VmSize", "vsize", "Address space."},
        {"VmPeak", "vsize-peak", "The most address space so far."}};
    struct wndl_memory_lines in;
    const char *line;
    unsigned i;
    if (!wndl_memory_open_lines(&in, "/proc/self/status"))
        return;
    while ((line = wndl_memory_next_line(&in)) != NULL) {
        for (i = 0; i < sizeof known / sizeof known[0]; i++) {
            const int64_t bytes = wndl_memory_field(line, known[i].field);
            if (bytes >= 0)
                wndl_memory_put_bytes(sink, known[i].path, WNDL_MEMORY_OTHER,
                    bytes, known[i].description);
        }
    }
    wndl_memory_close_lines(&in);
}

/* Private. */
static inline void wndl_memory_put_faults(struct wndl_memory_sink *sink)
{
    struct wndl_memory_report report = {"page-faults-hard", WNDL_MEMORY_OTHER,
        WNDL_MEMORY_CUMULATIVE, 0, "Page faults that read from a disk.", 0};
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    report.amount = (int64_t)usage.ru_majflt;
    wndl_memory_put(sink, &report);
    report.path = "page-faults-soft";
    report.description = "Page faults that did not.";
    report.amount = (int64_t)usage.ru_minflt;
    wndl_memory_put(sink, &report);
}

/* Private: all that is known without a reporter. */
static inline void wndl_memory_put_self(struct wndl_memory_sink *sink)
{
    struct wndl_memory_maps maps;
    wndl_memory_read_maps(&maps);
    wndl_memory_put_status(sink);
    wndl_memory_put_maps(sink, &maps);
    wndl_memory_put_faults(sink);
    wndl_memory_put_heap(
        sink, maps.break_start, maps.break_end, wndl_memory_recorded_bytes());
}

#ifdef __cplusplus
}
#endif

#endif
