/* SPDX-License-Identifier: MIT */
/*
 * frame_text: every form has a "0x" in it, and what stands around the first
 * or last of them decides. The search goes from one "0x" to the next.
 */
#include "in/frame_text.h"

#include <string.h>

/* Longer than PATH_MAX: no path. A build-id has 20 bytes as a rule. */
enum { LONGEST_PATH = 4096, LONGEST_BUILD_ID = 128 };

#define NONE SIZE_MAX

/* A number at hand: "0x" at `start`, its digits up to `end`. */
struct number {
    size_t start;
    size_t end;
    uint64_t value;
};

static bool at_text(
    const struct wndl_frame_scan *s, size_t at, const char *wanted)
{
    size_t size = strlen(wanted);
    return at <= s->text.size && size <= s->text.size - at &&
           memcmp(s->text.data + at, wanted, size) == 0;
}

/* The byte at `at`; a line end for what is outside. */
static uint8_t byte_at(const struct wndl_frame_scan *s, size_t at)
{
    return at < s->text.size ? s->text.data[at] : '\n';
}

static struct wndl_bytes span(
    const struct wndl_frame_scan *s, size_t start, size_t end)
{
    return (struct wndl_bytes){s->text.data + start, end - start};
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Its value plus 1; 0 for all that is none. */
static const uint8_t hex_digits[256] = {
    ['0'] = 1,
    ['1'] = 2,
    ['2'] = 3,
    ['3'] = 4,
    ['4'] = 5,
    ['5'] = 6,
    ['6'] = 7,
    ['7'] = 8,
    ['8'] = 9,
    ['9'] = 10,
    ['a'] = 11,
    ['b'] = 12,
    ['c'] = 13,
    ['d'] = 14,
    ['e'] = 15,
    ['f'] = 16,
    ['A'] = 11,
    ['B'] = 12,
    ['C'] = 13,
    ['D'] = 14,
    ['E'] = 15,
    ['F'] = 16,
};

/* False without digits and for what does not fit 64 bits. */
static bool read_number(
    const struct wndl_frame_scan *s, size_t start, struct number *n)
{
    n->start = start;
    n->end = start + 2;
    n->value = 0;
    for (; n->end < s->text.size; n->end++) {
        unsigned digit = hex_digits[s->text.data[n->end]];
        if (digit == 0)
            break;
        if (n->value >> 60 != 0)
            return false;
        n->value = n->value << 4 | (digit - 1);
    }
    return n->end != start + 2;
}

/* The last `c` of [from, to), or NONE. */
static size_t last_of(
    const struct wndl_frame_scan *s, uint8_t c, size_t from, size_t to)
{
    const uint8_t *found =
        from >= to ? NULL : memrchr(s->text.data + from, c, to - from);
    return found == NULL ? NONE : (size_t)(found - s->text.data);
}

/* The first `c` of [from, to), or `to`. */
static size_t first_of(
    const struct wndl_frame_scan *s, uint8_t c, size_t from, size_t to)
{
    const uint8_t *found =
        from >= to ? NULL : memchr(s->text.data + from, c, to - from);
    return found == NULL ? to : (size_t)(found - s->text.data);
}

/* Nothing before `floor` can be part of a frame. */
static void set_floor(struct wndl_frame_scan *s, size_t floor)
{
    s->taken = floor;
    s->no_bracket = larger(s->no_bracket, floor);
    s->no_hash = larger(s->no_hash, floor);
    s->no_open = larger(s->no_open, floor);
    s->hash = NONE;
    s->open = NONE;
}

/* To the line that `at` is in. */
static void enter_line(struct wndl_frame_scan *s, size_t at)
{
    size_t newline = last_of(s, '\n', s->entered, at);
    s->entered = at;
    if (newline == NONE)
        return;
    s->line = newline + 1;
    set_floor(s, newline + 1);
}

static size_t line_end(struct wndl_frame_scan *s, size_t from)
{
    if (s->line_end < from)
        s->line_end = first_of(s, '\n', from, s->text.size);
    return s->line_end;
}

/* A '"' that no backslash hides ends a JSON string, and so any frame. */
static size_t quote_in(const struct wndl_frame_scan *s, size_t from, size_t to)
{
    for (size_t at = first_of(s, '"', from, to); at < to;
         at = first_of(s, '"', at + 1, to)) {
        size_t slash = at;
        while (slash > from && s->text.data[slash - 1] == '\\')
            slash--;
        if ((at - slash) % 2 == 0)
            return at;
    }
    return NONE;
}

static bool emit(struct wndl_frame_scan *s, struct wndl_frame_text *frame)
{
    if (s->json) {
        size_t quote = quote_in(s, frame->start, frame->end);
        if (quote != NONE) {
            set_floor(s, quote + 1);
            return false;
        }
    }
    set_floor(s, frame->end);
    s->next = larger(s->next, frame->end);
    return true;
}

/*
 * The last "#digits: " that ends before `before`, in [no_hash, before): its
 * end, or NONE, and then notes how far there is none.
 */
static size_t hash_before(struct wndl_frame_scan *s, size_t before)
{
    size_t none = before;
    size_t hash = last_of(s, '#', s->no_hash, before);
    for (; hash != NONE; hash = last_of(s, '#', s->no_hash, hash)) {
        size_t at = hash + 1;
        while (is_digit(byte_at(s, at)))
            at++;
        bool whole = at > hash + 1 && at_text(s, at, ": ");
        if (whole && at + 2 < before)
            return at + 2;
        if (at + 2 >= before)
            none = hash; /* may do for a later bracket */
    }
    s->no_hash = larger(s->no_hash, none);
    return NONE;
}

/* "#01: name[path +0xOFF]"; `n` is the number, '+' and ' ' before it. */
static bool bracketed(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    size_t blank = n->start - 2;
    if (blank == 0)
        return false;
    size_t bracket = last_of(s, '[', s->no_bracket, blank - 1);
    if (bracket == NONE) {
        s->no_bracket = larger(s->no_bracket, blank - 1);
        return false;
    }
    size_t start = hash_before(s, bracket);
    if (start == NONE)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_BRACKETED,
        .base = WNDL_FRAME_RVA,
        .start = start,
        .end = n->end + 1,
        .name = span(s, start, bracket),
        .path = span(s, bracket + 1, blank),
        .address = n->value,
    };
    return emit(s, frame);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Back over one word; blanks within brackets are part of it. */
static size_t word_before(const struct wndl_frame_scan *s, size_t end)
{
    int depth = 0;
    size_t at = end;
    for (; at > s->taken && end - at < LONGEST_PATH; at--) {
        uint8_t c = s->text.data[at - 1];
        if (c == ')' || c == '>' || c == ']')
            depth++;
        else if ((c == '(' || c == '<' || c == '[') && --depth < 0)
            break;
        else if ((is_blank(c) && depth == 0) || (s->json && c == '"'))
            break;
    }
    return at;
}

/* A demangled name, "operator new(unsigned long)", "f(int) const". */
static size_t name_before(const struct wndl_frame_scan *s, size_t end)
{
    size_t start = word_before(s, end);
    while (start > s->taken + 1) {
        bool tail = at_text(s, start, "const ") ||
                    at_text(s, start, "[clone ") || at_text(s, start, "&");
        size_t before = word_before(s, start - 1);
        if (before == start - 1 || (!tail && !at_text(s, before, "operator ")))
            break;
        start = before;
    }
    return start;
}

/* "name (0xADDRESS path+0xOFF)", of which the beginning was seen. */
static bool named(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    size_t open = s->open;
    s->open = NONE;
    if (open == NONE || open <= s->taken || byte_at(s, open - 1) != ' ')
        return false;
    size_t start = name_before(s, open - 1);
    if (start == open - 1)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_NAMED,
        .base = WNDL_FRAME_EITHER,
        .start = start,
        .end = n->end + 1,
        .name = span(s, start, open - 1),
        .path = span(s, s->open_after + 1, n->start - 1),
        .address = n->value,
    };
    return frame->path.size != 0 && emit(s, frame);
}

