/* SPDX-License-Identifier: MIT */
#include "rt/sample/sample.h"

#include "os/raw.h"
#include "rec/filter.h"
#include "rt/arch/own_stack.h"
#include "rt/core/rt.h"
#include "rt/sample/events.h"
#include "rt/sample/keep_stack.h"
#include "rt/walk/jit_lists.h"
#include "rt/walk/jit_registry.h"
#include "rt/walk/unwind_tables.h"
#include "unwind/core/frame.h"

#include <string.h>
#include <sys/prctl.h>

enum { NAME_EVERY = 64 };

/* Drops what was learnt before a fork or an unloading. */
static void catch_up(struct wndl_rt_thread *t)
{
    uint32_t age =
        atomic_load_explicit(&wndl_rt.rules_age, memory_order_acquire);
    if (t->rules_age == age)
        return;
    t->rules_age = age;
    memset(&t->known, 0, sizeof t->known);
    t->known.age = age;
    wndl_resume_forget(t->walks);
}

static struct wndl_ring *ring_of(const struct wndl_rt_thread *t)
{
    return &wndl_rt.shm->rings[t->slot];
}

static bool announce(struct wndl_rt_thread *t, uint64_t now)
{
    const struct wndl_event event = {
        .kind = WNDL_EVENT_THREAD,
        .tid = (uint32_t)t->tid,
        .time = now,
    };
    if (!t->announced && wndl_rt_event_put(ring_of(t), &event)) {
        t->announced = true;
        t->last_time = now;
    }
    return t->announced;
}

/* Names change; threads are left out by name. */
static void look_at_name(struct wndl_rt_thread *t)
{
    char name[WNDL_EVENT_NAME_MAX] = {0};
    if (wndl_rt_is_careful() ||
        wndl_raw3(SYS_prctl, PR_GET_NAME, (long)name, 0) != 0)
        return;
    const struct wndl_filter_thread whom = {wndl_rt.pid, t->tid, name};
    t->left_out = !wndl_filter_has(wndl_rt.threads, &whom);
    if (memcmp(name, t->name, sizeof name) == 0)
        return;
    memcpy(t->name, name, sizeof name);
    t->named = false;
}

static void announce_name(struct wndl_rt_thread *t, uint64_t now)
{
    if (t->named)
        return;
    struct wndl_event event = {.kind = WNDL_EVENT_NAME, .time = now};
    memcpy(event.name, t->name, sizeof event.name);
    t->named = wndl_rt_event_put(ring_of(t), &event);
}

/*
 * Often while the thread is young, because names are set soon after the start.
 * TIMER rarely examines threads that are left out.
 */
static bool is_time_for_name(const struct wndl_rt_thread *t)
{
    if (t->left_out && wndl_rt.engine == WNDL_ENGINE_TIMER)
        return true;
    return t->looks % NAME_EVERY == 0 || (t->looks & (t->looks - 1)) == 0;
}

static uint64_t scanned_frames(const struct wndl_walk *walk)
{
    uint64_t count = 0;
    if ((walk->method & WNDL_WALK_SCAN) == 0)
        return 0;
    for (size_t i = 0; i < walk->count; i++)
        count += walk->frames[i].how == WNDL_HOW_SCAN;
    return count;
}

static void count_frames(const struct wndl_resumed *stack)
{
    const struct wndl_walk *walk = &stack->walk;
    _Atomic uint64_t *by = wndl_rt.shm->frames_by;
    if (walk->count == 0)
        return;
    uint64_t scanned = scanned_frames(walk);
    uint64_t by_cfi = walk->count - 1 - walk->fp_frames - scanned;
    atomic_fetch_add_explicit(&by[WNDL_HOW_CONTEXT], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&by[WNDL_HOW_CFI], by_cfi, memory_order_relaxed);
    if (walk->fp_frames != 0)
        atomic_fetch_add_explicit(
            &by[WNDL_HOW_FP], walk->fp_frames, memory_order_relaxed);
    if (scanned != 0)
        atomic_fetch_add_explicit(
            &by[WNDL_HOW_SCAN], scanned, memory_order_relaxed);
    if (stack->resumed != 0)
        atomic_fetch_add_explicit(
            &by[WNDL_FRAMES_RESUMED], stack->resumed, memory_order_relaxed);
}

