/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "snapshot/rights.h"

#include <unistd.h>

enum { OUR_USER = 1000, OTHER_USER = 2000, PID = 0x7ffffff0 };

/* A process of our own that may not be read, for no reason yet. */
static struct wndl_rights denied(void)
{
    return (struct wndl_rights){.pid = PID,
        .exists = true,
        .process = PID,
        .parent = 1,
        .user = OUR_USER,
        .our_user = OUR_USER,
        .yama = WNDL_YAMA_NONE};
}

static void says(
    const struct wndl_rights *rights, enum wndl_status status, const char *what)
{
    struct wndl_error err = {0};
    assert_int_equal(wndl_rights_check(rights, &err), status);
    if (strstr(err.what, what) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", what, err.what);
    assert_true(strlen(err.what) + 1 < sizeof err.what);
}

static void a_process_without_stacks_is_named(void **state)
{
    (void)state;
    struct wndl_rights r = denied();
    r.is_zombie = true;
    says(&r, WNDL_NOT_FOUND, "a zombie");
    r = denied();
    r.is_kernel = true;
    says(&r, WNDL_NOT_FOUND, "a thread of the kernel");
    r = denied();
    r.process = PID - 1;
    says(&r, WNDL_NOT_FOUND, "--thread 2147483632");
    r = denied();
    r.exists = false;
    says(&r, WNDL_NOT_FOUND, "there is no process 2147483632");
    r = denied();
    r.pid = r.process = getpid();
    says(&r, WNDL_UNSUPPORTED, "windlass itself");
}

static void another_users_process_is_his(void **state)
{
    (void)state;
    struct wndl_rights r = denied();
    r.user = OTHER_USER;
    r.yama = 1;
    says(&r, WNDL_DENIED, "belongs to user 2000");
}

static void yama_is_named_with_its_value(void **state)
{
    (void)state;
    struct wndl_rights r = denied();
    r.yama = 1;
    says(&r, WNDL_DENIED, "kernel.yama.ptrace_scope is 1: only a process's");
    r.yama = 2;
    says(&r, WNDL_DENIED, "kernel.yama.ptrace_scope is 2: only root");
    r.yama = 3;
    says(&r, WNDL_DENIED, "kernel.yama.ptrace_scope is 3: nobody");
    r.may_trace_all = true;
    says(&r, WNDL_DENIED, "kernel.yama.ptrace_scope is 3: nobody");
}

static void other_reasons_are_told_apart(void **state)
{
    (void)state;
    struct wndl_rights r = denied();
    r.is_closed = true;
    says(&r, WNDL_DENIED, "PR_SET_DUMPABLE");
    r.is_closed = false;
    r.yama = 0;
    says(&r, WNDL_DENIED, "lacks CAP_SYS_PTRACE");
}

static void what_may_be_read_is_right(void **state)
{
    (void)state;
    struct wndl_rights r = denied();
    r.may_read = true;
    assert_int_equal(wndl_rights_check(&r, NULL), WNDL_OK);
}

static void the_facts_of_a_process_are_found(void **state)
{
    (void)state;
    struct wndl_rights r;
    wndl_rights_find(&r, getpid());
    assert_true(r.exists && r.may_read && !r.is_kernel && !r.is_zombie);
    assert_int_equal(r.process, getpid());
    assert_int_equal(r.parent, getppid());
    assert_int_equal(r.user, getuid());
    wndl_rights_find(&r, PID);
    assert_false(r.exists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_without_stacks_is_named),
        cmocka_unit_test(another_users_process_is_his),
        cmocka_unit_test(yama_is_named_with_its_value),
        cmocka_unit_test(other_reasons_are_told_apart),
        cmocka_unit_test(what_may_be_read_is_right),
        cmocka_unit_test(the_facts_of_a_process_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
