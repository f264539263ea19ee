/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/memory_places.h"
#include "os/smaps.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static bool sum_of(const char *path, struct wndl_memory_sum *sum)
{
    static uint8_t room[8 * KIB];
    return wndl_smaps_sum(path, (struct wndl_bytes){room, sizeof room}, sum);
}

static bool sum_up(const char *text, struct wndl_memory_sum *sum)
{
    char path[] = "/tmp/wndl-smaps-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    const bool is_read = sum_of(path, sum);
    unlink(path);
    return is_read;
}

/* A line of maps, its resident KiB, and whether core dumps leave it out. */
struct line {
    const char *map;
    unsigned resident;
    bool is_undumped;
};

static void sum_up_lines(
    const struct line *lines, size_t count, struct wndl_memory_sum *sum)
{
    char text[16 * KIB];
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
            "%s\nSize: 16 kB\nKernelPageSize: 4 kB\nRss: %8u kB\n"
            "Pss:        1 kB\nPss_Dirty:  0 kB\nVmFlags: rd wr mr%s \n",
            lines[i].map, lines[i].resident,
            lines[i].is_undumped ? " dd" : " add");
    assert_true(sum_up(text, sum));
}

static void each_mapping_has_its_kind(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"00400000-00401000 r-xp 0 fe:01 9 /bin/a", 1, false},
        {"00401000-00402000 rw-p 0 fe:01 9 /bin/a", 2, false},
        {"00402000-09402000 rw-p 0 00:00 0 ", 4, false}, /* its zeroed data */
        {"0a000000-0a100000 rw-p 0 00:00 0 [heap]", 8, false},
        {"7f0000000000-7f0000021000 rw-p 0 00:00 0 ", 16, false}, /* arena */
        {"7f0000021000-7f0004000000 ---p 0 00:00 0 ", 0, false},
        {"7f0004001000-7f0004002000 ---p 0 00:00 0 ", 0, false}, /* guard */
        {"7f0004002000-7f0004802000 rw-p 0 00:00 0 ", 32, false},
        {"7f0800000000-7f0802000000 rw-p 0 00:00 0 ", 65536, false},
        {"7f1000001000-7f1000002000 rw-p 0 00:00 0 ", 64, false},
        {"7f1000003000-7f1000004000 rw-p 0 00:00 0 ", 128, true},
        {"7f2000001000-7f2000002000 r--p 0 fe:01 8 /lib/b c.so", 256, false},
        {"7f2000002000-7f2000003000 rw-p 0 00:00 0 ", 512, false},
        {"7f2000005000-7f2000006000 rw-p 0 fe:01 7 /x/libwindlass-heap.so",
            1024, false},
        {"7f2000006000-7f2000007000 rw-p 0 00:00 0 ", 2048, false},
        {"7f3000001000-7f3000002000 rw-s 0 00:01 6 /memfd:windlass (deleted)",
            4096, false},
        {"7f3000003000-7f3000004000 rw-s 0 00:01 5 /memfd:x (deleted)", 8192,
            false},
        {"7ffc12300000-7ffc12321000 rw-p 0 00:00 0 [stack]", 16384, false},
        {"7ffc12322000-7ffc12323000 r-xp 0 00:00 0 [vdso]", 32768, false},
    };
    static const unsigned expected[WNDL_MEMORY_KINDS] = {
        [WNDL_MEMORY_HEAP] = 8 + 16,
        [WNDL_MEMORY_MAPPED] = 64 + 65536,
        [WNDL_MEMORY_STACKS] = 32 + 16384,
        [WNDL_MEMORY_CODE] = 1,
        [WNDL_MEMORY_DATA] = 2 + 4 + 256 + 512,
        [WNDL_MEMORY_SHARED] = 8192,
        [WNDL_MEMORY_WINDLASS] = 128 + 1024 + 2048 + 4096,
        [WNDL_MEMORY_OTHER] = 32768,
    };
    enum { COUNT = sizeof lines / sizeof lines[0] };
    struct wndl_memory_sum sum;
    sum_up_lines(lines, COUNT, &sum);
    for (size_t i = 0; i < WNDL_MEMORY_KINDS; i++)
        assert_int_equal(sum.resident[i] / KIB, expected[i]);
    assert_int_equal(wndl_memory_resident(&sum) / KIB, 131071);
    assert_int_equal(sum.proportional / KIB, COUNT);
    /* Without what may not be used, and without windlass's. */
    assert_int_equal(sum.mapped / KIB, 16 * (COUNT - 2 - 4));
}