/* Walks and writes the event. Returns 0, or the reason for the loss. */
static enum wndl_loss record(
    const struct wndl_rt_sample *sample, struct wndl_event *event)
{
    struct wndl_rt_thread *t = sample->thread;
    struct wndl_regs regs;
    struct wndl_stack_range stacks[WNDL_RT_STACKS_GIVEN];
    wndl_regs_from_context(&regs, sample->context);
    wndl_rt_jit_lists_read(sample->now);
    size_t count = wndl_rt_stacks_around(&t->stacks, regs.sp,
        (struct wndl_bytes){t->scratch, sizeof t->scratch}, stacks);
    if (count == 0)
        return WNDL_LOSS_NO_STACK;
    struct wndl_resumed stack = {
        .walk.method = wndl_rt_walk_method(wndl_rt.unwind),
        .walk.jit = wndl_rt_jit_registry(),
    };
    wndl_unwind_resume(t->walks, &regs, stacks, count, &stack);
    count_frames(&stack);
    event->end = (uint8_t)stack.walk.end; /* the collector checks guesses */
    enum wndl_loss loss = wndl_rt_tree_add(&t->known, &stack, &event->node);
    if (loss == 0 && wndl_rt_keeps_stack(event->end))
        event->copy = wndl_rt_keep_stack(&regs, &stacks[0]);
    if (loss != 0 || wndl_rt_event_put(ring_of(t), event))
        return loss;
    wndl_rt_drop_stack(event->copy);
    return WNDL_LOSS_RING_FULL;
}

__asm__(WNDL_RT_CALL_ON);

/* A call of record(), made on another stack. */
struct recording {
    const struct wndl_rt_sample *sample;
    struct wndl_event *event;
    enum wndl_loss loss;
};

static void record_there(void *recording)
{
    struct recording *r = recording;
    r->loss = record(r->sample, r->event);
}

/*
 * Records on the sampler's own stack, except in a sandbox, where some signals
 * cannot be blocked.
 */
static enum wndl_loss record_on_own_stack(
    const struct wndl_rt_sample *sample, struct wndl_event *event)
{
    struct recording r = {.sample = sample, .event = event};
    if (wndl_rt_is_careful())
        return record(sample, event);
    wndl_rt_call_on(
        sample->thread->stack + WNDL_RT_OWN_STACK, record_there, &r);
    return r.loss;
}

bool wndl_rt_sample_take(const struct wndl_rt_sample *sample, uint64_t cpu)
{
    struct wndl_rt_thread *t = sample->thread;
    struct wndl_event event = {
        .kind = WNDL_EVENT_SAMPLE,
        .time = sample->now - t->last_time,
        .cpu = cpu,
        .in_kernel = sample->in_kernel,
    };
    enum wndl_loss loss = record_on_own_stack(sample, &event);
    if (loss == 0) {
        t->last_time = sample->now;
        t->last_cpu = sample->cpu;
        return true;
    }
    if (loss == WNDL_LOSS_RING_FULL)
        wndl_rt_lose_to_full_ring();
    else
        wndl_rt_lose(loss, 1);
    return false;
}

static void forget_time(struct wndl_rt_thread *t, uint64_t cpu)
{
    t->last_cpu = cpu;
    t->perf_cpu = cpu;
    t->debt = 0;
}

uint64_t wndl_rt_thread_open(const struct wndl_rt_thread *t, uint64_t cpu)
{
    int64_t open = t->debt + (int64_t)(cpu - t->last_cpu);
    return open > 0 ? (uint64_t)open : 0;
}