/* The last '(' before `before`, or NONE. */
static size_t open_before(struct wndl_frame_scan *s, size_t before)
{
    size_t open = last_of(s, '(', s->no_open, before);
    if (open == NONE)
        s->no_open = larger(s->no_open, before);
    return open;
}

/* The digits of " (BuildId: digits)" at `at`, or none. */
static struct wndl_bytes build_id_at(const struct wndl_frame_scan *s, size_t at)
{
    static const char before[] = " (BuildId: ";
    size_t start = at + sizeof before - 1;
    size_t end = start;
    if (!at_text(s, at, before))
        return (struct wndl_bytes){0};
    while (hex_digits[byte_at(s, end)] != 0 && end - start < LONGEST_BUILD_ID)
        end++;
    bool whole = byte_at(s, end) == ')' && (end - start) % 2 == 0;
    return span(s, start, whole ? end : start);
}

/* "#1 0xADDRESS (path+0xOFF)", of which the beginning was seen. */
static bool asan(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    if (s->hash == NONE)
        return false;
    s->hash = NONE;
    size_t start = s->hash_after;
    while (byte_at(s, start) == ' ')
        start++;
    size_t first = s->hash_after + (start > s->hash_after); /* one blank */
    size_t open = start;
    struct wndl_bytes name = {0};
    if (at_text(s, start, "in ")) {
        open = open_before(s, n->start);
        if (open == NONE || open < start + 5 || byte_at(s, open - 1) != ' ')
            return false;
        name = span(s, start + 3, open - 1);
    }
    if (byte_at(s, open) != '(' || open + 1 >= n->start - 1)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_ASAN,
        .base = WNDL_FRAME_SVMA,
        .start = first,
        .end = n->end + 1,
        .name = name,
        .path = span(s, open + 1, n->start - 1),
        .build_id = build_id_at(s, n->end + 1),
        .address = n->value,
    };
    return emit(s, frame);
}

