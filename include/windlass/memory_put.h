/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_put.h: reports as JSON, below windlass/memory.h. Include that
 * one.
 *
 * A run of reporters allocates nothing: a report of the heap does not change
 * it. The layout is that of Firefox's memory reports.
 */
#ifndef WINDLASS_MEMORY_PUT_H
#define WINDLASS_MEMORY_PUT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <windlass/memlog.h>
#include <windlass/memlog_open.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wndl_heap_table;

/* Private: where the reports of a run go. */
struct wndl_memory_sink {
    int fd;
    int error;     /* errno of the first write that failed, or 0 */
    int is_asked;  /* fd is a socket, whose reader wants to know who runs */
    int is_placed; /* a report came before */
    const struct wndl_heap_table *recorder; /* NULL: not in a run of it */
    int64_t heap; /* bytes reported below "explicit/" */
    int64_t allocated;
    int64_t resident;
    size_t used;
    char process[64]; /* "name (pid 4711)" */
    char buffer[2048];
};

/* Private: writes what has been collected. No thread is cancelled in it. */
static inline void wndl_memory_flush(struct wndl_memory_sink *sink)
{
    const char *from = sink->buffer;
    while (sink->used > 0 && sink->error == 0) {
        const long done =
            sink->is_asked
                ? wndl_memlog_call(SYS_sendto, (long)sink->fd, from, sink->used,
                      (long)MSG_NOSIGNAL, (void *)0, 0L)
                : wndl_memlog_call(SYS_write, (long)sink->fd, from, sink->used);
        if (done > 0) {
            from += done;
            sink->used -= (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            sink->error = done == 0 ? EIO : errno;
        }
    }
    sink->used = 0;
}

/* Private. */
static inline void wndl_memory_put_char(struct wndl_memory_sink *sink, char c)
{
    if (sink->used == sizeof sink->buffer)
        wndl_memory_flush(sink);
    sink->buffer[sink->used++] = c;
}

/* Private. */
static inline void wndl_memory_put_text(
    struct wndl_memory_sink *sink, const char *text)
{
    while (*text != '\0')
        wndl_memory_put_char(sink, *text++);
}

/* Private. */
static inline void wndl_memory_put_number(
    struct wndl_memory_sink *sink, int64_t number)
{
    char digits[24];
    const uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    wndl_memlog_add_number(digits, digits + sizeof digits, size, 10);
    if (number < 0)
        wndl_memory_put_char(sink, '-');
    wndl_memory_put_text(sink, digits);
}

/*
 * Private: the length of the well-formed UTF-8 at `p`, a NUL-terminated text;
 * or 0.
 */
static inline unsigned wndl_memory_utf8(const unsigned char *p)
{
    const unsigned char c = p[0];
    const unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    const unsigned size = c < 0x80                 ? 1
                          : c >= 0xc2 && c <= 0xdf ? 2
                          : (c & 0xf0) == 0xe0     ? 3
                          : c >= 0xf0 && c <= 0xf4 ? 4
                                                   : 0;
    unsigned i;
    if (size >= 2 && (p[1] < low || p[1] > high))
        return 0;
    for (i = 2; i < size; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

/* Private: a character of a JSON string. Returns its bytes. */
static inline unsigned wndl_memory_put_escaped(
    struct wndl_memory_sink *sink, const unsigned char *p)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned size = wndl_memory_utf8(p);
    unsigned i;
    if (size == 0) {
        wndl_memory_put_text(sink, "\\ufffd");
        return 1;
    }
    if (*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f) {
        wndl_memory_put_text(sink, "\\u00");
        wndl_memory_put_char(sink, hex[*p >> 4]);
        wndl_memory_put_char(sink, hex[*p & 15]);
        return 1;
    }
    for (i = 0; i < size; i++)
        wndl_memory_put_char(sink, (char)p[i]);
    return size;
}

/* Private: a JSON string; NULL is an empty one. */
static inline void wndl_memory_put_string(
    struct wndl_memory_sink *sink, const char *text)
{
    const unsigned char *p = (const unsigned char *)(text == NULL ? "" : text);
    wndl_memory_put_char(sink, '"');
    while (*p != '\0')
        p += wndl_memory_put_escaped(sink, p);
    wndl_memory_put_char(sink, '"');
}

/* Private: begins an element of the list of reports. */
static inline void wndl_memory_put_next(struct wndl_memory_sink *sink)
{
    wndl_memory_put_text(sink, sink->is_placed ? ",\n  {" : "\n  {");
    sink->is_placed = 1;
}

/* Private: sums for the memory event log. */
static inline void wndl_memory_note(
    struct wndl_memory_sink *sink, const struct wndl_memory_report *report)
{
    if (report->unit != WNDL_MEMORY_BYTES || report->path == NULL)
        return;
    if (report->kind == WNDL_MEMORY_HEAP &&
        strncmp(report->path, "explicit/", 9) == 0)
        sink->heap = (int64_t)((uint64_t)sink->heap + (uint64_t)report->amount);
    if (strcmp(report->path, "heap-allocated") == 0)
        sink->allocated = report->amount;
    if (strcmp(report->path, "resident") == 0)
        sink->resident = report->amount;
}

/* Private: a report. */
static inline void wndl_memory_put(
    struct wndl_memory_sink *sink, const struct wndl_memory_report *report)
{
    const uint32_t parts = report->marks & ~WNDL_MEMORY_ESTIMATED;
    wndl_memory_note(sink, report);
    wndl_memory_put_next(sink);
    wndl_memory_put_text(sink, "\"process\": ");
    wndl_memory_put_string(sink, sink->process);
    wndl_memory_put_text(sink, ", \"path\": ");
    wndl_memory_put_string(sink, report->path);
    wndl_memory_put_text(sink, ", \"kind\": ");
    wndl_memory_put_number(sink, (int64_t)report->kind);
    wndl_memory_put_text(sink, ", \"units\": ");
    wndl_memory_put_number(sink, (int64_t)report->unit);
    wndl_memory_put_text(sink, ", \"amount\": ");
    wndl_memory_put_number(sink, report->amount);
    wndl_memory_put_text(sink, ", \"description\": ");
    wndl_memory_put_string(sink, report->description);
    if ((report->marks & WNDL_MEMORY_ESTIMATED) != 0)
        wndl_memory_put_text(sink, ", \"estimated\": true");
    if (parts != 0) {
        wndl_memory_put_text(sink, ", \"private\": ");
        wndl_memory_put_number(sink, (int64_t)parts);
    }
    wndl_memory_put_char(sink, '}');
}

/* Private: a report of bytes. */
static inline void wndl_memory_put_bytes(struct wndl_memory_sink *sink,
    const char *path, enum wndl_memory_kind kind, int64_t amount,
    const char *description)
{
    const struct wndl_memory_report report = {
        path, kind, WNDL_MEMORY_BYTES, amount, description, 0};
    wndl_memory_put(sink, &report);
}

/* Private: says for one who asks that a reporter begins. */
static inline void wndl_memory_put_running(
    struct wndl_memory_sink *sink, const char *name)
{
    if (!sink->is_asked)
        return;
    wndl_memory_put_next(sink);
    wndl_memory_put_text(sink, "\"running\": ");
    wndl_memory_put_string(sink, name);
    wndl_memory_put_char(sink, '}');
    wndl_memory_flush(sink);
}

/* Private: says that what a reporter knows is missing, and why. */
static inline void wndl_memory_put_missing(
    struct wndl_memory_sink *sink, const char *name, const char *why)
{
    wndl_memory_put_next(sink);
    wndl_memory_put_text(sink, "\"missing\": ");
    wndl_memory_put_string(sink, name);
    wndl_memory_put_text(sink, ", \"why\": ");
    wndl_memory_put_string(sink, why);
    wndl_memory_put_char(sink, '}');
}

/* Private: begins a run. */
static inline void wndl_memory_begin(
    struct wndl_memory_sink *sink, int fd, int is_asked)
{
    char *end = sink->process + sizeof sink->process;
    char name[32];
    char *to;
    memset(sink, 0, sizeof *sink);
    sink->fd = fd;
    sink->is_asked = is_asked;
    wndl_memlog_read("/proc/self/comm", name, sizeof name);
    name[strcspn(name, "\n")] = '\0';
    to = wndl_memlog_add_text(sink->process, end, name);
    to = wndl_memlog_add_text(to, end, name[0] == '\0' ? "(pid " : " (pid ");
    to = wndl_memlog_add_number(
        to, end, (uint64_t)wndl_memlog_call(SYS_getpid), 10);
    wndl_memlog_add_text(to, end, ")");
    wndl_memory_put_text(sink, "{\n\"version\": 1,\n"
                               "\"hasMozMallocUsableSize\": true,\n"
                               "\"reports\": [");
}

/* Private: ends it. */
static inline void wndl_memory_close(struct wndl_memory_sink *sink)
{
    wndl_memory_put_text(sink, "\n]\n}\n");
    wndl_memory_flush(sink);
}

/* Private: ends it, and leaves its totals in the memory event log. */
static inline void wndl_memory_end(struct wndl_memory_sink *sink)
{
    static struct wndl_memlog_type type = {"memory report", WNDL_MEMLOG_REPORT,
        0, {{"heap allocated", "bytes"}, {"heap reported", "bytes"}}, {0, 0}};
    const int64_t numbers[] = {sink->resident, sink->allocated, sink->heap};
    wndl_memory_close(sink);
    wndl_memlog_append(&type, numbers, 3);
}

#ifdef __cplusplus
}
#endif

#endif
