/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "dbg/dwarf/internal.h"

enum { SPACE = 64, RANGES = 100, ROUNDS = 3000 };

/* Small pseudo-random numbers, the same in every run. */
static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void fill(struct wndl_vec *ranges, uint32_t *seed)
{
    ranges->len = 0;
    size_t count = next_random(seed) % RANGES;
    uint32_t longest = 1 + next_random(seed) % SPACE;
    for (uint32_t id = 0; id < count; id++) {
        uint64_t start = next_random(seed) % SPACE;
        uint64_t size = 1 + next_random(seed) % longest;
        struct wndl_dw_range *r = wndl_vec_push(ranges);
        assert_non_null(r);
        *r = (struct wndl_dw_range){start, start + size, id};
    }
}

/* The owner of `address` by asking every range, or -1. */
static int64_t owner_of(
    const struct wndl_vec *ranges, uint64_t address, bool first_wins)
{
    int64_t owner = -1;
    for (size_t i = 0; i < ranges->len; i++) {
        const struct wndl_dw_range *r = wndl_vec_at(ranges, i);
        bool holds = r->start <= address && address < r->end;
        bool better = owner < 0 || (first_wins ? r->id < owner : r->id > owner);
        if (holds && better)
            owner = r->id;
    }
    return owner;
}

static void check_against_painting(struct wndl_dwarf *d, bool first_wins)
{
    struct wndl_dw_cover cover;
    assert_int_equal(
        wndl_dw_make_cover(d, &d->ranges, first_wins, &cover), WNDL_OK);
    for (size_t i = 1; i < cover.count; i++)
        assert_true(cover.segments[i - 1].end <= cover.segments[i].start);
    for (uint64_t a = 0; a <= 2 * SPACE; a++) {
        const struct wndl_dw_range *s = wndl_dw_cover_find(&cover, a);
        int64_t found = s == NULL ? -1 : (int64_t)s->id;
        assert_int_equal(found, owner_of(&d->ranges, a, first_wins));
    }
}

static void every_address_has_the_owner_that_painting_gives(void **state)
{
    (void)state;
    struct wndl_dwarf d = {0};
    uint32_t seed = 1;
    wndl_arena_init(&d.own_arena, wndl_mem_libc());
    wndl_vec_init(&d.ranges, &d.own_arena, sizeof(struct wndl_dw_range));
    wndl_vec_init(&d.segments, &d.own_arena, sizeof(struct wndl_dw_range));
    wndl_vec_init(&d.heap, &d.own_arena, sizeof(uint32_t));
    for (int round = 0; round < ROUNDS; round++) {
        fill(&d.ranges, &seed);
        check_against_painting(&d, round % 2 == 0);
    }
    wndl_arena_free(&d.own_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_address_has_the_owner_that_painting_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
