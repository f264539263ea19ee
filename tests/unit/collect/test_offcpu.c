/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "collect/code/binaries.h"
#include "collect/offcpu/offcpu.h"
#include "obj/core/object.h"
#include "os/clock.h"
#include "os/file.h"
#include "wndl/read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <windlass/unwind.h>

enum { MS = 1000 * 1000, FRAMES_MAX = 512, PATH_ROOM = 256 };

/* A program that is watched, and what was recorded of it. */
struct bench {
    char program[PATH_ROOM];
    char path[32];
    pid_t pid;
    int in, out; /* its standard input and output */
    struct wndl_recording recording;
    struct wndl_collector_threads threads;
    uint32_t thread_count;
    struct wndl_binaries binaries;
    struct wndl_offcpu_shared *shared;
    struct wndl_offcpu *watch;
    uint64_t gap; /* the longest between two turns, ns */
    struct wndl_profile profile;
    struct wndl_file binary;
    struct wndl_object *object;
};

/* ---- the program */

static void start_program(struct bench *b, const char *name)
{
    int in[2], out[2];
    char ready[6];
    snprintf(b->program, sizeof b->program, "%s/record/%s", WNDL_BUILT_FIXTURES,
        name);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    b->pid = fork();
    if (b->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(b->program, name, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    b->in = in[1];
    b->out = out[0];
    assert_int_equal(read(b->out, ready, sizeof ready), sizeof ready);
}

static void end_program(struct bench *b)
{
    kill(b->pid, SIGKILL);
    close(b->in);
    close(b->out);
}

/* ---- the recording */

static void set_up_for(struct bench *b, const char *name, const char *wanted)
{
    char command[] = "test";
    char *list[] = {command, NULL};
    const struct wndl_recording_meta meta = {.interval = 1000000,
        .engine = WNDL_ENGINE_PERF,
        .offcpu_interval = WNDL_OFFCPU_INTERVAL_NS,
        .command = list};
    *b = (struct bench){.path = "/tmp/wndl-watch-XXXXXX"};
    start_program(b, name);
    int fd = mkstemp(b->path);
    assert_true(fd >= 0);
    wndl_recording_open(&b->recording, fd, &meta);
    const struct wndl_recording_process process = {
        .pid = (uint32_t)b->pid, .executable = b->program};
    wndl_recording_process(&b->recording, &process);
    wndl_collector_threads_init(
        &b->threads, &b->recording, 0, &b->thread_count);
    assert_true(wndl_binaries_init(&b->binaries, "", NULL));
    const struct wndl_offcpu_request request = {
        .binaries = &b->binaries, .max_frames = FRAMES_MAX, .wanted = wanted};
    b->shared = wndl_offcpu_shared_new(&request);
    assert_non_null(b->shared);
    b->watch = wndl_offcpu_new(b->pid, &b->threads, b->shared, NULL);
    assert_non_null(b->watch);
}

static void set_up(struct bench *b, const char *name)
{
    set_up_for(b, name, "");
}

/* As the collector's loop does, for `ms`. */
static void turn_for(struct bench *b, uint64_t ms)
{
    uint64_t now = wndl_clock_monotonic_ns();
    uint64_t end = now + ms * MS;
    for (uint64_t last = now; now < end; last = now) {
        uint64_t next = wndl_offcpu_turn(b->watch, now);
        now = wndl_clock_monotonic_ns();
        if (next > now)
            usleep((useconds_t)((next - now) / 1000 + 1));
        now = wndl_clock_monotonic_ns();
        b->gap = now - last > b->gap ? now - last : b->gap;
    }
}

static void read_back(struct bench *b)
{
    const struct wndl_recording_done done = {.processes = 1};
    struct wndl_file file;
    int fd = b->recording.fd;
    wndl_collector_threads_free(&b->threads);
    assert_int_equal(wndl_recording_close(&b->recording, &done, NULL), WNDL_OK);
    wndl_recording_free(&b->recording);
    close(fd);
    assert_true(wndl_profile_init(&b->profile, wndl_mem_libc()));
    assert_int_equal(wndl_file_open(b->path, &file, NULL), WNDL_OK);
    assert_int_equal(wndl_reader_read(&b->profile, file.bytes, NULL), WNDL_OK);
    wndl_file_close(&file);
    unlink(b->path);
    assert_int_equal(b->profile.chunks_damaged, 0);
    assert_int_equal(b->profile.blocks_lost, 0);
    assert_int_equal(wndl_file_open(b->program, &b->binary, NULL), WNDL_OK);
    assert_int_equal(wndl_object_open(b->binary.bytes, b->program,
                         wndl_mem_libc(), &b->object, NULL),
        WNDL_OK);
}

static void finish(struct bench *b)
{
    end_program(b);
    waitpid(b->pid, NULL, 0);
    wndl_offcpu_end(b->watch, wndl_clock_monotonic_ns());
    wndl_offcpu_shared_free(b->shared);
    wndl_binaries_free(&b->binaries);
    read_back(b);
}

static void tear_down(struct bench *b)
{
    wndl_object_close(b->object);
    wndl_file_close(&b->binary);
    wndl_profile_free(&b->profile);
}

/* ---- what came out */

static uint32_t thread_named(const struct bench *b, const char *name)
{
    for (uint32_t i = 0; i < b->profile.threads.len; i++) {
        const struct wndl_thread *t = wndl_vec_at(&b->profile.threads, i);
        if (wndl_bytes_is(t->name, name))
            return i;
    }
    fail_msg("no thread %s", name);
    return 0;
}

/* The program's functions on a stack, root first: " main f g". */
static void functions_of(
    const struct bench *b, uint32_t leaf, char *text, size_t size)
{
    const struct wndl_profile *p = &b->profile;
    char whole[1024] = "";
    for (uint32_t n = leaf; n != 0;) {
        const struct wndl_node *node = wndl_vec_at(&p->nodes, n);
        const struct wndl_frame_key *f = wndl_vec_at(&p->frames, node->frame);
        n = node->parent;
        if (f->image == WNDL_NO_INDEX)
            continue;
        const struct wndl_image *image = wndl_vec_at(&p->images, f->image);
        struct wndl_symbol symbol;
        wndl_svma at = {wndl_object_image_base(b->object).v + f->address -
                        (f->exact == WNDL_EXACT_NOT)};
        if (!wndl_bytes_is(image->path, b->program) ||
            wndl_object_find_function(b->object, at, &symbol, NULL) != WNDL_OK)
            continue;
        snprintf(text, size, " %.*s%s", (int)symbol.name.size,
            (const char *)symbol.name.data, whole);
        snprintf(whole, sizeof whole, "%s", text);
    }
    snprintf(text, size, "%s", whole);
}

/* ns that a thread was blocked with that stack; in all, if it is NULL. */
static uint64_t blocked_in(
    const struct bench *b, uint32_t thread, const char *functions)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < b->profile.blocks.len; i++) {
        const struct wndl_block *block = wndl_vec_at(&b->profile.blocks, i);
        char text[1024];
        if (block->thread != thread || block->waiting)
            continue;
        functions_of(b, block->node, text, sizeof text);
        if (functions == NULL || strcmp(text, functions) == 0)
            sum += block->duration;
    }
    return sum;
}