void wndl_rt_thread_begin_now(struct wndl_rt_thread *t)
{
    forget_time(t, wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

/* Of MurmurHash3: mixes all bits into the high ones. */
static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ bits >> 33) * UINT64_C(0xff51afd7ed558ccd);
    bits = (bits ^ bits >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return bits ^ bits >> 33;
}

uint64_t wndl_rt_first_interval(const struct wndl_rt_thread *t)
{
    return 1 + mix(wndl_rt_tsc() ^ (uint64_t)t->tid << 32) % wndl_rt.interval;
}

/* CPU time during a pause is in no sample. */
static bool is_paused(struct wndl_rt_thread *t, uint64_t cpu)
{
    uint32_t pauses = wndl_rt_pauses();
    bool changed = t->pauses != pauses;
    if (changed)
        forget_time(t, cpu);
    t->pauses = pauses;
    return changed || pauses % 2 != 0;
}

/* If a thread's CPU clock went back, the id belongs to another thread. */
enum wndl_rt_verdict wndl_rt_sample_begin(struct wndl_rt_sample *sample)
{
    struct wndl_rt_thread *t = sample->thread;
    if (atomic_load_explicit(&wndl_rt.shm->stop, memory_order_relaxed) != 0)
        return WNDL_RT_STOPPED;
    sample->cpu = wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    sample->now = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    if (sample->cpu < t->last_cpu)
        wndl_rt_thread_renew(t);
    if (is_paused(t, sample->cpu))
        return WNDL_RT_SKIP;
    wndl_rt_unwind_tables_take();
    catch_up(t);
    t->looks++;
    if (is_time_for_name(t))
        look_at_name(t);
    if (t->left_out) {
        forget_time(t, sample->cpu);
        return WNDL_RT_SKIP;
    }
    if (!announce(t, sample->now)) {
        wndl_rt_lose_to_full_ring();
        return WNDL_RT_SKIP;
    }
    announce_name(t, sample->now);
    return WNDL_RT_TAKE;
}

void wndl_rt_thread_announce(struct wndl_rt_thread *t)
{
    uint64_t now = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    look_at_name(t);
    if (!t->left_out && announce(t, now))
        announce_name(t, now);
}

bool wndl_rt_event_emit(
    struct wndl_rt_thread *t, const struct wndl_event *event)
{
    if (!t->announced)
        wndl_rt_thread_announce(t);
    return t->left_out ||
           (t->announced && wndl_rt_event_put(ring_of(t), event));
}

/*
 * The CPU ns that no sample has counted, for the end of a thread. A thread
 * whose only sample stands for more than it used leaves that to the others.
 */
static uint64_t rest_of(const struct wndl_rt_thread *t, uint64_t cpu)
{
    int64_t open = t->debt + (int64_t)(cpu - t->last_cpu);
    if (open <= 0) {
        atomic_fetch_add(&wndl_rt.ahead, (uint64_t)-open);
        return 0;
    }
    uint64_t rest = (uint64_t)open;
    uint64_t ahead = atomic_load(&wndl_rt.ahead);
    uint64_t used;
    do
        used = ahead < rest ? ahead : rest;
    while (!atomic_compare_exchange_weak(&wndl_rt.ahead, &ahead, ahead - used));
    return rest - used;
}

/* Threads that live only for a moment write all their events at their end. */
void wndl_rt_thread_exit_self(struct wndl_rt_thread *t)
{
    uint64_t cpu = wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (cpu < t->last_cpu || atomic_load(&wndl_rt.shm->stop) != 0)
        return;
    bool paused = is_paused(t, cpu);
    look_at_name(t);
    if (t->left_out)
        return;
    uint64_t now = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    if (announce(t, now))
        announce_name(t, now);
    if (t->announced)
        wndl_rt_thread_exit(ring_of(t), paused ? 0 : rest_of(t, cpu));
}
