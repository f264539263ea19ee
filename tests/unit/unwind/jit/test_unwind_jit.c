/* SPDX-License-Identifier: MIT */
/* Registries of generated code, and walks through what is registered. */
#include "jit_fixture.h"

#include "unwind/core/arch.h"
#include "unwind/jit/registry.h"
#include "unwind/jit/remote.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- errors; code at addresses where there is none ---- */

static void code_is_registered_once_and_as_far_as_there_is_room(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(3);
    assert_int_equal(add(jit, 0x10000, 0x100), WNDL_OK);
    assert_int_equal(add(jit, 0x10000, 0x100), WNDL_MALFORMED);
    assert_int_equal(add(jit, 0x100ff, 0x10), WNDL_MALFORMED);
    assert_int_equal(add(jit, 0xfff0, 0x11), WNDL_MALFORMED);
    assert_int_equal(add(jit, 0x10100, 0x10), WNDL_OK);
    assert_int_equal(add(jit, 0xfff0, 0x10), WNDL_OK);
    assert_int_equal(add(jit, 0x20000, 0x10), WNDL_LIMIT);
    assert_int_equal(wndl_jit_remove(jit, 0x10001, 0xff), WNDL_NOT_FOUND);
    assert_int_equal(wndl_jit_remove(jit, 0x10000, 1), WNDL_OK);
    const struct wndl_jit_code two[] = {
        {0x20000, 0x10, &plain, 1}, {0x30000, 0x10, &plain, 1}};
    assert_int_equal(wndl_jit_add(jit, two, 2), WNDL_LIMIT); /* both or none */
    assert_int_equal(add(jit, 0x20000, 0x10), WNDL_OK);
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_OK);
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    free(jit);
}

