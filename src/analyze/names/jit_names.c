/* SPDX-License-Identifier: MIT */
#include "analyze/names/jit_names.h"

#include "base/search.h"
#include "in/jitdump.h"
#include "in/perf_map.h"

#include <stdlib.h>
#include <string.h>

/* ---- names */

/* Takes ":123" off the end of `text`. */
static bool take_number(struct wndl_bytes *text, uint32_t *number)
{
    uint32_t value = 0, unit = 1;
    size_t at = text->size;
    for (; at > 0 && at + 9 > text->size; at--, unit *= 10) {
        uint8_t c = text->data[at - 1];
        if (c < '0' || c > '9')
            break;
        value += unit * (uint32_t)(c - '0');
    }
    if (at == 0 || at == text->size || text->data[at - 1] != ':')
        return false;
    text->size = at - 1;
    *number = value;
    return true;
}

/* The start of the file's name, which may have spaces if it is a whole path. */
static size_t start_of_file(struct wndl_bytes text)
{
    static const char *const starts[] = {" /", " file://"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        const uint8_t *found =
            memmem(text.data, text.size, starts[i], strlen(starts[i]));
        if (found != NULL)
            return (size_t)(found - text.data) + 1;
    }
    const uint8_t *space = memrchr(text.data, ' ', text.size);
    return space == NULL ? text.size : (size_t)(space - text.data) + 1;
}

bool wndl_jit_place(
    struct wndl_bytes name, struct wndl_bytes *file, uint32_t *line)
{
    uint32_t column;
    struct wndl_bytes rest = name;
    if (rest.size == 0 || !take_number(&rest, line))
        return false;
    if (take_number(&rest, &column))
        *line = column; /* the first number was the column */
    size_t start = start_of_file(rest);
    *file = (struct wndl_bytes){rest.data + start, rest.size - start};
    return file->size != 0;
}

/* ---- claims */

static uint32_t unnamed_from(uint32_t *next, uint32_t i)
{
    uint32_t found = i;
    while (next[found] != found)
        found = next[found];
    while (next[i] != found) {
        uint32_t after = next[i];
        next[i] = found;
        i = after;
    }
    return found;
}

static uint32_t first_at_or_above(
    const struct wndl_jit_names *names, uint64_t address)
{
    return address == 0
               ? 0
               : (uint32_t)wndl_search_up_to(&names->addresses->address,
                     sizeof *names->addresses, names->count, address - 1);
}

/*
 * The first address in [start, start + size) without a name, which counts as
 * named from now on; NULL if there is none.
 */
static const struct wndl_jit_address *claim_address(
    struct wndl_jit_names *names, uint64_t start, uint64_t size)
{
    uint32_t i = unnamed_from(names->next, first_at_or_above(names, start));
    if (i == names->count || names->addresses[i].address - start >= size)
        return NULL;
    names->next[i] = i + 1;
    names->named++;
    return &names->addresses[i];
}

/*
 * Names a frame. The function's file, which distinguishes functions of one
 * name, is the one in its name, else `file`. `at` is the frame's place; line 0
 * means that it is not known.
 */
static bool append_name(const struct wndl_jit_names *names, uint32_t frame,
    struct wndl_bytes name, struct wndl_bytes file,
    const struct wndl_jitdump_line *at)
{
    struct wndl_symbolized *s = names->s;
    struct wndl_function function = {.module = names->module};
    struct wndl_location location = {.line = at->line};
    bool fresh;
    if (!wndl_jit_place(name, &file, &function.line))
        function.line = 0;
    return wndl_intern_add(&s->strings, name, &function.name) &&
           wndl_intern_add(&s->strings, file, &function.file) &&
           wndl_intern_add(
               &s->strings, at->line == 0 ? file : at->file, &location.file) &&
           wndl_symbolized_function(s, function, &location.function, &fresh) &&
           wndl_symbolized_append(s, frame, &location);
}

