/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks.h"

#include "sites.h"

#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

enum { MAIN_THREAD = 1 };

struct thread {
    ThreadId tid;
    Addr low; /* lowest and highest address, of all that may be the stack */
    Addr high;
};

static struct thread *threads;
static UInt thread_count;
static UInt thread_room;

static Addr end_of_sector(Addr address)
{
    return address | ((1 << SECTOR_SHIFT) - 1);
}

/*
 * A new thread's data lies above its first stack pointer, and other blocks may
 * lie above that in one mapping.
 */
static struct thread stack_of(ThreadId tid)
{
    struct thread t = {.tid = tid, .high = VG_(thread_get_stack_max)(tid)};
    t.low = t.high - VG_(thread_get_stack_size)(tid) + 1;
    Addr sp = VG_(get_SP)(tid);
    if (tid != MAIN_THREAD && sp > t.low && sp < t.high)
        t.high = end_of_sector(sp - 1);
    return t;
}

static void remove_thread(ThreadId tid)
{
    for (UInt i = 0; i < thread_count; i++) {
        if (threads[i].tid != tid)
            continue;
        sites_forget_ranges(threads[i].low, threads[i].high);
        threads[i] = threads[--thread_count];
        return;
    }
}

static void on_first(ThreadId tid)
{
    remove_thread(tid);
    if (thread_count == thread_room) {
        thread_room += 16;
        threads =
            VG_(realloc)("mvp.threads", threads, thread_room * sizeof *threads);
    }
    struct thread t = stack_of(tid);
    threads[thread_count++] = t;
    sites_forget_ranges(t.low, t.high);
}

void stacks_init(void)
{
    VG_(track_pre_thread_first_insn)(on_first);
    VG_(track_pre_thread_ll_exit)(remove_thread);
}

/* What of it is in use: all of it while the thread is on another stack. */
static Addr lowest_used(const struct thread *t)
{
    if (t->tid == MAIN_THREAD)
        return t->low;
    Addr sp = VG_(get_SP)(t->tid);
    Addr low = (sp - VG_STACK_REDZONE_SZB) >> SECTOR_SHIFT << SECTOR_SHIFT;
    return sp > t->low && sp <= t->high && low > t->low ? low : t->low;
}

void stacks_find(Addr address, struct stretch *stretch)
{
    *stretch = (struct stretch){0, ~(Addr)0, False};
    for (UInt i = 0; i < thread_count; i++) {
        Addr low = lowest_used(&threads[i]);
        Addr high = threads[i].high;
        if (address >= low && address <= high) {
            *stretch = (struct stretch){low, high, True};
            return;
        }
        if (address > high && high >= stretch->low)
            stretch->low = high + 1;
        else if (address < low && low <= stretch->high)
            stretch->high = low - 1;
    }
}

Bool stacks_may_hold(Addr address)
{
    for (UInt i = 0; i < thread_count; i++)
        if (address >= threads[i].low && address <= threads[i].high)
            return True;
    return False;
}

void stacks_forget_others(ThreadId tid)
{
    for (UInt i = thread_count; i-- > 0;)
        if (threads[i].tid != tid)
            remove_thread(threads[i].tid);
}
