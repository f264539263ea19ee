/* SPDX-License-Identifier: MIT */
/*
 * fields: the payload of each chunk (docs/formats/wndl.md), field by field. The
 * writer and the reader share these tables, so that their orders of fields
 * cannot differ.
 *
 * A record is the start of a chunk's payload, or an element of a list in it.
 * Its table gives a kind and a name for each field:
 *
 *     uleb   an unsigned LEB128
 *     sleb   a signed LEB128
 *     str    a uleb count of bytes, and these bytes
 *     later  a uleb that older minors do not have: 0 where the payload ends
 *
 * A list is a uleb count of elements, and these elements. From the table of a
 * record `thrd` come
 *
 *     struct wndl_fields_thrd            its fields as the file has them
 *     void wndl_put_thrd(out, &fields)   appends them
 *     ... wndl_get_thrd(cursor)          reads them; the cursor may then have
 *                                        failed
 *     WNDL_LEAST_THRD                    bytes that the smallest one takes
 */
#ifndef WNDL_WNDL_FIELDS_H
#define WNDL_WNDL_FIELDS_H

#include "base/buf.h"
#include "base/bytes.h"
#include "rec/chunk.h"

/* ---- META: a list of arguments stands between the two records */

#define WNDL_FIELDS_META(F)                                                    \
    F(uleb, time_base)                                                         \
    F(uleb, realtime)                                                          \
    F(uleb, interval)                                                          \
    F(uleb, engine)                                                            \
    F(uleb, flags)                                                             \
    F(str, version)                                                            \
    F(str, host)                                                               \
    F(str, cwd)
#define WNDL_FIELDS_ARGUMENT(F) F(str, text)
#define WNDL_FIELDS_META_END(F)                                                \
    F(later, max_frames)                                                       \
    F(later, blocked_interval)

enum {
    WNDL_META_KERNEL_SAMPLED = 1,
    WNDL_META_BY_TICKS = 2,
    WNDL_META_BLOCKED = 4,
    WNDL_META_KERNEL_STACKS = 8,
};

/* ---- processes and threads */

#define WNDL_FIELDS_PROC(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, parent)                                                            \
    F(uleb, pid)                                                               \
    F(uleb, generation)                                                        \
    F(uleb, time)                                                              \
    F(str, executable)                                                         \
    F(str, command)                                                            \
    F(later, age)

#define WNDL_FIELDS_PCPU(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, loading)                                                           \
    F(uleb, starting)

#define WNDL_FIELDS_TITL(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, time)                                                              \
    F(str, command)

/* A list of losses follows. */
#define WNDL_FIELDS_PEND(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, time)                                                              \
    F(uleb, how)
#define WNDL_FIELDS_LOSS(F)                                                    \
    F(uleb, reason)                                                            \
    F(uleb, count)

#define WNDL_FIELDS_THRD(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, thread)                                                            \
    F(uleb, tid)                                                               \
    F(uleb, time)                                                              \
    F(str, name)

#define WNDL_FIELDS_TEND(F)                                                    \
    F(uleb, thread)                                                            \
    F(uleb, time)                                                              \
    F(uleb, cpu)

#define WNDL_FIELDS_MARK(F)                                                    \
    F(uleb, thread)                                                            \
    F(uleb, time)                                                              \
    F(uleb, duration)                                                          \
    F(uleb, kind)                                                              \
    F(str, text)

#define WNDL_FIELDS_UNFO(F)                                                    \
    F(uleb, parent)                                                            \
    F(uleb, pid)                                                               \
    F(uleb, time)                                                              \
    F(uleb, reason)                                                            \
    F(str, executable)                                                         \
    F(str, command)

#define WNDL_FIELDS_PAUS(F)                                                    \
    F(uleb, time)                                                              \
    F(uleb, state)

#define WNDL_FIELDS_UNWR(F)                                                    \
    F(uleb, time)                                                              \
    F(uleb, duration)                                                          \
    F(uleb, samples)

#define WNDL_FIELDS_DONE(F)                                                    \
    F(uleb, time)                                                              \
    F(uleb, status)                                                            \
    F(uleb, processes)                                                         \
    F(uleb, unrecorded)                                                        \
    F(later, discarded)                                                        \
    F(later, interrupted_calls)                                                \
    F(later, cpu)

/* ---- images and stacks */

#define WNDL_FIELDS_IMAG(F)                                                    \
    F(uleb, image)                                                             \
    F(str, path)                                                               \
    F(str, build_id)

#define WNDL_FIELDS_MMAP(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, image)                                                             \
    F(uleb, time)                                                              \
    F(uleb, start)                                                             \
    F(uleb, end)                                                               \
    F(uleb, bias)

