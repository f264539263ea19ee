/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/time/diff.h"
#include "named.h"
#include "out/diff_svg.h"
#include "out/report_json/diff.h"
#include "out/report_text/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two builds: all addresses are other ones. f calls itself. */
static const char early[] = "meta 1000 1 1 h / app\n"
                            "process 0 1 /bin/app app\n"
                            "thread 0 1 app\n"
                            "thread 0 2 worker\n"
                            "image /bin/app -\n"
                            "sample 0 60 0 0:10 0:20!\n"
                            "sample 0 20 0 0:10 0:20 0:20 0:30!\n"
                            "sample 1 10 1 0:30!\n"
                            "sample 0 10 2\n"
                            "exit 0 1\n"
                            "done 0 0\n";
static const char early_names[] = "10 main main.c 12\n"
                                  "20 f /a/one.c 25\n"
                                  "30 g /a/g.h 33 f /a/one.c 27\n";
static const char late[] = "meta 1000 1 1 h / app\n"
                           "process 0 1 /opt/app app\n"
                           "thread 0 1 app\n"
                           "thread 0 2 worker\n"
                           "image /opt/app -\n"
                           "sample 0 40 0 0:110 0:120!\n"
                           "sample 0 140 0 0:110 0:120 0:120 0:130!\n"
                           "sample 1 20 1 0:130!\n"
                           "exit 0 1\n"
                           "done 0 0\n";
static const char late_names[] = "110 main main.c 12\n"
                                 "120 f /b/two.c 25\n"
                                 "130 g /b/g.h 33 f /b/two.c 27\n";

static bool add(struct wndl_diff *d, const struct named *n, uint32_t group)
{
    struct wndl_diff_recording *r = wndl_diff_recording(d, "file", group);
    if (r == NULL || wndl_diff_sum(r, 0) == NULL)
        return false;
    r->whole = true;
    return wndl_diff_add_time(d, &n->symbolized, WNDL_TIME_CPU);
}

struct fixture {
    struct named early, late;
    struct wndl_diff d;
};

static void cook(struct fixture *f)
{
    named_cook(&f->early, early, early_names);
    named_cook(&f->late, late, late_names);
}

static void fill(
    struct fixture *f, enum wndl_diff_key_kind by, const char *filter)
{
    const char *const filters[] = {filter, NULL};
    assert_true(wndl_diff_init(&f->d, wndl_mem_libc()));
    f->d.by = by;
    assert_true(add(&f->d, &f->early, 0) && add(&f->d, &f->late, 1));
    assert_true(wndl_diff_finish(&f->d, filters));
}

static void clear(struct fixture *f)
{
    named_free(&f->early);
    named_free(&f->late);
}

/* "f;g" by path; "g.h:33 g" by line. */
static void spell(const struct wndl_diff *d, uint32_t key, struct wndl_buf *out)
{
    struct wndl_diff_key k = wndl_diff_key_at(d, key);
    if (k.caller != 0) {
        spell(d, k.caller, out);
        wndl_buf_byte(out, ';');
    }
    if (k.file != 0)
        wndl_buf_printf(
            out, "%s:%u ", wndl_intern_text(&d->strings, k.file), k.line);
    wndl_buf_text(out, wndl_intern_text(&d->strings, k.name));
}

static uint32_t key_called(const struct wndl_diff *d, const char *name)
{
    struct wndl_buf text;
    const struct wndl_diff_row *rows = d->rows.data;
    wndl_buf_init(&text, wndl_mem_libc());
    uint32_t found = 0;
    for (size_t i = 0; i < d->rows.len && found == 0; i++) {
        wndl_buf_clear(&text);
        spell(d, rows[i].key, &text);
        wndl_buf_byte(&text, '\0');
        if (strcmp((const char *)text.data, name) == 0)
            found = rows[i].key;
    }
    wndl_buf_free(&text);
    if (found == 0)
        print_error("there is no %s\n", name);
    assert_int_not_equal(found, 0);
    return found;
}

static void assert_costs(const struct wndl_diff *d, const char *name,
    const double self[2], const double total[2])
{
    uint32_t key = key_called(d, name);
    for (uint32_t i = 0; i < 2; i++) {
        struct wndl_diff_place place = {WNDL_DIFF_AMOUNT, WNDL_DIFF_SELF, key};
        assert_true(wndl_diff_value(d, place, i).mean == 1000 * self[i]);
        place.cost = WNDL_DIFF_TOTAL;
        assert_true(wndl_diff_value(d, place, i).mean == 1000 * total[i]);
    }
}

#define COSTS(d, name, s0, s1, t0, t1)                                         \
    assert_costs(d, name, (const double[]){s0, s1}, (const double[]){t0, t1})

