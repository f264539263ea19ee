/* SPDX-License-Identifier: MIT */
/*
 * cxxfilt [-c | -l]: names from standard input, a line each, demangled as
 * windlass shows them. A name that is not read stays. -c: C++ names by our own
 * reader alone; -l: all by libiberty.
 */
#include "symbolize/demangle/cxx.h"
#include "symbolize/demangle/demangle.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 * 1024 };

static void by_windlass(
    struct wndl_demangler *demangler, struct wndl_bytes name)
{
    const char *text = wndl_demangle(demangler, name);
    puts(text == NULL ? "no memory" : text);
}

static void by_cxx(struct wndl_bytes name, struct wndl_buf *text)
{
    if (wndl_cxx_demangle(name, LONGEST, text))
        printf("%.*s\n", (int)text->size, (char *)text->data);
    else
        printf("%.*s\n", (int)name.size, (const char *)name.data);
}

static void by_libiberty(const char *name)
{
    char *text = cplus_demangle(
        name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO | DMGL_NO_RECURSE_LIMIT);
    puts(text == NULL ? name : text);
    free(text);
}

int main(int argc, char **argv)
{
    static char line[LONGEST];
    struct wndl_buf text;
    struct wndl_arena arena;
    struct wndl_demangler demangler;
    const char *way = argc > 1 ? argv[1] : "";
    wndl_buf_init(&text, wndl_mem_libc());
    wndl_arena_init(&arena, wndl_mem_libc());
    if (!wndl_demangler_init(&demangler, &arena))
        return 1;
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct wndl_bytes name = {(uint8_t *)line, strcspn(line, "\n")};
        line[name.size] = '\0';
        if (strcmp(way, "-c") == 0)
            by_cxx(name, &text);
        else if (strcmp(way, "-l") == 0)
            by_libiberty(line);
        else
            by_windlass(&demangler, name);
    }
    wndl_buf_free(&text);
    wndl_arena_free(&arena);
    return 0;
}
