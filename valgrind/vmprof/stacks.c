/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks.h"

#include "blocks.h"
#include "walk.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_xarray.h"

struct range {
    Addr start;
    Addr end;
};

ULong next_stack;
static XArray *stacks; /* of struct stack */
static XArray *frames; /* of Addr */
static XArray *starts; /* of struct range */

void stacks_init(void)
{
    next_stack = opt.stacks_every;
    stacks = VG_(newXA)(
        VG_(malloc), "vmprof.stacks", VG_(free), sizeof(struct stack));
    frames = VG_(newXA)(VG_(malloc), "vmprof.frames", VG_(free), sizeof(Addr));
    starts = VG_(newXA)(
        VG_(malloc), "vmprof.starts", VG_(free), sizeof(struct range));
}

void stacks_take(Addr ip)
{
    struct walk walk;
    walk_stack(&walk, &(struct at){ip, 0});
    struct stack stack = {
        .at = instructions,
        .weight = (instructions - next_stack) / opt.stacks_every + 1,
        .tid = VG_(get_running_tid)(),
        .count = walk.count,
        .cut = walk.cut,
        .first = (UWord)VG_(sizeXA)(frames),
    };
    VG_(addToXA)(stacks, &stack);
    for (UInt i = 0; i < stack.count; i++)
        VG_(addToXA)(frames, &walk.ips[i]);
    next_stack += stack.weight * opt.stacks_every;
}

void stacks_visit(void (*visit)(const struct stack *stack, const Addr *ips))
{
    for (Word i = 0; i < VG_(sizeXA)(stacks); i++) {
        const struct stack *s = VG_(indexXA)(stacks, i);
        visit(s, VG_(indexXA)(frames, (Word)s->first));
    }
}

void stacks_forget(void)
{
    VG_(dropTailXA)(stacks, VG_(sizeXA)(stacks));
    VG_(dropTailXA)(frames, VG_(sizeXA)(frames));
    next_stack = opt.stacks_every;
}

void stacks_note_start(Addr start, Addr end)
{
    struct range range = {start, end};
    if (instructions < (ULong)opt.startup)
        VG_(addToXA)(starts, &range);
}

void stacks_visit_start(void (*visit)(Addr start, Addr end))
{
    for (Word i = 0; i < VG_(sizeXA)(starts); i++) {
        const struct range *range = VG_(indexXA)(starts, i);
        visit(range->start, range->end);
    }
}