static void functions_are_the_same_by_name(void **state)
{
    (void)state;
    struct fixture f;
    cook(&f);
    fill(&f, WNDL_DIFF_BY_FUNCTION, NULL);
    assert_int_equal(f.d.rows.len, 4);
    COSTS(&f.d, "main", 0, 0, 80, 180);
    COSTS(&f.d, "f", 60, 40, 90, 200);
    COSTS(&f.d, "g", 30, 160, 30, 160);
    COSTS(&f.d, "[no stack]", 10, 0, 10, 0);
    const struct wndl_diff_row *first = wndl_vec_at(&f.d.rows, 0);
    assert_int_equal(first->key, key_called(&f.d, "g"));
    assert_true(fabs(first->change[WNDL_DIFF_SELF].change - 50) < 1e-9);
    assert_true(first->change[WNDL_DIFF_SELF].beyond);
    wndl_diff_free(&f.d);
    clear(&f);
}

static void other_views_have_the_same_costs(void **state)
{
    (void)state;
    struct fixture f;
    cook(&f);
    fill(&f, WNDL_DIFF_BY_LINE, NULL);
    COSTS(&f.d, "g.h:33 g", 30, 160, 30, 160);
    COSTS(&f.d, "one.c:25 f", 60, 0, 80, 0);
    COSTS(&f.d, "two.c:27 f", 0, 0, 0, 160);
    wndl_diff_free(&f.d);
    fill(&f, WNDL_DIFF_BY_MODULE, NULL);
    COSTS(&f.d, "app", 90, 200, 90, 200);
    wndl_diff_free(&f.d);
    fill(&f, WNDL_DIFF_BY_THREAD, NULL);
    COSTS(&f.d, "app", 90, 180, 90, 180);
    COSTS(&f.d, "worker", 10, 20, 10, 20);
    wndl_diff_free(&f.d);
    fill(&f, WNDL_DIFF_BY_PATH, NULL);
    COSTS(&f.d, "main", 0, 0, 80, 180);
    COSTS(&f.d, "main;f", 60, 40, 80, 180);
    COSTS(&f.d, "main;f;f;f;g", 20, 140, 20, 140);
    COSTS(&f.d, "[truncated];f;g", 10, 20, 10, 20);
    COSTS(&f.d, "[truncated]", 0, 0, 10, 20);
    COSTS(&f.d, "[no stack]", 10, 0, 10, 0);
    wndl_diff_free(&f.d);
    clear(&f);
}

static void filters_choose_rows(void **state)
{
    (void)state;
    struct fixture f;
    cook(&f);
    fill(&f, WNDL_DIFF_BY_FUNCTION, "!f");
    assert_int_equal(f.d.rows.len, 3);
    wndl_diff_free(&f.d);
    fill(&f, WNDL_DIFF_BY_PATH, "trunc"); /* and what is below */
    assert_int_equal(f.d.rows.len, 3);
    wndl_diff_free(&f.d);
    clear(&f);
}

/* ---- noise */

/* A recording of samples of 1 ns: so many, and of those so many of key 1. */
static void plain(struct wndl_diff *d, uint32_t group, double all, double own)
{
    struct wndl_diff_recording *r = wndl_diff_recording(d, "x", group);
    assert_non_null(r);
    r->count = (uint64_t)all;
    *wndl_diff_sum(r, 0) = (struct wndl_diff_sum){{0, all}, {0, all}};
    *wndl_diff_sum(r, 1) = (struct wndl_diff_sum){{own, own}, {own, own}};
}

static struct wndl_diff_change self_change(const struct wndl_diff *d)
{
    return wndl_diff_change(
        d, (struct wndl_diff_place){WNDL_DIFF_SHARE, WNDL_DIFF_SELF, 1});
}

static void init_plain(struct wndl_diff *d)
{
    assert_true(wndl_diff_init(d, wndl_mem_libc()));
    d->of_samples = true;
}

static void one_recording_a_side_has_the_error_of_its_samples(void **state)
{
    (void)state;
    struct wndl_diff d;
    init_plain(&d);
    plain(&d, 0, 10000, 2000);
    plain(&d, 1, 10000, 2100);
    struct wndl_diff_change c = self_change(&d);
    /* 2.576 * sqrt(.2 * .8 / 10000 + .21 * .79 / 10000) */
    assert_true(fabs(c.change - 1) < 1e-9);
    assert_true(fabs(c.noise - 1.4706) < 0.001);
    assert_false(c.beyond);
    wndl_diff_free(&d);
}

static void what_was_never_seen_is_not_certain(void **state)
{
    (void)state;
    struct wndl_diff d;
    init_plain(&d);
    plain(&d, 0, 1000, 0);
    plain(&d, 1, 1000, 5);
    assert_false(self_change(&d).beyond);
    wndl_diff_free(&d);
    init_plain(&d);
    plain(&d, 0, 1000, 0);
    plain(&d, 1, 1000, 12);
    assert_true(self_change(&d).beyond);
    wndl_diff_free(&d);
}

/* Four pieces of time, of which the largest is all of key 1. */
static void pieces(struct wndl_diff *d, uint32_t group)
{
    static const double squares = 900.0 * 900 + 3 * 50.0 * 50;
    struct wndl_diff_recording *r = wndl_diff_recording(d, "x", group);
    assert_non_null(r);
    r->count = 4;
    *wndl_diff_sum(r, 0) = (struct wndl_diff_sum){{0, 1050}, {0, squares}};
    *wndl_diff_sum(r, 1) =
        (struct wndl_diff_sum){{900, 1050}, {900.0 * 900, squares}};
    *wndl_diff_sum(r, 2) = (struct wndl_diff_sum){{150, 0}, {3 * 50.0 * 50, 0}};
    *wndl_diff_sum(r, 3) = (struct wndl_diff_sum){{0, 0}, {0, 0}};
}

