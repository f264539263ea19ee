/* SPDX-License-Identifier: MIT */
/*
 * push: a pprof profile as requests to servers that collect profiles
 * (docs/push.md). It must not know how they are sent.
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

/* A profile and its names on the server. Everything is borrowed. */
struct wndl_push {
    enum wndl_push_api api;
    const char *kind;    /* "process_cpu", "memory" */
    const char *service; /* valid by wndl_push_is_service */
    const struct wndl_push_label *labels;
    size_t label_count;
    uint64_t from, until; /* ns since 1970 */
    struct wndl_bytes profile;
};

/*
 * Whether all servers accept the text as the name of a service, the name of a
 * label, or the value of a label.
 */
bool wndl_push_is_service(const char *text);
bool wndl_push_is_label(const char *text);
bool wndl_push_is_value(const char *text);

/* Appends the URL of the request; `server` is an address without a query. */
void wndl_push_url(
    struct wndl_buf *to, const char *server, const struct wndl_push *push);

/*
 * The header "Content-Type: ..." for what wndl_push_body appends. Static
 * string.
 */
const char *wndl_push_type(enum wndl_push_api api);
void wndl_push_body(struct wndl_buf *to, const struct wndl_push *push);

#endif
