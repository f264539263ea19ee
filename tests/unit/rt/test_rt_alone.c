/* SPDX-License-Identifier: MIT */
/* The block of a process that does not wait for its collector. */
#include "testlib.h"

#include "rec/heap.h"
#include "rt/core/rt.h"
#include "rt/heap/heap.h"
#include "rt/start/alone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 5000, SITES = 2048 };

static char folder[] = "/tmp/windlass-alone-XXXXXX";
static char socket_path[sizeof folder + 10];

/* Stands for that of rt/heap/heap.c. */
size_t wndl_rt_heap_shared_size(const struct wndl_go *go)
{
    if ((go->heap & WNDL_HEAP_ON) == 0)
        return wndl_shm_whole_size(go->nodes);
    return wndl_heap_offset(go->nodes) + wndl_heap_layout(go->heap_sites).size;
}

static struct wndl_settings plain_settings(void)
{
    return (struct wndl_settings){
        .go = {.version = WNDL_SHM_VERSION,
            .engine = WNDL_ENGINE_PERF,
            .fallback = WNDL_ENGINE_TICK,
            .max_frames = 77,
            .interval = 12345,
            .nodes = NODES,
            .threads = "main"},
        .tables = "/a/table",
    };
}

static const char *in_folder(const char *name)
{
    static char path[sizeof folder + 20];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The first `size` bytes of the settings' file. */
static void write_settings(const struct wndl_settings *settings, size_t size)
{
    FILE *file = fopen(in_folder(WNDL_SETTINGS_FILE), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(settings, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    wndl_rt.session = socket_path;
    wndl_rt.may_begin_alone = true;
    wndl_rt_alone_remember(&(struct wndl_go){.version = 0});
    snprintf(socket_path, sizeof socket_path, "%s/socket", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(in_folder(WNDL_SETTINGS_FILE));
    unlink(in_folder(WNDL_LATE_FILE));
    return 0;
}

/* ---- the settings */

static void without_settings_there_is_no_block(void **state)
{
    (void)state;
    struct wndl_go go;
    struct wndl_settings settings = plain_settings();
    assert_int_equal(wndl_rt_alone_make(&go), -ENOENT);
    settings.go.version++;
    write_settings(&settings, sizeof settings);
    assert_int_equal(wndl_rt_alone_make(&go), -ENOENT);
    settings.go.version--;
    write_settings(&settings, sizeof settings);
    wndl_rt.may_begin_alone = false;
    assert_int_equal(wndl_rt_alone_make(&go), -ENOENT);
}

static void remembered_answer_stands_for_the_file(void **state)
{
    (void)state;
    struct wndl_go go;
    struct wndl_settings settings = plain_settings();
    wndl_rt_alone_remember(&settings.go);
    int memfd = wndl_rt_alone_make(&go);
    assert_true(memfd >= 0);
    assert_int_equal(go.max_frames, 77);
    close(memfd);
    settings.go.max_frames = 78;
    write_settings(&settings, sizeof settings - 1);
    memfd = wndl_rt_alone_make(&go);
    assert_true(memfd >= 0);
    assert_int_equal(go.max_frames, 77); /* half a file is none */
    close(memfd);
    write_settings(&settings, sizeof settings);
    memfd = wndl_rt_alone_make(&go);
    assert_true(memfd >= 0);
    assert_int_equal(go.max_frames, 78);
    close(memfd);
}

/* ---- the block */

static struct wndl_shm *map_block(int memfd, size_t size)
{
    struct stat about;
    struct wndl_shm *shm =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
    assert_ptr_not_equal(shm, MAP_FAILED);
    assert_int_equal(fstat(memfd, &about), 0);
    assert_true((size_t)about.st_size == size);
    assert_int_equal(
        fcntl(memfd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    assert_int_equal(fcntl(memfd, F_GETFD), FD_CLOEXEC);
    return shm;
}

static void block_is_as_the_collector_makes_it(void **state)
{
    (void)state;
    struct wndl_go go;
    struct wndl_settings settings = plain_settings();
    char executable[WNDL_SHM_PATH] = "";
    settings.paused = 1;
    write_settings(&settings, sizeof settings);
    int memfd = wndl_rt_alone_make(&go);
    assert_true(memfd >= 0);
    const size_t size = wndl_shm_whole_size(NODES);
    struct wndl_shm *shm = map_block(memfd, size);
    assert_memory_equal(&go, &settings.go, sizeof go);
    assert_true(shm->magic == WNDL_SHM_MAGIC);
    assert_int_equal(shm->version, WNDL_SHM_VERSION);
    assert_int_equal(shm->paused, 1);
    assert_string_equal(shm->tables, "/a/table");
    assert_true(
        readlink("/proc/self/exe", executable, sizeof executable - 1) > 0);
    assert_string_equal(shm->executable, executable);
    assert_true(wndl_stacktree_intact((void *)shm->tree, NODES));
    munmap(shm, size);
    close(memfd);
}

static void block_of_a_heap_has_its_header(void **state)
{
    (void)state;
    struct wndl_go go;
    struct wndl_settings settings = plain_settings();
    settings.go.heap = WNDL_HEAP_ON;
    settings.go.heap_sample_below = 99;
    write_settings(&settings, sizeof settings);
    int memfd = wndl_rt_alone_make(&go);
    assert_true(memfd >= 0);
    assert_int_equal(go.heap_sites,
        sizeof(void *) == 8 ? WNDL_HEAP_SITES : WNDL_HEAP_SITES_32);
    const size_t size = wndl_rt_heap_shared_size(&go);
    struct wndl_shm *shm = map_block(memfd, size);
    const struct wndl_heap *heap =
        (const void *)((uint8_t *)shm + wndl_heap_offset(go.nodes));
    assert_int_equal(heap->sites, go.heap_sites);
    assert_int_equal(heap->flags, WNDL_HEAP_ON);
    assert_true(heap->sample_below == 99);
    munmap(shm, size);
    close(memfd);
}

/* ---- limits: each in a child */

static struct wndl_go go_within(int resource, rlim_t most, int *made)
{
    struct answer {
        struct wndl_go go;
        int made;
    } *answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct rlimit limit = {most, most};
    int status = 0;
    assert_ptr_not_equal(answer, MAP_FAILED);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int failed = setrlimit(resource, &limit);
        answer->made = wndl_rt_alone_make(&answer->go);
        _exit(failed != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0); /* no signal either */
    struct wndl_go go = answer->go;
    *made = answer->made;
    munmap(answer, sizeof *answer);
    return go;
}

static void file_of_that_size_must_be_allowed(void **state)
{
    (void)state;
    int made;
    struct wndl_settings settings = plain_settings();
    const rlim_t size = wndl_shm_whole_size(NODES);
    write_settings(&settings, sizeof settings);
    (void)go_within(RLIMIT_FSIZE, size - 1, &made);
    assert_int_equal(made, -EFBIG);
    (void)go_within(RLIMIT_FSIZE, size, &made);
    assert_true(made >= 0);
}

/* (A sanitizer has more than that mapped, and the block is not made.) */
static void limited_address_space_gets_a_smaller_heap(void **state)
{
    (void)state;
    const rlim_t most = 2 * wndl_heap_layout(WNDL_HEAP_SITES).size;
    int made;
    struct wndl_settings settings = plain_settings();
    settings.go.heap = WNDL_HEAP_ON;
    write_settings(&settings, sizeof settings);
    struct wndl_go go = go_within(RLIMIT_AS, most, &made);
    assert_int_equal(go.nodes, WNDL_SHM_NODES);
    assert_int_equal(go.heap_sites, wndl_heap_sites_within(most, true));
    assert_true(go.heap_sites < WNDL_HEAP_SITES);
}

/* ---- the note that nobody waits */

static void who_has_waited_in_vain_tells_the_others(void **state)
{
    (void)state;
    assert_false(wndl_rt_alone_is_usual());
    wndl_rt.may_begin_alone = false;
    wndl_rt_alone_make_usual();
    assert_int_not_equal(access(in_folder(WNDL_LATE_FILE), F_OK), 0);
    wndl_rt.may_begin_alone = true;
    wndl_rt_alone_make_usual();
    assert_true(wndl_rt_alone_is_usual());
    assert_int_equal(access(in_folder(WNDL_LATE_FILE), F_OK), 0);
    wndl_rt.may_begin_alone = false;
    assert_false(wndl_rt_alone_is_usual());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_settings_there_is_no_block),
        TEST(remembered_answer_stands_for_the_file),
        TEST(block_is_as_the_collector_makes_it),
        TEST(block_of_a_heap_has_its_header),
        TEST(file_of_that_size_must_be_allowed),
        TEST(limited_address_space_gets_a_smaller_heap),
        TEST(who_has_waited_in_vain_tells_the_others),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
