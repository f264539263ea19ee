/* SPDX-License-Identifier: MIT */
#include "rt/start/peer.h"

#include "os/own_memory.h"
#include "os/raw.h"
#include "rt/core/rt.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* The kernel's answer for a user that has no number in our namespace. */
    OVERFLOW_USER = 65534,
    MAP_TEXT = 512,
};

/* Reads a number, and the blanks before it. */
static const char *read_number(const char *text, uint64_t *number)
{
    *number = 0;
    while (*text == ' ')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        *number = *number * 10 + (uint64_t)(*text - '0');
    return text;
}

/* user_namespaces(7): lines of first number, number outside, count. */
static bool is_user_of_namespace(uint64_t user)
{
    char text[MAP_TEXT + 1];
    const int fd = wndl_raw_open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
    const long size = fd < 0 ? 0 : wndl_raw_read(fd, text, MAP_TEXT);
    if (fd >= 0)
        wndl_raw_close(fd);
    text[size < 0 ? 0 : size] = '\0';
    for (const char *at = text; *at != '\0'; at += *at == '\n') {
        uint64_t first, outside, count;
        at = read_number(at, &first);
        at = read_number(at, &outside);
        at = read_number(at, &count);
        if (user >= first && user - first < count)
            return true;
        if (*at != '\n')
            break;
    }
    return size <= 0; /* not known: assume that it is one */
}

/*
 * The users are those of the start of the program: afterwards only root can
 * become another, and root's recorder is welcome. A recorder outside of our
 * user namespace may have no number in it.
 */
bool wndl_rt_peer_may_record(int socket)
{
    struct ucred peer;
    int size = sizeof peer;
    const long a[] = {socket, SOL_SOCKET, SO_PEERCRED, (long)&peer};
    if (wndl_raw6(SYS_getsockopt, a, (long)&size, 0) != 0)
        return false;
    return peer.uid == 0 || peer.uid == getauxval(AT_EUID) ||
           peer.uid == getauxval(AT_UID) ||
           (peer.uid == OVERFLOW_USER && !is_user_of_namespace(peer.uid));
}

/* The last byte can be read, which no sandbox forbids. That makes its page. */
static bool has_last_byte(const void *block, size_t size)
{
    struct wndl_own_memory memory = {0};
    uint8_t last;
    return wndl_own_memory_read(
        &memory, (uintptr_t)block + size - 1, &last, sizeof last);
}

/* Without a sandbox the kernel says the size, and no page need be made. */
static bool is_so_large(int memfd, const void *block, size_t size)
{
    long end = -1;
    if (!wndl_rt.filtered)
        end = wndl_raw3(SYS_lseek, memfd, 0, SEEK_END);
    return end >= 0 ? (size_t)end >= size : has_last_byte(block, size);
}

bool wndl_rt_block_is_whole(int memfd, const void *block, size_t size)
{
    const long seals = wndl_raw3(SYS_fcntl, memfd, F_GET_SEALS, 0);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 &&
           is_so_large(memfd, block, size);
}