/* May be a byte of a path that stands in text without being marked. */
static bool is_path_byte(uint8_t c)
{
    switch (c) {
    case '"':
    case '\'':
    case '`':
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case '<':
    case '>':
    case ',':
    case ';':
    case ':':
    case '|':
    case '=':
    case '\\':
    case 0x7f:
        return false;
    default:
        return c > ' ';
    }
}

/* Where the path that ends at `end` starts, at most LONGEST_PATH before. */
static size_t path_word_before(const struct wndl_frame_scan *s, size_t end)
{
    size_t start = end;
    while (start > s->taken && end - start < LONGEST_PATH &&
           is_path_byte(byte_at(s, start - 1)))
        start--;
    /* The letter of an escape is none of the path. */
    return s->json && start > s->taken && start < end &&
                   byte_at(s, start - 1) == '\\'
               ? start + 1
               : start;
}

/*
 * Where the path of "path(" starts: with the line if that begins with a path,
 * which may have blanks in it, else with the word.
 */
static size_t path_before(const struct wndl_frame_scan *s, size_t open)
{
    size_t start = s->line;
    while (start < open && start - s->line < LONGEST_PATH &&
           is_blank(byte_at(s, start)))
        start++;
    if (start >= s->taken && open - start < LONGEST_PATH &&
        (at_text(s, start, "/") || at_text(s, start, "./")))
        return start;
    return path_word_before(s, open);
}

/* " [0xADDRESS]" at `at`, the blank not in every version. */
static bool address_in_brackets(
    const struct wndl_frame_scan *s, size_t at, struct number *address)
{
    at += byte_at(s, at) == ' ';
    return at_text(s, at, "[0x") && read_number(s, at + 1, address) &&
           byte_at(s, address->end) == ']';
}

