/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "rec/chunk.h"
#include "rec/crc32c.h"
#include "recipe.h"
#include "wndl/read.h"

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
    assert_int_equal(wndl_reader_read(p, content(&file), NULL), WNDL_OK);
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

/* All that 1.1 adds, in two processes. */
static const char golden_11[] = "limits 300 10000000\n"
                                "meta 1000000 1 7 box /home/me app\n"
                                "process 0 100 /bin/app app\n"
                                "process 1 101 /bin/kid kid\n"
                                "image /bin/app a1b2c3\n"
                                "image /lib/libc.so.6 -\n"
                                "thread 0 100 app\n"
                                "thread 0 102 io\n"
                                "thread 1 101 kid\n"
                                "pause 1\n"
                                "wait 2000000\n"
                                "pause 0\n"
                                "sample 0 2 0 0:10 0:20!\n"
                                "block 1 2 30000000 0 0 0:10 1:70\n"
                                "block 1 1 400000 1 0\n"
                                "block 2 1 5000000 0 1 0:10 -:7f00\n"
                                "mark 0 0 0 frame_1\n"
                                "mark 2 1500 1 too_late\n"
                                "unfollowed 2 103 4 /usr/bin/go go run x\n"
                                "unfollowed 0 104 99 /bin/?\n"
                                "ended 1 777\n"
                                "wait 1000000\n"
                                "exit 1 1\n"
                                "pause 1\n"
                                "wait 1000000\n"
                                "done 0 3 44 5\n";

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

static const struct wndl_block *block_at(const struct wndl_profile *p, size_t i)
{
    return wndl_vec_at(&p->blocks, i);
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
    return cmocka_run_group_tests_name("in_wndl", tests, NULL, NULL);
}
