/* SPDX-License-Identifier: MIT */
/* Recordings that are damaged, cut, of a later version or too large. */
#include "read_recipe.h"

#include "rec/chunk.h"
#include "wndl/read.h"

#include <string.h>

/* What a process, an image, a thread and three samples look like when the
 * chunk written by `line` of this recipe is damaged. */
static void read_with_damage(const char *after, struct wndl_profile *p)
{
    static const char *const lines[] = {
        "meta 1 1 0 h / c",
        "process 0 1 /bin/a a",
        "image /bin/a -",
        "thread 0 1 a",
        "sample 0 2 0 0:10",
        "sample 0 1 0 0:10 0:20",
        "process 1 2 /bin/b b",
        "thread 1 2 b",
        "sample 1 4 0 0:10",
    };
    char recipe[1024] = "";
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        strcat(strcat(recipe, lines[i]), "\n");
        if (strcmp(lines[i], after) == 0)
            strcat(recipe, "flip 5\n"); /* the payload's last byte */
    }
    read_recipe(recipe, p);
}

static void damaged_process_loses_what_is_in_it_alone(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_with_damage("process 0 1 /bin/a a", &p);
    assert_int_equal(p.processes.len, 1);
    assert_int_equal(p.samples.len, 4);
    assert_int_equal(p.lost[WNDL_LOST_DAMAGED], 3);
    const struct wndl_process *left = wndl_vec_at(&p.processes, 0);
    assert_int_equal(left->pid, 2);
    assert_int_equal(left->parent, WNDL_NO_INDEX);
    wndl_profile_free(&p);
}

static void damaged_thread_loses_its_samples(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_with_damage("thread 0 1 a", &p);
    assert_int_equal(p.samples.len, 4);
    assert_int_equal(p.lost[WNDL_LOST_DAMAGED], 3);
    /* The thread's own chunk, and two of samples. */
    assert_int_equal(p.chunks_damaged, 3);
    wndl_profile_free(&p);
}

static void damaged_image_loses_the_stacks_through_it(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_with_damage("image /bin/a -", &p);
    assert_int_equal(p.samples.len, 0);
    assert_int_equal(p.lost[WNDL_LOST_DAMAGED], 7);
    assert_int_equal(p.chunks_damaged, 1);
    wndl_profile_free(&p);
}

static void damaged_samples_leave_the_others(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_with_damage("sample 0 2 0 0:10", &p);
    assert_int_equal(p.samples.len, 5);
    assert_int_equal(p.chunks_damaged, 1);
    wndl_profile_free(&p);
}

struct damage {
    struct wndl_bytes whole;
    size_t samples;
};

/* Reads bytes that may be anything; what comes out must hang together. */
static void read_anything(struct wndl_bytes bytes, struct damage *d)
{
    struct wndl_profile p;
    struct wndl_error err = {0};
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    if (wndl_reader_read(&p, bytes, &err) != WNDL_OK)
        assert_string_not_equal(err.what, "");
    for (size_t i = 0; i < p.samples.len; i++) {
        char text[256];
        assert_true(sample_at(&p, i)->node < p.nodes.len);
        assert_true(sample_at(&p, i)->thread < p.threads.len);
        spell_stack(&p, sample_at(&p, i)->node, text, sizeof text);
    }
    for (size_t i = 0; i < p.blocks.len; i++) {
        char text[256];
        assert_true(block_at(&p, i)->thread < p.threads.len);
        spell_stack(&p, block_at(&p, i)->node, text, sizeof text);
    }
    for (size_t i = 0; i < p.marks.len; i++) {
        const struct wndl_mark *mark = wndl_vec_at(&p.marks, i);
        assert_true(mark->thread < p.threads.len);
    }
    d->samples = p.samples.len + p.blocks.len;
    wndl_profile_free(&p);
}

static void read_prefix(struct wndl_bytes prefix, void *context)
{
    struct damage *d = context;
    size_t before = d->samples;
    read_anything(prefix, d);
    assert_true(d->samples >= before);
}

static void cut_recording_keeps_all_before_the_cut(void **state)
{
    (void)state;
    static const char *const recipes[] = {golden, golden_11};
    static const size_t samples[] = {5, 2 + 4};
    for (size_t i = 0; i < 2; i++) {
        struct wndl_buf file = cook(recipes[i]);
        struct damage d = {content(&file), 0};
        for_each_truncation(content(&file), read_prefix, &d);
        assert_int_equal(d.samples, samples[i]);
        wndl_buf_free(&file);
    }
}

