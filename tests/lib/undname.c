/* SPDX-License-Identifier: MIT */
/*
 * undname [-w]: names from standard input, a line each, demangled if they are
 * of Microsoft's kind; -w: whole, with return types and such.
 */
#include "symbolize/demangle/msvc_internal.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 * 1024 };

int main(int argc, char **argv)
{
    static char line[LONGEST];
    struct wndl_buf text;
    bool is_whole = argc > 1 && strcmp(argv[1], "-w") == 0;
    wndl_buf_init(&text, wndl_mem_libc());
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct wndl_bytes name = {(uint8_t *)line, strcspn(line, "\n")};
        struct wndl_msvc m = {.pool = &text, .is_whole = is_whole};
        if (!wndl_msvc_run(&m, name))
            puts("?");
        else
            printf("%.*s\n", (int)text.size, (char *)text.data);
    }
    wndl_buf_free(&text);
    return 0;
}
