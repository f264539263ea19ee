/* SPDX-License-Identifier: MIT */
/*
 * internal: what the files of the Breakpad reader share.
 *
 *   index     one pass over the text; records
 *   breakpad  one address: the records of its function; names
 *   stack     records of rules for unwinding; knows none of the others
 */
#ifndef WNDL_DBG_BREAKPAD_INTERNAL_H
#define WNDL_DBG_BREAKPAD_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "dbg/breakpad/breakpad.h"

/* Addresses [start, end) are of the FUNC record at that offset. */
struct wndl_bp_func {
    uint64_t start;
    uint64_t end;
    uint64_t at;
};

/* A PUBLIC record, or a FUNC record of no size. */
struct wndl_bp_public {
    uint64_t start;
    uint64_t at;
};

/* What a number of a FILE or INLINE_ORIGIN record means: the text at `at`. */
struct wndl_bp_text {
    uint64_t at;
    uint32_t id;
};

struct wndl_bp_line {
    uint64_t start;
    uint64_t end;
    uint32_t line;
    uint32_t file;
};

/* An INLINE record; `first` is the start of its first range. */
struct wndl_bp_call {
    uint64_t first;
    uint32_t depth;
    uint32_t line; /* of the call, as `file` is */
    uint32_t file;
    uint32_t origin;
};

/* One range of an INLINE record. */
struct wndl_bp_range {
    uint64_t start;
    uint64_t end;
    uint32_t depth;
    uint32_t call; /* index */
};

/* Nesting of inlined calls that is followed. */
enum { WNDL_BP_DEEPEST = 1024 };

/* The records of the function that was asked for last: lines sorted by start,
 * ranges by depth and those of the first depths by start. */
struct wndl_bp_body {
    uint64_t at;             /* of its FUNC record; UINT64_MAX for none */
    struct wndl_vec lines;   /* struct wndl_bp_line */
    struct wndl_vec calls;   /* struct wndl_bp_call */
    struct wndl_vec ranges;  /* struct wndl_bp_range */
    struct wndl_vec scratch; /* for sorting the latter */
    uint32_t depths;         /* a range is of one below this */
    uint32_t sorted;         /* depths below this are */
    /* Where the ranges of each depth end, and those of the next begin. */
    size_t ends[WNDL_BP_DEEPEST];
};

/*
 * Invariants: funcs are sorted and do not overlap; publics are sorted by
 * start, files and origins by id, each start and id once.
 */
struct wndl_breakpad {
    struct wndl_breakpad_source in;
    struct wndl_mem *mem;
    struct wndl_arena arena;
    struct wndl_breakpad_stats stats;
    struct wndl_vec funcs;   /* struct wndl_bp_func */
    struct wndl_vec publics; /* struct wndl_bp_public */
    struct wndl_vec files;   /* struct wndl_bp_text */
    struct wndl_vec origins; /* struct wndl_bp_text */
    struct wndl_map texts;   /* offset -> copy, with NUL */
    struct wndl_map damaged; /* offsets of FUNC records that were counted */
    struct wndl_bp_body body;
    uint64_t touched;       /* bytes of the text since memory was given up */
    struct wndl_vec frames; /* struct wndl_breakpad_frame */
};

/* Of reading: so much of the text is in memory at a time. */
enum { WNDL_BP_PIECE = 2 << 20 };

enum wndl_bp_kind {
    WNDL_BP_LINE, /* anything that begins with no other's word */
    WNDL_BP_MODULE,
    WNDL_BP_INFO,
    WNDL_BP_FILE,
    WNDL_BP_FUNC,
    WNDL_BP_INLINE,
    WNDL_BP_INLINE_ORIGIN,
    WNDL_BP_PUBLIC,
    WNDL_BP_STACK,
};

/* What is left of a line. */
struct wndl_bp_fields {
    const uint8_t *at;
    const uint8_t *end;
};

static inline struct wndl_bytes wndl_bp_rest(struct wndl_bp_fields fields)
{
    return (struct wndl_bytes){fields.at, (size_t)(fields.end - fields.at)};
}

/* Where the next line begins; the size of the text if there is none. */
uint64_t wndl_bp_next(struct wndl_bytes text, uint64_t at);

/* The line at *at, without its end. Goes on to the next one, or to the end of
 * the text. */
struct wndl_bp_fields wndl_bp_take_line(struct wndl_bytes text, uint64_t *at);

/* The same where it is not gone on. */
static inline struct wndl_bp_fields wndl_bp_line_at(
    struct wndl_bytes text, uint64_t at)
{
    return wndl_bp_take_line(text, &at);
}

/* Takes the word off and tells by it which record it is. */
enum wndl_bp_kind wndl_bp_take_kind(struct wndl_bp_fields *fields);

/* Takes a word and what separates it, false at the end; or this one alone. */
bool wndl_bp_take_word(struct wndl_bp_fields *fields, struct wndl_bytes *word);
bool wndl_bp_take_if(struct wndl_bp_fields *fields, const char *word);

/* Takes a number and what separates it. False when there is none, or one too
 * large. */
bool wndl_bp_take_hex(struct wndl_bp_fields *fields, uint64_t *value);
bool wndl_bp_take_decimal(struct wndl_bp_fields *fields, uint32_t *value);

/* The value of a hexadecimal digit, or more than 15. */
static inline unsigned wndl_bp_digit(uint8_t c)
{
    unsigned decimal = c - (unsigned)'0';
    unsigned letter = (c | 0x20) - (unsigned)'a';
    return decimal <= 9 ? decimal : letter <= 5 ? letter + 10 : 16;
}

/* A FUNC or PUBLIC record; size 0 for the latter. Leaves the name. */
struct wndl_bp_head {
    uint64_t start;
    uint64_t size;
};

bool wndl_bp_take_head(struct wndl_bp_fields *fields, enum wndl_bp_kind kind,
    struct wndl_bp_head *head);

/* Counts `bytes` of the text as read, and releases its pages after enough of
 * them. */
void wndl_bp_release_pages_after(struct wndl_breakpad *b, uint64_t bytes);

/* Counts damage of the line at `at`. */
void wndl_bp_damage(struct wndl_breakpad *b, uint64_t at, const char *what);

/* Sorts a list, which is in order as a rule. */
void wndl_bp_sort(
    struct wndl_vec *list, int (*compare)(const void *, const void *));

#endif
