/* SPDX-License-Identifier: MIT */
#include "out/push.h"

#include "base/json.h"

#include <string.h>

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char digits[] = "0123456789";

static const struct {
    const char *path;
    const char *type;
} apis[] = {
    [WNDL_PUSH_INGEST] = {"/ingest", "Content-Type: application/octet-stream"},
    [WNDL_PUSH_CONNECT] = {"/push.v1.PusherService/Push",
        "Content-Type: application/json"},
    [WNDL_PUSH_PARCA] = {"/profiles/writeraw",
        "Content-Type: application/json"},
};

/* ---- names */

static bool is_one_of(char c, const char *some)
{
    return strchr(letters, c) != NULL || strchr(digits, c) != NULL ||
           strchr(some, c) != NULL;
}

static bool is_all_of(const char *text, const char *some)
{
    const char *c = text;
    while (*c != '\0' && is_one_of(*c, some))
        c++;
    return c != text && *c == '\0';
}

bool wndl_push_is_service(const char *text)
{
    return is_all_of(text, "._/-");
}

/* Servers reserve names that begin with two underscores. */
bool wndl_push_is_label(const char *text)
{
    return is_all_of(text, "_") && strchr(digits, text[0]) == NULL &&
           strncmp(text, "__", 2) != 0;
}

/* No character that ends a value in Pyroscope's NAME{LABEL=VALUE,...}. */
bool wndl_push_is_value(const char *text)
{
    const char *c = text;
    while (*c != '\0' && (unsigned char)*c >= ' ' && *c != '\177' &&
           strchr(",={}\"", *c) == NULL)
        c++;
    return c != text && *c == '\0';
}

/* ---- the address */

static void put_percent(struct wndl_buf *to, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (is_one_of(*c, "-._~"))
            wndl_buf_byte(to, (uint8_t)*c);
        else
            wndl_buf_printf(to, "%%%02X", (unsigned)(uint8_t)*c);
    }
}

/* As of NAME{LABEL=VALUE,LABEL=VALUE}. */
static void put_name(struct wndl_buf *to, const struct wndl_push *push)
{
    put_percent(to, push->service);
    for (size_t i = 0; i < push->label_count; i++) {
        put_percent(to, i == 0 ? "{" : ",");
        put_percent(to, push->labels[i].name);
        put_percent(to, "=");
        put_percent(to, push->labels[i].value);
    }
    put_percent(to, push->label_count == 0 ? "" : "}");
}

void wndl_push_url(
    struct wndl_buf *to, const char *server, const struct wndl_push *push)
{
    const char *path = apis[push->api].path;
    size_t size = strlen(server), tail = strlen(path);
    while (size != 0 && server[size - 1] == '/')
        size--;
    wndl_buf_add(to, server, size);
    if (size < tail || memcmp(server + size - tail, path, tail) != 0)
        wndl_buf_text(to, path);
    if (push->api != WNDL_PUSH_INGEST)
        return;
    wndl_buf_text(to, "?name=");
    put_name(to, push);
    wndl_buf_text(to, "&from=");
    wndl_buf_decimal(to, push->from);
    wndl_buf_text(to, "&until=");
    wndl_buf_decimal(to, push->until);
    wndl_buf_text(to, "&format=pprof&spyName=windlass");
}

/* ---- the body */

const char *wndl_push_type(enum wndl_push_api api)
{
    return apis[api].type;
}

static void put_label(struct wndl_buf *to, const char *name, const char *value)
{
    wndl_buf_text(to, "{\"name\":");
    wndl_json_text(to, name);
    wndl_buf_text(to, ",\"value\":");
    wndl_json_text(to, value);
    wndl_buf_byte(to, '}');
}

static void put_labels(struct wndl_buf *to, const struct wndl_push *push)
{
    wndl_buf_byte(to, '[');
    put_label(to, "__name__", push->kind);
    if (push->api == WNDL_PUSH_CONNECT) {
        /* It is not the sum of allocations since the program's start. */
        wndl_buf_byte(to, ',');
        put_label(to, "__delta__", "false");
    }
    wndl_buf_byte(to, ',');
    put_label(to, "service_name", push->service);
    for (size_t i = 0; i < push->label_count; i++) {
        wndl_buf_byte(to, ',');
        put_label(to, push->labels[i].name, push->labels[i].value);
    }
    wndl_buf_byte(to, ']');
}

void wndl_push_body(struct wndl_buf *to, const struct wndl_push *push)
{
    if (push->api == WNDL_PUSH_INGEST) {
        wndl_buf_add(to, push->profile.data, push->profile.size);
        return;
    }
    bool parca = push->api == WNDL_PUSH_PARCA;
    wndl_buf_text(to, "{\"series\":[{\"labels\":");
    wndl_buf_text(to, parca ? "{\"labels\":" : "");
    put_labels(to, push);
    wndl_buf_text(to, parca ? "}" : "");
    wndl_buf_text(to, ",\"samples\":[{\"rawProfile\":\"");
    wndl_buf_base64(to, push->profile);
    wndl_buf_text(to, "\"}]}]}");
}