/* STAK, OSTK and KSTK: a list of nodes follows. */
#define WNDL_FIELDS_STAK(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, first)
#define WNDL_FIELDS_NODE(F)                                                    \
    F(uleb, parent)                                                            \
    F(uleb, flags)                                                             \
    F(uleb, image)                                                             \
    F(sleb, address)

/* A flag: the caller of this node, found without rules, passes the check. */
enum { WNDL_NODE_CHECKS_SHIFT = 4 };

/* SAMP and BLOK: a list of samples or spans follows. */
#define WNDL_FIELDS_SAMP(F)                                                    \
    F(uleb, thread)                                                            \
    F(uleb, time)
#define WNDL_FIELDS_SAMPLE(F)                                                  \
    F(uleb, time)                                                              \
    F(uleb, cpu)                                                               \
    F(uleb, node)                                                              \
    F(uleb, end)
/* A flag of the end of a sample: its time was spent in the kernel. */
enum { WNDL_SAMPLE_IN_KERNEL = 64 };

/* A list of samples of the kernel follows. */
#define WNDL_FIELDS_KSMP(F) F(uleb, time)
#define WNDL_FIELDS_KERNEL(F)                                                  \
    F(uleb, time)                                                              \
    F(uleb, tid)                                                               \
    F(uleb, node)
/* A list of names follows. */
#define WNDL_FIELDS_KSYM(F) F(uleb, image)
#define WNDL_FIELDS_KERNEL_NAME(F)                                             \
    F(uleb, gap)                                                               \
    F(str, name)
#define WNDL_FIELDS_SPAN(F)                                                    \
    F(uleb, gap)                                                               \
    F(uleb, duration)                                                          \
    F(uleb, kind)                                                              \
    F(uleb, node)                                                              \
    F(uleb, end)

/* A list of sizes follows. */
#define WNDL_FIELDS_SIZE(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, time)
#define WNDL_FIELDS_RESIDENT(F)                                                \
    F(uleb, gap)                                                               \
    F(uleb, bytes)

/* ---- heaps */

#define WNDL_FIELDS_HEAP(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, flags)                                                             \
    F(uleb, sample_below)

/* A list of sites follows. */
#define WNDL_FIELDS_HPAR(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, first)
#define WNDL_FIELDS_SITE(F)                                                    \
    F(uleb, node)                                                              \
    F(uleb, end)                                                               \
    F(uleb, requested)                                                         \
    F(uleb, slop)

/* A list of tags follows. */
#define WNDL_FIELDS_HTAG(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, first)
#define WNDL_FIELDS_TAG(F)                                                     \
    F(uleb, node)                                                              \
    F(uleb, outer)                                                             \
    F(str, name)

/* A list of sites with a tag follows. */
#define WNDL_FIELDS_HOWN(F) F(uleb, process)
#define WNDL_FIELDS_OWNER(F)                                                   \
    F(uleb, site)                                                              \
    F(uleb, tag)

/* HLIB is a list of these. */
#define WNDL_FIELDS_LIBRARY(F)                                                 \
    F(str, pattern)                                                            \
    F(str, tag)

/* Two lists of numbers follow: totals and misses. */
#define WNDL_FIELDS_HSNP(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, snapshot)                                                          \
    F(uleb, time)                                                              \
    F(uleb, why)                                                               \
    F(str, text)
#define WNDL_FIELDS_NUMBER(F) F(uleb, value)

/* A list of counts follows. */
#define WNDL_FIELDS_HCNT(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, snapshot)
#define WNDL_FIELDS_COUNTS(F)                                                  \
    F(uleb, site)                                                              \
    F(uleb, allocs)                                                            \
    F(uleb, frees)                                                             \
    F(uleb, at_peak)                                                           \
    F(uleb, temporary)                                                         \
    F(uleb, lifetime)

/* A list of moments follows. */
#define WNDL_FIELDS_HTIM(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, time)
#define WNDL_FIELDS_MOMENT(F)                                                  \
    F(uleb, time)                                                              \
    F(uleb, bytes)                                                             \
    F(uleb, blocks)

/*
 * HLEK, HGRO, HWRO, HMIX and HTOG: a list follows: leaks, growths, wrong frees,
 * those whose allocation is known, or pairs of sites.
 */
#define WNDL_FIELDS_FINDINGS(F) F(uleb, process)
#define WNDL_FIELDS_HSCN(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, snapshot)                                                          \
    F(uleb, end)                                                               \
    F(uleb, position)                                                          \
    F(str, bytes)                                                              \
    F(later, written)                                                          \
    F(later, contents)                                                         \
    F(later, stopped)
