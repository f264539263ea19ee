/* SPDX-License-Identifier: MIT */
/*
 * phrases: cuts rows of code into phrases. These are runs of rows at fixed
 * distances that occur again and again, as prologues do. To find those that
 * deserve a place in a dictionary, rounds alternate between cutting the text as
 * cheaply as the phrases' costs allow, and computing the costs of those that
 * were used.
 *
 * It knows rules as numbers only.
 */
#ifndef WNDL_UNWIND_TABLES_TABLE_PHRASES_H
#define WNDL_UNWIND_TABLES_TABLE_PHRASES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WNDL_PHRASE_ROWS_MAX = 16,
    WNDL_PHRASE_HOT = 256,        /* number of phrases with a short name */
    WNDL_PHRASE_NO_RULE = 0xffff, /* for a row that may be in no phrase */
    WNDL_PHRASE_LONG = 0,         /* for a row of more than 255 bytes */
    WNDL_PHRASE_LITERAL = 0,      /* the phrase of rows outside of phrases */
};

/*
 * The rows of all blocks. A phrase is within one block. Rows of block b are
 * [blocks[b], blocks[b + 1]). Borrowed.
 */
struct wndl_phrase_text {
    const uint16_t *rules;
    const uint8_t *lengths; /* bytes up to the next row */
    const uint32_t *blocks; /* block_count + 1 */
    uint32_t block_count;
};

/* A phrase, by its first occurrence. */
struct wndl_phrase {
    uint32_t row; /* index of its first row in the text */
    uint32_t use; /* number of cuts */
    uint8_t rows; /* 0: LITERAL, for one row of any kind */
};

/* A phrase in the text. */
struct wndl_phrase_cut {
    uint32_t row, phrase; /* indexes */
};

struct wndl_phrases {
    struct wndl_vec phrases; /* struct wndl_phrase; [0] is LITERAL */
    struct wndl_vec cuts; /* struct wndl_phrase_cut, of all blocks in order */
};

/* The bytes of a phrase in a dictionary. */
uint32_t wndl_phrase_size(uint32_t rows);

/*
 * Finds the phrases. Blocks of a single row are left alone. The dictionary
 * takes at most `dict_max` bytes. False if memory is out.
 */
bool wndl_phrases_find(struct wndl_phrases *phrases,
    const struct wndl_phrase_text *text, uint32_t dict_max,
    struct wndl_arena *arena);

#endif