/* "path(name+0xOFF) [0xADDRESS]", also without the name. */
static bool glibc(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    struct number address;
    if (!address_in_brackets(s, n->end + 1, &address))
        return false;
    size_t open = open_before(s, n->start);
    if (open == NONE)
        return false;
    size_t start = path_before(s, open);
    struct wndl_bytes name = span(s, open + 1, n->start - 1);
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_GLIBC,
        .base = name.size == 0 ? WNDL_FRAME_SVMA : WNDL_FRAME_IN_SYMBOL,
        .start = start,
        .end = n->end + 1,
        .name = name,
        .path = span(s, start, open),
        .address = n->value,
        .return_address = true,
    };
    return start != open && emit(s, frame);
}

/*
 * "path() [0xADDRESS]" and, by backtrace_symbols_fd, "path[0xADDRESS]": a
 * program that is loaded where it was linked to.
 */
static bool glibc_absolute(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    size_t end = n->start - 1;
    if (byte_at(s, n->end) != ']')
        return false;
    size_t blank = end > s->taken && byte_at(s, end - 1) == ' ';
    bool call =
        end >= s->taken + 3 + blank && at_text(s, end - blank - 2, "()");
    if (call)
        end -= blank;
    size_t close = call ? end - 2 : end;
    size_t start = path_before(s, close);
    struct wndl_bytes path = span(s, start, close);
    if (path.size == 0 || (!call && memchr(path.data, '/', path.size) == NULL))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_GLIBC,
        .base = WNDL_FRAME_SVMA,
        .start = start,
        .end = end,
        .path = path,
        .address = n->value,
        .return_address = true,
        .perhaps = !call,
    };
    return emit(s, frame);
}

/* Words like main+0x12 are more often functions than files. */
static bool is_like_a_path(struct wndl_bytes word)
{
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == '/')
            return true;
        if (word.data[i] == '.' && word.size - i >= 3 &&
            (memcmp(word.data + i, ".so", 3) == 0 ||
                (word.size - i == 3 && memcmp(word.data + i, ".ko", 3) == 0)))
            return true;
    }
    return false;
}

/* "path+0xOFF", and neither more digits nor a size behind it. */
static bool plain(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    uint8_t after = byte_at(s, n->end);
    size_t plus = n->start - 1;
    if (is_path_byte(after == '.' ? byte_at(s, n->end + 1) : after))
        return false;
    size_t start = path_word_before(s, plus);
    if (start >= plus || plus - start == LONGEST_PATH ||
        !is_like_a_path(span(s, start, plus)))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_PLAIN,
        .base = WNDL_FRAME_EITHER,
        .start = start,
        .end = n->end,
        .path = span(s, start, plus),
        .address = n->value,
        .perhaps = true,
    };
    return emit(s, frame);
}

static bool after_plus(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    uint8_t after = byte_at(s, n->end);
    if (after == ']' && n->start >= s->taken + 2 &&
        byte_at(s, n->start - 2) == ' ')
        return bracketed(s, n, frame);
    if (after == ')' &&
        (named(s, n, frame) || asan(s, n, frame) || glibc(s, n, frame)))
        return true;
    return plain(s, n, frame);
}

/* "??? (path) 0xADDRESS" */
static bool unnamed(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    size_t close = n->start - 2;
    size_t open = open_before(s, close);
    if (open == NONE || open < s->taken + 4 || open + 1 >= close ||
        !at_text(s, open - 4, "??? ") || is_path_byte(byte_at(s, n->end)))
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_UNNAMED,
        .base = WNDL_FRAME_EITHER,
        .start = open - 4,
        .end = n->end,
        .name = span(s, open - 4, open - 1),
        .path = span(s, open + 1, close),
        .address = n->value,
    };
    return emit(s, frame);
}

/* The next " (in " of the line, or the line's end. */
static size_t in_behind(struct wndl_frame_scan *s, size_t from)
{
    size_t end = line_end(s, from);
    if (s->in_at >= from && s->in_at <= end)
        return s->in_at;
    const uint8_t *found = memmem(s->text.data + from, end - from, " (in ", 5);
    s->in_at = found == NULL ? end : (size_t)(found - s->text.data);
    return s->in_at;
}

