/* SPDX-License-Identifier: MIT */
/*
 * newest: the recordings of a folder by age, and which of them a command means
 * that names none.
 */
#ifndef WNDL_CLI_SHARED_NEWEST_H
#define WNDL_CLI_SHARED_NEWEST_H

#include "base/arena.h"
#include "base/vec.h"
#include "cli/core/options.h"

#include <sys/types.h>
#include <time.h>

struct wndl_listed {
    const char *path;
    struct timespec changed;
    uid_t owner;
};

struct wndl_listing {
    struct wndl_arena arena;
    struct wndl_vec files; /* struct wndl_listed, the newest first */
};

/*
 * Lists the recordings in `folder`, not in folders below it. False, with an
 * error on stderr, if it cannot be read. Always ends with wndl_listing_free.
 */
bool wndl_listing_make(struct wndl_listing *listing, const char *folder);
void wndl_listing_free(struct wndl_listing *listing);

enum { WNDL_NEWEST_MAX = 2 };

struct wndl_newest {
    struct wndl_listing listing;
    char *texts[WNDL_NEWEST_MAX + 1];
};

/*
 * If no operand is given, takes the newest recording in the current folder that
 * the caller owns; if two are `wanted`, before it the last other one that is of
 * heaps alone, or not, as the newest. Names them on stderr. False, with an
 * error on stderr, if there are not as many. Always ends with wndl_newest_free,
 * and `operands` is valid until then.
 */
bool wndl_newest_fill(
    struct wndl_newest *newest, struct wndl_operands *operands, size_t wanted);
void wndl_newest_free(struct wndl_newest *newest);

#endif
