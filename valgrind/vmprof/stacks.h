/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks: a stack each so many instructions, and the code that ran first. */
#ifndef VMPROF_STACKS_H
#define VMPROF_STACKS_H

#include "vmprof.h"

void stacks_init(void);

/* The value of `instructions` from which on a stack is due. */
extern ULong next_stack;

/* A stack of thread `tid`, after `at` instructions. */
struct stack {
    ULong at;
    ULong weight; /* how often it was due since the stack before */
    ThreadId tid;
    UInt count;  /* frames */
    Bool cut;    /* outer frames are missing */
    UWord first; /* index of its first frame, stacks.c's own */
};

/* The running thread is at `ip`, and a stack is due. */
void stacks_take(Addr ip);

void stacks_visit(void (*visit)(const struct stack *stack, const Addr *ips));

/* [start, end) is about to run for the first time. */
void stacks_note_start(Addr start, Addr end);

/* In order; those of the first opt.startup instructions. */
void stacks_visit_start(void (*visit)(Addr start, Addr end));

/* Stacks begin anew. */
void stacks_forget(void);

#endif
