/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "os/memory_socket.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Its number in its own namespace, which its sockets' names have. */
static unsigned long own_number(pid_t pid)
{
    char path[64], line[256];
    unsigned long number = (unsigned long)pid;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        const char *last = strrchr(line, '\t');
        if (wndl_text_starts_with(line, "NSpid:") && last != NULL)
            number = strtoul(last, NULL, 10);
    }
    if (in != NULL)
        fclose(in);
    return number;
}

bool wndl_memory_socket_is_near(pid_t pid)
{
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    return stat(path, &other) != 0 || stat("/proc/self/ns/net", &own) != 0 ||
           own.st_ino == other.st_ino;
}

/*
 * Opens a socket in the network namespace of `pid`, where its names are. -1
 * with errno.
 */
static int open_socket(pid_t pid)
{
    char path[64];
    if (wndl_memory_socket_is_near(pid))
        return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    const int there = open(path, O_RDONLY | O_CLOEXEC);
    int fd = -1;
    if (home >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0) {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (setns(home, CLONE_NEWNET) != 0 && fd >= 0) {
            close(fd);
            fd = -1;
        }
    }
    if (home >= 0)
        close(home);
    if (there >= 0)
        close(there);
    return fd;
}

int wndl_memory_socket_connect(pid_t pid, unsigned name, bool *is_busy)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    errno = 0;
    const int length =
        snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
            "windlass-memory.%lu.%u", own_number(pid), name);
    const int fd = open_socket(pid);
    if (fd < 0)
        return -1;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK); /* its queue may be full */
    if (connect(fd, (struct sockaddr *)&address,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t)length)) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        peer.pid == pid)
        return fd;
    *is_busy |= errno == EAGAIN;
    close(fd);
    return -1;
}
