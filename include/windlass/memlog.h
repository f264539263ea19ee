/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog.h: how a program logs the few events that explain its memory.
 *
 * The log is a ring of fixed size in a file of the process, which `windlass
 * memlog` reads while the process runs and after it has ended, however it
 * ended. This header is all that is needed: nothing is linked, and no session
 * has to be started. With WNDL_MEMLOG_DISABLE defined before the include, no
 * code is left at all.
 *
 *     static struct wndl_memlog_type collected = {
 *         "gc", WNDL_MEMLOG_COLLECTION, 0, {{"generation", ""}}, {0, 0}};
 *
 *     const int64_t numbers[] = {before, after, nanoseconds, generation};
 *     wndl_memlog_append(&collected, numbers, 4);
 *
 * Any thread may call any of these at any time, in signal handlers too. No call
 * fails, waits, or changes errno. An event costs no system call, except for
 * the first of a process, of each 64 KiB of a ring that is not yet full, and of
 * each type. (Threads that were made without a thread pointer of their own, by
 * a bare clone(), must not append beside each other.)
 *
 * $WINDLASS_MEMLOG is the size of the ring ("64k" to "16m", 1 MiB by default),
 * or "off". Programs that run with the rights of another (set-user-ID) do not
 * log. See windlass-memlog(1).
 */
#ifndef WINDLASS_MEMLOG_H
#define WINDLASS_MEMLOG_H

#include <stddef.h>
#include <stdint.h>
#include <windlass/memlog_roles.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A field of an event. */
struct wndl_memlog_field {
    const char *name; /* 23 bytes are kept */
    const char *unit; /* "bytes", "ns", "address" or any other; 15 bytes */
};

/*
 * A type of event: a variable of the program, which outlives its events. An
 * event has at most 8 numbers, those of its role included.
 */
struct wndl_memlog_type {
    const char *name; /* 47 bytes are kept */
    enum wndl_memlog_role role;
    uint32_t limit; /* events a second that are logged; 0: all */
    struct wndl_memlog_field fields[8]; /* after those of the role */
    uint64_t state[2];                  /* zero; for the functions below */
};

/* Private: the parts of a long event. */
struct wndl_memlog_parts {
    const int64_t *numbers;
    const char *text;
    const uint64_t *frames;
    unsigned count;
    unsigned depth;
};

#ifdef __cplusplus
}
#endif

#ifdef WNDL_MEMLOG_DISABLE
#include <windlass/memlog_none.h>
#else
#include <windlass/memlog_write.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 1 if events of the calling process are logged, else 0. It opens the log.
 */
static inline int wndl_memlog_active(void)
{
    return wndl_memlog_page_now() != NULL;
}

/*
 * Logs an event.
 *
 * `type` is its type, `numbers` its `count` numbers: first those of the role,
 * then those of the type's fields. Of more than 8, 8 are kept.
 */
static inline void wndl_memlog_append(
    struct wndl_memlog_type *type, const int64_t *numbers, unsigned count)
{
    wndl_memlog_put(type, numbers, count, 0);
}

/* Logs an event with a text, of which 200 bytes are kept; NULL means "". */
static inline void wndl_memlog_append_text(struct wndl_memlog_type *type,
    const int64_t *numbers, unsigned count, const char *text)
{
    const struct wndl_memlog_parts parts = {numbers, text, NULL, count, 0};
    wndl_memlog_put_all(type, &parts, 0);
}

/*
 * Logs an event with a stack.
 *
 * `frames` are `depth` return addresses, the innermost first, as
 * windlass/unwind.h finds them; of more than 16, 16 are kept. The log does not
 * walk by itself: a walk costs much more than an event.
 */
static inline void wndl_memlog_append_stack(struct wndl_memlog_type *type,
    const int64_t *numbers, unsigned count, const uint64_t *frames,
    unsigned depth)
{
    const struct wndl_memlog_parts parts = {
        numbers, NULL, frames, count, depth};
    wndl_memlog_put_all(type, &parts, 0);
}

/*
 * Logs the begin of what wndl_memlog_end() ends in the same thread. Pairs of
 * one type nest.
 */
static inline void wndl_memlog_begin(
    struct wndl_memlog_type *type, const int64_t *numbers, unsigned count)
{
    wndl_memlog_put(type, numbers, count, 1);
}

static inline void wndl_memlog_end(
    struct wndl_memlog_type *type, const int64_t *numbers, unsigned count)
{
    wndl_memlog_put(type, numbers, count, 2);
}

#ifdef __cplusplus
}

/*
 * For C++: the begin of an event, and at the end of the scope its end, with the
 * numbers that set() was given last.
 *
 *     wndl_memlog_scope scope(&collected);
 */
class wndl_memlog_scope {
  public:
    explicit wndl_memlog_scope(struct wndl_memlog_type *of)
        : type(of), numbers(), count(0)
    {
        wndl_memlog_begin(type, NULL, 0);
    }

    ~wndl_memlog_scope()
    {
        wndl_memlog_end(type, numbers, count);
    }

    /* Keeps 8 of more than 8 numbers. */
    void set(const int64_t *values, unsigned size)
    {
        for (count = 0; count < size && count < 8; count++)
            numbers[count] = values[count];
    }

  private:
    wndl_memlog_scope(const wndl_memlog_scope &);
    wndl_memlog_scope &operator=(const wndl_memlog_scope &);

    struct wndl_memlog_type *type;
    int64_t numbers[8];
    unsigned count;
};
#endif

#endif
