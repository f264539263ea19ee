/* SPDX-License-Identifier: MIT */
#include "read_recipe.h"

#include "rec/crc32c.h"
#include "wndl/read.h"

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
    assert_int_equal(p.unrecorded, 1);
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
                "image /usr/lib/x.1 01\n"
                "image /lib/x -\n"
                "image /lib/y -\n"
                "image /lib/x -\n"
                "sample 0 1 0 0:10!\n"
                "sample 0 1 0 1:10!\n"
                "sample 0 1 0 2:10!\n"
                "sample 0 1 0 3:10!\n"
                "sample 0 1 0 4:10!\n"
                "sample 0 1 0 5:10!\n"
                "sample 0 1 0 6:10!\n",
        &p);
    assert_int_equal(p.images.len, 4);
    const struct wndl_image *image = wndl_vec_at(&p.images, 0);
    assert_true(wndl_bytes_is(image->path, "/usr/lib/x.1"));
    static const uint32_t same_as[] = {0, 0, 2, 0, 4, 5, 4};
    for (size_t i = 0; i < 7; i++) {
        for (size_t k = 0; k < i; k++)
            assert_int_equal(sample_at(&p, i)->node == sample_at(&p, k)->node,
                same_as[i] == same_as[k]);
    }
    wndl_profile_free(&p);
}

static void addresses_in_no_image_are_of_one_process(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe("meta 1 1 0 h / c\n"
                "process 0 1 /bin/a a\n"
                "process 0 2 /bin/b b\n"
                "image /bin/a -\n"
                "thread 0 1 a\n"
                "thread 1 2 b\n"
                "sample 0 1 0 0:10 -:7f00!\n"
                "sample 1 1 0 0:10 -:7f00!\n",
        &p);
    assert_int_equal(p.frames.len, 3);
    assert_int_not_equal(sample_at(&p, 0)->node, sample_at(&p, 1)->node);
    const struct wndl_frame_key *keys = p.frames.data;
    assert_int_equal(keys[0].process, WNDL_NO_INDEX);
    assert_int_equal(keys[1].process, 0);
    assert_int_equal(keys[2].process, 1);
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

/* ---- version 1.1 */

static void limits_and_counts_of_1_1_are_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden_11, &p);
    assert_int_equal(p.chunks_damaged, 0);
    assert_int_equal(p.chunks_unknown, 0);
    assert_int_equal(p.max_frames, 300);
    assert_int_equal(p.blocked_interval, 10000000);
    assert_true(p.kernel_sampled);
    assert_true(p.by_ticks);
    assert_int_equal(p.unrecorded, 3);
    assert_int_equal(p.discarded, 44);
    assert_int_equal(p.interrupted_calls, 5);
    wndl_profile_free(&p);
}

static void blocks_are_read_with_their_stacks(void **state)
{
    (void)state;
    struct wndl_profile p;
    char text[256];
    read_recipe(golden_11, &p);
    assert_int_equal(p.blocks.len, 4);
    const struct wndl_block *second = block_at(&p, 1);
    assert_int_equal(second->thread, 1);
    assert_int_equal(second->start, 35000000);
    assert_int_equal(second->duration, 30000000);
    assert_false(second->waiting);
    spell_stack(&p, second->node, text, sizeof text);
    assert_string_equal(text, "1:70 0:10");
    assert_true(block_at(&p, 2)->waiting);
    assert_int_equal(block_at(&p, 2)->node, 0);
    assert_int_equal(block_at(&p, 2)->duration, 400000);
    spell_stack(&p, block_at(&p, 3)->node, text, sizeof text);
    assert_string_equal(text, "-1:7f00 0:10");
    assert_int_equal(p.block_ends[WNDL_WALK_COMPLETE], 2);
    assert_int_equal(p.block_ends[WNDL_WALK_TRUNCATED], 1);
    /* The trees of samples and blocks are one: both start at 0:10. */
    assert_int_equal(p.nodes.len, 1 + 4);
    wndl_profile_free(&p);
}

