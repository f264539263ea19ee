/* SPDX-License-Identifier: MIT */
/*
 * json_read: JSON (RFC 8259) that comes in pieces, read value by value. The
 * caller knows what it expects; the first thing that is otherwise ends it.
 *
 * Failure is sticky: `status` and the caller's wndl_error have the first one,
 * with its offset in the text, and from then on every call gives nothing. So
 * a reader checks `status` where it keeps what it read. Takes no memory but
 * for the string it is at. One reader is for one thread.
 */
#ifndef WNDL_BASE_JSON_READ_H
#define WNDL_BASE_JSON_READ_H

#include "base/buf.h"
#include "base/status.h"

enum {
    WNDL_JSON_STRING_MAX = 1 << 20, /* bytes, as escaped */
    WNDL_JSON_DEPTH_MAX = 512,      /* of values that are passed over */
};

/*
 * Gives the next piece of the text, valid until the next call; an empty one
 * is its end. Other than OK ends the reading with that status.
 */
typedef enum wndl_status (*wndl_json_more)(
    void *context, struct wndl_bytes *piece, struct wndl_error *err);

/* Invariant: start <= next <= end, the piece that is being read. */
struct wndl_json_reader {
    const uint8_t *start, *next, *end;
    uint64_t before; /* bytes of the text before `start` */
    wndl_json_more more;
    void *context;
    struct wndl_buf raw, text; /* a string in pieces, and unescaped */
    struct wndl_error *err;    /* the caller's, or NULL */
    enum wndl_status status;
};

/* Reads nothing yet. `err` may be NULL. To be ended by wndl_json_end. */
void wndl_json_begin(struct wndl_json_reader *r, wndl_json_more more,
    void *context, struct wndl_mem *mem, struct wndl_error *err);
void wndl_json_end(struct wndl_json_reader *r);

/* Where in the text the reader is, in bytes. */
uint64_t wndl_json_offset(const struct wndl_json_reader *r);

/* Records a failure at the place where the reader is, if it is the first. */
void wndl_json_fail(
    struct wndl_json_reader *r, enum wndl_status status, const char *what);

/* The same for a place that it has passed. */
void wndl_json_fail_at(struct wndl_json_reader *r, enum wndl_status status,
    uint64_t offset, const char *what);

/* The next byte that is no blank, which is not taken; 0 after a failure, of
 * which the end of the text is one. */
uint8_t wndl_json_peek(struct wndl_json_reader *r);

/*
 * Takes an opening '{' or '['; false if it closes at once, taken too, or
 * something else is there, which `what` says for people.
 */
bool wndl_json_enter(
    struct wndl_json_reader *r, uint8_t opening, const char *what);

/* After a value: takes a comma and is true, or the closing bracket. */
bool wndl_json_another(struct wndl_json_reader *r, uint8_t closing);

/* A string, unescaped; valid until the next call. Empty after a failure. */
struct wndl_bytes wndl_json_read_string(struct wndl_json_reader *r);

/* A string and the colon behind it. */
struct wndl_bytes wndl_json_read_key(struct wndl_json_reader *r);

/* A whole number from 0 to 2^64 - 1. */
uint64_t wndl_json_read_u64(struct wndl_json_reader *r);

/* Takes "null" if that is next. */
bool wndl_json_read_null(struct wndl_json_reader *r);

/* Passes over a value, by its brackets and strings alone. */
void wndl_json_skip(struct wndl_json_reader *r);

/* Fails if anything but blanks is left. */
void wndl_json_expect_end(struct wndl_json_reader *r);

#endif
