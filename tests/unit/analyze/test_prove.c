/* SPDX-License-Identifier: MIT */
/* analyze/prove: callers by what calls push and returns pop, and the parts of
 * functions in which instructions are counted. */
#include "analyze/prove/tally.h"
#include "testlib.h"

#include <stdio.h>

enum { STACK = 0x7000, CODE = 0x400000, CALL_SIZE = 5 };

struct bench {
    struct wndl_arena arena;
    struct wndl_shadow shadow;
    struct wndl_proof_tally tally;
    uint64_t ip, sp;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){.ip = CODE, .sp = STACK};
    wndl_arena_init(&b->arena, wndl_mem_libc());
    assert_true(wndl_shadow_init(&b->shadow, &b->arena));
    b->shadow.gone = wndl_proof_gone;
    b->shadow.context = &b->tally;
}

static void tear_down(struct bench *b)
{
    wndl_arena_free(&b->arena);
}

static enum wndl_shadow_event run(
    struct bench *b, enum wndl_shadow_kind kind, uint64_t ip, uint64_t sp)
{
    const struct wndl_shadow_step step = {
        .kind = (uint8_t)kind,
        .size = CALL_SIZE,
        .ip = b->ip,
        .sp = b->sp,
        .fp = 0xf0,
        .bx = 0xb0,
        .next_ip = ip,
        .next_sp = sp,
        .word = b->ip + CALL_SIZE,
    };
    b->ip = ip;
    b->sp = sp;
    return wndl_shadow_take(&b->shadow, &step);
}

static enum wndl_shadow_event call(struct bench *b)
{
    return run(b, WNDL_SHADOW_CALL, b->ip + 0x1000, b->sp - 8);
}

static enum wndl_shadow_event move_sp(struct bench *b, int64_t by)
{
    return run(b, WNDL_SHADOW_OTHER, b->ip + 4, b->sp + (uint64_t)by);
}

static enum wndl_shadow_event return_to(struct bench *b, uint64_t ip)
{
    return run(b, WNDL_SHADOW_RETURN, ip, b->sp + 8);
}

/* ---- the shadow */

static void calls_are_known_until_they_return(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    assert_null(wndl_shadow_top(&b.shadow));
    assert_int_equal(call(&b), WNDL_SHADOW_CALLED);
    const uint64_t first = wndl_shadow_top(&b.shadow)->ra;
    assert_int_equal(first, CODE + CALL_SIZE);
    assert_int_equal(wndl_shadow_top(&b.shadow)->slot, STACK - 8);
    assert_true(wndl_shadow_top(&b.shadow)->knows);
    assert_int_equal(wndl_shadow_top(&b.shadow)->fp, 0xf0);
    assert_int_equal(wndl_shadow_top(&b.shadow)->bx, 0xb0);
    assert_int_equal(move_sp(&b, -40), WNDL_SHADOW_SAME);
    assert_int_equal(call(&b), WNDL_SHADOW_CALLED);
    assert_int_equal(b.shadow.count, 2);
    assert_int_equal(
        return_to(&b, wndl_shadow_top(&b.shadow)->ra), WNDL_SHADOW_RETURNED);
    assert_int_equal(move_sp(&b, 40), WNDL_SHADOW_SAME);
    assert_int_equal(return_to(&b, first), WNDL_SHADOW_RETURNED);
    assert_null(wndl_shadow_top(&b.shadow));
    /* The callers of the function that it began in are not known. */
    assert_int_equal(return_to(&b, 0x1234), WNDL_SHADOW_SAME);
    tear_down(&b);
}

static void a_jump_by_a_pushed_address_is_no_return(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    call(&b);
    move_sp(&b, -8);
    assert_int_equal(return_to(&b, 0x5555), WNDL_SHADOW_SAME);
    assert_int_equal(b.shadow.count, 1);
    tear_down(&b);
}

static void frames_that_are_left_at_once_are_dropped(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    for (int i = 0; i < 3; i++)
        call(&b);
    assert_int_equal(move_sp(&b, 16), WNDL_SHADOW_DROPPED);
    assert_int_equal(b.shadow.count, 1);
    tear_down(&b);
}

static void what_fits_no_call_loses_all(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    call(&b);
    assert_int_equal(return_to(&b, 0x99), WNDL_SHADOW_LOST);
    assert_int_equal(b.shadow.count, 0);
    call(&b);
    assert_int_equal(move_sp(&b, -(4 << 20)), WNDL_SHADOW_LOST);
    assert_int_equal(b.shadow.count, 0);
    call(&b);
    assert_int_equal(run(&b, WNDL_SHADOW_CALL, 1, b.sp - 16), WNDL_SHADOW_LOST);
    assert_int_equal(b.shadow.count, 0);
    tear_down(&b);
}

