/* SPDX-License-Identifier: MIT */
/*
 * x86lengths BITS: reads the bytes of one instruction in hexadecimal from each
 * line, and prints the lines for which unwind/slow/x86_code.h gives another
 * length, with that; then how many lines there were. For
 * tests/oracle/x86_lengths.sh.
 */
#include "unwind/slow/x86_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room after an instruction, which must not be taken for a part of it. */
enum { LINE = 256, AFTER = 16 };

static size_t bytes_of(const char *line, uint8_t *to)
{
    size_t count = 0;
    unsigned byte;
    int used;
    while (
        count < WNDL_X86_LONGEST && sscanf(line, "%2x%n", &byte, &used) == 1) {
        to[count++] = (uint8_t)byte;
        line += used;
    }
    return count;
}

int main(int argc, char **argv)
{
    char line[LINE];
    long count = 0;
    const bool is_64 = argc > 1 && strcmp(argv[1], "64") == 0;
    for (; fgets(line, sizeof line, stdin) != NULL; count++) {
        struct wndl_x86 x;
        uint8_t code[WNDL_X86_LONGEST + AFTER];
        memset(code, 0x90, sizeof code);
        const size_t size = bytes_of(line, code);
        const bool is_known =
            wndl_x86_decode((struct wndl_bytes){code, sizeof code}, is_64, &x);
        if (size != 0 && (!is_known || x.size != size))
            printf("%d %s", is_known ? x.size : 0, line);
    }
    printf("%ld instructions\n", count);
    return 0;
}