static uint64_t not_running(const struct bench *b, uint32_t thread)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < b->profile.blocks.len; i++) {
        const struct wndl_block *block = wndl_vec_at(&b->profile.blocks, i);
        sum += block->thread == thread ? block->duration : 0;
    }
    return sum;
}

/* For whoever reads that a test failed. */
static void say_blocks(const struct bench *b, uint32_t thread)
{
    for (size_t i = 0; i < b->profile.blocks.len; i++) {
        const struct wndl_block *block = wndl_vec_at(&b->profile.blocks, i);
        char text[1024];
        if (block->thread != thread)
            continue;
        functions_of(b, block->node, text, sizeof text);
        print_message("%" PRIu64 " +%" PRIu64 " %s end %u:%s\n", block->start,
            block->duration, block->waiting ? "waiting" : "blocked", block->end,
            text);
    }
}

/* ---- tests */

static void all_stacks_are_whole(const struct bench *b)
{
    static const struct {
        const char *thread, *functions;
    } expected[] = {
        {"sleeper", " sleep_long sleep_1 sleep_2 sleep_3"},
        {"reader", " read_pipe read_1"},
        {"waiter", " wait_for_condition wait_1"},
        {"poller", " poll_nothing poll_1"},
        {"forker", " fork_child fork_1"},
        {NULL, " _start main wait_for_the_end"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        uint32_t thread = expected[i].thread == NULL
                              ? 0
                              : thread_named(b, expected[i].thread);
        uint64_t all = blocked_in(b, thread, NULL);
        uint64_t here = blocked_in(b, thread, expected[i].functions);
        if (all >= UINT64_C(250) * MS && here + MS >= all)
            continue;
        say_blocks(b, thread);
        fail_msg("%s: %" PRIu64 " of %" PRIu64 " ns in%s",
            expected[i].thread == NULL ? "main" : expected[i].thread, here, all,
            expected[i].functions);
    }
}

static bool naps_are_told_apart(const struct bench *b)
{
    uint32_t thread = thread_named(b, "napper");
    double all = (double)blocked_in(b, thread, NULL);
    double long_naps =
        (double)blocked_in(b, thread, " work_and_nap nap_long nap");
    double short_naps =
        (double)blocked_in(b, thread, " work_and_nap nap_short nap");
    if (long_naps >= 0.5 * all && short_naps >= 0.05 * all &&
        long_naps + short_naps >= 0.97 * all)
        return true;
    say_blocks(b, thread);
    print_message("%.0f and %.0f of %.0f ns\n", long_naps, short_naps, all);
    return false;
}

/* Whether naps are: what else is not fails the test. */
static bool is_right(const char *name)
{
    struct bench b;
    set_up(&b, name);
    turn_for(&b, 800);
    const struct wndl_offcpu_totals totals = *wndl_offcpu_totals(b.shared);
    assert_true(totals.stacks > 5);
    assert_int_equal(totals.complete, totals.stacks);
    assert_int_equal(totals.refused, 0);
    finish(&b);
    all_stacks_are_whole(&b);
    const bool right = naps_are_told_apart(&b);
    tear_down(&b);
    return right;
}

/* Where others have the processors, a nap takes what it takes: one run of a few
 * has to be right. */
static void check_program(const char *name)
{
    enum { ATTEMPTS = 10 };
    for (int i = 0; i < ATTEMPTS; i++) {
        if (is_right(name))
            return;
    }
    fail_msg("%s: none of %d runs is right", name, ATTEMPTS);
}

static void stacks_without_frame_pointers_are_whole(void **state)
{
    (void)state;
    check_program("blocked_O2");
}

static void stacks_with_frame_pointers_are_whole(void **state)
{
    (void)state;
    check_program("blocked_fp");
}

static void stacks_of_unoptimised_programs_are_whole(void **state)
{
    (void)state;
    check_program("blocked_O0");
}

static void stacks_of_32_bit_programs_are_whole(void **state)
{
    (void)state;
    if (access(WNDL_BUILT_FIXTURES "/record/blocked_32", X_OK) != 0)
        SKIP("no compiler for 32-bit programs");
    check_program("blocked_32");
}

/* How long a thread had run, and when that was so. */
struct run {
    uint64_t time, run;
};

static struct run run_of(const struct bench *b, uint32_t tid)
{
    char path[PATH_ROOM];
    struct run r = {.time = wndl_clock_monotonic_ns()};
    snprintf(path, sizeof path, "/proc/%d/task/%" PRIu32 "/schedstat",
        (int)b->pid, tid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%" SCNu64, &r.run), 1);
    fclose(f);
    return r;
}

/* But for what is not known yet of the time between two turns. */
static void the_times_of_each_thread_sum_up(void **state)
{
    (void)state;
    enum { THREADS = 7 };
    struct bench b;
    struct run before[THREADS], after[THREADS];
    set_up(&b, "blocked_O2");
    uint64_t began = wndl_clock_monotonic_ns();
    wndl_offcpu_turn(b.watch, began);
    const struct wndl_collector_thread *known = b.threads.all.data;
    assert_int_equal(b.threads.all.len, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        before[i] = run_of(&b, known[i].tid);
    uint64_t slack = wndl_clock_monotonic_ns() - began;
    turn_for(&b, 700);
    began = wndl_clock_monotonic_ns();
    for (size_t i = 0; i < THREADS; i++)
        after[i] = run_of(&b, known[i].tid);
    wndl_offcpu_pause(b.watch, true, wndl_clock_monotonic_ns());
    slack += wndl_clock_monotonic_ns() - began;
    finish(&b);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint64_t wall = after[i].time - before[i].time;
        uint64_t told = not_running(&b, i) + after[i].run - before[i].run;
        uint64_t error = wall > told ? wall - told : told - wall;
        if (error > 20 * MS + slack + 2 * b.gap)
            fail_msg("thread %" PRIu32 ": %" PRIu64 " of %" PRIu64 " ns", i,
                told, wall);
    }
    tear_down(&b);
}

/* When the last block that is told of it ended. */
static uint64_t told_until(const struct bench *b, uint32_t thread)
{
    uint64_t last = 0;
    for (size_t i = 0; i < b->profile.blocks.len; i++) {
        const struct wndl_block *block = wndl_vec_at(&b->profile.blocks, i);
        uint64_t end = block->start + block->duration;
        last = block->thread == thread && end > last ? end : last;
    }
    return last;
}

/* One that cannot be looked at for want of descriptors has not ended. */
static void threads_outlive_our_descriptors(void **state)
{
    (void)state;
    struct bench b;
    struct rlimit all;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    const struct rlimit none = {0, all.rlim_max};
    set_up(&b, "blocked_O2");
    turn_for(&b, 200);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    turn_for(&b, 1500); /* names are read once a second */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    turn_for(&b, 800);
    finish(&b);
    uint64_t sleeper = told_until(&b, thread_named(&b, "sleeper"));
    uint64_t napper = told_until(&b, thread_named(&b, "napper"));
    assert_true(sleeper != 0 && napper + UINT64_C(500) * MS > sleeper);
    tear_down(&b);
}

static void only_threads_that_are_wanted_are_told_of(void **state)
{
    (void)state;
    struct bench b;
    set_up_for(&b, "blocked_O2", "none,SLEEP,main");
    turn_for(&b, 300);
    finish(&b);
    assert_int_equal(b.profile.threads.len, 2);
    assert_true(not_running(&b, 0) > UINT64_C(250) * MS);
    assert_true(
        not_running(&b, thread_named(&b, "sleeper")) > UINT64_C(250) * MS);
    tear_down(&b);
}

/* As of a program that runs as another user. */
static void times_are_told_where_stacks_are_refused(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    struct bench b;
    if (geteuid() != 0)
        SKIP("not root");
    set_up(&b, "blocked_O2");
    assert_int_equal(seteuid(NOBODY), 0);
    turn_for(&b, 300);
    assert_int_equal(seteuid(0), 0);
    const struct wndl_offcpu_totals totals = *wndl_offcpu_totals(b.shared);
    assert_int_equal(totals.refused, 1);
    assert_true(
        totals.refused_errno == EACCES || totals.refused_errno == EPERM);
    assert_int_equal(totals.stacks, 0);
    finish(&b);
    uint64_t all = blocked_in(&b, thread_named(&b, "sleeper"), NULL);
    uint64_t here = blocked_in(&b, thread_named(&b, "sleeper"), "");
    assert_true(all > UINT64_C(250) * MS && here == all);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_without_frame_pointers_are_whole),
        cmocka_unit_test(stacks_with_frame_pointers_are_whole),
        cmocka_unit_test(stacks_of_32_bit_programs_are_whole),
        cmocka_unit_test(only_threads_that_are_wanted_are_told_of),
        cmocka_unit_test(threads_outlive_our_descriptors),
        cmocka_unit_test(times_are_told_where_stacks_are_refused),
        cmocka_unit_test(the_times_of_each_thread_sum_up),
        cmocka_unit_test(stacks_of_unoptimised_programs_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
