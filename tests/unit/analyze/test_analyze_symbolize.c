/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/names/extents.h"
#include "analyze/names/profile_names.h"
#include "recipe.h"
#include "wndl/read.h"

#include <limits.h>
#include <stdio.h>

extern const char __ehdr_start[]; /* the linker's: where rva 0 is mapped */

__attribute__((noinline)) static int landmark(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n * 3;
}

static unsigned long rva_of_landmark(void)
{
    return (unsigned long)((uintptr_t)landmark - (uintptr_t)__ehdr_start);
}

static const struct wndl_symbol_sources no_sources;

struct fixture {
    struct wndl_profile profile;
    struct wndl_symbolized symbolized;
};

static void read_recipe(struct wndl_profile *profile, const char *recipe)
{
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    assert_true(recipe_cook(recipe, &file));
    assert_true(wndl_profile_init(profile, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read(profile,
                         (struct wndl_bytes){file.data, file.size}, NULL),
        WNDL_OK);
    wndl_buf_free(&file);
}

/*
 * Three frames: the landmark's first byte; one past it, as if a call returned
 * there, so the same byte; an address in no image.
 */
static void read_profile(struct wndl_profile *profile)
{
    char recipe[512];
    snprintf(recipe, sizeof recipe,
        "meta 1 1 1 h / app\nprocess 0 1 /bin/app app\nthread 0 1 app\n"
        "image /proc/self/exe -\n"
        "sample 0 1 0 0:%lx 0:%lx!\nsample 0 2 0 -:1000\n",
        rva_of_landmark() + 1, rva_of_landmark());
    read_recipe(profile, recipe);
}

static void make(struct fixture *f)
{
    read_profile(&f->profile);
    assert_true(
        wndl_symbolized_init(&f->symbolized, &f->profile, wndl_mem_libc()));
    assert_int_equal(
        wndl_symbolize_profile(&f->symbolized, &no_sources, NULL, NULL),
        WNDL_OK);
}

static void clear(struct fixture *f)
{
    wndl_symbolized_free(&f->symbolized);
    wndl_profile_free(&f->profile);
}

static const struct wndl_location *location_of(
    const struct fixture *f, uint32_t frame)
{
    const struct wndl_span *span = wndl_vec_at(&f->symbolized.spans, frame);
    assert_int_equal(span->count, 1);
    return wndl_symbolized_location(&f->symbolized, span, 0);
}

static const char *name_of(const struct fixture *f, uint32_t frame)
{
    const struct wndl_function *function =
        wndl_vec_at(&f->symbolized.functions, location_of(f, frame)->function);
    return wndl_intern_text(&f->symbolized.strings, function->name);
}

static void return_address_is_looked_up_one_byte_before(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(landmark(2), 6);
    make(&f);
    assert_int_equal(f.symbolized.spans.len, 3);
    assert_string_equal(name_of(&f, 0), "landmark");
    assert_string_equal(name_of(&f, 1), "landmark");
    assert_int_equal(
        location_of(&f, 0)->function, location_of(&f, 1)->function);
    clear(&f);
}

static void code_in_no_image_is_one_function(void **state)
{
    (void)state;
    struct fixture f;
    make(&f);
    assert_string_equal(name_of(&f, 2), "[no file]");
    const struct wndl_module *modules = f.symbolized.modules.data;
    assert_true(modules[0].state <= WNDL_SYMBOLS_NAMES);
    assert_int_equal(modules[1].state, WNDL_SYMBOLS_NOWHERE);
    clear(&f);
}

static void kept_symbols_are_opened_once(void **state)
{
    (void)state;
    static const char path[] = "/proc/self/exe";
    const struct wndl_bytes none = {0}, other = {(const uint8_t *)"x", 1};
    struct wndl_kept_symbols kept;
    const struct wndl_symbol_sources sources = {.kept = &kept};
    const struct wndl_symbolizer *first = NULL;
    wndl_kept_symbols_init(&kept);
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        read_profile(&f.profile);
        assert_true(
            wndl_symbolized_init(&f.symbolized, &f.profile, wndl_mem_libc()));
        assert_int_equal(
            wndl_symbolize_profile(&f.symbolized, &sources, NULL, NULL),
            WNDL_OK);
        assert_string_equal(name_of(&f, 0), "landmark");
        clear(&f);
        const struct wndl_symbolizer *found =
            wndl_kept_symbols_find(&kept, path, none);
        assert_non_null(found);
        assert_true(first == NULL || found == first);
        first = found;
    }
    assert_null(wndl_kept_symbols_find(&kept, "/proc/self", none));
    assert_null(wndl_kept_symbols_find(&kept, path, other));
    wndl_kept_symbols_close(&kept);
}

enum { FRAMES = 40 }; /* of each module */

/*
 * Modules of many names, which are all this program or none. The last frame of
 * each is the landmark's; the others are of code on both sides of it.
 */
