/* SPDX-License-Identifier: MIT */
/*
 * format: the numbers in an unwind table's bytes, for its writer and its
 * reader. docs/formats/unwind-table.md explains them.
 */
#ifndef WNDL_UNWIND_TABLE_FORMAT_H
#define WNDL_UNWIND_TABLE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define WNDL_TABLE_MAGIC "WNDLUNWT"

/*
 * A file's name is FOLDER/<build-id in hexadecimal>.wut. A list of folders has
 * colons between them.
 */
#define WNDL_TABLE_SUFFIX ".wut"
/* One of Chromium's (chrome.h), used where there is none of ours. */
#define WNDL_TABLE_CHROME_SUFFIX ".cuw2"
#define WNDL_TABLE_FOLDERS_ENV "WINDLASS_UNWIND_TABLES"

enum {
    WNDL_TABLE_VERSION = 2,
    WNDL_TABLE_ALIGN = 64,   /* of the file in memory */
    WNDL_TABLE_HEADER = 128, /* bytes */
    WNDL_TABLE_CRC_AT = 8,   /* CRC32C of all bytes after it */
    WNDL_TABLE_TAIL = 64,    /* zero bytes at the end, which may be read */
    WNDL_TABLE_BUILD_ID_MAX = 32,

    /* Blocks of code: from 2 to 16 KiB. */
    WNDL_TABLE_BLOCK_MIN = 11,
    WNDL_TABLE_BLOCK_MAX = 14,
    WNDL_TABLE_BUCKET = 8, /* log2 of the addresses that share their unary
                            * part */

    /* The index: one cache line for 30 blocks. */
    WNDL_TABLE_LINE = 64,
    WNDL_TABLE_LINE_BLOCKS = 30,
    WNDL_TABLE_UNIFORM = 0xe000, /* or above: the block has one rule */
    WNDL_TABLE_UNIFORM_RULES = 0x2000,
    WNDL_TABLE_RECORD_SHIFT_MAX = 3,

    /* Records. */
    WNDL_TABLE_STARTS_MAX = 254,
    WNDL_TABLE_PLAIN = 255, /* first byte of a block of plain rows */
    WNDL_TABLE_PLAIN_ROW = 5,

    /* Phrases. */
    WNDL_TABLE_HOT = 256,
    WNDL_TABLE_HOT_UNIT = 8,    /* bytes */
    WNDL_TABLE_HOT_CLASSES = 3, /* of one unit to three */
    WNDL_TABLE_PHRASE_ROWS = 16,
    WNDL_TABLE_PHRASE_COUNT = 0x0f, /* in a phrase's first byte: rows - 1 */
    WNDL_TABLE_DICT_MAX = 128 * 1024,
    WNDL_TABLE_CODE_NUMBER = 0x8000, /* of a rule's code: it is a number */
};

/*
 * The kind of a rule. The 4 bytes of a rule are, from the lowest on, the CFA's
 * words, FP's words, and the kind. AArch64's are in unwind/table/a64_rows.h.
 */
enum wndl_table_kind {
    WNDL_TABLE_NONE = 0, /* no rule for that code */
    WNDL_TABLE_SP = 1,   /* CFA = SP + words */
    WNDL_TABLE_FP = 2,   /* CFA = FP + words */
    WNDL_TABLE_STOP = 3, /* no caller */
    WNDL_TABLE_ROW = 4,  /* lower 24 bits: its place among the rows */
    /* Not in our files: a place among the instructions (chrome_v2.h). */
    WNDL_TABLE_CHROME = 5,
};

enum {
    WNDL_TABLE_ROWS_MAX = 1 << 24,
    WNDL_TABLE_RULES_MAX = 1 << 24, /* plain rows have 3 bytes for the number */
};

/* A full row's first byte. */
enum { WNDL_TABLE_IS_SIGNAL = 1, WNDL_TABLE_IS_SIGNED = 2 };

static inline uint32_t wndl_table_rule(
    enum wndl_table_kind kind, uint32_t fp_words, uint32_t cfa_words)
{
    return (uint32_t)kind << 24 | fp_words << 16 | cfa_words;
}

/*
 * The rule of a code below CODE_NUMBER. It is of SP's or FP's kind, with few
 * bits in either field.
 */
static inline uint32_t wndl_table_rule_of_code(bool is_a64, uint32_t code)
{
    const uint32_t kind = (WNDL_TABLE_SP + (code >> 14)) << 24;
    return is_a64 ? kind | (code & 0x3fc0) << 4 | (code & 0x3f)
                  : kind | (code & 0x3c00) << 6 | (code & 0x3ff);
}

/* False if no code stands for that rule. */
static inline bool wndl_table_code_of_rule(
    bool is_a64, uint32_t rule, uint32_t *code)
{
    *code = ((rule >> 24) - WNDL_TABLE_SP) << 14 & 0x4000;
    *code |= is_a64 ? (rule >> 4 & 0x3fc0) | (rule & 0x3f)
                    : (rule >> 6 & 0x3c00) | (rule & 0x3ff);
    return wndl_table_rule_of_code(is_a64, *code) == rule;
}

/*
 * The place of a name's hot phrase in the dictionary. Names are ordered by
 * size: names below the first end have phrases of one unit, those below the
 * next end of two at most. After each end a name takes one unit more, so the
 * largest result is right. `less` is the sum of the ends up to each.
 */
static inline uint32_t wndl_table_hot_place(
    const int32_t less[WNDL_TABLE_HOT_CLASSES - 1], uint32_t name)
{
    const int32_t first = (int32_t)name;
    const int32_t second = 2 * first - less[0];
    const int32_t third = 3 * first - less[1];
    const int32_t units = second > first ? second : first;
    return WNDL_TABLE_HOT_UNIT * (uint32_t)(third > units ? third : units);
}

#endif
