/* SPDX-License-Identifier: MIT */
/*
 * phrases: rows of code cut into phrases: runs of rows, with fixed distances,
 * that occur again and again, as prologues do. Which are worth a place in a
 * dictionary is found by rounds of cutting the text as cheaply as the phrases'
 * costs allow, and costing those that were used.
 *
 * Knows rules as numbers only.
 */
#ifndef WNDL_UNWIND_TABLES_TABLE_PHRASES_H
#define WNDL_UNWIND_TABLES_TABLE_PHRASES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WNDL_PHRASE_ROWS_MAX = 16,
    WNDL_PHRASE_HOT = 256,        /* as many have a short name */
    WNDL_PHRASE_NO_RULE = 0xffff, /* of a row that may be in no phrase */
    WNDL_PHRASE_LONG = 0,         /* of a row of more than 255 bytes */
    WNDL_PHRASE_LITERAL = 0,      /* the phrase of rows that no phrase has */
};

/*
 * The rows of all blocks; a phrase is within one block. Rows of block b are
 * [blocks[b], blocks[b + 1]). Borrowed.
 */
struct wndl_phrase_text {
    const uint16_t *rules;
    const uint8_t *lengths; /* bytes up to the next row */
    const uint32_t *blocks; /* block_count + 1 */
    uint32_t block_count;
};

/* A phrase, as its first occurrence has it. */
struct wndl_phrase {
    uint32_t row; /* index of its first row in the text */
    uint32_t use; /* how often it was cut */
    uint8_t rows; /* 0: LITERAL, which stands for one row of any kind */
};

/* A phrase in the text. */
struct wndl_phrase_cut {
    uint32_t row, phrase; /* indexes */
};

struct wndl_phrases {
    struct wndl_vec phrases; /* struct wndl_phrase; [0] is LITERAL */
    struct wndl_vec cuts; /* struct wndl_phrase_cut, of all blocks in order */
};

/* Bytes of a phrase in a dictionary. */
uint32_t wndl_phrase_size(uint32_t rows);

/*
 * Blocks of a single row are left alone. The dictionary takes at most
 * `dict_max` bytes. False when memory is out.
 */
bool wndl_phrases_find(struct wndl_phrases *phrases,
    const struct wndl_phrase_text *text, uint32_t dict_max,
    struct wndl_arena *arena);

#endif
