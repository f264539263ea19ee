/* SPDX-License-Identifier: MIT */
/* in/valgrind_xml.h: errors of each tool, of a forked child, of a file that
 * ends anywhere, of a damaged one. */
#include "in/valgrind_xml.h"

#include "testlib.h"

#include <stdio.h>
#include <string.h>

#define FRAME(function, file, line)                                            \
    "    <frame>\n      <ip>0x109248</ip>\n      <obj>/src/bug</obj>\n"        \
    "      <fn>" function "</fn>\n      <dir>/src</dir>\n"                     \
    "      <file>" file "</file>\n      <line>" line "</line>\n"               \
    "    </frame>\n"

#define HEAD(pid)                                                              \
    "<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n"                          \
    "<preamble>\n  <line>Memcheck</line>\n"                                    \
    "  <line>Command: ./bug a&lt;b</line>\n</preamble>\n\n"                    \
    "<pid>" pid "</pid>\n<ppid>1</ppid>\n<tool>memcheck</tool>\n\n"

/* clang-format off */
static const char sample[] =
    HEAD("4711")
    "<status>\n  <state>RUNNING</state>\n  <time>0</time>\n</status>\n\n"
    "<error>\n  <unique>0x2</unique>\n  <tid>1</tid>\n"
    "  <kind>InvalidWrite</kind>\n"
    "  <what>Invalid write of size 1</what>\n"
    "  <stack>\n" FRAME("operator&lt;(A&amp;)", "bug.cc", "12")
    "  </stack>\n"
    "  <auxwhat>Address 0x1 is 0 bytes after a block</auxwhat>\n"
    "  <stack>\n" FRAME("malloc", "m.c", "1") FRAME("main", "bug.cc", "12")
    "  </stack>\n</error>\n\n"
    HEAD("4712") /* a forked child, in the middle of it */
    "<error>\n  <unique>0x2</unique>\n  <kind>Race</kind>\n"
    "  <xwhat>\n    <text>Possible data race</text>\n"
    "    <hthreadid>1</hthreadid>\n  </xwhat>\n"
    "  <stack>\n" FRAME("a", "a.c", "1") "  </stack>\n"
    "  <xauxwhat><text>This conflicts</text></xauxwhat>\n"
    "  <stack>\n" FRAME("b", "a.c", "2") "  </stack>\n"
    "  <auxwhat>Address 0x3 is global</auxwhat>\n</error>\n\n"
    "<status>\n  <state>FINISHED</state>\n  <time>1</time>\n</status>\n\n"
    "</valgrindoutput>\n\n"
    "<error>\n  <unique>0x3</unique>\n"
    "  <kind>Leak_DefinitelyLost</kind>\n"
    "  <xwhat>\n    <text>33 bytes are lost</text>\n"
    "    <leakedbytes>33</leakedbytes>\n    <leakedblocks>2</leakedblocks>\n"
    "  </xwhat>\n  <stack>\n" FRAME("main", "bug.cc", "14") "  </stack>\n"
    "</error>\n\n"
    "<error>\n  <unique>0x4</unique>\n  <kind>ConflictingAccess</kind>\n"
    "  <what>Conflicting load</what>\n"
    "  <stack>\n" FRAME("a", "a.c", "1") "  </stack>\n"
    "  <other_segment_start>\n  <stack>\n" FRAME("b", "a.c", "2")
    "  </stack>\n  </other_segment_start>\n</error>\n\n"
    "<fatal_signal>\n  <tid>1</tid>\n  <signo>11</signo>\n"
    "  <signame>SIGSEGV</signame>\n</fatal_signal>\n\n"
    "<errorcounts>\n  <pair>\n    <count>7</count>\n"
    "    <unique>0x2</unique>\n  </pair>\n</errorcounts>\n\n"
    "<suppcounts>\n  <pair>\n    <count>6</count>\n"
    "    <name>drd-ld</name>\n  </pair>\n</suppcounts>\n\n"
    "</valgrindoutput>\n";
/* clang-format on */

static enum wndl_status read_bytes(
    struct wndl_check *check, const char *text, size_t size)
{
    struct wndl_error err = {0};
    assert_true(wndl_check_init(check, wndl_mem_libc()));
    return wndl_valgrind_xml_read(
        check, (struct wndl_bytes){(const uint8_t *)text, size}, 5, &err);
}

static const struct wndl_check_error *error_at(
    const struct wndl_check *check, size_t index)
{
    assert_true(index < check->errors.len);
    return wndl_vec_at(&check->errors, index);
}

static const char *text(const struct wndl_check *check, uint32_t id)
{
    return wndl_intern_text(&check->texts, id);
}

static const struct wndl_check_stack *stack_at(const struct wndl_check *check,
    const struct wndl_check_error *e, uint32_t index)
{
    assert_true(index < e->stacks);
    return wndl_vec_at(&check->stacks, e->first + index);
}

