/* SPDX-License-Identifier: MIT */
/* Copies of call frame information that the program registers. */
#include "testlib.h"

#include "cfibuild.h"
#include "rt/core/rt.h"
#include "rt/walk/jit_registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* More pieces of code than the first two registries have room for, and more
 * bytes of records than one chunk of copies; LARGE terminators are more than
 * a chunk, too. */
enum {
    PIECES = 3200,
    SOME = 1000,
    BASE = 0x10000,
    PIECE = 16,
    LARGE = 25 * 1000
};

static uint64_t start_of(size_t piece)
{
    return BASE + piece * PIECE;
}

/* Registers records of one piece, with so many terminators after them, in
 * memory that is gone afterwards. */
static void add_in(size_t piece, uint64_t origin, size_t terminators)
{
    static struct cfi_build b;
    const struct cfi_shape shape = {
        .address_size = sizeof(void *), .version = 1};
    cfi_build_init(&b, &shape, 0);
    size_t cie = cfi_put_cie(&b, CFI_BYTES(0));
    cfi_put_fde(
        &b, cie, start_of(piece), PIECE, CFI_BYTES(0x0c, 7, sizeof(void *)));
    struct wndl_jit_source source = {.frame = b.section, .origin = origin};
    const size_t size = b.section.bytes.size + 4 * terminators;
    uint8_t *bytes = calloc(1, size);
    assert_non_null(bytes);
    memcpy(bytes, b.data, b.section.bytes.size);
    source.frame.addr = (uintptr_t)bytes;
    source.frame.bytes = (struct wndl_bytes){bytes, size};
    wndl_rt_jit_add(&source);
    memset(bytes, 0xff, size);
    free(bytes);
}

static void add(size_t piece)
{
    add_in(piece, piece + 1, 0);
}

static bool is_known(size_t piece)
{
    return wndl_jit_covers(wndl_rt_jit_registry(), start_of(piece));
}

static void assert_known(size_t first, size_t end, bool known)
{
    for (size_t i = first; i < end; i++)
        assert_int_equal(is_known(i), known);
}

/* The pages of this process's address space. */
static size_t mapped_pages(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages;
}

/* ---- before anything is registered */

static struct wndl_jit *new_jit(void)
{
    void *memory = calloc(1, wndl_jit_size(4));
    assert_non_null(memory);
    return wndl_jit_init(memory, 4);
}

static void register_in(struct wndl_jit *jit, size_t piece)
{
    const struct wndl_jit_rule rule = {.cfa = sizeof(void *)};
    const struct wndl_jit_code code = {start_of(piece), PIECE, &rule, 1};
    assert_int_equal(wndl_jit_add(jit, &code, 1), WNDL_OK);
}

static void program_s_own_registry_is_searched_too(void **state)
{
    (void)state;
    struct wndl_jit *own = new_jit();
    register_in(own, 0);
    assert_null(wndl_rt_jit_registry());
    wndl_rt_jit_remove(1);
    wndl_rt_jit_use(own);
    assert_ptr_equal(wndl_rt_jit_registry(), own);
    assert_true(wndl_rt.shm->jit == (uintptr_t)own);
    add(1);
    assert_true(wndl_rt.shm->jit == (uintptr_t)wndl_rt_jit_registry());
    assert_ptr_not_equal(wndl_rt_jit_registry(), own);
    assert_known(0, 2, true);
    wndl_rt_jit_use(NULL);
    assert_known(0, 1, false);
    assert_known(1, 2, true);
    wndl_rt_jit_remove(2);
    assert_known(0, 2, false);
    free(own);
}

/* ---- afterwards */

static void records_are_known_until_they_are_removed(void **state)
{
    (void)state;
    for (size_t i = 0; i < PIECES; i++)
        add(i);
    assert_known(0, PIECES, true);
    assert_known(PIECES, PIECES + 1, false);
    for (size_t i = 0; i < PIECES; i += 2)
        wndl_rt_jit_remove(i + 1);
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(is_known(i), i % 2 != 0);
    for (size_t i = 1; i < PIECES; i += 2)
        wndl_rt_jit_remove(i + 1);
    assert_known(0, PIECES, false);
}

