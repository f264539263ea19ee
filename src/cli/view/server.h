/* SPDX-License-Identifier: MIT */
/*
 * serve: one page, over HTTP, for browsers on this machine that know its
 * address. It does not know the contents of the page.
 *
 * The address has a random token in its path. Requests that do not name this
 * very server as their host are refused, so that no site that was made to
 * resolve to this machine gets to see it. So are connections of other users.
 */
#ifndef WNDL_CLI_VIEW_SERVER_H
#define WNDL_CLI_VIEW_SERVER_H

#include "base/bytes.h"
#include "base/status.h"

enum { WNDL_SERVE_TOKEN = 32, WNDL_SERVE_URL = 72 };

struct wndl_server {
    int fd; /* listens on 127.0.0.1; -1: closed */
    uint16_t port;
    char token[WNDL_SERVE_TOKEN + 1];
    char url[WNDL_SERVE_URL]; /* of the page */
};

/*
 * Listens on `port`, or on one that is free if that is 0. IO when the system
 * refuses. Ends with wndl_server_close.
 */
enum wndl_status wndl_server_open(struct wndl_server *server, uint16_t port,
    struct wndl_error *err) WNDL_MUST_USE;
void wndl_server_close(struct wndl_server *server);

/*
 * Answers until `stop` can be read or is closed at its other end. Clients
 * that are slow, or say nothing, keep nobody else from being answered. IO
 * when the system fails us.
 */
enum wndl_status wndl_server_run(struct wndl_server *server,
    struct wndl_bytes page, int stop, struct wndl_error *err) WNDL_MUST_USE;

#endif
