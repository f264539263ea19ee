/* SPDX-License-Identifier: MIT */
/*
 * proc(5), /proc/net/tcp: a row for each socket, with addresses as hexadecimal
 * numbers in the machine's byte order, ports, and the user at the tenth place.
 */
#include "cli/view/peer.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct ends {
    struct sockaddr_in ours, theirs;
};

static bool is_end(
    const struct sockaddr_in *end, unsigned address, unsigned port)
{
    return address == end->sin_addr.s_addr && port == ntohs(end->sin_port);
}

/* In a row of the other end's socket we are the remote one. */
static bool read_user(const char *row, const struct ends *ends, unsigned *user)
{
    unsigned local, local_port, remote, remote_port;
    return sscanf(row, " %*u: %8X:%4X %8X:%4X %*X %*X:%*X %*X:%*X %*X %u",
               &local, &local_port, &remote, &remote_port, user) == 5 &&
           is_end(&ends->theirs, local, local_port) &&
           is_end(&ends->ours, remote, remote_port);
}

/* Root's server is also for the user who became root. */
static bool is_welcome(unsigned user)
{
    const char *sudo = getenv("SUDO_UID");
    return user == 0 || user == geteuid() || user == getuid() ||
           (geteuid() == 0 && sudo != NULL && user == strtoul(sudo, NULL, 10));
}

/* A socket that is listed no more gets no answer. */
bool wndl_peer_is_ours(int fd)
{
    struct ends ends;
    socklen_t size = sizeof ends.ours;
    char row[512];
    unsigned user = 0;
    bool found = false;
    if (getsockname(fd, (struct sockaddr *)&ends.ours, &size) != 0)
        return false;
    size = sizeof ends.theirs;
    if (getpeername(fd, (struct sockaddr *)&ends.theirs, &size) != 0)
        return false;
    FILE *rows = fopen("/proc/net/tcp", "re");
    while (rows != NULL && !found && fgets(row, sizeof row, rows) != NULL)
        found = read_user(row, &ends, &user);
    if (rows != NULL)
        fclose(rows);
    return !found || is_welcome(user);
}
