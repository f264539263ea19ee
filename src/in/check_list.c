/* SPDX-License-Identifier: MIT */
#include "in/check_list.h"

#include "base/json_read.h"
#include "in/core/json_source.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, KEY_DIGITS = 16 };

struct reading {
    struct wndl_json_reader json;
    struct wndl_vec *known;
    bool has_version, has_errors;
};

static bool ok(const struct reading *in)
{
    return in->json.status == WNDL_OK;
}

static struct wndl_bytes read_text(struct reading *in)
{
    const struct wndl_bytes text = wndl_json_read_string(&in->json);
    const char *kept =
        ok(in) ? wndl_arena_copy(in->known->arena, text.data, text.size) : NULL;
    if (ok(in) && kept == NULL)
        wndl_json_fail(&in->json, WNDL_NOMEM, "out of memory");
    return (struct wndl_bytes){(const uint8_t *)(kept == NULL ? "" : kept),
        kept == NULL ? 0 : text.size};
}

static uint64_t read_number(struct reading *in)
{
    const struct wndl_bytes text = wndl_json_read_string(&in->json);
    char digits[KEY_DIGITS + 1] = "";
    if (!ok(in))
        return 0;
    if (text.size == KEY_DIGITS)
        memcpy(digits, text.data, KEY_DIGITS);
    if (strspn(digits, "0123456789abcdef") != KEY_DIGITS) {
        wndl_json_fail(&in->json, WNDL_MALFORMED, "a key has 16 digits");
        return 0;
    }
    return strtoull(digits, NULL, 16);
}

/* ---- errors */

static void read_member(
    struct reading *in, struct wndl_known_finding *known, bool *has_key)
{
    const struct wndl_bytes name = wndl_json_read_key(&in->json);
    if (wndl_bytes_is(name, "key")) {
        known->key = read_number(in);
        *has_key = true;
    } else if (wndl_bytes_is(name, "kind"))
        known->kind = read_text(in);
    else if (wndl_bytes_is(name, "place"))
        known->place = read_text(in);
    else
        wndl_json_skip(&in->json);
}

static void read_error(struct reading *in)
{
    struct wndl_known_finding known = {
        .kind = {(const uint8_t *)"", 0}, .place = {(const uint8_t *)"", 0}};
    bool has_key = false;
    if (wndl_json_enter(&in->json, '{', "an error is an object")) {
        do
            read_member(in, &known, &has_key);
        while (wndl_json_another(&in->json, '}'));
    }
    if (!ok(in))
        return;
    if (!has_key) {
        wndl_json_fail(&in->json, WNDL_MALFORMED, "an error without a key");
        return;
    }
    struct wndl_known_finding *kept = wndl_vec_push(in->known);
    if (kept == NULL)
        wndl_json_fail(&in->json, WNDL_NOMEM, "out of memory");
    else
        *kept = known;
}

static void read_errors(struct reading *in)
{
    in->has_errors = true;
    if (!wndl_json_enter(&in->json, '[', "errors are a list"))
        return;
    do
        read_error(in);
    while (wndl_json_another(&in->json, ']'));
}

/* ---- the file */

static void read_top(struct reading *in)
{
    const struct wndl_bytes name = wndl_json_read_key(&in->json);
    if (wndl_bytes_is(name, "version")) {
        in->has_version = true;
        if (wndl_json_read_u64(&in->json) != VERSION && ok(in))
            wndl_json_fail(&in->json, WNDL_UNSUPPORTED, "another version");
    } else if (wndl_bytes_is(name, "errors"))
        read_errors(in);
    else
        wndl_json_skip(&in->json);
}

static void read_file(struct reading *in)
{
    if (wndl_json_enter(&in->json, '{', "no list of errors")) {
        do
            read_top(in);
        while (wndl_json_another(&in->json, '}'));
    }
    wndl_json_expect_end(&in->json);
    if (ok(in) && (!in->has_version || !in->has_errors))
        wndl_json_fail(&in->json, WNDL_MALFORMED, "no list of errors");
}

enum wndl_status wndl_check_list_read(
    struct wndl_vec *known, struct wndl_bytes file, struct wndl_error *err)
{
    struct reading in = {.known = known};
    struct wndl_json_source source;
    struct wndl_mem *mem = known->arena->mem;
    const enum wndl_status opened = wndl_json_source_open(&source, file, mem);
    if (opened != WNDL_OK) {
        wndl_json_source_close(&source);
        return wndl_fail(err, opened, "out of memory");
    }
    wndl_json_begin(&in.json, wndl_json_source_more, &source, mem, err);
    read_file(&in);
    const enum wndl_status status = in.json.status;
    wndl_json_end(&in.json);
    wndl_json_source_close(&source);
    return status;
}