/* The walk has the copy: the program's records are gone. */
static void walk_reads_the_copy(void **state)
{
    (void)state;
    struct wndl_code code;
    struct wndl_jit_hold hold;
    struct wndl_fde fde;
    add(3);
    assert_int_not_equal(
        wndl_jit_find(wndl_rt_jit_registry(), start_of(3), &code, &hold),
        WNDL_CODE_NO_MODULE);
    assert_int_equal(
        wndl_fde_scan(&code.frame, start_of(3), &fde, NULL), WNDL_OK);
    assert_true(fde.start == start_of(3));
    wndl_jit_leave(&hold);
    wndl_rt_jit_remove(4);
}

static void all_of_an_origin_is_removed(void **state)
{
    (void)state;
    add_in(0, 7, 0);
    add_in(1, 7, LARGE);
    add_in(2, 8, 1);
    assert_known(0, 3, true);
    wndl_rt_jit_remove(7);
    assert_known(0, 2, false);
    assert_known(2, 3, true);
    wndl_rt_jit_remove(8);
    assert_known(2, 3, false);
}

static void add_and_remove_some(void)
{
    for (size_t i = 0; i < SOME; i++)
        add(i);
    add_in(SOME, SOME + 1, LARGE);
    for (size_t i = 0; i < SOME + 1; i++)
        wndl_rt_jit_remove(i + 1);
    add(0);
    wndl_rt_jit_remove(1);
}

/* (A sanitizer keeps what is freed.) */
static void memory_of_removed_records_is_given_back(void **state)
{
    (void)state;
    add_and_remove_some();
    size_t before = mapped_pages();
    for (unsigned i = 0; i < 5; i++)
        add_and_remove_some();
    assert_in_range(mapped_pages(), 0, before + 64);
}

static void first_registry_is_searched_with_all_others(void **state)
{
    (void)state;
    struct wndl_jit *first = new_jit();
    register_in(first, 1);
    add(2);
    wndl_rt_jit_look_first(first);
    assert_ptr_equal(wndl_rt_jit_registry(), first);
    assert_true(wndl_rt.shm->jit == (uintptr_t)first);
    assert_known(1, 3, true);
    wndl_rt_jit_look_first(NULL);
    assert_known(1, 2, false);
    assert_known(2, 3, true);
    wndl_rt_jit_remove(3);
    free(first);
}

/* A walk of the parent's other thread is not in the child: nothing there waits
 * for its end. */
static void child_waits_for_no_walk_of_its_parent(void **state)
{
    (void)state;
    struct wndl_code code;
    struct wndl_jit_hold hold;
    int status = 0;
    add(3);
    assert_int_not_equal(
        wndl_jit_find(wndl_rt_jit_registry(), start_of(3), &code, &hold),
        WNDL_CODE_NO_MODULE);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        wndl_rt_jit_after_fork();
        wndl_rt_jit_remove(4);
        _exit(is_known(3));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wndl_jit_leave(&hold);
    assert_true(is_known(3));
    wndl_rt_jit_remove(4);
}

static int set_up(void **state)
{
    (void)state;
    wndl_rt.shm = mmap(NULL, sizeof *wndl_rt.shm, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return wndl_rt.shm == MAP_FAILED ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_s_own_registry_is_searched_too),
        cmocka_unit_test(records_are_known_until_they_are_removed),
        cmocka_unit_test(walk_reads_the_copy),
        cmocka_unit_test(all_of_an_origin_is_removed),
        cmocka_unit_test(memory_of_removed_records_is_given_back),
        cmocka_unit_test(first_registry_is_searched_with_all_others),
        cmocka_unit_test(child_waits_for_no_walk_of_its_parent),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
