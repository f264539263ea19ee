/* SPDX-License-Identifier: MIT */
/*
 * One sample: walk, add to the stack tree, write an event. In the signal
 * handler of the sampled thread, all signals blocked.
 */
#include "os/raw.h"
#include "rt/rt.h"
#include "rt/threads.h"

#include <string.h>
#include <sys/prctl.h>

enum { PAGE_SHIFT = 12, NAME_EVERY = 64 };

static uint64_t key_of(const struct wndl_frame *frame, uint32_t epoch)
{
    return (uint64_t)frame->address |
           (uint64_t)frame->interrupted << WNDL_KEY_INTERRUPTED_SHIFT |
           (uint64_t)frame->how << WNDL_KEY_HOW_SHIFT |
           (uint64_t)epoch << WNDL_KEY_EPOCH_SHIFT;
}

/* A code page is remembered once its module is listed. */
static bool note_module(struct wndl_rt_thread *t, uint64_t address)
{
    uint64_t page = address >> PAGE_SHIFT;
    uint64_t *known = &t->pages[page % WNDL_RT_PAGES];
    if (*known == page)
        return true;
    if (!wndl_rt_module_note(address))
        return false;
    *known = page;
    return true;
}

/*
 * The leaf's node. The part of the stack that is as last time, from the root
 * on, has its nodes already. Returns 0, or why the stack cannot be kept.
 */
static enum wndl_loss add_stack(
    struct wndl_rt_thread *t, const struct wndl_walk *walk, uint32_t *node)
{
    uint32_t at = 0;
    enum wndl_loss loss = 0;
    bool same = true;
    *node = 0;
    for (; at < walk->count; at++) {
        const struct wndl_frame *frame = &walk->frames[walk->count - 1 - at];
        uint64_t key = key_of(frame, t->epoch);
        same = same && at < t->last_count && t->last_keys[at] == key;
        if (same) {
            *node = t->last_nodes[at];
            continue;
        }
        if (!note_module(t, frame->address))
            loss = WNDL_LOSS_MODULES_FULL;
        else if ((*node = wndl_stacktree_insert(wndl_rt.tree, *node, key)) == 0)
            loss = WNDL_LOSS_TREE_FULL;
        if (loss != 0)
            break;
        t->last_keys[at] = key;
        t->last_nodes[at] = *node;
    }
    t->last_count = at;
    return loss;
}

/* What was learnt before a fork or an unloading is void. */
static void catch_up(struct wndl_rt_thread *t)
{
    if (t->image != wndl_rt.image)
        wndl_rt_thread_renew(t);
    uint32_t age =
        atomic_load_explicit(&wndl_rt.rules_age, memory_order_acquire);
    if (t->rules_age == age)
        return;
    t->rules_age = age;
    t->epoch = atomic_load_explicit(&wndl_rt.epoch, memory_order_relaxed);
    t->last_count = 0;
    memset(t->pages, 0, sizeof t->pages);
    wndl_unwinder_flush(t->unwinder);
}

static bool put(struct wndl_rt_thread *t, const struct wndl_event *event)
{
    uint8_t bytes[WNDL_EVENT_MAX];
    size_t size = wndl_event_put(bytes, event);
    return wndl_ring_put(&wndl_rt.shm->rings[t->slot], bytes, size);
}

static bool announce(struct wndl_rt_thread *t, uint64_t now)
{
    const struct wndl_event event = {
        .kind = WNDL_EVENT_THREAD,
        .tid = (uint32_t)t->tid,
        .time = now,
    };
    if (!put(t, &event))
        return false;
    t->announced = true;
    t->last_time = now;
    return true;
}

/* Asked often while the thread is young: names are set soon after birth. */
static void refresh_name(struct wndl_rt_thread *t, uint64_t now)
{
    if (t->samples % NAME_EVERY != 0 && (t->samples & (t->samples - 1)) != 0)
        return;
    struct wndl_event event = {.kind = WNDL_EVENT_NAME, .time = now};
    if (wndl_raw3(SYS_prctl, PR_GET_NAME, (long)event.name, 0) != 0 ||
        memcmp(event.name, t->name, sizeof t->name) == 0)
        return;
    if (put(t, &event))
        memcpy(t->name, event.name, sizeof t->name);
}

/* Walks and writes the event. Returns 0, or why there is none. */
static enum wndl_loss record(
    struct wndl_rt_thread *t, const void *ucontext, struct wndl_event *event)
{
    struct wndl_regs regs;
    struct wndl_stack_range stacks[WNDL_RT_STACKS_GIVEN];
    wndl_regs_from_context(&regs, ucontext);
    size_t count = wndl_rt_stacks_around(&t->stacks, regs.sp,
        (struct wndl_bytes){t->scratch, sizeof t->scratch}, stacks);
    if (count == 0)
        return WNDL_LOSS_NO_STACK;
    struct wndl_walk walk = {.frames = t->frames, .max_frames = WNDL_RT_FRAMES};
    wndl_unwind_regs(t->unwinder, &regs, stacks, count, &walk);
    event->end = (uint8_t)walk.end;
    enum wndl_loss loss = add_stack(t, &walk, &event->node);
    if (loss == 0 && !put(t, event))
        loss = WNDL_LOSS_RING_FULL;
    return loss;
}

/*
 * A thread whose CPU clock went back is another one that was given the same
 * id. What a lost sample stood for counts for the next one.
 */
static enum wndl_loss take(struct wndl_rt_thread *t, const void *ucontext)
{
    uint64_t cpu = wndl_raw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t now = wndl_raw_clock_ns(CLOCK_MONOTONIC);
    if (cpu < t->last_cpu)
        wndl_rt_thread_renew(t);
    catch_up(t);
    t->samples++;
    if (!t->announced && !announce(t, now))
        return WNDL_LOSS_RING_FULL;
    refresh_name(t, now);
    struct wndl_event event = {
        .kind = WNDL_EVENT_SAMPLE,
        .time = now - t->last_time,
        .cpu = cpu - t->last_cpu,
    };
    enum wndl_loss loss = record(t, ucontext, &event);
    if (loss == 0) {
        t->last_time = now;
        t->last_cpu = cpu;
    }
    return loss;
}

void wndl_rt_sample(const void *ucontext, uint64_t overruns)
{
    if (atomic_load_explicit(&wndl_rt.shm->stop, memory_order_relaxed) != 0)
        return;
    if (overruns != 0)
        wndl_rt_lose(WNDL_LOSS_OVERRUN, overruns);
    enum wndl_loss loss = WNDL_LOSS_THREADS_FULL;
    struct wndl_rt_thread *t = wndl_rt_thread_of(wndl_raw_gettid());
    if (t != NULL && t->busy) {
        loss = WNDL_LOSS_BUSY;
    } else if (t != NULL) {
        t->busy = true;
        loss = take(t, ucontext);
        t->busy = false;
    }
    if (loss != 0)
        wndl_rt_lose(loss, 1);
}
