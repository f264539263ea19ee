/* SPDX-License-Identifier: MIT */
/*
 * format: the numbers of an unwind table's bytes, for who writes and who
 * reads them. docs/formats/unwind-table.md tells what they mean.
 */
#ifndef WNDL_UNWIND_TABLE_FORMAT_H
#define WNDL_UNWIND_TABLE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define WNDL_TABLE_MAGIC "WNDLUNWT"

/* A file is found as FOLDER/<build-id in hexadecimal>.wut, by a list of folders
 * with colons between them. */
#define WNDL_TABLE_SUFFIX ".wut"
/* One of Chromium's (chrome.h), where none of ours is there. */
#define WNDL_TABLE_CHROME_SUFFIX ".cuw2"
#define WNDL_TABLE_FOLDERS_ENV "WINDLASS_UNWIND_TABLES"

enum {
    WNDL_TABLE_VERSION = 2,
    WNDL_TABLE_ALIGN = 64,   /* of the file in memory */
    WNDL_TABLE_HEADER = 128, /* bytes */
    WNDL_TABLE_CRC_AT = 8,   /* CRC32C of all that is behind it */
    WNDL_TABLE_TAIL = 64,    /* zero bytes at the end, that may be read */
    WNDL_TABLE_BUILD_ID_MAX = 32,

    /* Blocks of code: from 2 to 16 KiB. */
    WNDL_TABLE_BLOCK_MIN = 11,
    WNDL_TABLE_BLOCK_MAX = 14,
    WNDL_TABLE_BUCKET = 8, /* log2 of addresses that share their unary part */

    /* The index: one cache line for 30 blocks. */
    WNDL_TABLE_LINE = 64,
    WNDL_TABLE_LINE_BLOCKS = 30,
    WNDL_TABLE_UNIFORM = 0xe000, /* and above: the block is of one rule */
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
    WNDL_TABLE_PHRASE_COUNT = 0x0f, /* of a phrase's first byte: rows less 1 */
    WNDL_TABLE_DICT_MAX = 128 * 1024,
    WNDL_TABLE_CODE_NUMBER = 0x8000, /* of a rule's code: it is a number */
};

/* The 4 bytes of a rule: the CFA's words, FP's words, the kind on top. Those of
 * AArch64's: unwind/table/a64_rows.h. */
enum wndl_table_kind {
    WNDL_TABLE_NONE = 0, /* nothing is known of that code */
    WNDL_TABLE_SP = 1,   /* CFA = SP + words */
    WNDL_TABLE_FP = 2,   /* CFA = FP + words */
    WNDL_TABLE_STOP = 3, /* nobody called */
    WNDL_TABLE_ROW = 4,  /* the lower 24 bits: where it is among the rows */
    /* In no file of ours: where it is among the instructions (chrome_v2.h). */
    WNDL_TABLE_CHROME = 5,
};

enum {
    WNDL_TABLE_ROWS_MAX = 1 << 24,
    WNDL_TABLE_RULES_MAX = 1 << 24, /* plain rows have 3 bytes for a number */
};

/* A full row's first byte. */
enum { WNDL_TABLE_IS_SIGNAL = 1, WNDL_TABLE_IS_SIGNED = 2 };

static inline uint32_t wndl_table_rule(
    enum wndl_table_kind kind, uint32_t fp_words, uint32_t cfa_words)
{
    return (uint32_t)kind << 24 | fp_words << 16 | cfa_words;
}

/* The rule of a code below CODE_NUMBER: of SP's and FP's kinds, with few bits
 * in either field. */
static inline uint32_t wndl_table_rule_of_code(bool is_a64, uint32_t code)
{
    const uint32_t kind = (WNDL_TABLE_SP + (code >> 14)) << 24;
    return is_a64 ? kind | (code & 0x3fc0) << 4 | (code & 0x3f)
                  : kind | (code & 0x3c00) << 6 | (code & 0x3ff);
}

/* False when no code says that rule. */
static inline bool wndl_table_code_of_rule(
    bool is_a64, uint32_t rule, uint32_t *code)
{
    *code = ((rule >> 24) - WNDL_TABLE_SP) << 14 & 0x4000;
    *code |= is_a64 ? (rule >> 4 & 0x3fc0) | (rule & 0x3f)
                    : (rule >> 6 & 0x3c00) | (rule & 0x3ff);
    return wndl_table_rule_of_code(is_a64, *code) == rule;
}

/*
 * Where the hot phrase of a name is in the dictionary. Names are given by size:
 * those below some end are of phrases of one unit, those below the next end of
 * two at most. Behind each end a name takes one unit more: the largest is
 * right. `less`: the sum of the ends up to each.
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
