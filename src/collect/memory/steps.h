/* SPDX-License-Identifier: MIT */
/*
 * steps: what a process mapped and unmapped between two readings of its
 * /proc/PID/maps. Address space that may not be used (PROT_NONE) is none.
 */
#ifndef WNDL_COLLECT_MEMORY_STEPS_H
#define WNDL_COLLECT_MEMORY_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wndl_step_range {
    uint64_t start, end;
    bool is_code;  /* executable, and of no file */
    char name[47]; /* the path's last part; "[heap]"; "" */
};

/* Invariant: ranges rise and do not overlap. Zeroed: none. */
struct wndl_step_map {
    struct wndl_step_range *ranges;
    size_t count;
    size_t room;
};

/* Reads "/proc/PID/maps" in place of what was there. False on failure. */
bool wndl_steps_read(struct wndl_step_map *map, const char *path);

void wndl_steps_free(struct wndl_step_map *map);

/*
 * Calls `visit` with each range of `map` that has at least `above` bytes where
 * `other` has none of its kind, with what it has the name and kind of.
 */
void wndl_steps_each_more(const struct wndl_step_map *map,
    const struct wndl_step_map *other, uint64_t above,
    void (*visit)(void *context, const struct wndl_step_range *range),
    void *context);

#endif
