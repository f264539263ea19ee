/* SPDX-License-Identifier: MIT */
/* process: the start of the object in a process, and its forks. */
#include "rt/tags/amounts.h"
#include "rt/tags/blocks.h"
#include "rt/tags/core/current.h"
#include "rt/tags/real.h"

#include <dlfcn.h>

extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
    void *) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static int how;

static void set(uint32_t tag)
{
    wndl_rt_tags_here.tag = (uint16_t)tag;
}

static int tagged(uint32_t tag, struct wndl_memory_tag_amount *amount)
{
    if (how == WNDL_MEMORY_TAGGING_BYPASSED)
        return 0;
    if (tag == 0)
        return 1;
    const struct wndl_rt_amount sum = wndl_rt_amounts_of(tag);
    amount->bytes = sum.bytes;
    amount->blocks = sum.blocks;
    return 1;
}

static int tagging(void)
{
    return how;
}

static const struct wndl_memory_tag_follower follower = {
    .set = set,
    .tagged = tagged,
    .unmarked = wndl_rt_tagged_missed,
    .tagging = tagging,
};

/* Under `windlass heap` its object has the tags, and comes first. */
__attribute__((constructor)) static void start(void)
{
    const struct wndl_memory_tag_table *first =
        dlsym(RTLD_DEFAULT, "wndl_memory_tag_table");
    (void)wndl_rt_tags_resolve();
    how = wndl_rt_tags_is_first(first) ? WNDL_MEMORY_TAGGING_COUNTED
                                       : WNDL_MEMORY_TAGGING_BYPASSED;
    wndl_rt_amounts_start();
    if (__register_atfork != NULL)
        (void)__register_atfork(
            NULL, NULL, wndl_rt_amounts_after_fork, &__dso_handle);
    first->follow(&follower);
}
