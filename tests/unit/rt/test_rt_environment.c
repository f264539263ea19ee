/* SPDX-License-Identifier: MIT */
/* Environments of new programs: what makes a child recorded is there once,
 * whatever the program does with its own. */
#include "testlib.h"

#include "rec/shm.h"
#include "rt/core/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT "/opt/lib/windlass/libwindlass-rt.so"
#define SOCKET "/run/user/1/windlass/socket"
#define PRELOAD "LD_PRELOAD="
#define SESSION WNDL_SESSION_ENV "="

enum { MOST = 20000 };

/* As a process is started that has been preloaded `list`. */
static void started_with(const char *list)
{
    char variable[500];
    snprintf(variable, sizeof variable, "LD_PRELOAD=%s", list);
    const char *const environment[] = {"A=1", variable, NULL};
    wndl_rt_environment_start((char *const *)environment);
}

static int set_up(void **state)
{
    (void)state;
    started_with(OBJECT);
    return wndl_rt_environment_join(SOCKET) == NULL ? -1 : 0;
}

static struct wndl_rt_addition lacks_of(const char *const environment[])
{
    return wndl_rt_environment_lacks((char *const *)environment);
}

static char *const *add(const char *const environment[],
    const struct wndl_rt_addition *addition, void *room)
{
    return wndl_rt_environment_add((char *const *)environment, addition, room);
}

/* What a child gets of `environment`, in exactly the room that it needs. */
static char *const *given(const char *const environment[], void **room)
{
    struct wndl_rt_addition lacks = lacks_of(environment);
    assert_true(lacks.size != 0);
    *room = malloc(lacks.size);
    assert_non_null(*room);
    return add(environment, &lacks, *room);
}

/* The variables, joined by newlines. */
static void assert_given(const char *const environment[], const char *expected)
{
    char text[1000] = "";
    void *room;
    for (char *const *at = given(environment, &room); *at != NULL; at++) {
        assert_true(strlen(text) + strlen(*at) + 2 < sizeof text);
        strcat(strcat(text, *at), "\n");
    }
    free(room);
    assert_string_equal(text, expected);
}

/* The first of the tests: nothing is kept yet. */
static void nothing_is_added_without_a_session(void **state)
{
    (void)state;
    const char *const environment[] = {"A=1", NULL};
    assert_int_equal(lacks_of(environment).size, 0);
    assert_int_equal(lacks_of(NULL).size, 0);
}

/* The second: what loaded us is not among the preloaded. */
static void session_alone_is_added_where_nothing_was_preloaded(void **state)
{
    (void)state;
    started_with("/lib/other.so:" OBJECT "x:libwindlass-rt.so");
    assert_non_null(wndl_rt_environment_join(SOCKET));
    const char *const environment[] = {"A=1", NULL};
    assert_given(environment, "A=1\n" SESSION SOCKET "\n");
}

static void both_are_added_to_none(void **state)
{
    (void)state;
    const char *const empty[] = {NULL};
    const char *both = SESSION SOCKET "\n" PRELOAD OBJECT "\n";
    assert_given(empty, both);
    void *room;
    char *const *made = given(NULL, &room);
    assert_string_equal(made[0], SESSION SOCKET);
    assert_string_equal(made[1], PRELOAD OBJECT);
    assert_null(made[2]);
    free(room);
}

static void complete_environment_is_left_as_it_is(void **state)
{
    (void)state;
    const char *const environment[] = {
        PRELOAD "/lib/a.so:" OBJECT, "B=2", SESSION SOCKET, NULL};
    assert_int_equal(lacks_of(environment).size, 0);
}

/* That of a recorder in the recorded program. */
static void session_of_another_stays(void **state)
{
    (void)state;
    const char *const environment[] = {
        SESSION "/another", PRELOAD OBJECT, "B=2", NULL};
    assert_int_equal(lacks_of(environment).size, 0);
}

static void missing_session_is_added_at_the_end(void **state)
{
    (void)state;
    const char *const environment[] = {PRELOAD OBJECT, "B=2", NULL};
    assert_given(environment, PRELOAD OBJECT "\nB=2\n" SESSION SOCKET "\n");
}

static void own_list_of_the_program_comes_after_us(void **state)
{
    (void)state;
    const char *const environment[] = {
        "A=1", PRELOAD "/lib/a.so /lib/b.so", SESSION SOCKET, "B=2", NULL};
    assert_given(environment, "A=1\n" SESSION SOCKET "\nB=2\n" PRELOAD OBJECT
                              ":/lib/a.so /lib/b.so\n");
}

