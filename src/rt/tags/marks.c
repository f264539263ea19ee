/* SPDX-License-Identifier: MIT */
#include "rt/tags/marks.h"

#include "os/raw.h"

#include <sys/mman.h>
#include <sys/resource.h>

/* Bits of an address of the program. */
#ifdef __x86_64__
enum { ADDRESS_BITS = 47 };
#else
enum { ADDRESS_BITS = 48 };
#endif

/* Pieces of marks, for 1 MiB each, and tables of pieces, for 8 GiB. */
enum {
    PIECE_BITS = 20 - WNDL_RT_MARK_SHIFT,
    TABLE_BITS = 33 - WNDL_RT_MARK_SHIFT,
    PIECE = 1 << PIECE_BITS,
    TABLE = 1 << (TABLE_BITS - PIECE_BITS),
    TABLES = 1 << (ADDRESS_BITS - WNDL_RT_MARK_SHIFT - TABLE_BITS)
};

static const size_t whole_size =
    ((size_t)1 << (ADDRESS_BITS - WNDL_RT_MARK_SHIFT)) * sizeof(wndl_rt_mark);

typedef _Atomic(void *) entry;

static entry tables[TABLES];

_Atomic(wndl_rt_mark *) wndl_rt_marks;

static void *reserve(size_t size)
{
    return wndl_raw_map(size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static bool is_limited(void)
{
    struct rlimit limit = {0, 0};
    return wndl_raw4(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit) != 0 ||
           limit.rlim_cur != RLIM_INFINITY;
}

/* A huge page would be two megabytes where one mark is needed. */
static wndl_rt_mark *reserve_whole(void)
{
    wndl_rt_mark *all = is_limited() ? NULL : reserve(whole_size);
    if (all != NULL) {
        (void)wndl_raw3(
            SYS_madvise, (long)all, (long)whole_size, MADV_NOHUGEPAGE);
        (void)wndl_raw3(
            SYS_madvise, (long)all, (long)whole_size, MADV_DONTDUMP);
    }
    return all;
}

/* The first thread that needs marks decides for all. */
static wndl_rt_mark *decide(wndl_rt_mark *wanted)
{
    wndl_rt_mark *now = NULL;
    if (atomic_compare_exchange_strong(&wndl_rt_marks, &now, wanted))
        return wanted;
    if (wndl_rt_marks_are_whole(wanted))
        wndl_raw_unmap(wanted, whole_size);
    return now;
}

void wndl_rt_marks_use_pieces(void)
{
    (void)decide(WNDL_RT_MARKS_IN_PIECES);
}

void wndl_rt_marks_unlock(void)
{
    (void)wndl_raw3(
        SYS_munlock, (long)wndl_rt_marks_get(), (long)whole_size, 0);
}

/* What *at leads to, made if it is needed; NULL: it is not there. */
static inline void *follow(entry *at, size_t size, bool makes)
{
    void *now = atomic_load_explicit(at, memory_order_acquire);
    if (now != NULL || !makes)
        return now;
    void *made = reserve(size);
    if (made == NULL || atomic_compare_exchange_strong(at, &now, made))
        return made;
    wndl_raw_unmap(made, size);
    return now;
}

static wndl_rt_mark *mark_in_piece(const void *block, bool makes)
{
    const size_t number = wndl_rt_mark_number(block);
    if (number >> TABLE_BITS >= TABLES)
        return NULL;
    entry *table =
        follow(&tables[number >> TABLE_BITS], TABLE * sizeof(entry), makes);
    if (table == NULL)
        return NULL;
    wndl_rt_mark *piece = follow(&table[number >> PIECE_BITS & (TABLE - 1)],
        PIECE * sizeof(wndl_rt_mark), makes);
    return piece == NULL ? NULL : &piece[number & (PIECE - 1)];
}

wndl_rt_mark *wndl_rt_mark_slowly(const void *block, bool makes)
{
    wndl_rt_mark *marks = wndl_rt_marks_get();
    if (marks == NULL && !makes)
        return NULL;
    if (marks == NULL) {
        marks = reserve_whole();
        marks = decide(marks == NULL ? WNDL_RT_MARKS_IN_PIECES : marks);
    }
    return wndl_rt_marks_are_whole(marks) ? &marks[wndl_rt_mark_number(block)]
                                          : mark_in_piece(block, makes);
}
