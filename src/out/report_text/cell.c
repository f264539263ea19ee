/* SPDX-License-Identifier: MIT */
/* The contents of cells and lines: numbers, times, names. */
#include "out/report_text/report_text.h"

#include "base/utf8.h"
#include "model/short_name.h"

#include <stdio.h>
#include <string.h>

char *wndl_text_number(uint64_t value, char text[WNDL_NUMBER_SIZE])
{
    char digits[24];
    int count =
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *to = text;
    for (int i = 0; i < count; i++) {
        if (i != 0 && (count - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

void wndl_text_count(struct wndl_buf *out, uint64_t count, const char *noun)
{
    char text[WNDL_NUMBER_SIZE];
    wndl_buf_printf(out, "%s %s%s", wndl_text_number(count, text), noun,
        count == 1 ? "" : "s");
}

/* Four digits, and the unit's name. */
static const char *split_time(uint64_t ns, char digits[WNDL_NUMBER_SIZE])
{
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {
        {1000000000, "s"},
        {1000000, "ms"},
        {1000, "us"},
        {1, "ns"},
    };
    size_t i = 0;
    while (i < 3 && ns < units[i].unit)
        i++;
    double value = (double)ns / (double)units[i].unit;
    snprintf(digits, WNDL_NUMBER_SIZE, "%.*f",
        value >= 1000  ? 0
        : value >= 100 ? 1
        : value >= 10  ? 2
                       : 3,
        value);
    return units[i].name;
}

char *wndl_text_time(uint64_t ns, char text[WNDL_NUMBER_SIZE])
{
    char digits[WNDL_NUMBER_SIZE];
    const char *unit = split_time(ns, digits);
    size_t end = strlen(digits);
    while (strchr(digits, '.') != NULL && digits[end - 1] == '0')
        digits[--end] = '\0';
    if (digits[end - 1] == '.')
        digits[--end] = '\0';
    snprintf(text, WNDL_NUMBER_SIZE, "%.20s %s", digits, unit);
    return text;
}

char *wndl_text_time_cell(uint64_t ns, char text[WNDL_NUMBER_SIZE])
{
    char digits[WNDL_NUMBER_SIZE];
    const char *unit = split_time(ns, digits);
    if (ns == 0)
        snprintf(text, WNDL_NUMBER_SIZE, "0");
    else
        snprintf(text, WNDL_NUMBER_SIZE, "%.20s %s", digits, unit);
    return text;
}

/* Up to seven digits as they are, then four of them. */
static void put_bytes(uint64_t bytes, char text[WNDL_NUMBER_SIZE])
{
    enum { IN_FULL = 10000000, LEAST = 1024 };
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes / LEAST;
    size_t unit = 0;
    if (bytes < IN_FULL) {
        wndl_text_number(bytes, text);
        return;
    }
    for (; value >= LEAST && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= LEAST;
    snprintf(text, WNDL_NUMBER_SIZE, "%.*f %s",
        value < 10    ? 3
        : value < 100 ? 2
                      : 1,
        value, units[unit]);
}

char *wndl_text_cost_cell(
    const struct wndl_text *t, uint64_t cost, char text[WNDL_NUMBER_SIZE])
{
    if (t->r->time != WNDL_TIME_BYTES)
        return wndl_text_time_cell(cost, text);
    put_bytes(cost, text);
    return text;
}

double wndl_text_percent(const struct wndl_text *t, uint64_t ns)
{
    uint64_t all = t->r->all.time;
    return all == 0 ? 0 : 100.0 * (double)ns / (double)all;
}

const char *wndl_text_time_kind(const struct wndl_text *t)
{
    static const char *const kinds[] = {
        [WNDL_TIME_CPU] = "CPU",
        [WNDL_TIME_BLOCKED] = "blocked",
        [WNDL_TIME_WALL] = "wall",
        [WNDL_TIME_BYTES] = "bytes",
    };
    return kinds[t->r->time];
}

bool wndl_text_has_blocks(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    return p->blocks.len != 0 || p->blocked_interval != 0;
}

void wndl_text_label(const struct wndl_text *t, const char *text)
{
    wndl_buf_printf(t->out, "%-11s", text);
}

void wndl_text_command(const struct wndl_text *t, struct wndl_bytes arguments,
    struct wndl_bytes executable, unsigned used)
{
    enum { LEAST = 20 };
    unsigned width = t->layout->width;
    unsigned room = width == 0             ? 0
                    : width > used + LEAST ? width - used
                                           : LEAST;
    size_t end = arguments.size;
    while (end > 0 && arguments.data[end - 1] == 0)
        end--;
    if (end == 0) {
        wndl_text_cut(t, executable, room);
        return;
    }
    struct wndl_buf line;
    wndl_buf_init(&line, t->out->mem);
    wndl_buf_add(&line, arguments.data, end);
    for (size_t i = 0; i < line.size; i++)
        line.data[i] = line.data[i] == 0 ? ' ' : line.data[i];
    wndl_text_cut(t, (struct wndl_bytes){line.data, line.size}, room);
    t->out->failed |= line.failed;
    wndl_buf_free(&line);
}

/* Bytes of the character at `i`; 1 for a byte that is not UTF-8. */
static size_t character_size(struct wndl_bytes s, size_t i)
{
    const size_t size =
        s.data[i] < 0x80 ? 1 : wndl_utf8_length(s.data + i, s.size - i);
    return size == 0 ? 1 : size;
}

size_t wndl_text_columns(struct wndl_bytes s)
{
    size_t columns = 0;
    for (size_t i = 0; i < s.size; i += character_size(s, i))
        columns++;
    return columns;
}

size_t wndl_text_cut(
    const struct wndl_text *t, struct wndl_bytes s, size_t columns)
{
    static const char dots[] = "...";
    size_t needed = wndl_text_columns(s);
    bool cut = columns > strlen(dots) && needed > columns;
    size_t room = cut ? columns - strlen(dots) : needed;
    size_t i = 0;
    for (size_t used = 0; used < room; used++) {
        size_t size = character_size(s, i);
        bool command = wndl_utf8_controls(s.data + i, s.size - i) ||
                       (size == 1 && s.data[i] >= 0x80);
        if (command)
            wndl_buf_byte(t->out, '?');
        else
            wndl_buf_add(t->out, s.data + i, size);
        i += size;
    }
    if (!cut)
        return needed;
    wndl_buf_text(t->out, dots);
    return columns;
}

/* The next "::" outside of brackets from `i` on; the size if there is none. */
static size_t next_qualifier(struct wndl_bytes name, size_t i)
{
    static const char stop[] = "operator";
    size_t depth = 0;
    for (; i + strlen(stop) < name.size; i++) {
        uint8_t c = name.data[i];
        if (memcmp(name.data + i, stop, strlen(stop)) == 0)
            break;
        if (strchr("<({[", c) != NULL)
            depth++;
        else if (strchr(">)}]", c) != NULL && depth > 0)
            depth--;
        else if (depth == 0 && c == ':' && name.data[i + 1] == ':')
            return i;
    }
    return name.size;
}

/*
 * The end of a qualified name that is too long says more: "...::f(...)", or the
 * part after the last "::" when that alone is too long. Changes the name in
 * place.
 */
static struct wndl_bytes drop_qualifiers(struct wndl_bytes name, size_t room)
{
    enum { DOTS = 3, COLONS = 2 };
    size_t from = 0;
    for (size_t i = next_qualifier(name, DOTS); i < name.size;
         i = next_qualifier(name, i + COLONS)) {
        if (name.size - i + DOTS <= room) {
            memcpy((uint8_t *)name.data + i - DOTS, "...", DOTS);
            return wndl_bytes_slice(name, i - DOTS, name.size - i + DOTS);
        }
        from = i + COLONS;
    }
    return wndl_bytes_slice(name, from, name.size - from);
}

struct wndl_bytes wndl_text_name(const struct wndl_text *t,
    struct wndl_bytes name, size_t room, struct wndl_buf *buf)
{
    enum { MAX_NAME = 80 };
    if (t->layout->full_names)
        return name;
    wndl_buf_clear(buf);
    wndl_short_name(name, room == 0 || room > MAX_NAME ? MAX_NAME : room, buf);
    struct wndl_bytes spelled = {buf->data, buf->size};
    return room == 0 || spelled.size <= room ? spelled
                                             : drop_qualifiers(spelled, room);
}

void wndl_text_spaces(const struct wndl_text *t, size_t count)
{
    for (; count > 0; count--)
        wndl_buf_byte(t->out, ' ');
}

void wndl_text_place(
    struct wndl_bytes file, uint32_t line, struct wndl_buf *place)
{
    wndl_buf_clear(place);
    wndl_buf_add(place, file.data, file.size);
    if (file.size != 0 && line != 0)
        wndl_buf_printf(place, ":%u", line);
}

struct wndl_bytes wndl_text_module_name(
    const struct wndl_text *t, uint32_t module)
{
    const struct wndl_symbolized *s = t->r->symbolized;
    const struct wndl_module *of = wndl_vec_at(&s->modules, module);
    return wndl_intern_get(&s->strings, of->name);
}

void wndl_text_module(const struct wndl_text *t, struct wndl_bytes name)
{
    bool bare = name.size == 0 || name.data[0] != '[';
    wndl_buf_text(t->out, bare ? "[" : "");
    wndl_text_cut(t, name, 0);
    wndl_buf_text(t->out, bare ? "]" : "");
}
