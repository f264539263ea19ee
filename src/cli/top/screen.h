/* SPDX-License-Identifier: MIT */
/*
 * top_screen: top's lines on a terminal, by ncurses where windlass was built
 * with it.
 */
#ifndef WNDL_CLI_TOP_SCREEN_H
#define WNDL_CLI_TOP_SCREEN_H

#include "cli/top/lines.h"

enum wndl_top_key {
    WNDL_TOP_KEY_NONE,
    WNDL_TOP_KEY_QUIT,
    WNDL_TOP_KEY_UP,
    WNDL_TOP_KEY_DOWN,
    WNDL_TOP_KEY_PAGE_UP,
    WNDL_TOP_KEY_PAGE_DOWN,
    WNDL_TOP_KEY_EXPAND,
    WNDL_TOP_KEY_SORT,
    WNDL_TOP_KEY_TIME,
    WNDL_TOP_KEY_FREEZE,
    WNDL_TOP_KEY_WRITE,
    WNDL_TOP_KEY_FILTER, /* its text was changed */
    WNDL_TOP_KEY_RESIZE,
};

enum { WNDL_TOP_FILTER_SIZE = 64 };

/* Opaque. */
struct wndl_top_screen;

/* NULL: there is no terminal for it, or no ncurses. Ends with
 * wndl_top_screen_close. */
struct wndl_top_screen *wndl_top_screen_open(void);
void wndl_top_screen_close(struct wndl_top_screen *screen);

/* Rows that the table has room for. */
size_t wndl_top_screen_rows(const struct wndl_top_screen *screen);

/* Draws the lines from `first` on, with one marked, and a note. */
void wndl_top_screen_draw(struct wndl_top_screen *screen,
    const struct wndl_top_lines *lines, size_t first, size_t marked,
    const char *note);

/*
 * A key that was pressed, if any. While a filter is typed, its keys change
 * `filter`.
 */
enum wndl_top_key wndl_top_screen_key(
    struct wndl_top_screen *screen, char filter[WNDL_TOP_FILTER_SIZE]);

#endif
