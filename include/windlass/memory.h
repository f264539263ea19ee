/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory.h: how a program reports what its memory is used for.
 *
 * A reporter is a function of the program that says how large something is:
 * a cache, the nodes of a tree. `windlass memory PID` runs all of them in the
 * running process and prints a tree of what they said, with what nothing
 * accounts for. This header is all that is needed, in C and in C++: nothing is
 * linked, and the program may be started in any way.
 *
 *     static void report_cache(struct wndl_memory_sink *sink, void *data)
 *     {
 *         size_t size = 0;
 *         for (const struct entry *e = first; e != NULL; e = e->next)
 *             size += wndl_memory_size_of(e);
 *         wndl_memory_yield_bytes(sink, "explicit/cache/entries",
 *             WNDL_MEMORY_HEAP, (int64_t)size, "Entries of the cache.");
 *     }
 *
 *     static struct wndl_memory_reporter cache = WNDL_MEMORY_REPORTER(
 *         "cache", report_cache, NULL, WNDL_MEMORY_POLLED);
 *
 *     wndl_memory_register(&cache);
 *
 * A reporter runs only when somebody asks, and never in a signal handler: on a
 * thread that this header starts at the first registration, if it can do so on
 * any thread because it locks for itself; else where the program calls
 * wndl_memory_poll(), which costs a load and a branch while nobody asks. No
 * function here may be called from a signal handler.
 *
 * With $WINDLASS_MEMORY set to "off" no thread is started. See
 * windlass-memory(1).
 */
#ifndef WINDLASS_MEMORY_H
#define WINDLASS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What an amount is of. Paths below "explicit/" hold bytes of the heap, or of
 * other memory that the program has asked for; each byte belongs to one of
 * them. Everything else is OTHER.
 */
enum wndl_memory_kind {
    WNDL_MEMORY_NONHEAP, /* mappings, stacks, overhead of the allocator */
    WNDL_MEMORY_HEAP,    /* blocks of malloc */
    WNDL_MEMORY_OTHER    /* anything, not a part of "explicit" */
};

/* The unit of an amount. */
enum wndl_memory_unit {
    WNDL_MEMORY_BYTES,
    WNDL_MEMORY_COUNT,
    WNDL_MEMORY_CUMULATIVE, /* a count that never falls */
    WNDL_MEMORY_PERCENTAGE  /* hundredths of a percent */
};

/* Where a reporter may run. */
enum wndl_memory_where {
    WNDL_MEMORY_POLLED,    /* where the program calls wndl_memory_poll() */
    WNDL_MEMORY_ANY_THREAD /* it locks for itself */
};

/* Marks of a report: the amount is an estimate, which is shown with a ~. */
#define WNDL_MEMORY_ESTIMATED (UINT32_C(1) << 31)

/*
 * Marks of a report: the part of the path with this number, from 0 to 30, is
 * private, and so is the description. `windlass memory --anonymize` replaces
 * them.
 */
#define WNDL_MEMORY_PRIVATE(part) (UINT32_C(1) << (part))

/*
 * A report. The parts of its path are separated by '/'; a '\' stands for a '/'
 * within a part. Its texts are copied; bytes that are not UTF-8 become U+FFFD.
 */
struct wndl_memory_report {
    const char *path;
    enum wndl_memory_kind kind;
    enum wndl_memory_unit unit;
    int64_t amount;
    const char *description; /* a sentence */
    uint32_t marks;          /* 0, or those above */
};

/* Takes the reports of a reporter. */
struct wndl_memory_sink;

/* Yields any number of reports. `data` is that of the reporter. */
typedef void (*wndl_memory_function)(struct wndl_memory_sink *sink, void *data);

struct wndl_memory_reporter;

/* Private: what the functions below keep of a reporter. */
struct wndl_memory_linked {
    struct wndl_memory_reporter *next;
    const void *object; /* the program or library that registered it */
    void (*call)(
        struct wndl_memory_sink *, const char *, wndl_memory_function, void *);
    uint32_t turn; /* in which it ran last */
    uint32_t is_registered;
};

