/* SPDX-License-Identifier: MIT */
/*
 * current: the tags that a thread has opened. Also the table by which the
 * program reaches them (windlass/memory_tag.h). Signal-safe; a handler closes
 * what it opens.
 */
#ifndef WNDL_RT_TAGS_CORE_CURRENT_H
#define WNDL_RT_TAGS_CORE_CURRENT_H

#include <stdint.h>
#include <windlass/memory_tag.h>

enum { WNDL_RT_TAGS_OPEN = 256 };

struct wndl_rt_tags_here {
    uint16_t tag;      /* the innermost */
    uint16_t depth;    /* of `outer` */
    uint32_t too_deep; /* open beyond those */
    uint16_t outer[WNDL_RT_TAGS_OPEN];
};

extern __thread struct wndl_rt_tags_here wndl_rt_tags_here
    __attribute__((visibility("hidden")));

static inline uint32_t wndl_rt_tag_current(void)
{
    return wndl_rt_tags_here.tag;
}

/* Sets the innermost tag of a thread that has opened none. */
void wndl_rt_tag_begin(uint32_t tag);

/* The object that counts blocks, which hears of all changes from now on. */
void wndl_rt_tags_follow(const struct wndl_memory_tag_follower *follower);

/* The table that the program finds by its name. */
extern const struct wndl_memory_tag_table wndl_memory_tag_table
    __attribute__((visibility("default")));

#endif