#define WNDL_FIELDS_HCON(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, position)                                                          \
    F(str, bytes)
#define WNDL_FIELDS_LEAKS(F)                                                   \
    F(uleb, site)                                                              \
    F(uleb, definite)                                                          \
    F(uleb, indirect)                                                          \
    F(uleb, possible)
#define WNDL_FIELDS_GROWTH(F)                                                  \
    F(uleb, node)                                                              \
    F(uleb, how)                                                               \
    F(uleb, chains)                                                            \
    F(uleb, steps)                                                             \
    F(uleb, allocated)                                                         \
    F(uleb, final)                                                             \
    F(uleb, doubling)                                                          \
    F(uleb, least_step)                                                        \
    F(uleb, most_step)
#define WNDL_FIELDS_WRONG(F)                                                   \
    F(uleb, node)                                                              \
    F(uleb, kind)                                                              \
    F(uleb, count)                                                             \
    F(uleb, address)
#define WNDL_FIELDS_MIXED(F)                                                   \
    F(uleb, node)                                                              \
    F(uleb, taken_at)                                                          \
    F(uleb, taken_by)                                                          \
    F(uleb, freed_by)                                                          \
    F(uleb, count)                                                             \
    F(uleb, address)
#define WNDL_FIELDS_TOGETHER(F)                                                \
    F(uleb, site)                                                              \
    F(uleb, other)                                                             \
    F(uleb, blocks)

/* A list of reported blocks follows. */
#define WNDL_FIELDS_HREP(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, snapshot)                                                          \
    F(uleb, time)                                                              \
    F(uleb, lost)
#define WNDL_FIELDS_REPORTED(F)                                                \
    F(uleb, site)                                                              \
    F(uleb, reports)                                                           \
    F(uleb, blocks)                                                            \
    F(uleb, node)                                                              \
    F(uleb, end)                                                               \
    F(uleb, again_node)                                                        \
    F(uleb, again_end)

#define WNDL_FIELDS_HFAL(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, how)                                                               \
    F(str, reporter)

/* A list of numbers follows: resident bytes by enum wndl_memory_kind. */
#define WNDL_FIELDS_HMEM(F)                                                    \
    F(uleb, process)                                                           \
    F(uleb, time)                                                              \
    F(uleb, live)                                                              \
    F(uleb, live_mapped)                                                       \
    F(uleb, proportional)                                                      \
    F(uleb, mapped)

/* A list of places follows: whose the memory of the last HMEM is. */
#define WNDL_FIELDS_HWHO(F) F(uleb, process)

#define WNDL_FIELDS_PLACE(F)                                                   \
    F(uleb, node)                                                              \
    F(uleb, kind)                                                              \
    F(uleb, bytes)                                                             \
    F(uleb, start)                                                             \
    F(uleb, live)                                                              \
    F(str, name)

#define WNDL_ALL_RECORDS(R)                                                    \
    R(meta, META)                                                              \
    R(argument, ARGUMENT)                                                      \
    R(meta_end, META_END)                                                      \
    R(proc, PROC)                                                              \
    R(titl, TITL)                                                              \
    R(pcpu, PCPU)                                                              \
    R(pend, PEND)                                                              \
    R(loss, LOSS)                                                              \
    R(thrd, THRD)                                                              \
    R(tend, TEND)                                                              \
    R(mark, MARK)                                                              \
    R(unfo, UNFO)                                                              \
    R(paus, PAUS)                                                              \
    R(unwr, UNWR)                                                              \
    R(done, DONE)                                                              \
    R(imag, IMAG)                                                              \
    R(mmap, MMAP)                                                              \
    R(stak, STAK)                                                              \
    R(node, NODE)                                                              \
    R(samp, SAMP)                                                              \
    R(sample, SAMPLE)                                                          \
    R(ksmp, KSMP)                                                              \
    R(kernel, KERNEL)                                                          \
    R(ksym, KSYM)                                                              \
    R(kernel_name, KERNEL_NAME)                                                \
    R(span, SPAN)                                                              \
    R(size, SIZE)                                                              \
    R(resident, RESIDENT)                                                      \
    R(heap, HEAP)                                                              \
    R(hpar, HPAR)                                                              \
    R(site, SITE)                                                              \
    R(htag, HTAG)                                                              \
    R(tag, TAG)                                                                \
    R(hown, HOWN)                                                              \
    R(owner, OWNER)                                                            \
    R(library, LIBRARY)                                                        \
    R(hsnp, HSNP)                                                              \
    R(number, NUMBER)                                                          \
    R(hcnt, HCNT)                                                              \
    R(counts, COUNTS)                                                          \
    R(htim, HTIM)                                                              \
    R(moment, MOMENT)                                                          \
    R(findings, FINDINGS)                                                      \
    R(leaks, LEAKS)                                                            \
    R(growth, GROWTH)                                                          \
    R(wrong, WRONG)                                                            \
    R(mixed, MIXED)                                                            \
    R(together, TOGETHER)                                                      \
    R(hscn, HSCN)                                                              \
    R(hcon, HCON)                                                              \
    R(hrep, HREP)                                                              \
    R(reported, REPORTED)                                                      \
    R(hfal, HFAL)                                                              \
    R(hmem, HMEM)                                                              \
    R(hwho, HWHO)                                                              \
    R(place, PLACE)

