/* SPDX-License-Identifier: MIT */
#include "collect/process/lost.h"

#include "collect/offcpu/place.h"
#include "collect/offcpu/stack.h"
#include "collect/process/process.h"
#include "collect/process/stack_copy.h"
#include "os/clock.h"
#include "unwind/core/frame.h"

#include <elf.h>
#include <string.h>

/* Indexes of gregs of x86-64, as <sys/ucontext.h> has them. */
enum { REG_OF_FP = 10, REG_OF_BX = 11, REG_OF_SP = 15, REG_OF_IP = 16 };

enum {
    BYTES_MAX = 64 * 1024 * 1024, /* of the copies of all processes */
    HELD_MAX = 256 * 1024,        /* samples of all processes */
    ENDED_MAX = 64,               /* ended processes that wait */
    IN_VAIN = 64, /* stacks that stay lost in succession: no more are copied */
};

static const uint64_t wait_most = 5 * UINT64_C(1000000000); /* ns */

/* A sample that waits, or that has got its stack. */
struct waiting {
    struct waiting *next;
    struct wndl_lost_sample sample;
    uint32_t made;  /* tables that there were when it was last tried */
    uint32_t found; /* node of `tree`; 0: it has no stack yet */
    struct wndl_stack_copy *stack; /* NULL once it has its node */
};

struct wndl_lost {
    struct wndl_lost *next; /* in shared->ended */
    struct wndl_lost_shared *shared;
    struct wndl_offcpu_subject subject;
    struct wndl_shm *shm; /* NULL: it has none, or the process has ended */
    const struct wndl_shm_copy *copies; /* of the block; NULL: it has none */
    struct wndl_stack_copies stacks;
    bool has_left; /* another image may have the pid */
    uint32_t process, nodes;
    uint32_t in_vain;
    uint64_t taken; /* `changed` of the code that was taken over; 0: none */
    struct waiting *first, **end;
    struct waiting *found, **found_end; /* those that have their stack */
};

/* ---- beginning and end */

void wndl_lost_shared_init(struct wndl_lost_shared *shared,
    struct wndl_recording *recording, struct wndl_collector_totals *totals)
{
    *shared =
        (struct wndl_lost_shared){.recording = recording, .totals = totals};
}

void wndl_lost_shared_begin(struct wndl_lost_shared *shared,
    struct wndl_binaries *binaries, uint32_t unwind, uint32_t max_frames)
{
    shared->frames =
        wndl_mem_zalloc(wndl_mem_libc(), max_frames * sizeof *shared->frames);
    if (shared->frames == NULL)
        return;
    shared->binaries = binaries;
    shared->max_frames = max_frames;
    shared->method = unwind == WNDL_UNWIND_SCAN ? WNDL_WALK_ANY | WNDL_WALK_SCAN
                                                : WNDL_WALK_ANY;
}

/* Rules are made from code of x86-64 alone. */
static bool can_follow(const struct wndl_lost *lost)
{
    return lost->subject.code.machine == EM_X86_64 &&
           lost->shared->binaries->maker != NULL;
}

static void ask_for_copies(struct wndl_lost *lost, bool wanted)
{
    if (lost->shm != NULL)
        atomic_store(&lost->shm->wants_copies, wanted);
}

struct wndl_lost *wndl_lost_new(
    struct wndl_lost_shared *shared, const struct wndl_lost_owner *owner)
{
    struct wndl_lost *lost =
        shared->binaries == NULL
            ? NULL
            : wndl_mem_zalloc(wndl_mem_libc(), sizeof *lost);
    if (lost == NULL)
        return NULL;
    lost->shared = shared;
    lost->shm = owner->shm;
    lost->process = owner->process;
    lost->copies = owner->copies;
    lost->stacks.bytes = &shared->bytes;
    lost->end = &lost->first;
    lost->found_end = &lost->found;
    lost->subject = (struct wndl_offcpu_subject){
        .pid = owner->pid, .recording = shared->recording};
    wndl_offcpu_code_init(&lost->subject.code, owner->pid);
    wndl_offcpu_tree_init(&lost->subject.tree, WNDL_CHUNK_STAK);
    ask_for_copies(lost, lost->copies != NULL && can_follow(lost));
    return lost;
}

static void free_copy(struct wndl_lost *lost, struct waiting *w)
{
    wndl_stack_copy_free(&lost->stacks, w->stack);
    w->stack = NULL;
}

