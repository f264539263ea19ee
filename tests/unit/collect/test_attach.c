/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/buf.h"
#include "collect/attach/descendants.h"
#include "collect/attach/record.h"
#include "collect/attach/regs.h"
#include "collect/attach/targets.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <unistd.h>

enum { STACK = 64, COPIED = 40 };

static struct wndl_bytes bytes_of(const struct wndl_buf *b)
{
    return (struct wndl_bytes){b->data, b->size};
}

static void put_header(struct wndl_buf *b, uint32_t type, uint16_t misc)
{
    wndl_buf_u32le(b, type);
    wndl_buf_byte(b, (uint8_t)misc);
    wndl_buf_byte(b, (uint8_t)(misc >> 8));
    wndl_buf_byte(b, 0);
    wndl_buf_byte(b, 0);
}

/* The thread, the time and the event, at the end of all but samples. */
static void put_trailer(struct wndl_buf *b)
{
    wndl_buf_u32le(b, 10);
    wndl_buf_u32le(b, 11);
    wndl_buf_u64le(b, 1234);
    wndl_buf_u64le(b, 77);
}

static void put_sample(struct wndl_buf *b, uint64_t abi)
{
    put_header(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    wndl_buf_u64le(b, 77);
    wndl_buf_u32le(b, 10);
    wndl_buf_u32le(b, 11);
    wndl_buf_u64le(b, 1234);
    wndl_buf_u64le(b, abi);
    for (uint64_t i = 0; abi != 0 && i < WNDL_ATTACH_WORDS; i++)
        wndl_buf_u64le(b, 100 + i);
    wndl_buf_u64le(b, STACK);
    for (int i = 0; i < STACK; i++)
        wndl_buf_byte(b, (uint8_t)i);
    wndl_buf_u64le(b, COPIED);
}

static void test_sample(void **state)
{
    (void)state;
    struct wndl_attach_record r;
    struct wndl_buf b;
    wndl_buf_init(&b, wndl_mem_libc());
    put_sample(&b, 2);
    assert_true(wndl_attach_record_read(&r, bytes_of(&b), false));
    assert_int_equal(r.kind, WNDL_ATTACH_SAMPLE);
    assert_int_equal(r.pid, 10);
    assert_int_equal(r.tid, 11);
    assert_int_equal(r.time, 1234);
    assert_int_equal(r.id, 77);
    assert_int_equal(r.regs.size, WNDL_ATTACH_WORDS * 8);
    assert_int_equal(r.stack.size, COPIED);
    assert_int_equal(r.stack.data[COPIED - 1], COPIED - 1);
    for (size_t size = 0; size < b.size; size++)
        assert_false(wndl_attach_record_read(
            &r, wndl_bytes_slice(bytes_of(&b), 0, size), false));
    wndl_buf_free(&b);
}

static void test_sample_of_the_kernel(void **state)
{
    (void)state;
    enum { FRAMES = 3 };
    struct wndl_attach_record r;
    struct wndl_buf b;
    wndl_buf_init(&b, wndl_mem_libc());
    put_header(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
    wndl_buf_u64le(&b, 77);
    wndl_buf_u32le(&b, 10);
    wndl_buf_u32le(&b, 11);
    wndl_buf_u64le(&b, 1234);
    wndl_buf_u64le(&b, FRAMES);
    for (uint64_t i = 0; i < FRAMES; i++)
        wndl_buf_u64le(&b, 500 + i);
    assert_true(wndl_attach_record_read(&r, bytes_of(&b), true));
    assert_int_equal(r.kind, WNDL_ATTACH_SAMPLE);
    assert_int_equal(r.tid, 11);
    assert_int_equal(r.time, 1234);
    assert_int_equal(r.chain.size, FRAMES * 8);
    assert_int_equal(wndl_load_u64(r.chain.data + 8), 501);
    for (size_t size = 0; size < b.size; size++)
        assert_false(wndl_attach_record_read(
            &r, wndl_bytes_slice(bytes_of(&b), 0, size), true));
    wndl_buf_free(&b);
}

/* More bytes of the stack than there are cannot have been copied. */
static void test_sample_without_registers(void **state)
{
    (void)state;
    struct wndl_attach_record r;
    struct wndl_buf b;
    wndl_buf_init(&b, wndl_mem_libc());
    put_sample(&b, 0);
    b.data[b.size - 8] = 255;
    assert_true(wndl_attach_record_read(&r, bytes_of(&b), false));
    assert_int_equal(r.regs.size, 0);
    assert_int_equal(r.stack.size, STACK);
    wndl_buf_free(&b);
}

static void test_names(void **state)
{
    (void)state;
    struct wndl_attach_record r;
    struct wndl_buf b;
    wndl_buf_init(&b, wndl_mem_libc());
    put_header(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    wndl_buf_u32le(&b, 10);
    wndl_buf_u32le(&b, 12);
    wndl_buf_add(&b, "name\0\0\0\0", 8);
    put_trailer(&b);
    assert_true(wndl_attach_record_read(&r, bytes_of(&b), false));
    assert_int_equal(r.kind, WNDL_ATTACH_EXEC);
    assert_string_equal(r.name, "name");
    assert_int_equal(r.tid, 12);
    assert_int_equal(r.time, 1234);
    b.data[5] = 0;
    assert_true(wndl_attach_record_read(&r, bytes_of(&b), false));
    assert_int_equal(r.kind, WNDL_ATTACH_NAME);
    wndl_buf_free(&b);
}

static void test_lost(void **state)
{
    (void)state;
    struct wndl_attach_record r;
    struct wndl_buf b;
    wndl_buf_init(&b, wndl_mem_libc());
    put_header(&b, PERF_RECORD_LOST, 0);
    wndl_buf_u64le(&b, 77);
    wndl_buf_u64le(&b, 500);
    put_trailer(&b);
    assert_true(wndl_attach_record_read(&r, bytes_of(&b), false));
    assert_int_equal(r.kind, WNDL_ATTACH_LOST);
    assert_int_equal(r.count, 500);
    wndl_buf_free(&b);
}

/* ---- registers */

#if defined(__x86_64__)
/* The order of the kernel's words: ax bx cx dx si di bp sp ip r8..r15. */
static void test_registers(void **state)
{
    (void)state;
    uint64_t words[WNDL_ATTACH_WORDS];
    struct wndl_attach_regs regs;
    for (uint64_t i = 0; i < WNDL_ATTACH_WORDS; i++)
        words[i] = 100 + i;
    const struct wndl_bytes bytes = {(const uint8_t *)words, sizeof words};
    assert_true(wndl_attach_regs_read(&regs, EM_X86_64, bytes));
    assert_int_equal(regs.start.ip, 108);
    assert_int_equal(regs.start.sp, 107);
    assert_int_equal(regs.start.fp, 106);
    assert_int_equal(regs.start.bx, 101);
    const uint64_t *gregs = regs.start.gregs;
    assert_int_equal(gregs[0], 109);  /* REG_R8 */
    assert_int_equal(gregs[13], 100); /* REG_RAX */
    assert_int_equal(gregs[16], 108); /* REG_RIP */
    assert_true(wndl_attach_regs_read(&regs, EM_386, bytes));
    const uint32_t *narrow = regs.start.gregs;
    assert_int_equal(narrow[11], 100); /* REG_EAX */
    assert_int_equal(narrow[14], 108); /* REG_EIP */
    assert_false(wndl_attach_regs_read(&regs, EM_ARM, bytes));
    assert_false(wndl_attach_regs_read(
        &regs, EM_X86_64, wndl_bytes_slice(bytes, 0, bytes.size - 8)));
}
#endif

/* ---- samples by two events */

/* Two threads, the second of which has inherited the first one's event. */
static void set_up(struct wndl_attach_targets *t)
{
    wndl_attach_targets_init(t, NULL, 0);
    t->event.interval = 1000;
    for (uint32_t i = 1; i <= 2; i++) {
        struct wndl_attach_fd *fd = wndl_vec_push(&t->fds);
        *fd = (struct wndl_attach_fd){.fd = -1, .target = i};
        *wndl_map_put(&t->by_id, 70 + i) = i;
    }
}

static bool counts(
    struct wndl_attach_targets *t, uint32_t tid, uint64_t id, uint64_t time)
{
    const struct wndl_attach_record sample = {
        .kind = WNDL_ATTACH_SAMPLE, .tid = tid, .id = id, .time = time};
    return wndl_attach_targets_counts(t, &sample);
}

static void test_two_events(void **state)
{
    (void)state;
    struct wndl_attach_targets t;
    set_up(&t);
    assert_true(counts(&t, 5, 72, 10000));
    assert_true(counts(&t, 5, 71, 10100)); /* attached first: it counts */
    assert_false(counts(&t, 5, 72, 11000));
    assert_true(counts(&t, 5, 71, 11100));
    wndl_attach_targets_free(&t);
}

static void test_number_again(void **state)
{
    (void)state;
    struct wndl_attach_targets t;
    set_up(&t);
    assert_true(counts(&t, 5, 71, 10000));
    wndl_attach_targets_ended(&t, 5);
    assert_true(counts(&t, 5, 72, 10100)); /* another thread */
    assert_true(counts(&t, 6, 71, 10000));
    assert_true(counts(&t, 6, 72, 90000)); /* also if its end was lost */
    wndl_attach_targets_free(&t);
}

/* ---- the end of a process */

static int add_fd(
    struct wndl_attach_targets *t, struct wndl_attach_thread thread)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct wndl_attach_fd *one = wndl_vec_push(&t->fds);
    assert_true(fd >= 0 && one != NULL);
    *one = (struct wndl_attach_fd){fd, ++t->count, thread};
    *wndl_map_put(&t->by_tid, thread.tid) = t->count;
    return fd;
}

static void test_release(void **state)
{
    (void)state;
    struct wndl_attach_targets t;
    wndl_attach_targets_init(&t, NULL, 0);
    const int first = add_fd(&t, (struct wndl_attach_thread){10, 10});
    const int other = add_fd(&t, (struct wndl_attach_thread){20, 20});
    const int second = add_fd(&t, (struct wndl_attach_thread){10, 11});
    *wndl_map_get(&t.by_tid, 11) = 7; /* another thread has its number */
    wndl_attach_targets_release(&t, 10);
    assert_int_equal(fcntl(first, F_GETFD), -1);
    assert_int_equal(fcntl(second, F_GETFD), -1);
    assert_true(fcntl(other, F_GETFD) >= 0);
    assert_int_equal(t.fds.len, 1);
    assert_int_equal(*wndl_map_get(&t.by_tid, 10), 0);
    assert_int_equal(*wndl_map_get(&t.by_tid, 11), 7);
    assert_int_equal(*wndl_map_get(&t.by_tid, 20), 2);
    wndl_attach_targets_free(&t);
    assert_int_equal(fcntl(other, F_GETFD), -1);
}

/* We are a child of our parent, but not of what we record. */
static void test_without_us(void **state)
{
    (void)state;
    struct wndl_arena arena;
    struct wndl_vec pids;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&pids, &arena, sizeof(pid_t));
    *(pid_t *)wndl_vec_push(&pids) = getppid();
    assert_true(wndl_attach_descendants(&pids));
    for (size_t i = 0; i < pids.len; i++)
        assert_int_not_equal(*(const pid_t *)wndl_vec_at(&pids, i), getpid());
    wndl_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_sample_of_the_kernel),
        cmocka_unit_test(test_sample_without_registers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lost),
#if defined(__x86_64__)
        cmocka_unit_test(test_registers),
#endif
        cmocka_unit_test(test_two_events),
        cmocka_unit_test(test_number_again),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_without_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
