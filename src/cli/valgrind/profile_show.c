/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/profile_show.h"

#include "cli/core/command.h"
#include "out/callgrind.h"

#include <string.h>

enum { USUAL_ROWS = 20 };

void wndl_profile_sources_init(
    struct wndl_profile_sources *s, const struct wndl_symbol_options *symbols)
{
    wndl_debug_dirs_init(&s->dirs, &symbols->debug_dirs);
    s->sources = (struct wndl_symbol_sources){
        .debug_dirs = s->dirs.list,
        .debuginfod = wndl_asks_debuginfod(symbols),
        .cache = wndl_symbol_cache(symbols, &s->cache),
    };
}

bool wndl_profile_write_callgrind(
    FILE *out, const struct wndl_callgraph *g, const char *command)
{
    return wndl_callgrind_write(out, g,
        (struct wndl_bytes){(const uint8_t *)command, strlen(command)},
        wndl_mem_libc());
}

int wndl_profile_print(const struct wndl_profile_options *o,
    const struct wndl_profile_report *report)
{
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = WNDL_EXIT_OK;
    const bool whole = o->json
                           ? report->json(&text, report->view)
                           : report->text(&text, report->view,
                                 o->rows == 0 ? USUAL_ROWS : (size_t)o->rows);
    if (whole)
        fwrite(text.data, 1, text.size, o->show != NULL ? stdout : stderr);
    else
        exit_code = wndl_cli_error("out of memory");
    wndl_buf_free(&text);
    return exit_code;
}
