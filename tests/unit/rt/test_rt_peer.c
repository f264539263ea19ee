/* SPDX-License-Identifier: MIT */
/* Who may record this process, and by which memory. */
#include "testlib.h"

#include "rt/start/peer.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, OTHER = 1234 };

/* A socket that is connected to a listener of this user; or -1. */
static int connect_to(uid_t user)
{
    const struct sockaddr own = {.sa_family = AF_UNIX};
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    /* (The kernel notes who listens.) */
    if (seteuid(user) != 0 || bind(listener, &own, sizeof own.sa_family) != 0 ||
        listen(listener, 1) != 0 || seteuid(0) != 0 ||
        getsockname(listener, (void *)&address, &size) != 0 ||
        connect(to, (void *)&address, size) != 0)
        return -1;
    close(listener);
    return to;
}

static void root_and_the_user_itself_may(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_true(wndl_rt_peer_may_record(pair[0]));
    close(pair[0]);
    close(pair[1]);
    assert_false(wndl_rt_peer_may_record(-1));
}

static void other_users_may_not(void **state)
{
    (void)state;
    if (geteuid() != 0)
        SKIP("only root can become other users");
    static const uid_t others[] = {1, OTHER, 65533, 65534, 65535};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int socket = connect_to(others[i]);
        assert_true(socket >= 0);
        assert_false(wndl_rt_peer_may_record(socket));
        close(socket);
    }
    int socket = connect_to(0);
    assert_true(socket >= 0);
    assert_true(wndl_rt_peer_may_record(socket));
    close(socket);
}

/* Exit statuses of a child. */
enum { MAY_NOT, MAY, NO_NAMESPACES };

/* In a user namespace of its own, once the parent has said who its users
 * are. */
static int ask_in_namespace(int socket, int parent)
{
    char done;
    if (unshare(CLONE_NEWUSER) != 0)
        return NO_NAMESPACES;
    if (write(parent, "", 1) != 1 || read(parent, &done, 1) != 1)
        return -1;
    return wndl_rt_peer_may_record(socket) ? MAY : MAY_NOT;
}

static void write_users(pid_t child, const char *map)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/uid_map", (int)child);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(map, file);
    assert_int_equal(fclose(file), 0);
}

/* The answer about a listener of `user` in a namespace with the users `map`. */
static int answer_in_namespace(uid_t user, const char *map)
{
    int status = 0, pair[2], socket = connect_to(user);
    char ready;
    assert_true(socket >= 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pair[0]);
        _exit(ask_in_namespace(socket, pair[1]));
    }
    close(pair[1]);
    if (read(pair[0], &ready, 1) == 1) {
        write_users(child, map);
        assert_int_equal(write(pair[0], "", 1), 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    close(pair[0]);
    close(socket);
    return WEXITSTATUS(status);
}

/* Outside of our namespace nobody can be told from a user of ours. */
static void users_without_a_number_here_may(void **state)
{
    (void)state;
    if (geteuid() != 0)
        SKIP("only root can become other users");
    int answer = answer_in_namespace(OTHER, "0 0 1\n");
    if (answer == NO_NAMESPACES)
        SKIP("no user namespaces");
    assert_int_equal(answer, MAY);
    assert_int_equal(answer_in_namespace(OTHER, "0 0 1\n65535 65535 9\n"), MAY);
    assert_int_equal(answer_in_namespace(OTHER, "0 0 1\n65500 100 34\n"), MAY);
    /* Here that number is a user's. */
    assert_int_equal(answer_in_namespace(OTHER, "65534 0 1\n"), MAY_NOT);
    assert_int_equal(
        answer_in_namespace(OTHER, "0 0 1\n9 9 9\n65500 65500 35\n"), MAY_NOT);
    /* It is not known which users there are. */
    assert_int_equal(answer_in_namespace(OTHER, ""), MAY_NOT);
}

/* ---- the memory */

static bool is_whole_with(int seals, size_t file_size, size_t size)
{
    int memfd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(memfd >= 0);
    assert_int_equal(ftruncate(memfd, (off_t)file_size), 0);
    assert_int_equal(fcntl(memfd, F_ADD_SEALS, seals), 0);
    void *block = mmap(NULL, size, PROT_READ, MAP_SHARED, memfd, 0);
    assert_ptr_not_equal(block, MAP_FAILED);
    bool whole = wndl_rt_block_is_whole(memfd, block, size);
    munmap(block, size);
    close(memfd);
    return whole;
}

static void block_must_not_shrink(void **state)
{
    (void)state;
    assert_true(is_whole_with(F_SEAL_SHRINK, 2 * PAGE, 2 * PAGE));
    assert_true(is_whole_with(F_SEAL_SHRINK | F_SEAL_GROW, PAGE + 1, PAGE + 1));
    assert_false(is_whole_with(F_SEAL_GROW, 2 * PAGE, 2 * PAGE));
    assert_false(is_whole_with(0, 2 * PAGE, 2 * PAGE));
}

static void block_must_not_be_too_small(void **state)
{
    (void)state;
    assert_false(is_whole_with(F_SEAL_SHRINK, PAGE, PAGE + 1));
    assert_false(is_whole_with(F_SEAL_SHRINK, PAGE, 3 * PAGE));
}

static void block_must_be_memory(void **state)
{
    (void)state;
    static const uint8_t block[PAGE];
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    assert_false(wndl_rt_block_is_whole(pair[0], block, PAGE));
    assert_false(wndl_rt_block_is_whole(-1, block, PAGE));
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_and_the_user_itself_may),
        cmocka_unit_test(other_users_may_not),
        cmocka_unit_test(users_without_a_number_here_may),
        cmocka_unit_test(block_must_not_shrink),
        cmocka_unit_test(block_must_not_be_too_small),
        cmocka_unit_test(block_must_be_memory),
    };
    if (runs_on_valgrind())
        cmocka_set_skip_filter(
            "block_must_not_be_too_small"); /* it reads the block itself */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