static void rules_are_as_the_header_says(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const struct wndl_jit_rule wrong[][2] = {
        {{.offset = 1, .cfa = 16}, {.offset = 2, .cfa = 16}},
        {{.cfa = 16}, {.offset = 0, .cfa = 16}},
        {{.cfa = 16}, {.offset = 16, .cfa = 16}},
        {{.cfa = WNDL_WORD - 1}, {.offset = 1, .cfa = 16}},
        {{.cfa = 16, .flags = 4}, {.offset = 1, .cfa = 16}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct wndl_jit_code code = {0x10000, 16, wrong[i], 2};
        assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_MALFORMED);
    }
    const struct wndl_jit_code bad[] = {
        {0x10000, 0, &plain, 1},
        {0x10000, 16, &plain, 0},
        {UINT64_MAX - 1, 16, &plain, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(wndl_jit_add(jit, &bad[i], 1), WNDL_MALFORMED);
    assert_int_equal(wndl_jit_remove(jit, 0, UINT64_MAX), WNDL_NOT_FOUND);
    free(jit);
}

/* ---- any changes, beside an array of what should be there ---- */

enum { CELLS = 300, CELL = 16, BASE = 0x10000 };

static bool cells[CELLS];

static bool are_free(const struct wndl_jit_code *codes, size_t count)
{
    bool taken[CELLS] = {false};
    for (size_t i = 0; i < count; i++)
        for (uint64_t at = codes[i].start; at < codes[i].start + codes[i].size;
             at += CELL) {
            size_t cell = (at - BASE) / CELL;
            if (cells[cell] || taken[cell])
                return false;
            taken[cell] = true;
        }
    return true;
}

static void take_or_free(uint64_t start, uint64_t size, bool taken)
{
    for (uint64_t at = start; at < start + size; at += CELL)
        cells[(at - BASE) / CELL] = taken;
}

static void add_some(struct wndl_jit *jit)
{
    struct wndl_jit_code codes[4];
    size_t count = 1 + (size_t)(rand() % 4);
    for (size_t i = 0; i < count; i++)
        codes[i] = (struct wndl_jit_code){
            BASE + CELL * (uint64_t)(rand() % CELLS), CELL, &plain, 1};
    bool expected = are_free(codes, count);
    assert_int_equal(wndl_jit_add(jit, codes, count) == WNDL_OK, expected);
    for (size_t i = 0; i < count && expected; i++)
        take_or_free(codes[i].start, CELL, true);
}

static void remove_some(struct wndl_jit *jit)
{
    size_t first = (size_t)(rand() % CELLS), count = (size_t)(rand() % 8);
    if (first + count > CELLS)
        count = CELLS - first;
    bool expected = false;
    for (size_t i = first; i < first + count; i++)
        expected |= cells[i];
    enum wndl_status status =
        wndl_jit_remove(jit, BASE + first * CELL, count * CELL);
    assert_int_equal(status, expected ? WNDL_OK : WNDL_NOT_FOUND);
    take_or_free(BASE + first * CELL, count * CELL, false);
}

static void any_changes_leave_what_they_say(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(CELLS);
    srand(1);
    for (int round = 0; round < 5000; round++) {
        if (rand() % 3 != 0)
            add_some(jit);
        else
            remove_some(jit);
        for (size_t i = 0; i < CELLS; i += 1 + (size_t)(rand() % 9))
            assert_int_equal(
                wndl_jit_covers(jit, BASE + i * CELL + 7), cells[i]);
    }
    assert_false(wndl_jit_covers(jit, BASE - 1));
    assert_false(wndl_jit_covers(jit, BASE + CELLS * CELL));
    free(jit);
}

#if defined(__x86_64__)

/* ---- walks through code without a frame pointer ---- */

static void rules_lead_through_generated_code(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const struct wndl_jit_code code = code_here();
    passes(NULL, false);
    passes(jit, false);
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    passes(jit, true);
    passes(NULL, false);
    assert_int_equal(wndl_jit_remove(jit, code.start, 1), WNDL_OK);
    passes(jit, false);
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    passes(jit, true);
    free(jit);
}

/* The walk from each instruction, over a stack that is as it is then. */
static void each_offset_has_its_rule(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM);
    const struct wndl_jit_code code = code_here();
    const struct wndl_jit_rule root = {.cfa = 8, .flags = WNDL_JIT_OUTERMOST};
    const struct wndl_jit_code caller = {(uintptr_t)page + 100, 10, &root, 1};
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    assert_int_equal(wndl_jit_add(jit, &caller, 1), WNDL_OK);
    const unsigned words_below[] = {
        0, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 0};
    for (size_t offset = 0; offset < sizeof generated; offset++) {
        uint64_t stack[16] = {0};
        stack[8] = caller.start + 5;
        const struct wndl_stack_range range = {
            (uintptr_t)stack, (uintptr_t)(stack + 16)};
        const struct wndl_regs regs = {.ip = code.start + offset,
            .sp = (uintptr_t)&stack[8 - words_below[offset]],
            .valid = WNDL_REG_IP | WNDL_REG_SP};
        here.walk = (struct wndl_walk){
            .frames = here.frames, .max_frames = MAX, .jit = jit};
        wndl_unwind_regs(here.unwinder, &regs, &range, 1, &here.walk);
        assert_int_equal(here.walk.count, 2);
        assert_int_equal(here.frames[1].address, caller.start + 5);
        assert_int_equal(here.walk.end, WNDL_END_COMPLETE);
    }
    free(jit);
}

static void registries_lead_to_others(void **state)
{
    (void)state;
    static struct cfi_build b;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    build_frames(&b);
    assert_int_equal(wndl_jit_add_frames(also, b.data, SIZE_MAX), WNDL_OK);
    passes(jit, false);
    wndl_jit_look_also(jit, also);
    passes(jit, true);
    assert_true(wndl_jit_covers(jit, (uintptr_t)page));
    wndl_jit_look_also(jit, NULL);
    passes(jit, false);
    free(also);
    free(jit);
}

/* A reader that the parent's other thread was does not hold up the child. */
static void forked_children_wait_for_nobody(void **state)
{
    (void)state;
    struct wndl_code code;
    struct wndl_jit_hold hold;
    struct wndl_jit *jit = new_jit(ROOM);
    assert_int_equal(add(jit, 0x10000, 16), WNDL_OK);
    assert_int_equal(wndl_jit_find(jit, 0x10000, &code, &hold), WNDL_CODE_ROW);
    wndl_jit_after_fork(jit);
    assert_int_equal(add(jit, 0x20000, 16), WNDL_OK);
    assert_int_equal(wndl_jit_remove(jit, 0x10000, 1), WNDL_OK);
    assert_false(wndl_jit_covers(jit, 0x10000));
    assert_true(wndl_jit_covers(jit, 0x20000));
    free(jit);
}

/* ---- as another process sees it ---- */

/* The first `left` reads succeed. */
static bool read_here(void *context, uint64_t address, void *to, size_t size)
{
    int *left = context;
    if (*left == 0)
        return false;
    (*left)--;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static bool is_same_rule(
    const struct wndl_cfi_rule *a, const struct wndl_cfi_rule *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

static void check_rows(struct wndl_jit *jit, uint64_t pc)
{
    struct wndl_code near, far;
    struct wndl_jit_hold hold;
    struct wndl_jit_copy copy;
    int reads = INT_MAX;
    const struct wndl_remote remote = {
        .read = read_here, .context = &reads, .jit = (uintptr_t)jit};
    enum wndl_code_kind kind = wndl_jit_find(jit, pc, &near, &hold);
    assert_int_equal(wndl_jit_remote_find(&remote, pc, &far, &copy), kind);
    assert_int_equal(
        wndl_jit_remote_covers(&remote, pc), kind != WNDL_CODE_NO_MODULE);
    if (kind == WNDL_CODE_NO_MODULE)
        return;
    wndl_jit_leave(&hold);
    assert_int_equal(near.start, far.start);
    assert_true(is_same_rule(&near.row.cfa, &far.row.cfa));
    for (int i = 0; i < WNDL_CFI_REGS; i++)
        assert_true(is_same_rule(&near.row.regs[i], &far.row.regs[i]));
}

static void fill(struct wndl_jit *jit, struct wndl_jit *also)
{
    static struct cfi_build b;
    const struct wndl_jit_code code = {0x10000, sizeof generated, rules, 5};
    build_frames(&b);
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
    assert_int_equal(wndl_jit_add_frames(also, b.data, SIZE_MAX), WNDL_OK);
    wndl_jit_look_also(jit, also);
}

static void registries_read_from_outside_say_the_same(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    fill(jit, also);
    for (uint64_t i = 0; i <= sizeof generated; i++) {
        check_rows(jit, 0x10000 + i);
        check_rows(jit, (uintptr_t)page + i);
    }
    check_rows(jit, 0xffff);
    free(also);
    free(jit);
}

/* Whichever read fails, there is no row. */
static void what_cannot_be_read_is_not_found(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    int left = INT_MAX;
    struct wndl_code code;
    struct wndl_jit_copy copy;
    const struct wndl_remote remote = {
        .read = read_here, .context = &left, .jit = (uintptr_t)jit};
    fill(jit, also);
    assert_int_equal(
        wndl_jit_remote_find(&remote, (uintptr_t)page, &code, &copy),
        WNDL_CODE_ROW);
    const int needed = INT_MAX - left;
    for (int i = 0; i < needed; i++) {
        left = i;
        assert_int_not_equal(
            wndl_jit_remote_find(&remote, (uintptr_t)page, &code, &copy),
            WNDL_CODE_ROW);
    }
    free(also);
    free(jit);
}

static void changes_are_seen_from_outside(void **state)
{
    (void)state;
    struct wndl_jit *jit = new_jit(ROOM), *also = new_jit(ROOM);
    int reads = INT_MAX;
    const struct wndl_remote remote = {
        .read = read_here, .context = &reads, .jit = (uintptr_t)jit};
    fill(jit, also);
    uint64_t before = wndl_jit_remote_changes(&remote);
    assert_int_equal(wndl_jit_remote_changes(&remote), before);
    assert_int_equal(wndl_jit_remove(also, 0, UINT64_MAX), WNDL_OK);
    assert_int_not_equal(wndl_jit_remote_changes(&remote), before);
    free(also);
    free(jit);
}

/* ---- threads and signals ---- */

enum { WALKS = 300, CHANGERS = 2, PIECES = 16 };

static struct {
    struct wndl_jit *jit;
    struct walking walking;
    _Atomic int walks, complete;
    _Atomic bool over;
} storm;

static void on_signal(int number)
{
    (void)number;
    struct walking *w = &storm.walking;
    w->walk = (struct wndl_walk){
        .frames = w->frames, .max_frames = MAX, .jit = storm.jit};
    wndl_unwind_self(w->unwinder, &w->range, &w->walk);
    atomic_fetch_add(&storm.complete, w->walk.end == WNDL_END_COMPLETE);
    atomic_fetch_add(&storm.walks, 1);
}

static long be_interrupted(void *unused)
{
    (void)unused;
    while (!atomic_load(&storm.over))
        usleep(1);
    return 0;
}

static void *run_generated(void *unused)
{
    generated_code *code;
    memcpy(&code, &page, sizeof code);
    begin(&storm.walking);
    signal(SIGUSR1, on_signal);
    atomic_store(&storm.walks, 0);
    code(be_interrupted, unused);
    return NULL;
}

/* Adds pieces of code on both sides of the one that runs, removes them, and
 * spoils the rules of what has been removed. */
static void *change(void *number)
{
    uint64_t at = 0x10000 + (uintptr_t)number * 0x10000;
    at += (uintptr_t)number == 0 ? 0 : UINT64_C(0x7fff00000000);
    while (!atomic_load(&storm.over)) {
        struct wndl_jit_rule *rule = malloc(sizeof *rule);
        *rule = plain;
        struct wndl_jit_code codes[PIECES];
        for (size_t i = 0; i < PIECES; i++)
            codes[i] = (struct wndl_jit_code){at + i * 16, 16, rule, 1};
        if (wndl_jit_add(storm.jit, codes, PIECES) != WNDL_OK ||
            wndl_jit_remove(storm.jit, at, PIECES * 16) != WNDL_OK)
            abort();
        memset(rule, 0xff, sizeof *rule);
        free(rule);
    }
    return NULL;
}

static void walks_in_signals_see_what_is_registered(void **state)
{
    (void)state;
    pthread_t runner, changers[CHANGERS];
    const struct wndl_jit_code code = code_here();
    storm.jit = new_jit(1 + CHANGERS * PIECES);
    atomic_store(&storm.walks, -1);
    assert_int_equal(wndl_jit_add(storm.jit, &code, 1), WNDL_OK);
    pthread_create(&runner, NULL, run_generated, NULL);
    for (uintptr_t i = 0; i < CHANGERS; i++)
        pthread_create(&changers[i], NULL, change, (void *)i);
    while (atomic_load(&storm.walks) < 0)
        usleep(100);
    for (int sent = 1; sent <= WALKS; sent++) {
        pthread_kill(runner, SIGUSR1);
        while (atomic_load(&storm.walks) < sent)
            usleep(10);
    }
    atomic_store(&storm.over, true);
    pthread_join(runner, NULL);
    for (int i = 0; i < CHANGERS; i++)
        pthread_join(changers[i], NULL);
    assert_int_equal(atomic_load(&storm.complete), WALKS);
    free(storm.walking.unwinder);
    free(storm.jit);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_registered_once_and_as_far_as_there_is_room),
        cmocka_unit_test(rules_are_as_the_header_says),
        cmocka_unit_test(any_changes_leave_what_they_say),
#if defined(__x86_64__)
        cmocka_unit_test(rules_lead_through_generated_code),
        cmocka_unit_test(each_offset_has_its_rule),
        cmocka_unit_test(registries_lead_to_others),
        cmocka_unit_test(forked_children_wait_for_nobody),
        cmocka_unit_test(registries_read_from_outside_say_the_same),
        cmocka_unit_test(what_cannot_be_read_is_not_found),
        cmocka_unit_test(changes_are_seen_from_outside),
        cmocka_unit_test(walks_in_signals_see_what_is_registered),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