static void marks_and_ends_of_threads_are_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden_11, &p);
    const struct wndl_mark *marks = p.marks.data;
    assert_int_equal(p.marks.len, 2);
    assert_true(wndl_bytes_is(marks[0].text, "frame 1"));
    assert_false(marks[0].missed_deadline);
    assert_int_equal(marks[0].duration, 0);
    assert_int_equal(marks[1].thread, 2);
    assert_int_equal(marks[1].duration, 1500);
    assert_true(marks[1].missed_deadline);
    const struct wndl_thread *threads = p.threads.data;
    assert_false(threads[0].ended);
    assert_int_equal(threads[0].end, p.duration);
    assert_true(threads[1].ended);
    assert_int_equal(threads[1].unsampled_cpu, 777);
    assert_int_equal(threads[1].end, marks[0].time);
    assert_false(threads[2].ended);
    assert_int_equal(threads[2].end, marks[0].time + 1000000);
    wndl_profile_free(&p);
}

static void unfollowed_and_pauses_are_read(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe(golden_11, &p);
    const struct wndl_unrecorded_process *u = p.unrecorded_processes.data;
    assert_int_equal(p.unrecorded_processes.len, 2);
    assert_int_equal(u[0].parent, 1);
    assert_int_equal(u[0].pid, 103);
    assert_int_equal(u[0].reason, 4);
    assert_true(wndl_bytes_is(u[0].executable, "/usr/bin/go"));
    assert_memory_equal(u[0].command.data, "go\0run\0x\0", 9);
    assert_int_equal(u[1].parent, WNDL_NO_INDEX);
    assert_int_equal(u[1].reason, 99);
    const struct wndl_pause *pauses = p.pauses.data;
    assert_int_equal(p.pauses.len, 2);
    assert_int_equal(pauses[0].start, 0);
    assert_int_equal(pauses[0].end, 2000000);
    /* The last one has no end but that of the recording. */
    assert_int_equal(pauses[1].end, p.duration);
    assert_int_equal(pauses[1].end - pauses[1].start, 1000000);
    wndl_profile_free(&p);
}

static void file_of_version_1_0_says_nothing_of_1_1(void **state)
{
    (void)state;
    enum { MINOR_AT = 10, CRC_AT = 20 };
    struct wndl_buf file = cook(golden);
    file.data[MINOR_AT] = 0;
    uint32_t crc = wndl_crc32c(0, file.data, CRC_AT);
    for (int i = 0; i < 4; i++)
        file.data[CRC_AT + i] = (uint8_t)(crc >> 8 * i);
    struct wndl_profile p;
    assert_true(wndl_profile_init(&p, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read(&p, content(&file), NULL), WNDL_OK);
    assert_int_equal(p.samples.len, 5);
    assert_int_equal(p.chunks_damaged, 0);
    assert_int_equal(p.max_frames, 0);
    assert_int_equal(p.blocked_interval, 0);
    assert_int_equal(p.discarded, 0);
    assert_int_equal(p.interrupted_calls, 0);
    assert_int_equal(p.blocks.len, 0);
    const struct wndl_thread *thread = wndl_vec_at(&p.threads, 0);
    assert_int_equal(thread->end, 5000000);
    wndl_profile_free(&p);
    wndl_buf_free(&file);
}

static void unfollowed_are_counted_without_an_end_too(void **state)
{
    (void)state;
    struct wndl_profile p;
    read_recipe("meta 1 1 0 h / c\nunfollowed 0 9 1 /bin/s\n", &p);
    assert_int_equal(p.unrecorded, 1);
    wndl_profile_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_header_is_read),
        cmocka_unit_test(golden_processes_and_threads_are_read),
        cmocka_unit_test(golden_stacks_of_all_processes_are_one_tree),
        cmocka_unit_test(losses_are_summed_by_reason),
        cmocka_unit_test(equal_images_of_two_numbers_are_one),
        cmocka_unit_test(addresses_in_no_image_are_of_one_process),
        cmocka_unit_test(recording_without_an_end_says_so),
        cmocka_unit_test(limits_and_counts_of_1_1_are_read),
        cmocka_unit_test(blocks_are_read_with_their_stacks),
        cmocka_unit_test(marks_and_ends_of_threads_are_read),
        cmocka_unit_test(unfollowed_and_pauses_are_read),
        cmocka_unit_test(file_of_version_1_0_says_nothing_of_1_1),
        cmocka_unit_test(unfollowed_are_counted_without_an_end_too),
    };
    return cmocka_run_group_tests_name("in_wndl", tests, NULL, NULL);
}