static void free_waiting(struct wndl_lost *lost, struct waiting *w)
{
    free_copy(lost, w);
    lost->shared->held--;
    wndl_mem_free(wndl_mem_libc(), w);
}

static void free_list(struct wndl_lost *lost, struct waiting *first)
{
    for (struct waiting *next; first != NULL; first = next) {
        next = first->next;
        free_waiting(lost, first);
    }
}

void wndl_lost_free(struct wndl_lost *lost)
{
    if (lost == NULL)
        return;
    free_list(lost, lost->first);
    free_list(lost, lost->found);
    wndl_stack_copies_close(&lost->stacks);
    wndl_offcpu_code_free(&lost->subject.code);
    wndl_offcpu_tree_free(&lost->subject.tree);
    wndl_mem_free(wndl_mem_libc(), lost);
}

void wndl_lost_shared_free(struct wndl_lost_shared *shared)
{
    for (struct wndl_lost *next; shared->ended != NULL; shared->ended = next) {
        next = shared->ended->next;
        wndl_lost_free(shared->ended);
    }
    wndl_mem_free(wndl_mem_libc(), shared->frames);
    shared->frames = NULL;
}

/* ---- code without rules */

const struct wndl_offcpu_code *wndl_lost_look(
    struct wndl_lost *lost, bool has_changed)
{
    struct wndl_offcpu_code *code = &lost->subject.code;
    code->is_stale |= has_changed;
    if (!lost->has_left)
        (void)wndl_offcpu_code_refresh(code, lost->shared->binaries,
            lost->subject.pid, wndl_clock_monotonic_ns());
    wndl_offcpu_code_renew(code, lost->shared->binaries->made);
    return code;
}

void wndl_lost_take_code(
    struct wndl_lost *lost, const struct wndl_offcpu_code *code)
{
    if (lost->taken == code->changed)
        return;
    wndl_offcpu_code_copy(&lost->subject.code, code);
    lost->taken = code->changed;
}

void wndl_lost_leave(struct wndl_lost *lost)
{
    lost->has_left = true;
}

void wndl_lost_modules_changed(struct wndl_lost *lost)
{
    lost->subject.code.is_stale = true;
}

void wndl_lost_meet(struct wndl_lost *lost, uint64_t address)
{
    const struct wndl_offcpu_code *code = &lost->subject.code;
    const size_t at = wndl_offcpu_code_find(code, address);
    if (at == code->count || code->is_stale)
        code = wndl_lost_look(lost, false);
    if (!wndl_offcpu_code_want(code, lost->shared->binaries, address))
        return;
    lost->in_vain = 0;
    if (lost->copies != NULL)
        ask_for_copies(lost, true);
}

/* ---- writing */

static void write_sample(struct wndl_lost *lost,
    const struct wndl_lost_sample *sample, uint32_t node, uint32_t end)
{
    struct wndl_collector_totals *totals = lost->shared->totals;
    const struct wndl_fields_sample fields = {
        .cpu = sample->cpu, .node = node, .end = end};
    struct wndl_buf bytes;
    wndl_buf_init(&bytes, wndl_mem_libc());
    wndl_put_sample(&bytes, &fields);
    const struct wndl_recording_series series = {
        .thread = sample->thread,
        .time = sample->time,
        .count = 1,
        .bytes = {bytes.data, bytes.size},
    };
    if (!bytes.failed)
        wndl_recording_series(
            lost->shared->recording, WNDL_CHUNK_SAMP, &series);
    wndl_buf_free(&bytes);
    totals->samples++;
    totals->ends[end % WNDL_WALK_END_COUNT]++;
    totals->cpu += sample->cpu;
}

/* Writes the samples, once their tree is. */
static void write_found(struct wndl_lost *lost)
{
    wndl_offcpu_tree_append(&lost->subject.tree, lost->shared->recording,
        lost->process, lost->nodes);
    for (const struct waiting *w = lost->found; w != NULL; w = w->next)
        write_sample(lost, &w->sample, lost->nodes + w->found, w->sample.end);
    for (const struct waiting *w = lost->first; w != NULL; w = w->next)
        write_sample(lost, &w->sample, w->sample.node, w->sample.end);
}

/* ---- keeping */

static bool has_room(const struct wndl_lost_shared *shared)
{
    return shared->bytes < BYTES_MAX && shared->held < HELD_MAX;
}

