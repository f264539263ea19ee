/* SPDX-License-Identifier: MIT */
/*
 * expr: the postfix expressions of Breakpad's STACK records, computed with
 * names in the place of values, and what they come to as rules of call frame
 * information. What it must not know: records, and which words are registers.
 */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_EXPR_H
#define WNDL_CFI_IMPORT_STACK_RECORD_EXPR_H

#include "base/bytes.h"
#include "cfi/cfi.h"

enum {
    WNDL_STACK_RECORD_TERMS = 256, /* of one record */
    WNDL_STACK_RECORD_DEPTH = 32,
    WNDL_STACK_RECORD_SPACE =
        64 * 1024, /* bytes of a function's DWARF expressions */
};

enum wndl_stack_record_kind {
    WNDL_STACK_RECORD_NONE, /* ".undef", or what failed */
    WNDL_STACK_RECORD_NUMBER,
    WNDL_STACK_RECORD_REGISTER,
    WNDL_STACK_RECORD_CFA,
    WNDL_STACK_RECORD_MEMORY, /* the word at `a` */
    WNDL_STACK_RECORD_RESULT, /* of `op` on `a` and `b` */
};

/* A value, and `offset` added to it. `a` and `b` are of terms made before. */
struct wndl_stack_record_term {
    uint8_t kind; /* enum wndl_stack_record_kind */
    uint8_t reg;  /* DWARF number */
    uint8_t op;   /* DW_OP_* */
    uint16_t a, b;
    int64_t offset;
};

/*
 * Term 0 is NONE. `why` is NULL until something cannot be done, then the first
 * of that, with `status`: MALFORMED, UNSUPPORTED or LIMIT.
 */
struct wndl_stack_record_terms {
    uint8_t word, sp; /* of the machine */
    struct wndl_stack_record_term list[WNDL_STACK_RECORD_TERMS];
    uint16_t count;
    enum wndl_status status;
    const char *why;
    uint8_t space
        [WNDL_STACK_RECORD_SPACE]; /* what rules of this function point into */
    size_t used;
};

/* Operands, the last one on top. */
struct wndl_stack_record_operands {
    uint16_t terms[WNDL_STACK_RECORD_DEPTH];
    unsigned depth;
};

/* At the start of a record; and of a function, whose rules live until the next
 * one's. */
void wndl_stack_record_begin(struct wndl_stack_record_terms *terms);
void wndl_stack_record_begin_function(struct wndl_stack_record_terms *terms);

void wndl_stack_record_fail(struct wndl_stack_record_terms *terms,
    enum wndl_status status, const char *why);

/* A new term, of which `from` is a copy; 0 when it failed. */
uint16_t wndl_stack_record_add(struct wndl_stack_record_terms *terms,
    const struct wndl_stack_record_term *from);

/* Takes a word and the blanks behind it. False at the end. */
bool wndl_stack_record_word(struct wndl_bytes *text, struct wndl_bytes *word);

void wndl_stack_record_push(struct wndl_stack_record_terms *terms,
    struct wndl_stack_record_operands *stack, uint16_t term);
uint16_t wndl_stack_record_pop(struct wndl_stack_record_terms *terms,
    struct wndl_stack_record_operands *stack);

/* Does what an operator or a number says. False when the word is neither. */
bool wndl_stack_record_run(struct wndl_stack_record_terms *terms,
    struct wndl_stack_record_operands *stack, struct wndl_bytes word);

/* A value for the CFA, as a row has it: register and offset, or expression. */
void wndl_stack_record_cfa_rule(struct wndl_stack_record_terms *terms,
    uint16_t term, struct wndl_cfi_rule *rule);

/* The value of register `reg`, by the CFA where it can be: that is the value of
 * `cfa`, if that is not 0. */
void wndl_stack_record_rule(struct wndl_stack_record_terms *terms,
    uint16_t term, uint16_t cfa, unsigned reg, struct wndl_cfi_rule *rule);

#endif
