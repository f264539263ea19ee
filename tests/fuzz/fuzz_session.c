/* SPDX-License-Identifier: MIT */
/*
 * fuzz_session: any bytes, with any number of descriptors, as what a process
 * sends to its recorder: the first message, and that it is ready. No descriptor
 * is left open. Byte 0: the number of descriptors in its lower half; bit 7: the
 * process hangs up before it is heard.
 */
#include "base/bytes.h"
#include "collect/start/session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PASSED = 15, HANGS_UP = 0x80 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static void send_with(int to, struct wndl_bytes bytes, size_t count)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(PASSED * sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)bytes.data, bytes.size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int passed[PASSED];
    for (size_t i = 0; i < PASSED; i++)
        passed[i] = to;
    control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(&control.header), passed, count * sizeof(int));
    if (count != 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    }
    (void)sendmsg(to, &message, MSG_NOSIGNAL);
}

static void hear(int socket)
{
    union wndl_session_first first;
    memset(&first, 0xa5, sizeof first);
    switch (wndl_session_hear(socket, &first)) {
    case WNDL_SESSION_NOBODY:
        break;
    case WNDL_SESSION_PROCESS:
        require(first.hello.version == WNDL_SHM_VERSION ||
                first.hello.refusal == WNDL_UNRECORDED_VERSION);
        break;
    case WNDL_SESSION_CONTROL:
        require(first.control.magic == WNDL_CONTROL_MAGIC);
        break;
    }
}

static void hear_next(int socket)
{
    struct wndl_session_message message;
    wndl_session_next(socket, &message);
    if (message.fd >= 0)
        require(close(message.fd) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    const int before = lowest_free();
    const uint8_t first = size == 0 ? 0 : data[0];
    const struct wndl_bytes bytes = {data + (size != 0), size - (size != 0)};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
            ends) != 0)
        return 0;
    send_with(ends[1], bytes, first & PASSED);
    send_with(ends[1], bytes, first & PASSED);
    if ((first & HANGS_UP) != 0)
        (void)shutdown(ends[1], SHUT_RDWR);
    hear(ends[0]);
    hear_next(ends[0]);
    close(ends[0]);
    close(ends[1]);
    require(lowest_free() == before);
    return 0;
}
