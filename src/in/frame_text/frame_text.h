/* SPDX-License-Identifier: MIT */
/*
 * frame_text: finds stack frames in text, in the forms in which programs and
 * tools print them (docs/fix.md has the list). It must not know what is at
 * the addresses.
 *
 * Text without frames costs a memchr. Hostile text costs linear time: what
 * was searched backwards once is not searched again. Takes no memory; one
 * scan is for one thread, several may go on at once. Nothing here fails: what
 * is not exactly a frame is text.
 */
#ifndef WNDL_IN_FRAME_TEXT_FRAME_TEXT_H
#define WNDL_IN_FRAME_TEXT_FRAME_TEXT_H

#include "base/bytes.h"

enum wndl_frame_form {
    WNDL_FRAME_BRACKETED, /* #01: name[path +0xOFF] */
    WNDL_FRAME_NAMED,     /* name (0xADDRESS path+0xOFF) */
    WNDL_FRAME_UNNAMED,   /* ??? (path) 0xADDRESS */
    WNDL_FRAME_ASAN,      /* #1 0xADDRESS [in name] (path+0xOFF), then perhaps
                           * (BuildId: hex digits) */
    WNDL_FRAME_GLIBC,     /* path(name+0xOFF) [0xADDRESS] */
    WNDL_FRAME_VALGRIND,  /* at 0xADDRESS: name (in path) */
    WNDL_FRAME_PLAIN,     /* path+0xOFF */
};

/* What wndl_frame_text.address counts from. */
enum wndl_frame_base {
    WNDL_FRAME_RVA,       /* the image base */
    WNDL_FRAME_SVMA,      /* 0, as linked */
    WNDL_FRAME_EITHER,    /* the tool is not known: one of these two */
    WNDL_FRAME_IN_SYMBOL, /* the start of the symbol `name` */
    WNDL_FRAME_VALGRINDS, /* 0, as Valgrind loads programs */
};

/*
 * One frame. Offsets are from the start of the scanned text; start < end, the
 * bytes between are what the answer replaces and hold no line end. `name` may
 * be empty, `path` may not; both lie in the line and are borrowed from the
 * text.
 */
struct wndl_frame_text {
    enum wndl_frame_form form;
    enum wndl_frame_base base;
    size_t start;
    size_t end;
    struct wndl_bytes name;
    struct wndl_bytes path;
    struct wndl_bytes build_id; /* its hex digits, or empty */
    uint64_t address;
    bool return_address; /* the call is one byte before it */
    bool perhaps;        /* other text looks so too */
};

/*
 * Invariants: line <= taken <= next <= text.size. Nothing before `taken` is
 * part of a frame to come. Positions of searches that found nothing:
 * [taken, no_bracket) is without '[', and so on. `hash` and `open` are where
 * the beginnings of an ASAN and a NAMED frame were seen, NONE if they were
 * not.
 */
struct wndl_frame_scan {
    struct wndl_bytes text;
    bool json; /* frames are parts of JSON strings */
    size_t next;
    size_t entered; /* line ends before it are known of */
    size_t line;
    size_t taken;
    size_t line_end; /* of a line that was asked for, may be behind */
    size_t in_at;    /* next " (in " or end of its line, may be behind */
    size_t no_bracket;
    size_t no_hash;
    size_t no_open;
    size_t hash;
    size_t hash_after; /* behind its address */
    size_t open;
    size_t open_after;
};

/* Over `text`, which begins at the start of a line and outlives the scan. */
void wndl_frame_scan_init(
    struct wndl_frame_scan *scan, struct wndl_bytes text, bool json);

/* The next frame in the order of the text. False when there is none. */
bool wndl_frame_scan_next(
    struct wndl_frame_scan *scan, struct wndl_frame_text *frame);

#endif
