/* SPDX-License-Identifier: MIT */
#include "cli/symbols/sym_open.h"

#include "cli/core/command.h"
#include "cli/symbols/sym_style.h"

#include <errno.h>
#include <string.h>

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, c | 0x20);
    return c == '\0' || at == NULL ? -1 : (int)(at - digits);
}

bool wndl_sym_read_build_id(struct wndl_sym_opening *opening)
{
    const char *text = opening->o->build_id;
    size_t size = strlen(text) / 2;
    if (size < 2 || size > WNDL_SYM_BUILD_ID_MAX || text[2 * size] != '\0')
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = digit_of(text[2 * i]);
        int low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        opening->build_id[i] = (uint8_t)(high << 4 | low);
    }
    opening->options.build_id = opening->build_id;
    opening->options.build_id_size = size;
    return true;
}

static struct wndl_symbolizer *open_path(
    struct wndl_sym_opening *opening, const char *path)
{
    struct wndl_symbolizer *symbols = NULL;
    struct wndl_error err;
    if (wndl_symbolizer_open(path, &opening->options, &symbols, &err) ==
        WNDL_OK)
        return symbols;
    if (opening->err.status == WNDL_OK && err.sys_errno != ENOENT)
        opening->err = err;
    return NULL;
}

/* DIR/.build-id/ab/cdef.debug, or without .debug the binary itself. */
static struct wndl_symbolizer *open_in(
    struct wndl_sym_opening *opening, const char *dir, const char *suffix)
{
    struct wndl_buf path;
    struct wndl_symbolizer *symbols = NULL;
    wndl_buf_init(&path, wndl_mem_libc());
    wndl_buf_printf(&path, "%s/.build-id/%02x/", dir, opening->build_id[0]);
    for (size_t i = 1; i < opening->options.build_id_size; i++)
        wndl_buf_printf(&path, "%02x", opening->build_id[i]);
    wndl_buf_text(&path, suffix);
    wndl_buf_byte(&path, '\0');
    if (!path.failed)
        symbols = open_path(opening, (const char *)path.data);
    wndl_buf_free(&path);
    return symbols;
}

static struct wndl_symbolizer *open_build_id(struct wndl_sym_opening *opening)
{
    struct wndl_symbolizer *symbols = NULL;
    for (size_t i = 0; i < opening->dirs.count && symbols == NULL; i++) {
        symbols = open_in(opening, opening->dirs.list[i], "");
        if (symbols == NULL)
            symbols = open_in(opening, opening->dirs.list[i], ".debug");
    }
    if (symbols == NULL && opening->err.status == WNDL_OK)
        (void)wndl_fail(&opening->err, WNDL_NOT_FOUND,
            "no file with build-id %s in the debug folders; see --debug-dir",
            opening->o->build_id);
    return symbols;
}

struct wndl_symbolizer *wndl_sym_open(struct wndl_sym_opening *opening)
{
    struct wndl_symbolizer *symbols = NULL;
    wndl_debug_dirs_init(&opening->dirs, &opening->o->symbols.debug_dirs);
    opening->options.size = sizeof opening->options;
    opening->options.no_demangle = opening->o->format == WNDL_SYM_GNU
                                       ? !opening->o->demangle
                                       : opening->o->no_demangle;
    opening->options.debug_dirs = opening->dirs.list;
    opening->options.debuginfod = wndl_asks_debuginfod(&opening->o->symbols);
    opening->options.arch = opening->o->symbols.arch;
    opening->options.cache =
        wndl_symbol_cache(&opening->o->symbols, &opening->cache);
    if (opening->o->path == NULL)
        symbols = open_build_id(opening);
    else if (wndl_symbolizer_open(opening->o->path, &opening->options, &symbols,
                 &opening->err) == WNDL_OK)
        return symbols;
    if (symbols == NULL)
        wndl_cli_fail(&opening->err);
    return symbols;
}