static void reads_errors_and_stacks(void **state)
{
    (void)state;
    struct wndl_check check;
    assert_int_equal(read_bytes(&check, sample, sizeof sample - 1), WNDL_OK);
    assert_int_equal(check.damaged, 0);
    assert_int_equal(check.errors.len, 4);
    const struct wndl_check_error *e = error_at(&check, 0);
    assert_string_equal(text(&check, e->kind), "InvalidWrite");
    assert_string_equal(text(&check, e->what), "Invalid write of size 1");
    assert_int_equal(e->run, 5);
    assert_int_equal(e->times, 7);
    assert_int_equal(e->stacks, 2);
    const struct wndl_check_stack *s = stack_at(&check, e, 0);
    assert_int_equal(s->count, 1);
    const struct wndl_check_frame *f = wndl_vec_at(&check.frames, s->first);
    assert_string_equal(text(&check, f->function), "operator<(A&)");
    assert_string_equal(text(&check, f->module), "/src/bug");
    assert_string_equal(text(&check, f->folder), "/src");
    assert_string_equal(text(&check, f->file), "bug.cc");
    assert_int_equal(f->line, 12);
    s = stack_at(&check, e, 1);
    assert_int_equal(s->count, 2);
    assert_string_equal(
        text(&check, s->note), "Address 0x1 is 0 bytes after a block");
    wndl_check_free(&check);
}

static void keeps_the_child_apart(void **state)
{
    (void)state;
    struct wndl_check check;
    assert_int_equal(read_bytes(&check, sample, sizeof sample - 1), WNDL_OK);
    const struct wndl_check_error *race = error_at(&check, 1);
    assert_int_equal(race->process, 1);
    assert_int_equal(race->times, 1); /* not the parent's of that number */
    assert_int_equal(race->stacks, 3);
    assert_int_equal(stack_at(&check, race, 2)->count, 0);
    const struct wndl_check_error *leak = error_at(&check, 2);
    assert_int_equal(leak->process, 0);
    assert_int_equal(leak->bytes, 33);
    assert_int_equal(leak->blocks, 2);
    const struct wndl_check_error *drd = error_at(&check, 3);
    assert_int_equal(drd->stacks, 2);
    assert_string_equal(text(&check, stack_at(&check, drd, 1)->note),
        "The other thread's segment began at");
    assert_int_equal(check.processes.len, 2);
    const struct wndl_check_process *p = check.processes.data;
    assert_int_equal(p[0].pid, 4711);
    assert_int_equal(p[0].parent, 1);
    assert_false(p[0].is_finished);
    assert_string_equal(text(&check, p[0].signal), "SIGSEGV");
    assert_string_equal(text(&check, p[0].command), "./bug a<b");
    assert_int_equal(p[1].pid, 4712);
    assert_true(p[1].is_finished);
    const struct wndl_check_suppression *hidden = check.suppressions.data;
    assert_int_equal(hidden->times, 6);
    assert_string_equal(text(&check, hidden->name), "drd-ld");
    wndl_check_free(&check);
}

/* What ended before is read, and nothing is counted as damage. */
static void reads_a_file_that_ends_anywhere(void **state)
{
    (void)state;
    size_t last = 0;
    for (size_t size = 0; size < sizeof sample; size++) {
        struct wndl_check check;
        const enum wndl_status status = read_bytes(&check, sample, size);
        assert_int_equal(status, size < 5 ? WNDL_MALFORMED : WNDL_OK);
        assert_int_equal(check.damaged, 0);
        assert_true(check.errors.len >= last);
        last = check.errors.len;
        wndl_check_free(&check);
    }
    assert_int_equal(last, 4);
}

static void counts_what_is_damaged(void **state)
{
    (void)state;
    static const char *const units[] = {
        "<error>\n<kind>A</kind>\n</error>\n",    /* no stack */
        "<error>\n<stack></stack>\n</error>\n",   /* no kind */
        "<error>\n<kind>A<kind>\n</error>\n",     /* no XML */
        "<error>\n<kind>A&b;</kind>\n</error>\n", /* an entity */
        "<error>\n<kind>A</kind>\n<errorcounts>\n</errorcounts>\n",
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char file[4096];
        struct wndl_check check;
        snprintf(file, sizeof file, "%s%s%s", HEAD("1"), units[i],
            "<error>\n<kind>B</kind>\n<stack></stack>\n</error>\n");
        assert_int_equal(read_bytes(&check, file, strlen(file)), WNDL_OK);
        assert_int_equal(check.damaged, 1);
        assert_int_equal(check.errors.len, 1);
        assert_string_equal(text(&check, error_at(&check, 0)->kind), "B");
        wndl_check_free(&check);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_errors_and_stacks),
        cmocka_unit_test(keeps_the_child_apart),
        cmocka_unit_test(reads_a_file_that_ends_anywhere),
        cmocka_unit_test(counts_what_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
