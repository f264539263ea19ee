/* SPDX-License-Identifier: MIT */
#include "collect/offcpu/stack.h"

#include "collect/offcpu/place.h"
#include "unwind/core/frame.h"
#include "unwind/jit/remote.h"

#include <elf.h>
#include <string.h>

/* The first read from SP up: it covers most stacks of blocked threads. */
enum { FIRST_PAGES = 4 };

enum { RED_ZONE = 128 };

void wndl_offcpu_stack_init(struct wndl_offcpu_stack *stack)
{
    *stack = (struct wndl_offcpu_stack){0};
    wndl_buf_init(&stack->words, wndl_mem_libc());
}

void wndl_offcpu_stack_free(struct wndl_offcpu_stack *stack)
{
    wndl_buf_free(&stack->words);
}

/* ---- which words count */

struct walk {
    struct wndl_offcpu_subject *subject;
    struct wndl_offcpu_stack *stack;
};

static uint64_t mix(uint64_t hash, bool is_read, uint64_t word)
{
    return wndl_hash_u64(hash ^ word) + !is_read;
}

/* Code does not change, so words of code above the stack are left out. */
static void note_word(
    struct walk *walk, uint64_t address, bool is_read, uint64_t word)
{
    const struct wndl_offcpu_code *code = &walk->subject->code;
    struct wndl_offcpu_stack *stack = walk->stack;
    uint64_t distance = address + RED_ZONE - stack->sp;
    if (distance > UINT32_MAX ||
        wndl_offcpu_code_find(code, address) < code->count)
        return;
    wndl_buf_u32le(&stack->words, (uint32_t)distance);
    stack->hash = mix(stack->hash, is_read, word);
}

/* The reader of wndl_remote. */
static bool read_for_walk(
    void *context, uint64_t address, void *to, size_t size)
{
    struct walk *walk = context;
    bool is_read = wndl_offcpu_memory_read(&walk->subject->shared->memory,
        walk->subject->pid, address, (struct wndl_bytes){to, size});
    uint64_t word = 0;
    if (is_read)
        memcpy(&word, to, size < sizeof word ? size : sizeof word);
    note_word(walk, address, is_read, word);
    return is_read;
}

/* Whether the words are the same as when the stack was walked. */
static bool is_unchanged(
    struct wndl_offcpu_subject *subject, const struct wndl_offcpu_stack *stack)
{
    const size_t size = subject->code.machine == EM_386 ? 4 : 8;
    uint64_t hash = 0;
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){stack->words.data, stack->words.size}, 0, false);
    while (wndl_cursor_left(&c) != 0) {
        uint64_t word = 0, at = stack->sp - RED_ZONE + wndl_cursor_u32(&c);
        bool is_read = wndl_offcpu_memory_read(&subject->shared->memory,
            subject->pid, at, (struct wndl_bytes){(uint8_t *)&word, size});
        hash = mix(hash, is_read, is_read ? word : 0);
    }
    return hash == stack->hash && !stack->words.failed;
}

/* ---- the walk */

static void walk_once(struct wndl_offcpu_subject *subject,
    struct wndl_offcpu_stack *stack, uint64_t jit, struct wndl_walk *walk)
{
    struct walk context = {subject, stack};
    const struct wndl_remote remote = {
        .read = read_for_walk,
        .context = &context,
        .modules = subject->code.modules,
        .module_count = subject->code.count,
        .machine = subject->code.machine,
        .jit = jit,
        .find_fp = true,
    };
    const struct wndl_regs regs = {
        .ip = stack->pc, .sp = stack->sp, .valid = WNDL_REG_IP | WNDL_REG_SP};
    wndl_buf_clear(&stack->words);
    stack->hash = 0;
    wndl_unwind_remote(&remote, &regs, walk);
}

static bool read_anew(void *context, uint64_t address, void *to, size_t size)
{
    const struct wndl_offcpu_subject *subject = context;
    return wndl_process_read(subject->pid, address, to, size) == size;
}

static uint64_t jit_changes(struct wndl_offcpu_subject *subject, uint64_t jit)
{
    const struct wndl_remote remote = {.read = read_anew,
        .context = subject,
        .machine = subject->code.machine,
        .jit = jit};
    return wndl_jit_remote_changes(&remote);
}

