/* SPDX-License-Identifier: MIT */
/* Memory of the program is read as far as it can be, with the call for it and,
 * in an emulator, without. */
#include "testlib.h"

#include "rt/core/read_parts.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = WNDL_RT_PAGE };

/* Two pages that can be read, then one that cannot. */
static uint8_t *pages;

static int set_up(void **state)
{
    (void)state;
    wndl_rt.pid = getpid();
    pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return -1;
    for (size_t i = 0; i < 2 * PAGE; i++)
        pages[i] = (uint8_t)(i % 251);
    return mprotect(pages + 2 * PAGE, PAGE, PROT_NONE);
}

/* The number of bytes read, if they are right; else 0xbad. */
static size_t read_pair(size_t first, size_t first_size, size_t second,
    size_t second_size, size_t room)
{
    const struct iovec parts[] = {
        {pages + first, first_size}, {pages + second, second_size}};
    uint8_t *to = malloc(room);
    size_t got = wndl_rt_read_parts(to, room, parts, 2);
    for (size_t i = 0; i < got; i++) {
        size_t at = i < first_size ? first + i : second + i - first_size;
        if (to[i] != at % 251)
            got = 0xbad;
    }
    free(to);
    return got;
}

/* 0, or the number of the first answer that is wrong. */
static int first_wrong(void)
{
    if (read_pair(100, 20, PAGE - 10, 20, 40) != 40)
        return 1;
    if (read_pair(0, 2 * PAGE, 5, 7, 3 * PAGE) != 2 * PAGE + 7)
        return 2;
    if (read_pair(100, 20, 200, 50, 40) != 40) /* no more room */
        return 3;
    if (read_pair(2 * PAGE - 6, 10, 0, 10, 40) != 6) /* no hole in it */
        return 4;
    if (read_pair(0, 10, 2 * PAGE, 10, 40) != 10)
        return 5;
    if (read_pair(2 * PAGE, 10, 0, 10, 40) != 0)
        return 6;
    return 0;
}

static void parts_are_read_up_to_the_first_unreadable_byte(void **state)
{
    (void)state;
    assert_int_equal(first_wrong(), 0);
}

/* In a child that has no such call. */
static int first_wrong_without_the_call(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 100;
    return first_wrong();
}

static void emulator_s_process_reads_the_same(void **state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(first_wrong_without_the_call());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ESRCH as of a process whose first thread has ended; here of no process. */
static void thread_reads_after_the_end_of_the_first_one(void **state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    wndl_rt.pid = child;
    assert_int_equal(first_wrong(), 0);
    wndl_rt.pid = getpid();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_read_up_to_the_first_unreadable_byte),
        cmocka_unit_test(emulator_s_process_reads_the_same),
        cmocka_unit_test(thread_reads_after_the_end_of_the_first_one),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
