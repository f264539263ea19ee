/* SPDX-License-Identifier: MIT */
/*
 * internal: the parts that the files of the Breakpad reader share.
 *
 *   index     one pass over the text; records
 *   breakpad  one address: the records of its function; names
 *   stack     records of unwind rules; independent of the others
 */
#ifndef WNDL_DBG_BREAKPAD_INTERNAL_H
#define WNDL_DBG_BREAKPAD_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "dbg/breakpad/breakpad.h"

/* Addresses [start, end) belong to the FUNC record at that offset. */
struct wndl_bp_func {
    uint64_t start;
    uint64_t end;
    uint64_t at;
};

/* A PUBLIC record, or a FUNC record of size 0. */
struct wndl_bp_public {
    uint64_t start;
    uint64_t at;
};

/* The text of a FILE or INLINE_ORIGIN record's number, at offset `at`. */
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
    uint32_t line; /* of the call; so is `file` */
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

/* The largest nesting of inlined calls. */
enum { WNDL_BP_DEEPEST = 1024 };

/*
 * The records of the function of the last lookup: lines sorted by start, ranges
 * by depth, and those of the first depths by start.
 */
struct wndl_bp_body {
    uint64_t at;             /* of its FUNC record; UINT64_MAX for none */
    struct wndl_vec lines;   /* struct wndl_bp_line */
    struct wndl_vec calls;   /* struct wndl_bp_call */
    struct wndl_vec ranges;  /* struct wndl_bp_range */
    struct wndl_vec scratch; /* for sorting the ranges */
    uint32_t depths;         /* the number of depths */
    uint32_t sorted;         /* depths below this are sorted */
    /* The end of each depth's ranges, where those of the next begin. */
    size_t ends[WNDL_BP_DEEPEST];
};

/*
 * The reader. Invariants: funcs are sorted and do not overlap; publics are
 * sorted by start, files and origins by id; each start and id occurs once.
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
    struct wndl_map damaged; /* offsets of FUNC records with counted damage */
    struct wndl_bp_body body;
    uint64_t touched; /* bytes of the text read since its memory was released */
    struct wndl_vec frames; /* struct wndl_breakpad_frame */
};

/* The bytes of the text that are in memory at a time during the pass. */
enum { WNDL_BP_PIECE = 2 << 20 };

enum wndl_bp_kind {
    WNDL_BP_LINE, /* a line that begins with no other record's word */
    WNDL_BP_MODULE,
    WNDL_BP_INFO,
    WNDL_BP_FILE,
    WNDL_BP_FUNC,
    WNDL_BP_INLINE,
    WNDL_BP_INLINE_ORIGIN,
    WNDL_BP_PUBLIC,
    WNDL_BP_STACK,
};

/* The unread rest of a line. */
struct wndl_bp_fields {
    const uint8_t *at;
    const uint8_t *end;
};

/* All that is left of the line. */
static inline struct wndl_bytes wndl_bp_rest(struct wndl_bp_fields fields)
{
    return (struct wndl_bytes){fields.at, (size_t)(fields.end - fields.at)};
}

/* The start of the next line; the size of the text if there is none. */
uint64_t wndl_bp_next(struct wndl_bytes text, uint64_t at);

/*
 * The line at *at, without its end. Moves *at to the next line, or to the end
 * of the text.
 */
struct wndl_bp_fields wndl_bp_take_line(struct wndl_bytes text, uint64_t *at);

/* The same without moving. */
static inline struct wndl_bp_fields wndl_bp_line_at(
    struct wndl_bytes text, uint64_t at)
{
    return wndl_bp_take_line(text, &at);
}

/* Takes the first word off and returns the kind of record that it means. */
enum wndl_bp_kind wndl_bp_take_kind(struct wndl_bp_fields *fields);

/*
 * Take a word and its separator. The first is false at the end; the second
 * takes only `word`, and is false if another one is next.
 */
bool wndl_bp_take_word(struct wndl_bp_fields *fields, struct wndl_bytes *word);
bool wndl_bp_take_if(struct wndl_bp_fields *fields, const char *word);

/*
 * Take a number and its separator. False when there is none, or one too large.
 */
bool wndl_bp_take_hex(struct wndl_bp_fields *fields, uint64_t *value);
bool wndl_bp_take_decimal(struct wndl_bp_fields *fields, uint32_t *value);

/* The value of a hexadecimal digit, or more than 15. */
static inline unsigned wndl_bp_digit(uint8_t c)
{
    unsigned decimal = c - (unsigned)'0';
    unsigned letter = (c | 0x20) - (unsigned)'a';
    return decimal <= 9 ? decimal : letter <= 5 ? letter + 10 : 16;
}

/*
 * Takes the fields of a FUNC or PUBLIC record up to the name; size 0 for
 * PUBLIC.
 */
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

/* Sorts a list, which usually is in order already. */
void wndl_bp_sort(
    struct wndl_vec *list, int (*compare)(const void *, const void *));

#endif