/*
 * Generated code may change during the walk, which is then repeated. Where it
 * changes all the time, the stack is lost.
 */
static void walk_steadily(struct wndl_offcpu_subject *subject,
    struct wndl_offcpu_stack *stack, struct wndl_walk *walk)
{
    enum { TRIES = 3 };
    uint64_t jit = subject->jit == NULL ? 0 : atomic_load(subject->jit);
    uint64_t before = jit == 0 ? 0 : jit_changes(subject, jit);
    for (int i = 0; i < TRIES; i++) {
        walk_once(subject, stack, before == 0 ? 0 : jit, walk);
        uint64_t after = before == 0 ? 0 : jit_changes(subject, jit);
        if (after == before)
            return;
        before = after;
        subject->shared->memory.look++;
    }
    walk->count = walk->count == 0 ? 0 : 1;
    walk->end = WNDL_END_NO_RULE;
}

static bool is_lost(const struct wndl_offcpu_stack *stack)
{
    return stack->last.ended != WNDL_END_COMPLETE &&
           stack->last.ended != WNDL_END_TRUNCATED;
}

bool wndl_offcpu_stack_may_be_found(const struct wndl_offcpu_subject *subject,
    const struct wndl_offcpu_stack *stack)
{
    return stack->last.is_walked && is_lost(stack) &&
           stack->made != subject->shared->binaries->made;
}

/* Rules come later, from another thread: the walk is repeated then. */
static void want_rules(
    struct wndl_offcpu_subject *subject, const struct wndl_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        const struct wndl_frame *f = &walk->frames[i];
        (void)wndl_offcpu_code_want(&subject->code, subject->shared->binaries,
            f->address - !f->interrupted);
    }
}

static void take_walk(struct wndl_offcpu_subject *subject,
    struct wndl_offcpu_stack *stack, uint64_t now)
{
    struct wndl_offcpu_shared *shared = subject->shared;
    struct wndl_walk walk = {.frames = shared->frames,
        .max_frames = shared->max_frames,
        .method = shared->method};
    walk_steadily(subject, stack, &walk);
    if (wndl_offcpu_walk_is_lost(&subject->code, &walk) &&
        wndl_offcpu_code_refresh(
            &subject->code, shared->binaries, subject->pid, now))
        walk_steadily(subject, stack, &walk);
    wndl_offcpu_walk_check(shared->binaries, &subject->code, &walk);
    stack->last.node = wndl_offcpu_walk_node(
        &subject->code, &subject->tree, subject->recording, &walk);
    stack->last.ended = wndl_walk_sure_end(&walk);
    stack->made = subject->code.made;
    if (is_lost(stack))
        want_rules(subject, &walk);
    stack->changed = subject->code.changed;
    stack->last.is_walked = true;
    stack->is_new = true;
}

bool wndl_offcpu_stack_take(struct wndl_offcpu_subject *subject,
    struct wndl_offcpu_stack *stack, uint64_t pc, uint64_t sp, uint64_t now)
{
    struct wndl_offcpu_memory *memory = &subject->shared->memory;
    memory->look++;
    stack->before = stack->last;
    stack->is_new = false;
    if (!wndl_offcpu_memory_fetch(
            memory, subject->pid, sp - sp % WNDL_PROCESS_PAGE, FIRST_PAGES)) {
        stack->last.is_walked = false;
        return false;
    }
    if (subject->code.is_stale)
        (void)wndl_offcpu_code_refresh(
            &subject->code, subject->shared->binaries, subject->pid, now);
    wndl_offcpu_code_renew(&subject->code, subject->shared->binaries->made);
    if (stack->last.is_walked &&
        !wndl_offcpu_stack_may_be_found(subject, stack) && stack->pc == pc &&
        stack->sp == sp && stack->changed == subject->code.changed &&
        is_unchanged(subject, stack))
        return true;
    stack->pc = pc;
    stack->sp = sp;
    take_walk(subject, stack, now);
    return true;
}

void wndl_offcpu_stack_judge(struct wndl_offcpu_shared *shared,
    struct wndl_offcpu_stack *stack, bool stood_still)
{
    if (!stood_still) {
        stack->last = stack->before;
        stack->pc = 0;
        return;
    }
    if (!stack->is_new)
        return;
    shared->totals.stacks++;
    shared->totals.complete += stack->last.ended == WNDL_END_COMPLETE;
}
