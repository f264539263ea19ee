/* SPDX-License-Identifier: MIT */
/*
 * rust_internal: the parts that the files of the reader of Rust names share.
 *
 *   rust           old names; marks of clones
 *   rust_v0        paths, types and the like of version 0
 *   rust_constant  its constants
 *   rust_ident     its identifiers and numbers
 *
 * Text is written as it is read. A back reference is read again, with a limit
 * on the text, on the steps and on the depth. `failed` is checked at the end,
 * and by each loop.
 */
#ifndef WNDL_SYMBOLIZE_DEMANGLE_RUST_INTERNAL_H
#define WNDL_SYMBOLIZE_DEMANGLE_RUST_INTERNAL_H

#include "base/buf.h"

#include <string.h>

enum { WNDL_RUST_STEPS = 1 << 20, WNDL_RUST_DEPTH = 500 };

/* Invariant: start <= at <= end; out->size <= most. */
struct wndl_rust {
    const uint8_t *start, *at, *end; /* back references count from `start` */
    struct wndl_buf *out;
    size_t most;
    unsigned depth, steps;
    uint64_t lifetimes; /* that are bound here */
    bool is_silent;     /* nothing is written */
    bool failed;
};

static inline void wndl_rust_put(
    struct wndl_rust *r, const void *text, size_t size)
{
    struct wndl_buf *out = r->out;
    if (r->is_silent)
        return;
    if (size > r->most - out->size || wndl_buf_reserve(out, size) == NULL) {
        r->failed = true;
        return;
    }
    memcpy(out->data + out->size, text, size);
    out->size += size;
}

static inline __attribute__((always_inline)) void wndl_rust_text(
    struct wndl_rust *r, const char *text)
{
    wndl_rust_put(r, text, strlen(text));
}

/* Appends a character; one that is none is a failure. */
void wndl_rust_character(struct wndl_rust *r, uint32_t c);

/* The next byte, or 0 at the end. */
static inline uint8_t wndl_rust_look(const struct wndl_rust *r)
{
    return r->at == r->end ? 0 : *r->at;
}

/* Takes the next byte; fails at the end. */
static inline uint8_t wndl_rust_next(struct wndl_rust *r)
{
    if (r->at == r->end) {
        r->failed = true;
        return 0;
    }
    return *r->at++;
}

static inline bool wndl_rust_take(struct wndl_rust *r, uint8_t byte)
{
    if (wndl_rust_look(r) != byte)
        return false;
    r->at++;
    return true;
}

/* False at the limits. */
static inline bool wndl_rust_enter(struct wndl_rust *r)
{
    r->failed |= ++r->depth > WNDL_RUST_DEPTH || ++r->steps > WNDL_RUST_STEPS;
    return !r->failed;
}

static inline void wndl_rust_leave(struct wndl_rust *r)
{
    r->depth--;
}

/* Whether a list goes on: its end, "E", is taken. */
static inline bool wndl_rust_more(struct wndl_rust *r)
{
    return !r->failed && !wndl_rust_take(r, 'E');
}

/* ---- rust_ident */

struct wndl_rust_ident {
    struct wndl_bytes plain;
    struct wndl_bytes coded; /* punycode */
};

struct wndl_rust_ident wndl_rust_ident(struct wndl_rust *r);
void wndl_rust_put_ident(struct wndl_rust *r, struct wndl_rust_ident ident);
/* "_" is 0, "0_" is 1, in base 62. */
uint64_t wndl_rust_number(struct wndl_rust *r);
/* 0 without `tag`, else the number after it and 1. */
uint64_t wndl_rust_tagged_number(struct wndl_rust *r, uint8_t tag);
/*
 * After the tag of a back reference: goes where it leads. The place to come
 * back to; NULL when nothing is to be read there.
 */
const uint8_t *wndl_rust_jump(struct wndl_rust *r);

/* ---- rust_v0, rust_constant */

/* Reads up to "E", with `between` between two. Returns how many there are. */
size_t wndl_rust_list(struct wndl_rust *r, void (*read)(struct wndl_rust *r),
    const char *between);
/* `in_value`: arguments have "::" before them, as in expressions. */
void wndl_rust_path(struct wndl_rust *r, bool in_value);
/* `in_value`: a constant within another, which has no braces around it. */
void wndl_rust_constant(struct wndl_rust *r, bool in_value);

#endif
