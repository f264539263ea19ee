/* SPDX-License-Identifier: MIT */
/*
 * testlib: what unit tests share. cmocka's prerequisites come first here, so
 * a test includes just this and the header it tests.
 */
#ifndef WNDL_TESTLIB_H
#define WNDL_TESTLIB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"

/*
 * Skips the test. `why`: what the machine lacks, for the list of skips. It is
 * asked of the machine, not of what is tested.
 */
#define SKIP(why)                                                              \
    do {                                                                       \
        print_message("skipped: %s\n", why);                                   \
        skip();                                                                \
    } while (0)

/*
 * Whether Valgrind runs this test: it cannot do all that the kernel does, and
 * leaves out a case whose name matches (cmocka_set_skip_filter).
 */
bool runs_on_valgrind(void);

/*
 * A heap that fails on request. `budget` allocations succeed, all later ones
 * fail; `live` counts what was not freed.
 */
struct failing_mem {
    struct wndl_mem mem; /* first: a wndl_mem is cast back */
    long budget;         /* < 0: never fail */
    long live;
};

void failing_mem_init(struct failing_mem *f, long budget);

/* A whole file, in memory of malloc that the caller frees. Fails the test. */
struct wndl_bytes read_whole_file(const char *path);

/*
 * Calls `parse` with every prefix of `whole` (strides above 32 KiB), each in
 * an exact heap block so that a sanitizer sees a read past the end.
 */
void for_each_truncation(struct wndl_bytes whole,
    void (*parse)(struct wndl_bytes prefix, void *context), void *context);

#endif