static void too_many_calls_are_all_forgotten(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    b.sp = 1 << 30;
    for (int i = 0; i < WNDL_SHADOW_DEPTH; i++)
        assert_int_equal(call(&b), WNDL_SHADOW_CALLED);
    assert_int_equal(call(&b), WNDL_SHADOW_LOST);
    assert_int_equal(b.shadow.count, 0);
    tear_down(&b);
}

/* ---- the tally */

static void take(struct bench *b, int count, bool in_plt)
{
    for (int i = 0; i < count; i++)
        wndl_proof_take(&b->tally, wndl_shadow_top(&b->shadow),
            wndl_proof_note(WNDL_PROOF_CODE, WNDL_PROOF_RIGHT, in_plt));
}

static void assert_parts(const struct bench *b, const char *wanted)
{
    char text[80];
    uint64_t n[WNDL_PROOF_PARTS];
    for (unsigned i = 0; i < WNDL_PROOF_PARTS; i++)
        n[i] = wndl_proof_count(&b->tally, WNDL_PROOF_CODE,
            (enum wndl_proof_part)i, WNDL_PROOF_RIGHT);
    (void)snprintf(text, sizeof text, "%d %d %d %d", (int)n[0], (int)n[1],
        (int)n[2], (int)n[3]);
    assert_string_equal(text, wanted);
}

static void a_function_has_a_prologue_a_body_and_an_epilogue(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    call(&b);
    take(&b, 20, false);
    return_to(&b, wndl_shadow_top(&b.shadow)->ra);
    assert_parts(&b, "8 4 8 0");
    call(&b);
    take(&b, 10, false);
    return_to(&b, wndl_shadow_top(&b.shadow)->ra);
    assert_parts(&b, "16 4 10 0");
    call(&b);
    take(&b, 3, false);
    return_to(&b, wndl_shadow_top(&b.shadow)->ra);
    assert_parts(&b, "19 4 10 0");
    tear_down(&b);
}

static void without_a_return_there_is_no_epilogue(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    call(&b);
    take(&b, 20, false);
    wndl_shadow_clear(&b.shadow);
    assert_parts(&b, "8 12 0 0");
    tear_down(&b);
}

static void callees_do_not_count_for_their_caller(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    call(&b);
    take(&b, 9, false);
    call(&b);
    take(&b, 2, true);
    wndl_proof_take(&b.tally, wndl_shadow_top(&b.shadow), 0);
    return_to(&b, wndl_shadow_top(&b.shadow)->ra);
    take(&b, 1, false);
    wndl_shadow_clear(&b.shadow);
    assert_parts(&b, "8 2 0 2");
    tear_down(&b);
}

static void verdicts_are_counted_by_source(void **state)
{
    (void)state;
    struct bench b;
    set_up(&b);
    call(&b);
    for (unsigned s = 0; s < WNDL_PROOF_SOURCES; s++)
        for (unsigned v = 0; v < WNDL_PROOF_VERDICTS; v++)
            for (unsigned i = 0; i <= s + v; i++)
                wndl_proof_take(&b.tally, wndl_shadow_top(&b.shadow),
                    wndl_proof_note((enum wndl_proof_source)s,
                        (enum wndl_proof_verdict)v, false));
    wndl_shadow_clear(&b.shadow);
    for (unsigned s = 0; s < WNDL_PROOF_SOURCES; s++)
        for (unsigned v = 0; v < WNDL_PROOF_VERDICTS; v++)
            assert_int_equal(
                wndl_proof_count(&b.tally, (enum wndl_proof_source)s,
                    WNDL_PROOF_PARTS, (enum wndl_proof_verdict)v),
                s + v + 1);
    assert_int_equal(wndl_proof_count(&b.tally, WNDL_PROOF_SOURCES,
                         WNDL_PROOF_PARTS, WNDL_PROOF_WRONG),
        2 + 3 + 4 + 5);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_known_until_they_return),
        cmocka_unit_test(a_jump_by_a_pushed_address_is_no_return),
        cmocka_unit_test(frames_that_are_left_at_once_are_dropped),
        cmocka_unit_test(what_fits_no_call_loses_all),
        cmocka_unit_test(too_many_calls_are_all_forgotten),
        cmocka_unit_test(a_function_has_a_prologue_a_body_and_an_epilogue),
        cmocka_unit_test(without_a_return_there_is_no_epilogue),
        cmocka_unit_test(callees_do_not_count_for_their_caller),
        cmocka_unit_test(verdicts_are_counted_by_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
