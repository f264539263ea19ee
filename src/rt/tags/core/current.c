/* SPDX-License-Identifier: MIT */
#include "rt/tags/core/current.h"

#include "rt/tags/core/names.h"

#include <stdatomic.h>
#include <stdbool.h>

__thread struct wndl_rt_tags_here wndl_rt_tags_here;

static _Atomic(const struct wndl_memory_tag_follower *) follower;
static _Atomic uint64_t unopened, refused, too_deep;

static const struct wndl_memory_tag_follower *get_follower(void)
{
    return atomic_load_explicit(&follower, memory_order_acquire);
}

static void set(uint32_t tag)
{
    const struct wndl_memory_tag_follower *f = get_follower();
    if (f != NULL)
        f->set(tag);
    wndl_rt_tags_here.tag = (uint16_t)tag;
}

void wndl_rt_tag_begin(uint32_t tag)
{
    if (tag != 0)
        set(tag);
}

/* A handler that comes between two steps leaves all as it was. */
static void push(uint32_t tag)
{
    struct wndl_rt_tags_here *here = &wndl_rt_tags_here;
    if (here->depth == WNDL_RT_TAGS_OPEN) {
        here->too_deep++;
        atomic_fetch_add(&too_deep, 1);
        return;
    }
    here->outer[here->depth] = here->tag;
    atomic_signal_fence(memory_order_seq_cst);
    here->depth++;
    atomic_signal_fence(memory_order_seq_cst);
    set(tag);
}

static uint32_t tag(const char *name)
{
    const uint32_t number = wndl_rt_tag_named(name, true);
    if (number == 0)
        atomic_fetch_add(&refused, 1);
    push(number == 0 ? wndl_rt_tags_here.tag : number);
    return number;
}

static void enter(uint32_t number)
{
    const bool is_known = number == 0 || wndl_rt_tag_of(number) != NULL;
    if (!is_known)
        atomic_fetch_add(&refused, 1);
    push(is_known ? number : wndl_rt_tags_here.tag);
}

static int untag(void)
{
    struct wndl_rt_tags_here *here = &wndl_rt_tags_here;
    if (here->too_deep != 0) {
        here->too_deep--;
        return 1;
    }
    if (here->depth == 0) {
        atomic_fetch_add(&unopened, 1);
        return 0;
    }
    set(here->outer[here->depth - 1]);
    atomic_signal_fence(memory_order_seq_cst);
    here->depth--;
    return 1;
}

static int tagged(const char *name, struct wndl_memory_tag_amount *amount)
{
    const struct wndl_memory_tag_follower *f = get_follower();
    return f == NULL ? 0 : f->tagged(wndl_rt_tag_named(name, false), amount);
}

static int tagging(void)
{
    const struct wndl_memory_tag_follower *f = get_follower();
    return f == NULL ? WNDL_MEMORY_TAGGING_RECORDED : f->tagging();
}

static void misses(struct wndl_memory_tag_misses *to)
{
    const struct wndl_memory_tag_follower *f = get_follower();
    to->unopened = atomic_load(&unopened);
    to->refused = atomic_load(&refused);
    to->too_deep = atomic_load(&too_deep);
    to->unmarked = f == NULL ? 0 : f->unmarked();
}

void wndl_rt_tags_follow(const struct wndl_memory_tag_follower *to)
{
    atomic_store(&follower, to);
    set(wndl_rt_tags_here.tag);
}

const struct wndl_memory_tag_table wndl_memory_tag_table = {
    .size = sizeof wndl_memory_tag_table,
    .tag = tag,
    .enter = enter,
    .untag = untag,
    .current = wndl_rt_tag_current,
    .tagged = tagged,
    .tagging = tagging,
    .misses = misses,
    .follow = wndl_rt_tags_follow,
};
