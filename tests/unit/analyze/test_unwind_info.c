/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/binary/unwind_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char library[] = WNDL_BUILT_FIXTURES "/crash/libcrash_lib.so";

/* Reads everything there is, and gives it back. */
static enum wndl_status read_all(const char *path, struct wndl_mem *mem)
{
    struct wndl_unwind_info info;
    struct wndl_error err = {0};
    struct wndl_buf text;
    wndl_buf_init(&text, mem);
    enum wndl_status status = wndl_unwind_info_open(&info, path, mem, &err);
    if (status != WNDL_OK)
        assert_int_equal(err.status, status);
    for (size_t i = 0; i < info.functions.len && status == WNDL_OK; i++)
        wndl_unwind_info_breakpad(
            &text, &info, wndl_vec_at(&info.functions, i));
    uint64_t last = 0;
    for (size_t i = 0; i < info.ranges.len && status == WNDL_OK; i++) {
        const struct wndl_unwind_range *r = wndl_vec_at(&info.ranges, i);
        assert_true(last <= r->start && r->start < r->end);
        assert_ptr_equal(wndl_unwind_info_find(&info, r->end - 1), r);
        last = r->end;
    }
    wndl_buf_free(&text);
    wndl_unwind_info_close(&info);
    return status;
}

static void read_bytes(struct wndl_bytes bytes, void *context)
{
    char path[64];
    size_t *opened = context;
    int fd = memfd_create("bytes", MFD_CLOEXEC);
    assert_int_equal(write(fd, bytes.data, bytes.size), bytes.size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *opened += read_all(path, wndl_mem_libc()) == WNDL_OK;
    close(fd);
}

static void a_file_that_ends_anywhere_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    struct wndl_bytes whole = read_whole_file(library);
    size_t opened = 0;
    for_each_truncation(whole, read_bytes, &opened);
    free((void *)(uintptr_t)whole.data);
}

/* A sanitizer makes a read some 40 times as slow: there it is one in 17. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRIDE 17
#endif
#endif
#ifndef STRIDE
#define STRIDE 1
#endif

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    struct wndl_bytes whole = read_whole_file(library);
    uint8_t *bytes = (uint8_t *)(uintptr_t)whole.data;
    size_t opened = 0, tried = 0;
    for (size_t i = 0; i < whole.size; i += STRIDE, tried++) {
        bytes[i] ^= 0xff;
        read_bytes(whole, &opened);
        bytes[i] ^= 0xff;
    }
    assert_in_range(opened, tried / 2, tried - 1);
    free(bytes);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    struct failing_mem mem;
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status != WNDL_OK; budget++) {
        failing_mem_init(&mem, budget);
        status = read_all(library, &mem.mem);
        assert_true(status == WNDL_OK || status == WNDL_NOMEM);
        assert_int_equal(mem.live, 0);
        assert_true(budget < 1000);
    }
}

/* Functions of the rows that the tests of rules are about are in the script. */
static void an_address_is_found_by_its_function(void **state)
{
    (void)state;
    struct wndl_unwind_info info;
    assert_int_equal(
        wndl_unwind_info_open(&info, library, wndl_mem_libc(), NULL), WNDL_OK);
    assert_true(info.functions.len > 1);
    const struct wndl_unwind_function *f = wndl_vec_at(&info.functions, 1);
    assert_ptr_equal(wndl_unwind_info_function(&info, f->start), f);
    assert_ptr_equal(wndl_unwind_info_function(&info, f->end - 1), f);
    assert_ptr_not_equal(wndl_unwind_info_function(&info, f->end), f);
    assert_null(wndl_unwind_info_function(&info, 0));
    assert_null(wndl_unwind_info_find(&info, UINT64_MAX));
    wndl_unwind_info_close(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_ends_anywhere_is_read_as_far_as_it_goes),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(an_address_is_found_by_its_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