/* False if there is no memory. */
static bool append(struct wndl_lost *lost,
    const struct wndl_lost_sample *sample, struct wndl_stack_copy *stack)
{
    struct waiting *w = wndl_mem_zalloc(wndl_mem_libc(), sizeof *w);
    if (w == NULL || stack == NULL) {
        wndl_stack_copy_free(&lost->stacks, stack);
        wndl_mem_free(wndl_mem_libc(), w);
        return false;
    }
    *w =
        (struct waiting){.sample = *sample, .made = UINT32_MAX, .stack = stack};
    lost->shared->held++;
    *lost->end = w;
    lost->end = &w->next;
    return true;
}

/* The process may write there at any time: each number is read once. */
static struct wndl_stack_copy *copy_out(
    struct wndl_lost *lost, uint32_t thread, const struct wndl_shm_copy *from)
{
    const volatile struct wndl_shm_copy *theirs = from;
    const uint32_t size = theirs->size, below = theirs->below;
    return size > WNDL_SHM_COPY_BYTES || below >= size
               ? NULL
               : wndl_stack_copy_new(&lost->stacks, thread, from->gregs, below,
                     (struct wndl_bytes){from->bytes, size});
}

bool wndl_lost_keep(struct wndl_lost *lost,
    const struct wndl_lost_sample *sample, uint32_t copy)
{
    if (copy == 0 || copy > WNDL_SHM_COPIES || lost->shm == NULL ||
        lost->copies == NULL ||
        atomic_load_explicit(&lost->shm->copy_states[copy - 1],
            memory_order_acquire) != WNDL_COPY_WHOLE)
        return false;
    struct wndl_stack_copy *stack =
        has_room(lost->shared)
            ? copy_out(lost, sample->thread, &lost->copies[copy - 1])
            : NULL;
    atomic_store_explicit(&lost->shm->copy_states[copy - 1], WNDL_COPY_FREE,
        memory_order_release);
    return append(lost, sample, stack);
}

bool wndl_lost_keep_stack(struct wndl_lost *lost,
    const struct wndl_lost_sample *sample, const struct wndl_regs *regs,
    struct wndl_bytes stack)
{
    if (stack.size > WNDL_SHM_COPY_BYTES)
        stack.size = WNDL_SHM_COPY_BYTES;
    if (!can_follow(lost) || lost->in_vain >= IN_VAIN || stack.size == 0 ||
        !has_room(lost->shared))
        return false;
    return append(lost, sample,
        wndl_stack_copy_new(
            &lost->stacks, sample->thread, regs->gregs, 0, stack));
}

/* ---- walking again */

struct reading {
    const struct wndl_lost *lost;
    const struct wndl_stack_copy *stack;
    bool is_cut; /* the stack goes on above its copy */
};

/* Other memory than the stack's is code, as far as it is still there. */
static bool read_copy(void *context, uint64_t address, void *to, size_t size)
{
    enum { STACK_MOST = 8 * 1024 * 1024 };
    struct reading *r = context;
    const struct wndl_offcpu_code *code = &r->lost->subject.code;
    const uint64_t at = address - r->stack->start;
    if (wndl_stack_copy_read(r->stack, address, to, size))
        return true;
    const bool is_code = wndl_offcpu_code_find(code, address) < code->count;
    r->is_cut |= !is_code && at < STACK_MOST;
    return !r->lost->has_left && is_code &&
           wndl_process_read(r->lost->subject.pid, address, to, size) == size;
}

static void walk_copy(struct wndl_lost *lost,
    const struct wndl_stack_copy *stack, struct wndl_walk *walk)
{
    struct reading reading = {.lost = lost, .stack = stack};
    const struct wndl_offcpu_code *code = &lost->subject.code;
    const struct wndl_remote remote = {
        .read = read_copy,
        .context = &reading,
        .modules = code->modules,
        .module_count = code->count,
        .machine = code->machine,
    };
    const struct wndl_regs regs = {
        .ip = stack->gregs[REG_OF_IP],
        .sp = stack->gregs[REG_OF_SP],
        .fp = stack->gregs[REG_OF_FP],
        .bx = stack->gregs[REG_OF_BX],
        .valid = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP | WNDL_REG_BX,
        .gregs = stack->gregs,
    };
    *walk = (struct wndl_walk){.frames = lost->shared->frames,
        .max_frames = lost->shared->max_frames,
        .method = lost->shared->method};
    wndl_unwind_remote(&remote, &regs, walk);
    if (reading.is_cut && walk->end == WNDL_END_BAD_READ)
        walk->end = WNDL_END_TRUNCATED;
}