/* ---- types and functions from the tables */

typedef uint64_t wndl_field_uleb;
typedef int64_t wndl_field_sleb;
typedef struct wndl_bytes wndl_field_str;
typedef uint64_t wndl_field_later;

/* Append a value in the form of its kind. */
static inline void wndl_put_uleb(struct wndl_buf *out, uint64_t value)
{
    wndl_buf_uleb(out, value);
}

static inline void wndl_put_later(struct wndl_buf *out, uint64_t value)
{
    wndl_buf_uleb(out, value);
}

static inline void wndl_put_sleb(struct wndl_buf *out, int64_t value)
{
    wndl_buf_sleb(out, value);
}

static inline void wndl_put_str(struct wndl_buf *out, struct wndl_bytes text)
{
    wndl_chunk_str(out, text);
}

/*
 * Read a value of that kind. After a failure the cursor has failed and the
 * value is 0 or empty.
 */
static inline uint64_t wndl_get_uleb(struct wndl_cursor *c)
{
    return wndl_cursor_uleb(c);
}

static inline uint64_t wndl_get_later(struct wndl_cursor *c)
{
    return wndl_cursor_left(c) == 0 ? 0 : wndl_cursor_uleb(c);
}

static inline int64_t wndl_get_sleb(struct wndl_cursor *c)
{
    return wndl_cursor_sleb(c);
}

static inline struct wndl_bytes wndl_get_str(struct wndl_cursor *c)
{
    return wndl_chunk_read_str(c);
}

#define WNDL_FIELD_DECLARE(kind, name) wndl_field_##kind name;
#define WNDL_FIELD_PUT(kind, name) wndl_put_##kind(out, fields->name);
#define WNDL_FIELD_GET(kind, name) fields.name = wndl_get_##kind(c);
#define WNDL_FIELD_LEAST(kind, name) +1

#define WNDL_RECORD_TYPE(name, TABLE)                                          \
    struct wndl_fields_##name {                                                \
        WNDL_FIELDS_##TABLE(WNDL_FIELD_DECLARE)                                \
    };                                                                         \
    enum { WNDL_LEAST_##TABLE = 0 WNDL_FIELDS_##TABLE(WNDL_FIELD_LEAST) };

#define WNDL_RECORD_PUT(name, TABLE)                                           \
    static inline void wndl_put_##name(                                        \
        struct wndl_buf *out, const struct wndl_fields_##name *fields)         \
    {                                                                          \
        WNDL_FIELDS_##TABLE(WNDL_FIELD_PUT)                                    \
    }

#define WNDL_RECORD_GET(name, TABLE)                                           \
    static inline struct wndl_fields_##name wndl_get_##name(                   \
        struct wndl_cursor *c)                                                 \
    {                                                                          \
        struct wndl_fields_##name fields;                                      \
        WNDL_FIELDS_##TABLE(WNDL_FIELD_GET) return fields;                     \
    }

WNDL_ALL_RECORDS(WNDL_RECORD_TYPE)
WNDL_ALL_RECORDS(WNDL_RECORD_PUT)
WNDL_ALL_RECORDS(WNDL_RECORD_GET)

/* Appends the count that starts a list. */
static inline void wndl_put_list(struct wndl_buf *out, uint64_t count)
{
    wndl_buf_uleb(out, count);
}

/*
 * Reads the count that starts a list of elements of at least `least` bytes. If
 * that many cannot follow, it returns 0 and the cursor has failed.
 */
static inline uint64_t wndl_get_list(struct wndl_cursor *c, unsigned least)
{
    uint64_t count = wndl_cursor_uleb(c);
    if (count > wndl_cursor_left(c) / least)
        wndl_cursor_fail(c);
    return c->failed ? 0 : count;
}

#endif