/* "at 0xADDRESS: name (in path)" */
static bool valgrind(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    if (!at_text(s, n->end, ": "))
        return false;
    size_t start = n->end + 2;
    size_t in = in_behind(s, start);
    size_t end = line_end(s, start);
    size_t close = first_of(s, ')', in, end);
    if (close == end)
        s->in_at = end; /* nothing to find on this line */
    if (in == start || close == end || close <= in + 5)
        return false;
    *frame = (struct wndl_frame_text){
        .form = WNDL_FRAME_VALGRIND,
        .base = WNDL_FRAME_VALGRINDS,
        .start = start,
        .end = close + 1,
        .name = span(s, start, in),
        .path = span(s, in + 5, close),
        .address = n->value,
    };
    return emit(s, frame);
}

/* The '#' of "#12 " that ends at `end`, or NONE. */
static size_t number_sign(const struct wndl_frame_scan *s, size_t end)
{
    size_t at = end;
    while (at > s->taken && end - at < 20 && is_digit(byte_at(s, at - 1)))
        at--;
    return at > s->taken && at < end && byte_at(s, at - 1) == '#' ? at - 1
                                                                  : NONE;
}

static bool after_blank(struct wndl_frame_scan *s, const struct number *n,
    struct wndl_frame_text *frame)
{
    if (n->start < s->taken + 3)
        return false;
    size_t blank = n->start - 1;
    if (byte_at(s, blank - 1) == ')')
        return unnamed(s, n, frame);
    bool word = blank == s->line + 2 || is_blank(byte_at(s, blank - 3));
    if (word && (at_text(s, blank - 2, "at") || at_text(s, blank - 2, "by")))
        return valgrind(s, n, frame);
    size_t sign = number_sign(s, blank);
    if (sign != NONE) {
        s->hash = sign;
        s->hash_after = n->end;
    }
    return false;
}

/* Most numbers are told by what is before them to be in no frame. */
static bool is_plausible(const struct wndl_frame_scan *s, size_t start)
{
    if (start < 3)
        return start != 0 && s->text.data[start - 1] != ' ';
    uint8_t before = s->text.data[start - 2];
    switch (s->text.data[start - 1]) {
    case '+':
    case '[':
    case '(':
        return true;
    case ' ':
        return before == ')' || before == 't' || before == 'y' ||
               is_digit(before);
    default:
        return false;
    }
}

static bool candidate(
    struct wndl_frame_scan *s, size_t start, struct wndl_frame_text *frame)
{
    struct number n;
    if (!is_plausible(s, start))
        return false;
    enter_line(s, start);
    if (start <= s->taken || !read_number(s, start, &n))
        return false;
    switch (s->text.data[start - 1]) {
    case '+':
        return after_plus(s, &n, frame);
    case ' ':
        return after_blank(s, &n, frame);
    case '[':
        return glibc_absolute(s, &n, frame);
    case '(':
        if (byte_at(s, n.end) == ' ') {
            s->open = start - 1;
            s->open_after = n.end;
        }
        return false;
    default:
        return false;
    }
}

void wndl_frame_scan_init(
    struct wndl_frame_scan *scan, struct wndl_bytes text, bool json)
{
    *scan = (struct wndl_frame_scan){.text = text, .json = json};
    scan->hash = scan->open = NONE;
}

bool wndl_frame_scan_next(
    struct wndl_frame_scan *scan, struct wndl_frame_text *frame)
{
    for (;;) {
        size_t x = first_of(scan, 'x', scan->next, scan->text.size);
        if (x == scan->text.size)
            return false;
        scan->next = x + 1;
        if (x == 0 || scan->text.data[x - 1] != '0')
            continue;
        if (candidate(scan, x - 1, frame))
            return true;
    }
}