static void flip_every_bit(const char *recipe)
{
    struct wndl_buf file = cook(recipe);
    for (size_t i = 0; i < file.size * 8; i++) {
        struct damage d = {content(&file), 0};
        file.data[i / 8] ^= (uint8_t)(1 << i % 8);
        read_anything(content(&file), &d);
        file.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    wndl_buf_free(&file);
}

static void any_flipped_bit_is_survived(void **state)
{
    (void)state;
    flip_every_bit(golden);
    flip_every_bit(golden_11);
}

/* The payload of each chunk cut short by `cut` bytes, with a right CRC. */
static struct wndl_buf shorten_chunks(struct wndl_bytes whole, size_t cut)
{
    struct wndl_chunk_reader reader;
    struct wndl_chunk chunk;
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    wndl_chunk_file_header(&file);
    assert_int_equal(wndl_chunk_reader_init(&reader, whole, NULL), WNDL_OK);
    while (wndl_chunk_next(&reader, &chunk)) {
        struct wndl_chunk_writer w;
        size_t size = chunk.payload.size;
        wndl_chunk_begin(&w, &file, chunk.type);
        wndl_buf_add(&file, chunk.payload.data, size > cut ? size - cut : 0);
        assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
    }
    return file;
}

static void chunks_that_are_too_short_are_survived(void **state)
{
    (void)state;
    struct wndl_buf file = cook(golden_11);
    for (size_t cut = 1; cut < 60; cut++) {
        struct wndl_buf shorter = shorten_chunks(content(&file), cut);
        struct damage d = {content(&shorter), 0};
        read_anything(content(&shorter), &d);
        wndl_buf_free(&shorter);
    }
    wndl_buf_free(&file);
}

/* Chunks that are whole but wrong: `numbers` are the ulebs of one. */
static uint32_t damage_of_chunk(
    uint32_t type, const uint64_t *numbers, size_t count)
{
    struct wndl_buf file = cook("meta 1 1 0 h / c\n"
                                "process 0 1 /bin/a a\n"
                                "image /bin/a -\n"
                                "thread 0 1 a\n"
                                "sample 0 1 0 0:10\n");
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, &file, type);
    for (size_t i = 0; i < count; i++)
        wndl_buf_uleb(&file, numbers[i]);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read(&p, content(&file), NULL), WNDL_OK);
    assert_int_equal(p.samples.len, 1);
    uint32_t damaged = p.chunks_damaged;
    assert_true(p.arena.taken < 256 * 1024);
    wndl_profile_free(&p);
    wndl_buf_free(&file);
    return damaged;
}