static void large_mapping_is_neither_stack_nor_zeroed_data(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"00400000-00401000 r-xp 0 fe:01 9 /bin/a", 0, false},
        {"7f0004001000-7f0004002000 ---p 0 00:00 0 ", 0, false},
        {"7f0004002000-7f0014002000 rw-p 0 00:00 0 ", 1, false},
        {"7f2000001000-7f2000002000 r--p 0 fe:01 8 /lib/b.so", 0, false},
        {"7f2000002000-7f2010002000 rw-p 0 00:00 0 ", 2, false},
    };
    struct wndl_memory_sum sum;
    sum_up_lines(lines, sizeof lines / sizeof lines[0], &sum);
    assert_int_equal(sum.resident[WNDL_MEMORY_MAPPED], 3 * KIB);
}

/* A reserved part begins at an arena's address by chance: 8 KiB of it used. */
static void own_memory_is_neither_arena_nor_guard(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {"7f6704000000-7f6704020000 rw-p 0 00:00 0 ", 8, true},
        {"7f6704020000-7f6714000000 ---p 0 00:00 0 ", 0, true},
        {"7f6714000000-7f6714010000 rw-p 0 00:00 0 ", 1, false}, /* arena */
        {"7f6714010000-7f6718000000 ---p 0 00:00 0 ", 0, false},
        {"7f6804001000-7f6804021000 rw-p 0 00:00 0 ", 16, true},
        {"7f6804021000-7f6814001000 ---p 0 00:00 0 ", 0, true},
        {"7f6814001000-7f6814002000 rw-p 0 00:00 0 ", 2, false},
    };
    struct wndl_memory_sum sum;
    sum_up_lines(lines, sizeof lines / sizeof lines[0], &sum);
    assert_int_equal(sum.resident[WNDL_MEMORY_WINDLASS], 24 * KIB);
    assert_int_equal(sum.resident[WNDL_MEMORY_HEAP], 1 * KIB);
    assert_int_equal(sum.resident[WNDL_MEMORY_MAPPED], 2 * KIB);
}

static void text_of_another_format_is_no_memory(void **state)
{
    (void)state;
    struct wndl_memory_sum sum;
    assert_true(sum_up("", &sum));
    assert_int_equal(wndl_memory_resident(&sum), 0);
    assert_false(sum_up("what\n", &sum));
    assert_false(sum_of("/nowhere/smaps", &sum));
}

/* The kernel's own sum of the same. */
static uint64_t rolled_up(void)
{
    unsigned long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    assert_non_null(file);
    while (kib == 0 && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "Rss: %lu kB", &kib);
    fclose(file);
    return (uint64_t)kib * KIB;
}

static void *use_stack(void *end)
{
    volatile char used[4 * MIB];
    memset((char *)used, 1, sizeof used);
    pthread_barrier_wait(end);
    pthread_barrier_wait(end);
    return NULL;
}

static void this_process_is_summed_up(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_barrier_t end;
    struct wndl_memory_sum sum;
    pthread_barrier_init(&end, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, use_stack, &end), 0);
    pthread_barrier_wait(&end);
    char *mapped = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    assert_true(mapped != MAP_FAILED);
    const uint64_t before = rolled_up();
    assert_true(sum_of("/proc/self/smaps", &sum));
    const uint64_t all = wndl_memory_resident(&sum);
    assert_true(all > before * 99 / 100 && all < before * 101 / 100);
    assert_true(sum.resident[WNDL_MEMORY_MAPPED] >= 32 * MIB);
    assert_true(sum.resident[WNDL_MEMORY_CODE] > 0);
    pthread_barrier_wait(&end);
    pthread_join(thread, NULL);
    munmap(mapped, 32 * MIB);
}

/* ---- places */

static const struct wndl_memory_place *place_of(
    const struct wndl_memory_places *places, uint32_t node)
{
    for (uint32_t i = 0; i < places->count; i++) {
        if (places->places[i].node == node)
            return &places->places[i];
    }
    return NULL;
}

