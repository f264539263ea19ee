/* SPDX-License-Identifier: MIT */
#include "out/report_text.h"

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

char *wndl_text_time(uint64_t ns, char text[WNDL_NUMBER_SIZE])
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
    char digits[WNDL_NUMBER_SIZE];
    snprintf(digits, sizeof digits, "%.*f",
        value >= 1000  ? 0
        : value >= 100 ? 1
        : value >= 10  ? 2
                       : 3,
        value);
    size_t end = strlen(digits);
    while (strchr(digits, '.') != NULL && digits[end - 1] == '0')
        digits[--end] = '\0';
    if (digits[end - 1] == '.')
        digits[--end] = '\0';
    snprintf(text, WNDL_NUMBER_SIZE, "%.20s %s", digits, units[i].name);
    return text;
}

double wndl_text_percent(const struct wndl_text *t, uint64_t part)
{
    uint64_t all = t->r->all.samples;
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

/* Bytes of the character at `i`; a lone continuation byte is one. */
static size_t character_size(struct wndl_bytes s, size_t i)
{
    size_t size = 1;
    if (s.data[i] >= 0xc0) {
        while (i + size < s.size && (s.data[i + size] & 0xc0) == 0x80)
            size++;
    }
    return size;
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
        bool command = s.data[i] < 0x20 || s.data[i] == 0x7f ||
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
 * A qualified name that is too long says more by its end: "...::f(...)", or
 * what follows the last "::" when that alone is too long. Writes into it.
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

/* Not idle is what was cut off, dropped or never seen. */
static void no_samples(const struct wndl_text *t)
{
    const struct wndl_profile *p = t->r->symbolized->profile;
    bool whole = p->finished && !p->cut && p->chunks_damaged == 0;
    if (!whole || t->r->quality.dropped != 0)
        wndl_buf_text(t->out, "No samples: what there is of the recording "
                              "holds none.\n\n"
                              "Next: windlass record COMMAND\n");
    else if (p->processes.len == 0)
        wndl_buf_text(t->out, "No samples: the command could not be recorded. "
                              "Is it statically linked,\nset-user-ID, or made "
                              "for another libc?\n\n"
                              "Next: windlass record --help\n");
    else
        wndl_buf_text(t->out, "No samples: nothing used CPU time for as long "
                              "as the interval between two.\n\n"
                              "Next: windlass record -r 10000 COMMAND\n");
}

void wndl_report_text(const struct wndl_report *r,
    const struct wndl_text_layout *layout, struct wndl_buf *out)
{
    struct wndl_text t = {r, layout, out};
    wndl_text_head(&t);
    if (r->all.samples == 0)
        no_samples(&t);
    else if (r->tree.nodes.len != 0)
        wndl_text_tree(&t);
    else
        wndl_text_table(&t);
    if (layout->next != NULL && r->all.samples != 0)
        wndl_buf_printf(out, "\nNext: %s\n", layout->next);
}
