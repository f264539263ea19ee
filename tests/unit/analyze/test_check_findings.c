/* SPDX-License-Identifier: MIT */
/* analyze/check/findings.h: which errors are one, their order, whose they are,
 * and what a baseline knows of them. */
#include "analyze/check/findings.h"

#include "testlib.h"

#include <string.h>

/* A check that is filled error by error. */
struct made {
    struct wndl_check check;
    struct wndl_arena arena;
    struct wndl_finding_list list;
};

static void begin(struct made *m)
{
    static const char *const none[] = {NULL};
    assert_true(wndl_check_init(&m->check, wndl_mem_libc()));
    wndl_arena_init(&m->arena, wndl_mem_libc());
    m->list = (struct wndl_finding_list){.check = &m->check, .notes = none};
    wndl_vec_init(&m->list.known, &m->arena, sizeof(struct wndl_known_finding));
}

static void end(struct made *m)
{
    wndl_arena_free(&m->arena);
    wndl_check_free(&m->check);
}

static uint32_t id(struct made *m, const char *text)
{
    uint32_t number;
    assert_true(wndl_intern_add(&m->check.texts,
        (struct wndl_bytes){(const uint8_t *)text, strlen(text)}, &number));
    return number;
}

static void add_frame(
    struct made *m, const char *function, const char *module, uint64_t line)
{
    struct wndl_check_frame *f = wndl_vec_push(&m->check.frames);
    struct wndl_check_stack *s =
        wndl_vec_at(&m->check.stacks, m->check.stacks.len - 1);
    *f = (struct wndl_check_frame){
        .function = id(m, function), .module = id(m, module), .line = line};
    s->count++;
}

static void add_stack(
    struct made *m, const char *function, const char *module, uint64_t line)
{
    struct wndl_check_error *e =
        wndl_vec_at(&m->check.errors, m->check.errors.len - 1);
    struct wndl_check_stack *s = wndl_vec_push(&m->check.stacks);
    s->first = (uint32_t)m->check.frames.len;
    e->stacks++;
    add_frame(m, function, module, line);
}

static void add_error(struct made *m, const char *kind, const char *function,
    const char *module, uint64_t line)
{
    struct wndl_check_error *e = wndl_vec_push(&m->check.errors);
    *e = (struct wndl_check_error){.kind = id(m, kind),
        .first = (uint32_t)m->check.stacks.len,
        .times = 1};
    add_stack(m, function, module, line);
}

static const struct wndl_finding *finding(const struct made *m, size_t index)
{
    assert_true(index < m->list.findings.len);
    return wndl_vec_at(&m->list.findings, index);
}

/* Lines tell errors of a function apart, and do not change their keys. */
static void keys_have_no_lines(void **state)
{
    (void)state;
    uint64_t keys[2][2];
    for (uint64_t moved = 0; moved < 2; moved++) {
        struct made m;
        begin(&m);
        for (int twice = 0; twice < 2; twice++) {
            add_error(&m, "InvalidRead", "f", "/src/a", 10 + 100 * moved);
            add_error(&m, "InvalidRead", "f", "/src/a", 20 + 100 * moved);
        }
        assert_true(wndl_findings_list(&m.list, NULL));
        assert_int_equal(m.list.findings.len, 2);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(finding(&m, i)->times, 2);
            keys[moved][i] = finding(&m, i)->key;
        }
        assert_true(keys[moved][0] != keys[moved][1]);
        end(&m);
    }
    assert_memory_equal(keys[0], keys[1], sizeof keys[0]);
}

static void a_race_is_one_in_either_order(void **state)
{
    (void)state;
    struct made m;
    begin(&m);
    for (int turn = 0; turn < 2; turn++) {
        add_error(&m, "Race", turn == 0 ? "f" : "g", "/src/a", 1);
        add_stack(&m, turn == 0 ? "g" : "f", "/src/a", 1);
    }
    ((struct wndl_check_error *)wndl_vec_at(&m.check.errors, 1))->run = 1;
    add_error(&m, "Race", "f", "/src/a", 1);
    add_stack(&m, "h", "/src/a", 1);
    assert_true(wndl_findings_list(&m.list, NULL));
    assert_int_equal(m.list.findings.len, 2);
    assert_int_equal(finding(&m, 0)->runs, 2);
    assert_int_equal(finding(&m, 1)->runs, 1);
    end(&m);
}

static void the_worst_comes_first_and_the_foreign_last(void **state)
{
    (void)state;
    static const char library[] = "/usr/lib/x86_64-linux-gnu/libgtk-3.so.0";
    static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
    struct made m;
    begin(&m);
    add_error(&m, "InvalidWrite", "draw", library, 1);
    add_frame(&m, "main", "/src/a", 1);
    add_error(&m, "Leak_DefinitelyLost", "f", "/src/a", 1);
    add_error(&m, "LockOrder", "f", "/src/a", 1);
    add_error(&m, "UninitCondition", "f", "/src/a", 1);
    add_error(&m, "InvalidRead", "memcpy", libc, 1);
    add_frame(&m, "main", "/src/a", 7);
    add_error(&m, "InvalidRead", "run", "/usr/bin/program", 1);
    assert_true(wndl_findings_list(&m.list, "/usr/bin/program"));
    static const enum wndl_finding_group groups[] = {WNDL_FINDING_MEMORY,
        WNDL_FINDING_MEMORY, WNDL_FINDING_MEMORY, WNDL_FINDING_ORDER,
        WNDL_FINDING_LEAK, WNDL_FINDING_FOREIGN};
    assert_int_equal(m.list.findings.len, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(finding(&m, i)->group, groups[i]);
    assert_int_equal(m.list.kinds.len, 5);
    end(&m);
}

static void a_baseline_knows_errors_by_their_keys(void **state)
{
    (void)state;
    struct made m;
    begin(&m);
    add_error(&m, "InvalidRead", "f", "/src/a", 1);
    add_error(&m, "InvalidRead", "g", "/src/a", 1);
    assert_true(wndl_findings_list(&m.list, NULL));
    assert_int_equal(wndl_finding_new_count(&m.list), 2);
    struct wndl_known_finding *known = wndl_vec_push(&m.list.known);
    known->key = finding(&m, 0)->key;
    known = wndl_vec_push(&m.list.known);
    known->key = 1;
    assert_true(wndl_findings_list(&m.list, NULL));
    assert_int_equal(wndl_finding_new_count(&m.list), 1);
    assert_int_equal(wndl_finding_gone_count(&m.list), 1);
    assert_false(finding(&m, 0)->is_new);
    end(&m);
}

/* A run that was made again for more detail adds detail only. */
static void a_repeated_run_counts_nothing(void **state)
{
    (void)state;
    struct made m;
    begin(&m);
    add_error(&m, "UninitValue", "f", "/src/a", 1);
    add_error(&m, "UninitValue", "f", "/src/a", 1);
    add_stack(&m, "g", "/src/a", 1);
    ((struct wndl_check_error *)wndl_vec_at(&m.check.errors, 1))->is_repeat =
        true;
    assert_true(wndl_findings_list(&m.list, NULL));
    assert_int_equal(m.list.findings.len, 1);
    assert_int_equal(finding(&m, 0)->times, 1);
    assert_int_equal(finding(&m, 0)->runs, 1);
    assert_int_equal(finding(&m, 0)->error, 1);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_no_lines),
        cmocka_unit_test(a_race_is_one_in_either_order),
        cmocka_unit_test(the_worst_comes_first_and_the_foreign_last),
        cmocka_unit_test(a_baseline_knows_errors_by_their_keys),
        cmocka_unit_test(a_repeated_run_counts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
