/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "in/wndl.h"
#include "rec/chunk.h"
#include "recipe.h"

#include <stdio.h>
#include <string.h>

/* Two processes that share a library, a rename, both kinds of losses. */
static const char golden[] = "meta 1000000 2 1 box /home/me app -x\n"
                             "process 0 100 /bin/app app -x\n"
                             "image /bin/app a1b2c3\n"
                             "image /lib/libc.so.6 -\n"
                             "map 0 0 555000 556000 555000\n"
                             "thread 0 100 app\n"
                             "sample 0 2 0 0:10 1:20 0:30!\n"
                             "process 1 101 /bin/kid kid a b\n"
                             "thread 1 101 kid\n"
                             "rename 1 kid_worker\n"
                             "sample 1 1 1 0:10 1:20\n"
                             "sample 1 1 2 0:10 -:7fff0!\n"
                             "sample 1 1 0\n"
                             "chunk XTRA hello\n"
                             "exit 1 1 1 5 6 2 99 1\n"
                             "exit 0 1 1 1\n"
                             "done 3 1\n";

static struct wndl_buf cook(const char *recipe)
{
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    assert_true(recipe_cook(recipe, &file));
    return file;
}

static struct wndl_bytes content(const struct wndl_buf *buf)
{
    return (struct wndl_bytes){buf->data, buf->size};
}

/* The profile of a recipe, which must be readable. */
static void read_recipe(const char *recipe, struct wndl_profile *p)
{
    struct wndl_buf file = cook(recipe);
    assert_true(wndl_profile_init(p, wndl_mem_libc()));
    assert_int_equal(wndl_recording_read(p, content(&file), NULL), WNDL_OK);
    wndl_buf_free(&file);
}

/* "image:address" of every frame from the leaf up, into `text`. */
static void spell_stack(
    const struct wndl_profile *p, uint32_t node, char *text, size_t size)
{
    text[0] = '\0';
    while (node != 0) {
        const struct wndl_node *n = wndl_vec_at(&p->nodes, node);
        const struct wndl_frame_key *f = wndl_vec_at(&p->frames, n->frame);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%d:%llx%s", used ? " " : "",
            (int)f->image, (unsigned long long)f->address,
            f->interrupted ? "!" : "");
        assert_true(n->parent < node);
        node = n->parent;
    }
}

static const struct wndl_sample *sample_at(
    const struct wndl_profile *p, size_t i)
{
    return wndl_vec_at(&p->samples, i);
}

static void assert_stack(
    const struct wndl_profile *p, size_t sample, const char *expected)
{
    char text[256];
    spell_stack(p, sample_at(p, sample)->node, text, sizeof text);
    assert_string_equal(text, expected);
}

static void golden_header_is_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    assert_int_equal(p.time_base, 1000);
    assert_int_equal(p.realtime, 1763719200000000000);
    assert_int_equal(p.interval, 1000000);
    assert_int_equal(p.engine, 2);
    assert_true(p.kernel_sampled);
    assert_true(wndl_bytes_is(p.recorder_version, "0.1.0"));
    assert_true(wndl_bytes_is(p.host, "box"));
    assert_true(wndl_bytes_is(p.cwd, "/home/me"));
    assert_int_equal(p.arguments.len, 2);
    const struct wndl_bytes *arguments = p.arguments.data;
    assert_true(wndl_bytes_is(arguments[1], "-x"));
    assert_true(p.finished);
    assert_int_equal(p.status, 3);
    assert_int_equal(p.unfollowed, 1);
    assert_int_equal(p.duration, 5000000);
    assert_int_equal(p.chunks_unknown, 1);
    assert_int_equal(p.chunks_damaged, 0);
    assert_false(p.cut);
    wndl_profile_free(&p);
}

static void golden_processes_and_threads_are_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    assert_int_equal(p.processes.len, 2);
    const struct wndl_process *kid = wndl_vec_at(&p.processes, 1);
    assert_int_equal(kid->parent, 0);
    assert_int_equal(kid->pid, 101);
    assert_int_equal(kid->start, 2000000);
    assert_int_equal(kid->end, 5000000);
    assert_int_equal(kid->how_ended, 1);
    assert_true(wndl_bytes_is(kid->executable, "/bin/kid"));
    assert_int_equal(kid->command.size, 8);
    assert_memory_equal(kid->command.data, "kid\0a\0b\0", 8);
    const struct wndl_process *app = wndl_vec_at(&p.processes, 0);
    assert_int_equal(app->parent, WNDL_NO_INDEX);
    const struct wndl_thread *worker = wndl_vec_at(&p.threads, 1);
    assert_int_equal(worker->process, 1);
    assert_int_equal(worker->tid, 101);
    assert_true(wndl_bytes_is(worker->name, "kid worker"));
    wndl_profile_free(&p);
}

