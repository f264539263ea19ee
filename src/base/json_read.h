/* SPDX-License-Identifier: MIT */
/*
 * json_read: reads JSON (RFC 8259) that arrives in pieces, value by value. The
 * caller knows what it expects; the first deviation ends the reading.
 *
 * Failure is sticky: `status` and the caller's wndl_error have the first one,
 * with its offset in the text. From then on every call returns nothing. A
 * reader checks `status` where it keeps what it read. The only memory is for
 * the current string. One reader is for one thread.
 */
#ifndef WNDL_BASE_JSON_READ_H
#define WNDL_BASE_JSON_READ_H

#include "base/buf.h"
#include "base/status.h"

enum {
    WNDL_JSON_STRING_MAX = 1 << 20, /* bytes, as escaped */
    WNDL_JSON_DEPTH_MAX = 512,      /* of values that are skipped */
};

/*
 * Gives the next piece of the text, valid until the next call; an empty piece
 * is the end. A status other than OK ends the reading with that.
 */
typedef enum wndl_status (*wndl_json_more)(
    void *context, struct wndl_bytes *piece, struct wndl_error *err);

/* Invariant: start <= next <= end, in the current piece. */
struct wndl_json_reader {
    const uint8_t *start, *next, *end;
    uint64_t before; /* bytes of the text before `start` */
    wndl_json_more more;
    void *context;
    struct wndl_buf raw, text; /* raw: a string from several pieces; text:
                                * unescaped */
    struct wndl_error *err;    /* the caller's, or NULL */
    enum wndl_status status;
};

/*
 * Prepares a reader, and reads nothing yet. `err` may be NULL. wndl_json_end
 * ends it.
 */
void wndl_json_begin(struct wndl_json_reader *r, wndl_json_more more,
    void *context, struct wndl_mem *mem, struct wndl_error *err);
void wndl_json_end(struct wndl_json_reader *r);

/* The reader's place in the text, in bytes. */
uint64_t wndl_json_offset(const struct wndl_json_reader *r);

/* Records a failure at the reader's place, if it is the first. */
void wndl_json_fail(
    struct wndl_json_reader *r, enum wndl_status status, const char *what);

/* The same for an earlier place. */
void wndl_json_fail_at(struct wndl_json_reader *r, enum wndl_status status,
    uint64_t offset, const char *what);

/*
 * The next byte that is not blank, without consuming it. 0 after a failure; the
 * end of the text is one, too.
 */
uint8_t wndl_json_peek(struct wndl_json_reader *r);

/*
 * Consumes an opening '{' or '['. False if it closes at once, which is
 * consumed, too, or if there is something else. `what` then is the message.
 */
bool wndl_json_enter(
    struct wndl_json_reader *r, uint8_t opening, const char *what);

/* Whether more than blanks follows. False after a failure. */
bool wndl_json_follows(struct wndl_json_reader *r);

/* After a value: consumes a comma (true), or the closing bracket (false). */
bool wndl_json_another(struct wndl_json_reader *r, uint8_t closing);

/* Reads a string, unescaped; valid until the next call. Empty on failure. */
struct wndl_bytes wndl_json_read_string(struct wndl_json_reader *r);

/* Reads a string and the colon after it. */
struct wndl_bytes wndl_json_read_key(struct wndl_json_reader *r);

/* Reads a whole number from 0 to 2^64 - 1. */
uint64_t wndl_json_read_u64(struct wndl_json_reader *r);

/* Reads a whole number from -2^63 to 2^63 - 1. */
int64_t wndl_json_read_i64(struct wndl_json_reader *r);

/* Reads "true" or "false". */
bool wndl_json_read_truth(struct wndl_json_reader *r);

/* Consumes "null" if that is next. */
bool wndl_json_read_null(struct wndl_json_reader *r);

/* Skips a value, by its brackets and strings only. */
void wndl_json_skip(struct wndl_json_reader *r);

/* Fails if anything but blanks is left. */
void wndl_json_expect_end(struct wndl_json_reader *r);

#endif