/* Whether rules were ordered for code that the walk has come to now. */
static bool want_more(
    const struct wndl_lost *lost, const struct wndl_walk *walk)
{
    bool ordered = false;
    for (size_t i = 0; i < walk->count; i++) {
        const struct wndl_frame *f = &walk->frames[i];
        ordered |= wndl_offcpu_code_want(&lost->subject.code,
            lost->shared->binaries, f->address - !f->interrupted);
    }
    return ordered;
}

/* Whether the stack has been found; *waits: it may be with more rules. */
static bool try_one(struct wndl_lost *lost, struct waiting *w, bool *waits)
{
    struct wndl_walk walk;
    w->made = lost->shared->binaries->made;
    walk_copy(lost, w->stack, &walk);
    wndl_offcpu_walk_check(lost->shared->binaries, &lost->subject.code, &walk);
    const enum wndl_walk_end end = wndl_walk_sure_end(&walk);
    if (end != WNDL_END_COMPLETE && end != WNDL_END_TRUNCATED) {
        *waits |= want_more(lost, &walk);
        return false;
    }
    w->found = wndl_offcpu_walk_node(&lost->subject.code, &lost->subject.tree,
        lost->subject.recording, &walk);
    if (w->found == 0)
        return false;
    w->sample.end = end;
    free_copy(lost, w);
    lost->in_vain = 0;
    return true;
}

/* Writes the sample as it was. */
static void give_up(struct wndl_lost *lost, struct waiting *w)
{
    write_sample(lost, &w->sample, w->sample.node, w->sample.end);
    free_waiting(lost, w);
    if (++lost->in_vain >= IN_VAIN)
        ask_for_copies(lost, false);
}

static void add_found(struct wndl_lost *lost, struct waiting *w)
{
    w->next = NULL;
    *lost->found_end = w;
    lost->found_end = &w->next;
}

void wndl_lost_try(struct wndl_lost *lost)
{
    bool waits = !wndl_binaries_have_all(lost->shared->binaries);
    struct waiting **link = &lost->first;
    if (lost->first != NULL)
        (void)wndl_lost_look(lost, false);
    while (*link != NULL) {
        struct waiting *w = *link;
        const bool is_found =
            w->made != lost->shared->binaries->made && try_one(lost, w, &waits);
        if (!is_found && waits) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        if (is_found)
            add_found(lost, w);
        else
            give_up(lost, w);
    }
    lost->end = link;
    if (lost->first == NULL)
        wndl_stack_copies_close(&lost->stacks);
}

/* ---- ended processes */

static void close_lost(struct wndl_lost *lost)
{
    write_found(lost);
    wndl_lost_free(lost);
}

static uint32_t count_ended(const struct wndl_lost_shared *shared)
{
    uint32_t count = 0;
    for (const struct wndl_lost *l = shared->ended; l != NULL; l = l->next)
        count++;
    return count;
}

void wndl_lost_end(struct wndl_lost *lost, uint32_t nodes)
{
    wndl_lost_try(lost);
    lost->shm = NULL;
    lost->copies = NULL;
    lost->has_left = true;
    lost->nodes = nodes;
    if (lost->first == NULL || count_ended(lost->shared) >= ENDED_MAX) {
        close_lost(lost);
        return;
    }
    lost->next = lost->shared->ended;
    lost->shared->ended = lost;
}

void wndl_lost_take_tables(struct wndl_lost_shared *shared)
{
    struct wndl_lost **link = &shared->ended;
    while (*link != NULL) {
        struct wndl_lost *lost = *link;
        wndl_lost_try(lost);
        if (lost->first != NULL) {
            link = &lost->next;
            continue;
        }
        *link = lost->next;
        close_lost(lost);
    }
}

void wndl_lost_finish(struct wndl_lost_shared *shared)
{
    const uint64_t until = wndl_clock_monotonic_ns() + wait_most;
    bool may_come = true;
    uint64_t now;
    if (shared->binaries == NULL)
        return;
    wndl_binaries_take_made(shared->binaries);
    wndl_lost_take_tables(shared);
    while (shared->ended != NULL && may_come &&
           (now = wndl_clock_monotonic_ns()) < until) {
        may_come = wndl_binaries_wait(shared->binaries, until - now);
        wndl_binaries_take_made(shared->binaries);
        wndl_lost_take_tables(shared);
    }
    for (struct wndl_lost *next; shared->ended != NULL; shared->ended = next) {
        next = shared->ended->next;
        close_lost(shared->ended);
    }
}
