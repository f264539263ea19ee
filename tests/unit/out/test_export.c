/* SPDX-License-Identifier: MIT */
/* What all writers of whole recordings must do. */
#include "testlib.h"

#include "named.h"
#include "out/dhat.h"
#include "out/firefox/firefox.h"
#include "out/pprof.h"
#include "out/speedscope.h"

#include <stdio.h>

static const char recipe[] =
    "meta 1000000 1 0 h / app\n"
    "process 0 1 /usr/bin/app app\nimage /usr/bin/app a1b2\n"
    "thread 0 1 app\nthread 0 2 worker\n"
    "sample 0 2 0 0:10 0:20!\nsample 1 1 1 0:10 0:30!\nsample 1 1 2\n"
    "block 1 1 5000 0 0 0:10 0:20\n"
    "mark 0 0 0 began\n"
    "heap 0 1 0\n"
    "site 0 0 100 12 0:10 0:20\nsite 0 2 10 6 0:30\n"
    "live 0 0 0 0 500 112 1\n"
    "snapshot 0 0 - 4 2 230 256 128 0 1 300 100\n"
    "counts 0 0 2 1 2 0 900 1 2 1 1 1 50\n"
    "done 0 0\n";

static const char names[] = "10 main m.c 1\n"
                            "20 f m.h 2 g m.c 3\n"
                            "30 h m.c 4\n";

typedef bool writer(
    FILE *out, const struct wndl_exported *e, struct wndl_mem *mem);

static writer *const writers[] = {wndl_dhat_write, wndl_firefox_write,
    wndl_pprof_write, wndl_speedscope_write};

enum { WRITERS = sizeof writers / sizeof writers[0] };

/* Whether it was written whole with only so many allocations. */
static bool is_written(writer *write, const struct wndl_exported *e,
    struct failing_mem *mem, FILE *out)
{
    bool whole = write(out, e, &mem->mem);
    assert_int_equal(mem->live, 0);
    assert_false(ferror(out));
    return whole;
}

static void fail_each_allocation(writer *write, const struct wndl_exported *e)
{
    bool whole = false;
    for (long budget = 0; !whole; budget++) {
        struct failing_mem mem;
        failing_mem_init(&mem, budget);
        FILE *out = tmpfile();
        assert_non_null(out);
        whole = is_written(write, e, &mem, out);
        assert_int_equal(fclose(out), 0);
        assert_true(budget > 0 || !whole);
    }
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    struct named n;
    named_cook(&n, recipe, names);
    for (size_t i = 0; i < 4 * WRITERS; i++) {
        const struct wndl_exported e = {
            .symbolized = &n.symbolized,
            .of_heap = i % 2 != 0,
            .has_freed = true,
            .zipped = i / 2 % 2 != 0,
        };
        fail_each_allocation(writers[i / 4], &e);
    }
    named_free(&n);
}

/* Nothing is in it, which is no reason to fail or to divide by nothing. */
static void an_empty_recording_is_written(void **state)
{
    (void)state;
    struct named n;
    named_cook(&n, "meta 0 0 0 h / app\ndone 0 0\n", names);
    for (size_t i = 0; i < 2 * WRITERS; i++) {
        const struct wndl_exported e = {
            .symbolized = &n.symbolized, .of_heap = i % 2 != 0};
        FILE *out = tmpfile();
        assert_non_null(out);
        assert_true(writers[i / 2](out, &e, wndl_mem_libc()));
        assert_true(ftell(out) > 0);
        assert_int_equal(fclose(out), 0);
    }
    named_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_is_told),
        cmocka_unit_test(an_empty_recording_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
