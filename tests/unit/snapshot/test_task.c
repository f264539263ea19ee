/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "snapshot/task.h"

#include <errno.h>
#include <unistd.h>

static void a_blocked_thread_has_a_call_and_a_place(void **state)
{
    (void)state;
    struct wndl_task_call call;
    assert_true(wndl_task_call_parse(
        "232 0x5 0x7ffe0010 0x1 0xffffffff 0x0 0x8 0x7ffe0000 0x7f1234",
        &call));
    assert_true(call.is_call && !call.is_running);
    assert_int_equal(call.number, 232);
    assert_int_equal(call.arguments[0], 5);
    assert_int_equal(call.arguments[5], 8);
    assert_int_equal(call.sp, 0x7ffe0000);
    assert_int_equal(call.pc, 0x7f1234);
}

static void a_thread_may_be_blocked_outside_of_calls(void **state)
{
    (void)state;
    struct wndl_task_call call;
    assert_true(wndl_task_call_parse("-1 0x7ffe0000 0x401000", &call));
    assert_true(!call.is_call && !call.is_running);
    assert_int_equal(call.sp, 0x7ffe0000);
    assert_int_equal(call.pc, 0x401000);
}

static void a_running_thread_has_no_place(void **state)
{
    (void)state;
    struct wndl_task_call call;
    assert_true(wndl_task_call_parse("running", &call));
    assert_true(call.is_running && !call.is_call);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char whole[] =
        "0 0x3 0x7ffe0010 0x1 0x0 0x0 0x8 0x7ffe0000 0x7f1234";
    char part[sizeof whole];
    struct wndl_task_call call;
    for (size_t size = 0; size + sizeof "0x7f1234" < sizeof whole; size++) {
        memcpy(part, whole, size);
        part[size] = '\0';
        assert_false(wndl_task_call_parse(part, &call));
    }
    assert_false(wndl_task_call_parse("runs", &call));
    assert_false(wndl_task_call_parse("-1 0x1 0x2 0x3", &call));
}

static void the_state_comes_after_any_name(void **state)
{
    (void)state;
    assert_int_equal(wndl_task_state_parse("12 (a) R) S 1 12"), 'S');
    assert_int_equal(wndl_task_state_parse("12 (x) D 1"), 'D');
    assert_int_equal(wndl_task_state_parse("12 (x"), 0);
    assert_int_equal(wndl_task_state_parse(""), 0);
}

static void entries_of_a_thread_are_read(void **state)
{
    (void)state;
    char text[WNDL_TASK_TEXT];
    const struct wndl_task own = {getpid(), getpid()};
    const struct wndl_task none = {getpid(), 0x7fffffff};
    assert_true(wndl_task_read(&own, "comm", text));
    assert_string_equal(text, "test_task");
    assert_int_equal(wndl_task_tracer(&own), 0);
    assert_false(wndl_task_read(&none, "comm", text));
    assert_int_equal(errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blocked_thread_has_a_call_and_a_place),
        cmocka_unit_test(a_thread_may_be_blocked_outside_of_calls),
        cmocka_unit_test(a_running_thread_has_no_place),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(the_state_comes_after_any_name),
        cmocka_unit_test(entries_of_a_thread_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
