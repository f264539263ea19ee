/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog_none.h: the functions below windlass/memlog.h where
 * WNDL_MEMLOG_DISABLE is defined. Include that one.
 */
#ifndef WINDLASS_MEMLOG_NONE_H
#define WINDLASS_MEMLOG_NONE_H

/* Private. */
static inline const void *wndl_memlog_page_now(void)
{
    return NULL;
}

/* Private. */
static inline void wndl_memlog_put(struct wndl_memlog_type *type,
    const int64_t *numbers, unsigned count, unsigned flags)
{
    (void)type;
    (void)numbers;
    (void)count;
    (void)flags;
}

/* Private. */
static inline void wndl_memlog_put_all(struct wndl_memlog_type *type,
    const struct wndl_memlog_parts *parts, unsigned flags)
{
    (void)type;
    (void)parts;
    (void)flags;
}

#endif