#define DAMAGE_OF(type, ...)                                                   \
    damage_of_chunk(WNDL_CHUNK_##type, (const uint64_t[]){__VA_ARGS__},        \
        sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void numbers_that_cannot_be_lose_their_chunk(void **state)
{
    (void)state;
    const uint64_t huge = UINT64_MAX;
    assert_int_equal(DAMAGE_OF(META, 0, 0, 0, 0, 0, 0, 0, 0, 0), 1); /* twice */
    assert_int_equal(DAMAGE_OF(PROC, 0, 0, 1, 0, 0, 0, 0), 1);       /* known */
    assert_int_equal(DAMAGE_OF(PROC, 1, 3, 1, 0, 0, 0, 0), 1); /* parent */
    assert_int_equal(DAMAGE_OF(PROC, huge - 1, 0, 1, 0, 0, 0, 0), 1);
    assert_int_equal(DAMAGE_OF(PROC, 1, 0, 1, 0, 0, huge), 1); /* text size */
    assert_int_equal(DAMAGE_OF(PCPU, 1, 0, 0), 1);
    assert_int_equal(DAMAGE_OF(PCPU, 0, huge), 1); /* cut */
    assert_int_equal(DAMAGE_OF(PEND, 1, 0, 1, 0), 1);
    assert_int_equal(DAMAGE_OF(PEND, 0, 0, 1, huge), 1);
    assert_int_equal(DAMAGE_OF(THRD, 1, 1, 1, 0, 0), 1); /* process */
    assert_int_equal(DAMAGE_OF(THRD, 0, 0, 2, 0, 0), 1); /* another tid */
    assert_int_equal(DAMAGE_OF(THRD, 0, huge, 2, 0, 0), 1);
    assert_int_equal(DAMAGE_OF(IMAG, 0, 0, 0), 1); /* known */
    assert_int_equal(DAMAGE_OF(IMAG, huge, 0, 0), 1);
    assert_int_equal(DAMAGE_OF(MMAP, 0, 1, 0, 0, 1, 0), 1); /* image */
    assert_int_equal(DAMAGE_OF(MMAP, 0, 0, 0, 5, 5, 0), 1); /* empty */
    assert_int_equal(DAMAGE_OF(MMAP, 0, 0, 0, 5, 6, 0), 0);
    assert_int_equal(DAMAGE_OF(STAK, 1, 2, 1, 1, 1, 1, 0), 1); /* process */
    assert_int_equal(DAMAGE_OF(STAK, 0, 1, 1, 1, 1, 1, 0), 1); /* known */
    assert_int_equal(DAMAGE_OF(STAK, 0, 2, 1, 3, 1, 1, 0), 1); /* parent */
    assert_int_equal(DAMAGE_OF(STAK, 0, 2, 1, 0, 1, 1, 0), 1); /* itself */
    assert_int_equal(DAMAGE_OF(STAK, 0, 2, huge, 1, 1, 1, 0), 1);
    assert_int_equal(DAMAGE_OF(STAK, 0, 0xfffffff0, 1, 1, 1, 1, 0), 1);
    assert_int_equal(DAMAGE_OF(STAK, 0, 2, 1, 1, 1, 1, 0), 0);
    assert_int_equal(DAMAGE_OF(SAMP, 1, 0, 0), 1);                /* thread */
    assert_int_equal(DAMAGE_OF(SAMP, 0, 0, huge), 1);             /* count */
    assert_int_equal(DAMAGE_OF(SAMP, 0, huge, 1, 1, 0, 1, 0), 1); /* time */
    assert_int_equal(DAMAGE_OF(DONE, 0, 0, 0), 1); /* too short */
}

static void numbers_of_1_1_that_cannot_be_lose_their_chunk(void **state)
{
    (void)state;
    const uint64_t huge = UINT64_MAX;
    assert_int_equal(DAMAGE_OF(OSTK, 1, 1, 1, 1, 1, 1, 0), 1); /* process */
    assert_int_equal(DAMAGE_OF(OSTK, 0, 0, 1, 1, 1, 1, 0), 1); /* known */
    assert_int_equal(DAMAGE_OF(OSTK, 0, 1, 1, 2, 1, 1, 0), 1); /* parent */
    assert_int_equal(DAMAGE_OF(OSTK, 0, 1, huge, 1, 1, 1, 0), 1);
    assert_int_equal(DAMAGE_OF(OSTK, 0, 1, 1, 1, 1, 1, 0), 0);
    assert_int_equal(DAMAGE_OF(KSTK, 0, 1, 1, 2, 1, 1, 0), 1); /* parent */
    assert_int_equal(DAMAGE_OF(KSTK, 0, 1, huge, 1, 1, 1, 0), 1);
    assert_int_equal(DAMAGE_OF(KSTK, 0, 1, 1, 1, 1, 0, 0), 1); /* no image */
    assert_int_equal(DAMAGE_OF(KSTK, 0, 1, 1, 1, 1, 1, 0), 0);
    assert_int_equal(DAMAGE_OF(KSMP, 0, huge), 1);          /* count */
    assert_int_equal(DAMAGE_OF(KSMP, 0, 1, 1, 1), 1);       /* too short */
    assert_int_equal(DAMAGE_OF(KSMP, huge, 1, 1, 1, 1), 1); /* time */
    assert_int_equal(DAMAGE_OF(KSMP, 0, 1, 1, 1, 9), 0);
    assert_int_equal(DAMAGE_OF(KSYM, 1, 0), 1);                /* image */
    assert_int_equal(DAMAGE_OF(KSYM, 0, 1, 5), 1);             /* too short */
    assert_int_equal(DAMAGE_OF(KSYM, 0, 2, huge, 0, 1, 0), 1); /* address */
    assert_int_equal(DAMAGE_OF(KSYM, 0, 1, 5, 1, 'f'), 0);
    assert_int_equal(DAMAGE_OF(BLOK, 1, 0, 0), 1);    /* thread */
    assert_int_equal(DAMAGE_OF(BLOK, 0, 0, huge), 1); /* count */
    assert_int_equal(DAMAGE_OF(BLOK, 0, huge, 1, 1, 0, 0, 0, 0), 1);
    assert_int_equal(DAMAGE_OF(BLOK, 0, huge - 1, 1, 1, 1, 0, 0, 0), 1);
    assert_int_equal(DAMAGE_OF(BLOK, 0, 0, 1, 1, 1, 0, 0), 1); /* too short */
    assert_int_equal(DAMAGE_OF(BLOK, 0, 0, 1, 1, 1, 0, 0, 0), 0);
    assert_int_equal(DAMAGE_OF(MARK, 1, 0, 0, 0, 0), 1); /* thread */
    assert_int_equal(DAMAGE_OF(MARK, 0, 0, 0, 0, 9), 1); /* text size */
    assert_int_equal(DAMAGE_OF(MARK, 0, 0, 0, 7, 0), 0);
    assert_int_equal(DAMAGE_OF(TEND, 1, 0, 0), 1); /* thread */
    assert_int_equal(DAMAGE_OF(TEND, 0, 0), 1);    /* too short */
    assert_int_equal(DAMAGE_OF(UNFO, 0, 1, 0, 1, 0), 1);
    assert_int_equal(DAMAGE_OF(UNFO, huge, 1, 0, 1, 0, 0), 0);
    assert_int_equal(DAMAGE_OF(PAUS, 0), 1);
    assert_int_equal(DAMAGE_OF(PAUS, 0, 2), 1);
    assert_int_equal(DAMAGE_OF(DONE, 0, 0, 0, 0, 1), 0);
}

static void block_on_an_unknown_stack_is_counted_as_lost(void **state)
{
    (void)state;
    struct wndl_buf file = cook("meta 1 1 0 h / c\n"
                                "process 0 1 /bin/a a\n"
                                "thread 0 1 a\n");
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, &file, WNDL_CHUNK_BLOK);
    /* An unknown node, a kind of a later minor, and one that is right. */
    static const uint8_t payload[] = {
        0, 0, 3, 1, 1, 0, 5, 0, 1, 1, 2, 0, 0, 3, 4, 0, 0, 0};
    wndl_buf_add(&file, payload, sizeof payload);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read(&p, content(&file), NULL), WNDL_OK);
    assert_int_equal(p.blocks.len, 1);
    assert_int_equal(block_at(&p, 0)->start, 7);
    assert_int_equal(p.blocks_lost, 2);
    assert_int_equal(p.duration, 11);
    wndl_profile_free(&p);
    wndl_buf_free(&file);
}

