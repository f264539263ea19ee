/* SPDX-License-Identifier: MIT */
/*
 * push: a pprof profile as requests to servers that collect profiles
 * (docs/push.md). Knows nothing of how they are sent.
 */
#ifndef WNDL_OUT_PUSH_H
#define WNDL_OUT_PUSH_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum wndl_push_api {
    WNDL_PUSH_INGEST,  /* Pyroscope's POST /ingest */
    WNDL_PUSH_CONNECT, /* its PusherService, as JSON */
    WNDL_PUSH_PARCA,   /* Parca's ProfileStoreService, as JSON */
};

struct wndl_push_label {
    const char *name, *value;
};

/* A profile and what it is called there. Everything is borrowed. */
struct wndl_push {
    enum wndl_push_api api;
    const char *kind;    /* "process_cpu", "memory" */
    const char *service; /* wndl_push_is_service */
    const struct wndl_push_label *labels;
    size_t label_count;
    uint64_t from, until; /* ns since 1970 */
    struct wndl_bytes profile;
};

/* Whether all servers take it as the name of a service or a label, or as a
 * label's value. */
bool wndl_push_is_service(const char *text);
bool wndl_push_is_label(const char *text);
bool wndl_push_is_value(const char *text);

/* Adds where to send it: `server` is an address without a query. */
void wndl_push_url(
    struct wndl_buf *to, const char *server, const struct wndl_push *push);

/* "Content-Type: ..." of what wndl_push_body adds. */
const char *wndl_push_type(enum wndl_push_api api);
void wndl_push_body(struct wndl_buf *to, const struct wndl_push *push);

#endif