static void empty_list_becomes_our_object(void **state)
{
    (void)state;
    const char *const environment[] = {PRELOAD, SESSION SOCKET, NULL};
    assert_given(environment, SESSION SOCKET "\n" PRELOAD OBJECT "\n");
}

/* Entries end at a colon or a space, and must be the whole path. */
static void our_object_is_found_at_any_place_of_a_list(void **state)
{
    (void)state;
    const char *const with[] = {OBJECT, OBJECT ":/b.so", "/a.so:" OBJECT,
        "/a.so " OBJECT " /b.so", "::" OBJECT};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        char variable[200] = PRELOAD;
        const char *const environment[] = {
            strcat(variable, with[i]), SESSION SOCKET, NULL};
        assert_int_equal(lacks_of(environment).size, 0);
    }
}

static void name_that_is_like_ours_is_another(void **state)
{
    (void)state;
    const char *const without[] = {(OBJECT "x"), ("x" OBJECT),
        "/opt/lib/windlass/libwindlass-rt.s", "", ":"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        char variable[200] = PRELOAD;
        const char *const environment[] = {
            strcat(variable, without[i]), SESSION SOCKET, NULL};
        assert_true(lacks_of(environment).preload);
    }
}

static void variables_that_begin_like_ours_are_others(void **state)
{
    (void)state;
    const char *const environment[] = {
        "LD_PRELOAD_=" OBJECT, WNDL_SESSION_ENV "S=/x", "LD_PRELOA", NULL};
    struct wndl_rt_addition lacks = lacks_of(environment);
    assert_true(lacks.preload && lacks.session);
    assert_int_equal(lacks.count, 3);
    assert_int_equal(lacks.preload_at, 3);
}

static void object_is_kept_as_it_was_written(void **state)
{
    (void)state;
    started_with("/a.so:/opt/$LIB/libwindlass-heap.so /b.so:" OBJECT);
    const char *const environment[] = {SESSION SOCKET, NULL};
    assert_given(environment,
        SESSION SOCKET "\n" PRELOAD "/opt/$LIB/libwindlass-heap.so\n");
}

static void environment_that_shrinks_meanwhile_ends_where_it_ends(void **state)
{
    (void)state;
    const char *environment[] = {"A=1", "B=2", "C=3", NULL};
    struct wndl_rt_addition lacks = lacks_of(environment);
    void *room = malloc(lacks.size);
    assert_non_null(room);
    environment[1] = NULL;
    char *const *made = add(environment, &lacks, room);
    assert_string_equal(made[0], "A=1");
    assert_string_equal(made[1], SESSION SOCKET);
    assert_string_equal(made[2], PRELOAD OBJECT);
    assert_null(made[3]);
    free(room);
}

/* It would be made on a stack that may be small. */
static void large_environment_is_not_changed(void **state)
{
    (void)state;
    static const char *environment[MOST + 1];
    for (size_t i = 0; i < MOST; i++)
        environment[i] = "A=1";
    assert_int_equal(lacks_of(environment).size, 0);
    environment[1000] = NULL;
    assert_true(lacks_of(environment).size > 8000);
}

/* sun_path has 108 bytes, with the NUL. */
static void path_that_fits_no_socket_is_refused(void **state)
{
    (void)state;
    char path[200] = "";
    memset(path, 'p', 107);
    assert_string_equal(wndl_rt_environment_join(path), path);
    assert_string_equal(wndl_rt_environment_session() + strlen(SESSION), path);
    path[107] = path[108] = 'p';
    assert_null(wndl_rt_environment_join(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_added_without_a_session),
        cmocka_unit_test(session_alone_is_added_where_nothing_was_preloaded),
        cmocka_unit_test_setup(both_are_added_to_none, set_up),
        cmocka_unit_test_setup(complete_environment_is_left_as_it_is, set_up),
        cmocka_unit_test_setup(session_of_another_stays, set_up),
        cmocka_unit_test_setup(missing_session_is_added_at_the_end, set_up),
        cmocka_unit_test_setup(own_list_of_the_program_comes_after_us, set_up),
        cmocka_unit_test_setup(empty_list_becomes_our_object, set_up),
        cmocka_unit_test_setup(
            our_object_is_found_at_any_place_of_a_list, set_up),
        cmocka_unit_test_setup(name_that_is_like_ours_is_another, set_up),
        cmocka_unit_test_setup(
            variables_that_begin_like_ours_are_others, set_up),
        cmocka_unit_test_setup(object_is_kept_as_it_was_written, set_up),
        cmocka_unit_test_setup(
            environment_that_shrinks_meanwhile_ends_where_it_ends, set_up),
        cmocka_unit_test_setup(large_environment_is_not_changed, set_up),
        cmocka_unit_test_setup(path_that_fits_no_socket_is_refused, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