static void golden_stacks_of_all_processes_are_one_tree(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    assert_int_equal(p.samples.len, 5);
    assert_stack(&p, 0, "0:30! 1:20 0:10");
    assert_stack(&p, 1, "0:30! 1:20 0:10");
    assert_stack(&p, 2, "1:20 0:10");
    assert_stack(&p, 3, "-1:7fff0! 0:10");
    assert_stack(&p, 4, "");
    assert_int_equal(p.nodes.len, 1 + 4);
    assert_int_equal(sample_at(&p, 1)->time, 2000000);
    assert_int_equal(sample_at(&p, 1)->cpu, 1000000);
    assert_int_equal(sample_at(&p, 2)->thread, 1);
    assert_int_equal(sample_at(&p, 3)->end, 2);
    assert_int_equal(p.ends[0], 3);
    assert_int_equal(p.ends[1], 1);
    assert_int_equal(p.ends[2], 1);
    wndl_profile_free(&p);
}

static void losses_are_summed_by_reason(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden, &p);
    assert_int_equal(p.lost[1], 6);
    assert_int_equal(p.lost[6], 2);
    assert_int_equal(p.lost[WNDL_LOST_OTHER], 1);
    assert_int_equal(p.lost[WNDL_LOST_DAMAGED], 0);
    wndl_profile_free(&p);
}

static void equal_images_of_two_numbers_are_one(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe("meta 1 1 0 h / c\n"
                "process 0 1 /bin/a a\n"
                "thread 0 1 a\n"
                "image /lib/x 01\n"
                "image /lib/x 01\n"
                "image /lib/x 02\n"
                "sample 0 1 0 0:10!\n"
                "sample 0 1 0 1:10!\n"
                "sample 0 1 0 2:10!\n",
        &p);
    assert_int_equal(p.images.len, 2);
    assert_int_equal(sample_at(&p, 0)->node, sample_at(&p, 1)->node);
    assert_int_not_equal(sample_at(&p, 0)->node, sample_at(&p, 2)->node);
    wndl_profile_free(&p);
}

static void recording_without_an_end_says_so(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe("meta 7 1 0 h / c\n"
                "process 0 1 /bin/a a\n"
                "thread 0 1 a\n"
                "sample 0 3 0\n",
        &p);
    assert_false(p.finished);
    assert_false(p.cut);
    assert_int_equal(p.duration, 21);
    const struct wndl_process *process = wndl_vec_at(&p.processes, 0);
    assert_int_equal(process->end, 21);
    wndl_profile_free(&p);
}

/* ---- damage */

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
    if (wndl_recording_read(&p, bytes, &err) != WNDL_OK)
        assert_string_not_equal(err.what, "");
    for (size_t i = 0; i < p.samples.len; i++) {
        char text[256];
        assert_true(sample_at(&p, i)->node < p.nodes.len);
        assert_true(sample_at(&p, i)->thread < p.threads.len);
        spell_stack(&p, sample_at(&p, i)->node, text, sizeof text);
    }
    d->samples = p.samples.len;
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
    struct wndl_buf file = cook(golden);
    struct damage d = {content(&file), 0};
    for_each_truncation(content(&file), read_prefix, &d);
    assert_int_equal(d.samples, 5);
    wndl_buf_free(&file);
}

static void any_flipped_bit_is_survived(void **state)
{
    (void)state;
    struct wndl_buf file = cook(golden);
    for (size_t i = 0; i < file.size * 8; i++) {
        struct damage d = {content(&file), 0};
        file.data[i / 8] ^= (uint8_t)(1 << i % 8);
        read_anything(content(&file), &d);
        file.data[i / 8] ^= (uint8_t)(1 << i % 8);
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
    assert_int_equal(wndl_recording_read(&p, content(&file), NULL), WNDL_OK);
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
    assert_int_equal(wndl_recording_read(&p, content(&file), NULL), WNDL_OK);
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

static void failed_allocations_are_told_and_leak_nothing(void **state)
{
    (void)state;
    struct wndl_buf file = cook(golden);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        struct failing_mem heap;
        failing_mem_init(&heap, budget);
        struct wndl_profile p;
        if (wndl_profile_init(&p, &heap.mem)) {
            status = wndl_recording_read(&p, content(&file), NULL);
            wndl_profile_free(&p);
        }
        assert_int_equal(heap.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
    wndl_buf_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_header_is_read),
        cmocka_unit_test(golden_processes_and_threads_are_read),
        cmocka_unit_test(golden_stacks_of_all_processes_are_one_tree),
        cmocka_unit_test(losses_are_summed_by_reason),
        cmocka_unit_test(equal_images_of_two_numbers_are_one),
        cmocka_unit_test(recording_without_an_end_says_so),
        cmocka_unit_test(damaged_process_loses_what_is_in_it_alone),
        cmocka_unit_test(damaged_thread_loses_its_samples),
        cmocka_unit_test(damaged_image_loses_the_stacks_through_it),
        cmocka_unit_test(damaged_samples_leave_the_others),
        cmocka_unit_test(cut_recording_keeps_all_before_the_cut),
        cmocka_unit_test(any_flipped_bit_is_survived),
        cmocka_unit_test(numbers_that_cannot_be_lose_their_chunk),
        cmocka_unit_test(sample_on_an_unknown_stack_is_counted_as_lost),
        cmocka_unit_test(fields_of_a_later_minor_are_passed_over),
        cmocka_unit_test(failed_allocations_are_told_and_leak_nothing),
    };
    return cmocka_run_group_tests_name("in_wndl", tests, NULL, NULL);
}
