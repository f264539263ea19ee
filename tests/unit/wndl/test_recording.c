/* SPDX-License-Identifier: MIT */
/* What the writer of recordings has written is what their reader reads. */
#include "testlib.h"

#include "wndl/read.h"
#include "wndl/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static char path[] = "/tmp/wndl-recording-XXXXXX";
static struct wndl_recording recording;
static struct wndl_profile profile;
static const struct wndl_recording_done done = {.status = 3, .processes = 1};

static void open_recording(int fd)
{
    char program[] = "program", argument[] = "an argument";
    char *command[] = {program, argument, NULL};
    const struct wndl_recording_meta meta = {
        .interval = 1000000, .engine = WNDL_SAMPLER_PERF, .command = command};
    wndl_recording_open(&recording, fd, &meta);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(strrchr(path, '-') + 1, "XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    open_recording(fd);
    return wndl_profile_init(&profile, wndl_mem_libc()) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    wndl_profile_free(&profile);
    close(recording.fd);
    wndl_recording_free(&recording);
    return unlink(path);
}

static void read_recording(const char *file)
{
    struct wndl_bytes bytes = read_whole_file(file);
    struct wndl_error err;
    assert_int_equal(wndl_reader_read(&profile, bytes, &err), WNDL_OK);
    free((void *)bytes.data);
    assert_int_equal(profile.chunks_damaged, 0);
    assert_int_equal(profile.chunks_unknown, 0);
    assert_false(profile.cut);
}

static void close_and_read(void)
{
    struct wndl_error err;
    assert_int_equal(wndl_recording_close(&recording, &done, &err), WNDL_OK);
    read_recording(path);
}

static void write_process(uint64_t time)
{
    static const char command[] = "program\0-x";
    const struct wndl_recording_process process = {.pid = 42,
        .generation = 2,
        .time = time,
        .executable = "/bin/program",
        .command = {(const uint8_t *)command, sizeof command}};
    wndl_recording_process(&recording, &process);
}

static void write_thread(void)
{
    wndl_recording_thread(&recording,
        &(struct wndl_recording_thread){
            .tid = 43, .time = recording.time_base + 10, .name = "worker"});
}

static void write_mark(const char *text, uint64_t time)
{
    wndl_recording_mark(&recording,
        &(struct wndl_recording_mark){.time = recording.time_base + time,
            .text = {(const uint8_t *)text, strlen(text)}});
}

static void empty_recording_has_its_command_and_its_end(void **state)
{
    (void)state;
    close_and_read();
    assert_int_equal(profile.interval, 1000000);
    assert_int_equal(profile.engine, WNDL_SAMPLER_PERF);
    assert_int_equal(profile.arguments.len, 2);
    const struct wndl_bytes *last = wndl_vec_at(&profile.arguments, 1);
    assert_true(wndl_bytes_is(*last, "an argument"));
    assert_true(profile.finished);
    assert_int_equal(profile.status, done.status);
}

/* ---- stacks of the kernel */

/* STAK: a function of the program; KSTK: f <- g. */
static void write_stacks(uint32_t program, uint32_t kernel)
{
    struct wndl_node_list list;
    const struct wndl_fields_stak head = {0, 1};
    const struct wndl_fields_node nodes[] = {
        {.flags = 1, .image = program + 1, .address = 0x10},
        {.flags = 2, .image = kernel + 1, .address = 0x200},
        {.parent = 1, .flags = 1, .image = kernel + 1, .address = 0x300},
    };
    wndl_recording_nodes(&list, &recording, WNDL_CHUNK_STAK, &head, 1);
    wndl_node_list_add(&list, &nodes[0]);
    wndl_node_list_finish(&list);
    wndl_recording_nodes(&list, &recording, WNDL_CHUNK_KSTK, &head, 2);
    wndl_node_list_add(&list, &nodes[1]);
    wndl_node_list_add(&list, &nodes[2]);
    wndl_node_list_finish(&list);
}

static void write_samples(const struct wndl_fields_sample *samples, size_t n)
{
    struct wndl_buf bytes;
    wndl_buf_init(&bytes, wndl_mem_libc());
    for (size_t i = 0; i < n; i++)
        wndl_put_sample(&bytes, &samples[i]);
    const struct wndl_recording_series series = {.time = recording.time_base,
        .count = (uint32_t)n,
        .bytes = {bytes.data, bytes.size}};
    wndl_recording_series(&recording, WNDL_CHUNK_SAMP, &series);
    wndl_buf_free(&bytes);
}

static void write_kernel(const struct wndl_fields_kernel *samples, size_t n)
{
    struct wndl_buf bytes;
    wndl_buf_init(&bytes, wndl_mem_libc());
    for (size_t i = 0; i < n; i++)
        wndl_put_kernel(&bytes, &samples[i]);
    wndl_recording_kernel_samples(&recording, recording.time_base, (uint32_t)n,
        (struct wndl_bytes){bytes.data, bytes.size});
    wndl_buf_free(&bytes);
}

/* The frames of a sample's stack, and the address of its leaf. */
static size_t depth_of(const struct wndl_sample *sample, uint64_t *leaf)
{
    const struct wndl_node *nodes = profile.nodes.data;
    const struct wndl_frame_key *key =
        wndl_vec_at(&profile.frames, nodes[sample->node].frame);
    size_t depth = 0;
    *leaf = key->address;
    for (uint32_t n = sample->node; n != 0; n = nodes[n].parent)
        depth++;
    return depth;
}

static void expect_sample(
    size_t index, uint64_t cpu, size_t depth, uint64_t address)
{
    uint64_t leaf;
    const struct wndl_sample *sample = wndl_vec_at(&profile.samples, index);
    assert_int_equal(sample->cpu, cpu);
    assert_int_equal(depth_of(sample, &leaf), depth);
    assert_int_equal(leaf, address);
    assert_int_equal(sample->end, 2);
}

/*
 * The samples of the kernel that came last share the next time in the kernel;
 * those of other threads, and too many ones, have no part in it.
 */
static void stacks_of_the_kernel_are_on_those_of_the_program(void **state)
{
    (void)state;
    enum { IN_KERNEL = WNDL_SAMPLE_IN_KERNEL };
    const struct wndl_fields_sample samples[] = {
        {.time = 1000, .cpu = 1000000, .node = 1, .end = 2},
        {.time = 1000, .cpu = 2000001, .node = 1, .end = 2 + IN_KERNEL},
        {.time = 1000, .cpu = 10, .node = 1, .end = 2 + IN_KERNEL},
        {.time = 1000, .cpu = 5000000, .node = 1, .end = 2 + IN_KERNEL},
    };
    const struct wndl_fields_kernel kernel[] = {
        {.time = 400, .tid = 43, .node = 2}, /* one too many */
        {.time = 10, .tid = 43, .node = 2},
        {.time = 10, .tid = 44, .node = 2}, /* of no thread */
        {.time = 1000, .tid = 43, .node = 1},
        {.time = 2000, .tid = 43, .node = 2},
    };
    write_process(recording.time_base);
    write_thread();
    const uint32_t program =
        wndl_recording_image(&recording, "/p", (struct wndl_bytes){0});
    const uint32_t image =
        wndl_recording_image(&recording, "[kernel]", (struct wndl_bytes){0});
    write_stacks(program, image);
    write_kernel(kernel, sizeof kernel / sizeof kernel[0]);
    write_samples(samples, sizeof samples / sizeof samples[0]);
    static const uint8_t names[] = {0x0f, 1, 'f', 3, 2, 'g', 'h'};
    wndl_recording_kernel_names(
        &recording, image, 2, (struct wndl_bytes){names, sizeof names});
    close_and_read();
    assert_int_equal(profile.samples.len, 5);
    assert_int_equal(profile.parts, 1);
    expect_sample(0, 1000000, 1, 0x10);
    expect_sample(1, 1000000, 3, 0x300);
    expect_sample(2, 1000001, 2, 0x200);
    expect_sample(3, 10, 1, 0x10);
    expect_sample(4, 5000000, 3, 0x300);
    const struct wndl_kernel_name *name = wndl_vec_at(&profile.kernel_names, 1);
    assert_int_equal(name->address, 0x12);
    assert_true(wndl_bytes_is(name->name, "gh"));
}

static void recording_without_an_end_is_not_finished(void **state)
{
    (void)state;
    write_process(recording.time_base);
    wndl_recording_flush(&recording);
    read_recording(path);
    assert_false(profile.finished);
    assert_int_equal(profile.processes.len, 1);
}

static void process_is_what_was_written(void **state)
{
    (void)state;
    write_process(recording.time_base + 7);
    const uint64_t lost[WNDL_LOSS_REASONS] = {[1] = 5};
    wndl_recording_end(&recording, 0, WNDL_ENDED_EXEC, lost);
    close_and_read();
    const struct wndl_process *p = wndl_vec_at(&profile.processes, 0);
    assert_int_equal(p->pid, 42);
    assert_int_equal(p->generation, 2);
    assert_int_equal(p->parent, WNDL_NO_INDEX);
    assert_int_equal(p->start, 7);
    assert_true(wndl_bytes_is(p->executable, "/bin/program"));
    assert_int_equal(p->how_ended, WNDL_ENDED_EXEC);
    assert_int_equal(profile.lost[1], 5);
}

static void process_has_its_time_before_the_recording(void **state)
{
    (void)state;
    write_process(recording.time_base);
    wndl_recording_process_cpu(&recording, 0, UINT64_C(1) << 40, 7);
    close_and_read();
    const struct wndl_process *p = wndl_vec_at(&profile.processes, 0);
    assert_int_equal(p->loading_cpu, UINT64_C(1) << 40);
    assert_int_equal(p->starting_cpu, 7);
}

static void title_replaces_the_command(void **state)
{
    (void)state;
    const struct wndl_bytes title = {(const uint8_t *)"program: busy", 13};
    write_process(recording.time_base);
    wndl_recording_title(&recording, 0, recording.time_base + 5, title);
    close_and_read();
    const struct wndl_process *process = wndl_vec_at(&profile.processes, 0);
    assert_int_equal(profile.processes.len, 1);
    assert_true(wndl_bytes_is(process->command, "program: busy"));
    assert_true(wndl_bytes_is(process->executable, "/bin/program"));
}

static void thread_is_what_was_written(void **state)
{
    (void)state;
    write_process(recording.time_base);
    write_thread();
    wndl_recording_thread_end(&recording, 0, recording.time_base + 90, 33);
    close_and_read();
    const struct wndl_thread *t = wndl_vec_at(&profile.threads, 0);
    assert_int_equal(t->tid, 43);
    assert_int_equal(t->start, 10);
    assert_true(t->ended);
    assert_int_equal(t->end, 90);
    assert_int_equal(t->unsampled_cpu, 33);
    assert_true(wndl_bytes_is(t->name, "worker"));
}

static void time_before_the_start_is_the_start(void **state)
{
    (void)state;
    write_process(recording.time_base - 1);
    close_and_read();
    const struct wndl_process *p = wndl_vec_at(&profile.processes, 0);
    assert_int_equal(p->start, 0);
}

static void pause_lasts_until_sampling_goes_on(void **state)
{
    (void)state;
    wndl_recording_paused(&recording, recording.time_base + 20, true);
    wndl_recording_paused(&recording, recording.time_base + 50, false);
    close_and_read();
    assert_int_equal(profile.pauses.len, 1);
    const struct wndl_pause *pause = wndl_vec_at(&profile.pauses, 0);
    assert_int_equal(pause->start, 20);
    assert_int_equal(pause->end, 50);
}

static uint32_t image(const char *file, const char *id)
{
    return wndl_recording_image(
        &recording, file, (struct wndl_bytes){(const uint8_t *)id, strlen(id)});
}

static void build_id_makes_one_image_of_all_paths(void **state)
{
    (void)state;
    uint32_t first = image("/gone/a", "id");
    assert_int_equal(image("/gone/b", "id"), first);
    assert_int_not_equal(image("/gone/a", "other"), first);
    close_and_read();
    assert_int_equal(profile.images.len, 2);
    const struct wndl_image *i = wndl_vec_at(&profile.images, first);
    assert_true(wndl_bytes_is(i->path, "/gone/a"));
    assert_true(wndl_bytes_is(i->build_id, "id"));
}

static void image_without_build_id_is_known_by_its_path(void **state)
{
    (void)state;
    uint32_t first = image("/gone/a", "");
    assert_int_equal(image("/gone/a", ""), first);
    assert_int_not_equal(image("/gone/b", ""), first);
    /* A path that is as the bytes of a build-id are. */
    assert_int_not_equal(image("/gone/c", "/gone/a"), first);
}

static void path_that_can_be_opened_replaces_one_that_cannot(void **state)
{
    (void)state;
    uint32_t gone = image("/gone/a", "id");
    uint32_t there = image(path, "id");
    assert_int_not_equal(there, gone);
    assert_int_equal(image("/gone/a", "id"), there);
    assert_string_equal(
        wndl_recording_announced(&recording, there)->path, path);
    assert_null(wndl_recording_announced(&recording, there + 1));
}

static void tail_has_the_last_marks_and_all_definitions(void **state)
{
    (void)state;
    wndl_recording_keep_tail(&recording, 400);
    write_process(recording.time_base);
    write_thread();
    for (uint64_t i = 0; i < 1000; i++)
        write_mark("told", i);
    close_and_read();
    assert_int_equal(profile.processes.len, 1);
    assert_int_equal(profile.threads.len, 1);
    assert_in_range(profile.marks.len, 2, 50);
    const struct wndl_mark *last =
        wndl_vec_at(&profile.marks, profile.marks.len - 1);
    assert_int_equal(last->time, 999);
    assert_true(wndl_bytes_is(last->text, "told"));
}

static void dump_is_a_recording_of_its_own(void **state)
{
    (void)state;
    char other[] = "/tmp/wndl-recording-dump-XXXXXX";
    int fd = mkstemp(other);
    assert_true(fd >= 0);
    wndl_recording_keep_tail(&recording, 4000);
    write_process(recording.time_base);
    write_thread();
    write_mark("before", 1);
    struct wndl_error err;
    assert_int_equal(wndl_recording_dump(&recording, fd, &done, &err), WNDL_OK);
    close(fd);
    write_mark("after", 2);
    read_recording(other);
    assert_int_equal(unlink(other), 0);
    assert_true(profile.finished);
    assert_int_equal(profile.marks.len, 1);

    wndl_profile_free(&profile);
    assert_true(wndl_profile_init(&profile, wndl_mem_libc()));
    close_and_read();
    assert_int_equal(profile.marks.len, 2);
}

static void full_disk_is_told_at_the_end(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        SKIP("no /dev/full");
    close(recording.fd);
    wndl_recording_free(&recording);
    open_recording(fd);
    struct wndl_error err;
    assert_int_equal(wndl_recording_close(&recording, &done, &err), WNDL_IO);
    assert_int_equal(recording.bytes, 0);
}

/* The second flush ends in the middle of a chunk. */
static void failed_write_leaves_what_the_last_flush_wrote(void **state)
{
    (void)state;
    write_process(recording.time_base);
    wndl_recording_flush(&recording);
    uint64_t whole = recording.bytes;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = whole + 30;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    write_thread();
    write_mark("a long text, so that it does not fit any more", 1);
    struct wndl_error err;
    enum wndl_status status = wndl_recording_close(&recording, &done, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, WNDL_IO);
    assert_int_equal(err.sys_errno, EFBIG);
    read_recording(path);
    assert_int_equal(profile.processes.len, 1);
    assert_int_equal(profile.threads.len, 0);
    assert_false(profile.finished);
}

/* Writes two samples, and none of the file's bytes above `limit`. */
static void flush_two_samples(const struct rlimit *limit)
{
    const struct wndl_fields_sample samples[] = {{.time = 1}, {.time = 2}};
    write_samples(samples, 2);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, limit), 0);
    wndl_recording_flush(&recording);
}

