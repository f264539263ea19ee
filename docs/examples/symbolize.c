/* SPDX-License-Identifier: MIT */
/*
 * Functions, files and lines of addresses, offsets from a binary's start:
 *
 *   cc symbolize.c $(pkg-config --cflags --libs windlass) -o symbolize
 *   ./symbolize /bin/ls 0x6b10
 */
#include <stdio.h>
#include <stdlib.h>
#include <windlass/symbolize.h>

static void print_frames(struct wndl_symbolizer *s, uint64_t rva)
{
    struct wndl_symbols found;
    if (wndl_symbolizer_lookup(s, rva, &found, NULL) != WNDL_OK)
        puts("not known");
    for (size_t i = 0; i < found.count; i++)
        printf("%s%s at %s:%u\n", found.frames[i].function,
            found.frames[i].inlined ? " (inlined)" : "", found.frames[i].file,
            found.frames[i].line);
}

int main(int argc, char **argv)
{
    struct wndl_symbolizer *s;
    struct wndl_error err;
    if (argc < 2 || wndl_symbolizer_open(argv[1], NULL, &s, &err) != WNDL_OK) {
        fprintf(stderr, "cannot open: %s\n", argc < 2 ? "no file" : err.what);
        return 1;
    }
    for (int i = 2; i < argc; i++)
        print_frames(s, strtoull(argv[i], NULL, 16));
    wndl_symbolizer_close(s);
    return 0;
}
