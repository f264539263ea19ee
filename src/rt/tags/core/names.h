/* SPDX-License-Identifier: MIT */
/*
 * names: the tags of the process and their numbers, from 1 on. Lock-free and
 * without memory of the program's: any thread, any signal handler.
 */
#ifndef WNDL_RT_TAGS_CORE_NAMES_H
#define WNDL_RT_TAGS_CORE_NAMES_H

#include "rec/tags.h"

#include <stdbool.h>

/*
 * The number of a tag, which is added if it is new; 0: there is no room. The
 * name of `wanted` may be too long: its first bytes count.
 */
uint32_t wndl_rt_tag_number(const struct wndl_tag *wanted);

/* The number of the tag with this name, or 0. */
uint32_t wndl_rt_tag_named(const char *name, bool adds);

/* NULL: no tag has this number (yet). */
const struct wndl_tag *wndl_rt_tag_of(uint32_t number);

/* Copies all tags to `to`, and from now on each new one; NULL: no longer. */
void wndl_rt_tags_share(struct wndl_tag to[WNDL_TAGS]);

#endif
