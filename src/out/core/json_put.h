/* SPDX-License-Identifier: MIT */
/*
 * json_put: JSON about recordings, piece by piece. All files of out may use it.
 */
#ifndef WNDL_OUT_CORE_JSON_PUT_H
#define WNDL_OUT_CORE_JSON_PUT_H

#include "base/buf.h"
#include "base/json.h"
#include "model/report.h"

/* An object or array in the making; `first` is true as long as it is empty. */
struct wndl_json {
    struct wndl_buf *out;
    const struct wndl_symbolized *s;
    const struct wndl_report *r; /* NULL: it is not about a report */
    bool first;
};

/*
 * The parts of JSON: what comes before an element; the key of a member;
 * brackets. `name` must not need escapes.
 */
void wndl_json_put_element(struct wndl_json *j);
void wndl_json_put_key(struct wndl_json *j, const char *name);
void wndl_json_put_open(struct wndl_json *j, char bracket);
void wndl_json_put_close(struct wndl_json *j, char bracket);

/* Opens a line of its own, for elements of long arrays. */
void wndl_json_put_open_line(struct wndl_json *j);

/* Append members of an object. */
void wndl_json_put_number(
    struct wndl_json *j, const char *name, uint64_t value);
void wndl_json_put_signed(struct wndl_json *j, const char *name, int64_t value);
void wndl_json_put_truth(struct wndl_json *j, const char *name, bool value);
void wndl_json_put_text(
    struct wndl_json *j, const char *name, const char *value);
void wndl_json_put_string(
    struct wndl_json *j, const char *name, struct wndl_bytes value);
void wndl_json_put_id(struct wndl_json *j, const char *name, uint32_t id);
/* An array of texts; `list` is of struct wndl_bytes. */
void wndl_json_put_strings(
    struct wndl_json *j, const char *name, const struct wndl_vec *list);

/* The member "recording": docs/formats/report-json.md. */
void wndl_json_recording(struct wndl_json *j);

/* The sampler of a recording: "perf-task-clock". Static string. */
const char *wndl_json_engine(uint32_t engine);

/* The members for the totals of a heap's blocks. */
void wndl_json_heap_totals(
    struct wndl_json *j, const uint64_t *totals, const uint64_t *missed);

/* The member "command": NUL-separated arguments as an array. */
void wndl_json_command(struct wndl_json *j, struct wndl_bytes command);

#endif
