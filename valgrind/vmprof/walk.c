/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "walk.h"

#include "pub_tool_machine.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_threadstate.h"

/*
 * Valgrind's own IP is only right at accesses to data. A push or a call writes
 * after it has lowered the stack pointer; call frame information is of before.
 */
void walk_stack(struct walk *walk, const struct at *at)
{
    ThreadId tid = VG_(get_running_tid)();
    UInt count = VG_(get_StackTrace_with_deltas)(tid, walk->ips, MAX_FRAMES + 1,
        NULL, NULL, (Word)(at->ip - VG_(get_IP)(tid)), (Word)at->pushed);
    walk->ips[0] = at->ip;
    walk->cut = count > MAX_FRAMES;
    walk->count = count == 0 ? 1 : walk->cut ? MAX_FRAMES : count;
}