/* A reporter, which stays where it is until it is unregistered. */
struct wndl_memory_reporter {
    const char *name;
    wndl_memory_function report;
    void *data;
    enum wndl_memory_where where;
    struct wndl_memory_linked linked;
};

/* The initial value of a struct wndl_memory_reporter. */
#define WNDL_MEMORY_REPORTER(name, report, data, where)                        \
    {                                                                          \
        name, report, data, where,                                             \
        {                                                                      \
            NULL, NULL, NULL, 0, 0                                             \
        }                                                                      \
    }

#ifdef __cplusplus
}
#endif

#include <windlass/memory_serve.h>
#include <windlass/memory_tag.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Adds a reporter. It may be called by any thread, at any time.
 *
 * Returns 1 if `windlass memory` can ask this process, else 0; the reporter is
 * registered in either case. One that is registered already stays so.
 *
 * What a library has registered is unregistered when the library is unloaded.
 */
static inline int wndl_memory_register(struct wndl_memory_reporter *reporter)
{
    wndl_memory_link(reporter, &wndl_memory_object, wndl_memory_call_here);
    return wndl_memory_serve();
}

/*
 * Removes a reporter. If another thread runs it, waits until it has returned.
 * A reporter may remove itself.
 */
static inline void wndl_memory_unregister(struct wndl_memory_reporter *reporter)
{
    wndl_memory_unlink(reporter, UINT64_MAX);
}

/*
 * Lets `windlass memory` ask this process, without any reporter; and again in a
 * child after fork(), where nobody can ask before the child calls this,
 * registers a reporter or polls.
 *
 * Returns 1 if it can, else 0.
 */
static inline int wndl_memory_start(void)
{
    return wndl_memory_serve();
}

/*
 * Runs the reporters that run only here, if somebody asks for them.
 */
static inline void wndl_memory_poll(void)
{
    if (__atomic_load_n(&wndl_memory_state.wanted, __ATOMIC_RELAXED) != 0)
        wndl_memory_poll_now();
}

/* Hands on a report. Only a reporter may call it, from its own thread. */
static inline void wndl_memory_yield(
    struct wndl_memory_sink *sink, const struct wndl_memory_report *report)
{
    wndl_memory_put(sink, report);
}

/* Hands on a report of bytes. */
static inline void wndl_memory_yield_bytes(struct wndl_memory_sink *sink,
    const char *path, enum wndl_memory_kind kind, int64_t amount,
    const char *description)
{
    wndl_memory_put_bytes(sink, path, kind, amount, description);
}

/*
 * Runs all reporters on this thread, the polled ones too, and writes what they
 * said, and what is known of the process, as JSON in the layout of Firefox's
 * memory reports. `windlass memory FILE` reads it.
 *
 * Returns 0, or the errno of what failed; EBUSY if others ran the reporters for
 * ten seconds, EDEADLK in a reporter.
 */
static inline int wndl_memory_write(int fd)
{
    return wndl_memory_write_all(fd);
}

/*
 * The bytes that can be used of a block of malloc, which may be more than were
 * asked for. `block` is its start; of NULL it is 0.
 *
 * While `windlass heap` records the process, a pointer that is the start of no
 * block is answered with 0, and named in the report with the stack of this
 * call; else its answer is undefined. In dark-matter mode, a block that a
 * reporter measures is reported, from that stack.
 */
static inline size_t wndl_memory_size_of(const void *block)
{
    return wndl_memory_measure(block);
}

/*
 * The same, for a block that the program has just allocated and counts from now
 * on until it frees it, as arenas do. In dark-matter mode the block is reported
 * as long as it lives, whoever measures it.
 */
static inline size_t wndl_memory_report_on_alloc(const void *block)
{
    return wndl_memory_measure_on_alloc(block);
}

#ifdef __cplusplus
}
#endif

#endif
