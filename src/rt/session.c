/* SPDX-License-Identifier: MIT */
/*
 * The talk with the collector, at the start of a process image. Whatever
 * fails, the program runs on unrecorded.
 */
#include "os/raw.h"
#include "rt/rt.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

enum { PATIENCE_SECONDS = 2 };

static bool set_patience(int fd, int option)
{
    const struct timeval t = {.tv_sec = PATIENCE_SECONDS};
    const long a[] = {fd, SOL_SOCKET, option, (long)&t};
    return wndl_raw6(SYS_setsockopt, a, sizeof t, 0) == 0;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = strlen(path);
    if (size >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, size);
    int fd =
        (int)wndl_raw3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    /* The time to send bounds connect() too. */
    if (set_patience(fd, SO_SNDTIMEO) && set_patience(fd, SO_RCVTIMEO) &&
        wndl_raw3(SYS_connect, fd, (long)&address, sizeof address) == 0)
        return fd;
    wndl_raw_close(fd);
    return -1;
}

/* Room for one descriptor beside a message. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_with(int fd, const void *bytes, size_t size, int passed)
{
    union control control = {0};
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        control.header.cmsg_len = CMSG_LEN(sizeof passed);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    return wndl_raw3(SYS_sendmsg, fd, (long)&message, MSG_NOSIGNAL) ==
           (long)size;
}

/* Fills `bytes`; the passed descriptor, or -1. */
static int receive_with(int fd, void *bytes, size_t size)
{
    union control control = {0};
    struct iovec part = {bytes, size};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    long got = wndl_raw3(SYS_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC);
    if (got < 0 || control.header.cmsg_len != CMSG_LEN(sizeof(int)) ||
        control.header.cmsg_level != SOL_SOCKET ||
        control.header.cmsg_type != SCM_RIGHTS)
        return -1;
    int passed;
    memcpy(&passed, CMSG_DATA(&control.header), sizeof passed);
    if (got == (long)size)
        return passed;
    wndl_raw_close(passed);
    return -1;
}

static bool map_block(int memfd)
{
    struct wndl_shm *shm = wndl_raw_map(
        wndl_shm_size(), PROT_READ | PROT_WRITE, MAP_SHARED, memfd);
    if (shm == NULL)
        return false;
    if (shm->magic != WNDL_SHM_MAGIC || shm->version != WNDL_SHM_VERSION) {
        wndl_raw_unmap(shm, wndl_shm_size());
        return false;
    }
    wndl_rt.tree = (struct wndl_stacktree *)(void *)shm->tree;
    wndl_rt.shm = shm;
    return true;
}

/* Having a block to write to, starts the engine and says which. */
static void run_engine(int socket, const struct wndl_go *go)
{
    struct wndl_ready ready;
    wndl_rt.interval = go->interval;
    int event =
        wndl_rt_engine_start(go->engine, go->sample_kernel != 0, &ready);
    (void)send_with(socket, &ready, sizeof ready, event);
    if (event >= 0)
        wndl_raw_close(event);
}

void wndl_rt_start(void)
{
    int socket = connect_to(wndl_rt.session);
    if (socket < 0)
        return;
    const struct wndl_hello hello = {.version = WNDL_SHM_VERSION};
    struct wndl_go go;
    int memfd = -1;
    if (send_with(socket, &hello, sizeof hello, -1))
        memfd = receive_with(socket, &go, sizeof go);
    if (memfd >= 0 && go.version == WNDL_SHM_VERSION && map_block(memfd))
        run_engine(socket, &go);
    if (memfd >= 0)
        wndl_raw_close(memfd);
    wndl_raw_close(socket);
}
