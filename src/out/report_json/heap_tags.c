/* SPDX-License-Identifier: MIT */
#include "out/report_json/heap_tags.h"

#include "out/core/json_put.h"

enum { SCHEMA_VERSION = 1 };

static void put_row(struct wndl_json *j, const struct wndl_heap_tag_sum *sum)
{
    wndl_json_put_open_line(j);
    if (sum->name.size != 0)
        wndl_json_put_string(j, "tag", sum->name);
    wndl_json_put_number(j, "usable", (uint64_t)(sum->bytes + 0.5));
    wndl_json_put_number(j, "blocks", (uint64_t)(sum->blocks + 0.5));
    wndl_json_put_close(j, '}');
}

void wndl_report_json_heap_tags(const struct wndl_heap_tag_sum *sums,
    size_t count, const char *which, struct wndl_buf *out)
{
    struct wndl_json j = {.out = out};
    wndl_json_put_open(&j, '{');
    wndl_json_put_text(&j, "format", "windlass-heap-tags");
    wndl_json_put_number(&j, "version", SCHEMA_VERSION);
    wndl_json_put_text(&j, "tags_of", which);
    wndl_json_put_key(&j, "tags");
    wndl_json_put_open(&j, '[');
    for (size_t i = 0; i < count; i++)
        put_row(&j, &sums[i]);
    wndl_json_put_close(&j, ']');
    wndl_json_put_close(&j, '}');
    wndl_buf_byte(out, '\n');
}