static void read_many_modules(struct wndl_profile *profile)
{
    enum { MODULES = 12, APART = 24 };
    struct wndl_buf recipe;
    wndl_buf_init(&recipe, wndl_mem_libc());
    wndl_buf_text(&recipe, "meta 1 1 1 h / app\nprocess 0 1 /bin/app app\n"
                           "thread 0 1 app\n");
    for (int m = 0; m < MODULES; m++)
        wndl_buf_printf(&recipe, "image /proc/%.*s%s -\n", 2 * m,
            "./././././././././././././", m % 5 == 3 ? "none" : "self/exe");
    for (int m = 0; m < MODULES; m++) {
        wndl_buf_printf(&recipe, "sample 0 %d 0", m + 1);
        for (int i = FRAMES - 1; i >= 0; i--)
            wndl_buf_printf(&recipe, " %d:%lx", m,
                rva_of_landmark() + 1 + (unsigned long)(i * (m + 1) * APART));
        wndl_buf_text(&recipe, "\n");
    }
    wndl_buf_byte(&recipe, '\0');
    assert_false(recipe.failed);
    read_recipe(profile, (const char *)recipe.data);
    wndl_buf_free(&recipe);
}

static void assert_same_numbers(
    const struct wndl_vec *a, const struct wndl_vec *b)
{
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->data, b->data, a->len * a->element);
}

/* Field by field, because there is padding. */
static void assert_same_names(
    const struct wndl_symbolized *a, const struct wndl_symbolized *b)
{
    const struct wndl_function *f = a->functions.data, *g = b->functions.data;
    const struct wndl_location *l = a->locations.data, *m = b->locations.data;
    assert_int_equal(a->functions.len, b->functions.len);
    for (size_t i = 0; i < a->functions.len; i++) {
        assert_int_equal(f[i].module, g[i].module);
        assert_int_equal(f[i].name, g[i].name);
        assert_int_equal(f[i].file, g[i].file);
        assert_int_equal(f[i].line, g[i].line);
    }
    assert_int_equal(a->locations.len, b->locations.len);
    for (size_t i = 0; i < a->locations.len; i++) {
        assert_int_equal(l[i].function, m[i].function);
        assert_int_equal(l[i].file, m[i].file);
        assert_int_equal(l[i].line, m[i].line);
    }
    assert_same_numbers(&a->frame_locations, &b->frame_locations);
    assert_same_numbers(&a->spans, &b->spans);
}

/* Only libc's memory is for several threads. */
static void names_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    struct failing_mem one_thread;
    struct wndl_symbolized alone;
    struct fixture f;
    failing_mem_init(&one_thread, LONG_MAX);
    read_many_modules(&f.profile);
    assert_true(wndl_symbolized_init(&alone, &f.profile, &one_thread.mem));
    assert_int_equal(
        wndl_symbolize_profile(&alone, &no_sources, NULL, NULL), WNDL_OK);
    for (int i = 0; i < 5; i++) {
        assert_true(
            wndl_symbolized_init(&f.symbolized, &f.profile, wndl_mem_libc()));
        assert_int_equal(
            wndl_symbolize_profile(&f.symbolized, &no_sources, NULL, NULL),
            WNDL_OK);
        assert_same_names(&f.symbolized, &alone);
        assert_string_equal(name_of(&f, FRAMES - 1), "landmark");
        wndl_symbolized_free(&f.symbolized);
    }
    wndl_symbolized_free(&alone);
    wndl_profile_free(&f.profile);
}

static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    struct wndl_profile profile;
    read_profile(&profile);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status != WNDL_OK; budget++) {
        struct failing_mem heap;
        struct wndl_symbolized s;
        failing_mem_init(&heap, budget);
        if (wndl_symbolized_init(&s, &profile, &heap.mem)) {
            status = wndl_symbolize_profile(&s, &no_sources, NULL, NULL);
            wndl_symbolized_free(&s);
        }
        assert_true(status == WNDL_OK || status == WNDL_NOMEM);
        assert_int_equal(heap.live, 0);
    }
    wndl_profile_free(&profile);
}

/* ---- extents */

static void extents_find_the_start_of_a_function(void **state)
{
    (void)state;
    struct wndl_extents x;
    wndl_extents_open(&x, "/proc/self/exe", wndl_mem_libc());
    wndl_rva start = {0};
    wndl_rva inside = {rva_of_landmark() + 1};
    assert_true(wndl_extents_find(&x, inside, &start));
    assert_int_equal(start.v, rva_of_landmark());
    assert_false(wndl_extents_find(&x, (wndl_rva){1}, &start));
    assert_false(wndl_extents_find(&x, (wndl_rva){UINT64_MAX}, &start));
    wndl_extents_close(&x);
}

static void extents_of_what_is_no_binary_find_nothing(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/nonexistent", "/proc/self/maps", "/etc/passwd"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct wndl_extents x;
        wndl_rva start = {7};
        wndl_extents_open(&x, paths[i], wndl_mem_libc());
        assert_false(wndl_extents_find(&x, (wndl_rva){0x1000}, &start));
        assert_int_equal(start.v, 7);
        wndl_extents_close(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(return_address_is_looked_up_one_byte_before),
        cmocka_unit_test(code_in_no_image_is_one_function),
        cmocka_unit_test(kept_symbols_are_opened_once),
        cmocka_unit_test(names_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
        cmocka_unit_test(extents_find_the_start_of_a_function),
        cmocka_unit_test(extents_of_what_is_no_binary_find_nothing),
    };
    return cmocka_run_group_tests_name("analyze_symbolize", tests, NULL, NULL);
}
