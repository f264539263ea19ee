/* SPDX-License-Identifier: MIT */
/*
 * An assertion that prints the stack when it fails.
 *
 *   cc -g assert.c $(pkg-config --cflags --libs windlass) -o assert
 *   ./assert 2>&1 | windlass fix
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <windlass/crash.h>

static _Noreturn void fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
    wndl_print_stack(STDERR_FILENO);
    abort();
}

#define CHECK(what) ((what) ? (void)0 : fail(#what, __FILE__, __LINE__))

static int divide(int a, int b)
{
    CHECK(b != 0);
    return a / b;
}

int main(int argc, char **argv)
{
    (void)argv;
    /* Crashes print their stack too. */
    if (wndl_install_crash_handler(STDERR_FILENO, NULL) != WNDL_OK)
        fputs("crashes will not print a stack\n", stderr);
    return divide(6, argc - 1);
}
