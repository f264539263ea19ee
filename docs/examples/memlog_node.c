/* SPDX-License-Identifier: MIT */
/*
 * memlog_node: a module of node for memlog_node.js.
 *
 *     cc -O2 -fPIC -shared -I/usr/include/node memlog_node.c \
 *         -o memlog_node.node
 */
#include <node_api.h>
#include <windlass/memlog.h>

static struct wndl_memlog_type collected = {
    "gc", WNDL_MEMLOG_COLLECTION, 0, {{NULL, NULL}}, {0, 0}};

/* log(before, after, ns, kind): three numbers and a text. */
static napi_value log_gc(napi_env env, napi_callback_info info)
{
    napi_value values[4];
    size_t count = 4;
    int64_t numbers[3] = {0, 0, 0};
    char kind[64] = "";
    if (napi_get_cb_info(env, info, &count, values, NULL, NULL) != napi_ok ||
        count < 4)
        return NULL;
    for (size_t i = 0; i < 3; i++)
        (void)napi_get_value_int64(env, values[i], &numbers[i]);
    (void)napi_get_value_string_utf8(env, values[3], kind, sizeof kind, NULL);
    wndl_memlog_append_text(&collected, numbers, 3, kind);
    return NULL;
}

NAPI_MODULE_INIT()
{
    napi_value function;
    if (napi_create_function(
            env, "log", NAPI_AUTO_LENGTH, log_gc, NULL, &function) == napi_ok)
        (void)napi_set_named_property(env, exports, "log", function);
    return exports;
}