/* There is no room, then there is, then there is none for the end. */
static void samples_told_are_samples_written(void **state)
{
    (void)state;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    write_process(recording.time_base);
    write_thread();
    flush_two_samples(&before);
    none = before;
    none.rlim_cur = recording.bytes;
    flush_two_samples(&none); /* wait */
    flush_two_samples(&none); /* are dropped */
    assert_int_equal(wndl_recording_kept(&recording), 4);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    wndl_recording_flush(&recording);
    none.rlim_cur = recording.bytes;
    flush_two_samples(&none); /* are lost in the end */
    struct wndl_error err;
    assert_int_equal(wndl_recording_close(&recording, &done, &err), WNDL_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(wndl_recording_kept(&recording), 4);
    read_recording(path);
    assert_int_equal(profile.samples.len, 4);
}

/* What the tail has is written when the recording ends. */
static void samples_of_the_tail_are_told_once(void **state)
{
    (void)state;
    const struct wndl_fields_sample samples[] = {{.time = 1}, {.time = 2}};
    write_process(recording.time_base);
    write_thread();
    wndl_recording_keep_tail(&recording, 4096);
    write_samples(samples, 2);
    wndl_recording_flush(&recording);
    assert_int_equal(wndl_recording_kept(&recording), 2);
    close_and_read();
    assert_int_equal(wndl_recording_kept(&recording), 2);
    assert_int_equal(profile.samples.len, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(empty_recording_has_its_command_and_its_end),
        TEST(stacks_of_the_kernel_are_on_those_of_the_program),
        TEST(recording_without_an_end_is_not_finished),
        TEST(process_is_what_was_written),
        TEST(process_has_its_time_before_the_recording),
        TEST(title_replaces_the_command),
        TEST(thread_is_what_was_written),
        TEST(time_before_the_start_is_the_start),
        TEST(pause_lasts_until_sampling_goes_on),
        TEST(build_id_makes_one_image_of_all_paths),
        TEST(image_without_build_id_is_known_by_its_path),
        TEST(path_that_can_be_opened_replaces_one_that_cannot),
        TEST(tail_has_the_last_marks_and_all_definitions),
        TEST(dump_is_a_recording_of_its_own),
        TEST(full_disk_is_told_at_the_end),
        TEST(failed_write_leaves_what_the_last_flush_wrote),
        TEST(samples_told_are_samples_written),
        TEST(samples_of_the_tail_are_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
