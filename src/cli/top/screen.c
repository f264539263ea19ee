/* SPDX-License-Identifier: MIT */
#include "cli/top/screen.h"

#ifdef WNDL_HAVE_NCURSES

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wndl_top_screen {
    SCREEN *terminal;
    bool is_typing; /* a filter */
};

enum {
    HEAD_ROWS = 3,
    FOOT_ROWS = 1,
    ESCAPE_MS = 25,
    REDRAW = 12, /* Ctrl-L */
    ESCAPE = 27,
    DELETE = 127
};

struct wndl_top_screen *wndl_top_screen_open(void)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return NULL;
    struct wndl_top_screen *screen = calloc(1, sizeof *screen);
    if (screen == NULL)
        return NULL;
    screen->terminal = newterm(NULL, stdout, stdin);
    if (screen->terminal == NULL) {
        free(screen);
        return NULL;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    return screen;
}

void wndl_top_screen_close(struct wndl_top_screen *screen)
{
    if (screen == NULL)
        return;
    endwin();
    delscreen(screen->terminal);
    free(screen);
}

size_t wndl_top_screen_rows(const struct wndl_top_screen *screen)
{
    (void)screen;
    return LINES > HEAD_ROWS + FOOT_ROWS
               ? (size_t)(LINES - HEAD_ROWS - FOOT_ROWS)
               : 1;
}

static void put_line(int y, const char *text, int attributes)
{
    move(y, 0);
    clrtoeol();
    attron(attributes);
    addnstr(text, COLS > 0 ? COLS : 0);
    attroff(attributes);
}

void wndl_top_screen_draw(struct wndl_top_screen *screen,
    const struct wndl_top_lines *lines, size_t first, size_t marked,
    const char *note)
{
    static const char keys[] =
        "q quit  s sort  t time  / filter  Enter callers  p freeze  w write";
    size_t rows = wndl_top_screen_rows(screen);
    put_line(0, lines->head, A_BOLD);
    put_line(1, note, A_NORMAL);
    put_line(2, lines->columns, A_UNDERLINE);
    for (size_t i = 0; i < rows; i++) {
        const bool is_there = first + i < lines->lines.len;
        const struct wndl_top_line *line =
            is_there ? wndl_vec_at(&lines->lines, first + i) : NULL;
        put_line(HEAD_ROWS + (int)i, is_there ? line->text : "",
            is_there && first + i == marked ? A_REVERSE
            : is_there && line->is_caller   ? A_DIM
                                            : A_NORMAL);
    }
    put_line(LINES - 1, keys, A_NORMAL);
    refresh();
}

/* Enter keeps the text, Escape takes it away. */
static enum wndl_top_key type_filter(
    struct wndl_top_screen *screen, int key, char filter[WNDL_TOP_FILTER_SIZE])
{
    size_t size = strlen(filter);
    if (key == '\n' || key == KEY_ENTER || key == ESCAPE)
        screen->is_typing = false;
    if (key == ESCAPE)
        filter[0] = '\0';
    else if ((key == KEY_BACKSPACE || key == DELETE || key == '\b') && size > 0)
        filter[size - 1] = '\0';
    else if (key >= ' ' && key <= '~' && size + 1 < WNDL_TOP_FILTER_SIZE) {
        filter[size] = (char)key;
        filter[size + 1] = '\0';
    }
    return WNDL_TOP_KEY_FILTER;
}

enum wndl_top_key wndl_top_screen_key(
    struct wndl_top_screen *screen, char filter[WNDL_TOP_FILTER_SIZE])
{
    static const struct {
        int key;
        enum wndl_top_key means;
    } keys[] = {{'q', WNDL_TOP_KEY_QUIT}, {KEY_UP, WNDL_TOP_KEY_UP},
        {'k', WNDL_TOP_KEY_UP}, {KEY_DOWN, WNDL_TOP_KEY_DOWN},
        {'j', WNDL_TOP_KEY_DOWN}, {KEY_PPAGE, WNDL_TOP_KEY_PAGE_UP},
        {KEY_NPAGE, WNDL_TOP_KEY_PAGE_DOWN}, {'\n', WNDL_TOP_KEY_EXPAND},
        {KEY_ENTER, WNDL_TOP_KEY_EXPAND}, {' ', WNDL_TOP_KEY_EXPAND},
        {'s', WNDL_TOP_KEY_SORT}, {'t', WNDL_TOP_KEY_TIME},
        {'p', WNDL_TOP_KEY_FREEZE}, {'w', WNDL_TOP_KEY_WRITE},
        {KEY_RESIZE, WNDL_TOP_KEY_RESIZE}};
    int key = getch();
    if (key == ERR)
        return WNDL_TOP_KEY_NONE;
    if (screen->is_typing)
        return type_filter(screen, key, filter);
    if (key == '/') {
        screen->is_typing = true;
        return WNDL_TOP_KEY_FILTER;
    }
    if (key == REDRAW)
        clearok(stdscr, TRUE);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].key == key)
            return keys[i].means;
    }
    return WNDL_TOP_KEY_RESIZE;
}

#else

struct wndl_top_screen *wndl_top_screen_open(void)
{
    return NULL;
}

void wndl_top_screen_close(struct wndl_top_screen *screen)
{
    (void)screen;
}

size_t wndl_top_screen_rows(const struct wndl_top_screen *screen)
{
    (void)screen;
    return 0;
}

void wndl_top_screen_draw(struct wndl_top_screen *screen,
    const struct wndl_top_lines *lines, size_t first, size_t marked,
    const char *note)
{
    (void)screen;
    (void)lines;
    (void)first;
    (void)marked;
    (void)note;
}

enum wndl_top_key wndl_top_screen_key(
    struct wndl_top_screen *screen, char filter[WNDL_TOP_FILTER_SIZE])
{
    (void)screen;
    (void)filter;
    return WNDL_TOP_KEY_NONE;
}

#endif