static bool fill_own(
    struct wndl_memory_places *places, struct wndl_memory_sum *sum)
{
    static uint8_t room[8 * KIB];
    static struct wndl_memory_place found[256];
    const struct wndl_memory_files files = {
        "/proc/self/smaps", "/proc/self/pagemap"};
    places->places = found;
    places->most = sizeof found / sizeof found[0];
    return wndl_memory_places_fill(
        &files, (struct wndl_bytes){room, sizeof room}, sum, places);
}

/* The kernel makes one mapping of them, as of three calls side by side. */
static void mapping_of_several_calls_is_divided_by_its_pages(void **state)
{
    (void)state;
    enum { SIZE = 4 * MIB };
    uint8_t *at = mmap(
        NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    (void)madvise(at, SIZE, MADV_NOHUGEPAGE);
    memset(at, 1, MIB);
    memset(at + 2 * MIB, 1, MIB / 2);
    const uint64_t start = (uintptr_t)at;
    const struct wndl_memory_mapping mappings[] = {
        {start, start + 2 * MIB, 7, 0},
        {start + 2 * MIB, start + 3 * MIB, 8, 0},
        {start + 3 * MIB, start + SIZE, 9, 0},
        {start + SIZE + MIB * 4096ull, start + SIZE + MIB * 4097ull, 10, 0},
    };
    struct wndl_memory_places places = {
        .mappings = mappings, .mapping_count = 4};
    struct wndl_memory_sum sum;
    assert_true(fill_own(&places, &sum));
    assert_int_equal(place_of(&places, 7)->bytes, MIB);
    assert_int_equal(place_of(&places, 8)->bytes, MIB / 2);
    assert_null(place_of(&places, 9));
    assert_null(place_of(&places, 10));
    munmap(at, SIZE);
}

/* All of the code and of the data of files is in the places of their files. */
static void places_of_files_sum_to_their_kinds(void **state)
{
    (void)state;
    struct wndl_memory_places places = {.mapping_count = 0};
    struct wndl_memory_sum sum;
    uint64_t bytes[WNDL_MEMORY_KINDS] = {0};
    bool is_named = false;
    assert_true(fill_own(&places, &sum));
    for (uint32_t i = 0; i < places.count; i++) {
        bytes[places.places[i].kind] += places.places[i].bytes;
        is_named =
            is_named || (places.places[i].kind == WNDL_MEMORY_CODE &&
                            strncmp(places.places[i].name, "libc.so", 7) == 0);
    }
    assert_true(is_named);
    assert_int_equal(bytes[WNDL_MEMORY_CODE], sum.resident[WNDL_MEMORY_CODE]);
    assert_int_equal(bytes[WNDL_MEMORY_DATA], sum.resident[WNDL_MEMORY_DATA]);
    assert_int_equal(bytes[WNDL_MEMORY_HEAP], sum.resident[WNDL_MEMORY_HEAP]);
    assert_int_equal(bytes[WNDL_MEMORY_MAPPED], 0);
}

/* No array is written beyond its end. */
static void places_without_room_are_left_out(void **state)
{
    (void)state;
    static uint8_t room[8 * KIB];
    struct wndl_memory_place found[2] = {{.bytes = 0}, {.bytes = 77}};
    struct wndl_memory_places places = {.places = found, .most = 1};
    struct wndl_memory_sum sum;
    const struct wndl_memory_files files = {"/proc/self/smaps", "/nonexistent"};
    assert_true(wndl_memory_places_fill(
        &files, (struct wndl_bytes){room, sizeof room}, &sum, &places));
    assert_int_equal(places.count, 1);
    assert_int_equal(found[1].bytes, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mapping_has_its_kind),
        cmocka_unit_test(mapping_of_several_calls_is_divided_by_its_pages),
        cmocka_unit_test(places_of_files_sum_to_their_kinds),
        cmocka_unit_test(places_without_room_are_left_out),
        cmocka_unit_test(large_mapping_is_neither_stack_nor_zeroed_data),
        cmocka_unit_test(own_memory_is_neither_arena_nor_guard),
        cmocka_unit_test(text_of_another_format_is_no_memory),
        cmocka_unit_test(this_process_is_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
