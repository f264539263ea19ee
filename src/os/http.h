/* SPDX-License-Identifier: MIT */
/*
 * http: sends bytes to a server by libcurl. The library is loaded when needed,
 * so that other commands neither wait for it nor need it.
 */
#ifndef WNDL_OS_HTTP_H
#define WNDL_OS_HTTP_H

#include "base/bytes.h"
#include "base/status.h"

enum { WNDL_HTTP_TEXT_MAX = 2048, WNDL_HTTP_URL_MAX = 1024 };

/* A request. Everything is borrowed. */
struct wndl_http_post {
    const char *url;            /* http://... or https://... */
    const char *const *headers; /* "NAME: VALUE"; the last is NULL */
    struct wndl_bytes body;
    uint64_t timeout; /* ms, for the whole request */
};

/* The response. */
struct wndl_http_answer {
    unsigned code;                    /* 200 */
    char redirect[WNDL_HTTP_URL_MAX]; /* target of a redirect, or "" */
    uint8_t text[WNDL_HTTP_TEXT_MAX]; /* start of the body, */
    size_t text_size;                 /* as the server sent it */
};

/*
 * Sends a request. Redirects are not followed. OK if there is a response of any
 * code; UNSUPPORTED without libcurl; IO if no response arrives in time, with
 * the reason in `err`. Proxies come from the environment, as in libcurl. Not
 * from two threads at a time.
 */
enum wndl_status wndl_http_post(const struct wndl_http_post *post,
    struct wndl_http_answer *answer, struct wndl_error *err) WNDL_MUST_USE;

#endif
