/* SPDX-License-Identifier: MIT */
/*
 * http: sends bytes to a server by libcurl, which is loaded when it is asked
 * for: no command but the one that sends waits for it, or needs it.
 */
#ifndef WNDL_OS_HTTP_H
#define WNDL_OS_HTTP_H

#include "base/bytes.h"
#include "base/status.h"

enum { WNDL_HTTP_TEXT_MAX = 2048, WNDL_HTTP_URL_MAX = 1024 };

/* A request. Everything is borrowed. */
struct wndl_http_post {
    const char *url;            /* http://... or https://... */
    const char *const *headers; /* "NAME: VALUE", after the last NULL */
    struct wndl_bytes body;
    uint64_t timeout; /* ms, of all of it */
};

/* What came back. */
struct wndl_http_answer {
    unsigned code;                    /* 200 */
    char redirect[WNDL_HTTP_URL_MAX]; /* where to ask instead, or "" */
    uint8_t text[WNDL_HTTP_TEXT_MAX]; /* how the body begins, */
    size_t text_size;                 /* as the server sent it */
};

/*
 * Sends it. A server that is elsewhere by now is not followed. OK when there
 * is an answer of any code; UNSUPPORTED without libcurl; IO when nobody
 * answers in time, as `err` says. Reads proxies from the environment as
 * libcurl does. Not from two threads at a time.
 */
enum wndl_status wndl_http_post(const struct wndl_http_post *post,
    struct wndl_http_answer *answer, struct wndl_error *err) WNDL_MUST_USE;

#endif
