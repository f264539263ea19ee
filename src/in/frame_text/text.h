/* SPDX-License-Identifier: MIT */
/*
 * text: the parts that the forms of frame_text share: reading around a number,
 * within the bounds of the text, and taking a frame that was found.
 */
#ifndef WNDL_IN_FRAME_TEXT_TEXT_H
#define WNDL_IN_FRAME_TEXT_TEXT_H

#include "in/frame_text/frame_text.h"

#include <string.h>

/* Longer than PATH_MAX: a longer word is no path. */
enum { WNDL_FRAME_LONGEST_PATH = 4096 };

#define WNDL_FRAME_NONE SIZE_MAX

/* The current number: "0x" at `start`, its digits up to `end`. */
struct wndl_frame_number {
    size_t start;
    size_t end;
    uint64_t value;
};

/* Whether the text at `at` begins with `wanted`. */
static inline bool wndl_frame_at_text(
    const struct wndl_frame_scan *s, size_t at, const char *wanted)
{
    size_t size = strlen(wanted);
    return at <= s->text.size && size <= s->text.size - at &&
           memcmp(s->text.data + at, wanted, size) == 0;
}

/* The byte at `at`; outside of the text a line end. */
static inline uint8_t wndl_frame_byte(
    const struct wndl_frame_scan *s, size_t at)
{
    return at < s->text.size ? s->text.data[at] : '\n';
}

static inline struct wndl_bytes wndl_frame_span(
    const struct wndl_frame_scan *s, size_t start, size_t end)
{
    return (struct wndl_bytes){s->text.data + start, end - start};
}

static inline size_t wndl_frame_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline bool wndl_frame_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* The last `c` of [from, to), or WNDL_FRAME_NONE. */
static inline size_t wndl_frame_last_of(
    const struct wndl_frame_scan *s, uint8_t c, size_t from, size_t to)
{
    const uint8_t *found =
        from >= to ? NULL : memrchr(s->text.data + from, c, to - from);
    return found == NULL ? WNDL_FRAME_NONE : (size_t)(found - s->text.data);
}

/* The first `c` of [from, to), or `to`. */
static inline size_t wndl_frame_first_of(
    const struct wndl_frame_scan *s, uint8_t c, size_t from, size_t to)
{
    const uint8_t *found =
        from >= to ? NULL : memchr(s->text.data + from, c, to - from);
    return found == NULL ? to : (size_t)(found - s->text.data);
}

static inline bool wndl_frame_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The value plus 1 of a hexadecimal digit; 0 for other bytes. */
extern const uint8_t wndl_frame_hex_digits[256];

/*
 * Reads the number at `start`. False without digits, and if it does not fit 64
 * bits.
 */
bool wndl_frame_number(
    const struct wndl_frame_scan *s, size_t start, struct wndl_frame_number *n);

/* Notes that no frame has bytes before `floor`. */
void wndl_frame_set_floor(struct wndl_frame_scan *s, size_t floor);

/*
 * The end of the line that has `from`, which must not decrease from call to
 * call.
 */
size_t wndl_frame_line_end(struct wndl_frame_scan *s, size_t from);

/*
 * Accepts a frame: the scan continues after it. False if it has a JSON string's
 * quote in it, and is no frame.
 */
bool wndl_frame_emit(struct wndl_frame_scan *s, struct wndl_frame_text *frame);

/*
 * Takes ":ARCH" off the end of `path`, where sanitizers on Apple's systems
 * write the architecture, and returns it; empty if there is none.
 */
struct wndl_bytes wndl_frame_take_arch(struct wndl_bytes *path);

/* The last '(' before `before`, or WNDL_FRAME_NONE. */
size_t wndl_frame_open_before(struct wndl_frame_scan *s, size_t before);

/* Whether `c` may be in a path that has no quotes around it. */
bool wndl_frame_is_path_byte(uint8_t c);

/*
 * The start of the path that ends at `end`, at most WNDL_FRAME_LONGEST_PATH
 * before it.
 */
size_t wndl_frame_path_word(const struct wndl_frame_scan *s, size_t end);

/* Whether the text before `at`, and after what is taken, ends in `wanted`. */
bool wndl_frame_is_after(
    const struct wndl_frame_scan *s, size_t at, const char *wanted);

/*
 * The start of the decimal number that ends at `end`, and the number; or
 * WNDL_FRAME_NONE.
 */
size_t wndl_frame_index_before(
    const struct wndl_frame_scan *s, size_t end, uint64_t *index);

/*
 * The end of the line that has `from`, without a '\r'; in JSON of the line that
 * the string has. WNDL_FRAME_NONE if it is farther than a path is long.
 */
size_t wndl_frame_rest(struct wndl_frame_scan *s, size_t from);

/* Reads " + 12" at [at, end), which it fills. */
bool wndl_frame_decimal_offset(
    const struct wndl_frame_scan *s, size_t at, size_t end, uint64_t *offset);

/* The digits of " (BuildId: digits)" at `at`, or none. */
struct wndl_bytes wndl_frame_build_id_at(
    const struct wndl_frame_scan *s, size_t at);

/* Whether a word is a path rather than a function: "/" or ".so" is in it. */
bool wndl_frame_is_like_a_path(struct wndl_bytes word);

/* Whether `name` is an architecture, as lipo, LLVM and sanitizers name them. */
bool wndl_frame_is_arch(struct wndl_bytes name);

/* The start of the demangled name that ends at `end`. */
size_t wndl_frame_name_before(const struct wndl_frame_scan *s, size_t end);

#endif
