/* SPDX-License-Identifier: MIT */
/* model/remedy.h: what helps depends on where stacks are lost. */
#include "model/remedy.h"

#include "testlib.h"

static void add_image(struct wndl_profile *p, const char *path)
{
    struct wndl_image *image = wndl_vec_push(&p->images);
    assert_non_null(image);
    *image = (struct wndl_image){.path = {(const uint8_t *)path, strlen(path)}};
}

/* The remedy of a function in the module of this number. */
static const char *remedy_in(const struct wndl_profile *p, uint32_t module)
{
    struct wndl_symbolized s;
    struct wndl_report r = {.symbolized = &s};
    struct wndl_lost_place place = {.count = 1};
    bool fresh;
    assert_true(wndl_symbolized_init(&s, p, wndl_mem_libc()));
    assert_true(wndl_symbolized_function(
        &s, (struct wndl_function){.module = module}, &place.function, &fresh));
    const char *remedy = wndl_remedy_of(&r, &place);
    wndl_symbolized_free(&s);
    return remedy;
}

static void generated_code_needs_the_flag_of_its_runtime(void **state)
{
    static const char *const known[][2] = {
        {"/usr/lib/jvm/lib/server/libjvm.so", "PreserveFramePointer"},
        {"/usr/lib/libluajit-5.1.so.2", "-joff"}, {"/usr/bin/luajit", "-joff"},
        {"/usr/lib/libpypy3.9-c.so", "--jit off"}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct wndl_profile p;
        assert_true(wndl_profile_init(&p, wndl_mem_libc()));
        add_image(&p, "/usr/lib/libc.so.6");
        add_image(&p, known[i][0]);
        assert_non_null(strstr(remedy_in(&p, 2), known[i][1]));
        assert_non_null(strstr(remedy_in(&p, 1), "debug package"));
        wndl_profile_free(&p);
    }
}

static void other_code_needs_rules(void **state)
{
    struct wndl_profile p;
    (void)state;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    add_image(&p, "/usr/lib/libc.so.6");
    assert_non_null(strstr(remedy_in(&p, 1), "debug package"));
    wndl_profile_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_code_needs_the_flag_of_its_runtime),
        cmocka_unit_test(other_code_needs_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
