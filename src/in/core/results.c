/* SPDX-License-Identifier: MIT */
#include "in/core/results.h"

#include "base/lines.h"
#include "model/vm.h"

#include <inttypes.h>
#include <string.h>

/* ---- words */

static bool is_word(struct wndl_bytes bytes, const char *word)
{
    size_t size = strlen(word);
    return bytes.size == size && memcmp(bytes.data, word, size) == 0;
}

static struct wndl_bytes take_word(struct wndl_result_line *line)
{
    const uint8_t *space = line->rest.size == 0
                               ? NULL
                               : memchr(line->rest.data, ' ', line->rest.size);
    size_t size =
        space == NULL ? line->rest.size : (size_t)(space - line->rest.data);
    const struct wndl_bytes word = {line->rest.data, size};
    size_t gone = size + (space != NULL);
    line->rest.data += gone;
    line->rest.size -= gone;
    return word;
}

static int digit_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* A number of base 10 or 16; the line is bad without one. */
static uint64_t take_number(struct wndl_result_line *line, unsigned base)
{
    const struct wndl_bytes word = take_word(line);
    uint64_t value = 0;
    if (word.size == 0)
        line->bad = true;
    for (size_t i = 0; i < word.size; i++) {
        unsigned digit = (unsigned)digit_value(word.data[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            line->bad = true;
    }
    return value;
}

uint64_t wndl_result_decimal(struct wndl_result_line *line)
{
    return take_number(line, 10);
}

uint64_t wndl_result_hex(struct wndl_result_line *line)
{
    return take_number(line, 16);
}

const char *wndl_result_rest(struct wndl_result_line *line)
{
    const char *text =
        wndl_arena_copy(line->arena, line->rest.data, line->rest.size);
    line->out_of_memory = line->out_of_memory || text == NULL;
    line->rest.size = 0;
    return text;
}

bool wndl_result_last(struct wndl_result_line *line, const char *word)
{
    if (!is_word(line->rest, word))
        return false;
    line->rest.size = 0;
    return true;
}

const uint64_t *wndl_result_ips(
    struct wndl_result_line *line, uint32_t *count, bool *cut)
{
    struct wndl_vec ips;
    wndl_vec_init(&ips, line->arena, sizeof(uint64_t));
    do {
        uint64_t ip = wndl_result_hex(line);
        uint64_t *to = wndl_vec_push(&ips);
        if (to == NULL) {
            line->out_of_memory = true;
            return NULL;
        }
        *to = ip;
        *cut = wndl_result_last(line, "cut");
    } while (line->rest.size != 0 && !line->bad);
    *count = (uint32_t)ips.len;
    return ips.data;
}

/* ---- rows */

void *wndl_result_push(struct wndl_result_line *line, struct wndl_vec *vec)
{
    void *row = wndl_vec_push(vec);
    line->out_of_memory = line->out_of_memory || row == NULL;
    return row;
}

void wndl_result_code(struct wndl_result_line *line, struct wndl_vec *codes)
{
    struct wndl_vm_code code = {.start = wndl_result_hex(line)};
    code.end = wndl_result_hex(line);
    code.offset = wndl_result_hex(line);
    code.path = wndl_result_rest(line);
    if (code.end < code.start)
        line->bad = true;
    struct wndl_vm_code *row = wndl_result_push(line, codes);
    if (row != NULL)
        *row = code;
}

/* ---- lines */

static void read_line(
    struct wndl_result_line *line, const struct wndl_result_format *format)
{
    const struct wndl_bytes word = take_word(line);
    for (size_t i = 0; i < format->kind_count; i++) {
        if (!is_word(word, format->kinds[i].word))
            continue;
        format->kinds[i].read(line);
        line->bad = line->bad || line->rest.size != 0;
        return;
    }
}

enum wndl_status wndl_results_read(struct wndl_result_line *line,
    struct wndl_bytes file, const struct wndl_result_format *format,
    struct wndl_error *err)
{
    struct wndl_lines lines = wndl_lines_of(file);
    if (!wndl_lines_next(&lines, &line->rest) ||
        !is_word(line->rest, format->first_line))
        return wndl_fail(err, WNDL_MALFORMED, "the first line is not '%s'",
            format->first_line);
    while (wndl_lines_next(&lines, &line->rest)) {
        if (is_word(line->rest, "end"))
            return WNDL_OK;
        read_line(line, format);
        if (line->out_of_memory)
            return wndl_fail(err, WNDL_NOMEM, "no memory for the results");
        if (line->bad)
            return wndl_fail(err, WNDL_MALFORMED, "line %" PRIu64 " is invalid",
                lines.number);
    }
    return wndl_fail(err, WNDL_TRUNCATED, "the last line is missing");
}