static void sample_on_an_unknown_stack_is_counted_as_lost(void **state)
{
    (void)state;
    struct wndl_buf file = cook("meta 1 1 0 h / c\n"
                                "process 0 1 /bin/a a\n"
                                "thread 0 1 a\n");
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, &file, WNDL_CHUNK_SAMP);
    static const uint8_t payload[] = {0, 0, 2, 1, 1, 5, 0, 1, 1, 0, 0};
    wndl_buf_add(&file, payload, sizeof payload);
    assert_int_equal(wndl_chunk_finish(&w), WNDL_OK);
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read(&p, content(&file), NULL), WNDL_OK);
    assert_int_equal(p.samples.len, 1);
    assert_int_equal(sample_at(&p, 0)->time, 2);
    assert_int_equal(p.lost[WNDL_LOST_DAMAGED], 1);
    wndl_profile_free(&p);
    wndl_buf_free(&file);
}

static void fields_of_a_later_minor_are_passed_over(void **state)
{
    (void)state;
    /* Engine 9, how 7, walk end 14, and two bytes more than we know. */
    assert_int_equal(DAMAGE_OF(PEND, 0, 9, 7, 0, 1, 2), 0);
    assert_int_equal(DAMAGE_OF(THRD, 0, 0, 1, 0, 0, 1, 2), 0);
    struct wndl_profile p;
    read_recipe("meta 1 9 254 h / c\n"
                "process 0 1 /bin/a a\n"
                "thread 0 1 a\n"
                "sample 0 1 14\n",
        &p);
    assert_int_equal(p.ends[WNDL_WALK_OTHER], 1);
    assert_int_equal(p.engine, 9);
    assert_false(p.kernel_sampled);
    wndl_profile_free(&p);
}

static void fail_every_allocation(const char *recipe)
{
    struct wndl_buf file = cook(recipe);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem heap;
        failing_mem_init(&heap, budget);
        struct wndl_profile p;
        if (wndl_profile_init(&p, &heap.mem)) {
            status = wndl_reader_read(&p, content(&file), NULL);
            wndl_profile_free(&p);
        }
        assert_int_equal(heap.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
    wndl_buf_free(&file);
}

static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    fail_every_allocation(golden);
    fail_every_allocation(golden_11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_process_loses_what_is_in_it_alone),
        cmocka_unit_test(damaged_thread_loses_its_samples),
        cmocka_unit_test(damaged_image_loses_the_stacks_through_it),
        cmocka_unit_test(damaged_samples_leave_the_others),
        cmocka_unit_test(cut_recording_keeps_all_before_the_cut),
        cmocka_unit_test(any_flipped_bit_is_survived),
        cmocka_unit_test(chunks_that_are_too_short_are_survived),
        cmocka_unit_test(numbers_that_cannot_be_lose_their_chunk),
        cmocka_unit_test(numbers_of_1_1_that_cannot_be_lose_their_chunk),
        cmocka_unit_test(block_on_an_unknown_stack_is_counted_as_lost),
        cmocka_unit_test(sample_on_an_unknown_stack_is_counted_as_lost),
        cmocka_unit_test(fields_of_a_later_minor_are_passed_over),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
    };
    return cmocka_run_group_tests_name("in_wndl_damage", tests, NULL, NULL);
}
