/* SPDX-License-Identifier: MIT */
/* A library that logs: NAME is its own. */
#include <windlass/memlog.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static struct wndl_memlog_type shared = {
    "shared", WNDL_MEMLOG_LOADED, 0, {{NULL, NULL}}, {0, 0}};
static struct wndl_memlog_type own = {
    TEXT(NAME), WNDL_MEMLOG_ACTION, 0, {{NULL, NULL}}, {0, 0}};

extern void log_once(void);
void log_once(void)
{
    const int64_t size = 100;
    wndl_memlog_append_text(&shared, &size, 1, TEXT(NAME));
    wndl_memlog_append(&own, NULL, 0);
}