bool wndl_jit_names_from_map(
    struct wndl_jit_names *names, struct wndl_bytes file)
{
    static const struct wndl_jitdump_line no_line;
    struct wndl_perf_map map = wndl_perf_map_of(file);
    struct wndl_perf_map_line line;
    while (names->named < names->count && wndl_perf_map_previous(&map, &line)) {
        const struct wndl_jit_address *a;
        while ((a = claim_address(names, line.start, line.size)) != NULL) {
            if (!append_name(
                    names, a->frame, line.name, no_line.file, &no_line))
                return false;
        }
    }
    names->damaged += map.damaged;
    return true;
}

/* ---- a jitdump */

/* `offset` from the start of its code. */
struct line {
    uint64_t offset;
    struct wndl_jitdump_line at;
};

/* Code at a place, its lines sorted: those of the dump from first_line on. */
struct code {
    uint64_t start, size;
    struct wndl_bytes name;
    size_t first_line, line_count;
};

struct dump {
    struct wndl_jit_names *names;
    struct wndl_arena arena;
    struct wndl_vec codes;    /* struct code, in order of time */
    struct wndl_vec lines;    /* struct line */
    struct wndl_map by_index; /* code index -> position in codes + 1 */
    struct wndl_jitdump_record waiting; /* lines, for the code to come */
    uint64_t least_offset;              /* of all lines */
    bool out_of_memory;
};

static bool push_line(
    struct dump *d, const struct wndl_jitdump_line *at, uint64_t start)
{
    struct line *line = wndl_vec_push(&d->lines);
    d->out_of_memory = line == NULL;
    if (d->out_of_memory)
        return false;
    *line = (struct line){at->address - start, *at};
    return true;
}

/*
 * Pushes the waiting lines, corrected. False when they are damaged or memory is
 * out; some may have been pushed then.
 */
static bool push_lines(struct dump *d)
{
    enum { PADDING = 8 };
    struct wndl_cursor c = d->waiting.lines;
    struct wndl_jitdump_line at = {0};
    for (uint64_t i = 0; i < d->waiting.line_count; i++) {
        if (!wndl_jitdump_line(&c, &at) || !push_line(d, &at, d->waiting.start))
            return false;
    }
    return wndl_cursor_left(&c) < PADDING;
}

/*
 * Node 20 writes freed memory as the file name of a user's script: with the
 * right length, but with NULs in it. If all lines belong to the file at the end
 * of the code's name, their size shows it.
 */
static bool push_lines_of_one_file(struct dump *d, struct wndl_bytes name)
{
    enum { LINE_SIZE = 16, PADDING = 8 };
    struct wndl_cursor c = d->waiting.lines;
    struct wndl_jitdump_line at = {0};
    if (!wndl_jit_place(name, &at.file, &at.line))
        return false;
    uint64_t each = LINE_SIZE + at.file.size + 1;
    if (wndl_cursor_left(&c) / each != d->waiting.line_count ||
        wndl_cursor_left(&c) % each >= PADDING)
        return false;
    for (uint64_t i = 0; i < d->waiting.line_count; i++) {
        at.address = wndl_cursor_u64(&c);
        at.line = wndl_cursor_u32(&c);
        at.column = wndl_cursor_u32(&c);
        wndl_cursor_skip(&c, at.file.size + 1);
        if (!push_line(d, &at, d->waiting.start))
            return false;
    }
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *l = a, *m = b;
    return l->offset < m->offset ? -1 : l->offset > m->offset;
}

/* Sorts the code's lines: the last of the dump. */
static void own_lines(struct dump *d, struct code *code, size_t first)
{
    code->first_line = first;
    code->line_count = d->lines.len - first;
    if (code->line_count == 0)
        return;
    struct line *lines = wndl_vec_at(&d->lines, first);
    qsort(lines, code->line_count, sizeof *lines, compare_lines);
    if (lines[0].offset < d->least_offset)
        d->least_offset = lines[0].offset;
}

/* Takes the lines that came before `code`, if they belong to it. */
static void take_lines(struct dump *d, struct code *code)
{
    size_t first = d->lines.len;
    bool waits = d->waiting.line_count != 0 && d->waiting.start == code->start;
    if (waits && !push_lines(d)) {
        d->lines.len = first;
        if (!push_lines_of_one_file(d, code->name)) {
            d->lines.len = first;
            d->names->damaged++;
        }
    }
    d->waiting.line_count = 0;
    own_lines(d, code, first);
}