/* What one has not the other has, and no share is off by more than all. */
static void pieces_of_unequal_size_have_equal_noise_either_way(void **state)
{
    (void)state;
    struct wndl_diff d;
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_SELF, 1};
    init_plain(&d);
    pieces(&d, 0);
    pieces(&d, 1);
    double most = wndl_diff_change(&d, place).noise;
    place.key = 2;
    double rest = wndl_diff_change(&d, place).noise;
    assert_true(most > 40 && most <= 100 && fabs(most - rest) < 1e-9);
    place.key = 3; /* never seen: 2.576 * sqrt(2 * (1 / 4)^2) */
    double none = wndl_diff_change(&d, place).noise;
    assert_true(fabs(none - 91.07) < 0.01);
    wndl_diff_free(&d);
}

static void several_recordings_have_the_noise_of_their_spread(void **state)
{
    (void)state;
    struct wndl_diff d;
    init_plain(&d);
    plain(&d, 0, 1e8, 20e6);
    plain(&d, 0, 1e8, 21e6);
    plain(&d, 0, 1e8, 22e6);
    plain(&d, 1, 1e8, 25e6);
    plain(&d, 1, 1e8, 26e6);
    plain(&d, 1, 1e8, 27e6);
    struct wndl_diff_change c = self_change(&d);
    /* t of 4 degrees, 4.604, * sqrt(1 * (1/3 + 1/3)) */
    assert_true(fabs(c.change - 5) < 1e-9);
    assert_true(fabs(c.noise - 3.7592) < 0.001);
    assert_true(c.beyond);
    struct wndl_diff_place place = {WNDL_DIFF_SHARE, WNDL_DIFF_SELF, 1};
    assert_true(fabs(wndl_diff_value(&d, place, 0).spread - 1) < 1e-9);
    wndl_diff_free(&d);
}

/* Two equal ones by chance are no reason to be sure. */
static void sampling_is_the_least_noise(void **state)
{
    (void)state;
    struct wndl_diff d;
    init_plain(&d);
    for (uint32_t i = 0; i < 4; i++)
        plain(&d, i / 2, 1000, 200 + 10 * (i / 2));
    struct wndl_diff_change c = self_change(&d);
    assert_false(c.beyond);
    assert_true(c.noise > 3);
    wndl_diff_free(&d);
}

static void many_recordings_come_near_the_normal_distribution(void **state)
{
    (void)state;
    struct wndl_diff d;
    init_plain(&d);
    for (uint32_t i = 0; i < 42; i++) /* 20 and 22 by turns: spread 1 */
        plain(&d, i / 21, 1e12, i % 2 == 0 ? 20e10 : 22e10);
    struct wndl_diff_change c = self_change(&d);
    double spread = sqrt((21 - 1 / 21.0) / 20);
    /* t of 40 degrees */
    assert_true(fabs(c.noise - 2.7045 * spread * sqrt(2 / 21.0)) < 0.001);
    wndl_diff_free(&d);
}

/* ---- the whole */

static bool write_all(struct wndl_diff *d, struct wndl_mem *mem)
{
    struct wndl_buf out;
    const struct wndl_text_layout layout = {.width = 80, .max_rows = 30};
    wndl_buf_init(&out, mem);
    wndl_report_text_diff(d, &layout, &out);
    wndl_report_json_diff(d, SIZE_MAX, &out);
    wndl_diff_svg(d, &out);
    bool made = !out.failed;
    wndl_buf_free(&out);
    return made;
}

static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    static const char *const filters[] = {NULL};
    struct fixture f;
    cook(&f);
    for (unsigned by = 0; by <= WNDL_DIFF_BY_PATH; by++) {
        bool made = false;
        for (long budget = 0; !made; budget++) {
            struct failing_mem heap;
            failing_mem_init(&heap, budget);
            made = wndl_diff_init(&f.d, &heap.mem);
            f.d.by = by;
            made = made && add(&f.d, &f.early, 0) && add(&f.d, &f.late, 1) &&
                   wndl_diff_finish(&f.d, filters) &&
                   write_all(&f.d, &heap.mem);
            wndl_diff_free(&f.d);
            assert_int_equal(heap.live, 0);
        }
    }
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_the_same_by_name),
        cmocka_unit_test(other_views_have_the_same_costs),
        cmocka_unit_test(filters_choose_rows),
        cmocka_unit_test(one_recording_a_side_has_the_error_of_its_samples),
        cmocka_unit_test(what_was_never_seen_is_not_certain),
        cmocka_unit_test(pieces_of_unequal_size_have_equal_noise_either_way),
        cmocka_unit_test(several_recordings_have_the_noise_of_their_spread),
        cmocka_unit_test(sampling_is_the_least_noise),
        cmocka_unit_test(many_recordings_come_near_the_normal_distribution),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
