/* SPDX-License-Identifier: MIT */
#include "out/memory_json.h"

#include "out/core/json_put.h"
#include "out/core/sink.h"

static void put_report(struct wndl_json *j,
    const struct wndl_memory_reports *reports, const struct wndl_reported *row)
{
    wndl_json_put_open_line(j);
    wndl_json_put_string(
        j, "process", wndl_intern_get(&reports->processes, row->process));
    wndl_json_put_string(j, "path", row->path);
    wndl_json_put_number(j, "kind", row->kind);
    wndl_json_put_number(j, "units", row->unit);
    wndl_json_put_signed(j, "amount", row->amount);
    wndl_json_put_string(j, "description", row->description);
    if (row->is_estimated)
        wndl_json_put_truth(j, "estimated", true);
    if (row->private_parts != 0)
        wndl_json_put_number(j, "private", row->private_parts);
    wndl_json_put_close(j, '}');
}

bool wndl_memory_json_write(
    FILE *out, const struct wndl_memory_reports *reports, bool zipped)
{
    struct wndl_sink sink;
    wndl_sink_open(&sink, out, zipped, reports->arena.mem);
    struct wndl_json j = {.out = &sink.text, .first = true};
    wndl_json_put_open(&j, '{');
    wndl_json_put_number(&j, "version", 1);
    wndl_json_put_truth(&j, "hasMozMallocUsableSize", true);
    if (reports->time != 0)
        wndl_json_put_number(&j, "time", reports->time);
    wndl_json_put_key(&j, "reports");
    wndl_json_put_open(&j, '[');
    for (size_t i = 0; i < reports->rows.len; i++) {
        put_report(&j, reports, wndl_vec_at(&reports->rows, i));
        wndl_sink_flush(&sink);
    }
    wndl_json_put_close(&j, ']');
    wndl_json_put_close(&j, '}');
    wndl_buf_byte(&sink.text, '\n');
    return wndl_sink_close(&sink);
}