static bool add_code(struct dump *d, const struct wndl_jitdump_record *r)
{
    uint64_t *slot = wndl_map_put(&d->by_index, r->index);
    struct code code = {.start = r->start, .size = r->size, .name = r->name};
    if (slot == NULL)
        return false;
    if (r->kind == WNDL_JITDUMP_LOAD) {
        take_lines(d, &code);
    } else if (*slot == 0) {
        d->names->damaged++;
        return true;
    } else {
        code = *(const struct code *)wndl_vec_at(&d->codes, *slot - 1);
        code.start = r->start;
        code.size = r->size;
    }
    struct code *added = wndl_vec_push(&d->codes);
    if (added == NULL)
        return false;
    *added = code;
    *slot = d->codes.len;
    return !d->out_of_memory;
}

static bool read_codes(struct dump *d, struct wndl_jitdump *file)
{
    struct wndl_jitdump_record record;
    bool kept = true;
    while (kept && wndl_jitdump_next(file, &record)) {
        if (record.kind == WNDL_JITDUMP_LINES)
            d->waiting = record;
        else if (record.kind != WNDL_JITDUMP_CLOSE)
            kept = add_code(d, &record);
    }
    d->names->damaged += file->damaged + file->cut;
    return kept;
}

/*
 * V8's offsets count not from the start of the code but from that of an ELF
 * file in which the code follows the header.
 */
static uint64_t offset_of_code(const struct dump *d)
{
    enum { ELF_HEADER_SIZE = 64 };
    return d->least_offset >= ELF_HEADER_SIZE ? ELF_HEADER_SIZE : 0;
}

/* The last of `count` (> 0) lines that is not after `offset`. */
static struct wndl_jitdump_line line_of(
    const struct line *lines, size_t count, uint64_t offset)
{
    size_t until =
        wndl_search_up_to(&lines->offset, sizeof *lines, count, offset);
    return until == 0 ? (struct wndl_jitdump_line){0} : lines[until - 1].at;
}

static bool append_by_code(const struct dump *d, const struct code *code,
    const struct wndl_jit_address *a)
{
    struct wndl_jitdump_line at = {0};
    struct wndl_bytes file = {0};
    if (code->line_count != 0) {
        const struct line *lines = wndl_vec_at(&d->lines, code->first_line);
        file = lines[0].at.file;
        at = line_of(lines, code->line_count,
            a->address - code->start + offset_of_code(d));
    }
    return append_name(d->names, a->frame, code->name, file, &at);
}

static bool name_by_codes(struct dump *d)
{
    for (size_t i = d->codes.len; i-- > 0;) {
        const struct code *code = wndl_vec_at(&d->codes, i);
        const struct wndl_jit_address *a;
        while ((a = claim_address(d->names, code->start, code->size)) != NULL) {
            if (!append_by_code(d, code, a))
                return false;
        }
    }
    return true;
}

enum wndl_status wndl_jit_names_from_dump(struct wndl_jit_names *names,
    struct wndl_bytes file, uint32_t pid, struct wndl_error *err)
{
    struct wndl_jitdump dump;
    struct dump d = {.names = names, .least_offset = UINT64_MAX};
    enum wndl_status status = wndl_jitdump_open(&dump, file, err);
    if (status != WNDL_OK)
        return status;
    if (dump.pid != pid)
        return wndl_fail(
            err, WNDL_NOT_FOUND, "belongs to process %u", dump.pid);
    wndl_arena_init(&d.arena, names->s->arena.mem);
    wndl_vec_init(&d.codes, &d.arena, sizeof(struct code));
    wndl_vec_init(&d.lines, &d.arena, sizeof(struct line));
    wndl_map_init(&d.by_index, &d.arena);
    bool kept = read_codes(&d, &dump) && name_by_codes(&d);
    wndl_arena_free(&d.arena);
    return kept ? WNDL_OK : wndl_fail(err, WNDL_NOMEM, "out of memory");
}
