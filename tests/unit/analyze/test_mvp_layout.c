/* SPDX-License-Identifier: MIT */
/* analyze/vm/mvp_layout.h: what fields need, arrays, gaps, lost memory. */
#include "analyze/vm/mvp_layout.h"

#include "testlib.h"

enum { MOST = 8 };

/* Uses of blocks, and what is found. */
struct fixture {
    struct wndl_arena arena;
    struct wndl_mvp_use uses[MOST];
    const struct wndl_mvp_use *list[MOST];
    size_t count;
    const struct wndl_mvp_equal *equals[MOST];
    size_t equal_count;
    struct wndl_mvp_data data;
};

static struct fixture fixture_of(uint64_t blocks, uint64_t size)
{
    struct fixture f = {.data = {.blocks = blocks,
                            .bytes = blocks * size,
                            .size = size,
                            .text = "",
                            .type = ""}};
    wndl_arena_init(&f.arena, wndl_mem_libc());
    return f;
}

static struct wndl_mvp_use *add(
    struct fixture *f, enum wndl_mvp_use_kind kind, uint64_t low, uint32_t size)
{
    struct wndl_mvp_use *use = &f->uses[f->count];
    *use = (struct wndl_mvp_use){.kind = kind,
        .ip = 0x1000,
        .size = size,
        .count = 10,
        .low = low,
        .high = low};
    f->list[f->count++] = use;
    return use;
}

static struct wndl_mvp_use *add_read(
    struct fixture *f, uint64_t low, uint32_t size, uint64_t varying)
{
    struct wndl_mvp_use *use = add(f, WNDL_MVP_READ, low, size);
    use->varying = varying;
    return use;
}

static void find(struct fixture *f)
{
    const struct wndl_mvp_layout layout = {
        .arena = &f->arena,
        .uses = f->list,
        .use_count = f->count,
        .equals = f->equals,
        .equal_count = f->equal_count,
    };
    assert_int_equal(wndl_mvp_layout_find(&f->data, &layout), WNDL_OK);
}

static void judges_fields(void **state)
{
    (void)state;
    static const uint64_t values[] = {5, 7};
    struct fixture f = fixture_of(100, 40);
    add_read(&f, 0, 8, 0);
    add_read(&f, 8, 8, 0xfff8)->is_pointer = true;
    struct wndl_mvp_use *few = add_read(&f, 16, 8, 2);
    few->first = 5;
    few->values = values;
    few->value_count = 2;
    add_read(&f, 24, 4, 0xfff);
    struct wndl_mvp_use *negative = add_read(&f, 28, 4, UINT32_MAX);
    negative->signs = UINT64_C(0xffffff80);
    add_read(&f, 32, 8, UINT64_MAX)->signs = UINT64_C(1) << 63;
    find(&f);
    static const struct {
        enum wndl_mvp_waste waste;
        uint32_t needed;
    } wanted[] = {{WNDL_MVP_CONSTANT, 0}, {WNDL_MVP_POINTER, 8},
        {WNDL_MVP_FEW, 1}, {WNDL_MVP_NARROW, 2}, {WNDL_MVP_NARROW, 1},
        {WNDL_MVP_FULL, 8}};
    assert_int_equal(f.data.field_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(f.data.fields[i].waste, wanted[i].waste);
        assert_int_equal(f.data.fields[i].needed, wanted[i].needed);
    }
    assert_true(f.data.fields[4].is_signed);
    assert_int_equal(f.data.needed, 24); /* 8 + 1 + 2 + 1 + 8, aligned */
    assert_int_equal(f.data.saved, 1600);
    assert_int_equal(f.data.pointer_bits, 100 * (64 - 13));
    wndl_arena_free(&f.arena);
}

static void merges_reads_of_a_field(void **state)
{
    (void)state;
    struct fixture f = fixture_of(1, 8);
    add_read(&f, 0, 8, 0)->first = 1;
    add_read(&f, 0, 8, 0)->first = 4;
    find(&f);
    assert_int_equal(f.data.field_count, 1);
    assert_int_equal(f.data.fields[0].varying, 5);
    assert_int_equal(f.data.fields[0].loads, 20);
    assert_int_equal(f.data.fields[0].value_count, 2);
    wndl_arena_free(&f.arena);
}

static void keeps_fields_that_overlap(void **state)
{
    (void)state;
    struct fixture f = fixture_of(1, 8);
    add_read(&f, 0, 8, 0);
    add_read(&f, 4, 4, 0);
    find(&f);
    assert_int_equal(f.data.needed, 8);
    assert_int_equal(f.data.fields[0].waste, WNDL_MVP_FULL);
    wndl_arena_free(&f.arena);
}

static void finds_equal_fields(void **state)
{
    (void)state;
    const struct wndl_mvp_equal low = {0, 100, 8, 0}, high = {0, 100, 12, 4};
    struct fixture f = fixture_of(100, 16);
    add_read(&f, 0, 8, UINT64_MAX)->signs = UINT64_C(1) << 63;
    add_read(&f, 8, 8, UINT64_MAX)->signs = UINT64_C(1) << 63;
    f.equals[f.equal_count++] = &low;
    find(&f);
    assert_int_equal(f.data.fields[1].waste, WNDL_MVP_FULL); /* a half alone */
    f.data.gap_count = 0;
    f.data.loads = 0;
    f.equals[f.equal_count++] = &high;
    find(&f);
    assert_int_equal(f.data.fields[1].waste, WNDL_MVP_EQUAL);
    assert_int_equal(f.data.fields[1].same, 0);
    f.data.blocks = 101; /* one more than were compared */
    f.data.gap_count = 0;
    find(&f);
    assert_int_equal(f.data.fields[1].waste, WNDL_MVP_FULL);
    wndl_arena_free(&f.arena);
}

static void folds_arrays(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2, 120);
    struct wndl_mvp_use *a = add_read(&f, 0, 4, 1);
    a->step = 12;
    a->high = 108;
    struct wndl_mvp_use *b = add_read(&f, 4, 2, UINT16_MAX);
    b->step = 24; /* every other element */
    b->high = 100;
    find(&f);
    assert_true(f.data.is_array);
    assert_int_equal(f.data.size, 12);
    assert_int_equal(f.data.count, 20);
    assert_int_equal(f.data.field_count, 2);
    assert_int_equal(
        f.data.gap_count, 2); /* never written; nor read, 6 to 11 */
    assert_true(f.data.gaps[1].is_unread);
    assert_int_equal(f.data.gaps[1].start, 6);
    assert_int_equal(f.data.gaps[1].end, 12);
    wndl_arena_free(&f.arena);
}

static void survives_odd_uses(void **state)
{
    (void)state;
    struct fixture f = fixture_of(1, 16);
    add(&f, WNDL_MVP_SKIM, UINT64_MAX - 4096, 4096);
    add(&f, WNDL_MVP_WRITE, 15, 8);
    struct wndl_mvp_use *use = add(&f, WNDL_MVP_SKIM, 3, 2);
    use->step = UINT64_MAX - 64;
    use->high = UINT64_MAX - 61;
    find(&f);
    assert_int_equal(f.data.field_count, 0);
    wndl_arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_fields),
        cmocka_unit_test(merges_reads_of_a_field),
        cmocka_unit_test(keeps_fields_that_overlap),
        cmocka_unit_test(finds_equal_fields),
        cmocka_unit_test(folds_arrays),
        cmocka_unit_test(survives_odd_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
